"""Ports: names within a container, host ports within a Pod."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, findings, of_main, pod

PORTS = "spec.containers[0].ports"


def port(number: int = 80, host: int | None = None, **fields: Any) -> dict[str, Any]:
    return {"containerPort": number, **({} if host is None else {"hostPort": host}), **fields}


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([port(80, name="a"), port(81, name="b")], []),
        ([port(80, name="a"), port(81, name="a")], [f"FC206 {PORTS}[1].name"]),
        ([port(80), port(81)], []),
        ([port(80, name=""), port(81, name="")], []),
        ([port(80), port(80)], [f"FC209 {PORTS}[1]"]),
        ([port(80), port(80, protocol="UDP")], []),
        ([port(80), port(80, protocol="TCP")], [f"FC209 {PORTS}[1]"]),
        ([port(80, 80), port(80, 81)], []),
        ([port(80, 80), port(81, 80)], [f"FC207 {PORTS}[1]"]),
        ([port(80, 80), port(81, 80, protocol="UDP")], []),
        ([port(80, 80), port(81, 80, hostIP="10.0.0.1")], []),
        ([port(80, 80, hostIP="10.0.0.1"), port(81, 80, hostIP="10.0.0.1")], [f"FC207 {PORTS}[1]"]),
        ([port(80, 80, hostIP="10.0.0.1"), port(80, 80, hostIP="10.0.0.2")], []),
        ([port(80, 80), port(80, 80)], [f"FC207 {PORTS}[1]"]),
        ([port(80, hostIP="10.0.0.1")], [f"FC216 {PORTS}[0].hostIP"]),
        ([None, None], []),
        ([port(0), port(0)], []),
    ],
)
def test_ports_of_a_container(ports: list[Any], expected: list[str]) -> None:
    assert check(of_main(ports=ports)) == expected


def test_host_ports_of_two_containers() -> None:
    template = pod(container("a", ports=[port(80, 9000)]), container("b", ports=[port(81, 9000)]))
    assert check(template) == ["FC207 spec.containers[1].ports[0]"]
    assert findings(template)[0].related[0].path == ("spec", "containers", 0, "ports", 0)


def test_names_and_numbers_of_two_containers() -> None:
    template = pod(container("a", ports=[port(80, name="web")]), container("b", ports=[port(80, name="web")]))
    assert check(template) == ["FC209 spec.containers[1].ports[0]", "FC210 spec.containers[1].ports[0].name"]


def test_init_containers_run_one_by_one() -> None:
    template = pod(
        container(ports=[port(80, 9000, name="a")]),
        initContainers=[container("i", ports=[port(80, 9000, name="a")]), container("j", ports=[port(80, 9000)])],
    )
    assert check(template) == []
    twice = pod(initContainers=[container("i", ports=[port(80, 9000), port(81, 9000)])])
    assert check(twice) == ["FC207 spec.initContainers[0].ports[1]"]


def test_sidecars_share_the_network_with_the_others() -> None:
    sidecar = container("i", restartPolicy="Always", ports=[port(80)])
    assert check(pod(container(ports=[port(80)]), initContainers=[sidecar])) == ["FC209 spec.initContainers[0].ports[0]"]


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ([port(80)], []),
        ([port(80, 80)], []),
        ([port(80, 0)], []),
        ([port(80, 81)], [f"FC208 {PORTS}[0].hostPort"]),
        ([port(80), port(80)], [f"FC207 {PORTS}[1]"]),
        ([port(80), port(80, protocol="UDP")], []),
        ([port(80, hostIP="10.0.0.1")], []),
    ],
)
def test_on_the_host_network_every_port_is_one_of_the_host(ports: list[Any], expected: list[str]) -> None:
    assert check(pod(container(ports=ports), hostNetwork=True)) == expected


def test_on_the_host_network_containers_share_ports() -> None:
    template = pod(container("a", ports=[port(80)]), container("b", ports=[port(80)]), hostNetwork=True)
    assert check(template) == ["FC207 spec.containers[1].ports[0]"]


def test_init_containers_on_the_host_network() -> None:
    template = pod(initContainers=[container("i", ports=[port(80, 81)])], hostNetwork=True)
    assert check(template) == []
