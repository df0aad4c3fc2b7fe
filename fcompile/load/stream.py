"""A file → its documents, divided and read as kubectl does it.

kubectl takes a file whose first character is `{` for JSON, one value after the other; if that fails at the first or second value it
reads the rest as YAML. A YAML file is divided at each line that begins with `---`, whatever stands around it, and of each part only
the first document is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from fcompile.diagnostics.problem import Problem, Severity
from fcompile.model.formats import SPACE

from . import rules
from .decoding import Decoded, decode
from .document import NOTHING, Document
from .faults import DuplicateKey, Fault, too_large
from .source import LoadError, end_of_line, file_too_large, load_problem
from .yaml_lines import UNUSUAL, read_lines
from .yaml_text import YamlText, library_text, yaml_text

_LOOK_AHEAD: Final = 4096
"""So far kubectl looks for the `{`."""
_FIRST_KEYS: Final = 5
"""Of so many duplicate keys it is shown where the first one is."""
_SEPARATOR: Final = re.compile(r"^---([^\n]*)\n?", re.MULTILINE)
_SEPARATOR_HERE: Final = re.compile(r"---([^\n]*)\n?")


def read(data: bytes, name: str, *, with_duplicates: bool = False) -> Iterator[Document | Problem]:
    """Yield every document of a file, and a problem for each that cannot be read, in the order of the file.

    Empty documents and `null` are left out, as by kubectl. A problem of severity WARNING follows its document.

    :param with_duplicates: yield a document with duplicate keys too, after its errors, so that its other problems can be reported.
    """
    if len(data) > rules.MAX_FILE_BYTES:
        yield file_too_large(name)
        return
    decoded = decode(data, name)
    for item in _bounded(_items(decoded, with_duplicates=with_duplicates)):
        if isinstance(item, Fault):
            yield load_problem(decoded.source, item)
        elif item.value is not None:
            yield item


def values(data: bytes) -> list[Any]:
    """Return the plain values of a file, as sigs.k8s.io/yaml reads its documents. Raises LoadError at the first problem.

    This is the reading of the YAML library alone, so two things that only kubectl's way of dividing a file refuses are accepted here:
    text after `---` and directives. And the last line gets no line end if it has none. A document that says `null`, or nothing
    between two `---`, gives None; a file without any document gives an empty list.
    """
    decoded = decode(data, "-")
    found = []
    for item in _bounded(_items(decoded, library=True)):
        if isinstance(item, Document):
            found.append(item.value)
        elif item.rule.severity is Severity.ERROR:
            raise LoadError(load_problem(decoded.source, item))
    return found


def _items(decoded: Decoded, library: bool = False, with_duplicates: bool = False) -> Iterator[Document | Fault]:
    """Yield documents and faults, with offsets in the text of the file. A document may be None here."""
    if decoded.fault is not None:
        yield decoded.fault
    elif not decoded.marked and decoded.source.text[:_LOOK_AHEAD].lstrip(SPACE).startswith("{"):
        yield from _json_items(decoded, library, with_duplicates)
    else:
        yield from _yaml_items(decoded, 0, library, with_duplicates)


def _bounded(items: Iterator[Document | Fault]) -> Iterator[Document | Fault]:
    """Yield the items, but no more than the limit; then a fault says that there are too many."""
    count = faults = 0
    for item in items:
        start = item.start
        if isinstance(item, Fault):
            faults += 1
            if faults > rules.MAX_UNREADABLE:
                message = f"the file cannot be read at more than {rules.MAX_UNREADABLE:,} places: what follows is not looked at"
                yield Fault(rules.TOO_MANY_PROBLEMS, message, start)
                return
        else:
            count += 1
            if count > rules.MAX_DOCUMENTS:
                message = f"more than {rules.MAX_DOCUMENTS:,} documents stand before this one: split the file"
                yield Fault(rules.TOO_MANY_DOCUMENTS, message, start)
                return
        yield item


def _json_items(decoded: Decoded, library: bool, with_duplicates: bool) -> Iterator[Document | Fault]:
    from . import json_values  # imports the json module, and most files are YAML

    text, end, count = decoded.source.text, 0, 0
    while (offset := json_values.skip_white(text, end)) < len(text):
        try:
            value, after = json_values.read(text, offset)
        except json_values.JsonSyntax as fault:
            yield from _after_json(decoded, end, count, fault, library)
            return
        except Fault as fault:
            yield fault
            after = json_values.end_of(text, offset)
            if isinstance(fault, DuplicateKey) and with_duplicates:
                yield from _json_in_spite_of_duplicates(decoded, offset, after)
        else:
            yield decoded.bad_byte(offset, after) or Document(value, decoded.source, offset, after, json=True)
        end, count = after, count + 1


def _json_in_spite_of_duplicates(decoded: Decoded, start: int, after: int) -> Iterator[Document | Fault]:
    """Yield the duplicate keys of a JSON value, except for the first, which was reported already, and then the value itself."""
    from . import json_values

    try:
        value, repeated = json_values.in_spite_of_duplicates(decoded.source.text, start)
    except Fault as fault:
        yield fault
        return
    yield from repeated[1:]
    yield Document(value, decoded.source, start, after, json=True)


def _after_json(decoded: Decoded, end: int, count: int, fault: Fault, library: bool) -> Iterator[Document | Fault]:
    """Yield what follows when the text after `end` is no JSON: YAML if there was at most one value before it."""
    text = decoded.source.text
    start = _yaml_start(text, end, library) if count <= 1 else None
    if start is not None:
        yield from _with_json_fault(_yaml_items(decoded, start, library), fault, text)
        return
    offset = end + len(text[end:]) - len(text[end:].lstrip(" \t\r\n"))
    if text.startswith("---", offset):
        message = "a file that begins with `{` is JSON throughout, without `---`: remove this line, or begin the file with `---`"
        fault = Fault(rules.JSON_SYNTAX, message, offset, offset + 3)
    yield fault
    separator = _SEPARATOR.search(text, offset)
    if separator:
        yield from _yaml_items(decoded, separator.start(), library)


def _yaml_start(text: str, offset: int, library: bool) -> int | None:
    """Return where kubectl begins to read YAML after JSON: behind white space up to the end of its line.

    Return None where kubectl gives up, since fewer than the four bytes are left at which it always looks.
    """
    while True:
        if len(text[offset : offset + 4].encode()) < 4 and not library:
            return None
        letter = text[offset : offset + 1]
        if not letter or letter not in SPACE:
            return offset
        offset += 1
        if letter == "\n":
            return offset


def _with_json_fault(items: Iterator[Document | Fault], fault: Fault, text: str) -> Iterator[Document | Fault]:
    """Yield the items. For a text that was surely meant as JSON, the fault of JSON takes the place of YAML's."""
    for count, item in enumerate(items):
        refused = count == 0 and isinstance(item, Fault) and item.rule.severity is Severity.ERROR
        yield fault if refused and re.match(r'\s*\{\s*"', text) else item


