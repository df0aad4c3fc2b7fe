"""docs/kubeflow-behaviour.md says what the controllers of jobs did, and what a converted job does here: all of it is played."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.convert import controllers_behaviour
from tests.convert.behaviour import CASES, SITUATIONS, AnyCase, Observed, Situation, observed, table

PAGE = (Path(__file__).parents[2] / "docs" / "kubeflow-behaviour.md").read_text("utf-8")
HEAD = "| what happens | to which | {} | here | told at |\n| --- | --- | --- | --- | --- |\n"


class Shown(NamedTuple):
    """A table of the page, and what it is made of."""

    controllers: str
    cases: Mapping[str, AnyCase]
    situations: Mapping[str, Situation]
    observed: Observed

    def rows(self) -> list[str]:
        """Return the rows on the page."""
        return PAGE.partition(HEAD.format(self.controllers))[2].partition("\n\n")[0].splitlines()


SHOWN = [
    Shown("training-operator v1.9.3", CASES, SITUATIONS, observed("training-operator-1.9.3")),
    Shown("there", controllers_behaviour.CASES, controllers_behaviour.SITUATIONS, observed("controllers")),
]


@pytest.mark.parametrize("shown", SHOWN, ids=["training-operator", "others"])
def test_each_situation_was_observed(shown: Shown) -> None:
    assert shown.observed.keys() == shown.situations.keys()
    # Not every job has every setting.
    assert {kind for kinds in shown.observed.values() for kind in kinds} == shown.cases.keys()


@pytest.mark.parametrize("shown", SHOWN, ids=["training-operator", "others"])
def test_the_table_is_what_is_played(shown: Shown) -> None:
    """Change the page by hand: a failure prints the rows as they are."""
    rows = list(table(shown.cases, shown.situations, shown.observed))
    assert shown.rows() == rows, "\n".join(rows)


@pytest.mark.parametrize("shown", SHOWN, ids=["training-operator", "others"])
def test_what_is_different_is_told(shown: Shown) -> None:
    rows = [row.removesuffix(" |").split(" | ") for row in shown.rows()]
    assert rows
    assert not [row for row in rows if row[3] != "the same" and not row[4].startswith("`")]
