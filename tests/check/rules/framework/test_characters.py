"""Characters that JSON carries and YAML does not."""

from __future__ import annotations

import json

import pytest

from fcompile.check.document import Options, check_document, empty
from fcompile.load import Document, read
from tests.check.frameworks import framework, role


def codes(text: str) -> list[str]:
    checked = empty("-")
    for document in read(text.encode(), "-"):
        assert isinstance(document, Document)
        check_document(document, Options(36, "default"), checked)
    return [f"{problem.rule.code} {problem.field}" for problem in checked.problems if problem.rule.code == "FC116"]


@pytest.mark.parametrize("character", ["\x7f", "\x80", "\x85", "\x9f", "\ufffe", "\uffff"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_found_raw_and_escaped(character: str, ascii_only: bool) -> None:
    value = framework(role(metadata={"annotations": {"a": f"b{character}", "c": "d"}}), description=character * 3)
    assert codes(json.dumps(value, ensure_ascii=ascii_only)) == [
        "FC116 spec.description",
        "FC116 spec.taskRoles[0].task.pod.metadata.annotations.a",
    ]


@pytest.mark.parametrize("escape", [r"\x85", r"\N", r"\u0085", r"\U00000085", r"\uFFFE", r"\ufFfF"])
def test_found_however_yaml_escapes_it(escape: str) -> None:
    text = json.dumps(framework(role(), description="HERE")).replace('"HERE"', f'"{escape}"')
    assert codes("# YAML\n" + text) == ["FC116 spec.description"]


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\t", "\n", "\xa0", "\ufeff", "\ufffd", "\u2028", "\ue000", "\U0001fffe", "\\x7f"])
def test_others_are_fine(character: str) -> None:
    """As they are: a real API server takes these and gives them back."""
    assert codes(json.dumps(framework(role(), description=f"a{character}b"))) == []


def test_in_a_key() -> None:
    value = framework(role(spec={"nodeSelector": {"a\x7f": "b"}}))
    assert len(codes(json.dumps(value))) == 1


def test_not_in_what_a_server_has_noted_down() -> None:
    value = framework(role()) | {"status": {"message": "\x7f"}}
    assert codes(json.dumps(value)) == []
