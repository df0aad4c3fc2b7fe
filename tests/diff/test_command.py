"""The command: what it takes, what it says where, and how it exits."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.default import default
from fcompile.emit import yaml
from fcompile.load import values
from fcompile.lower.digest import V2
from fcompile.lower.intent import lower
from tests.diff.frameworks import Json, framework, role, spec

Capture = pytest.CaptureFixture[str]
Diff = Callable[..., tuple[int, str, str]]


@pytest.fixture
def diff(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Diff:
    """Exit code, stdout and stderr of a run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["diff", *arguments])
        return (code, *capsys.readouterr())

    return run


def put(name: str, *values: Any) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(yaml.document, values)), encoding="utf-8")
    return name


def train(image: str = "a:1", name: str = "train", **metadata: Any) -> Json:
    return framework(spec(role(retry=1, pod={"containers": [{"name": "main", "image": image}]})), name, **metadata)


def config(name: str = "c", **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def kinds(out: str) -> dict[str, str]:
    document = json.loads(out)
    return {one["name"]: one.get("change", one["kind"]) for one in (*document["frameworks"], *document["objects"])}


def test_exit_codes(diff: Diff) -> None:
    put("a.yaml", train())
    put("b.yaml", train("a:2"))
    assert diff("a.yaml", "a.yaml") == (0, "No differences in what will run.\n", "")
    code, out, err = diff("a.yaml", "b.yaml")
    assert (code, err) == (1, "")
    assert "worker: spec.containers[main].image: a:1 → a:2\n" in out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.yaml"],
        ["a.yaml", "a.yaml", "a.yaml"],
        ["a.yaml", "nowhere.yaml"],
        ["--format", "x", "a.yaml", "a.yaml"],
        ["a.yaml", "empty"],
    ],
)
def test_trouble(diff: Diff, arguments: list[str]) -> None:
    put("a.yaml", train())
    Path("empty").mkdir()
    code, out, err = diff(*arguments)
    assert (code, out) == (2, "")
    assert err


