"""The claim template of an ephemeral volume: what the API server wants of the claim that will be made from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.amounts import amount
from fcompile.check.pod_values import texts
from fcompile.check.rules.pod.selectors import selector_rules
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model.formats import accepts
from fcompile.model.values import mapping, text

CLAIM_TEMPLATE = error_rule(
    code="FC250",
    name="claim-template",
    summary="The claim template of an ephemeral volume is not complete or contradicts itself.",
    why=(
        "It needs a positive `resources.requests.storage`; ReadWriteOncePod must be the only access mode; `dataSource` and "
        "`dataSourceRef` must agree, and need an `apiGroup` unless they are claims."
    ),
    remedy="Correct what the message names.",
)

_SET_BY_OTHERS = ("deletionGracePeriodSeconds", "finalizers", "managedFields", "ownerReferences")


def claim_template_rules(template: dict[str, Any], path: Path, version: int) -> Iterator[Finding]:
    """Yield the problems of a `volumeClaimTemplate`."""
    metadata = mapping(template, "metadata")
    for key in _SET_BY_OTHERS:
        if key in metadata and metadata[key] in ([], 0):
            message = f"`{key}` cannot be set for the claim, not even to nothing; remove it"
            yield Finding(CLAIM_TEMPLATE, (*path, "metadata", key), message, part="key")
    spec, spec_path = template.get("spec"), (*path, "spec")
    if not isinstance(spec, dict):
        return
    modes = {mode for mode, _ in texts(spec, spec_path, "accessModes")}
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        message = "ReadWriteOncePod does not go with other `accessModes`; keep it alone, or remove it"
        yield Finding(CLAIM_TEMPLATE, (*spec_path, "accessModes"), message, part="key")
    yield from _storage(spec, spec_path)
    yield from selector_rules(spec, spec_path, "selector")
    yield from _data_sources(spec, spec_path, version)
    attributes = text(spec, "volumeAttributesClassName")
    if attributes and version >= 34 and not accepts("dns-subdomain")(attributes):
        message = f'"{attributes}" cannot be the name of a class; correct it'
        yield Finding(CLAIM_TEMPLATE, (*spec_path, "volumeAttributesClassName"), message)


def _storage(spec: dict[str, Any], path: Path) -> Iterator[Finding]:
    requests = mapping(mapping(spec, "resources"), "requests")
    if "storage" not in requests:
        yield Finding(CLAIM_TEMPLATE, path, "the claim does not say how much it wants; add `resources.requests.storage`")
        return
    size = amount(requests["storage"])
    if size is not None and size <= 0:
        message = f'`storage` "{requests["storage"]}" must be more than 0; say how much the claim wants'
        yield Finding(CLAIM_TEMPLATE, (*path, "resources", "requests", "storage"), message)


def _data_sources(spec: dict[str, Any], path: Path, version: int) -> Iterator[Finding]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for key, value in (("dataSource", source), ("dataSourceRef", reference)):
        if isinstance(value, dict) and not text(value, "apiGroup") and text(value, "kind") not in (None, "", "PersistentVolumeClaim"):
            message = f'a `{key}` of kind "{text(value, "kind")}" needs its `apiGroup`; add it'
            yield Finding(CLAIM_TEMPLATE, (*path, key), message)
        group = text(value, "apiGroup")
        if group and version >= 29 and not accepts("dns-subdomain")(group):
            yield Finding(CLAIM_TEMPLATE, (*path, key, "apiGroup"), f'"{group}" is not an API group; correct it')
        namespace = text(value, "namespace")
        if namespace and version >= 26 and not accepts("dns-label")(namespace):
            yield Finding(CLAIM_TEMPLATE, (*path, key, "namespace"), f'"{namespace}" cannot be the name of a namespace; correct it')
    if not isinstance(source, dict) or not isinstance(reference, dict):
        return
    if text(reference, "namespace") and version >= 26:
        message = "`dataSource` is not allowed when `dataSourceRef` has a namespace; remove it"
        yield Finding(CLAIM_TEMPLATE, (*path, "dataSource"), message, part="key")
    elif any(source.get(key) != reference.get(key) for key in ("apiGroup", "kind", "name")):
        yield Finding(CLAIM_TEMPLATE, (*path, "dataSource"), "`dataSource` and `dataSourceRef` differ; keep one of the two", part="key")
