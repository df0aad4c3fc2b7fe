"""Every recorded input reads as kubectl reads it: the same values, or a refusal by both."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fcompile.diagnostics.problem import Severity
from fcompile.load import Document, LoadError, read, values

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[Any]:
    found: list[Any] = json.loads((DATA / name).read_text())
    return found


def same(ours: Any, theirs: Any) -> bool:
    """Equal, and a truth value is no number, nor an integer a float, though Python takes them for equal."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


@pytest.mark.parametrize("case", cases("kubectl-yaml.json") + cases("documents.json"), ids=lambda case: ascii(case["yaml"])[:60])
def test_a_document_reads_as_by_the_library_of_kubectl(case: dict[str, Any]) -> None:
    text = case["yaml"].encode()
    if "error" in case or case.get("refused"):
        with pytest.raises(LoadError):
            values(text)
    else:
        found = values(text)
        assert same(found[0] if found else None, case["json"])


@pytest.mark.parametrize("case", cases("streams.json"), ids=lambda case: ascii(case.get("text", case.get("base64")))[:60])
def test_a_file_reads_as_by_kubectl(case: dict[str, Any]) -> None:
    data = case["text"].encode() if "text" in case else base64.b64decode(case["base64"])
    found: list[Any] = []
    refused = False
    for item in read(data, "x.yaml"):
        if isinstance(item, Document):
            found.append(item.value)
        elif item.rule.severity is Severity.ERROR:
            refused = True
            break
    assert refused == bool(case.get("refused"))
    if not refused:
        assert same(found, case["values"])


def test_the_recorded_cases_cover_every_class() -> None:
    classes = {case["class"] for case in cases("documents.json")}
    assert classes >= {"scalars", "escapes", "block scalars", "flow", "keys", "merge keys", "tags", "anchors", "directives", "white space"}
    assert len(cases("documents.json")) > 1000
    assert len(cases("streams.json")) > 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--- foo", ["foo"]),
        ("a: 1\n--- {b: 2}", [{"a": 1}, {"b": 2}]),
        ("%YAML 1.1\n---\na: yes", [{"a": True}]),
        ("a: |\n  b", [{"a": "b"}]),
        ("{a}", [{"a": None}]),
        ("# c\n---\na: 1", [{"a": 1}]),
        ("---\n# c\n---\na: 1", [None, {"a": 1}]),
        ("", []),
        ("# c\n", []),
        ("null", [None]),
        ("a: 1\n---\n# the end\n", [{"a": 1}]),
    ],
)
def test_values_are_those_of_the_library_alone(text: str, expected: list[Any]) -> None:
    assert values(text.encode()) == expected
