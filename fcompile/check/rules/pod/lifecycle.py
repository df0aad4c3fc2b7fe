"""Lifecycle hooks: one handler each, and a sleep that fits into the grace period."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import given
from fcompile.check.rules.pod.handlers import handler_rules
from fcompile.diagnostics.problem import Finding, Path, Severity, rule
from fcompile.model import gates
from fcompile.model.values import integer

SLEEP = rule(
    code="FC214",
    name="hook-sleep",
    severity=Severity.ERROR,
    summary="A lifecycle hook sleeps longer than the Pod's grace period, or does not say how long.",
    why="`sleep.seconds` must be at most `terminationGracePeriodSeconds`, which is 30 when it is left out.",
    remedy="Change one of the two.",
)
NEGATIVE_GRACE_PERIOD = rule(
    code="FC215",
    name="negative-grace-period",
    severity=Severity.WARNING,
    summary="The Pod's terminationGracePeriodSeconds is negative.",
    why="Kubernetes takes it as 1.",
    remedy="Write how long the Pod may take to end.",
)

_KINDS = ("exec", "httpGet", "tcpSocket", "sleep")


def lifecycle_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the grace period, and of the hooks of all containers that may have them."""
    seconds = integer(pod.spec, "terminationGracePeriodSeconds")
    if seconds is not None and seconds < 0:
        path = (*pod.path, "terminationGracePeriodSeconds")
        message = f"`terminationGracePeriodSeconds` {seconds} is negative and taken as 1; write what is meant"
        yield Finding(NEGATIVE_GRACE_PERIOD, path, message)
    for container in pod.containers:
        lifecycle = container.fields.get("lifecycle")
        if not isinstance(lifecycle, dict) or (container.is_init and not container.is_sidecar):
            continue
        for name in ("postStart", "preStop"):
            hook = lifecycle.get(name)
            if isinstance(hook, dict):
                yield from _hook(hook, (*container.path, "lifecycle", name), pod)


def _hook(hook: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    if pod.version < gates.SLEEP:
        if pod.version >= gates.KNOWS_SLEEP or not given(hook, "sleep"):
            yield from handler_rules(hook, _KINDS[:-1], path)
        return
    yield from handler_rules(hook, _KINDS, path)
    sleep = hook.get("sleep")
    if not isinstance(sleep, dict) or any(given(hook, kind) for kind in _KINDS[:-1]):
        return
    seconds = integer(sleep, "seconds")
    if seconds is not None and seconds > pod.grace_period:
        message = f"`sleep` of {seconds} seconds is longer than the grace period of {pod.grace_period}; change one of the two"
        yield Finding(SLEEP, (*path, "sleep", "seconds"), message)
    elif sleep.get("seconds") is None and pod.version < gates.SLEEP_ZERO:
        yield Finding(SLEEP, (*path, "sleep"), f"`sleep` has no `seconds`, and Kubernetes 1.{pod.version} takes no 0; say how long")
