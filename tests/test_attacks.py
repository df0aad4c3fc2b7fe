"""No input of some megabytes takes more than seconds, more than 256 MiB, or makes output that nobody can read.

It is refused, with its place.

Each is the whole command in a process of its own, whose limits the kernel holds. The deadlines are generous, for machines that do other
things too: what they catch is a second power.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fcompile.convert import conversion
from fcompile.emit.folder import MAX_MANIFEST_BYTES
from fcompile.load.rules import MAX_FILE_BYTES, MAX_PROBLEMS
from fcompile.model.names import PAUSE_ANNOTATION
from tests.diff.frameworks import framework, role, spec
from tests.laws import run
from tests.test_cli import good

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory is not measured in this way")

MEBIBYTES = 256
SECONDS = 15
OUTPUT = 3_000_000
FRAMEWORK = good()
SERVICE = (
    "---\napiVersion: v1\nkind: Service\nmetadata: {{name: s{0}}}\nspec: {{clusterIP: None, selector: {{FC_FRAMEWORK_NAME: train{1}}}}}\n"
)


def _in_spec(text: str) -> str:
    return FRAMEWORK.replace("spec:\n", f"spec:\n{text}", 1)


def _in_metadata(text: str) -> str:
    return FRAMEWORK.replace("metadata: {", f"metadata: {{{text}, ", 1)


def _in_container(text: str) -> str:
    return FRAMEWORK.replace("image: busybox", f"image: busybox\n            {text}", 1)


def _many(count: int, one: str = "", old: str = "", new: str = "") -> str:
    return "---\n".join(good(one or f"t{number}").replace(old, new) if old else good(one or f"t{number}") for number in range(count))


def _listed(one: str, count: int) -> str:
    return ",".join(f"{{{one.format(number)}}}" for number in range(count))


def _taken_on_one_line(count: int, description: str) -> str:
    spec = "{restartPolicy: Never, containers: [{name: main, image: busybox}]}"
    roles = ",".join(f"{{name: r{number}, service: {{}}, task: {{pod: {{spec: {spec}}}}}}}" for number in range(count))
    services = (f"---\napiVersion: v1\nkind: Service\nmetadata: {{name: train-r{number}}}\n" for number in range(count))
    return FRAMEWORK.partition("spec:\n")[0] + f"spec: {{description: {description}, taskRoles: [{roles}]}}\n" + "".join(services)


def _with_tolerations(count: int) -> str:
    value = f"[{','.join(['{}'] * count)}]"
    return FRAMEWORK.replace("pod:", f"pod:\n        metadata: {{annotations: {{scheduler.alpha.kubernetes.io/tolerations: '{value}'}}}}")


ATTACKS: dict[str, tuple[str | bytes, str]] = {
    "separators with text": (FRAMEWORK + "--- a\n" * 1_000_000, "FC018"),
    "separators with a bracket": (FRAMEWORK + "--- [\n" * 300_000, "FC006"),
    "separators": (FRAMEWORK + "---\n" * 3_000_000, "FC034"),
    "small documents": ("a: b\n---\n" * 1_000_000 + FRAMEWORK, "FC034"),
    "broken documents": (FRAMEWORK + "---\na:\n\tb\n" * 500_000, "FC035"),
    "bytes that are no text": (FRAMEWORK.encode() + b"---\n\xff\n" * 500_000, "FC035"),
    "directives": (FRAMEWORK + "---\n%\n" * 500_000, "FC035"),
    "duplicate keys": (FRAMEWORK + "---\na: 1\na: 2\n" * 300_000, "FC035"),
    "duplicate keys in JSON": ('{"a":1,"a":2}\n' * 300_000 + '{"kind": "Framework", "a": "FC_"}', ""),
    "JSON values": ('{"a":1}\n' * 1_000_000, ""),
    "malformed waivers": (FRAMEWORK + "# fcompile: ignore\n" * 200_000, "FC901"),
    "waivers without a problem": (FRAMEWORK + "# fcompile: waive FC307 spec.x: a\n" * 200_000, "FC905"),
    "waivers for each problem": (
        _in_spec("".join(f"  zz{number}: 1\n" for number in range(9_000))) + "# fcompile: waive FC101 *a*b*c*d: e\n" * 9_000,
        "FC101",
    ),
    "codes of one waiver": (
        FRAMEWORK + "# fcompile: waive " + ",".join(f"a{number}" for number in range(700_000)) + " spec: why\n",
        "FC901",
    ),
    "unknown fields": (_in_spec("".join(f"  zz{number}: 1\n" for number in range(200_000))), "FC035"),
    "unknown fields on one line": (_in_metadata(", ".join(f"zz{number}: 1" for number in range(200_000))), "FC035"),
    "scalars that are read in two ways": (_in_spec("  zz:\n" + "  - 1:30\n" * 400_000), "FC035"),
    "sums with the index": (
        _in_container("args: [" + ", ".join(f'"{{{{FC_TASK_INDEX+{number}}}}}"' for number in range(20_000)) + "]"),
        "FC602",
    ),
    "sums with the index beside an escape": (
        _in_container('args: ["' + "".join(f"{{{{FC_TASK_INDEX+{number}}}}}" for number in range(40_000)) + '\\n"]'),
        "FC602",
    ),
    "sums with the index that may meet names": (
        FRAMEWORK.replace(
            "pod:",
            "pod:\n        metadata: {labels: {"
            + ", ".join(f'"a{{{{FC_TASK_INDEX+{number}}}}}": "-", "a{99_999 - number}": "-"' for number in range(0, 99_999, 5))
            + "}}",
        ).replace("taskNumber: 1", "taskNumber: 9"),
        "FC151",
    ),
    "placeholders that are misspelt": (_in_container('args: ["' + "{{FC_TASK_INDE}}" * 60_000 + '"]'), "FC421"),
    "keys with the index that are wrong": (
        _in_container("resources: {limits: {" + ", ".join(f'"a{number}{{{{FC_TASK_INDEX}}}}": 1' for number in range(4_000)) + "}}"),
        "FC260",
    ),
    "folders of a file in a volume": (
        FRAMEWORK.replace(
            "containers:",
            'volumes: [{name: v, configMap: {name: c, items: [{key: k, path: "' + "a/" * 500_000 + '"}]}}]\n          containers:',
        ),
        "",
    ),
    "mounts of volumes that there are not": (
        FRAMEWORK.replace("containers:", f"volumes: [{_listed('name: volume-{}', 12_000)}]\n          containers:")
        + f"            volumeMounts: [{_listed('name: volumes-{0}, mountPath: /{0}', 12_000)}]\n",
        "FC230",
    ),
    "claims of many containers": (
        FRAMEWORK.replace("containers:", f"resourceClaims: [{_listed('name: r{}', 9_000)}]\n          containers:")
        + "".join(f"          - {{name: c{number}, image: b, resources: {{claims: [{{name: x}}]}}}}\n" for number in range(9_000)),
        "FC259",
    ),
    "resources of many containers": (
        FRAMEWORK.replace(
            "containers:",
            "volumes: [{name: v, downwardAPI: {items: ["
            + _listed("path: p{0}, resourceFieldRef: {{resource: limits.cpu, containerName: x{0}}}", 9_000)
            + "]}}]\n          containers:",
        )
        + "".join(f"          - {{name: c{number}, image: b}}\n" for number in range(12_000)),
        "FC226",
    ),
    "profiles of many containers": (
        FRAMEWORK.replace(
            "pod:",
            "pod:\n        metadata: {annotations: {"
            + ", ".join(f"container.apparmor.security.beta.kubernetes.io/c{number}: unconfined" for number in range(12_000))
            + "}}",
        )
        + "".join(f"          - {{name: c{number}, image: b}}\n" for number in range(12_000)),
        "FC293",
    ),
    "tolerations in an annotation": (_with_tolerations(2_000_000), "FC153"),
    "tolerations in many annotations": (
        "---\n".join(_with_tolerations(80_000).replace("train", f"t{number}") for number in range(32)),
        "FC279",
    ),
    "wrong types": (_in_metadata("annotations: {" + ", ".join(f"a{number}: {{}}" for number in range(150_000)) + "}"), "FC111"),
    "a nested map": (_in_spec("  zz:\n" + "".join(f"    k{number}:\n      a:\n        b: 1\n" for number in range(80_000))), "FC101"),
    "a nested map that is too large": (
        _in_spec("  zz:\n" + "".join(f"    k{i}: {{a: {{b: {{c: 1}}}}}}\n" for i in range(200_000))),
        "FC009",
    ),
    "a map nested deep and wide": (_in_spec("  zz: " + "{a: " * 90 + "[" + "{b: c}," * 150_000 + "]" + "}" * 90 + "\n"), "FC101"),
    "broken Frameworks": (_many(12_000, old="restartPolicy", new="restartPolice"), "FC035"),
    "the same Framework": (_many(12_000, "train"), "FC501"),
    "Services that select the same": (FRAMEWORK + "".join(SERVICE.format(number, "") for number in range(40_000)), "FC503"),
    "Services that select others": (
        FRAMEWORK + "".join(SERVICE.format(number, f", FC_TASKROLE_NAME: r{number}") for number in range(40_000)),
        "",
    ),
    "roles on one line, whose Services are taken": (_taken_on_one_line(900, "x" * 1_200_000), "FC502"),
    "names that kustomize made": (
        _in_container("envFrom: [" + ",".join(f"{{configMapRef: {{name: a{number}}}}}" for number in range(60_000)) + "]").replace(
            "name: train", f"name: {'t' * 63}", 1
        )
        + "".join(
            f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {'b' * (number % 60)}a{number}-4h2mbtbbt6}}\n"
            for number in range(30_000)
        ),
        "FC504",
    ),
    "env": (_in_container("env: [" + "{name: A, value: b}," * 90_000 + "]"), ""),
    "volume mounts": (_in_container("volumeMounts: [" + ",".join(f"{{name: a, mountPath: /b{i}}}" for i in range(90_000)) + "]"), "FC035"),
    "a name that is long": (
        FRAMEWORK.replace("train", "t" * 1_000_000).replace(
            "spec:\n", "spec:\n" + "".join(f"  zz{number}: 1\n" for number in range(20_000)), 1
        ),
        "FC101",
    ),
    "a key that is long": (_in_spec('  zz:\n    ? "' + "k" * 1_000_000 + '"\n    :\n' + "    - 1:30\n" * 100_000), "FC021"),
    "a number that is long": (FRAMEWORK.replace("taskNumber: 3", f"taskNumber: 0{'7' * 4_000_000}"), "FC021"),
    "line ends before a mistake": ("\n" * 7_000_000 + _in_spec("  zz: 1\n"), "FC101"),
    "blanks where a template may begin": (FRAMEWORK + "---\na: [\n" + " " * 4_000_000 + "\n{{ a }}", "FC016"),
    "carriage returns": (FRAMEWORK + "---\n" + "\r\r\n" * 2_000_000, ""),
}


# A process begins with the memory of the one that it was forked from, so that one that is small must stand between.
LAUNCHER = """
import os, resource, sys
seconds, size, out, said, given = sys.argv[1:6]
child = os.fork()
if child == 0:
    for number, path, flags in ((0, given, os.O_RDONLY), (1, out, os.O_CREAT | os.O_WRONLY), (2, said, os.O_CREAT | os.O_WRONLY)):
        os.dup2(os.open(path, flags | os.O_TRUNC * (number > 0), 0o644), number)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    os.execv(sys.argv[6], sys.argv[6:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


class Ran(NamedTuple):
    code: int
    out: str
    said: str
    mebibytes: int


def bounded(folder: Path, *arguments: str, stdin: str = os.devnull, seconds: int = SECONDS, size: int = OUTPUT * 4) -> Ran:
    """Run the command with the kernel's limits."""
    limits = [str(seconds), str(size), str(folder / "out.log"), str(folder / "said.log"), stdin]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, *limits, sys.executable, "-m", "fcompile", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    code, kibibytes = map(int, done.stdout.split())
    return Ran(code, (folder / "out.log").read_text(), (folder / "said.log").read_text(), kibibytes // 1024)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_ends_soon_in_little_memory_and_with_little_output(name: str, tmp_path: Path) -> None:
    text, code = ATTACKS[name]
    file = tmp_path / ("attack.json" if "JSON" in name else "attack.yaml")
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = bounded(tmp_path, "validate", file.name)
    assert ran.code in (0, 1), ran.said
    assert ran.mebibytes < MEBIBYTES
    assert len(ran.out) < OUTPUT
    assert len(ran.said) < 10_000
    assert re.search(rf"attack\.\w+:\d+:\d+: (?:error|warning)\[{code}\]", ran.out) if code else True


def test_a_thousand_errors_of_one_file_are_told_to_argo_cd_soon(tmp_path: Path) -> None:
    """For each of them the whole file was searched for what may be a Secret: one of 28 MB took a quarter of an hour."""
    (tmp_path / "attack.yaml").write_text('{"a":1,"a":2}\n' * 250_000)
    ran = bounded(tmp_path, "argocd", "generate", ".")
    assert ran.code == 1, ran.said
    assert "Found 1,001 errors in 1 of 1 file." in ran.said
    assert len(ran.said) < OUTPUT


def test_many_labels_are_explained_soon(tmp_path: Path) -> None:
    labels = ", ".join(f"l{number}: v" for number in range(20_000))
    (tmp_path / "train.yaml").write_text(FRAMEWORK.replace("pod:", f"pod:\n        metadata: {{labels: {{{labels}}}}}"))
    ran = bounded(tmp_path, "explain", "train-worker-0", "train.yaml")
    assert (ran.code, ran.said.count("\n") < 10) == (0, True), ran.said
    assert re.search("(?m)^ *l19999: v +# train.yaml:", ran.out)
    assert ran.mebibytes < MEBIBYTES


@pytest.mark.parametrize("name", ["unknown fields on one line", "a name that is long", "a key that is long", "a number that is long"])
@pytest.mark.parametrize("format", ["json", "sarif", "junit", "github"])
def test_no_format_explodes(format: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "attack.yaml").write_text(str(ATTACKS[name][0]))
    ran = bounded(tmp_path, "validate", "--format", format, "attack.yaml")
    assert ran.code == 1
    assert len(ran.out) < OUTPUT
    assert re.search("FC035|FC021", ran.out)


@pytest.mark.parametrize("command", ["validate", "build"])
def test_a_large_standard_input_is_refused(command: str, tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(100 << 20)
    ran = bounded(tmp_path, command, "-", stdin=str(tmp_path / "large"))
    assert ran.code == 1
    assert "<stdin>:1:1: error[FC033]" in ran.out + ran.said
    assert ran.mebibytes < 128


MANIFESTS: dict[str, Callable[[], str]] = {
    "lists": lambda: '{"files":{},"x":[' + "[]," * 8_000_000 + "[]]}",
    "blanks": lambda: '{"files":{}}' + " " * MAX_MANIFEST_BYTES,
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_costs_more_than_it_weighs_is_none(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(FRAMEWORK)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".fcompile-manifest").write_text(MANIFESTS[name]())
    ran = bounded(tmp_path, "build", "--to", "out", "train.yaml")
    assert "out holds what was not written by fcompile and would be lost (.fcompile-manifest)" in ran.said
    assert ran.mebibytes < MEBIBYTES
    assert os.listdir(tmp_path / "out") == [".fcompile-manifest"]


def test_a_large_file_that_is_not_ours_is_passed_over(tmp_path: Path) -> None:
    """Data and models lie in repositories, too. Where a Framework may be in it, it is refused."""
    with (tmp_path / "data.json").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    (tmp_path / "train.yaml").write_text(FRAMEWORK)
    assert run(["validate", str(tmp_path)]).code == 0
    with (tmp_path / "data.json").open("r+b") as file:
        file.seek((1 << 20) - 10)
        file.write(b"frameworkcontroller.microsoft.com/v1")
    ran = run(["validate", str(tmp_path)])
    assert (ran.code, "data.json:1:1: error[FC033]" in ran.out.decode()) == (1, True)


@pytest.mark.parametrize("command", [("validate",), ("argocd", "discover")], ids="-".join)
def test_a_file_of_what_begins_a_tag_is_passed_over_soon(command: tuple[str, ...], tmp_path: Path) -> None:
    """After each exclamation mark all others were searched for the end of a tag: 50 KB took a quarter of a minute."""
    (tmp_path / "marks.yaml").write_text("!" * (4 << 20))
    ran = bounded(tmp_path, *command, ".")
    assert ran.code == 0, ran.said
    assert ran.mebibytes < MEBIBYTES


def test_what_is_not_shown_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text(_in_spec("".join(f"  zz{number}: 1\n" for number in range(3_000))))
    ran = run(["validate", str(file)])
    assert ran.out.decode().endswith("Found 3,000 errors in 1 of 1 file.\n")
    assert "error[FC035] 2,000 more problems in this file are not shown" in ran.out.decode()
    summary = json.loads(run(["validate", "--format", "json", str(file)]).out)["summary"]
    assert summary["errors"] == 3_000


def test_warnings_that_are_not_shown_are_no_errors(tmp_path: Path) -> None:
    warned = FRAMEWORK.replace("taskNumber: 3", "taskNumber: 3\n    frameworkAttemptCompletionPolicy: {minFailedTaskCount: 9}")
    (tmp_path / "train.yaml").write_text("---\n".join(warned.replace("train", f"t{number}") for number in range(1_200)))
    ran = run(["validate", str(tmp_path / "train.yaml")])
    assert ran.code == 0
    assert "warning[FC035] 200 more problems" in ran.out.decode()
    assert run(["validate", "--strict", str(tmp_path / "train.yaml")]).code == 1


def test_waived_problems_do_not_count(tmp_path: Path) -> None:
    """A sweep of many Frameworks, each with the same waiver, is one file for a reason."""
    warned = FRAMEWORK.replace(
        "taskNumber: 3",
        "taskNumber: 3\n    # fcompile: waive FC301: it grows\n    frameworkAttemptCompletionPolicy: {minFailedTaskCount: 9}",
    )
    (tmp_path / "train.yaml").write_text("---\n".join(warned.replace("train", f"t{number}") for number in range(1_200)))
    ran = run(["validate", "--strict", str(tmp_path / "train.yaml")])
    assert (ran.code, ran.out.decode()) == (0, "1,200 Frameworks in 1 file: no problems (1,200 waived).\n")


def test_after_too_many_problems_a_file_is_not_checked_on(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(_in_spec("".join(f"  zz{number}: 1\n" for number in range(MAX_PROBLEMS + 100))))
    ran = run(["validate", str(tmp_path / "train.yaml")])
    assert f"Found {MAX_PROBLEMS + 1:,} errors" in ran.out.decode()


def test_many_entries_of_the_waivers_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(FRAMEWORK)
    (tmp_path / "waivers.yaml").write_text("- {code: FC301, reason: a}\n" * 1_001)
    ran = run(["validate", "--waivers", str(tmp_path / "waivers.yaml"), str(tmp_path / "train.yaml")])
    assert (ran.code, "waivers.yaml:1001:3: error[FC901] more than 1,000 entries" in ran.out.decode()) == (1, True)


def test_many_patterns_of_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(FRAMEWORK)
    (tmp_path / ".fcompileignore").write_text("a\n" * 1_001)
    ran = run(["validate", str(tmp_path)])
    assert (ran.code, "more than 1,000 patterns in .fcompileignore" in ran.out.decode()) == (1, True)


def _pytorch(**container: Any) -> dict[str, Any]:
    containers = [{"name": "pytorch", "image": "x", **container}]
    specs = {"Master": {"template": {"spec": {"containers": containers}}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "a"}, "spec": {"pytorchReplicaSpecs": specs}}


def _named(job: dict[str, Any], name: str) -> dict[str, Any]:
    return {**job, "metadata": {"name": name}}


def _runtime(container: dict[str, Any] | None = None, **jobs: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "node", "image": "x", **(container or {})}]}
    label = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    job = {"name": "node", "template": {"metadata": {"labels": label}, "spec": {"template": {"spec": pod}}}}
    spec = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [job], **jobs}}}
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "r"}}
    return {**head, "spec": spec}


