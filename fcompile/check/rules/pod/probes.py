"""Probes: what each kind of probe allows beyond the bounds of its single fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import given
from fcompile.check.rules.pod.handlers import handler_rules
from fcompile.diagnostics.problem import Finding, Path, Severity, rule
from fcompile.model.values import integer

SUCCESS_THRESHOLD = rule(
    code="FC212",
    name="probe-success-threshold",
    severity=Severity.ERROR,
    summary="A liveness or startup probe has a successThreshold other than 1.",
    why="Only readiness probes can wait for several successes in a row.",
    remedy="Remove it or write 1.",
)
READINESS_GRACE_PERIOD = rule(
    code="FC213",
    name="readiness-grace-period",
    severity=Severity.ERROR,
    summary="A readiness probe has a terminationGracePeriodSeconds.",
    why="A failed readiness probe ends no container, so there is no grace period.",
    remedy="Remove it, or move it to the liveness or startup probe.",
)

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_KINDS = ("exec", "httpGet", "tcpSocket", "grpc")


def probe_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the probes of all containers that may have them."""
    for container in pod.containers:
        if container.is_init and not container.is_sidecar:
            continue  # `containers` says that they may not be there at all.
        for name in _PROBES:
            probe = container.fields.get(name)
            if isinstance(probe, dict):
                yield from _probe(probe, name, (*container.path, name))


def _probe(probe: dict[str, Any], name: str, path: Path) -> Iterator[Finding]:
    yield from handler_rules(probe, _KINDS, path)
    if name == "readinessProbe":
        if given(probe, "terminationGracePeriodSeconds"):
            message = "`terminationGracePeriodSeconds` is not for `readinessProbe`; remove it"
            yield Finding(READINESS_GRACE_PERIOD, (*path, "terminationGracePeriodSeconds"), message, part="key")
        return
    threshold = integer(probe, "successThreshold")
    if threshold is not None and threshold > 1:
        message = f"`successThreshold` of `{name}` must be 1, not {threshold}; remove it"
        yield Finding(SUCCESS_THRESHOLD, (*path, "successThreshold"), message)