class _Chunk(NamedTuple):
    """What kubectl takes for one document."""

    start: int
    end: int
    between: bool
    """It stands between two separators."""
    fault: Fault | None
    """Why kubectl refuses the file here though the document itself may be well."""


def _yaml_items(decoded: Decoded, start: int, library: bool, with_duplicates: bool = False) -> Iterator[Document | Fault]:
    for chunk in _chunks(decoded.source.text, start, decoded.marked, library):
        if chunk.fault is not None and not library:
            yield chunk.fault
        text = decoded.source.text[chunk.start : chunk.end]
        fed = library_text(text) if library else yaml_text(text)
        try:
            value, ignored = _read_chunk(decoded, chunk, fed)
        except Fault as fault:
            yield _moved(fault, chunk.start, fed)
            if isinstance(fault, DuplicateKey) and with_duplicates:
                yield from _in_spite_of_duplicates(decoded, chunk, fed)
            continue
        if value is not NOTHING:
            yield Document(value, decoded.source, chunk.start, chunk.end)
        elif chunk.between:
            yield Document(None, decoded.source, chunk.start, chunk.end)
        if ignored is not None:
            yield _moved(_ignored(fed.text, ignored), chunk.start, fed)


def _chunks(text: str, start: int, marked: bool, library: bool) -> Iterator[_Chunk]:
    begin, separated = start, False
    fault: Fault | None = None
    for separator in _separators(text, start):
        if library and separator.group(1).strip() and not separator.group(1)[0].isspace():
            continue
        if separator.start() > begin:
            if _only_directives(text, begin, separator.start()):
                fault = fault or _directive(text, begin)
                continue
            yield _Chunk(begin, separator.start(), separated, fault)
            begin, separated, fault = separator.end(), True, None
        rest = separator.group(1).strip()
        if rest and not rest.startswith("#") and not (marked and separator.start() == 0):
            begin = separator.start()
            offset = separator.start(1) + separator.group(1).index(rest)
            shown = rest if len(rest) <= 40 else f"{rest[:37]}..."
            message = f"kubectl allows only a comment after `---`: put `{shown}` on the next line"
            fault = Fault(rules.SEPARATOR, message, offset, offset + len(rest))
    if begin < len(text):
        yield _Chunk(begin, len(text), False, fault)


