"""libyaml's complaints in plain words: what is wrong, what to do, and the place where a person would look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import CollectionEndEvent, CollectionStartEvent, Event, ScalarEvent

from fcompile.diagnostics.problem import Rule
from fcompile.model.patterns import lazy

from . import rules
from .faults import Fault
from .scalars import shorten
from .source import end_of_line
from .yaml_nodes import event_range

_FORBIDDEN: Final = lazy("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INDENTATION: Final = lazy(r"[ \t]*")
_TEXT: Final = lazy(r" *(?:- +)*(?P<text>[^\s'\"\[\]{}#&*!|>%@`-][^\r\n]*)")
"""A line of plain text, perhaps in a list."""
_KEY: Final = lazy(r"[^\s'\"\[\]{}#&*!|>%@`-][^:#\r\n]*")
_KEY_AND_VALUE: Final = lazy(r"(?P<key>[^:\r\n]+): +(?P<value>\S[^\r\n]*)")
_KEY_WITHOUT_SPACE: Final = lazy(r"[A-Za-z][\w./-]*:[^\s/]")
_CONFLICT: Final = lazy(r"(?m)^(?:<{7} [^\r\n]*|={7}|>{7} [^\r\n]*)(?=\r?$)")
_OTHER_SPACES: Final = lazy("(?m)(?:^[ -]*|[:,?] *)(?P<spaces>[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]+)")
"""Spaces that are none to YAML, where a person takes them for its indentation or for the space after an indicator."""
_NAMES_OF_SPACES: Final = {"\xa0": "no-break space", "\u202f": "narrow no-break space", "\u3000": "ideographic space"}

_MESSAGES: Final = {
    "mapping values are not allowed in this context": (
        "a `: ` cannot stand here: quote the value that contains it, or correct the indentation of this line"
    ),
    "mapping keys are not allowed in this context": "a `? ` cannot stand here: begin a new line for the key, or quote the value",
    "block sequence entries are not allowed in this context": (
        "a list item cannot stand here: begin a new line for the `-`, or quote the value"
    ),
    "did not find expected '-' indicator": ("a list item is expected here: correct the indentation of this line, or begin it with `- `"),
    "did not find expected node content": "a value is expected here: write one, or quote this character",
    "found unknown escape character": "unknown escape in a double-quoted string: write the backslash twice, or use single quotes",
    "did not find expected hexdecimal number": "the escape lacks hexadecimal digits: `\\x` needs 2, `\\u` 4, and `\\U` 8 of them",
    "found invalid Unicode character escape code": (
        "the escape names no character (half of a pair, or too large): write the character itself, or `\\U` with 8 digits"
    ),
    "found an indentation indicator equal to 0": "the indentation after `|` or `>` must be 1 to 9: correct or remove the digit",
    "did not find expected alphabetic or numeric character": (
        "the name after `&` or `*` holds only letters, digits, `-` and `_`: correct it, or quote the value if it is a text"
    ),
    "found undefined tag handle": "the tag uses a prefix that is not defined: remove the tag, or quote the value if it is a text",
    "found unexpected ':'": "a `:` cannot stand before a bracket or comma: quote the value",
}


def syntax_fault(error: YAMLError, text: str) -> Fault:
    """Return the fault for what libyaml raised while it read `text`."""
    if not isinstance(error, MarkedYAMLError) or error.problem_mark is None:
        return _forbidden_character(text)
    problem, offset = error.problem or "", error.problem_mark.index
    context = error.context_mark.index if error.context_mark else offset
    conflict = _CONFLICT.search(text, 0, max(end_of_line(text, offset), offset))
    if conflict is not None:
        message = "git left a conflict here: keep one of the two versions, and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`"
        return Fault(rules.YAML_SYNTAX, message, conflict.start(), conflict.end())
    tab = _tab(text, offset, problem)
    if tab is not None:
        message = "a tab is used for indentation here, which YAML forbids: replace it by spaces"
        return Fault(rules.TAB, message, tab)
    if problem in ("found unexpected end of stream", "found unexpected document indicator"):
        quote = text[context : context + 1]
        message = f"the string that begins with {quote} here is never closed: add the closing {quote}"
        return Fault(rules.UNCLOSED_QUOTE, message, context)
    if problem.startswith("did not find expected") and (late := _closed_late(text, offset)):
        return late
    if problem.startswith("did not find expected ',' or"):
        return _bracket(text, problem[-2], context, offset)
    if problem == "did not find expected node content" and not text[offset:].strip():
        opened = _innermost_bracket(text)
        return _bracket(text, "]" if text[opened] == "[" else "}", opened, offset)
    if spaces := _other_spaces(text, context if problem == "could not find expected ':'" else offset, offset):
        return spaces
    if problem == "mapping values are not allowed in this context" and (swallowed := _swallowed(text, offset)):
        return swallowed
    return _other(error, text, problem, context, offset)


def _forbidden_character(text: str) -> Fault:
    """Return the fault for the first character that YAML does not allow."""
    match = _FORBIDDEN.search(text)
    if match is None:
        return Fault(rules.YAML_SYNTAX, "the document is not valid YAML: libyaml cannot read its characters", 0)
    code = ord(match.group())
    name = "a NUL character" if code == 0 else f"the control character U+{code:04X}"
    return Fault(rules.FORBIDDEN_CHARACTER, f"{name} cannot stand in YAML: remove it", match.start())


def _tab(text: str, offset: int, problem: str) -> int | None:
    """Return where a tab is to blame: the one at `place`, or one in the indentation of its line."""
    if text[offset : offset + 1] == "\t" or "tab character" in problem:
        return text.find("\t", max(offset - 1, 0))
    begin = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    indentation = _INDENTATION.match(text, begin)
    tab = text.find("\t", begin, indentation.end()) if indentation else -1
    return tab if tab >= 0 else None


def _closed_late(text: str, offset: int) -> Fault | None:
    """Return the fault for a quoted string that a quote on a later line closes, just before libyaml gives up."""
    if text[offset - 1 : offset] not in ("'", '"'):
        return None
    *_, last = None, *_events(text)
    if not isinstance(last, ScalarEvent) or last.style not in ("'", '"'):
        return None
    start, end = event_range(last)
    if end != offset or "\n" not in text[start:end]:
        return None
    message = f"the string that begins with {last.style} here is closed only on a later line: add the closing {last.style}"
    return Fault(rules.UNCLOSED_QUOTE, message, start, related=(("it is closed here", end - 1, end),))


def _events(text: str) -> Iterator[Event]:
    """Yield the events that come before libyaml gives up."""
    events = CParser(text).get_event
    with suppress(YAMLError):
        while (event := events()) is not None:
            yield event


def _other_spaces(text: str, begin: int, offset: int) -> Fault | None:
    """Return the fault for spaces that are none to YAML, from the line above a place to the line where libyaml gives up."""
    line = text.rfind("\n", 0, begin) + 1
    above = text.rfind("\n", 0, len(text[:line].rstrip())) + 1
    match = _OTHER_SPACES.search(text, above, end_of_line(text, offset))
    if match is None:
        return None
    spaces, code = match["spaces"], f"U+{ord(match['spaces'][0]):04X}"
    name = _NAMES_OF_SPACES.get(spaces[0], "special space")
    if len(spaces) > 1:
        message = f"these are {name}s ({code}), which YAML takes for letters: write ordinary spaces"
    else:
        article = "an" if name.startswith("i") else "a"
        message = f"this is {article} {name} ({code}), which YAML takes for a letter: write an ordinary space"
    return Fault(rules.YAML_SYNTAX, message, match.start("spaces"), match.end("spaces"))


def _bracket(text: str, closing: str, opened: int, offset: int) -> Fault:
    opening = text[opened : opened + 1]
    opening = opening if opening in ("[", "{") else "bracket"
    if not text[offset:].strip():
        message = f"the `{opening}` here is never closed: add the closing `{closing}`"
        return Fault(rules.UNCLOSED_BRACKET, message, opened)
    message = f"a `,` or `{closing}` is expected here, within the `{opening}` that was opened before: add it, or quote the value"
    return Fault(rules.UNCLOSED_BRACKET, message, offset, related=(("opened here", opened, opened + 1),))


def _innermost_bracket(text: str) -> int:
    """Return where the innermost bracket opens that is still open when libyaml gives up."""
    open_at = [0]
    for event in _events(text):
        if isinstance(event, CollectionStartEvent):
            open_at.append(event_range(event)[1] - 1)
        elif isinstance(event, CollectionEndEvent):
            open_at.pop()
    return open_at[-1]


def _swallowed(text: str, offset: int) -> Fault | None:
    """Return the fault for a key that continues the text of the line above, where the mistake is: `- name main`, `name:main`, `a: b`."""
    begin = text.rfind("\n", 0, offset) + 1
    above = text[:begin].rstrip()
    line = _TEXT.fullmatch(above, above.rfind("\n") + 1)
    key = text[begin:offset].strip()
    if not _KEY.fullmatch(key) or line is None or line["text"].endswith(":"):
        return None
    start, here = line.start("text"), offset - len(key)
    has = _KEY_AND_VALUE.fullmatch(above, start)
    if has is not None:
        message = (
            f"`{shorten(key)}` cannot be indented below `{shorten(has['key'])}`, which has the value `{shorten(has['value'])}`: "
            "correct the indentation of this line, or quote the whole value"
        )
        return Fault(rules.YAML_SYNTAX, message, here, offset, related=(("the value begins here", has.start("value"), len(above)),))
    return Fault(rules.YAML_SYNTAX, _no_key(line["text"]), start, len(above), related=(("this line continues it", here, offset),))


def _no_key(line: str) -> str:
    """Return the message for a line that is not `key: value`."""
    space = _KEY_WITHOUT_SPACE.match(line) is not None
    advice = "write a space after the `:`" if space else "add the `:`, or correct its indentation if it continues a text"
    return f"`{shorten(line)}` is not `key: value`: {advice}"


def _other(error: MarkedYAMLError, text: str, problem: str, context: int, offset: int) -> Fault:
    rule: Rule = rules.YAML_SYNTAX
    if problem == "found character that cannot start any token":
        letter = text[offset : offset + 1]
        if text.startswith("```", offset) and not text[text.rfind("\n", 0, offset) + 1 : offset].strip():
            return Fault(rule, "this is the fence of a code block in Markdown: take it out", offset, offset + 3)
        message = f"a value cannot begin with {'a backtick' if letter == '`' else f'`{letter}`'}: quote it"
    elif problem == "could not find expected ':'":
        end = max(end_of_line(text, context), context + 1)
        return Fault(rule, _no_key(text[context:end]), context, end)
    elif problem == "did not find expected key":
        message = "a key is expected here: correct the indentation of this line, or quote the whole value before it"
        return Fault(rule, message, offset, related=(("the mapping begins here", context, context + 1),))
    elif "directive" in f"{error.context} {problem}" or "incompatible" in problem:
        rule = rules.DIRECTIVE
        message = "a line that begins with `%` is a YAML directive, which kubectl cannot read: remove it, or quote the value"
    elif "tag" in f"{error.context}":
        message = "this is not a valid tag: tags are `!name` or `!!name` and end with a space; quote the value if it is a text"
    elif "block scalar" in f"{error.context}" and "comment or line break" in problem:
        message = "only a comment can follow `|` or `>` and its indicators on the same line: begin the text on the next line"
    elif problem == "did not find expected <document start>":
        message = "the document ends before this text: put `---` on a line between two documents, or correct the indentation"
    else:
        message = _MESSAGES.get(problem, f"the document is not valid YAML: {problem}")
    return Fault(rule, message, offset)
