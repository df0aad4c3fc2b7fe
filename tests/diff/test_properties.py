"""What holds for any two Frameworks."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings

from fcompile.default import default
from fcompile.diagnostics.writer import Style
from fcompile.diff import html, json, markdown
from fcompile.diff.frameworks import FrameworkDiff, compare
from fcompile.diff.result import Result
from fcompile.diff.text import Painter
from tests.diff.frameworks import side
from tests.strategies import frameworks

FEW = settings(max_examples=max(settings().max_examples // 5, 1))


def diff(before: Any, after: Any) -> FrameworkDiff | None:
    """What differs when both have one name."""
    named = ({**value, "metadata": {**value["metadata"], "name": "train", "namespace": "ml"}} for value in (before, after))
    return compare(*(side(copy.deepcopy(value)) for value in named))


@FEW
@given(frameworks())
def test_nothing_differs_from_itself(value: Any) -> None:
    assert diff(value, value) is None
    assert diff(value, default(value).framework) is None


@FEW
@given(frameworks(), frameworks())
def test_back_is_the_same_fields_the_other_way_round(one: Any, other: Any) -> None:
    there, back = diff(one, other), diff(other, one)
    if there is None or back is None:
        assert there is back is None
        return
    assert {(change.role, change.part, change.field) for change in there.changes} == {
        (change.role, change.part, change.field) for change in back.changes
    }
    assert there.resources == {name: amounts[::-1] for name, amounts in back.resources.items()}


@FEW
@given(frameworks(), frameworks())
def test_every_format_can_show_it(one: Any, other: Any) -> None:
    found = diff(one, other)
    whole = Result((found,) if found else ())
    for text in (Painter(Style(width=80)).write(whole), markdown.write(whole), json.write(whole), html.write(whole)):
        "".join(text).encode()
