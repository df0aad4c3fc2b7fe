"""Field paths as people write them on a command line: `spec.containers[main].env[0]`, `metadata.labels["a.b/c"]`."""

from __future__ import annotations

import re

_STEP = re.compile(r"""\.?(?P<name>[^.\[\]="']+)|\[(?P<quoted>"[^"]*"|'[^']*')\]|\[(?P<bare>[^\]"']+)\]""")


def partition(written: str, sign: str) -> tuple[str, str, str]:
    """Split at the first `sign` outside brackets, as `str.partition` does: a key in quotes may hold one."""
    depth = 0
    for index, character in enumerate(written):
        depth += (character == "[") - (character == "]")
        if character == sign and depth <= 0:
            return written[:index], sign, written[index + 1 :]
    return written, "", ""


def steps(written: str) -> tuple[str, ...]:
    """Split a path into its steps: names of fields, keys, and what picks an item of a list. Raises ValueError."""
    result, at = [], 0
    while at < len(written):
        match = _STEP.match(written, at)
        if match is None:
            raise ValueError(f'cannot read the field at `{written[at:]}`; write names with dots, [index], [name] or ["key"]')
        result.append(match["name"] or match["bare"] or match["quoted"][1:-1])
        at = match.end()
    return tuple(result)
