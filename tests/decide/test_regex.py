"""RE2 in Python: the same as Go's regexp package, in time that does not explode."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcontroller.decide.regex import Regex, RegexError

RECORDED = json.loads((Path(__file__).parent / "data" / "re2.json").read_text("utf-8"))
"""Expressions, each with texts and where Go finds them (or null); null instead of the texts: Go refuses the expression."""


def test_go_finds_the_same() -> None:
    for pattern, cases in RECORDED:
        for text, span in cases or ():
            assert Regex(pattern).span(text) == (span and tuple(span)), (pattern, text)


def test_go_refuses_the_same() -> None:
    refused = [pattern for pattern, cases in RECORDED if cases is None]
    assert len(refused) > 50
    for pattern in refused:
        with pytest.raises(RegexError):
            Regex(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a|ab", "ab", "a"),  # the first choice, not the longest
        ("(?:a|ab)$", "ab", "ab"),
        ("(?P<first_1>a)b", "ab", "ab"),
        ("(?<first>a)b", "ab", "ab"),
        ("a*?b", "aab", "aab"),  # the leftmost, not the shortest
        ("(?U)a+", "aaa", "a"),
        ("(?U)a+?", "aaa", "aaa"),
        ("(|a)*", "aa", ""),
        ("(|a)+", "aa", ""),
        ("(?:a??)*", "a", ""),
        ("(?:^|a)*", "a", ""),
        ("(?:^a??)*", "a", ""),
        ("(?:b*a??)*", "ba", "b"),
        ("(a|b)*?$", "ab", "ab"),
        ("x*", "aax", ""),
        ("a$", "a\n", None),  # only Python lets `$` ignore a last line end
        ("(?m)a$", "a\n", "a"),
        ("(?m)^b", "a\nb", "b"),
        ("^b", "a\nb", None),
        ("a.b", "a\nb", None),
        ("(?s)a.b", "a\nb", "a\nb"),
        ("[^b]+", "a\nb", "a\n"),
        (r"\d+", "٣3", "3"),  # ASCII only
        (r"\w+", "é_9", "_9"),
        (r"\bé\b", "é", None),  # to \b it is no letter
        (r"\s", "\v", None),
        ("[[:space:]]", "\v", "\v"),
        ("(?i)k", "\u212a", "\u212a"),
        ("(?i)[a-z]+", "ſK", "ſK"),
        ("(?i)straße", "STRAẞE", "STRAẞE"),
        ("(?i)ss", "ß", None),
        ("(?i)i", "ı", None),
        (r"(?i)\W", "ſ", None),
        (r"\pL+", "aé中1", "aé中"),
        (r"\p{Lu}", "aB", "B"),
        (r"\P{L}", "a1", "1"),
        (r"\p{^L}", "a1", "1"),
        (r"\PL", "a1", "1"),
        (r"\p{Han}+", "a中文b", "中文"),
        (r"\P{Greek}", "αa", "a"),
        (r"(?i)^\p{Greek}", "µ", "µ"),  # the micro sign is no Greek letter, but is mu when case is ignored
        (r"\x41\x{42}\103\07", "ABC\a", "ABC\a"),
        (r"\x{10FFFF}", "\U0010ffff", "\U0010ffff"),
        (r"\Qa.b\E+", "a.bbb", "a.bbb"),
        ("a{,2}", "a{,2}", "a{,2}"),
        ("a{01}", "a{01}", "a{01}"),
        ("x{2,3}?", "xxx", "xx"),
        ("x{0}a", "xa", "a"),
        ("[]a]+", "a]", "a]"),
        ("[a-]+", "-a", "-a"),
        (r"a(?i)b(?-i)c", "aBc", "aBc"),
        ("(?i:a)b", "AB", None),
        (r"fo\B", "foo", "fo"),
        (r"o\b", "foo bar", "o"),
        (r"\B", "aéb", None),  # there is nothing between the bytes of a character
        (r"\B(?:c|)", "aéccc", "c"),
        (r"\z", "a", ""),
    ],
)
def test_meaning(pattern: str, text: str, found: str | None) -> None:
    assert Regex(pattern).find(text) == found


ASCII = [chr(code) for code in range(128)]


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("alnum", [item for item in ASCII if item.isalnum()]),
        ("alpha", [item for item in ASCII if item.isalpha()]),
        ("ascii", ASCII),
        ("blank", ["\t", " "]),
        ("cntrl", [item for item in ASCII if not item.isprintable()]),
        ("digit", list(string.digits)),
        ("graph", [item for item in ASCII if item.isprintable() and item != " "]),
        ("lower", list(string.ascii_lowercase)),
        ("print", [item for item in ASCII if item.isprintable()]),
        ("punct", list(string.punctuation)),
        ("space", list(string.whitespace)),
        ("upper", list(string.ascii_uppercase)),
        ("word", [item for item in ASCII if item.isalnum() or item == "_"]),
        ("xdigit", list(string.hexdigits)),
    ],
)
def test_posix_classes(name: str, members: list[str]) -> None:
    inside, dependencies = Regex(f"[[:{name}:]]"), Regex(f"[[:^{name}:]]")
    everything = [*ASCII, "é", "٣", "\u2028"]
    assert {item for item in everything if inside.find(item)} == set(members)
    assert {item for item in everything if dependencies.find(item)} == set(everything) - set(members)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a(?=b)", "`(?=` is of other kinds of regular expressions; RE2 does not have lookahead"),
        ("(?!a)", "`(?!` is of other kinds of regular expressions; RE2 does not have lookahead"),
        ("(?<=a)b", "`(?<=` is of other kinds of regular expressions; RE2 does not have lookbehind"),
        ("(?<!a>)b", "`(?<!` is of other kinds of regular expressions; RE2 does not have lookbehind"),
        ("(?>a)", "`(?>` is of other kinds of regular expressions; RE2 does not have atomic groups"),
        ("(?P<n>a)(?P=n)", "`(?P=` is of other kinds of regular expressions; RE2 does not have backreferences"),
        (r"(a)\1", r"`\1` would refer to what a group has matched; RE2 does not have backreferences"),
        (r"a\Z", r"`\Z` is not an escape of RE2; write `\z` for the end of the text, or `\n?\z`"),
        ("(?|a|b)", "`(?|` is of other kinds of regular expressions; RE2 does not have branch reset"),
        ("a(?#b)", "`(?#` is of other kinds of regular expressions; RE2 does not have comments"),
        ("(?P<n>a)(?P>n)", "`(?P>` is of other kinds of regular expressions; RE2 does not have subroutines"),
        ("(?R)", "`(?R` is of other kinds of regular expressions; RE2 does not have recursion"),
        ("(?P<n>a)(?&n)", "`(?&` is of other kinds of regular expressions; RE2 does not have subroutines"),
        ("(a)?(?(1)b|c)", "`(?(` is of other kinds of regular expressions; RE2 does not have conditions"),
        (r"a\K", r"`\K` is not an escape of RE2; what was matched before it cannot be left out"),
        (r"\G", r"`\G` is not an escape of RE2; there is no previous match"),
        (r"\R", r"`\R` is not an escape of RE2; write `(?:\r\n|[\n\v\f\r])`"),
        (r"\h", r"`\h` is not an escape of RE2; write `[ \t]`"),
        (r"\u00e9", r"`\u` is not an escape of RE2; write `\x{...}` with the code point in hexadecimal"),
        (r"\X", r"`\X` is not an escape of RE2; write `.`"),
        (r"\N", r"`\N` is not an escape of RE2; write `[^\n]`"),
        (r"\E", r"`\E` is not an escape of RE2; there is no `\Q` before it"),
        (r"[\A-a]", r"`\A` stands for no single character, which this place in brackets needs"),
        (r"\C", r"`\C` is not an escape of RE2; RE2 looks at characters, not at bytes"),
        (r"[a-\d]", r"`\d` stands for no single character, which this place in brackets needs"),
        (r"\y", r"`\y` is not an escape of RE2; write the character without the backslash, or its code as `\x{...}`"),
        ("a++", "`++` repeats a repetition, which RE2 does not have; put the first into `(?:...)`"),
        ("a{2}*", "`{2}*` repeats a repetition, which RE2 does not have; put the first into `(?:...)`"),
        ("*a", r"there is nothing before `*` to repeat; write `\*` for the character"),
        ("(|+)", r"there is nothing before `+` to repeat; write `\+` for the character"),
        ("a{1001}", "`{1001}` repeats more than 1000 times"),
        ("(a{100}){11}", "`{11}` repeats more than 1000 times, with the repetitions in it"),
        ("(a{2}){1000}", "`{1000}` repeats more than 1000 times, with the repetitions in it"),
        ("a{100000000,}", "`{100000000,}` repeats more than 1000 times"),  # So many that google-re2 takes them for characters.
        ("a{" + "9" * 5000 + "}", "`{9999999999999999999` repeats more than 1000 times"),
        ("a{3,2}", "`{3,2}` has the greater number first"),
        ("[b-a]", "the range `b-a` has the greater character first"),
        ("[[:letter:]]", "`[:letter:]` is not a class of characters; there are alnum, "),
        ("[a", r"the `[` of `[a` is not closed; write `\[` for the character"),
        ("[a-", r"the `[` of `[a-` is not closed; write `\[` for the character"),
        ("(a", r"a `(` is not closed; write `\(` for the character"),
        ("a)", r"a `)` has no `(`; write `\)` for the character"),
        ("(?z)", "`(?z)` is not a group of RE2; there are "),
        ("(?i-)", "`(?i-)` is not a group of RE2; there are "),
        ("(?P<a b>c)", "`(?P<a b>` has a name with more than letters, digits and `_`"),
        ("(?P<é>c)", "`(?P<é>` has a name with more than letters, digits and `_` of ASCII"),
        ("(?P<n", "`(?P<n` is not a group of RE2; there are "),
        (r"\p{Foo}", r"`\p{Foo}` is not a category or script of Unicode"),
        (r"\P{Foo}", r"`\P{Foo}` is not a category or script of Unicode"),
        (r"\p{lu}", r"`\p{lu}` is not a category or script of Unicode"),
        (r"\p{}", r"`\p{}` is not a category or script of Unicode"),
        (r"\p{L", r"`\p{L` is not complete; a category of Unicode is written `\p{Lu}`"),
        (r"\x{110000}", r"`\x{110000}` is not an escape of RE2; "),
        (r"\x{11", r"`\x{11` is not an escape of RE2; "),
        (r"\y}", r"`\y` is not an escape of RE2; "),
        (r"\x{", r"`\x` is not an escape of RE2; "),
        ("\\", r"there is nothing after the last `\`; write `\\` for the character"),
        ("(" * 101 + ")" * 101, "more than 100 parentheses within each other"),
        ("(?:[a-z]{1000}){1}" * 1000, "it is too long, with its repetitions written out; repeat less often"),
    ],
)
def test_refusals_say_what_is_meant(pattern: str, message: str) -> None:
    with pytest.raises(RegexError) as error:
        Regex(pattern)
    assert str(error.value).startswith(message)


def test_what_repeats_too_often_by_itself_is_not_blamed_on_what_is_in_it() -> None:
    with pytest.raises(RegexError) as error:
        Regex("a{1001}")
    assert str(error.value) == "`{1001}` repeats more than 1000 times"


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "a*a*a*a*a*b", "(a*)*b", "(?s).*a.*a.*a.*b", "(a?){50}a{50}b"])
def test_no_text_takes_for_ever(pattern: str) -> None:
    began = time.process_time()
    assert Regex(pattern).find("a" * 20_000 + "!") is None
    assert time.process_time() - began < 2


MANY_STATES = """
import random
from fcontroller.decide.regex import Regex
text = "".join(random.Random(0).choices("ab", k=200_000))
regex = Regex("(?:a|b)*a(?:a|b){20}c")
assert regex.span(text) is None
assert regex.span(text + "abbabaabababbbabaabba" + "c") == (0, len(text) + 22)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_many_states_are_forgotten() -> None:
    """Were all states of this one kept, there would be a million of them."""
    done = subprocess.run([sys.executable, "-c", MANY_STATES], capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stdout) < 128 * 1024  # KiB. ru_maxrss would begin with what this process has.
    assert done.stderr == ""


