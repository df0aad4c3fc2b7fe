"""Texts of many lines: what is shown of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.diagnostics.writer import Style
from fcompile.diff import html as page
from fcompile.diff import markdown
from fcompile.diff.compare import ABSENT, Difference, blocks
from fcompile.diff.result import ObjectDiff, Result
from fcompile.diff.text import Painter
from fcompile.diff.words import arrow, lines


def shown(before: str, after: str) -> list[str]:
    return [sign + line for sign, line in lines(before, after)]


def test_near_lines_are_shown_and_far_ones_are_not() -> None:
    old = "\n".join("abcdefghijklmnop")
    assert shown(old, old.replace("b", "B").replace("n", "N")) == [" a", "-b", "+B", " c", " d", "…", " l", " m", "-n", "+N", " o", " p"]
    assert shown(old, old.replace("b", "B").replace("d", "D")) == [" a", "-b", "+B", " c", "-d", "+D", " e", " f"]


def test_added_and_removed() -> None:
    assert shown("a\nb\n", "a\nx\nb\n") == [" a", "+x", " b"]
    assert shown("a\nx\nb\n", "a\nb\n") == [" a", "-x", " b"]


def test_line_ends() -> None:
    assert shown("a\nb\n", "a\nb") == [" a", " b", "-"]
    assert shown("a\nb", "a\nb\n\n") == [" a", " b", "+", "+"]
    assert shown("a\r\nb\n", "a\nb\n") == ["-a\\r", "+a", " b"]


def test_what_is_not_there() -> None:
    assert [sign + line for sign, line in lines(ABSENT, "a\nb\n")] == ["+a", "+b"]
    assert [sign + line for sign, line in lines({"a": [1, 2]}, ABSENT)] == ["-a:", "-- 1", "-- 2"]
    assert [sign + line for sign, line in lines({"a": [1, 2]}, {"a": [1, 3]})] == [" a:", " - 1", "-- 2", "+- 3"]


def test_hard_ones_come_to_an_end() -> None:
    """Equal lines without end, and lines without order: matching them up would take for ever."""
    numbers = list(map(str, range(30_000)))
    random.Random(1).shuffle(numbers)
    for old, new in (("x\n" * 50_000, "x\ny\n" * 50_000), ("\n".join(sorted(numbers)), "\n".join(numbers))):
        found = shown(old, new)
        assert len(found) == 401
        assert found[-1] == "…more lines differ"


def test_what_differs_is_shown_of_lines_that_are_too_long() -> None:
    before, after = "a" * 5_000 + "good" + "b" * 5_000, "a" * 5_000 + "evil" + "b" * 5_000
    expected = [f"…{'a' * 100}{word}{'b' * 1_896}…" for word in ("good", "evil")]
    assert list(arrow(Difference("x", before, after))) == expected
    assert shown(f"x\n{before}", f"x\n{after}") == [" x", f"-{expected[0]}", f"+{expected[1]}"]
    for sides in arrow(Difference("x", before + "1", after + "2")), shown(f"x\n{before}1", f"x\n{after}2")[1:]:
        assert all(side.endswith("b… and more that differs") for side in sides)
    for old, new in ("a b", "a " + "harmless " * 500 + "evil b"), ("begin" + "x" * 3_000, "begin evil" + "x" * 5_000):
        assert arrow(Difference("x", old, new))[1].endswith("… and more that differs"), "what is left of one ends like that of the other"
        assert arrow(Difference("x", new, old))[0].endswith("… and more that differs")
        assert shown(f"x\n{old}", f"x\n{new}")[-1].endswith("… and more that differs")
    assert arrow(Difference("x", "a" * 5_000, "b" * 100 + "a" * 5_000))[1].endswith("a…"), "all that differs is shown"
    assert arrow(Difference("x", ABSENT, before)) == ("not set", "a" * 2_000 + "…")


def test_a_text_that_is_new_as_a_whole_is_shown() -> None:
    """The lines that are gone took all the room."""
    old, new = ("\n".join(f"{word} {number}" for number in range(1_000)) for word in ("old", "new"))
    found = shown(old, new)
    assert (found.count("-old 199"), found.count("+new 199"), found[-1], len(found)) == (1, 1, "…more lines differ", 401)
    found = shown(old, "short\ntext")
    assert (found[397:], len(found)) == (["-old 397", "+short", "+text", "…more lines differ"], 401)


def test_nothing_is_pushed_out_of_sight() -> None:
    """Lines of a comment on GitHub do not wrap, and nobody scrolls through empty ones."""
    for blank in " ", "\u3000":
        assert shown("a\nb", f"a\nb{blank * 300}; evil") == [" a", "-b", "+b⟨300 spaces⟩; evil"]
        assert shown("a\nb", f"a\n{blank * 3_000}evil") == [" a", "-b", "+⟨3,000 spaces⟩evil"]
        assert arrow(Difference("x", "a", f"a{blank * 3_000}evil")) == ("a", "a⟨3,000 spaces⟩evil")
        assert arrow(Difference("x", ABSENT, f"a{blank * 3_000}evil")) == ("not set", "a⟨3,000 spaces⟩evil")
    assert arrow(Difference("x", f"a{' ' * 100}b", f"a{' ' * 101}b")) == ("a⟨100 spaces⟩b", "a⟨101 spaces⟩b")
    for empty in "", "  ", "\t":
        assert shown("a\nb", "a\n" + f"{empty}\n" * 1_000 + "evil\nb") == [" a", "+⟨1,000 empty lines⟩", "+evil", " b"]
    assert shown("a\n" + "\n" * 20 + "b", "a\nb") == [" a", "-⟨20 empty lines⟩", " b"]
    assert shown("a\nb", "a\n" + "\n" * 7 + "b") == [" a", *"+" * 7, " b"]
    assert shown("a\nb", f"a\n{' ' * 39}b") == [" a", "-b", f"+{' ' * 39}b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tr\u0430in.py", "tr\\u0430in.py"),
        ("\u0410dmin", "\\u0410dmin"),
        ("PATH\u0397", "PATH\\u0397"),
        ("r\uff4fot", "r\\uff4fot"),
        ("\U0001d42bun", "\\U0001d42bun"),
        ("\u043f\u0440\u0438\u0432\u0435\u0442-train", "\u043f\u0440\u0438\u0432\u0435\u0442-train"),
        ("5\u03bcs \u0394t caf\u00e9 \u6a21\u578bv2", "5\u03bcs \u0394t caf\u00e9 \u6a21\u578bv2"),
        ("--mode=\u0441\u043e\u0440\u0443", "--mode=\\u0441\\u043e\\u0440\\u0443"),
        ("\u0430\u0441\u0435 2", "\\u0430\\u0441\\u0435 2"),
        ("x:'\u0430\u0441\u0435',y:'\u043f\u0440\u0438'", "x:'\\u0430\\u0441\\u0435',y:'\u043f\u0440\u0438'"),
        ("r/\u0430:1 \u043f\u0440\u0438", "r/\\u0430:1 \u043f\u0440\u0438"),
        ("n\u0585de \u13c0PU tr\u0251in v\U0001d7cf.0", "n\\u0585de \\u13c0PU tr\\u0251in v\\U0001d7cf.0"),
        ("python \U0001d69d\U0001d69b.py", "python \\U0001d69d\\U0001d69b.py"),
        ("\u2010\u2010mode a\u2215b c\ua789d \u2212x", "\\u2010\\u2010mode a\\u2215b c\\ua789d \\u2212x"),
        # What others write in their language stays readable, and what nobody takes for Latin.
        ("Pod\u044b \u0438 GPU\u0448\u043d\u044b\u0439", "Pod\u044b \u0438 GPU\u0448\u043d\u044b\u0439"),
        ("\u0440\u0430\u0431\u043e\u0442\u0430 \u0441 GPU", "\u0440\u0430\u0431\u043e\u0442\u0430 \u0441 GPU"),
        ("worker-\u03b1, \u03c1=0.9 \u03bdz", "worker-\u03b1, \u03c1=0.9 \\u03bdz"),
        ("\uff27\uff30\uff35\u8bad\u7ec3", "\uff27\uff30\uff35\u8bad\u7ec3"),
        ("\u2161\u671f v\u2170", "\u2161\u671f v\\u2170"),
        ("\u0578\u0582\u057d\u0578\u0582\u0581\u0578\u0582\u0574", "\u0578\u0582\u057d\u0578\u0582\u0581\u0578\u0582\u0574"),
    ],
)
def test_letters_that_pass_for_others(text: str, expected: str) -> None:
    """`train.py → trаin.py`, with a Cyrillic letter, looked like no change at all."""
    assert arrow(Difference("x", "a", text)) == ("a", expected)
    assert arrow(Difference("x", ABSENT, text)) == ("not set", expected)
    assert shown("a\nb", f"a\n{text}") == [" a", "-b", f"+{expected}"]


def test_what_unicode_writes_in_two_ways() -> None:
    pairs = [
        ("\u00e9", "e\u0301"),
        ("\ufb01", "fi"),
        ("K", "\u212a"),
        ("\u91d1", "\uf90a"),
        ("\uac00", "\u1100\u1161"),
        ("\u0439", "\u0438\u0306"),
    ]
    for one, other in pairs:
        for old, new in (one, other), (other, one):
            assert any("\\" in side for side in arrow(Difference("x", old, new)))
            assert any("\\" in line for line in shown(f"a\n{old}", f"a\n{new}"))
    assert arrow(Difference("x", "caf\u00e9", "th\u00e9")) == ("caf\u00e9", "th\u00e9")


@pytest.mark.parametrize("write", [lambda result: Painter(Style(False, 80)).write(result), markdown.write, page.write])
def test_fields_of_objects_are_told_apart(write: Callable[[Result], Iterator[str]]) -> None:
    found = (Difference("data.mode", "x", ABSENT), Difference("data.mod\u0435", ABSENT, "x"))
    out = "".join(write(Result((), (ObjectDiff("ConfigMap", "", "c", "changed", found, "a", "b"),))))
    assert "mod\\u0435" in out


texts = st.lists(st.sampled_from("abc"), max_size=12)


@given(texts, texts)
def test_blocks_are_what_differs(old: list[str], new: list[str]) -> None:
    made, done = [], 0
    for first, end, new_first, new_end in blocks(old, new):
        assert (first, new_first) != (end, new_end)
        made += [*old[done:first], *new[new_first:new_end]]
        done = end
    assert made + old[done:] == new
