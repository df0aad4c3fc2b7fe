"""The printed definition, without a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.load import values
from fcompile.model.dropped import Gate, dropped_by
from fcompile.model.fields import Type
from fcompile.schema.crd import crd
from fcompile.schema.pod_schemas import VERSIONS, versions_with
from fcompile.schema.types import types

LAST_APPLIED_LIMIT = 256 * 1024
"""Bytes of all annotations of an object; client-side `kubectl apply` puts the whole object into one."""


def schema(version: int) -> Any:
    return crd(version)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def fields_of(type_name: str, version: int, path: str = "") -> Iterator[tuple[str, Type]]:
    """Every object type at every place of a Framework."""
    fields = types(version)[type_name]
    yield path, fields
    for name, field in fields.items():
        if field.ref and not field.forbidden:
            yield from fields_of(field.ref, version, f"{path}.{name}")


def at(node: Any, path: str) -> Any:
    for step in filter(None, path.split(".")):
        node = node["properties"][step]
        node = node.get("items", node.get("additionalProperties", node))
    return node


@pytest.mark.parametrize("version", VERSIONS)
def test_client_side_apply_has_room_for_it(version: int) -> None:
    assert len(json.dumps(crd(version), separators=(",", ":"))) < LAST_APPLIED_LIMIT / 2


@pytest.mark.parametrize("version", VERSIONS)
def test_no_field_of_the_version_is_lost(version: int) -> None:
    root, places = schema(version), 0
    for path, fields in fields_of("FrameworkSpec", version, ".spec"):
        assert list(at(root, path)["properties"]) == list(fields), path
        places += 1
    assert places > 200


def test_a_field_is_there_from_the_version_that_has_it() -> None:
    first, _ = versions_with("PodSpec", "hostnameOverride") or (0, 0)
    pod = ".spec.taskRoles.task.pod.spec"
    assert "hostnameOverride" in at(schema(first), pod)["properties"]
    assert "hostnameOverride" not in at(schema(first - 1), pod)["properties"]


@pytest.mark.parametrize(("version", "values"), [(28, None), (33, ["Always"]), (34, None), (35, ["Always", "Never", "OnFailure"])])
def test_a_restart_policy_of_a_container_is_refused_only_where_the_api_server_reads_it(version: int, values: list[str] | None) -> None:
    """1.28 drops each, 1.34 each that is no sidecar's: whatever it says, the Pod runs."""
    for containers in ("containers", "initContainers"):
        policy = at(schema(version), f".spec.taskRoles.task.pod.spec.{containers}")["properties"]["restartPolicy"]
        assert policy.get("enum") == values


def test_the_command_prints_it_as_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crd", "--kubernetes-version", "1.30"]) == 0
    assert values(capsys.readouterr().out.encode()) == [crd(30)]


def test_a_version_that_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crd", "--kubernetes-version", "1.99"]) == 2
    assert "known are 1.25 to" in capsys.readouterr().err


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("path", "tree"), [("volumes", 0), ("containers.lifecycle.postStart", 1)])
def test_what_the_api_server_drops_is_not_counted(path: str, tree: int, version: int) -> None:
    """It drops a source of a volume that is not in force, and then the volume has one."""
    found: Any = dropped_by(version)[tree]
    for step in path.removeprefix("containers.").split("."):
        found = found.get(step, {})
    (rule,) = (each["rule"] for each in at(schema(version), f".spec.taskRoles.task.pod.spec.{path}")["x-kubernetes-validations"])
    counted = set(re.findall(r"has\(self\.(\w+)\)", rule))
    assert len(counted) > 2
    assert counted & {name for name, below in found.items() if isinstance(below, Gate)} == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_the_rule_on_volumes_costs_no_more_than_the_api_server_allows(version: int) -> None:
    """1.28 estimates three for each source, others two, for as many volumes as all roles can have. It refused the definition as a whole."""
    roles = at(schema(version), "")["properties"]["spec"]["properties"]["taskRoles"]
    volumes = roles["items"]["properties"]["task"]["properties"]["pod"]["properties"]["spec"]["properties"]["volumes"]
    (rule,) = (each["rule"] for each in volumes["items"]["x-kubernetes-validations"])
    each = 3 if version <= 28 else 2
    assert each * rule.count("has(self.") * volumes["maxItems"] * roles["maxItems"] <= 10_000_000
