"""Anchors and aliases: what an alias stands for, and how large a document becomes with its aliases written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yaml.events import AliasEvent, Event, ScalarEvent

from . import rules
from .faults import DuplicateKey, Fault, too_deep
from .scalars import shorten
from .yaml_nodes import bad_key, collection_as_key, event_range, scalar_key, scalar_value, too_many


class Anchor:
    """What an anchor stands for: a scalar, or a list or mapping that is complete once it is closed."""

    __slots__ = ("_before", "_collection", "_length", "_scalar", "size")

    def __init__(self, before: int, scalar: ScalarEvent | None = None) -> None:
        self._before = before
        self._scalar = scalar
        self._collection: Any = None
        self._length = -1
        self.size = 0 if scalar is None else 1
        """Nodes in it; 0 while it is open."""

    def close(self, collection: Any, nodes: int) -> None:
        self._collection, self.size = collection, nodes - self._before

    def value(self, event: AliasEvent, depth: int) -> Any:
        if self._scalar is not None:
            return scalar_value(self._scalar)
        return _copy(self._collection, rules.MAX_DEPTH - depth, event)

    def length(self) -> int:
        """Return the number of characters of text in the value."""
        if self._length < 0:
            self._length = _length(self._collection) if self._scalar is None else len(self._scalar.value)
        return self._length

    def key(self, event: AliasEvent) -> str:
        if self._scalar is None:
            raise collection_as_key(event, "")
        key = scalar_key(self._scalar)
        if key is None:
            raise bad_key(event, self._scalar.value)
        return key


class Anchors:
    """The anchors of one document so far. A name can be defined again; an alias means the last one before it."""

    def __init__(self) -> None:
        self._by_name: dict[str, Anchor] = {}
        self._aliased = 0
        self._written_out = 0

    def add_scalar(self, event: ScalarEvent, nodes: int) -> None:
        self._by_name[event.anchor or ""] = Anchor(nodes - 1, event)

    def open(self, name: str, nodes: int) -> Anchor:
        """Note the anchor of a list or mapping that begins as node number `nodes`."""
        self._by_name[name] = anchor = Anchor(nodes - 1)
        return anchor

    def count(self, event: AliasEvent, nodes: int) -> int:
        """Return the number of nodes with those behind an alias. Raises Fault for too many nodes, or too many from aliases."""
        size = self._find(event).size
        nodes += size
        self._aliased += size
        if nodes > rules.MAX_NODES:
            raise too_many(event)
        if self._aliased > 100 and nodes > 1000 and self._aliased / nodes > _allowed_share(nodes):
            message = "nearly the whole document comes from aliases, more than kubectl allows: write more of it out"
            raise Fault(rules.TOO_MANY_NODES, message, *event_range(event))
        return nodes

    def value(self, event: AliasEvent, depth: int) -> Any:
        anchor = self._find(event)
        self._grow(anchor, event)
        return anchor.value(event, depth)

    def key(self, event: AliasEvent) -> str:
        anchor = self._find(event)
        self._grow(anchor, event)
        return anchor.key(event)

    def _grow(self, anchor: Anchor, event: AliasEvent) -> None:
        """Refuse an alias that makes the document too large once all aliases are written out."""
        self._written_out += anchor.length()
        if self._written_out > rules.MAX_BYTES:
            message = f"the document is larger than {rules.MAX_BYTES // 1024 // 1024} MiB with its aliases written out: split it"
            raise Fault(rules.TOO_LARGE, message, *event_range(event))

    def _find(self, event: AliasEvent) -> Anchor:
        name = event.anchor or ""
        anchor = self._by_name.get(name)
        if anchor is None:
            message = f"no anchor `&{name}` stands before the alias `*{name}`: define it, or quote the value if it is a text"
            raise Fault(rules.UNKNOWN_ALIAS, message, *event_range(event))
        if anchor.size == 0:
            message = f"the alias `*{name}` stands within the value of its own anchor `&{name}`: write that part out"
            raise Fault(rules.RECURSIVE_ALIAS, message, *event_range(event))
        return anchor


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(key) + _length(item) for key, item in value.items())
    return sum(map(_length, value)) if isinstance(value, list) else 0


def _allowed_share(nodes: int) -> float:
    """Return the share of a document that kubectl lets come from aliases. It shrinks as the document grows."""
    return 0.99 if nodes <= 400_000 else max(0.10, 0.99 - 0.89 * (nodes - 400_000) / 3_600_000)


def _copy(value: Any, levels: int, event: Event) -> Any:
    """Copy a value for each alias, so that a change at one place does not show at another."""
    if not isinstance(value, dict | list):
        return value
    if levels <= 0:
        raise too_deep(*event_range(event))
    if isinstance(value, dict):
        return {key: _copy(item, levels - 1, event) for key, item in value.items()}
    return [_copy(item, levels - 1, event) for item in value]


class Merge:
    """Stands for the key in `<<: *defaults` while its value is read."""

    __slots__ = ("_event",)

    def __init__(self, event: ScalarEvent) -> None:
        self._event = event

    def into(self, target: dict[str, Any], value: Any, is_list: bool, repeat: Callable[[DuplicateKey], None]) -> None:
        """Add the keys of the merged value. Keys that are there already are duplicates to kubectl.

        :param is_list: the value is a list that is written out; an alias of a list is refused.
        :param repeat: is called with each duplicate, and raises it unless duplicates are collected.
        """
        for source in value if is_list else [value]:
            if not isinstance(source, dict):
                message = "the value of `<<` must be a mapping, an alias of one, or a list of these: quote the key if it is an ordinary one"
                raise Fault(rules.BAD_MERGE, message, *event_range(self._event))
            for key, item in source.items():
                if key in target:
                    repeat(self._duplicate(key))
                else:
                    target[key] = item

    def _duplicate(self, key: str) -> DuplicateKey:
        message = f"`<<` brings the key `{shorten(key)}`, which is already in this mapping: readers do not agree which of the two counts"
        return DuplicateKey(rules.DUPLICATE_KEY, message, *event_range(self._event), key)
