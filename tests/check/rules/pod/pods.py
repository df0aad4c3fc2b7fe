"""Pod templates for the tests of the Pod rules, and the rules run over them."""

from __future__ import annotations

from typing import Any

from fcompile.check.pod import pod_rules
from fcompile.diagnostics.problem import Finding, field_path

NEWEST = 37
OLDEST = 25


def container(name: str = "main", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "busybox", **fields}


def pod(*containers: dict[str, Any], metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A template of these containers, or of one that is as simple as can be."""
    template: dict[str, Any] = {"spec": {"containers": list(containers) or [container()], **spec}}
    return template if metadata is None else {"metadata": metadata, **template}


def of_main(**fields: Any) -> dict[str, Any]:
    """A template whose only container has these fields too."""
    return pod(container(**fields))


def with_init(*, spec: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A template with an init container that has these fields too."""
    return pod(initContainers=[container("setup", **fields)], **(spec or {}))


def findings(template: Any, version: int = 36) -> list[Finding]:
    return list(pod_rules(template, (), version=version))


def check(template: Any, version: int = 36) -> list[str]:
    """All findings as `CODE path`."""
    return [f"{finding.rule.code} {field_path(finding.path)}" for finding in findings(template, version)]


def codes(template: Any, version: int = 36) -> set[str]:
    return {finding.rule.code for finding in findings(template, version)}
