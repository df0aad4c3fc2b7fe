"""The annotation that pauses a Framework, with a value that does not."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.framework import check_framework
from fcompile.model.names import PAUSE_ANNOTATION
from tests.check.frameworks import context_of, framework, role


def findings(annotations: Any) -> list[tuple[str, str]]:
    """The messages of FC415, each with what its fix writes."""
    value = framework(role())
    value = {**value, "metadata": {**value["metadata"], "annotations": annotations}}
    found = [finding for finding in check_framework(context_of(value), repr(value)) if finding.rule.code == "FC415"]
    return [(finding.message, finding.fix.text if finding.fix else "") for finding in found]


@pytest.mark.parametrize("word", ["True", "yes", "ON", "1", " true"])
def test_another_word_for_true(word: str) -> None:
    assert findings({PAUSE_ANNOTATION: word}) == [(f"`{word}` does not pause the Framework: only `true` does", '"true"')]


@pytest.mark.parametrize("word", ["no", "False", "until Monday", "x" * 99])
def test_another_word(word: str) -> None:
    assert findings({PAUSE_ANNOTATION: word}) == [(f"`{word}` does not pause the Framework: only `true` does", "")]


OTHERS: list[Any] = ["true", "false", "", None, True, [], {}]
ELSEWHERE: list[Any] = [None, [], {}, {"a": PAUSE_ANNOTATION}]


@pytest.mark.parametrize("annotations", [*({PAUSE_ANNOTATION: value} for value in OTHERS), *ELSEWHERE])
def test_what_pauses_or_says_that_it_does_not_or_is_of_another_type(annotations: Any) -> None:
    assert findings(annotations) == []


def test_little_is_shown_of_a_long_value() -> None:
    ((message, _),) = findings({PAUSE_ANNOTATION: "x" * 100_000})
    assert len(message) < 200
