"""A long list of Frameworks is checked as they are one by one: with the same findings, and no more work for each."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from fcompile.check import document
from fcompile.check.context import FrameworkContext
from fcompile.check.document import Options, check_read, empty
from fcompile.diagnostics.problem import Finding, Problem
from fcompile.load import Document, read, values
from tests.test_cli import good

OPTIONS = Options(36, "default")
MANY = 300
BROKEN = [
    good().replace("busybox", "1:30"),
    good().replace("busybox", '"a\\x7fb"'),
    good().replace("busybox", "'{{FC_TASKROLE_NAME}}{{FC_NOTHING}}'"),
    good().replace("image", "imago"),
    "metadata: {name: '{{FC_FRAMEWORK_NAME}}'}\n" + good().replace("metadata: {name: train}\n", ""),
]


def as_list(texts: list[str]) -> str:
    items = [text.rstrip().replace("\n", "\n  ") for text in texts]
    return "apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {item}\n" for item in items)


def problems(text: str) -> list[Problem]:
    return check_read("x.yaml", list(read(text.encode(), "x.yaml")), OPTIONS).problems


@pytest.mark.parametrize("broken", BROKEN)
def test_the_same_is_found(broken: str) -> None:
    texts = [good(f"train{number}") for number in range(MANY)]
    text = as_list([*texts[1:], broken, texts[0]])
    assert len(text) > document._LARGE
    found, alone = problems(text), problems(broken)
    assert alone
    assert [(one.rule, one.message, one.source_line.lstrip("- ")) for one in found] == [
        (one.rule, one.message, one.source_line.lstrip("- ")) for one in alone
    ]
    assert {one.field.partition(".")[0] for one in found} == {f"items[{MANY - 1}]"}


def test_what_an_alias_brings_in_is_found() -> None:
    first, second = good("first").replace("busybox", '&image "{{FC_NOTHING}}"'), good("second").replace("busybox", "*image")
    found = problems(as_list([first, *(good(f"train{number}") for number in range(MANY)), second]))
    assert [one.field.partition(".")[0] for one in found] == ["items[0]", f"items[{MANY + 1}]"]


def as_json(texts: list[str]) -> str:
    return json.dumps({"kind": "List", "items": [value for text in texts for value in values(text.encode())]})


@pytest.mark.parametrize("write", [as_list, as_json])
def test_each_is_checked_by_its_own_text(write: Callable[[list[str]], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the work grows with the square of their number."""
    given: list[str] = []

    def checked(context: FrameworkContext, source_text: str, digest: bool) -> list[Finding]:
        given.append(source_text)
        return []

    monkeypatch.setattr(document, "check_framework", checked)
    text = write([good(f"train{number}") for number in range(MANY)])
    (one,) = read(text.encode(), "x.yaml")
    assert isinstance(one, Document)
    document.check_document(one, OPTIONS, empty("x.yaml"))
    assert len(given) == MANY
    assert max(map(len, given)) <= max(len(good("train000")) + 60, len(text) // MANY)
    assert all(f"train{number}" in own and "busybox" in own for number, own in enumerate(given))
