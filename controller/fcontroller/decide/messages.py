"""How much of the messages of failures is kept, so that a status with 10,000 failures fits into etcd.

What Pods and containers say when they end, their messages and long reasons, shares 128 KiB of a Framework's status, or less where the spec
leaves less. The first failures keep everything, until half of that is taken. Of the other half each task has an equal share, for all that
comes later. What does not fit is cut when the completion is set, and never changes again. Codes, phrases, types, and which container ended
how are always kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONEncoder
from typing import Final

from fcompile.model.framework import STATUS_BYTES_PER_TASK
from fcontroller.decide.codes import Json

TOTAL: Final = 128 * 1024
"""Bytes of JSON."""
_OBJECT: Final = int(1.4 * 1024 * 1024)
"""Bytes that the whole Framework may have."""
REASON: Final = 20
"""Bytes of a reason that count for nothing: reasons are few, and compress well."""
_DIAGNOSTICS: Final = 200
"""The same of diagnostics that stand alone."""
CUT: Final = "… (cut)"
_encode: Final = JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def room(beside: int, tasks: int) -> int:
    """Return how many bytes the messages may take together.

    :param beside: bytes of the Framework without its status. :param tasks: how many tasks it has.
    """
    # A third more for base64.
    return max(min(TOTAL, (_OBJECT - beside - tasks * STATUS_BYTES_PER_TASK) * 3 // 4), 0)


def size(completion: Json | None) -> int:
    """Return how many of the shared bytes a completion status takes."""
    if completion is None:
        return 0
    pod = completion.get("pod")
    if pod is None:
        return max(_length(completion.get("diagnostics")) - _DIAGNOSTICS, 0)
    # The diagnostics repeat the messages, which compresses to nearly nothing.
    return sum(_length(said.get("message")) + max(_length(said.get("reason")) - REASON, 0) for said in _speakers(pod))


def fitted(completion: Json, taken: int, tasks: int, total: int = TOTAL) -> Json:
    """Return a completion status as it is kept: whole, or cut.

    :param taken: bytes that others have taken. :param tasks: how many tasks there are. :param total: bytes for all of them.
    """
    share = total // 2 // max(tasks, 1)
    if size(completion) <= max(total // 2 - taken, share):
        return completion
    pod = completion.get("pod")
    head, colon, rest = str(completion["diagnostics"]).partition(": ")
    if pod is None:
        return {**completion, "diagnostics": _beginning(head + colon + rest, _DIAGNOSTICS + share)}
    cut = {**_without_words(pod), **({"containers": [_without_words(one) for one in pod["containers"]]} if pod.get("containers") else {})}
    return {**completion, "diagnostics": head + colon + _beginning(rest, share), "pod": cut}


def _speakers(pod: Json) -> Iterator[Json]:
    """Yield the parts of a completion that have a reason and a message: the Pod and its containers."""
    yield pod
    yield from pod.get("containers") or ()


def _without_words(said: Json) -> Json:
    kept = {key: value for key, value in said.items() if key != "message"}
    return {**kept, "reason": _beginning(kept["reason"], REASON)} if _length(kept.get("reason")) > REASON else kept


def _length(text: str | None) -> int:
    return len(_encode(text).encode()) - 2 if text else 0


def _beginning(text: str, most: int) -> str:
    """Return the beginning of a text, of at most `most` bytes as JSON, and a mark that it was cut."""
    kept = text[:most]
    while _length(kept) > most:
        kept = kept[: len(kept) * 3 // 4]
    return kept + CUT
