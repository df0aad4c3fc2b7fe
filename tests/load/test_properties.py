"""What holds for every input."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.diagnostics.problem import Path, Problem
from fcompile.load import Document, LoadError, read, values
from fcompile.load.files import may_hold_framework, may_hold_neighbour
from fcompile.load.scalars import as_key, as_value, resolve
from tests.reading import documents

PIECES = st.sampled_from(
    [
        "a",
        "b",
        "key",
        "1",
        "0x1f",
        "1.5",
        "yes",
        "~",
        "'q'",
        '"d"',
        '"\\x41"',
        '"\\/"',
        ":",
        ",",
        "[",
        "]",
        "{",
        "}",
        "-",
        "?",
        "&",
        "*",
        "!",
        "|",
        ">",
        "'",
        '"',
        "#",
        "%",
        "@",
        "`",
        "<<",
        "&x",
        "*x",
        "!!int",
        "!!binary",
        "!t",
        "!",
        "---",
        "...",
        "\\",
        "{{FC_X}}",
        "1:30",
        "2001-01-01",
        '{"a":1}',
        '{"a":[1,2]}',
        "null",
        " ",
        "  ",
        "\n",
        "\n  ",
        "\n- ",
        ": ",
        "- ",
        "? ",
        "\t",
        "\r\n",
        "\r",
        "\x85",
        "\u2028",
        "\ufeff",
        "\x00",
        "\x07",
        "é",
        "😀",
        "\n---\n",
        "\r\r\n",
    ]
)
SOUP = st.lists(PIECES, max_size=25).map("".join)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KEYS = st.text("abcdefgh_-./0", min_size=1, max_size=8).filter(
    lambda key: isinstance(resolve(key), str) and key[0] not in "-." and key != "---"
)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20)


@given(st.binary(max_size=60) | SOUP.map(str.encode) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_reading_never_fails_otherwise_than_by_its_own_errors(data: bytes) -> None:
    for item in read(data, "x.yaml"):
        if isinstance(item, Problem):
            assert 0 <= item.span.start <= item.span.end
            assert item.span.line >= 1
            assert item.span.column >= 1
            assert item.message
            assert "\n" not in item.source_line
            str(item).encode()
        else:
            check_document(item)
    try:
        values(data)
    except LoadError as error:
        str(error).encode()


def check_document(document: Document) -> None:
    """Every field can be shown, and nothing is left of what only the reader knows."""
    text = document.source.text
    for path, value in fields(document.value):
        span = document.locate(path)
        assert document.start <= span.start <= span.end <= document.end
        plain = document.plain(path)
        if plain is not None:
            assert text[span.start : span.end] == plain
        assert not isinstance(value, str) or not re.search("[\ud800-\udfff]", value)
        if path and isinstance(path[-1], str):
            document.locate(path, "key")
    for path, part, scalar in document.ambiguous():
        assert document.plain(path, part) == scalar


def fields(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    found = [(path, value)]
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        for key, item in value.items():
            found += fields(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += fields(item, (*path, index))
    else:
        assert value is None or type(value) in (str, int, float, bool)
    return found


def expected(value: Any) -> Any:
    """A value as it comes back: a whole float as the integer that it is printed as."""
    if isinstance(value, dict):
        return {key: expected(item) for key, item in value.items()}
    if isinstance(value, list):
        return [expected(item) for item in value]
    return as_value(value) if isinstance(value, float) else value


def quoted(text: str) -> str:
    return '"' + "".join(letter if letter.isalnum() and letter.isascii() else f"\\U{ord(letter):08X}" for letter in text) + '"'


def scalar_text(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else json.dumps(value)


class Writer:
    """Writes a value as YAML, in block or flow style as drawn, and notes where it put everything."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.text = ""
        self.places: dict[tuple[Path, str], str] = {}

    def block(self, value: Any, path: Path, indent: int) -> None:
        if not isinstance(value, dict | list) or not value or self.draw(st.booleans()):
            self.text += " "
            self.flow(value, path)
            self.text += self.draw(st.sampled_from(["\n", "\r\n", " # c\n", "\n\n"]))
            return
        self.text += "\n"
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            self.text += " " * indent
            if isinstance(step, str):
                self.note((*path, step), "key", step)
                self.text += ":"
            else:
                self.text += "-"
            self.block(item, (*path, step), indent + 2)

    def flow(self, value: Any, path: Path) -> None:
        if isinstance(value, dict):
            self.text += "{"
            for key, item in value.items():
                self.note((*path, key), "key", key)
                self.text += ": "
                self.flow(item, (*path, key))
                self.text += self.draw(st.sampled_from([", ", ",\n   "]))
            self.text += "}"
        elif isinstance(value, list):
            self.text += "["
            for index, item in enumerate(value):
                self.flow(item, (*path, index))
                self.text += " , "
            self.text += "]"
        else:
            self.note(path, "value", scalar_text(value))

    def note(self, path: Path, part: str, text: str) -> None:
        self.places[path, part] = f"{len(self.text)}:{text}"
        self.text += text


