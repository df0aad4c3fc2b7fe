"""Mounts and devices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, findings, pod

MAIN = "spec.containers[0]"
DATA = {"name": "data", "emptyDir": {}}
CLAIM = {"name": "disk", "persistentVolumeClaim": {"claimName": "c"}}
PRIVILEGED = {"securityContext": {"privileged": True}}


def mounted(*mounts: Any, version: int = 36, **fields: Any) -> list[str]:
    return check(pod(container(volumeMounts=list(mounts), **fields), volumes=[DATA, CLAIM]), version)


def mount(name: str = "data", path: str = "/data", **fields: Any) -> dict[str, Any]:
    return {"name": name, "mountPath": path, **fields}


def test_a_volume_that_is_not_there() -> None:
    assert mounted(mount(), mount("dat", "/x")) == [f"FC230 {MAIN}.volumeMounts[1].name"]
    [finding] = findings(pod(container(volumeMounts=[mount()])))
    assert "(it has no volumes)" in finding.message
    assert mounted(mount("", "/x"), {"mountPath": "/y"}, None) == []


def test_one_volume_at_one_path() -> None:
    assert mounted(mount(path="/a"), mount(path="/b")) == []
    assert mounted(mount(path="/a"), mount("disk", "/a")) == [f"FC231 {MAIN}.volumeMounts[1].mountPath"]
    assert mounted(mount(path="/a"), mount("disk", "/a/")) == []
    assert check(pod(container("a", volumeMounts=[mount()]), container("b", volumeMounts=[mount()]), volumes=[DATA])) == []


def test_sub_paths() -> None:
    assert mounted(mount(subPath="a"), mount(path="/b", subPathExpr="$(X)")) == []
    assert mounted(mount(subPath="a", subPathExpr="b")) == [f"FC232 {MAIN}.volumeMounts[0].subPathExpr"]
    assert mounted(mount(subPath="", subPathExpr="b")) == []


@pytest.mark.parametrize(
    ("propagation", "fields", "bad"),
    [
        ("Bidirectional", {}, True),
        ("Bidirectional", {"securityContext": {"privileged": False}}, True),
        ("Bidirectional", PRIVILEGED, False),
        ("HostToContainer", {}, False),
        ("None", {}, False),
    ],
)
def test_propagation(propagation: str, fields: dict[str, Any], bad: bool) -> None:
    found = mounted(mount(mountPropagation=propagation), **fields)
    assert found == ([f"FC233 {MAIN}.volumeMounts[0].mountPropagation"] if bad else [])


@pytest.mark.parametrize(
    ("fields", "version", "expected"),
    [
        ({"recursiveReadOnly": "Enabled", "readOnly": True}, 36, []),
        ({"recursiveReadOnly": "Enabled", "readOnly": True, "mountPropagation": "None"}, 36, []),
        ({"recursiveReadOnly": "Disabled"}, 36, []),
        ({"recursiveReadOnly": "IfPossible"}, 36, ["FC234 .recursiveReadOnly"]),
        ({"recursiveReadOnly": "Enabled", "readOnly": False}, 36, ["FC234 .recursiveReadOnly"]),
        ({"recursiveReadOnly": "Enabled", "readOnly": True, "mountPropagation": "HostToContainer"}, 36, ["FC234 .mountPropagation"]),
        ({"recursiveReadOnly": "Enabled"}, 30, ["FC200 .recursiveReadOnly"]),
        ({"recursiveReadOnly": "Enabled"}, 29, []),
    ],
)
def test_recursive_read_only(fields: dict[str, Any], version: int, expected: list[str]) -> None:
    found = mounted(mount(**fields), version=version)
    assert found == [line.replace(" ", f" {MAIN}.volumeMounts[0]") for line in expected]


def test_the_mounts_of_an_image_volume_go_with_it() -> None:
    """The API server takes both out of the Pod where images are no volumes yet, and then looks at neither."""
    fields = {"subPath": "a", "subPathExpr": "b", "mountPropagation": "Bidirectional", "recursiveReadOnly": "Enabled"}
    template = pod(container(volumeMounts=[mount(**fields)]), volumes=[{"name": "data", "image": {"reference": "x"}}])
    assert [line.partition(" ")[0] for line in check(template, 34) if not line.startswith("FC200")] == ["FC232"], "so says the definition"
    assert {line.partition(" ")[0] for line in check(template, 35)} == {"FC232", "FC233", "FC234"}


def device(name: str = "disk", path: str = "/dev/x") -> dict[str, Any]:
    return {"name": name, "devicePath": path}


@pytest.mark.parametrize(
    ("devices", "mounts", "expected"),
    [
        ([device()], [], []),
        ([device("data")], [], ["FC235 [0].name"]),
        ([device("none")], [], ["FC230 [0].name"]),
        ([device(), device(path="/dev/y")], [], ["FC235 [1].name"]),
        ([device()], [mount("disk", "/a")], ["FC235 [0].name"]),
        ([device(path="/data")], [mount()], ["FC231 [0].devicePath"]),
        ([device(), device("claimed", "/dev/x")], [], ["FC231 [1].devicePath"]),
        ([None, {}], [], []),
    ],
)
def test_devices(devices: list[Any], mounts: list[Any], expected: list[str]) -> None:
    claimed = {"name": "claimed", "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}}}
    template = pod(container(volumeDevices=devices, volumeMounts=mounts), volumes=[DATA, CLAIM, claimed])
    assert check(template) == [line.replace(" ", f" {MAIN}.volumeDevices") for line in expected]


def test_devices_in_a_user_namespace() -> None:
    template = pod(container(volumeDevices=[device()]), volumes=[CLAIM], hostUsers=False)
    assert check(template, 34) == [f"FC235 {MAIN}.volumeDevices"]
    assert check(template, 33) == []


def test_an_image_volume_that_is_taken_out() -> None:
    template = pod(container(volumeDevices=[device("i")]), volumes=[{"name": "i", "image": {"reference": "x"}}])
    assert check(template, 34) == [f"FC230 {MAIN}.volumeDevices[0].name", "FC200 spec.volumes[0].image"]
    assert check(template, 35) == [f"FC235 {MAIN}.volumeDevices[0].name"]
    # Its mounts go with it.
    mounts = pod(container(volumeMounts=[mount("i")]), volumes=[{"name": "i", "image": {"reference": "x"}}])
    assert check(mounts, 34) == ["FC200 spec.volumes[0].image"]
