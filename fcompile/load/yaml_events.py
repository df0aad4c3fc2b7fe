"""libyaml's events, corrected where libyaml and the Go library of kubectl read differently.

Both descend from the same C code, so little is left to correct: a colon before a bracket, question marks and tags within brackets, the
escape `\\/`, the version in `%YAML`, and a byte order mark that begins a line. Where kubectl's reading makes sense it is taken, else the
text is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    ScalarEvent,
    StreamEndEvent,
)

from . import rules
from .faults import Fault
from .yaml_errors import syntax_fault
from .yaml_nodes import event_range

Events = Callable[[], Any]
"""Gives the next event at each call."""
Result = TypeVar("Result")

_MOST_COLONS: Final = 50
_MARK_IN_TEXT: Final = re.compile("(?:[\n\r\x85\u2028\u2029]|^\ufeff)\ufeff")
_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)


def with_events(text: str, use: Callable[[Events], Result]) -> Result:
    """What `use` makes of the events of a text. It is called again, with other events, when that is how to read on.

    Raises Fault for what is no YAML to kubectl.
    """
    mark = _MARK_IN_TEXT.search(text) if "\ufeff" in text else None
    if mark:
        message = "a byte order mark stands in the middle of the file, and kubectl would take it for a part of the text: remove it"
        raise Fault(rules.FORBIDDEN_CHARACTER, message, mark.start() + 1)
    colons: list[int] = []
    while True:
        try:
            return use(_events(text, colons))
        except YAMLError as error:
            colon = _colon_of_text(error)
            if colon is None or len(colons) == _MOST_COLONS:
                raise syntax_fault(error, text) from None
            colons.append(colon)


def _colon_of_text(error: YAMLError) -> int | None:
    """Where libyaml stumbles over the colon in `[a:]`, which to kubectl is a part of the text."""
    if isinstance(error, MarkedYAMLError) and error.problem == "found unexpected ':'" and error.problem_mark:
        return int(error.problem_mark.index)
    return None


def _events(text: str, colons: list[int]) -> Events:
    if not colons:
        return CParser(text).get_event
    stand_in = next(letter for letter in map(chr, range(0xE000, 0xF8FF)) if letter not in text)
    letters = list(text)
    for colon in colons:
        letters[colon] = stand_in
    get = CParser("".join(letters)).get_event

    def next_event() -> Any:
        event = get()
        if type(event) is ScalarEvent:
            event.value = event.value.replace(stand_in, ":")
        return event

    return next_event


def check_scalars(text: str) -> None:
    """Refuse the scalars of a document that libyaml accepts and kubectl does not. It is needed for few: see the callers."""
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
