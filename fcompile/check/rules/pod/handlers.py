"""What a probe or a lifecycle hook does: exactly one of exec, httpGet, tcpSocket and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_values import given
from fcompile.diagnostics.problem import Finding, Path, Severity, rule

HANDLER_COUNT = rule(
    code="FC211",
    name="handler-count",
    severity=Severity.ERROR,
    summary="A probe or lifecycle hook has no handler, or more than one.",
    why="Each does exactly one thing.",
    remedy="Keep exactly one of exec, httpGet, tcpSocket, grpc (only in probes) and sleep (only in hooks).",
)


def handler_rules(source: dict[str, Any], kinds: tuple[str, ...], path: Path) -> Iterator[Finding]:
    """Yield the problems of the handler in a probe or hook. `kinds`: the handlers that it can have."""
    found = [kind for kind in kinds if given(source, kind)]
    if not found:
        yield Finding(HANDLER_COUNT, path, f"`{path[-1]}` does nothing; add one of {', '.join(kinds)}", part="key")
    for extra in found[1:]:
        yield Finding(HANDLER_COUNT, (*path, extra), f"`{path[-1]}` has `{found[0]}` already; keep only one of the two", part="key")