def _train(name: str = "t", **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": name}}
    return {**head, "spec": {"runtimeRef": {"name": "r"}, **spec}}


def _jobset(jobs: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"}}
    return {**head, "spec": {"replicatedJobs": jobs, **spec}}


def _replicated(name: str, container: dict[str, Any] | None = None, **pod: Any) -> dict[str, Any]:
    containers = [{"name": "a", "image": "x", **(container or {})}]
    return {"name": name, "template": {"spec": {"template": {"spec": {"containers": containers, **pod}}}}}


def _waiting() -> dict[str, Any]:
    """Return a job with very many mounts that waits for many others."""
    first = [_replicated(f"p{i}", {"volumeMounts": [{"name": "d"}]}, volumes=[{"name": "d", "emptyDir": {}}]) for i in range(3_000)]
    needs = [{"name": f"p{i}", "status": "Complete"} for i in range(3_000)]
    return _jobset([*first, {**_replicated("main", {"volumeMounts": [{"name": "d"}] * 45_000}), "dependsOn": needs}])


def _claiming() -> dict[str, Any]:
    """Return a runtime with very many jobs that each mount very many claims."""
    claims = [{"metadata": {"name": f"v{i}"}, "spec": {}} for i in range(8_000)]
    runtime = _runtime(volumeClaimPolicies=[{"templates": claims}])
    runtime["spec"]["template"]["spec"]["replicatedJobs"] += [_replicated(f"p{i}") for i in range(400)]
    return runtime


def _deep(value: Any) -> Any:
    for _ in range(85):
        value = {"a": value}
    return value


def _tensorflow(name: str, workers: int, servers: int = 0) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "tensorflow", "image": "x"}]}}
    specs = {
        "Worker": {"replicas": workers, "template": template},
        **({"PS": {"replicas": servers, "template": template}} if servers else {}),
    }
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name}, "spec": {"tfReplicaSpecs": specs}}


