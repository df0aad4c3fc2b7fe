"""`fcompile argocd generate` and `discover`, called as Argo CD calls them."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from fcompile.commands.argocd.repository import repository_of
from fcompile.errors import InputError
from fcompile.load import values
from fcompile.pipeline.compiled import compile_framework
from tests.argocd.server import Answer, call, environment, inside
from tests.test_cli import SERVICE, good

HOOK = "argocd.argoproj.io/hook"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The folder of an application, somewhere in a repository."""
    folder = tmp_path / "repository" / "apps" / "lab"
    folder.mkdir(parents=True)
    (folder / "train.yaml").write_text(good())
    (folder / "service.yaml").write_text(SERVICE)
    return folder


def generate(app: Path, parameters: Any = None, **variables: str) -> Answer:
    return inside("generate", app, environment("apps/lab", parameters, **variables))


def refused(answer: Answer, *words: str) -> None:
    assert answer.code != 0
    assert answer.out == ""
    assert [word for word in words if word not in answer.said] == []
    assert "Traceback" not in answer.said


def test_frameworks_are_compiled_and_all_else_passes_through(app: Path) -> None:
    answer = call("generate", app, environment("apps/lab"))
    assert (answer.code, answer.said) == (0, "")
    (source,) = values(good().encode())
    assert answer.by_name()["Framework/train"] == compile_framework(source, "research").framework
    assert SERVICE in answer.out


def test_a_time_to_live_is_warned_of(app: Path) -> None:
    """The controller keeps what Argo CD tracks, which would create it anew."""
    (app / "short.yaml").write_text(good("short").replace("spec:\n", "spec:\n  ttlSecondsAfterFinished: 0\n", 1))
    answer = call("generate", app, environment("apps/lab"))
    assert answer.code == 0
    (line,) = answer.said.splitlines()
    assert line.startswith("fcompile: warning: short.yaml:5:28: ttlSecondsAfterFinished 0 of Framework short: the controller deletes no")
    assert answer.by_name()["Framework/short"]["spec"]["ttlSecondsAfterFinished"] == 0
    for number in range(30):
        (app / f"{number}.yaml").write_text(good(f"f{number}").replace("spec:\n", "spec:\n  ttlSecondsAfterFinished: 9\n", 1))
    said = call("generate", app, environment("apps/lab")).said.splitlines()
    assert (len(said), said[-1]) == (21, "fcompile: warning: 11 more of these")


