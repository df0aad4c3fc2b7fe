"""The Pods of a converted job agree with those that the operator made of it, and all its names lead somewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.convert.operator import cases, differences


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases()])
def test_pods_agree(case: dict[str, Any]) -> None:
    assert list(differences(case)) == []


CASES = dict(cases())


def _pod(case: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = case["made"][f"Pod/default/{name}"]
    return found


@pytest.mark.parametrize(
    "change",
    [
        lambda case: _pod(case, "pt-ddp-worker-2")["spec"]["containers"][0]["env"][6].update(value="9"),
        lambda case: _pod(case, "pt-ddp-worker-2")["spec"]["containers"][0]["env"].pop(),
        lambda case: _pod(case, "pt-ddp-worker-2")["spec"]["containers"][0]["ports"].clear(),
        lambda case: _pod(case, "pt-ddp-worker-2")["spec"].update(restartPolicy="Never"),
        lambda case: _pod(case, "pt-ddp-worker-2")["spec"].update(volumes=[{"name": "a", "emptyDir": {}}]),
        lambda case: _pod(case, "pt-ddp-worker-2")["labels"].update(app="a"),
        lambda case: case["made"]["Service/default/pt-ddp-worker-2"]["spec"]["ports"].append({"name": "b", "port": 1}),
        lambda case: case["made"].pop("Pod/default/pt-ddp-worker-2"),
    ],
)
def test_a_pod_that_differs_is_noticed(change: Callable[[dict[str, Any]], object]) -> None:
    case = json.loads(json.dumps(CASES["PyTorchJob-pt-ddp"]))
    change(case)
    assert list(differences(case))
