from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.emit.json import canonical, canonical_pieces, item, items, pretty
from fcompile.emit.scalars import EmitError
from tests.emit import hostile

# Number → text, as Go's encoding/json prints the float64 (checked against Go 1.26) and ECMAScript's Number::toString says.
NUMBERS = [
    (0, "0"), (-1, "-1"), (2**63, "9223372036854775808"), (2**64 - 1, "18446744073709551615"), (2**64, "18446744073709552000"),
    (-(2**63) - 1, "-9223372036854776000"), (10**20, "100000000000000000000"), (10**21, "1e+21"), (10**22, "1e+22"), (0.0, "0"),
    (1.0, "1"), (0.5, "0.5"), (-2.5, "-2.5"), (1e-5, "0.00001"), (1.25e-5, "0.0000125"), (-1e-6, "-0.000001"), (9.9e-7, "9.9e-7"),
    (1e-7, "1e-7"), (1.5e-10, "1.5e-10"), (5e-324, "5e-324"), (1e15, "1000000000000000"), (1e16, "10000000000000000"),
    (1.1e17, "110000000000000000"), (2.0**63, "9223372036854776000"), (123456789012345680000.0, "123456789012345680000"), (1e21, "1e+21"),
    (1.5e21, "1.5e+21"), (1e100, "1e+100"), (1.7976931348623157e308, "1.7976931348623157e+308"), (-1e300, "-1e+300"),
]  # fmt: skip


class TestCanonical:
    def test_the_whole_form(self) -> None:
        value = {"b": [1, 2.0, {}], "a": {"é": None, "z": True, "\U0001f600": 'x\n"\\/\x00\x7f\u2028é', "\uff11": []}}
        expected = '{"a":{"z":true,"é":null,"\uff11":[],"\U0001f600":"x\\n\\"\\\\/\\u0000\x7f\u2028é"},"b":[1,2,{}]}'
        assert canonical(value) == expected.encode()

    @pytest.mark.parametrize(("number", "text"), NUMBERS)
    def test_numbers(self, number: float, text: str) -> None:
        assert canonical([number]) == f"[{text}]".encode()

    def test_minus_zero_is_zero(self) -> None:
        assert canonical({"a": -0.0}) == b'{"a":0}'

    @given(value=hostile.values)
    def test_reads_back(self, value: Any) -> None:
        def no_sign_of_zero(inside: Any) -> Any:
            if isinstance(inside, dict):
                return {key: no_sign_of_zero(inside[key]) for key in sorted(inside)}
            if isinstance(inside, list):
                return [no_sign_of_zero(item) for item in inside]
            return 0 if isinstance(inside, float) and inside == 0 else inside

        assert hostile.same(no_sign_of_zero(value), json.loads(canonical(value)))

    @given(value=hostile.values)
    def test_is_a_fixed_point(self, value: Any) -> None:
        """What an API server gives back has the same digest."""
        text = canonical(value)
        assert canonical(json.loads(text)) == text

    @given(mapping=hostile.objects, seed=st.randoms())
    def test_the_order_of_keys_does_not_count(self, mapping: dict[str, Any], seed: Any) -> None:
        keys = list(mapping)
        seed.shuffle(keys)
        assert canonical({key: mapping[key] for key in keys}) == canonical(mapping)

    @given(value=hostile.values, mapping=hostile.objects)
    def test_in_pieces_it_is_the_same(self, value: Any, mapping: dict[str, Any]) -> None:
        for each in ({"roles": [value, value], "b": {}, "a": value, "none": []}, mapping):
            assert b"".join(canonical_pieces(each)) == canonical(each)

    @given(number=st.floats(allow_nan=False, allow_infinity=False))
    def test_floats_keep_their_value_in_the_fewest_digits(self, number: float) -> None:
        text = canonical(number).decode()
        assert float(text) == number
        digits = text.partition("e")[0].lstrip("-").replace(".", "").strip("0")
        assert digits == repr(abs(number)).partition("e")[0].replace(".", "").strip("0")
        assert ("e" in text) == (number != 0 and not 1e-6 <= abs(number) < 1e21)


class TestRefused:
    @pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "\ud800", {"\udfff": 1}, {1: 2}, {"a": 1, None: 2}, (1,), b"a", {1}])
    @pytest.mark.parametrize("write", [canonical, pretty])
    def test_what_json_has_no_form_for(self, write: Any, value: Any) -> None:
        for inside in (value, [value], {"a": value}):
            with pytest.raises(EmitError):
                write(inside)

    @pytest.mark.parametrize("write", [canonical, pretty])
    def test_endless_nesting(self, write: Any) -> None:
        loop: list[Any] = []
        loop.append({"a": loop})
        with pytest.raises(EmitError):
            write(loop)

    def test_nesting_has_one_bound_in_pieces_too(self) -> None:
        deepest: Any = 1
        while True:
            try:
                text = canonical({"a": [deepest], "b": deepest})
            except EmitError:
                break
            assert b"".join(canonical_pieces({"a": [deepest], "b": deepest})) == text
            deepest = [deepest]
        with pytest.raises(EmitError):
            list(canonical_pieces({"a": [deepest], "b": deepest}))


class TestPretty:
    def test_the_form(self) -> None:
        assert pretty({"b": [1, {"x": []}], "a": {}}) == '{\n  "b": [\n    1,\n    {\n      "x": []\n    }\n  ],\n  "a": {}\n}\n'

    def test_what_cannot_be_seen_is_escaped(self) -> None:
        assert pretty("é\u2028\x7f\ufeff\U000e0001\t") == '"é\\u2028\\u007f\\ufeff\\udb40\\udc01\\t"\n'

    @given(value=hostile.values)
    def test_reads_back(self, value: Any) -> None:
        assert hostile.same(value, json.loads(pretty(value)))


class TestItems:
    @given(values=st.lists(hostile.objects, max_size=4))
    def test_reads_back(self, values: list[dict[str, Any]]) -> None:
        read = json.loads("".join(items(map(item, values))))
        assert hostile.same({"apiVersion": "v1", "kind": "List", "items": values}, read)

    def test_a_list_is_one_indented_value(self) -> None:
        values = [{"a": 1}, {"b": ["x", {}]}, {"c": {}}]
        assert "".join(items(map(item, values))) == pretty({"apiVersion": "v1", "kind": "List", "items": values})
        assert "".join(items([])) == pretty({"apiVersion": "v1", "kind": "List", "items": []})

    def test_items_may_come_in_chunks(self) -> None:
        values: list[Any] = [{"a": 1}, {"b": 2}, {"c": 3}]
        chunks = ["", item(values[0]) + item(values[1]), "", item(values[2])]
        assert "".join(items(chunks)) == "".join(items(map(item, values)))

    def test_does_not_hold_the_values(self) -> None:
        taken = []

        def source() -> Any:
            for number in range(100):
                taken.append(number)
                yield {"n": number}

        texts = items(map(item, source()))
        next(texts), next(texts)
        assert len(taken) < 5