def test_parameters_are_overrides(app: Path) -> None:
    parameters = [
        {"name": "worker.taskNumber", "string": "7"},
        {"name": "train/worker.task.pod.spec.containers[main].image", "string": "a\nevil: {yaml: true}"},
        {"name": "set", "map": {"worker.task.pod.spec.priorityClassName": "batch"}},
    ]
    role = generate(app, parameters[:1] + parameters[2:]).by_name()["Framework/train"]["spec"]["taskRoles"][0]
    assert (role["taskNumber"], role["task"]["pod"]["spec"]["priorityClassName"]) == (7, "batch")
    by_environment = generate(app, ARGOCD_ENV_FCOMPILE_SET="worker.taskNumber=7\nworker.task.pod.spec.priorityClassName=batch")
    assert by_environment.by_name()["Framework/train"]["spec"]["taskRoles"][0] == role
    # Text stays text, whatever it looks like.
    framework = generate(app, parameters).by_name().get("Framework/train")
    assert framework is None or framework["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["image"].startswith("a\n")


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ([{"name": "worker.taskNumber", "string": "many"}], "whole number"),
        ([{"name": "worker.taskNumber", "string": "3\nevil: true"}], "not readable"),
        ([{"name": "worker.taskNumber", "array": ["3"]}], "string"),
        ([{"name": "trainer.taskNumber", "string": "3"}], "parameter trainer.taskNumber=3: no such role; there are: train/worker"),
        ([{"name": "worker.taskNumbers", "string": "3"}], "parameter worker.taskNumbers=3: `worker` has no field"),
        ([{"name": "pod", "string": "true"}], "did you mean `pods`"),
        ([{"name": "pods", "string": "yes"}], "true or false"),
        ([{"name": "pods-per-role", "string": "-1"}], "number"),
        ([{"name": "a\nb", "string": "c"}], "control"),
        ([{"name": "set", "string": "x"}, {"name": "set", "string": "y"}], "twice"),
        ([{"name": "set"}], "one of string"),
        ([["worker.taskNumber", "3"]], "name"),
        ({"worker.taskNumber": "3"}, "not a list"),
        ([{"name": "kubernetes-version", "string": "1.4"}], "kubernetes-version 1.4: known are 1.25 to"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(app: Path, parameters: Any, says: str) -> None:
    answer = generate(app, parameters)
    refused(answer, says)
    assert "--" not in answer.said, "the name of an option that nobody has written"


def test_absent_and_null_parameters_and_new_clusters(app: Path) -> None:
    for variables in ({}, {"ARGOCD_APP_PARAMETERS": "null"}, {"KUBE_VERSION": "v1.99.0+k3s1"}, {"ARGOCD_APP_NAMESPACE": ""}):
        assert generate(app, **variables).code == 0
    refused(generate(app, ARGOCD_APP_PARAMETERS="{"), "not JSON")
    refused(generate(app, KUBE_VERSION=f"1.{'9' * 5_000}"), "known are 1.25")
    refused(generate(app, ARGOCD_ENV_FCOMPILE_POD="true"), "did you mean `pods`")


def test_an_override_must_mean_one_role_of_the_whole_application(app: Path) -> None:
    (app / "second.yaml").write_text(good("second"))
    refused(generate(app, [{"name": "worker.taskNumber", "string": "7"}]), "second/worker or train/worker")
    answer = generate(app, [{"name": "second/worker.taskNumber", "string": "7"}]).by_name()
    assert [answer[f"Framework/{name}"]["spec"]["taskRoles"][0]["taskNumber"] for name in ("train", "second")] == [3, 7]


def test_a_parameter_that_is_refused_is_told_once(app: Path) -> None:
    (app / "second.yaml").write_text(good("second"))
    answer = generate(app, [{"name": "worker.taskNumbers", "string": "3"}])
    refused(answer, "has no field `taskNumbers`")
    assert answer.said.count("taskNumbers=3") == 1


def test_nothing_is_never_a_success(app: Path) -> None:
    (app / "train.yaml").unlink()
    refused(generate(app), "no Framework found", "allow-empty")
    answer = generate(app, [{"name": "allow-empty", "string": "true"}])
    assert (answer.code, list(answer.by_name())) == (0, ["Service/web"])
    (app / "service.yaml").unlink()
    refused(generate(app), "no Framework found")
    assert generate(app, [{"name": "allow-empty", "string": "true"}]) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("broken.yaml", good("broken").replace("restartPolicy", "restartPolice"), "broken.yaml:11:11: error[FC101]"),
        ("same.yaml", good(), "FC501"),
        ("other.yaml", "kind: ConfigMap\nmetadata: {name: a}\n", "apiVersion"),
        ("other.yaml", "apiVersion: v1\nmetadata: {name: a}\n", "kind"),
        ("other.yaml", "a: [\n", "other.yaml"),
        ("secret.yaml", "kind: Secret\nstringData: {password: hunter2\nb: c\n", "secret.yaml"),
    ],
)
def test_one_error_and_there_is_no_output(app: Path, name: str, text: str, says: str) -> None:
    (app / name).write_text(text)
    answer = generate(app)
    refused(answer, says)
    assert "hunter2" not in answer.said