@pytest.mark.parametrize("bad", [{"imagee": "a"}, {"image": 5}])
@pytest.mark.parametrize("side", [0, 1])
def test_errors_in_the_input_are_trouble(diff: Diff, bad: Json, side: int) -> None:
    wrong = train()
    wrong["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0] = {"name": "main", **bad}
    files = [put("a.yaml", train()), put("b.yaml", wrong)]
    code, out, err = diff(*(files if side else files[::-1]))
    assert (code, out) == (2, "")
    assert "b.yaml:" in err
    assert "error[FC" in err


def test_warnings_are_not_its_business(diff: Diff) -> None:
    warned = spec(role(retry=1, frameworkAttemptCompletionPolicy={"minFailedTaskCount": 0}))
    code, _, err = diff(put("a.yaml", framework(warned)), put("b.yaml", framework({**warned, "description": "x"})))
    assert (code, err) == (1, "")
    code, out, err = diff("--strict", "a.yaml", "b.yaml")
    assert (code, out, "warning[FC302]" in err) == (2, "", True)


@pytest.mark.parametrize("unused", ["path: other.yaml", "field: spec.x"])
def test_waivers_of_files_that_it_does_not_read_are_not_its_business(diff: Diff, unused: str) -> None:
    put("a.yaml", train())
    put("b.yaml", train("a:2"))
    Path(".fcompile-waivers.yaml").write_text(f"- {{code: FC307, {unused}, reason: x}}\n", encoding="utf-8")
    code, _, err = diff("--strict", "a.yaml", "b.yaml")
    assert (code, err) == (1, "")


def test_an_unknown_field_that_is_waived_changes_nothing(diff: Diff) -> None:
    plain = train()
    plain["spec"]["retryPolicy"] = {"maxRetryCount": 1}
    odd = json.loads(json.dumps(plain))
    odd["spec"]["retryPolicy"]["limit"] = 3
    (worker,) = odd["spec"]["taskRoles"]
    worker.setdefault("frameworkAttemptCompletionPolicy", {})["quorum"] = "all"
    worker["task"].setdefault("retryPolicy", {})["limit"] = 3
    put("a.yaml", plain)
    put("b.yaml", odd)
    Path(".fcompile-waivers.yaml").write_text("- {code: FC101, reason: another controller's}\n", encoding="utf-8")
    for pair in (("a.yaml", "b.yaml"), ("b.yaml", "a.yaml")):
        assert diff(*pair) == (0, "No differences in what will run.\n", "")


@pytest.mark.parametrize("name", ["tolerations", "add", "drop"])
def test_the_order_of_a_list_matters_in_an_object_of_others(diff: Diff, name: str) -> None:
    def pipeline(*items: str) -> Json:
        return {"apiVersion": "example.com/v1", "kind": "Pipeline", "metadata": {"name": "p"}, "spec": {name: list(items)}}

    code, out, _ = diff(put("a.yaml", pipeline("a", "b")), put("b.yaml", pipeline("b", "a")))
    assert code == 1
    assert f"spec.{name}[0]" in out


@pytest.mark.parametrize("old", ["old", "old/", "./old//"])
def test_files_of_two_folders_are_paired_however_these_are_written(diff: Diff, old: str) -> None:
    for side in ("old", "new"):
        put(f"{side}/broken.yaml", train(name="wrong name"))
        put(f"{side}/changed.yaml", train(side))
    code, out, err = diff(old, "new")
    assert (code, err) == (1, "")
    assert "image: old → new" in out


def test_the_same_framework_twice_is_trouble(diff: Diff) -> None:
    code, _, err = diff(put("a.yaml", train(), train()), put("b.yaml", train()))
    assert (code, "FC501" in err) == (2, True)


def test_a_digest_of_another_spec_is_told(diff: Diff, capsys: Capture) -> None:
    """The Framework would never begin, or would begin again, and nothing said so."""

    def change(old: str, new: str) -> tuple[int, list[tuple[str, str]]]:
        put_text("old.yaml", old)
        put_text("new.yaml", new)
        code, out, err = diff("--format", "json", "old.yaml", "new.yaml")
        assert err == ""
        frameworks = json.loads(out)["frameworks"]
        return code, [(it["field"][-15:], it["reason"][:10]) for one in frameworks for it in one["changes"]]

    put("train.yaml", train())
    assert main(["build", "train.yaml"]) == 0
    right = capsys.readouterr().out
    forged = right.replace("v1:sha256:", "v1:sha256:0")
    edited = right.replace("image: a:1", "image: a:2")
    assert edited != right
    held, freed = ('intent-digest"]', "the digest"), ('intent-digest"]', "no digest ")
    assert change(right, right + "\n") == (0, [])
    assert change(right, forged) == (1, [held])
    assert change(forged, right) == (1, [freed])
    assert change(forged, forged + "\n") == (0, [])
    assert held in change(right, edited)[1]
    assert freed in change(edited, right)[1]
    assert freed in change(edited, Path("train.yaml").read_text(encoding="utf-8"))[1]
    assert change(right, Path("train.yaml").read_text(encoding="utf-8")) == (0, [])
    by_v1 = re.search("v1:sha256:[0-9a-f]+", right)
    assert by_v1
    by_v2 = lower(default(values(right.encode())[0]).framework, V2).digest
    assert change(right, right.replace(by_v1[0], by_v2)) == (0, []), "the controller goes by the rules that a digest names"
    assert change(right, right.replace(by_v1[0], by_v2.replace("v2:", "v9:"))) == (1, [held])
    assert change(right, right.replace(by_v1[0], '""')) == (0, []), "the controller takes an empty one for none"


def put_text(name: str, text: str) -> None:
    Path(name).write_text(text, encoding="utf-8")


def test_folders(diff: Diff) -> None:
    put("old/same.yaml", train(name="same"))
    put("old/deep/changed.yaml", train(name="changed"))
    put("old/moved.yaml", train(name="moved"))
    put("old/gone.yaml", train(name="gone"))
    put("new/same.yaml", train(name="same"))
    put("new/deep/changed.yaml", train("a:2", "changed"))
    put("new/elsewhere.yaml", train(name="moved"))
    put("new/added.yaml", train(name="added"))
    code, out, _ = diff("--format", "json", "old", "new/")
    assert (code, kinds(out)) == (1, {"added": "added", "changed": "changed", "gone": "removed"})


def test_a_patch_in_a_folder(diff: Diff) -> None:
    """A file that is the same in both folders is a patch in one of them."""
    for folder, kustomization in ("old", "resources: [base]\n"), ("new", "patches: [{path: train.yaml}]\n"):
        put(f"{folder}/train.yaml", train())
        Path(folder, "kustomization.yaml").write_text(kustomization)
    code, out, _ = diff("old", "new")
    assert code == 1
    assert "default/train  gone" in out
    assert "kustomization kustomization.yaml  changed: what is built with it is not compared  new/kustomization.yaml" in out


def test_a_file_and_a_folder(diff: Diff) -> None:
    put("folder/a.yaml", train())
    assert diff(put("b.yaml", train()), "folder")[0] == 0


def test_stdin(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    put("a.yaml", train())
    standard = io.TextIOWrapper(io.BytesIO(Path("a.yaml").read_bytes()))
    monkeypatch.setattr(sys, "stdin", standard)
    assert diff("-", "a.yaml")[0] == 0


def test_nothing_at_all(diff: Diff) -> None:
    """A file that is new or gone comes as the null device from git and others."""
    put("a.yaml", train())
    code, out, _ = diff("--format", "json", "/dev/null", "a.yaml")
    assert (code, kinds(out)) == (1, {"train": "added"})
    code, out, _ = diff("--format", "json", "a.yaml", "/dev/null")
    assert (code, kinds(out)) == (1, {"train": "removed"})


def test_namespaces(diff: Diff) -> None:
    files = put("a.yaml", train()), put("b.yaml", train(namespace="default")), put("c.yaml", train(namespace="ml"))
    assert diff(*files[:2])[0] == 0
    assert kinds(diff("--format", "json", files[0], files[2])[1]) == {"train": "removed"} | {"train": "removed"}
    assert diff("-n", "ml", files[0], files[2])[0] == 0


def test_what_a_server_prints(diff: Diff) -> None:
    """Status and server-set metadata are no differences; the status is what effects go by."""
    live = train()
    live["metadata"] |= {"uid": "u", "resourceVersion": "5", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z"}
    live["status"] = {"state": "Completed"}
    put("live.yaml", {"apiVersion": "v1", "kind": "List", "items": [live]})
    assert diff("live.yaml", put("a.yaml", train()))[0] == 0
    code, out, _ = diff("--format", "json", "live.yaml", put("b.yaml", train("a:2")))
    assert (code, json.loads(out)["effect"]) == (1, "nothing")


def test_other_objects(diff: Diff) -> None:
    old = put("a.yaml", train(), config(a="1"), config("gone"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    new = put("b.yaml", train(), config(a="2"), config("new"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    code, out, err = diff(old, new)
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        "ConfigMap c  changed  b.yaml",
        '    data.a: "1" → "2"',
        "",
        "ConfigMap new  added  b.yaml",
        "",
        "ConfigMap gone  removed  a.yaml",
        "",
        "3 other objects differ.",
    ]


def test_what_others_cannot_read_is_not_our_business(diff: Diff) -> None:
    Path("old").mkdir()
    Path("old/chart.yaml").write_text("a: {{ .Values.x }}\n")
    put("old/a.yaml", train())
    put("new/a.yaml", train("a:2"))
    code, _, err = diff("old", "new")
    assert (code, err) == (1, "")


def test_as_kubectl_calls_it(diff: Diff, capsys: Capture) -> None:
    """Two folders, and files without an ending, named by group, version, kind, namespace and name."""
    names = (
        "frameworkcontroller.microsoft.com.v1.Framework.default.train",
        "v1.ConfigMap.default.some.yaml",
        "v1.Pod.default.train-worker-0",
    )
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-worker-0", "namespace": "default"}}
    containers = {"containers": [{"name": "main", "image": "a:1"}]}
    for folder, image in (("LIVE-123", "a:1"), ("MERGED-456", "a:2")):
        put(f"{folder}/{names[0]}", train(image))
        put(f"{folder}/{names[1]}", config(a=image))
        put(f"{folder}/{names[2]}", {**pod, "spec": {**containers, **({"restartPolicy": "Always"} if image == "a:2" else {})}})
    Path(f"MERGED-456/{names[2]}.new").write_bytes(Path(f"MERGED-456/{names[1]}").read_bytes().replace(b"name: c", b"name: d"))
    code, out, err = diff("--format", "json", "LIVE-123", "MERGED-456")
    assert (code, err) == (1, "")
    assert kinds(out) == {"train": "changed", "c": "changed", "d": "added"}
    assert main(["LIVE-123", "MERGED-456", "diff", "--format=json"]) == 1, "KUBECTL_EXTERNAL_DIFF='fcompile diff --format=json'"
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("format", ["text", "markdown", "json", "html"])
def test_hostile_values(diff: Diff, format: str) -> None:
    """Nothing in a value becomes a control sequence, markup, a mention or a table."""
    evil = "\x1b[31m`` @everyone | <script>alert(1)</script> \u202e ' \" </code>"
    old, new = train(), train()
    old["spec"]["description"] = "x"
    new["spec"]["description"] = evil
    new["metadata"]["annotations"] = {"example.com/a": f"{evil}\n```\n</details>\n"}
    new["spec"]["taskRoles"][0]["task"]["pod"]["metadata"] = {"annotations": {"x": evil}}
    put("a.yaml", old)
    put("b.yaml", new)
    code, out, _ = diff("--format", format, "a.yaml", "b.yaml")
    assert code == 1
    assert "\x1b" not in out
    assert "\u202e" not in out
    if format == "html":
        assert "<script" not in out
        assert out.count("</details>") == 1
    if format == "markdown":
        assert "```` ``` ````" in out or "````diff" in out
        for line in out.splitlines():
            if "@everyone" in line and line.startswith("|"):
                assert line.count("|") - line.count("\\|") == 4
    if format == "json":
        assert json.loads(out)["frameworks"][0]["changes"]


def test_colour(diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    files = put("a.yaml", train()), put("b.yaml", train("a:2"))
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    assert "\x1b[" not in diff(*files)[1]
    assert "\x1b[31ma:1\x1b[0m → \x1b[32ma:2\x1b[0m" in diff("--color", "always", *files)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in diff(*files)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in diff(*files)[1]


def test_work_does_not_grow_with_the_tasks(diff: Diff) -> None:
    small, large = train(), train("a:2")
    for value in (small, large):
        value["spec"]["taskRoles"][0]["taskNumber"] = 10_000
    _, out, _ = diff(put("a.yaml", small), put("b.yaml", large))
    assert "10,000 Pods stay as they are until then: train-worker-{0..9999}" in out
    assert len(out.splitlines()) < 10


def test_waivers_hold(diff: Diff) -> None:
    wrong = train()
    wrong["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["imagee"] = "x"
    for name in ("a.yaml", "b.yaml"):
        put(name, wrong)
    Path("b.yaml").write_text(Path("b.yaml").read_text() + "  description: x\n")
    assert diff("a.yaml", "b.yaml")[0] == 2
    Path(".fcompile-waivers.yaml").write_text("- code: FC101\n  reason: a field of a fork\n")
    assert diff("a.yaml", "b.yaml")[0] == 1


def test_the_same_change_of_many_is_shown_once(diff: Diff) -> None:
    put("a.yaml", *(train(name=f"train{number}") for number in range(40)), train(name="odd"))
    put("b.yaml", *(train("a:2", f"train{number}") for number in range(40)), train("a:3", "odd"))
    for format in ("text", "markdown"):
        _, out, _ = diff("--format", format, "a.yaml", "b.yaml")
        assert out.count("a:1") == 2
        assert "he same in 39 more Frameworks: default/train1, default/train2, " in out
    assert len(json.loads(diff("--format", "json", "a.yaml", "b.yaml")[1])["frameworks"]) == 41


def test_objects_whose_names_are_generated_are_compared(diff: Diff) -> None:
    """Argo CD runs hooks of such a form, and `generate` passes them through."""

    def job(image: str) -> Json:
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "done-"}, "spec": {"image": image}}

    put("a.yaml", train(), job("a"))
    put("b.yaml", train(), job("a"), job("evil"))
    code, out, _ = diff("a.yaml", "b.yaml")
    assert (code, out.splitlines()[0]) == (1, "Job done-* #2  added  b.yaml")
    put("b.yaml", train(), job("evil"))
    assert diff("a.yaml", "b.yaml")[1].splitlines()[:2] == ["Job done-*  changed  b.yaml", "    spec.image: a → evil"]
    named = {**job("x"), "metadata": {"name": "done-* #2"}}
    put("a.yaml", train(), job("a"), named)
    put("b.yaml", train(), job("a"), job("b"), named)
    assert diff("a.yaml", "b.yaml")[1].splitlines()[0] == "Job done-* #2  added  b.yaml"


def test_what_has_items_and_no_name_is_compared(diff: Diff) -> None:
    """Argo CD and kubectl take it for a list whatever its kind."""
    put("a.yaml", train())
    put("b.yaml", train(), {"apiVersion": "v1", "kind": "Bag", "items": [config()]})
    assert diff("a.yaml", "b.yaml")[1].splitlines()[0] == "Bag *  added  b.yaml"


def test_an_image_with_the_own_name_is_not_the_same(diff: Diff) -> None:
    """Who chooses the name of a Framework and its image could have hidden the image behind that of another one."""
    put("a.yaml", *(train(name=name) for name in ("torch", "miner")))
    put("b.yaml", *(train(f"{name}-gpu:2", name) for name in ("torch", "miner")))
    for format in ("text", "markdown", "html"):
        _, out, _ = diff("--format", format, "a.yaml", "b.yaml")
        assert ("torch-gpu:2" in out, "miner-gpu:2" in out, "the same in" in out.lower()) == (True, True, False)


def test_a_service_for_each_is_shown_once(diff: Diff) -> None:
    served = [train(name=name) for name in ("a", "b")]
    put("a.yaml", *served)
    for one in served:
        one["spec"]["taskRoles"][0]["service"] = {"ports": [{"port": 80}]}
    put("b.yaml", *served)
    assert "the same in 1 more Framework: default/b" in diff("a.yaml", "b.yaml")[1]


def test_huge_files_of_others_are_passed_over(diff: Diff) -> None:
    put("old/a.yaml", train())
    put("new/a.yaml", train("a:2"))
    with open("new/huge.json", "wb") as file:
        file.truncate(2**30)
    code, _, err = diff("old", "new")
    assert (code, err) == (1, "")


def test_what_every_container_gets_is_not_shown(diff: Diff) -> None:
    old, new = train(), train()
    new["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["initContainers"] = [
        {"name": "proxy", "image": "p:1", "restartPolicy": "Always", "args": ["--upstream=registry.example.com", "--listen=127.0.0.1"]}
    ]
    _, out, _ = diff(put("a.yaml", old), put("b.yaml", new))
    assert "FC_" not in out
    assert out.splitlines()[2:9] == [
        "    worker: spec.initContainers[proxy]: added",
        "      + name: proxy",
        "      + args:",
        "      + - --upstream=registry.example.com",
        "      + - --listen=127.0.0.1",
        "      + image: p:1",
        "      + restartPolicy: Always",
    ]


def test_it_is_said_that_neither_side_has_a_framework(diff: Diff) -> None:
    put("a.yaml", config(a="1"))
    put("b.yaml", config(a="2"))
    said = "fcompile: there is no Framework on either side\n"
    assert diff("a.yaml", "a.yaml") == (0, "No differences in what will run.\n", said)
    assert diff("a.yaml", "b.yaml")[::2] == (1, said)
    assert diff("--require", "a.yaml", "b.yaml") == (2, "", "fcompile: --require: there is no Framework on either side\n")


def test_it_is_said_that_the_new_side_has_no_framework(diff: Diff) -> None:
    """As after a render that failed: that the others are gone frightens."""
    put("old/a.yaml", train())
    put("new/a.yaml", config(a="1"))
    code, out, err = diff("old", "new")
    assert (code, err) == (1, "fcompile: there is no Framework in NEW: each one of OLD counts as gone\n")
    assert "gone: deleting it ends all of its Pods" in out
    for folder in ("old", "new"):
        put(f"{folder}/b.yaml", framework(spec(role()), "other"))
    assert diff("old", "new")[2] == ""


def test_frameworks_that_are_the_same_are_frameworks(diff: Diff) -> None:
    put("a.yaml", train())
    assert diff("--require", "a.yaml", "a.yaml") == (0, "No differences in what will run.\n", "")


def test_git_says_nothing_of_files_that_are_the_same(diff: Diff) -> None:
    code, _, err = diff("--git", "HEAD", "--require")
    assert code == 2
    assert "--require does not go with --git" in err


def test_no_new_attempt_is_promised_where_nothing_is_ever_retried(diff: Diff) -> None:
    def both(name: str, **policy: Any) -> list[Json]:
        pods = [{"containers": [{"name": "main", "image": image}]} for image in ("a:1", "a:2")]
        return [framework(spec(role(pod=pod), **policy), name) for pod in pods]

    never, whole = both("never"), both("whole", retryPolicy={"maxRetryCount": 1})
    put("a.yaml", never[0], whole[0])
    put("b.yaml", never[1], whole[1])
    out = diff("a.yaml", "b.yaml")[1]
    assert "default/never  needs to be created anew" in out
    assert out.count("needs a new attempt") == 2
    assert out.endswith("2 Frameworks differ: 1 only when it is created anew, 1 in a new attempt.\n")
    page = diff("--format", "html", "a.yaml", "b.yaml")[1]
    assert page.count("eeds to be created anew") == 3


UNREAD = {
    "large": ("# " + "x" * 8_400_000, ""),
    "deep": ("", "note: " + "[" * 120 + "]" * 120),
    "a template": ("", "{{ note }}: [x"),
}


@pytest.mark.parametrize(("above", "below"), UNREAD.values(), ids=UNREAD)
def test_what_only_others_can_read_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], above: str, below: str) -> None:
    """A Pod with another image was no difference."""
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        text = (
            f"{above}\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: a, image: 'a:{side}'}}]}}\n{below}\n"
        )
        (tmp_path / side / "pod.yaml").write_text(text, encoding="utf-8")
        (tmp_path / side / "site.yml").write_text(f"theme: !!python/name:x.{side}\n", encoding="utf-8")
    assert main(["diff", "--format", "json", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    (one,) = json.loads(capsys.readouterr().out)["objects"]
    assert (one["kind"], one["name"], one["change"]) == ("unreadable file", "pod.yaml", "changed")
    assert main(["diff", "--fail-on", "ends-pods", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    out, err = capsys.readouterr()
    assert "a:new" in out
    assert "the change of unreadable file pod.yaml ends Pods" in err
    for side in ("old", "new"):
        path = tmp_path / side / "pod.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("kind: Pod", "kind: Secret"), encoding="utf-8")
    assert main(["diff", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    out = capsys.readouterr().out
    assert "a:new" not in out
    assert "sha256" in out