def _stream(*values: Any) -> str:
    return "\n---\n".join(json.dumps(value, separators=(",", ":")) for value in values)


_PATCH = {"manager": "m", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{"name": "node"}]}}}}
_PEERS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}, "l": ["x"] * 300_000}
CONVERSIONS: dict[str, Callable[[], str]] = {
    "one letter again and again": lambda: _stream(_pytorch(args=["long" + "x" * 250_000])),
    "a variable of the operator's": lambda: _stream(_pytorch(env=[{"name": "RANK", "value": "b"}] * 40_000)),
    "variables of a trainer": lambda: _stream(
        _runtime(), _train(trainer={"env": [{"name": f"A{i}", "value": "b"} for i in range(20_000)]})
    ),
    "patches of a runtime": lambda: _stream(_runtime({"args": ["a"] * 20_000}), _train(runtimePatches=[_PATCH] * 2_000)),
    "jobs without a runtime": lambda: _stream(*(_train(f"t{i}") for i in range(8_000))),
    "deep": lambda: _stream({**(job := _pytorch()), "spec": {**job["spec"], "foo": _deep([1] * 450_000)}}),
    "strings beside jobs": lambda: _stream(*(_named(_pytorch(), f"a{i}") for i in range(300)), _PEERS),
    "a string that names many jobs": lambda: _stream(
        *(_named(_pytorch(), f"a{i}") for i in range(600)),
        {**_PEERS, "l": " ".join(f"a{i}-master-0" for i in range(600)) + " a-1" * 400_000},
    ),
    "labels of Kueue's": lambda: _stream(
        {**_pytorch(), "metadata": {"name": "a", "labels": {f"kueue.x-k8s.io/{i}": "v" for i in range(50_000)}}}
    ),
    "comments": lambda: (
        "apiVersion: v1\nkind: List\nitems:\n"
        + "".join(f"- {json.dumps(_named(_pytorch(), f'a{i}'))}\n" for i in range(500))
        + "#\n" * 2_500_000
    ),
    "mounts": lambda: _stream(_waiting()),
    "texts with the names of many parts": lambda: _stream(
        _jobset([*(_replicated(f"job{i}") for i in range(2_500)), _replicated("x", {"args": ["a-job" * 100] * 1_000})])
    ),
    "targets": lambda: _stream(
        _jobset([_replicated(f"a{i}") for i in range(5_000)], successPolicy={"operator": "Any", "targetReplicatedJobs": ["b"] * 200_000})
    ),
    "claims": lambda: _stream(_claiming(), _train()),
    "keys": lambda: _stream({**_pytorch(), "spec": {f"pytorchReplicaSpe{i}": 1 for i in range(240_000)}}),
    "a name that is long": lambda: _stream(_named(_pytorch(), "-" * 3_000_000)),
    "jobs that are refused": lambda: _stream(*(_tensorflow(f"t{i}", 10_000, 10_000) for i in range(1_000))),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_ends_soon_in_little_memory(name: str, tmp_path: Path) -> None:
    (tmp_path / "attack.yaml").write_text(CONVERSIONS[name]())
    ran = bounded(tmp_path, "convert", "attack.yaml")
    assert ran.code in (0, 1), ran.said
    assert ran.mebibytes < MEBIBYTES
    assert len(ran.out) < OUTPUT
    assert len(ran.said) < OUTPUT
    assert max(map(len, ran.said.splitlines())) < 10_000


def test_what_a_conversion_makes_is_bounded(tmp_path: Path) -> None:
    """A job of two hundred bytes can name thousands of tasks in variables: what all of them come to counts."""
    (tmp_path / "attack.yaml").write_text(_stream(*(_tensorflow(f"t{i}", 2_000) for i in range(180))))
    ran = bounded(tmp_path, "convert", "attack.yaml", seconds=4 * SECONDS, size=40 << 20)
    assert ran.code == 1
    assert ran.mebibytes < MEBIBYTES
    assert 30 << 20 < len(ran.out) < 36 << 20
    assert "the Frameworks of this run have more than 32 MiB: convert fewer files at once" in ran.said


def test_what_a_conversion_writes_to_a_folder_is_bounded_likewise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "MAX_OUTPUT", 1 << 20)
    (tmp_path / "attack.yaml").write_text(_stream(*(_tensorflow(f"t{i}", 2_000) for i in range(9))))
    printed = run(["convert", str(tmp_path / "attack.yaml")])
    assert 1 << 20 < len(printed.out) < 2 << 20
    to = run(["convert", "--to", str(tmp_path / "out"), str(tmp_path / "attack.yaml")])
    assert (printed.code, to.code) == (1, 1)
    assert (tmp_path / "out" / "attack.yaml").read_bytes() == printed.out