@given(st.data())
def test_what_is_written_is_read_and_found_at_its_place(data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
    writer = Writer(data.draw)
    writer.block(value, (), 0)
    head = data.draw(st.sampled_from(["", "---\n", "# é\n---\n", "x: 1\n---\n"]))
    document = list(documents((head + writer.text).encode(), "x.yaml"))[-1]
    assert document.value == expected(value)
    for (path, part), place in writer.places.items():
        span = document.locate(path, "key" if part == "key" else "value")
        assert f"{span.start - len(head)}:{document.source.text[span.start : span.end]}" == place


@given(VALUES)
def test_json_comes_back_as_it_was(value: Any) -> None:
    text = json.dumps({"a": value})
    assert values(text.encode()) == [expected({"a": value})]
    document = next(documents(text.encode(), "x.json"))
    assert document.json
    for path, item in fields(value, ("a",)):
        span = document.locate(path)
        assert expected(json.loads(text[span.start : span.end])) == expected(item)


@given(st.text("0123456789+-._eExXobBaAfFyYnN~:inIN", max_size=24))
def test_every_plain_scalar_has_a_meaning(text: str) -> None:
    scalar = resolve(text)
    key = as_key(scalar)
    assert key is None or isinstance(key, str)
    value = as_value(scalar)
    if isinstance(value, float) and not isinstance(scalar, str):
        assert not value.is_integer() or abs(value) >= 1e21 or value != value


SPELLINGS = st.sampled_from(
    [
        "frameworkcontroller.microsoft.com/v1",
        '"frameworkcontroller.microsoft.com/v1"',
        '"\\x66rameworkcontroller.microsoft.com/v1"',
        '"\\u0066rameworkcontroller.microsoft.com/v1"',
        '"\\U00000066rameworkcontroller.microsoft.com/v1"',
        '"framework\\\n   controller.microsoft.com/v1"',
        '"framework\\\r\n   controller.microsoft.com/v1"',
        '"framework\\\u2028   controller.microsoft.com/v1"',
        "!!binary ZnJhbWV3b3JrY29udHJvbGxlci5taWNyb3NvZnQuY29tL3Yx",
        "!<tag:yaml.org,2002:binary> ZnJhbWV3b3JrY29udHJvbGxlci5taWNyb3NvZnQuY29tL3Yx",
        "!!b%69nary ZnJhbWV3b3JrY29udHJvbGxlci5taWNyb3NvZnQuY29tL3Yx",
        "batch/v1",
        "framework\n  controller.microsoft.com/v1",
        '"FC\\x5fFRAMEWORK_NAME"',
        "FC_FRAMEWORK_NAME",
    ]
)


@given(SPELLINGS, st.sampled_from(["apiVersion: {}\n", "a: [b, {{c: {}}}]\n", "- {}\n", "%TAG !e! tag:yaml.org,2002:\n---\na: {}\n"]))
def test_no_spelling_hides_a_framework(spelling: str, form: str) -> None:
    data = form.format(spelling).encode()
    read_out = json.dumps(values(data))
    if "frameworkcontroller.microsoft.com" in read_out or "FC_" in read_out:
        assert may_hold_framework(data)


@given(
    st.lists(
        st.sampled_from(["FC", "_", "\\x5f", "\\u005F", "\\\n ", "F", "C", '"', "'", "a: ", "\n", " ", "!!binary ", "RkNf", "- "]),
        max_size=12,
    ).map("".join)
)
def test_nothing_that_is_read_was_hidden(text: str) -> None:
    try:
        read_out = json.dumps(values(text.encode()))
    except LoadError:
        return
    assert "FC_" not in read_out or may_hold_framework(text.encode())


@pytest.mark.parametrize(
    "written",
    ["kind: Service", "kind: 'Service' # ours", '{"kind":"Service"}', "{kind: Service,a: b}", "kind: &k Service\r\n", "kind:\n  Service\n"],
)
def test_no_spelling_hides_a_service(written: str) -> None:
    (value,) = values(written.encode())
    assert value["kind"] == "Service"
    assert may_hold_neighbour(written.encode())
    assert may_hold_neighbour(written.encode("utf-16"))


def test_what_is_surely_not_ours_is_not_read() -> None:
    assert not may_hold_neighbour(b"kind: ServiceAccount\nabout: the Service of this\n")
    assert not may_hold_framework(b"apiVersion: v1\nkind: ConfigMap\ndata:\n  a: 'x\\y'\n")
    assert may_hold_framework("apiVersion: frameworkcontroller.microsoft.com/v1".encode("utf-16"))
    assert not may_hold_framework("apiVersion: v1".encode("utf-16"))
