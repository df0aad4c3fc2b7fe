"""Where keys and values stand."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.diagnostics.problem import Part, Path, Problem
from fcompile.load import Document, read
from tests.reading import documents

TEXT = """\
apiVersion: v1  # comment
metadata:
  name: 'a'
  labels: &l
    x: no
spec:
  roles:
  - name: w
    count: 0x10
    command: ["a", "b",
       c]
    script: |
      foo
      bar

    empty:
  - name: z
    labels: *l
    &k key: !!str 1
  -
  - "two
    lines"
"""


def only(text: str) -> Document:
    (document,) = documents(text.encode(), "x.yaml")
    return document


def shown(document: Document, path: Path, part: Part = "value") -> str:
    span = document.locate(path, part)
    lines = document.source.text.split("\n")
    assert document.source.text[: span.start].count("\n") + 1 == span.line
    assert lines[span.line - 1][: span.column - 1] == document.source.text[: span.start].rpartition("\n")[2]
    return document.source.text[span.start : span.end]


@pytest.mark.parametrize(
    ("path", "part", "expected"),
    [
        (("apiVersion",), "value", "v1"),
        (("apiVersion",), "key", "apiVersion"),
        (("metadata",), "key", "metadata"),
        (("metadata",), "value", "name: 'a'"),
        (("metadata", "name"), "value", "'a'"),
        (("metadata", "labels", "x"), "value", "no"),
        (("spec", "roles"), "value", "- name: w"),
        (("spec", "roles", 0), "value", "name: w"),
        (("spec", "roles", 0), "key", "name: w"),
        (("spec", "roles", 0, "count"), "value", "0x10"),
        (("spec", "roles", 0, "command"), "value", '["a", "b",\n       c]'),
        (("spec", "roles", 0, "command", 2), "value", "c"),
        (("spec", "roles", 0, "script"), "value", "|\n      foo\n      bar"),
        (("spec", "roles", 0, "empty"), "value", "empty"),
        (("spec", "roles", 1, "labels"), "value", "*l"),
        (("spec", "roles", 1, "labels", "x"), "value", "no"),
        (("spec", "roles", 1, "key"), "key", "&k key"),
        (("spec", "roles", 1, "key"), "value", "!!str 1"),
        (("spec", "roles", 2), "value", "-"),
        (("spec", "roles", 3), "value", '"two\n    lines"'),
        # what does not exist
        (("metadata", "namespace"), "value", "metadata"),
        (("metadata", "namespace"), "key", "metadata"),
        (("spec", "roles", 0, "task", "pod"), "value", "name: w"),
        (("spec", "roles", 9), "value", "roles"),
        (("spec", "roles", 0, "command", 7), "value", "command"),
        (("status",), "value", "apiVersion: v1"),
        (("apiVersion", "x"), "value", "apiVersion"),
        ((), "value", "apiVersion: v1"),
    ],
)
def test_a_field_is_shown_where_a_person_would_look(path: Path, part: Part, expected: str) -> None:
    assert shown(only(TEXT), path, part) == expected


@pytest.mark.parametrize(
    ("path", "part", "expected"),
    [
        (("metadata", "labels", "x"), "value", "no"),
        (("spec", "roles", 0, "count"), "value", "0x10"),
        (("spec", "roles", 0, "count"), "key", "count"),
        (("spec", "roles", 0, "command", 2), "value", "c"),
        (("spec", "roles", 0, "command", 1), "value", None),
        (("metadata", "name"), "value", None),
        (("spec", "roles", 0, "empty"), "value", None),
        (("spec", "roles", 1, "key"), "key", None),
        (("spec", "roles", 1, "key"), "value", None),
        (("spec", "roles", 1, "labels"), "value", None),
        (("spec", "roles", 0, "script"), "value", None),
        (("spec", "roles", 0, "nope"), "value", None),
        (("spec",), "value", None),
    ],
)
def test_only_a_plain_scalar_has_plain_text(path: Path, part: Part, expected: str | None) -> None:
    assert only(TEXT).plain(path, part) == expected


def test_the_second_document_is_placed_in_the_file() -> None:
    _, second = documents("\ufeffé: 1\n--- # c\nb:\n  c: ü d\n".encode(), "x.yaml")
    assert (second.locate(()).line, second.text) == (3, "b:\n  c: ü d\n")
    span = second.locate(("b", "c"))
    assert (span.line, span.column, span.end_line, span.end_column) == (4, 6, 4, 9)
    assert second.source.text[span.start : span.end] == "ü d"
    assert second.source_line(span.line) == "  c: ü d"
    assert second.source.name == "x.yaml"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n", "\r"])
def test_places_hold_for_every_line_end(end: str) -> None:
    text = end.join(["a: 1", "b:", "  - 'x", "    y'", "  - c: |", "      1", "      2", "d: e", ""])
    document = only(text)
    assert document.value == {"a": 1, "b": ["x y", {"c": "1\n2\n"}], "d": "e"}
    for path, expected in {("a",): "1", ("b", 1): "c: |", ("d",): "e"}.items():
        span = document.locate(path)
        assert text[span.start : span.end] == expected


def test_lines_end_as_editors_end_them() -> None:
    document = only("a: 1\r\n\r\nb: 2\nc: 'x\u2028y'\nd: 4\n")
    assert [document.locate((key,)).line for key in "abcd"] == [1, 3, 4, 5]
    assert [document.source_line(line) for line in (1, 2, 3, 5, 6, 7, 0)] == ["a: 1", "", "b: 2", "d: 4", "", "", ""]


@pytest.mark.parametrize(
    ("path", "part", "expected"),
    [
        (("a",), "key", '"a"'),
        (("a", "b", 1), "value", '"x\\u00e9y"'),
        (("a", "b"), "value", '[1, "x\\u00e9y"]'),
        (("é",), "value", "null"),
        (("a", "z"), "value", '"a"'),
    ],
)
def test_places_in_json(path: Path, part: Part, expected: str) -> None:
    text = '\n{"x": 1}\n{ "a": {\n\t"b": [1, "x\\u00e9y"]},\n "\\u00e9": null}\n'
    _, second = documents(text.encode(), "x.json")
    assert shown(second, path, part) == expected
    assert second.plain(path, part) is None
    assert second.text.startswith('{ "a"')


def test_merged_fields_are_shown_where_they_were_written() -> None:
    document = only("x: &x {a: 1, b: 2}\nz:\n  <<: [*x, {c: 3}]\n  d: 4\n")
    assert document.value["z"] == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert [document.locate(("z", key)).line for key in "abcd"] == [1, 1, 3, 4]


def test_hidden_characters_do_not_move_anything() -> None:
    document = only('a: [b:, "it\\\'s", c]\nd: !x,y e\n')
    assert document.value == {"a": ["b:", "it's", "c"], "d": "e"}
    assert shown(document, ("a", 0)) == "b:"
    assert shown(document, ("a", 1)) == '"it\\\'s"'
    assert shown(document, ("d",)) == "!x,y e"


def test_values_are_not_shared_between_aliases() -> None:
    value: Any = only("a: &a {b: [1]}\nc: *a\nd: {<<: *a}\n").value
    value["a"]["b"].append(2)
    assert value["c"] == {"b": [1]}


def test_a_byte_order_mark_moves_nothing() -> None:
    text = "a: 1\n---\n\ufeffb: {c: -d:, e: [f}\n---\n\ufeffg: h\n---\n\ufeff{i: [j:, {k: {-l:{m: n},} } }\n"
    first, wrong, third, broken = read(text.encode(), "x.yaml")
    assert isinstance(first, Document)
    assert isinstance(third, Document)
    assert isinstance(wrong, Problem)
    assert isinstance(broken, Problem)
    assert (third.value, shown(third, ("g",), "key"), shown(third, ("g",))) == ({"g": "h"}, "g", "h")
    assert (wrong.span.line, wrong.source_line[wrong.span.column - 1]) == (3, "}")
    assert broken.span.line == 7


@pytest.mark.parametrize(
    ("path", "extent"),
    [
        (("spec", "roles", 0), "name: w … empty:"),
        (("spec", "roles", 0, "script"), "| … bar"),
        (("spec", "roles", 1), "name: z … 1"),
        (("spec", "roles", 3), '"two … lines"'),
        (("metadata", "labels"), "&l … no"),
        (("apiVersion",), "v1 … v1"),
    ],
)
def test_all_lines_of_a_value(path: Path, extent: str) -> None:
    """Not the comments after it, nor the empty lines."""
    document = only(TEXT.replace("\n  - name: z", "\n    # of the next one\n\n  - name: z"))
    start, end = document.extent(path)
    first, last = extent.split(" … ")
    assert document.source.text[start:].startswith(first)
    assert document.source.text[:end].endswith(last)
    assert "next one" not in document.source.text[start:end]
