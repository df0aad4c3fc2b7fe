"""The origins for machines, as `fcompile.declare.explain` declares them: one entry for each leaf."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import without_commands
from fcompile.explain.origins import Leaf, LifetimeField

VERSION = 1


def write(metadata: dict[str, Any], leaves: Iterable[Leaf], lifetime: Iterable[LifetimeField], file: str) -> Iterator[str]:
    """Yield the whole document."""
    ends = [
        {
            "source": field_path(("spec", one.field)),
            "value": one.value,
            "meaning": one.meaning,
            "file": file,
            "line": one.span.line,
            "column": one.span.column,
        }
        for one in lifetime
    ]
    document = {
        "version": VERSION,
        "pod": metadata["name"],
        "namespace": metadata["namespace"],
        "values": [_leaf(leaf, file) for leaf in leaves],
        **({"lifetime": ends} if ends else {}),
    }
    yield without_commands(json.dumps(document, indent=2)) + "\n"


def _leaf(leaf: Leaf, file: str) -> dict[str, Any]:
    origin = leaf.origin
    made = {"field": field_path(leaf.path), "value": leaf.value, "origin": origin.kind}
    if origin.rule:
        made["rule"] = origin.rule
    if origin.path:
        made["source"] = field_path(origin.path)
    if origin.span is not None:
        made |= {"file": file, "line": origin.span.line, "column": origin.span.column}
    return made
