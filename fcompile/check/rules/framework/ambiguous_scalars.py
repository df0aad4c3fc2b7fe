"""Plain scalars that kubectl reads as a string and other YAML readers do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from fcompile.diagnostics.problem import Finding, Fix, Part, Path
from fcompile.load.rules import AMBIGUOUS_SCALAR


def ambiguous(found: Iterable[tuple[Path, Part, str]], prefix: Path) -> Iterator[Finding]:
    """Yield the ambiguous scalars of a document that are below `prefix`; their paths start there."""
    for path, part, written in found:
        if path[: len(prefix)] == prefix:
            inner = path[len(prefix) :]
            quoted = json.dumps(written, ensure_ascii=False)
            message = f"`{written}` is a string to kubectl, but a number or a date to other YAML readers: write {quoted}"
            yield Finding(AMBIGUOUS_SCALAR, inner, message, part=part, fix=Fix(f"write {quoted}", inner, part, quoted))
