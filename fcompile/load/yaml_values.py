"""One YAML document → plain values, from libyaml's events.

No tree of nodes is built on the way: that costs less time and a fraction of the memory, and nothing here recurses over the text, so
that no nesting can exhaust the stack. `yaml_places` makes a tree of places from the same events when a problem has to be shown.
"""

from __future__ import annotations

from typing import Any

from yaml.error import YAMLError
from yaml.events import MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent, StreamEndEvent

from . import rules
from .document import NOTHING
from .faults import DuplicateKey, duplicate_key, too_deep
from .scalars import PLAIN_KEYS, PLAIN_VALUES
from .yaml_aliases import Anchor, Anchors, Merge
from .yaml_events import Events, check_scalars, with_events
from .yaml_nodes import bad_key, check_start, check_tag, collection_as_key, event_range, is_merge, scalar_key, scalar_value, too_many


def read(text: str, repeated: list[DuplicateKey] | None = None) -> tuple[Any, int | None]:
    """Read the first document of a text strictly. Raises Fault for what kubectl refuses, and for a key that is given twice.

    Returns its value, NOTHING if there is no document, and where text begins that kubectl never reads, because it comes after the end of
    the document. The fault of a duplicate key does not say yet where the first one is: `yaml_places` finds that.

    :param repeated: collects the faults of duplicate keys instead of raising them; of several equal keys the last one counts.
    """
    reader = with_events(text, lambda events: _Reader(events, text, repeated))
    if reader.suspect or "\\/" in text:
        check_scalars(text)
    return reader.value, reader.ignored


class _Reader:
    def __init__(self, events: Events, text: str, repeated: list[DuplicateKey] | None) -> None:
        self._next = events
        self._text = text
        self._repeated = repeated
        self._anchors = Anchors()
        self.suspect = False
        """There is a scalar that kubectl may read in another way than libyaml."""
        self.value = self._document()
        self.ignored = None if self.value is NOTHING else self._rest()

    def _document(self) -> Any:
        self._next()
        start = self._next()
        if type(start) is StreamEndEvent:
            return NOTHING
        check_start(start)
        value = self._value()
        self._next()
        return value

    def _rest(self) -> int | None:
        try:
            event = self._next()
        except YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            return mark.index if mark else len(self._text)
        return None if type(event) is StreamEndEvent else int(event.end_mark.index)

    def _value(self) -> Any:
        """Read the value in one loop, which is long for speed: every scalar of every file passes here."""
        get, keys, anchors = self._next, PLAIN_KEYS, self._anchors
        values: dict[str, Any] = PLAIN_VALUES
        watch = "?" in self._text and ("[" in self._text or "{" in self._text)
        stack: list[tuple[Any, bool, Any, Anchor | None]] = []
        container: Any = None
        in_mapping = wants_key = False
        key: Any = None
        anchor: Anchor | None = None
        nodes = 1
        while True:
            event = get()
            kind = type(event)
            if kind is ScalarEvent:
                nodes += 1
                if watch and "?" in event.value:
                    self.suspect = True
                if event.anchor is not None:
                    anchors.add_scalar(event, nodes)
                if wants_key:
                    key = keys[event.value] if event.tag is None and event.implicit[0] else self._unusual_key(event)
                    wants_key = False
                    if key is None or key == "<<":
                        key = _special_key(event, container)
                        nodes -= type(key) is Merge
                    elif key in container:
                        self._repeat(duplicate_key(key, *event_range(event)))
                    continue
                if event.tag is not None:
                    check_tag(event, self._text)
                    value = scalar_value(event)
                elif event.implicit[0]:
                    value = values.get(event.value, NOTHING)
                    if value is NOTHING:
                        value = scalar_value(event)
                else:
                    value = event.value
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                nodes += 1
                if wants_key:
                    raise collection_as_key(event, self._text)
                if len(stack) >= rules.MAX_DEPTH:
                    raise too_deep(*event_range(event))
                if event.tag is not None:
                    check_tag(event, self._text)
                stack.append((container, in_mapping, key, anchor))
                in_mapping = wants_key = kind is MappingStartEvent
                container = {} if in_mapping else []
                anchor = None if event.anchor is None else anchors.open(event.anchor, nodes)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                if anchor is not None:
                    anchor.close(value, nodes)
                container, in_mapping, key, anchor = stack.pop()
                wants_key = False
            else:
                nodes = anchors.count(event, nodes + 1)
                if wants_key:
                    key = anchors.key(event)
                    wants_key = False
                    if key in container:
                        self._repeat(duplicate_key(key, *event_range(event)))
                    continue
                value = anchors.value(event, len(stack))
            if nodes > rules.MAX_NODES:
                raise too_many(event)
            if container is None:
                return value
            if not in_mapping:
                container.append(value)
                continue
            wants_key = True
            if type(key) is Merge:
                nodes -= kind is SequenceEndEvent
                key.into(container, value, kind is SequenceEndEvent, self._repeat)
            else:
                container[key] = value

    def _repeat(self, fault: DuplicateKey) -> None:
        if self._repeated is None or len(self._repeated) == rules.MAX_UNREADABLE:
            raise fault
        self._repeated.append(fault)

    def _unusual_key(self, event: ScalarEvent) -> str | None:
        if event.tag is not None:
            check_tag(event, self._text)
        return scalar_key(event)


def _special_key(event: ScalarEvent, container: dict[str, Any]) -> str | Merge:
    """Return the merge key, or `<<` as a mere text; raises Fault for what kubectl refuses as a key."""
    if is_merge(event):
        return Merge(event)
    if event.value != "<<":
        raise bad_key(event, event.value)
    if "<<" in container:
        raise duplicate_key("<<", *event_range(event))
    return "<<"
