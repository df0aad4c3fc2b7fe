"""Names, restart policies and hooks of the containers of a Pod."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, findings, of_main, pod, with_init

EXEC = {"exec": {"command": ["x"]}}
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}


def test_names_are_shared_by_regular_and_init_containers() -> None:
    template = pod(container("a"), container("b"), container("a"), initContainers=[container("b"), container("c")])
    assert check(template) == ["FC201 spec.containers[2].name", "FC201 spec.initContainers[0].name"]
    first, second = findings(template)
    assert [related.path for related in (*first.related, *second.related)] == [
        ("spec", "containers", 0, "name"),
        ("spec", "containers", 1, "name"),
    ]


def test_containers_without_names_are_no_twins() -> None:
    assert check(pod({"image": "x"}, {"image": "x"}, {"image": "x", "name": ""})) == []


@pytest.mark.parametrize("hook", ["livenessProbe", "readinessProbe", "startupProbe"])
@pytest.mark.parametrize("version", [25, 28, 29, 36, 37])
def test_probes_need_a_container_that_keeps_running(hook: str, version: int) -> None:
    assert check(with_init(**{hook: EXEC}), version) == [f"FC202 spec.initContainers[0].{hook}"]
    sidecar = check(with_init(restartPolicy="Always", **{hook: EXEC}), version)
    assert (sidecar == []) == (version >= 29)


def test_hooks_need_a_container_that_keeps_running() -> None:
    template = with_init(lifecycle={"preStop": EXEC})
    assert check(template) == ["FC202 spec.initContainers[0].lifecycle"]
    assert check(with_init(lifecycle={})) == ["FC202 spec.initContainers[0].lifecycle"]
    assert check(with_init(lifecycle=None, livenessProbe=None)) == []
    assert "restartPolicy: Always" in findings(template, 29)[0].message
    assert "restartPolicy: Always" not in findings(template, 28)[0].message


def test_a_dropped_stop_signal_leaves_no_hook_behind() -> None:
    template = with_init(lifecycle={"stopSignal": "SIGTERM"})
    assert check(template, 34) == ["FC200 spec.initContainers[0].lifecycle.stopSignal"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (27, []),  # Not known: the structure check says so.
        (28, ["FC203 spec.containers[0].restartPolicy"]),
        (33, ["FC203 spec.containers[0].restartPolicy"]),
        (34, ["FC200 spec.containers[0].restartPolicy"]),
        (35, []),
        (37, []),
    ],
)
def test_restart_policy_of_a_regular_container(version: int, expected: list[str]) -> None:
    assert check(of_main(restartPolicy="Never"), version) == expected


@pytest.mark.parametrize(("version", "expected"), [(28, ["FC200 spec.initContainers[0].restartPolicy"]), (29, []), (36, [])])
def test_sidecars(version: int, expected: list[str]) -> None:
    assert check(with_init(restartPolicy="Always"), version) == expected


def test_restart_rules_need_a_restart_policy() -> None:
    assert check(of_main(restartPolicyRules=[RULE])) == ["FC204 spec.containers[0].restartPolicyRules"]
    assert check(of_main(restartPolicyRules=[RULE], restartPolicy="Never")) == []
    assert check(of_main(restartPolicyRules=[])) == []


def test_restart_rules_of_sidecars() -> None:
    template = with_init(restartPolicyRules=[RULE], restartPolicy="Always")
    assert check(template, 35) == ["FC204 spec.initContainers[0].restartPolicyRules"]
    assert check(template, 36) == []
    assert check(template, 34) == ["FC200 spec.initContainers[0].restartPolicyRules"]


def resizing(policy: str, *resources: str) -> list[dict[str, Any]]:
    return [{"resourceName": resource, "restartPolicy": policy} for resource in resources]


@pytest.mark.parametrize(
    ("template", "version", "expected"),
    [
        (of_main(resizePolicy=resizing("NotRequired", "cpu", "memory")), 36, []),
        (of_main(resizePolicy=resizing("NotRequired", "cpu", "cpu")), 36, ["FC205 spec.containers[0].resizePolicy[1].resourceName"]),
        (of_main(resizePolicy=resizing("NotRequired", "cpu", "cpu")), 32, ["FC200 spec.containers[0].resizePolicy"]),
        (of_main(resizePolicy=resizing("RestartContainer", "cpu")), 36, []),
        (
            pod(container(resizePolicy=resizing("RestartContainer", "cpu")), restartPolicy="Never"),
            36,
            ["FC205 spec.containers[0].resizePolicy[0].restartPolicy"],
        ),
        (pod(container(resizePolicy=resizing("NotRequired", "cpu")), restartPolicy="Never"), 36, []),
        (with_init(resizePolicy=resizing("RestartContainer", "cpu")), 35, []),
        (with_init(resizePolicy=resizing("RestartContainer", "cpu")), 36, ["FC205 spec.initContainers[0].resizePolicy[0].restartPolicy"]),
        (with_init(resizePolicy=resizing("RestartContainer", "cpu"), restartPolicy="Always"), 36, []),
    ],
)
def test_resize_policies(template: dict[str, Any], version: int, expected: list[str]) -> None:
    assert check(template, version) == expected
