"""The Pods of one role, quickly: one is rendered with holes where the index goes, the others are that text with the holes filled.

Why this is safe:

- What marks a hole is put into the model, not searched for in a text, and is itself a number: `yaml` styles a string by where its
  digits are, whichever they are, and an index is digits too. So the text around a hole is right for every index.
- The mark begins with the only 9 in it, so that no two of its occurrences can overlap, whatever digits stand beside a hole. As many
  must be found in the text as were put into the model.
- Where a hole is in a key, the order of keys may depend on the index, and two keys may become one: then every Pod is rendered in full.
- The first Pod and the last of each number of digits are rendered in full and compared. If one differs (its model does more with
  the index than to put it into strings), every Pod is rendered in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fcompile.model.values import mappings, strings

MARK = "903172845160273814526038"
_CHUNK = 64 * 1024


def pods(pod: Callable[[str], Any], indices: Sequence[int], dump: Callable[[Any], str]) -> Iterator[str]:
    """Yield the same characters as `"".join(dump(pod(str(index))) for index in indices)`, in chunks of many Pods.

    `pod` makes the model of the Pod of one index, or of whatever other digits it is given, and puts these into strings as they
    are. `dump` renders a model; `yaml.document` and `json.item` do, with or without `ordered`.
    """
    parts = _parts(pod, dump) if len(indices) > 2 else None
    if parts is None or any(str(index).join(parts) != dump(pod(str(index))) for index in _probes(indices)):
        for index in indices:
            yield dump(pod(str(index)))
        return
    step = _CHUNK // (sum(map(len, parts)) + 1) + 1
    for start in range(0, len(indices), step):
        yield "".join([str(index).join(parts) for index in indices[start : start + step]])


def _parts(pod: Callable[[str], Any], dump: Callable[[Any], str]) -> list[str] | None:
    """Return the text of a Pod, cut where the index goes, or None where that is not possible."""
    model = pod(MARK)
    if any(MARK in key for value in mappings(model) for key in value):
        return None
    parts = dump(model).split(MARK)
    return parts if len(parts) - 1 == sum(text.count(MARK) for _, _, text in strings(model, ())) else None


def _probes(indices: Sequence[int]) -> list[int]:
    return [indices[0], *{len(str(index)): index for index in indices}.values()]