def _separators(text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield the lines that begin with `---`. The first may begin at `start`, even in the middle of a line of the file."""
    if text.find("---", start) < 0:
        return  # Seen a hundred times as fast as by the expression.
    first = _SEPARATOR_HERE.match(text, start) if start else None
    if first is not None:
        yield first
    yield from _SEPARATOR.finditer(text, first.end() if first is not None else start)


def _only_directives(text: str, start: int, end: int) -> bool:
    """Return whether a region holds `%` lines and nothing else but comments."""
    if text.find("%", start, end) < 0:
        return False
    found = False
    for line in text[start:end].split("\n"):
        if line.startswith("%"):
            found = True
        elif line.strip() and not line.lstrip().startswith("#"):
            return False
    return found


def _directive(text: str, begin: int) -> Fault:
    # The first line of the region need not begin a line of the file: it can follow JSON.
    start = begin if text.startswith("%", begin) else text.index("\n%", begin) + 1
    message = "kubectl cannot read YAML directives, because it cuts the file at the `---` after them: remove this line"
    return Fault(rules.DIRECTIVE, message, start, end_of_line(text, start))


def _read_chunk(decoded: Decoded, chunk: _Chunk, fed: YamlText) -> tuple[Any, int | None]:
    """Return what `yaml_values.read` does."""
    size = chunk.end - chunk.start
    if size * 4 > rules.MAX_BYTES and len(fed.text.encode()) > rules.MAX_BYTES + 1:
        raise too_large(0, end_of_line(fed.text, 0))
    bad = decoded.bad_byte(chunk.start, chunk.end)
    if bad is not None:
        raise Fault(bad.rule, bad.message, bad.start - chunk.start - fed.skipped)
    value = read_lines(fed.text)
    if value is not UNUSUAL:
        return value, None
    from . import yaml_values  # imports PyYAML, which takes longer than reading most files

    try:
        return yaml_values.read(fed.text)
    except DuplicateKey as fault:
        from .yaml_places import with_first_key

        raise with_first_key(fault, fed.text) from None


def _in_spite_of_duplicates(decoded: Decoded, chunk: _Chunk, fed: YamlText) -> Iterator[Document | Fault]:
    """Yield the duplicate keys of a document, except for the first, which was reported already, and then the document itself."""
    from . import yaml_values
    from .yaml_places import at_margin, begins_object, with_first_key

    repeated: list[DuplicateKey] = []
    last: Document | Fault
    try:
        value, _ = yaml_values.read(fed.text, repeated)
        last = Document(value, decoded.source, chunk.start, chunk.end)
    except Fault as fault:
        last = _moved(fault, chunk.start, fed)
    begun = next((number for number, one in enumerate(repeated) if begins_object(one, fed.text)), len(repeated))
    # Where a `---` is missing, each key of the object that begins there is a duplicate.
    told = [one for number, one in enumerate(repeated[1:], 1) if number <= begun or not at_margin(one, fed.text)]
    for number, one in enumerate(told):
        # Finding the first key takes reading everything once more.
        yield _moved(with_first_key(one, fed.text) if number < _FIRST_KEYS else one, chunk.start, fed)
    yield last


def _ignored(text: str, start: int) -> Fault:
    match = re.compile(r"\s*").match(text, start)
    start = match.end() if match else start
    message = "kubectl reads nothing after the end of a document up to the next `---`: put `---` on the line before this, or remove it"
    return Fault(rules.IGNORED_TEXT, message, start, end_of_line(text, start))


def _moved(fault: Fault, start: int, fed: YamlText) -> Fault:
    """Return a fault of a document with offsets in the text of the file."""
    related = tuple((message, start + fed.start(first), start + fed.end(last)) for message, first, last in fault.related)
    return Fault(fault.rule, fault.message, start + fed.start(fault.start), start + fed.end(fault.end), related)
