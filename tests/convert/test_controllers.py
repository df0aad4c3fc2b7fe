"""The Pods of a converted TrainJob, JobSet or MPIJob agree with those that its controllers made, and all its names lead somewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.convert.controllers import differences, recorded

CASES = dict(recorded())


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_pods_agree(case: dict[str, Any]) -> None:
    assert list(differences(case)) == []


def test_each_kind_was_recorded() -> None:
    assert {name.partition("-")[0] for name in CASES} == {"JobSet", "MPIJob", "TrainJob"}


def _spec(case: dict[str, Any], name: str) -> Any:
    return case["made"][f"Pod/default/{name}"]["spec"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("JobSet-s-two", lambda case: _spec(case, "s-two-workers-0-1")["containers"][0]["args"].pop()),
        ("JobSet-s-two", lambda case: case["made"].pop("Pod/default/s-two-workers-0-1")),
        ("JobSet-s-two", lambda case: _spec(case, "s-two-workers-0-1").update(hostname="s-two-workers-0-0")),
        ("JobSet-s-rich", lambda case: _spec(case, "s-rich-w-0-1")["containers"][0]["env"][1].update(value="1")),
        ("JobSet-s-rich", lambda case: _spec(case, "s-rich-w-0-1").update(restartPolicy="OnFailure")),
        ("TrainJob-t-rich", lambda case: case["made"]["Pod/default/t-rich-node-0-2"]["labels"].update(app="y")),
        ("TrainJob-t-rich", lambda case: _spec(case, "t-rich-node-0-2")["containers"][0]["resources"]["limits"].update(memory="3Gi")),
        ("TrainJob-t-rich", lambda case: _spec(case, "t-rich-node-0-2")["containers"][0]["ports"].append({"containerPort": 81})),
        ("TrainJob-t-rich", lambda case: _spec(case, "t-rich-node-0-2")["volumes"].clear()),
        ("TrainJob-i-pvc", lambda case: _spec(case, "i-pvc-dataset-initializer-0-0")["containers"][0]["env"][0].update(value="x")),
        ("TrainJob-m-plain", lambda case: case["made"]["ConfigMap/default/m-plain-mpi-hostfile"]["data"].update(hostfile="")),
        ("MPIJob-o-wait", lambda case: _spec(case, "o-wait-worker-1")["containers"][0]["volumeMounts"][0].update(mountPath="/a")),
        ("MPIJob-o-wait", lambda case: _spec(case, "o-wait-worker-1")["dnsConfig"]["searches"].clear()),
        ("MPIJob-o-default", lambda case: case["made"]["ConfigMap/default/o-default-config"]["data"].update(hostfile="a")),
    ],
)
def test_what_differs_is_noticed(name: str, change: Callable[[dict[str, Any]], object]) -> None:
    case = json.loads(json.dumps(CASES[name]))
    assert list(differences(case)) == []
    change(case)
    assert list(differences(case))
