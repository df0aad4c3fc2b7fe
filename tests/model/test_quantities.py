"""Quantities, against what Kubernetes' own `resource.Quantity` (apimachinery 0.36.3) makes of the same strings."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.model.quantities import NANO, PATTERN, canonical, is_quantity, nanos

VALUES = {
    "0": 0,
    "1": NANO,
    "+1": NANO,
    "-1": -NANO,
    "1.": NANO,
    ".5": NANO // 2,
    "500m": NANO // 2,
    "1k": 1000 * NANO,
    "1Ki": 1024 * NANO,
    "1.5Gi": 3 * 2**29 * NANO,
    "1e3": 1000 * NANO,
    "1E3": 1000 * NANO,
    "1E": 10**18 * NANO,
    "1Ei": 2**60 * NANO,
    "12e-1": 12 * NANO // 10,
    "1n": 1,
    "0.1n": 1,
    "-0.1n": -1,
    "1e-400": 1,
    " 1Gi ": 2**30 * NANO,
    "007": 7 * NANO,
    "9223372036854775808": 2**63 * NANO,
    "99999999999999999999Ki": (2**63 - 1) * NANO,
    # The exponent is cut to 32 bits.
    "5e4294967296": 5 * NANO,
    # No digits are 0, as far as numbers are read the quick way.
    "k": 0,
    "Mi": 0,
    ".": 0,
    "e18": 0,
    "-e-9": 0,
}
REFUSED = [
    "",
    " ",
    "1 Gi",
    "1gb",
    "1GB",
    "1K",
    "1mi",
    "1e",
    "1e+",
    "0x10",
    "1_000",
    "1,5",
    "--1",
    "1.2.3",
    "Pi",
    "Ei",
    "e-10",
    "٣",
    "1e99999999999999999999",
    "\t1",
]


@pytest.mark.parametrize(("text", "expected"), VALUES.items())
def test_amounts(text: str, expected: int) -> None:
    assert is_quantity(text)
    assert nanos(text) == expected


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    assert not is_quantity(text)
    assert nanos(text) is None


@pytest.mark.parametrize(
    ("number", "expected"), [(2, 2 * NANO), (0.5, NANO // 2), (1e21, 10**30), (1e-9, 1), (10**50, 10**59), (-0.25, -NANO // 4)]
)
def test_numbers(number: float, expected: int) -> None:
    assert nanos(number) == expected


@pytest.mark.parametrize("value", [True, None, [], {}, float("nan"), float("inf")])
def test_other_values(value: object) -> None:
    assert not is_quantity(value)
    assert nanos(value) is None


def test_a_huge_exponent_costs_nothing() -> None:
    amount = nanos("1e999999999")
    assert amount is not None
    assert amount > 10**500


@given(st.decimals(-(10**12), 10**12, places=9))
def test_plain_decimals_are_exact(number: Decimal) -> None:
    assert nanos(f"{number:f}") == int(number * NANO)


@given(st.from_regex(PATTERN, fullmatch=True))
def test_what_an_editor_allows_is_one(text: str) -> None:
    assert is_quantity(text) or re.search("[eE]", text)


CANONICAL = json.loads((Path(__file__).parent / "data" / "canonical_quantities.json").read_text())


@pytest.mark.parametrize(("kind", "unit"), [("sizeLimit", 1), ("limits", 10**6)])
def test_canonical_form_is_the_api_servers(kind: str, unit: int) -> None:
    assert {text: canonical(text, unit) for text in CANONICAL[kind]} == CANONICAL[kind]


def test_canonical_form_is_stable() -> None:
    for text in CANONICAL["sizeLimit"].values():
        assert canonical(text) == text


@pytest.mark.parametrize("text", ["", "x", "1Q", "9e999", "{{FC_TASK_INDEX}}Gi"])
def test_what_is_no_quantity_stays(text: str) -> None:
    assert canonical(text) == text
