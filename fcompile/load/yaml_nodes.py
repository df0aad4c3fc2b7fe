"""What single events of a document mean, and the faults that point at them."""

from __future__ import annotations

from typing import Any, Final

from yaml.events import DocumentStartEvent, Event, NodeEvent, ScalarEvent

from fcompile.model.patterns import lazy

from . import rules
from .faults import Fault
from .scalars import PLAIN_KEYS, PLAIN_VALUES, TAG, NotAJsonNumber, NotOfTag, Scalar, as_key, finite_value, resolve_tagged, shorten

_TAG: Final = lazy(r"(?:&[0-9A-Za-z_-]+[ \t\r\n]+)?!(?:<[^>]*>|[^\s,\[\]{}]*)")


def event_range(event: Any) -> tuple[int, int]:
    """Return where the text of an event begins and ends."""
    return event.start_mark.index, event.end_mark.index


def scalar_value(event: ScalarEvent) -> Scalar:
    """Return the value of a scalar. Raises Fault for what JSON cannot say, and for a text that does not fit its tag."""
    try:
        if event.tag is not None:
            return finite_value(_tagged(event), event.value)
        return PLAIN_VALUES[event.value] if event.implicit[0] else event.value
    except NotAJsonNumber as error:
        raise Fault(rules.NOT_A_JSON_NUMBER, str(error), *event_range(event)) from None


def scalar_key(event: ScalarEvent) -> str | None:
    """Return the key that a scalar is, or None where kubectl refuses it as a key."""
    if event.tag is not None:
        return as_key(_tagged(event))
    return PLAIN_KEYS[event.value] if event.implicit[0] else event.value


def is_merge(event: ScalarEvent) -> bool:
    """Return whether a key is the merge key: `<<` without quotes, or tagged as such."""
    return event.value == "<<" and (event.implicit[0] or event.tag == TAG + "merge")


def _tagged(event: ScalarEvent) -> Scalar:
    try:
        return resolve_tagged(event.tag or "", event.value)
    except NotOfTag as error:
        raise Fault(rules.BAD_TAG, str(error), *event_range(event)) from None


def check_start(event: DocumentStartEvent) -> None:
    """Refuse a document of another version than 1.1, as kubectl does."""
    if event.version not in (None, (1, 1)):
        message = "kubectl reads only YAML 1.1: remove the `%YAML` line"
        raise Fault(rules.DIRECTIVE, message, *event_range(event))


def check_tag(event: NodeEvent, text: str) -> None:
    """Refuse a tag that a comma or bracket ends: kubectl takes that for a part of the tag."""
    start, end = event_range(event)
    tag = _TAG.match(text, start)
    if tag and tag.end() == end and text[end : end + 1] in (",", "[", "]"):
        message = f"kubectl takes the `{text[end]}` for a part of the tag before it: write a space between them"
        raise Fault(rules.YAML_SYNTAX, message, end)


def bad_key(event: Event, text: str) -> Fault:
    short = shorten(text)
    message = f'`{short}` cannot be a key: if it is a text, quote it as `"{short}"`' if text else "a key is missing before the `:`"
    return Fault(rules.BAD_KEY, message, *event_range(event))


def collection_as_key(event: Event, text: str) -> Fault:
    """Return the fault of a list or mapping used as a key; usually it is a placeholder that lacks its quotes."""
    start, end = event_range(event)
    if text[start - 1 : start + 1] == "{{":
        message = "`{{` begins a mapping within a mapping here: quote the value if it is a placeholder, or render the template first"
        return Fault(rules.BAD_KEY, message, start - 1, start + 1)
    return Fault(rules.BAD_KEY, "a list or mapping cannot be a key: quote the key if it is a text", start, end)


def too_many(event: Event) -> Fault:
    message = f"the document holds more than {rules.MAX_NODES:,} keys and values, with aliases written out: split it"
    return Fault(rules.TOO_MANY_NODES, message, *event_range(event))