def _resource_list(items: list[Any]) -> str:
    return json.dumps({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items})


def test_a_resource_list_on_one_line(tmp_path: Path) -> None:
    """Each line of a Framework was indented by as much as stood before it: gigabytes for some hundred kilobytes."""
    from fcompile.load import values

    (framework,) = values(FRAMEWORK.encode())
    items = [{**framework, "metadata": {"name": f"t{number}"}} for number in range(900)]
    for text in (_resource_list(items), "# YAML\n" + _resource_list(items)):
        (tmp_path / "list").write_text(text)
        ran = bounded(tmp_path, "krm", stdin=str(tmp_path / "list"))
        assert ran.code == 0, ran.said
        assert ran.mebibytes < 128
        assert len(ran.out) < OUTPUT
        (compiled,) = values(ran.out.encode())
        assert [item["metadata"]["name"] for item in compiled["items"]] == [item["metadata"]["name"] for item in items]
        assert all("frameworkAttemptCompletionPolicy" in item["spec"]["taskRoles"][0] for item in compiled["items"])


def _configmap(letter: str, keys: int) -> str:
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n" + "".join(f'  k{key}: "{letter}{key}"\n' for key in range(keys))


def test_a_report_of_many_differences_needs_little_more_than_the_comparison(tmp_path: Path) -> None:
    """A comment on a pull request was made as a whole, megabytes long, before all but 60 kB of it were thrown away."""
    for name, letter in (("old.yaml", "a"), ("new.yaml", "b")):
        (tmp_path / name).write_text(_configmap(letter, 40_000))
    text = bounded(tmp_path, "diff", "old.yaml", "new.yaml")
    assert text.code == 1, text.said
    for format in ("markdown", "json", "html"):
        ran = bounded(tmp_path, "diff", "--format", format, "old.yaml", "new.yaml")
        assert (ran.code, bool(ran.out)) == (1, True), ran.said
        assert ran.mebibytes < text.mebibytes + 15, format


