"""What is wrong in a patch of a TrainJob, or in its own fields, is told there, and what is wrong in its runtime where that is named."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from fcompile.convert.conversion import Account
from fcompile.diagnostics.problem import Path
from fcompile.model.values import at
from tests.convert.operator import DATA, convert
from tests.reading import documents

JOB, RUNTIME = (document.value for document in documents((DATA / "jobs" / "trainjob-torch.yaml").read_bytes(), "trainjob-torch.yaml"))
TEMPLATE: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
POD: Path = ("template", "spec", "template")
FIRST: Path = ("spec", "runtimePatches", 0, *TEMPLATE, 0, *POD)
AT_RUNTIME: Path = ("spec", "runtimeRef")
PATCHES = [
    {
        "name": "node",
        "template": {
            "spec": {
                "template": {
                    "metadata": {"labels": {"cost-center": "research"}, "annotations": {"a": "b"}},
                    "spec": {
                        "nodeSelector": {"pool": "a100"},
                        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
                        "serviceAccountName": "trainer",
                        "volumes": [{"name": "scratch", "emptyDir": {"medium": "Memory"}}],
                        "containers": [
                            {
                                "name": "node",
                                "env": [{"name": "MODE", "value": "fast"}],
                                "volumeMounts": [{"name": "scratch", "mountPath": "/scratch", "subPath": "a"}],
                            }
                        ],
                    },
                }
            }
        },
    },
    {
        "name": "model-initializer",
        "template": {
            "spec": {
                "template": {
                    "spec": {
                        "containers": [{"name": "model-initializer", "env": [{"name": "DEPTH", "value": "1"}]}],
                        "volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}],
                    }
                }
            }
        },
    },
]


def job() -> Any:
    made = copy.deepcopy(JOB)
    at(made, ("spec", "runtimePatches", 0, *TEMPLATE[:-1]))["replicatedJobs"] = copy.deepcopy(PATCHES)
    return made


def converted(*objects: Any) -> Account:
    (account,) = convert("---\n".join(f"{json.dumps(one, indent=1)}\n" for one in objects)).jobs
    return account


def line_of(runtime: Any, key: str) -> int:
    """Return the line of a key of the runtime in what is converted."""
    lines = "---\n".join(f"{json.dumps(one, indent=1)}\n" for one in (job(), runtime)).splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if f'"{key}"' in text]
    return line


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where texts are that are no names: by these, parts are put together."""
    if isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, step))
    elif isinstance(value, str) and path[-1] not in ("name", "mountPath"):
        yield path


OWN = [
    *((*FIRST[:4], *path) for path in leaves(job()["spec"]["runtimePatches"][0]["trainingRuntimeSpec"])),
    *(("spec", *path) for key in ("trainer", "initializer") for path in leaves({key: job()["spec"][key]})),
]


@pytest.mark.parametrize("path", OWN, ids=lambda path: ".".join(map(str, path[-4:])))
@pytest.mark.parametrize("wrong", [True, {"a": []}], ids=["boolean", "mapping"])
def test_what_is_wrong_in_a_field_of_the_job_is_told_there(path: Path, wrong: Any) -> None:
    mutated = job()
    assert converted(mutated, RUNTIME).made is not None
    if path[-2] in ("limits", "requests") and wrong is True:
        wrong = "x"
    at(mutated, path[:-1])[path[-1]] = wrong
    account = converted(mutated, RUNTIME)
    assert account.reasons
    for reason in account.reasons:
        assert reason.path[: len(path)] == path


def test_there_is_much_that_can_be_wrong() -> None:
    assert len(OWN) > 20


def test_what_is_wrong_in_the_runtime_is_told_where_it_is_named() -> None:
    runtime = copy.deepcopy(RUNTIME)
    container = at(runtime, ("spec", "template", "spec", "replicatedJobs", 2, *POD, "spec", "containers", 0))
    container["imagePullPolicy"] = "Sometimes"
    (reason,) = converted(job(), runtime).reasons
    assert reason.path == AT_RUNTIME
    line = line_of(runtime, "imagePullPolicy")
    assert f" (job.yaml:{line}:" in reason.text
    container |= {"imagePullPolicy": "Always", "ports": "none"}
    line = line_of(runtime, "ports")
    (reason,) = converted(job(), runtime).reasons
    assert reason.path == AT_RUNTIME
    field = "spec.template.spec.replicatedJobs[2].template.spec.template.spec.containers[0].ports"
    assert reason.text.startswith(f"the runtime, at {field}: it must be a list (job.yaml:{line}:")


def test_the_later_of_two_patches_counts() -> None:
    mutated = job()
    second = copy.deepcopy(mutated["spec"]["runtimePatches"][0])
    mutated["spec"]["runtimePatches"].append(second)
    at(second, (*TEMPLATE, 0, *POD, "spec", "nodeSelector"))["pool"] = 8
    (reason,) = converted(mutated, RUNTIME).reasons
    assert reason.path == ("spec", "runtimePatches", 1, *TEMPLATE, 0, *POD, "spec", "nodeSelector", "pool")
    at(second, (*TEMPLATE, 0, *POD, "spec", "nodeSelector"))["pool"] = "8"
    at(mutated, (*FIRST, "spec", "nodeSelector"))["pool"] = 8
    assert not converted(mutated, RUNTIME).reasons


def test_what_is_different_because_of_a_field_of_the_job_is_told_there() -> None:
    mutated = job()
    script = ["sh", "-c", "kubectl logs gpt-tune-node-0-0; ping gpt-tune-node-0-1.gpt-tune"]
    mutated["spec"]["trainer"]["command"] = script
    reads = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}
    at(mutated, (*FIRST, "spec", "containers", 0, "env")).append({"name": "RESTART", "valueFrom": reads})
    account = converted(mutated, RUNTIME)
    assert account.made is not None
    found = {entry.path for entry in account.different if "kubectl" in entry.what or "RESTART" in entry.what}
    assert found == {("spec", "trainer", "command", 2), (*FIRST, "spec", "containers", 0, "env", 1)}
    (note,) = [note for note in account.made.notes if "addresses" in note]
    assert note.startswith("The script at spec.trainer.command[2] has")
