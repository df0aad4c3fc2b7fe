"""The quick look for ambiguous scalars misses none that the slow one finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.load.ambiguous import _MAY_BE, may_be_ambiguous

PIECES = st.sampled_from(
    [
        "1:30",
        "2001-01-02",
        "-",
        ":",
        "e",
        "E",
        "+",
        "123",
        "0x",
        "0b",
        "0o",
        "_",
        ".",
        "=",
        " ",
        "\n",
        "[",
        ",",
        "?",
        "'",
        "\ufeff",
        "a",
        "9" * 220,
        "f" * 16,
    ]
)


@given(st.lists(PIECES | st.text(alphabet="0123456789:-_.eE=x \n[,", max_size=6), max_size=8).map("".join))
def test_agrees_with_the_full_look(text: str) -> None:
    assert may_be_ambiguous(text) == (_MAY_BE.search(text) is not None)


@pytest.mark.parametrize(
    "scalar", ["1:30", "-1:30", "2001-01-01", "1e400", "1E-400", "0x" + "f" * 16, "1" * 200, ".5_5", "=", "0x_", "+0B_"]
)
def test_finds(scalar: str) -> None:
    assert may_be_ambiguous(f"a: {scalar}\n")
    assert may_be_ambiguous(f"a: [{scalar}]\n")
    assert may_be_ambiguous(f"{{'a':{scalar}}}\n")
    assert may_be_ambiguous(f"[?{scalar}]\n")
