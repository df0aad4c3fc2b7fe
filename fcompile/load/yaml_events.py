"""libyaml's events, corrected where libyaml and the Go library of kubectl read differently.

Both descend from the same C code, so little is left to correct: a colon before a bracket, question marks and tags within brackets,
the escapes `\\/` and `\\'`, the version in `%YAML`, and a byte order mark that begins a line. Where kubectl's reading makes sense it is
taken, else the text is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import CollectionEndEvent, CollectionStartEvent, DocumentEndEvent, ScalarEvent, StreamEndEvent

from fcompile.model.patterns import lazy

from . import rules
from .faults import Fault
from .yaml_errors import syntax_fault
from .yaml_nodes import event_range

Events = Callable[[], Any]
"""Gives the next event at each call."""
Result = TypeVar("Result")

_MOST_READ_AGAIN: Final = 1_000_000
"""Characters; beyond it the text is refused, with advice that suits kubectl too."""
_MEANINGS: Final = {":": ":", "\\": ""}
"""What a hidden character adds to the text of its scalar."""
_IN_TAG: Final = "x"
"""What stands for a character of a tag. No such tag means anything to kubectl, and so not its name either."""
_MARK_IN_TEXT: Final = lazy("(?:[\n\r\x85\u2028\u2029]|^)\ufeff")
_ESCAPE: Final = lazy(r"\\.", re.DOTALL)


def with_events(text: str, use: Callable[[Events], Result]) -> Result:
    """Return what `use` makes of the events of a text. `use` is called again, with other events, where libyaml refuses what kubectl reads.

    Raises Fault for what is no YAML to kubectl.
    """
    mark = _MARK_IN_TEXT.search(text) if "\ufeff" in text else None
    if mark:
        message = "a byte order mark stands in the middle of the file, and kubectl would take it for a part of the text: remove it"
        raise Fault(rules.FORBIDDEN_CHARACTER, message, mark.end() - 1)
    hidden: dict[int, str] = {}
    read_again = 0
    while True:
        try:
            return use(_events(text, hidden))
        except YAMLError as error:
            offset = _only_libyaml_refuses(error, text)
            if offset is None or offset in hidden or read_again > _MOST_READ_AGAIN:
                raise syntax_fault(error, text) from None
            read_again += offset
            hidden[offset] = _MEANINGS.get(text[offset], _IN_TAG)


def _only_libyaml_refuses(error: YAMLError, text: str) -> int | None:
    """Return where libyaml stumbles over a character that kubectl reads: in `[a:]`, in `"it\\'s"`, or in the tag of `!a,b c`."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return None
    offset = int(error.problem_mark.index)
    in_tag = error.context in ("while scanning a tag", "while parsing a tag") and text[offset : offset + 1] in (",", "[", "]")
    if error.problem == "found unexpected ':'" or in_tag:
        return offset
    return offset if error.problem == "found unknown escape character" and text[offset : offset + 2] == "\\'" else None


def _events(text: str, hidden: dict[int, str]) -> Events:
    """Return the source of events. libyaml reads an unused letter in place of each hidden character; the events have the character."""
    if not hidden:
        return CParser(text).get_event
    unused = (letter for letter in map(chr, range(0xE000, 0xF8FF)) if letter not in text)
    stand_ins = {meaning: next(unused) for meaning in _MEANINGS.values()} | {_IN_TAG: _IN_TAG}
    pieces, end = [], 0
    for offset, meaning in sorted(hidden.items()):
        pieces += [text[end:offset], stand_ins[meaning]]
        end = offset + 1
    get = CParser("".join([*pieces, text[end:]])).get_event

    def next_event() -> Any:
        event = get()
        if type(event) is ScalarEvent:
            for meaning, stand_in in stand_ins.items():
                event.value = event.value.replace(stand_in, meaning)
        return event

    return next_event


def check_scalars(text: str) -> None:
    """Refuse the scalars of a document that libyaml accepts and kubectl does not. Few documents can have any: see the callers."""
    with_events(text, lambda events: _check_scalars(events, text))


def _check_scalars(events: Events, text: str) -> None:
    flow = [False]
    while not isinstance(event := events(), DocumentEndEvent | StreamEndEvent):
        if isinstance(event, CollectionStartEvent):
            flow.append(bool(event.flow_style))
        elif isinstance(event, CollectionEndEvent):
            flow.pop()
        elif isinstance(event, ScalarEvent):
            start, end = event_range(event)
            if event.style == '"':
                for escape in _ESCAPE.finditer(text, start, end):
                    if escape.group() == "\\/":
                        message = "kubectl does not know the escape `\\/` in YAML: write `/` alone"
                        raise Fault(rules.YAML_SYNTAX, message, *escape.span())
            elif event.style == "" and flow[-1] and "?" in event.value:
                message = f'to kubectl a `?` ends a value without quotes within brackets: quote it as `"{event.value}"`'
                raise Fault(rules.YAML_SYNTAX, message, start, end)