def test_templates_and_patches_among_plain_files_are_refused(app: Path) -> None:
    """Left out, as `validate` does, they would be deleted."""
    (app / "chart" / "templates").mkdir(parents=True)
    (app / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: chart\n")
    (app / "chart" / "templates" / "a.yaml").write_text(good("{{ .Values.name }}"))
    refused(generate(app), "chart/templates/a.yaml", "render")
    (app / ".fcompileignore").write_text("chart\n")
    assert generate(app).code == 0


def test_a_waived_error_is_compiled(app: Path) -> None:
    text = good("waived").replace(
        "    taskNumber: 3\n", "    taskNumber: 3\n    frameworkAttemptCompletionPolicy: {minFailedTaskCount: 9}\n"
    )
    (app / "waived.yaml").write_text(text)
    strict = [{"name": "strict", "string": "true"}]
    assert generate(app).code == 0
    refused(generate(app, strict), "FC30")
    (app / ".fcompile-waivers.yaml").write_text("waivers:\n- code: FC301\n  reason: it grows\n")
    answer = generate(app, strict)
    assert "Framework/waived" in answer.by_name() or "FC30" in answer.said


def links_out(app: Path) -> None:
    (app.parents[2] / "secret.yaml").write_text(good("secret"))
    (app / "link.yaml").symlink_to("../../../secret.yaml")


def link_chain(app: Path) -> None:
    links_out(app)
    (app / "link.yaml").rename(app.parent / "hop.yaml")
    (app.parent / "hop.yaml").unlink()
    (app.parent / "hop").symlink_to("../..")
    (app / "link.yaml").symlink_to("../hop/secret.yaml")


def absolute_link(app: Path) -> None:
    (app / "link.yaml").symlink_to("/etc/hostname")


def link_to_folder(app: Path) -> None:
    (app / "etc").symlink_to("/etc")


def ignore_file_outside(app: Path) -> None:
    (app / ".fcompileignore").symlink_to("/etc/passwd")


def waivers_outside(app: Path) -> None:
    (app / ".fcompile-waivers.yaml").symlink_to("/etc/passwd")


def fifo(app: Path) -> None:
    os.mkfifo(app / "pipe.yaml")


def fifo_by_link(app: Path) -> None:
    os.mkfifo(app.parent / "pipe")
    (app / "pipe.yaml").symlink_to("../pipe")


def ignore_fifo(app: Path) -> None:
    os.mkfifo(app / ".fcompileignore")


def device(app: Path) -> None:
    (app / "zero.yaml").symlink_to("/dev/zero")


def huge(app: Path) -> None:
    with open(app / "huge.yaml", "wb") as file:
        file.truncate(1 << 30)


def huge_by_link(app: Path) -> None:
    with open(app.parent / "huge", "wb") as file:
        file.truncate(1 << 30)
    (app / "huge.yaml").symlink_to("../huge")


def line_end(app: Path) -> None:
    (app / "a\n---\nkind: Pod.yaml").write_text(good("evil"))


def escape_sequence(app: Path) -> None:
    (app / "a\x1b[2J.yaml").write_text(good("evil"))


def unreadable(app: Path) -> None:
    (app / "a.yaml").symlink_to("nowhere.yaml")


HOSTILE = (
    links_out,
    link_chain,
    absolute_link,
    link_to_folder,
    ignore_file_outside,
    waivers_outside,
    fifo,
    fifo_by_link,
    ignore_fifo,
    device,
    huge,
    huge_by_link,
    line_end,
    escape_sequence,
    unreadable,
)


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
def test_a_hostile_repository_is_refused(app: Path, make: Any) -> None:
    make(app)
    answer = call("generate", app, environment("apps/lab"))
    refused(answer)
    assert "\x1b" not in answer.said
    assert len(answer.said) < 1000
    # It is ours all the same: to anybody else it would be a folder of plain manifests.
    found = inside("discover", app, environment("apps/lab"))
    assert (found.code, found.said) == (0, "")
    assert found.out in ("train.yaml", "a\\n---\\nkind: Pod.yaml", "a\\x1b[2J.yaml")


def test_links_within_the_repository_are_followed(app: Path) -> None:
    (app.parent / "shared.yaml").write_text(good("shared"))
    (app / "shared.yaml").symlink_to("../shared.yaml")
    assert "Framework/shared" in generate(app).by_name()
    # Argo CD can have sent a part of the repository only; without the path of the application it is all by itself.
    refused(inside("generate", app, environment("elsewhere/apps/other")), "leads out")


def test_a_file_that_is_exchanged_all_the_while_never_shows_what_is_outside(app: Path) -> None:
    """Between looking at a path and reading it, a link to somewhere else can come into its place."""
    secret = app.parents[2] / "secret.yaml"
    secret.write_text("password: hunter2\n")
    repository = repository_of(str(app), "apps/lab")
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            (app / "new").write_text("harmless")
            (app / "new").rename(app / "exchanged.yaml")
            (app / "new").symlink_to(secret)
            (app / "new").rename(app / "exchanged.yaml")

    thread = threading.Thread(target=exchange)
    thread.start()
    read: set[bytes] = set()
    refusals = 0
    try:
        while (len(read) < 1 or refusals < 20) and thread.is_alive():
            try:
                read.add(repository.read(str(app / "exchanged.yaml")))
            except InputError:
                refusals += 1
    finally:
        stop.set()
        thread.join()
    assert read <= {b"harmless", b""}


def test_nothing_above_the_repository_is_looked_at(app: Path) -> None:
    """A kustomization up there could else say that our files are its patches."""
    (app.parents[2] / "kustomization.yaml").write_text("patches: [{path: repository/apps/lab/train.yaml}]\n")
    assert generate(app).code == 0


def test_many_files_in_processes(app: Path) -> None:
    for number in range(100):
        (app / f"many{number:03}.yaml").write_text(good(f"many{number}"))
    assert [value["metadata"]["name"] for value in generate(app).objects] == [*(f"many{n}" for n in range(100)), "web", "train"]
    refused(generate(app, [{"name": "worker.taskNumber", "string": "7"}]), "101 Frameworks")
    (app / "many050.yaml").write_text(good("many51"))
    refused(generate(app), "many051.yaml", "many050.yaml:3:18: the first one")


def test_expected_pods_are_for_comparing_only(app: Path) -> None:
    answer = generate(app, [{"name": "pods", "string": "true"}, {"name": "pods-per-role", "string": "2"}])
    pods = {name: value for name, value in answer.by_name().items() if value["kind"] == "Pod"}
    assert list(pods) == ["Pod/train-worker-0", "Pod/train-worker-1"]
    assert {pod["metadata"]["annotations"][HOOK] for pod in pods.values()} == {"Skip"}
    assert "train/worker[2..2]" in answer.said
    (app / "train.yaml").write_text(good().replace("spec:\n  taskRoles", "spec:\n  executionType: Create\n  taskRoles"))
    assert "Pod" not in {value["kind"] for value in generate(app, [{"name": "pods", "string": "true"}]).objects}


def test_discovery_goes_by_content(app: Path) -> None:
    answer = inside("discover", app, environment("apps/lab"))
    assert answer == (0, "train.yaml", "")
    (app / "train.yaml").rename(app / "x.json")
    (app / "x.json").write_text(json.dumps(values(good().encode())[0]))
    assert inside("discover", app, environment("apps/lab")).out == "x.json"
    for text in (
        "# " + good().replace("\n", "\n# "),
        "kind: ConfigMap\napiVersion: v1\ndata:\n  a: |\n    " + good().replace("\n", "\n    "),
    ):
        (app / "x.json").unlink(missing_ok=True)
        (app / "train.yaml").write_text(text)
        assert inside("discover", app, environment("apps/lab")) == (0, "", "")
    (app / "train.yaml").write_text(good().replace("name: NAME", "name: [") + "\t- broken")
    assert inside("discover", app, environment("apps/lab")).out == "train.yaml"


def test_discovery_where_no_framework_is_fine(app: Path) -> None:
    """Only the Application's own parameter counts: a variable may be the sidecar's, and then other plugins' Applications have it, too."""

    def discovered(value: str, **variables: str) -> tuple[int, str, str]:
        return inside("discover", app, environment("apps/lab", [{"name": "allow-empty", "string": value}], **variables))

    assert discovered("true") == (0, "train.yaml", "")
    (app / "train.yaml").unlink()
    assert discovered("true") == (0, ".", "")
    assert discovered("false") == (0, "", "")
    variables = environment("apps/lab", [], ARGOCD_ENV_FCOMPILE_ALLOW_EMPTY="true")
    assert inside("discover", app, variables) == (0, "", "")
    assert inside("discover", app, environment("apps/lab", ARGOCD_APP_PARAMETERS="{")) == (0, "", "")


def test_the_definition_of_framework_is_no_framework(app: Path, repository: Path) -> None:
    (app / "train.yaml").write_text((repository / "schemas" / "framework-crd.yaml").read_text())
    assert inside("discover", app, environment("apps/lab")) == (0, "", "")


def test_the_deadline_ends_it(app: Path) -> None:
    """A program that hangs while rendering is ended together with us, and leaves no output."""
    tools = app.parents[2] / "tools"
    tools.mkdir()
    (tools / "kustomize").write_text("#!/bin/sh\necho 'apiVersion: v1'\nwhile :; do sleep 1; done\n")
    (tools / "kustomize").chmod(0o755)
    (app / "kustomization.yaml").write_text("resources: [train.yaml]\n")
    env = environment("apps/lab")
    answer = call("generate", app, {**env, "PATH": f"{tools}{os.pathsep}{env['PATH']}"}, deadline=1)
    assert answer.code < 0
    assert answer.out == ""


def test_the_limit_of_a_file_is_above_that_of_a_document() -> None:
    from fcompile.load.rules import MAX_BYTES, MAX_FILE_BYTES

    assert MAX_FILE_BYTES > 2 * MAX_BYTES


def test_an_answer_that_argo_cd_would_not_take_is_not_made(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parameter can ask for ten thousand Pods of each role, and a file can have many roles."""
    pods = [{"name": "pods", "string": "true"}, {"name": "pods-per-role", "string": "10000"}]
    (app / "train.yaml").write_text(good().replace("taskNumber: 3", "taskNumber: 10000"))
    monkeypatch.setattr("fcompile.commands.argocd.compiled.MAX_OUTPUT", 1_000_000)
    refused(generate(app, pods), "train.yaml: comes to more than 1,000,000 bytes")
    monkeypatch.undo()
    monkeypatch.setattr("fcompile.commands.argocd.generate.MAX_OUTPUT", 1_000_000)
    refused(generate(app, pods), "the application comes to more than 1,000,000 bytes")


@pytest.mark.parametrize(("place", "says"), [("compiled", "map.yaml: comes to"), ("generate", "the application comes to")])
def test_an_answer_is_measured_in_bytes(app: Path, monkeypatch: pytest.MonkeyPatch, place: str, says: str) -> None:
    """Characters were counted, which are up to four times as long: so was the answer, and it took most of the sidecar's memory."""
    (app / "map.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata: {{a: {chr(0x1F600) * 260_000}}}\n")
    monkeypatch.setattr(f"fcompile.commands.argocd.{place}.MAX_OUTPUT", 1_000_000)
    refused(generate(app), f"{says} more than 1,000,000 bytes")


def test_a_report_is_no_longer_than_an_application_can_hold(app: Path) -> None:
    """Argo CD keeps it in the status of the Application."""
    for number in range(3):
        (app / f"{number}.yaml").write_text(
            good(f"t{number}").replace("spec:\n", "spec:\n" + "".join(f"  z{n}: 1\n" for n in range(2_000)), 1)
        )
    answer = generate(app)
    refused(answer, "more problems are not shown", "Found 6,000 errors in 3 of")
    assert len(answer.said) < 100_000
