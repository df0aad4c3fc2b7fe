"""Probes and lifecycle hooks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, of_main, pod, with_init

MAIN = "spec.containers[0]"
EXEC = {"command": ["x"]}
PORT = {"port": 80}


@pytest.mark.parametrize("name", ["livenessProbe", "readinessProbe", "startupProbe"])
@pytest.mark.parametrize(
    ("handlers", "expected"),
    [
        ({"exec": EXEC}, []),
        ({"grpc": PORT}, []),
        ({}, [""]),
        ({"exec": None}, [""]),
        ({"exec": {}}, []),  # What is missing in it is for the structure check.
        ({"exec": EXEC, "tcpSocket": PORT}, [".tcpSocket"]),
        ({"tcpSocket": PORT, "exec": EXEC, "httpGet": PORT}, [".httpGet", ".tcpSocket"]),
    ],
)
def test_one_handler_for_each_probe(name: str, handlers: dict[str, Any], expected: list[str]) -> None:
    assert check(of_main(**{name: handlers})) == [f"FC211 {MAIN}.{name}{place}" for place in expected]


@pytest.mark.parametrize("name", ["preStop", "postStart"])
@pytest.mark.parametrize(
    ("hook", "version", "expected"),
    [
        ({"exec": EXEC}, 36, []),
        ({"sleep": {"seconds": 5}}, 36, []),
        ({"sleep": {"seconds": 30}}, 36, []),
        ({"sleep": {"seconds": 31}}, 36, ["FC214 .sleep.seconds"]),
        ({"sleep": {"seconds": 0}}, 36, []),
        ({"sleep": {}}, 36, []),
        ({"sleep": {}}, 32, ["FC214 .sleep"]),
        ({"sleep": {"seconds": None}}, 32, ["FC214 .sleep"]),
        ({"sleep": {"seconds": 5}}, 30, []),
        ({"sleep": {"seconds": 5}, "exec": EXEC}, 30, ["FC211 .sleep"]),
        ({"sleep": {"seconds": 5}, "exec": EXEC}, 29, ["FC200 .sleep"]),
        ({"sleep": {"seconds": 5}}, 29, ["FC211 ", "FC200 .sleep"]),
        ({"sleep": {"seconds": 5}}, 28, []),  # Not known: the structure check says so.
        ({}, 36, ["FC211 "]),
        ({"sleep": None}, 36, ["FC211 "]),
        ({"exec": EXEC, "httpGet": PORT}, 36, ["FC211 .httpGet"]),
    ],
)
def test_one_handler_for_each_hook(name: str, hook: dict[str, Any], version: int, expected: list[str]) -> None:
    found = check(of_main(lifecycle={name: hook}), version)
    assert found == [line.replace(" ", f" {MAIN}.lifecycle.{name}", 1) for line in expected]


def test_the_grace_period_bounds_a_sleep() -> None:
    def sleeps(seconds: int, grace: Any) -> list[str]:
        return check(pod(container(lifecycle={"preStop": {"sleep": {"seconds": seconds}}}), terminationGracePeriodSeconds=grace))

    assert sleeps(60, 60) == []
    assert sleeps(61, 60) == [f"FC214 {MAIN}.lifecycle.preStop.sleep.seconds"]
    assert sleeps(1, 0) == [f"FC214 {MAIN}.lifecycle.preStop.sleep.seconds"]
    assert sleeps(30, None) == []
    assert sleeps(1, -5) == ["FC215 spec.terminationGracePeriodSeconds"]
    assert sleeps(2, -5) == ["FC215 spec.terminationGracePeriodSeconds", f"FC214 {MAIN}.lifecycle.preStop.sleep.seconds"]


@pytest.mark.parametrize("name", ["livenessProbe", "startupProbe"])
def test_only_readiness_waits_for_several_successes(name: str) -> None:
    assert check(of_main(**{name: {"exec": EXEC, "successThreshold": 2}})) == [f"FC212 {MAIN}.{name}.successThreshold"]
    assert check(of_main(**{name: {"exec": EXEC, "successThreshold": 1}})) == []
    assert check(of_main(**{name: {"exec": EXEC, "successThreshold": 0}})) == []
    assert check(of_main(readinessProbe={"exec": EXEC, "successThreshold": 2})) == []


def test_readiness_ends_no_container() -> None:
    seconds = {"exec": EXEC, "terminationGracePeriodSeconds": 5}
    assert check(of_main(readinessProbe=seconds)) == [f"FC213 {MAIN}.readinessProbe.terminationGracePeriodSeconds"]
    assert check(of_main(livenessProbe=seconds, startupProbe=seconds)) == []


def test_sidecars_have_probes_like_others() -> None:
    template = with_init(restartPolicy="Always", livenessProbe={}, lifecycle={"preStop": {}})
    assert check(template) == ["FC211 spec.initContainers[0].livenessProbe", "FC211 spec.initContainers[0].lifecycle.preStop"]
    assert check(with_init(livenessProbe={})) == ["FC202 spec.initContainers[0].livenessProbe"]


@pytest.mark.parametrize("kind", ["httpGet", "tcpSocket"])
def test_a_port_by_name(kind: str) -> None:
    ports = [{"name": "http", "containerPort": 8000}]
    for port, expected in (("http", []), (8000, []), ("8000", []), ("htttp", [f"FC220 {MAIN}.livenessProbe.{kind}.port"])):
        assert check(of_main(ports=ports, livenessProbe={kind: {"port": port}})) == expected
    assert check(of_main(ports=ports, lifecycle={"postStart": {kind: {"port": "x"}}})) == [f"FC220 {MAIN}.lifecycle.postStart.{kind}.port"]


def test_a_port_of_another_container() -> None:
    with_port = container("sidecar", ports=[{"name": "http", "containerPort": 8000}])
    assert check(pod(container(readinessProbe={"httpGet": {"port": "http"}}), with_port)) == [f"FC220 {MAIN}.readinessProbe.httpGet.port"]
