"""Reading a `podFailureSpec`: every mistake, and where it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcontroller.decide.failures.spec import read_failures

PATTERNS = [{"reasonRegex": "x"}]


def mistakes(*entries: Any) -> dict[str, str]:
    return {".".join(map(str, mistake.path[1:])): mistake.message for mistake in read_failures(list(entries))[1]}


def entry(**fields: Any) -> dict[str, Any]:
    return {"code": 1, "podPatterns": PATTERNS, **fields}


def test_nothing_is_no_entries() -> None:
    assert read_failures(None) == ((), ())
    assert read_failures([]) == ((), ())


def test_what_may_be_left_out_or_null() -> None:
    null_pattern = {"nameRegex": None, "reasonRegex": None, "messageRegex": None, "containers": None}
    null_container = {"nameRegex": None, "signalRange": None, "codeRange": {"min": None, "max": None}}
    assert not mistakes(
        {"code": 1, "podPatterns": [{}]},
        {"code": 2, "phrase": None, "type": None, "podPatterns": [null_pattern, {"containers": []}, {"containers": [{}, null_container]}]},
        {"code": 3, "type": {"name": "", "attributes": []}, "podPatterns": PATTERNS},
        {"code": 4.0, "type": {"name": "Failed", "attributes": None}, "podPatterns": PATTERNS},
    )


@pytest.mark.parametrize(
    ("fields", "where", "message"),
    [
        ({"code": None}, "0.code", "there is no code; give one that no other entry has"),
        ({"code": "7"}, "0.code", "`7` is not a whole number of 32 bits; give one of -2147483648..2147483647"),
        ({"code": 7.5}, "0.code", "`7.5` is not a whole number of 32 bits; give one of -2147483648..2147483647"),
        ({"code": True}, "0.code", "`true` is not a whole number of 32 bits; give one of -2147483648..2147483647"),
        ({"code": 2**31}, "0.code", "`2147483648` is not a whole number of 32 bits; give one of -2147483648..2147483647"),
        ({"code": 0}, "0.code", "0 is reserved, as are all codes of -999..0 and 200..219; choose another"),
        ({"code": -999}, "0.code", "-999 is reserved, as are all codes of -999..0 and 200..219; choose another"),
        ({"code": 200}, "0.code", "200 is reserved, as are all codes of -999..0 and 200..219; choose another"),
        ({"code": 219}, "0.code", "219 is reserved, as are all codes of -999..0 and 200..219; choose another"),
        (
            {"type": {"name": "Succeeded"}},
            "0.type.name",
            "`Succeeded` is not `Failed`: these codes are of Pods that failed; leave the field out",
        ),
        ({"type": []}, "0.type", "a list is not a mapping; its fields can be `name`, `attributes`"),
        ({"type": {"attributes": "Transient"}}, "0.type.attributes", "`Transient` is not a list; write each item after `- `"),
        ({"type": {"attributes": [1]}}, "0.type.attributes.0", "`1` is not a string; put it in quotes"),
        ({"type": {"attribute": []}}, "0.type.attribute", "`attribute` is not a field here: did you mean `attributes`?"),
        ({"podPatterns": []}, "0.podPatterns", "there is no pattern, so that no Pod would match; give one, or remove the entry"),
        ({"podPatterns": None}, "0.podPatterns", "there is no pattern, so that no Pod would match; give one, or remove the entry"),
        ({"podPatterns": {}}, "0.podPatterns", "a mapping is not a list; write each item after `- `"),
        (
            {"podPatterns": [None]},
            "0.podPatterns.0",
            "null is not a mapping; its fields can be `nameRegex`, `reasonRegex`, `messageRegex`, `containers`",
        ),
        (
            {"podPatterns": [{"containers": [None]}]},
            "0.podPatterns.0.containers.0",
            "null is not a mapping; its fields can be `nameRegex`, `reasonRegex`, `messageRegex`, `signalRange`, `codeRange`",
        ),
        (
            {"podPatterns": [{}, {"reasonRegex": "a(?=b)"}]},
            "0.podPatterns.1.reasonRegex",
            "`a(?=b)` is not a regular expression of RE2: `(?=` is of other kinds of regular expressions; RE2 does not have lookahead",
        ),
        ({"podPatterns": [{"reasonRegex": 137}]}, "0.podPatterns.0.reasonRegex", "`137` is not a string; put it in quotes"),
        (
            {"podPatterns": [{"containers": [{"codeRange": {"min": 1, "maximum": 2}}]}]},
            "0.podPatterns.0.containers.0.codeRange.maximum",
            "`maximum` is not a field here; there are `min`, `max`",
        ),
        (
            {"podPatterns": [{"containers": [{"signalRange": {"mini": 9}}]}]},
            "0.podPatterns.0.containers.0.signalRange.mini",
            "`mini` is not a field here: did you mean `min`?",
        ),
        ({"phrases": "x"}, "0.phrases", "`phrases` is not a field here: did you mean `phrase`?"),
    ],
)
def test_mistakes(fields: dict[str, Any], where: str, message: str) -> None:
    assert mistakes(entry(**fields)) == {where: message}


@pytest.mark.parametrize("code", [-2147483648, -1000, 1, 199, 220, 2147483647])
def test_codes_at_the_edges(code: int) -> None:
    assert not mistakes(entry(code=code))


def test_a_code_that_is_there_twice() -> None:
    message = "1 is the code of `podFailureSpec[0]` as well; choose another, or add these patterns there"
    assert mistakes(entry(), entry(code=2), entry()) == {"2.code": message}


def test_all_mistakes_at_once() -> None:
    found = mistakes(entry(code=0, phrase=1, podPatterns=[{"nameRegex": "("}]), entry(code=None), None)
    assert list(found) == ["0.code", "0.phrase", "0.podPatterns.0.nameRegex", "1.code", "2"]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["Failed", "(", "a**"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["code", "phrase", "type", "podPatterns", "containers", "codeRange", "min", "nameRegex"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(anything)
def test_anything_can_be_read(value: Any) -> None:
    failures, found = read_failures(value)
    assert isinstance(failures, tuple)
    for mistake in found:
        assert mistake.path[0] == "podFailureSpec"
        assert mistake.message
        assert not mistake.message.endswith(".")


@pytest.mark.parametrize(("given", "holds"), [({"min": 5}, [5, 6]), ({"max": 5}, [4, 5]), ({"min": 5, "max": 5}, [5]), ({}, None)])
def test_ranges_that_are_open(given: dict[str, int], holds: list[int] | None) -> None:
    failures, wrong = read_failures([entry(podPatterns=[{"containers": [{"codeRange": given}]}])])
    assert not wrong
    codes = failures[0].patterns[0].containers[0].codes
    assert (None if codes is None else [code for code in (4, 5, 6) if codes.holds(code)]) == holds
