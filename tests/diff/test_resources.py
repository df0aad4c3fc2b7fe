"""What a Pod asks for, as Kubernetes reckons it."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.diff.resources import pod_requests, role_requests, shown
from fcompile.model.quantities import NANO
from tests.diff.frameworks import Json


def asks(restart: str = "", limits: Json | None = None, **requests: Any) -> Json:
    resources = {"requests": requests, **({"limits": limits} if limits else {})}
    return {"resources": resources, **({"restartPolicy": restart} if restart else {})}


def requests(**spec: Any) -> dict[str, str]:
    return {name: shown(name, amount) for name, amount in pod_requests(spec).items()}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [asks(cpu="1"), asks(cpu="500m", memory="1Gi")]}, {"cpu": "1500m", "memory": "1Gi"}),
        ({"containers": [asks(cpu="1")], "initContainers": [asks(cpu="3"), asks(cpu="2")]}, {"cpu": "3"}),
        ({"containers": [asks(cpu="4")], "initContainers": [asks(cpu="3")]}, {"cpu": "4"}),
        # A sidecar runs beside the containers, and beside the init containers after it.
        ({"containers": [asks(cpu="1")], "initContainers": [asks("Always", cpu="2")]}, {"cpu": "3"}),
        ({"containers": [asks(cpu="1")], "initContainers": [asks("Always", cpu="2"), asks(cpu="5")]}, {"cpu": "7"}),
        ({"containers": [asks(cpu="1")], "initContainers": [asks(cpu="5"), asks("Always", cpu="2")]}, {"cpu": "5"}),
        ({"containers": [asks(cpu="1")], "initContainers": [asks("Always", cpu="2"), asks("Always", cpu="3")]}, {"cpu": "6"}),
        # What is limited and not requested is requested as it is limited.
        ({"containers": [asks(limits={"nvidia.com/gpu": 8, "cpu": "2"}, cpu="1")]}, {"nvidia.com/gpu": "8", "cpu": "1"}),
        ({"containers": [asks(cpu="1")], "overhead": {"cpu": "250m"}}, {"cpu": "1250m"}),
        # Amounts of the Pod as a whole count instead of its containers'.
        ({"containers": [asks(cpu="1")], "resources": {"requests": {"cpu": "3"}}}, {"cpu": "3"}),
        ({"containers": [asks(cpu="1")], "resources": {"limits": {"cpu": "3", "memory": "1Gi"}}}, {"cpu": "1", "memory": "1Gi"}),
        ({"containers": [{}]}, {}),
        ({}, {}),
    ],
)
def test_of_a_pod(spec: Json, expected: dict[str, str]) -> None:
    assert requests(**spec) == expected


def test_of_a_role() -> None:
    pod = {"spec": {"containers": [asks(cpu="500m", memory="900Gi")]}}
    assert {name: shown(name, amount) for name, amount in role_requests(pod, 10_000).items()} == {"cpu": "5000", "memory": "9000000Gi"}


def test_an_amount_that_depends_on_the_task() -> None:
    pod = {"spec": {"containers": [asks(memory="1{{FC_TASK_INDEX}}Gi")]}}
    assert role_requests(pod, 3) == {"memory": (10 + 11 + 12) * 2**30 * NANO}


@pytest.mark.parametrize(
    ("name", "amount", "expected"),
    [
        ("cpu", 352 * NANO, "352"),
        ("cpu", NANO // 2, "500m"),
        ("cpu", 0, "0"),
        ("memory", 900 * 2**30 * NANO, "900Gi"),
        ("memory", 1000 * NANO, "1000"),
        ("memory", (2**30 + 1) * NANO, "1073741825"),
        ("hugepages-2Mi", 2**31 * NANO, "2Gi"),
        ("nvidia.com/gpu", 2**20 * NANO, "1048576"),
    ],
)
def test_shown(name: str, amount: int, expected: str) -> None:
    assert shown(name, amount) == expected
