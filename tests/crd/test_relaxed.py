"""Where the CRD asks for no more than the API server does: fields that are taken out, items that are null, fields that may not be used."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fcompile.model.dropped import dropped_by
from fcompile.model.quantities import is_quantity
from fcompile.schema.crd import crd
from fcompile.schema.pod_schemas import VERSIONS


def pod(version: int) -> dict[str, Any]:
    root = crd(version)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: dict[str, Any] = at(root, "spec taskRoles task pod")
    return found


def at(schema: dict[str, Any], path: str) -> Any:
    for step in path.split():
        schema = schema["properties"][step]
        schema = schema.get("items", schema)
    return schema


BUNDLE = "spec volumes projected sources clusterTrustBundle"


def test_a_field_that_is_taken_out_has_only_types() -> None:
    operator = at(pod(36), f"{BUNDLE} labelSelector matchExpressions operator")
    assert operator == {"type": "string"}
    expression = at(pod(36), f"{BUNDLE} labelSelector matchExpressions")
    assert "required" not in expression
    assert expression["nullable"]
    assert at(pod(36), "spec containers lifecycle stopSignal") == {"type": "string"}
    certificate = at(pod(36), "spec volumes projected sources podCertificate")
    assert certificate["properties"]["maxExpirationSeconds"] == {"type": "integer", "format": "int32"}


def test_once_it_is_in_force_it_has_rules() -> None:
    expression = at(pod(37), f"{BUNDLE} labelSelector matchExpressions")
    assert expression["required"] == ["key", "operator"]
    assert "In" in expression["properties"]["operator"]["enum"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_field_that_is_taken_out_is_relaxed(version: int) -> None:
    of_spec, of_container = dropped_by(version)
    spec = at(pod(version), "spec")
    for schema, tree in ((spec, of_spec), (at(spec, "containers"), of_container), (at(spec, "initContainers"), of_container)):
        strict = [path for path, dropped in _dropped(schema, tree) if _asks(dropped)]
        assert strict == []


def _dropped(schema: dict[str, Any], tree: dict[str, Any], path: str = "") -> list[tuple[str, Any]]:
    found = []
    for field, below in tree.items():
        if field not in schema["properties"]:
            continue  # it has left the API again
        inner = schema["properties"][field]
        found += _dropped(inner.get("items", inner), below, f"{path}.{field}") if isinstance(below, dict) else [(f"{path}.{field}", inner)]
    return found


def _asks(schema: Any) -> bool:
    """Whether a schema asks for more than types anywhere."""
    if isinstance(schema, list):
        return any(map(_asks, schema))
    if not isinstance(schema, dict):
        return False
    wanted = {"enum", "pattern", "minimum", "maximum", "minLength", "maxItems", "minItems", "required", "x-kubernetes-validations"}
    return bool(wanted & schema.keys() and "type" in schema) or any(map(_asks, schema.values()))


@pytest.mark.parametrize("version", [25, 26, 27])
def test_selectors_that_nobody_looks_at(version: int) -> None:
    selector = at(pod(version), "spec topologySpreadConstraints labelSelector")
    assert _asks(selector) == (version >= 27)


@pytest.mark.parametrize(
    ("path", "nullable"),
    [
        ("spec containers command", True),
        ("spec volumes rbd monitors", True),
        ("spec affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms", True),
        ("spec containers", False),
        ("spec imagePullSecrets", True),
    ],
)
def test_null_in_a_list(path: str, nullable: bool) -> None:
    assert at(pod(36), path).get("nullable", False) == nullable


def test_a_time_holds_no_placeholder_and_is_not_empty() -> None:
    time = at(pod(36), "metadata deletionTimestamp")["pattern"]
    assert "FC_" not in time
    assert not time.startswith("^$")
    assert "FC_" in at(pod(36), "spec hostname")["pattern"]


@pytest.mark.parametrize("text", ["m", "Mi", "-m", "+", ".", "-.5", "e3", " 1Gi ", "-e-9"])
def test_a_quantity_may_be_what_is_one_to_the_server(text: str) -> None:
    """A number without digits is 0 to it, and no check is against that."""
    pattern = at(pod(36), "spec containers resources requests")["additionalProperties"]["pattern"]
    assert is_quantity(text)
    assert re.search(pattern, text)
    assert not any(re.search(pattern, wrong) for wrong in ("", " ", "1 Gi", "1e", "Pi", "x"))


@pytest.mark.parametrize("path", ["spec ephemeralContainers", "spec volumes ephemeral volumeClaimTemplate metadata creationTimestamp"])
def test_a_field_that_may_not_be_used_can_be_empty(path: str) -> None:
    forbidden = at(pod(36), path)
    assert forbidden["maxLength"] == forbidden["maxItems"] == forbidden["maxProperties"] == forbidden["maximum"] == 0
