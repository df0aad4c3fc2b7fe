"""Values that YAML writers and readers stumble over, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# fmt: off
WORDS = [
    # words, numbers and times to one reader or another
    "y", "n", "yes", "no", "on", "off", "Y", "N", "Yes", "NO", "oN", "true", "false", "True", "tRuE", "null", "Null", "NULL", "~", "nan",
    ".nan", ".NaN", "NaN", ".inf", "-.inf", "+.inf", "inf", "-inf", "Infinity", "0", "1", "007", "08", "0o17", "0O17", "0x1F", "0X1f",
    "-0x1", "0b11", "-0b11", "1_000", "_1", "_", "+1", "-1", "-0", "1.", "1.5", ".5", "-.5", "+.5", "1e3", "1E5", "1.e3", "1e+3", "e3",
    "E-5", "-e5", "E445", "1e400", "1:30", "190:20:30", "190:20:30.15", "-1:30", "0:0", "2001-01-01", "2001-1-1",
    "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "10.0.0.1", "1.2.3", "18446744073709551616", "0.1",
    # indicators and what looks like syntax
    ".", "..", "...", "... a", "-", "--", "---", "--- a", "<<", "=", "<", "!", "!!", "!!str", "!!str a", "!local", "&", "&a", "*", "*a",
    "|", "|-", ">", "|2", "%", "%YAML 1.2", "@a", "`a", "'", "''", "'a'", '"', '""', '"a"', '"a', "'a", "#", "#a", "a #b", "a#b", "a:",
    "a: b", "a :b", "a:b", ":", ": ", ":a", "::", "?", "? a", "?a", "- ", "- a", "-a", "--a", "-y", "- - a", "[", "]", "[]", "[a", "{",
    "}", "{}", "{a: b}", "{{x}}", "{{ x }}", ",", ", ", "a, b", "\\", "\\n", "a\\", "\\u0041", "/", "./", "../a", "~/a", "$(A)", "${A}",
    "$", "a=", "==", "it's", "a'b\"c", 'sh -c "x"', "a && b", "None", "http://x:80/a?b=c&d=e#f", "nginx:1.25", "500m", "1Gi", "1.5Gi",
    "30s", "1E", "v1e1", "i0-0", "0-0",
    # white space and lines
    "", " ", "  ", " a", "a ", "a  b", "\t", "\ta", "a\t", "a\tb", "\n", "\n\n", "a\n", "a\nb", "a\nb\n", "a\n\nb", "\na", "\n a", " \na",
    " a\nb", "a\n b", "a \nb", "a\nb ", "a\n ", "a\n \n", "a\n\t", "a\n\tb", "\ta\nb", "\n\ta", "a\n\n", "a\n---\nb", "---\na",
    "a\n...\nb", "#a\nb", "a\n#b", "- a\n- b", "a: b\nc: d", "%a\nb", "a\r\nb", "\r", "a\rb", "a\nb\xa0", "a\n\u2003",
    # characters
    "\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x7f", "\x80", "\x85", "a\x85b", "\x9f", "\xa0", "\xad", "\u2028", "a\u2029b",
    "\u200b", "\u200d", "\u202e", "\u2066", "\u3000", "\ufeff", "\ufeffa", "a\ufeff", "\ufffe", "\uffff", "\ufffd", "\ufdd0", "\ue000",
    "\U0001f600", "a\n\U0001f600\n", "\U0001fffe", "\U0010ffff", "\U000e0001", "\xe9", "\xe9: a", "\u0661\u0662", "\uff11", "\u212a",
    "\u017f",
]
# fmt: on

_CHARACTERS = st.characters(exclude_categories=["Cs"])
_HOT = st.sampled_from(list(" \t\n-:#?,[]{}&*!|>'\"%@`~=<.$()/\\+_0123456789abeEnNyYoOxXtTfF\r\x85\u2028\ufeff\xa0"))

texts = st.one_of(
    st.sampled_from(WORDS),
    st.text(_HOT, max_size=12),
    st.text(_CHARACTERS, max_size=12),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=5).map("".join),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=5).map("\n".join),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map(" ".join),
    st.builds(
        lambda text, times: text * times,
        st.sampled_from(["a", "a ", "\t", "\xe9", "'", "\\", "a\n"]),
        st.sampled_from([99, 100, 1001, 1030, 5000]),
    ),
)
"""Strings: every one that UTF-8 can hold may come, the awkward ones often."""

numbers = st.one_of(
    st.integers(),
    st.sampled_from([2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, -(2**63) - 1, 10**20, 10**21, 10**300]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 1.0, 0.1, 1e-6, 9.9e-7, 1e15, 1e16, 1e17, 1e20, 1e21, 1.5e21, 5e-324, 2.0**53, 2.0**63]),
)

values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(texts, numbers, st.booleans(), st.none()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

objects = st.dictionaries(texts, values, min_size=1, max_size=5)
"""Mappings, as every Kubernetes object is one."""


def same(written: Any, read: Any) -> bool:
    """Whether `read` is what Kubernetes makes of `written`: the same types, keys in the same order, the same number (an int or a float)."""
    if isinstance(written, dict):
        return isinstance(read, dict) and list(written) == list(read) and all(same(written[key], read[key]) for key in written)
    if isinstance(written, list):
        return isinstance(read, list) and len(written) == len(read) and all(map(same, written, read))
    if isinstance(written, (int, float)) and not isinstance(written, bool):
        return isinstance(read, (int, float)) and not isinstance(read, bool) and _same_number(written, read)
    return type(written) is type(read) and bool(written == read)


def _same_number(written: int | float, read: int | float) -> bool:
    if isinstance(written, int) and -(2**63) <= written < 2**64:
        return isinstance(read, int) and written == read
    return float(written) == float(read) and str(float(written))[0] == str(float(read))[0]
