"""The tree of places of a YAML document."""

from __future__ import annotations

from typing import Any, Final

from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from .faults import DuplicateKey, too_deep
from .places import Entry, Place
from .rules import MAX_DEPTH
from .yaml_events import Events, with_events
from .yaml_nodes import event_range, is_merge, scalar_key


def places(text: str) -> Place:
    """Return the places of the first document of a text that `read` accepts."""
    root = with_events(text, lambda events: _Builder(events, text).build())
    return root if root is not None else Place(0, 0)


def with_first_key(fault: DuplicateKey, text: str) -> DuplicateKey:
    """Return the fault of a duplicate key with the place of the first key added."""
    first = with_events(text, lambda events: _Builder(events, text, fault.start).first_key(fault.key))
    related = () if first is None else (("the first one is here", *first),)
    message = fault.message
    if begins_object(fault, text):
        message = f"the key `{fault.key}` is already in this object: write `---` above it if another object begins here, or remove it"
    return DuplicateKey(fault.rule, message, fault.start, fault.end, fault.key, related)


def begins_object(fault: DuplicateKey, text: str) -> bool:
    """Return whether an object seems to begin at a duplicate key, with no `---` before it."""
    return fault.key in ("apiVersion", "kind") and at_margin(fault, text)


def at_margin(fault: DuplicateKey, text: str) -> bool:
    """Return whether a duplicate key stands at the beginning of its line."""
    return text[fault.start - 1 : fault.start] == "\n"


_NODES: Final = frozenset((ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent))


class _Frame:
    """A list or mapping that is not complete yet."""

    __slots__ = ("key", "merging", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.key: ScalarEvent | AliasEvent | None = None
        self.merging = False


class _Builder:
    def __init__(self, events: Events, text: str, stop: int | None = None) -> None:
        self._next = events
        self._text = text
        self._stop = stop
        """Do not read events from here on."""
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Place, ScalarEvent | None]] = {}
        self._root: Place | None = None

    def build(self) -> Place | None:
        while True:
            event = self._next()
            kind = type(event)
            if kind is DocumentEndEvent or kind is StreamEndEvent:
                return self._root
            if kind in _NODES:
                if self._stop is not None and event_range(event)[0] >= self._stop:
                    return self._root
                self._node(event)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                place = self._frames.pop().place
                place.end = max(event_range(event)[0 if place.block else 1], place.start)
                self._attach(place)

    def first_key(self, key: str) -> tuple[int, int] | None:
        """Return where the innermost mapping that is open at the stop has a key, or None."""
        self.build()
        entries = self._frames[-1].place.entries if self._frames else None
        entry = entries.get(key) if entries else None
        return (entry.start, entry.end) if entry else None

    def _node(self, event: Any) -> None:
        kind = type(event)
        scalar = kind is ScalarEvent
        if self._frames:
            frame = self._frames[-1]
            if frame.key is None and frame.place.entries is not None and (scalar or kind is AliasEvent):
                frame.key = event
                frame.merging = scalar and event.value == "<<" and is_merge(event)
                if scalar and event.anchor is not None:
                    self._anchors[event.anchor] = (self._scalar(event), event)
                return
        if scalar:
            place = self._scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = (place, event)
            self._attach(place)
        elif kind is AliasEvent:
            place = Place(*event_range(event))
            place.target = self._anchors[event.anchor][0]
            self._attach(place)
        else:
            self._open(event)

    def _open(self, event: CollectionStartEvent) -> None:
        if len(self._frames) > MAX_DEPTH:  # `read` accepts none; libyaml becomes slower the deeper it gets
            raise too_deep(*event_range(event))
        place = Place(*event_range(event))
        place.block = not event.flow_style
        if isinstance(event, MappingStartEvent):
            place.entries = {}
        else:
            place.items = []
        if event.anchor is not None:
            self._anchors[event.anchor] = (place, None)
        self._frames.append(_Frame(place))

    def _scalar(self, event: ScalarEvent) -> Place:
        start, end = event_range(event)
        if event.style in ("|", ">"):
            end = start + len(self._text[start:end].rstrip())
        place = Place(start, end)
        place.plain = _is_plain(event)
        return place

    def _attach(self, place: Place) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is None:
            self._root = place
        elif frame.place.items is not None:
            frame.place.items.append(place)
        elif frame.place.entries is not None and frame.key is not None:
            if frame.merging:
                _merge(frame.place.entries, place)
            else:
                self._add(frame.place.entries, frame.key, place)
            frame.key = None

    def _add(self, entries: dict[str, Entry], event: ScalarEvent | AliasEvent, place: Place) -> None:
        scalar = event if isinstance(event, ScalarEvent) else self._anchors[event.anchor or ""][1]
        key = scalar_key(scalar) if scalar is not None else None
        if key is not None:
            plain = isinstance(event, ScalarEvent) and _is_plain(event)
            entries[key] = Entry(*event_range(event), place, plain)


def _is_plain(event: ScalarEvent) -> bool:
    return event.style == "" and event.tag is None and event.anchor is None


def _merge(entries: dict[str, Entry], source: Place) -> None:
    source = source.target or source
    for place in [source] if source.items is None else source.items:
        for key, entry in ((place.target or place).entries or {}).items():
            entries.setdefault(key, entry._replace(merged=True))