def _nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def _of_status(roles: list[Any], others: list[Any], **metadata: Any) -> dict[str, Any]:
    """Return a Framework that runs, with these roles, of which the status knows others, too."""
    known = [{"name": f"x{number}", "taskStatuses": tasks} for number, tasks in enumerate(others)]
    status = {"state": "AttemptRunning", "attemptStatus": {"taskRoleStatuses": [*known, {"name": "worker", "taskStatuses": [{}]}]}}
    return {**framework(spec(*roles), **metadata), "status": status}


_DONE = [{"state": "Completed"}]
COMPARISONS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "lists in lists": lambda: (
        {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "a": _nested([1] * 490_000, 90)},
        {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "a": _nested([*[1] * 489_999, 2], 90)},
    ),
    "a pause of many roles": lambda: (
        _of_status([role()], [_DONE] * 15_000, annotations={PAUSE_ANNOTATION: "true"}),
        _of_status([role()], [_DONE] * 15_000),
    ),
    "roles that are scaled": lambda: (
        _of_status([role(f"r{i}", 1) for i in range(500)], [[]] * 36_000),
        _of_status([role(f"r{i}", 2) for i in range(500)], [[]] * 36_000),
    ),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_comparison_ends_soon_in_little_memory(name: str, tmp_path: Path) -> None:
    for side, value in zip(("old", "new"), COMPARISONS[name](), strict=True):
        (tmp_path / f"{side}.json").write_text(json.dumps(value, separators=(",", ":")))
    ran = bounded(tmp_path, "diff", "old.json", "new.json", seconds=5)
    assert (ran.code, ran.said.count("\n") < 10) == (1, True), ran.said
    assert ran.mebibytes < MEBIBYTES
    assert len(ran.out) < OUTPUT