@pytest.mark.parametrize("nothing_special", [r"\(", "[(]", r"[[:alpha:]](?i)", r"\Q((\E"])
def test_only_parentheses_within_each_other_are_counted(nothing_special: str) -> None:
    Regex(nothing_special * 200)
    Regex("(a)" * 200)
    with pytest.raises(RegexError, match="more than 100 parentheses"):
        Regex("(?:" * 101 + nothing_special + ")" * 101)


def test_ignoring_case_is_mutual() -> None:
    """Of two characters each finds the other or neither does, for all that have a case at all."""
    cased = [chr(code) for code in range(0x20000) if unicodedata.category(chr(code)) in ("Lu", "Ll", "Lt")]
    for character in cased[:: len(cased) // 150]:
        regex = Regex(f"(?i)^{character}$")
        for other in {character.upper(), character.lower(), character.casefold(), character.title()}:
            if len(other) == 1:
                assert (regex.find(other) is None) == (Regex(f"(?i)^{other}$").find(character) is None), (character, other)


@given(st.text(alphabet="ab\n(|)*+?[]^$\\.-{1}dQE", max_size=12), st.text(alphabet="ab\n-", max_size=8))
def test_any_expression_is_read_or_refused(pattern: str, text: str) -> None:
    try:
        regex = Regex(pattern)
    except RegexError:
        return
    span = regex.span(text)
    assert span is None or 0 <= span[0] <= span[1] <= len(text)
    assert regex.find(text) == (None if span is None else text[span[0] : span[1]])
