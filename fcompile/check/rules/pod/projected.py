"""Projected volumes: several sources in one directory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries, given
from fcompile.check.rules.pod.certificates import certificate_rules, trust_bundle_rules
from fcompile.check.rules.pod.files import downward_files, files, overlapping
from fcompile.check.seen import Seen
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model import gates

PROJECTED_SOURCES = error_rule(
    code="FC246",
    name="projected-sources",
    summary="A source of a projected volume is two things at once.",
    why="Each entry of `sources` is one of secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle and podCertificate.",
    remedy="Make two entries.",
)
PROJECTED_PATH = error_rule(
    code="FC247",
    name="projected-path-taken",
    summary="Two files of a projected volume have the same path.",
    why="All sources share one directory.",
    remedy="Choose another path for one of the two.",
)

_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate")


def projected_rules(source: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    """Yield the problems of a projected volume."""
    # The others are taken out by the API server.
    kinds = _KINDS if pod.version >= gates.POD_CERTIFICATES else _KINDS[:4]
    parts: list[tuple[dict[str, Any], Path]] = []
    taken = Seen()
    clashes: list[Finding] = []
    for entry, item_path in entries(source, path, "sources"):
        found = [kind for kind in kinds if given(entry, kind)]
        for extra in found[1:]:
            yield Finding(PROJECTED_SOURCES, (*item_path, extra), f"the source is a `{found[0]}` already; make two entries", part="key")
        for kind in found:
            part = entry[kind]
            if isinstance(part, dict):
                parts.append((part, (*item_path, kind)))
                yield from _part(kind, part, (*item_path, kind), pod)
                clashes += _clashes(kind, part, (*item_path, kind), taken)
    yield from clashes or overlapping(parts)


def _part(kind: str, part: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    if kind == "downwardAPI":
        yield from downward_files(part, path, pod)
    elif kind == "clusterTrustBundle":
        yield from trust_bundle_rules(part, path)
    elif kind == "podCertificate":
        yield from certificate_rules(part, path)


def _clashes(kind: str, part: dict[str, Any], path: Path, taken: Seen) -> Iterator[Finding]:
    """Yield each file whose path is taken. (The API server does not look at those of a serviceAccountToken.)"""
    for file, file_path in () if kind == "serviceAccountToken" else files(part, path):
        if first := taken.again(file, file_path):
            yield Finding(PROJECTED_PATH, file_path, f'the path "{file}" is taken in this volume; choose another', related=first)
