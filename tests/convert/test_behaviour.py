"""docs/kubeflow-behaviour.md says what training-operator did, and what a converted job does here: all of it is played."""

from __future__ import annotations

from pathlib import Path

from tests.convert.behaviour import CASES, OBSERVED, SITUATIONS, table

PAGE = (Path(__file__).parents[2] / "docs" / "kubeflow-behaviour.md").read_text("utf-8")
HEAD = "| what happens | to which | training-operator v1.9.3 | here | told at |\n| --- | --- | --- | --- | --- |\n"


def test_each_situation_was_observed_for_each_kind() -> None:
    assert OBSERVED.keys() == SITUATIONS.keys()
    assert all(observed.keys() == CASES.keys() for observed in OBSERVED.values())


def test_the_table_is_what_is_played() -> None:
    """Change the page by hand: a failure prints the rows as they are."""
    rows = list(table())
    assert PAGE.partition(HEAD)[2].partition("\n\n")[0].splitlines() == rows, "\n".join(rows)


def test_what_is_different_is_told() -> None:
    rows = [row.removesuffix(" |").split(" | ") for row in PAGE.partition(HEAD)[2].partition("\n\n")[0].splitlines()]
    assert not [row for row in rows if row[3] != "the same" and not row[4].startswith("`")]