def test_a_tree_of_many_folders_is_compared_soon(tmp_path: Path) -> None:
    """For each question by a path git goes through all that is in the folder: 8,000 folders took half a minute."""
    commands = ["commit refs/heads/old", "committer a <a@example.com> 1 +0000", "data 0"]
    commands += ["commit refs/heads/new", "committer a <a@example.com> 1 +0000", "data 0", "from refs/heads/old"]
    for number in range(8_000):
        for name, text in (f"k{number}/kustomization.yaml", f"resources: [../base/a{number}.yaml]"), (f"base/a{number}.yaml", "a: 1"):
            commands += [f"M 100644 inline {name}", f"data {len(text)}", text]
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=tmp_path, input="\n".join(commands) + "\n", text=True, check=True)
    ran = bounded(tmp_path, "diff", "--git", "old..new", seconds=10)
    assert ran.code == 1, ran.said
    assert "16,000 other objects differ." in ran.out
    assert ran.mebibytes < MEBIBYTES


@pytest.mark.parametrize("way", ["a generator", "many generators", "links"])
@pytest.mark.parametrize("command", ["validate", "diff", "diff --git"])
def test_what_many_folders_name_is_read_once(command: str, way: str, tmp_path: Path) -> None:
    """A text was read, and the paths in it written out, for each folder that leads to it: 400 KB and 60 bytes a folder took minutes."""
    names = "".join(f"- ../a{number}\n" for number in range(20_000))
    (tmp_path / "plugin.yaml").write_text(f"apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {{name: x}}\nfiles:\n{names}")
    (tmp_path / "all.yaml").write_text(f"generators: [../plugin.yaml]\npatchesStrategicMerge:\n{names}")
    if way == "many generators":
        (tmp_path / "plugins").mkdir()
        (tmp_path / "plugins" / "kustomization.yaml").write_text("resources:\n" + "".join(f"- {number}.yaml\n" for number in range(900)))
        for number in range(900):
            text = f"apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {{name: x{number}}}\nfiles: [a]\n"
            (tmp_path / "plugins" / f"{number}.yaml").write_text(text)
    for number in range(200):
        folder = tmp_path / f"d{number}"
        folder.mkdir()
        if way == "links":
            (folder / "kustomization.yaml").symlink_to("../all.yaml")
        elif way == "many generators":
            (folder / "kustomization.yaml").write_text("generators: [../plugins]\n")
        else:
            (folder / "kustomization.yaml").write_text("generators: [../plugin.yaml]\n")
        (folder / "x.yaml").write_text("a: 1\n" if command != "validate" else good(f"t{number}"))
    if command == "diff --git":
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *who, "commit", "-qm", "a"], cwd=tmp_path, check=True)
        for number in range(200):
            (tmp_path / f"d{number}" / "x.yaml").write_text("a: 2\n")
    arguments = {"validate": ["validate", "."], "diff": ["diff", ".", "."], "diff --git": ["diff", "--git", "HEAD"]}[command]
    ran = bounded(tmp_path, *arguments)
    assert ran.code in (0, 1), ran.said
    assert ran.mebibytes < MEBIBYTES
