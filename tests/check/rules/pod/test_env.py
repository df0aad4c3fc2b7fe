"""Environment variables, and references to fields and resources."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, findings, of_main, pod

MAIN = "spec.containers[0]"
FROM = f"{MAIN}.env[0].valueFrom"
CONFIG = {"name": "c", "key": "k"}
FILE = {"volumeName": "data", "path": "p", "key": "k"}


def env(version: int = 36, /, **variable: Any) -> list[str]:
    return check(of_main(env=[{"name": "A", **variable}]), version)


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ({}, []),
        ({"value": "x"}, []),
        ({"value": ""}, []),
        ({"valueFrom": None}, []),
        ({"valueFrom": {"configMapKeyRef": CONFIG}}, []),
        ({"valueFrom": {"configMapKeyRef": {}}}, []),  # What is missing in it is for the structure check.
        ({"valueFrom": {}}, [f"FC221 {FROM}"]),
        ({"valueFrom": {"secretKeyRef": None}}, [f"FC221 {FROM}"]),
        ({"value": "", "valueFrom": {"secretKeyRef": CONFIG}}, []),
        ({"value": "x", "valueFrom": {"secretKeyRef": CONFIG}}, [f"FC221 {FROM}"]),
        ({"value": "x", "valueFrom": {}}, [f"FC221 {FROM}"]),
        ({"valueFrom": {"secretKeyRef": CONFIG, "configMapKeyRef": CONFIG}}, [f"FC221 {FROM}.secretKeyRef"]),
    ],
)
def test_one_source_for_each_value(variable: dict[str, Any], expected: list[str]) -> None:
    assert env(**variable) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"configMapRef": {"name": "c"}}, []),
        ({"secretRef": {"name": "c"}, "prefix": "P_"}, []),
        ({"prefix": "P_"}, [f"FC222 {MAIN}.envFrom[0]"]),
        (None, [f"FC222 {MAIN}.envFrom[0]"]),
        ({"configMapRef": {"name": "c"}, "secretRef": {"name": "c"}}, [f"FC222 {MAIN}.envFrom[0].secretRef"]),
    ],
)
def test_one_source_for_each_set_of_variables(entry: Any, expected: list[str]) -> None:
    assert check(of_main(envFrom=[entry])) == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ([{"name": "A", "value": "x"}, {"name": "B", "value": "y"}], []),
        ([{"name": "A", "value": "x"}, {"name": "A", "value": "y"}], [f"FC227 {MAIN}.env[1].name"]),
        ([{"name": "A", "value": "x"}, {"name": "A", "value": "$(A):y"}], []),
        ([{"name": "A", "value": "x"}, {"name": "A", "value": "$(A)"}], [f"FC227 {MAIN}.env[1].name"]),
        ([{"name": "A", "value": "x"}, {"name": "A", "valueFrom": {"configMapKeyRef": CONFIG}}], [f"FC227 {MAIN}.env[1].name"]),
        ([{"name": "A"}, {"name": "A"}, {"name": "A"}], [f"FC227 {MAIN}.env[1].name", f"FC227 {MAIN}.env[2].name"]),
    ],
)
def test_variables_that_are_set_twice(variables: list[Any], expected: list[str]) -> None:
    assert check(of_main(env=variables)) == expected


def test_where_the_first_of_two_is() -> None:
    [finding] = findings(of_main(env=[{"name": "B"}, {"name": "A"}, {"name": "A"}]))
    assert [related.path for related in finding.related] == [("spec", "containers", 0, "env", 1, "name")]


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"name": "data", "emptyDir": {}}, []),
        ({"name": "data"}, []),
        ({"name": "data", "configMap": {"name": "c"}}, [f"FC223 {FROM}.fileKeyRef.volumeName"]),
        ({"name": "other", "emptyDir": {}}, [f"FC223 {FROM}.fileKeyRef.volumeName"]),
    ],
)
def test_files_of_variables_are_in_an_empty_dir(volume: dict[str, Any], expected: list[str]) -> None:
    template = pod(container(env=[{"name": "A", "valueFrom": {"fileKeyRef": FILE}}]), volumes=[volume])
    assert check(template, 35) == expected
    # Taken out, so the variable is left without a source.
    assert check(template, 34) == [f"FC221 {FROM}", f"FC200 {FROM}.fileKeyRef"]


@pytest.mark.parametrize(
    ("field", "version", "good"),
    [
        ("metadata.name", 25, True),
        ("metadata.uid", 25, True),
        ("spec.nodeName", 25, True),
        ("spec.host", 25, True),
        ("status.podIPs", 25, True),
        ("status.hostIPs", 28, False),
        ("status.hostIPs", 29, True),
        ("metadata.labels['a/b']", 25, True),
        ("metadata.annotations['X.y/z']", 25, True),
        ("metadata.labels", 36, False),
        ("metadata.labels['a b']", 36, False),
        ("metadata.labels['A.b/c']", 36, False),
        ("metadata.labels['']", 36, False),
        ("metadata.name['a']", 36, False),
        ("['a']", 36, False),
        ("status.phase", 36, False),
        ("", 36, True),  # Missing is for the structure check.
    ],
)
def test_fields_of_variables(field: str, version: int, good: bool) -> None:
    assert env(version, valueFrom={"fieldRef": {"fieldPath": field}}) == ([] if good else [f"FC224 {FROM}.fieldRef.fieldPath"])


@pytest.mark.parametrize(
    ("field", "good"),
    [
        ("metadata.name", True),
        ("metadata.labels", True),
        ("metadata.annotations['a']", True),
        ("spec.nodeName", False),
        ("status.podIP", False),
    ],
)
def test_fields_of_files(field: str, good: bool) -> None:
    template = pod(volumes=[{"name": "v", "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": field}}]}}])
    assert check(template) == ([] if good else ["FC224 spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath"])


def test_versions_of_fields() -> None:
    reference = {"fieldPath": "metadata.name", "apiVersion": "v2"}
    assert env(valueFrom={"fieldRef": reference}) == [f"FC224 {FROM}.fieldRef.apiVersion"]
    assert env(valueFrom={"fieldRef": {**reference, "apiVersion": ""}}) == []


@pytest.mark.parametrize(
    ("resource", "divisor", "expected"),
    [
        ("limits.cpu", None, []),
        ("limits.cpu", "1m", []),
        ("limits.cpu", 1, []),
        ("limits.cpu", "0", []),
        ("limits.cpu", "1000m", []),
        ("limits.cpu", "10m", ["divisor"]),
        ("limits.cpu", "1k", ["divisor"]),
        ("limits.cpu", "0.001", []),
        ("requests.memory", "1Mi", []),
        ("requests.memory", "1024Ki", []),
        ("requests.memory", "1000k", []),
        ("requests.memory", "1m", ["divisor"]),
        ("requests.memory", "1024", ["divisor"]),
        ("requests.memory", "1000", []),
        ("requests.memory", "0.9765625Ki", []),
        ("requests.memory", "1000Ki", ["divisor"]),
        ("limits.hugepages-2Mi", "1Mi", []),
        ("limits.hugepages-2Mi", "2Mi", ["divisor"]),
        # What looks tidy to the API server is compared as it is written.
        ("limits.cpu", "+1", ["divisor"]),
        ("limits.cpu", "01", ["divisor"]),
        ("limits.cpu", "1e0", ["divisor"]),
        ("limits.cpu", "10e-1", []),
        ("limits.cpu", "1.0", []),
        ("requests.memory", "1e3", ["divisor"]),
        ("requests.memory", "01Ti", ["divisor"]),
        # With so many digits it takes no quick look.
        ("requests.memory", "01Pi", []),
        ("cpu", None, ["resource"]),
        ("limits.nvidia.com/gpu", None, ["resource"]),
        ("limits.ephemeral-storage", "1G", []),
    ],
)
def test_resources_and_divisors(resource: str, divisor: Any, expected: list[str]) -> None:
    reference = {"resource": resource} if divisor is None else {"resource": resource, "divisor": divisor}
    assert env(valueFrom={"resourceFieldRef": reference}) == [f"FC225 {FROM}.resourceFieldRef.{place}" for place in expected]


def test_resources_of_a_container() -> None:
    reference = {"resource": "limits.cpu"}
    item = {"path": "p", "resourceFieldRef": reference}
    template = pod(volumes=[{"name": "v", "downwardAPI": {"items": [item]}}])
    place = "spec.volumes[0].downwardAPI.items[0].resourceFieldRef"
    assert check(template) == [f"FC225 {place}"]
    reference["containerName"] = "main"
    assert check(template) == []
    reference["containerName"] = "other"
    assert check(template) == [f"FC226 {place}.containerName"]
    assert env(valueFrom={"resourceFieldRef": {**reference, "containerName": ""}}) == []
