"""Splicing gives, for every index, the very characters of a rendering in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fcompile.emit import json, yaml
from fcompile.emit.order import ordered
from fcompile.emit.splice import MARK, pods
from tests.emit import hostile

HOLE = "\ue123"  # stands for the index in the templates of these tests

DUMPS: dict[str, Callable[[Any], str]] = {
    "yaml": yaml.document,
    "ordered yaml": lambda value: yaml.document(ordered(value)),
    "json": json.item,
    "canonical": lambda value: json.canonical(value).decode(),
}


def filled(template: Any, index: str) -> Any:
    if isinstance(template, str):
        return template.replace(HOLE, index)
    if isinstance(template, dict):
        return {filled(key, index): filled(value, index) for key, value in template.items()}
    return [filled(item, index) for item in template] if isinstance(template, list) else template


def agree(template: Any, indices: Sequence[int], dump: Callable[[Any], str]) -> bool:
    def pod(index: str) -> Any:
        return filled(template, index)

    return "".join(pods(pod, indices, dump)) == "".join(dump(pod(str(index))) for index in indices)


PIECES = st.sampled_from(
    [HOLE, HOLE, *hostile.WORDS, "1", "0", "9", "e", "E", ".", "-", "+", ":", "0x", "0b", "i", "k", "_", MARK, MARK[:9], MARK[-9:]]
)
TEXTS = st.lists(PIECES, max_size=5).map("".join)
KEYS = st.lists(st.sampled_from(["k", "name", "5", "1", "", HOLE, "a"]), min_size=1, max_size=3).map("".join)
TEMPLATES = st.recursive(
    st.one_of(TEXTS, hostile.numbers, st.booleans(), st.none()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS | KEYS, inner, max_size=4),
    max_leaves=12,
)
RANGES = st.one_of(
    st.sampled_from(
        [range(12), range(95, 105), range(998, 1003), range(0, 10001, 997), range(1), range(0), range(2), [7], [3, 1, 2000, 10], [5, 5, 5]]
    ),
    st.builds(lambda start, count: range(start, start + count), st.integers(0, 9999), st.integers(0, 15)),
    st.lists(st.integers(0, 10**6), max_size=6),
)


@pytest.mark.parametrize("dump", DUMPS)
@given(template=TEMPLATES, indices=RANGES)
@example(
    template={"a": f"v1e{HOLE}", "b": f"i{HOLE}-{HOLE}", "c": f"e{HOLE}", "d": HOLE, "e": f"0x{HOLE}", "f": f"{HOLE}Gi"}, indices=range(120)
)
@example(
    template={"a": f"1{HOLE}1", "b": f"{HOLE}:{HOLE}", "c": f"2001-01-{HOLE}", "d": f"{HOLE}.{HOLE}", "e": f"x\n{HOLE}\n"},
    indices=range(120),
)
@example(template={f"k{HOLE}": 1, "k5": 2, "k50": 3, "name": "x"}, indices=range(120))
@example(template={"x": f"{MARK}{HOLE}", "y": f"{MARK[0]}{HOLE}{MARK[1:]}"}, indices=range(120))
@example(template={"x": "the same for each"}, indices=range(20))
def test_every_index(dump: str, template: Any, indices: Sequence[int]) -> None:
    assert agree(template, indices, DUMPS[dump])


@pytest.mark.parametrize("dump", DUMPS)
@given(text=TEXTS, key=TEXTS)
def test_one_string_at_every_index_to_a_thousand(dump: str, text: str, key: str) -> None:
    assert agree({"a": [text], "b": {"c": text}, "c" + key: 1, "d": text}, range(1002), DUMPS[dump])


@given(text=TEXTS.filter(lambda text: MARK not in text), digits=st.text("0123456789", min_size=1, max_size=20))
def test_the_style_of_a_string_does_not_depend_on_its_digits(text: str, digits: str) -> None:
    """What splicing stands on, here without its comparisons."""

    def written(index: str) -> str:
        return yaml.dump({"a": [text.replace(HOLE, index)], "b": 1})

    assert digits.join(written(MARK).split(MARK)) == written(digits)


class TestWhereHolesDoNot:
    """Models that do more with the index than to put it into strings."""

    def test_a_number_from_the_index(self) -> None:
        def pod(index: str) -> Any:
            return {"name": f"a-{index}", "port": 8000 + int(index)}

        assert "".join(pods(pod, range(50), yaml.document)) == "".join(yaml.document(pod(str(index))) for index in range(50))

    def test_the_length_of_the_index(self) -> None:
        def pod(index: str) -> Any:
            return {"name": f"a-{index}", "hostname": f"long-hostname-{index}"[:15]}

        assert "".join(pods(pod, range(120), yaml.document)) == "".join(yaml.document(pod(str(index))) for index in range(120))


class TestWork:
    def test_few_are_rendered_in_full(self) -> None:
        rendered = []

        def pod(index: str) -> Any:
            rendered.append(index)
            return {"name": f"a-{index}"}

        assert "".join(pods(pod, range(10_000), yaml.document)).count("---\n") == 10_000
        assert sorted(rendered, key=int) == ["0", "9", "99", "999", "9999", MARK]

    def test_comes_in_chunks_of_many(self) -> None:
        def pod(index: str) -> Any:
            return {"name": f"a-{index}", "text": "x" * 2000}

        sizes = [len(chunk) for chunk in pods(pod, range(10_000), yaml.document)]
        assert 64 * 1024 <= min(sizes[:-1]) <= max(sizes) < 80 * 1024

    @pytest.mark.parametrize("length", [0, 10, 200_000])
    def test_whatever_their_size(self, length: int) -> None:
        assert agree({"name": HOLE, "text": "x" * length}, range(15), yaml.document)
