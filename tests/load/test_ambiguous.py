"""Strings without quotes that other readers take for something else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fcompile.load import yaml_places
from fcompile.load.ambiguous import ambiguous, may_be_ambiguous
from fcompile.load.faults import Fault
from tests.reading import documents


def found(text: str) -> list[tuple[object, str, str]]:
    (document,) = documents(text.encode(), "x.yaml")
    return [(path, part, scalar) for path, part, scalar in document.ambiguous()]


@pytest.mark.parametrize(
    "scalar",
    [
        "1:30",
        "22:22",
        "190:20:30",
        "-1:30",
        "1:30.5",
        "+1:30",
        "2001-01-01",
        "2001-1-1",
        "2001-01-01T00:00:00Z",
        "2001-12-14 21:59:43.10 -5",
        "2001-12-14t21:59:43.10-05:00",
        "1e400",
        "-1e999",
        "0xfffffffffffffffff",
        ".5_",
        "=",
        "1" * 400,
    ],
)
@pytest.mark.parametrize("form", ["a: {}\n", "a: [b, {}]\n", "a:\n- {}", "a: {} # c\n", "{{a: {}}}\n", "{}\n"])
def test_other_readers_take_it_for_something_else(scalar: str, form: str) -> None:
    ((_, part, text),) = found(form.format(scalar))
    assert (part, text) == ("value", scalar)


@pytest.mark.parametrize(
    "scalar",
    [
        "'1:30'",
        '"2001-01-01"',
        "!!str 1:30",
        "a1:30",
        "1:60",
        "12:3x",
        "image:1.2",
        "registry:5000/a",
        "2001-01",
        "20010101",
        "1e5",
        "0x1f",
        "no",
        "1.2.3",
        "10.0.0.1",
        "x=y",
        "==",
        "1:30 pm",
        "a 1:30",
        "2001-01-01x",
        "::1",
        "1_000",
        "0o17",
        "|\n  1:30",
    ],
)
def test_all_readers_agree_or_kubectl_reads_no_string(scalar: str) -> None:
    assert found(f"a: {scalar}\n") == []


def test_paths_and_keys() -> None:
    text = "a:\n- b: 1:30\n  2:40: c\n- &x 2001-01-01\n- *x\nd: &d {e: 3:50}\nf: {<<: *d}\ng: *d\n"
    assert found(text) == [
        (("a", 0, "2:40"), "key", "2:40"),
        (("a", 0, "b"), "value", "1:30"),
        (("d", "e"), "value", "3:50"),
    ]


def test_json_has_quotes() -> None:
    assert found('{"a": "1:30"}') == []


@given(
    st.lists(
        st.sampled_from(
            [
                "1:30",
                "12:5.5",
                "2001-01-01",
                "0-1",
                "1e400",
                "0x" + "f" * 17,
                "=",
                ".5_",
                "9" * 320,
                "0x_",
                "-0b_",
                "a",
                "?",
                ":",
                ": ",
                "- ",
                "[",
                "]",
                ", ",
                "\n",
                " ",
                "'",
                "{",
                "}",
                "'a':",
                "\ufeff",
            ]
        ),
        max_size=10,
    ).map("".join)
)
@example("=: ")
@example("{'a':1:30}")
@example("{'a' :1e400}")
@example("[?2001-01-01]")
@example("{:=}")
@example("0x_")
@example("a: -0b__")
@example("\ufeff\ufeff1:30")
def test_the_quick_look_misses_nothing(text: str) -> None:
    try:
        places = yaml_places.places(text)
    except Fault:
        return
    if list(ambiguous(places, text)):
        assert may_be_ambiguous(text)
