"""The excerpt under all kinds of characters, colour, and the summary line."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.diagnostics.excerpt import excerpt
from fcompile.diagnostics.problem import Problem, Rule, Severity, Span
from fcompile.diagnostics.text import render, use_color
from fcompile.diagnostics.visible import clean, visible, width
from fcompile.diagnostics.writer import Style, Summary, summary_line
from fcompile.emit import yaml

RULE = Rule("FC999", "sample", Severity.ERROR, "Sample.", "Help.")


def at(line: str, start: int, end: int, end_line: int = 1) -> Problem:
    return Problem(RULE, RULE.severity, "wrong", "a.yaml", Span(1, start + 1, end_line, end + 1, start, end), line, "spec", "")


@pytest.mark.parametrize(
    ("line", "word", "shown", "underline"),
    [
        ("a: wrong", "wrong", "a: wrong", "   ^^^^^"),
        ("\ta:\twrong", "wrong", "    a:    wrong", "          ^^^^^"),
        ("训练: 错误 # x", "错误", "训练: 错误 # x", "      ^^^^"),
        ("e\u0301a: we\u0301e", "we\u0301e", "e\u0301a: we\u0301e", "    ^^^"),
        ("\uff41: \uff42\uff43", "\uff42\uff43", "\uff41: \uff42\uff43", "    ^^^^"),
        ("가\u1161: x", "x", "가\u1161: x", "    ^"),
        ("a: \x1b[31mred", "red", "a: \\x1b[31mred", "           ^^^"),
        ("a: \u202egnorw", "\u202egnorw", "a: \\u202egnorw", "   ^^^^^^^^^^^"),
        ("a: \u0085", "\u0085", "a: \\x85", "   ^^^^"),
        ("a: Never\xa0", "Never\xa0", "a: Never\\xa0", "   ^^^^^^^^^"),
        ("a:\u202fb\u2003c", "\u202fb\u2003c", "a:\\u202fb\\u2003c", "  ^^^^^^^^^^^^^^"),
        ("a: 🚀b", "b", "a: 🚀b", "     ^"),
        ("a: \udcff", "\udcff", "a: \\xff", "   ^^^^"),
        ("a: wrong\r", "wrong", "a: wrong", "   ^^^^^"),
    ],
)
def test_the_span_is_underlined(line: str, word: str, shown: str, underline: str) -> None:
    start = line.index(word)
    assert excerpt(at(line, start, start + len(word)), 80) == (shown, underline)


IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u200b\u200c\u200d\u200e\u200f\u202e\u2060\u2064\u206f\u2800\u3164"
    "\ufe00\ufe0f\ufeff\uffa0\ufff0\ufff8\U0001bca0\U0001d159\U0001d173\U000e0001\U000e0020\U000e0100\U000e01ef"
)
"""Of each range of Unicode's Default_Ignorable_Code_Point something, and signs that are drawn as nothing."""


@pytest.mark.parametrize("character", IGNORABLE, ids=ascii)
def test_what_nobody_can_see_is_an_escape(character: str) -> None:
    assert visible(f"a{character}b").isascii()
    if character not in "\u200c\u200d":  # which Persian and emoji are written with
        assert yaml.document(f"a{character}b").isascii()


def test_a_span_of_nothing_has_one_caret() -> None:
    assert excerpt(at("a: b", 4, 4), 80) == ("a: b", "    ^")
    assert excerpt(at("a: b", 9, 9), 80) == ("a: b", "    ^")


def test_a_span_of_many_lines_ends_with_its_first() -> None:
    assert excerpt(at("spec:  ", 0, 3, end_line=7), 80) == ("spec:  ", "^^^^^")


def test_an_empty_line_is_not_shown() -> None:
    assert excerpt(at("", 0, 0), 80) is None
    assert render(at("", 0, 0), Style()) == "a.yaml:1:1: error[FC999] wrong\n  = field: spec\n  = help: Help.\n"


def test_a_long_line_is_cut_around_the_span() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    shown = excerpt(at(line, 500, 504), 60)
    assert shown is not None
    assert len(shown.line) == 60
    assert shown.line.startswith("...x")
    assert shown.line.endswith("y...")
    assert [character for character, mark in zip(shown.line, shown.underline, strict=False) if mark == "^"] == list("HERE")


def test_a_long_span_is_cut() -> None:
    shown = excerpt(at("a: " + "x" * 500, 3, 503), 40)
    assert shown == ("a: " + "x" * 34 + "...", "   " + "^" * 34)


def test_a_huge_line_costs_nothing() -> None:
    line = "\u0301" * 2_000_000 + "HERE" + "\u200b" * 2_000_000
    shown = excerpt(at(line, 2_000_000, 2_000_004), 80)
    assert shown is not None
    assert len(shown.line) < 1_000


@given(st.text(), st.integers(0, 50), st.integers(0, 50), st.integers(20, 120))
def test_lines_fit_and_carets_are_under_the_span(line: str, start: int, length: int, room: int) -> None:
    line = line.translate({ord(break_): None for break_ in "\r\n"})
    start = min(start, len(line))
    shown = excerpt(at(line, start, min(start + length, len(line))), room)
    if shown is None:
        assert not line
        return
    assert width(shown.line) <= room
    assert set(shown.underline) <= set(" ^")
    assert "^" in shown.underline
    carets = shown.underline.count("^")
    assert len(shown.underline) <= max(width(shown.line), len(shown.underline) - carets + 1)
    if width(visible(line.replace("\t", "    "))) <= room >= len(line):
        assert shown.line == visible(line.replace("\t", "    "))
        assert shown.underline.index("^") == width(visible(line[:start].replace("\t", "    ")))


@pytest.mark.parametrize(
    ("choice", "terminal", "environment", "colored"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", False, {"FORCE_COLOR": "0"}, False),
        ("auto", False, {"CLICOLOR_FORCE": "1"}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", False, {"TERM": "dumb", "FORCE_COLOR": "3"}, True),
        ("auto", True, {"CLICOLOR": "0"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_when_there_is_color(
    choice: Literal["auto", "always", "never"], terminal: bool, environment: dict[str, str], colored: bool
) -> None:
    assert use_color(choice, terminal, environment) is colored


def totals(**counts: int) -> Summary:
    empty = dict.fromkeys(Summary._fields, 0)
    return Summary(**{**empty, **counts})


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        (totals(files=14, frameworks=20, errors=3, warnings=1, affected=2), "Found 3 errors and 1 warning in 2 of 14 files."),
        (
            totals(files=1, frameworks=1, errors=1, warnings=2, notes=1, affected=1, waived=2),
            "Found 1 error, 2 warnings and 1 note in 1 of 1 file (2 waived).",
        ),
        (totals(files=9, frameworks=14), "14 Frameworks in 9 files: no problems."),
        (totals(files=1, frameworks=1, waived=1), "1 Framework in 1 file: no problems (1 waived)."),
        (totals(skipped=3), "No Framework found in 3 files."),
        (totals(warnings=1, affected=1), "Found 1 warning."),
    ],
)
def test_summary(summary: Summary, line: str) -> None:
    assert summary_line(summary) == line


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0xD800, 0xDFFF).map(chr))
def test_only_lone_surrogates_are_cleaned(text: str, lone: str) -> None:
    assert clean(text) == text
    assert clean(f"{text}{lone} {text}") == f"{text}\ufffd {text}"
