"""Probes and lifecycle hooks: one handler each, and what each kind allows beyond the bounds of its single fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import PROBES, ContainerRef, Pod, handlers
from fcompile.check.pod_values import given, port_hint
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.values import integer, mapping, sequence, text

HANDLER_COUNT = error_rule(
    code="FC211",
    name="handler-count",
    summary="A probe or lifecycle hook has no handler, or more than one.",
    why="Each does exactly one thing.",
    remedy="Keep exactly one of exec, httpGet, tcpSocket, grpc (only in probes) and sleep (only in hooks).",
)
SUCCESS_THRESHOLD = error_rule(
    code="FC212",
    name="probe-success-threshold",
    summary="A liveness or startup probe has a successThreshold other than 1.",
    why="Only readiness probes can wait for several successes in a row.",
    remedy="Remove it or write 1.",
)
READINESS_GRACE_PERIOD = error_rule(
    code="FC213",
    name="readiness-grace-period",
    summary="A readiness probe has a terminationGracePeriodSeconds.",
    why="A failed readiness probe ends no container, so there is no grace period.",
    remedy="Remove it, or move it to the liveness or startup probe.",
)
SLEEP = error_rule(
    code="FC214",
    name="hook-sleep",
    summary="A lifecycle hook sleeps longer than the Pod's grace period, or does not say how long.",
    why="`sleep.seconds` must be at most `terminationGracePeriodSeconds`, which is 30 when it is left out.",
    remedy="Change one of the two.",
)
NEGATIVE_GRACE_PERIOD = warning_rule(
    code="FC215",
    name="negative-grace-period",
    summary="The Pod's terminationGracePeriodSeconds is negative.",
    why="Kubernetes takes it as 1.",
    remedy="Write how long the Pod may take to end.",
)
UNKNOWN_PORT = warning_rule(
    code="FC220",
    name="unknown-port-name",
    summary="A probe or lifecycle hook names a port that its container does not have.",
    why="The kubelet looks the name up in the `ports` of the same container. It finds nothing, so the probe fails each time.",
    remedy="Correct the name, write the number, or give one of the container's `ports` this name.",
)

_OF_PROBE = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_HOOK = ("exec", "httpGet", "tcpSocket", "sleep")


def probe_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the grace period, and of the probes and hooks of all containers that may have them."""
    seconds = integer(pod.spec, "terminationGracePeriodSeconds")
    if seconds is not None and seconds < 0:
        path = (*pod.path, "terminationGracePeriodSeconds")
        message = f"`terminationGracePeriodSeconds` {seconds} is negative and taken as 1; write what is meant"
        yield Finding(NEGATIVE_GRACE_PERIOD, path, message)
    for container in pod.containers:
        if container.is_init and not container.is_sidecar:
            continue  # `containers` says that they may not be there at all.
        for name, handler, path in handlers(container):
            yield from _probe(handler, name, path) if name in PROBES else _hook(handler, path, pod)
            yield from _port(handler, path, container)


def _probe(probe: dict[str, Any], name: str, path: Path) -> Iterator[Finding]:
    yield from _handler(probe, _OF_PROBE, path)
    if name == "readinessProbe":
        if given(probe, "terminationGracePeriodSeconds"):
            message = "`terminationGracePeriodSeconds` is not for `readinessProbe`; remove it"
            yield Finding(READINESS_GRACE_PERIOD, (*path, "terminationGracePeriodSeconds"), message, part="key")
        return
    threshold = integer(probe, "successThreshold")
    if threshold is not None and threshold > 1:
        message = f"`successThreshold` of `{name}` must be 1, not {threshold}; remove it"
        yield Finding(SUCCESS_THRESHOLD, (*path, "successThreshold"), message)


def _port(source: dict[str, Any], path: Path, container: ContainerRef) -> Iterator[Finding]:
    """Yield the name of a port that a probe or hook asks for in vain."""
    for kind in ("httpGet", "tcpSocket"):
        name = text(mapping(source, kind), "port")
        known = {called for port in sequence(container.fields, "ports") if (called := text(port, "name"))} if name else set()
        if not name or name.isdigit() or name in known:
            continue
        message = f"this container has no port named `{name}`, so it fails each time: {port_hint(name, known, 'its `ports`')}"
        yield Finding(UNKNOWN_PORT, (*path, kind, "port"), message)


def _hook(hook: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    if pod.version < gates.SLEEP:
        if pod.version >= gates.KNOWS_SLEEP or not given(hook, "sleep"):
            yield from _handler(hook, _OF_HOOK[:-1], path)
        return
    yield from _handler(hook, _OF_HOOK, path)
    sleep = hook.get("sleep")
    if not isinstance(sleep, dict) or any(given(hook, kind) for kind in _OF_HOOK[:-1]):
        return
    seconds = integer(sleep, "seconds")
    if seconds is not None and seconds > pod.grace_period:
        message = f"`sleep` of {seconds} seconds is longer than the grace period of {pod.grace_period}; change one of the two"
        yield Finding(SLEEP, (*path, "sleep", "seconds"), message)
    elif sleep.get("seconds") is None and pod.version < gates.SLEEP_ZERO:
        yield Finding(SLEEP, (*path, "sleep"), f"`sleep` has no `seconds`, and Kubernetes 1.{pod.version} takes no 0; say how long")


def _handler(source: dict[str, Any], kinds: tuple[str, ...], path: Path) -> Iterator[Finding]:
    """Yield the problems of the handler in a probe or hook. `kinds`: the handlers that it can have."""
    found = [kind for kind in kinds if given(source, kind)]
    if not found:
        yield Finding(HANDLER_COUNT, path, f"`{path[-1]}` does nothing; add one of {', '.join(kinds)}", part="key")
    for extra in found[1:]:
        yield Finding(HANDLER_COUNT, (*path, extra), f"`{path[-1]}` has `{found[0]}` already; keep only one of the two", part="key")
