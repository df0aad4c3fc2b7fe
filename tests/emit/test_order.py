from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fcompile.emit.order import ordered
from fcompile.emit.yaml import dump
from tests.emit import hostile


def keys(value: Any) -> list[str]:
    return list(ordered(value))


def test_objects_begin_with_what_they_are() -> None:
    assert keys({"spec": {}, "metadata": {}, "kind": "Pod", "apiVersion": "v1"}) == ["apiVersion", "kind", "metadata", "spec"]
    assert keys({"data": {}, "metadata": {}, "kind": "ConfigMap", "apiVersion": "v1"}) == ["apiVersion", "kind", "metadata", "data"]
    assert keys({"uid": "u", "name": "a", "kind": "Pod", "controller": True, "apiVersion": "v1"}) == [
        "apiVersion",
        "kind",
        "name",
        "controller",
        "uid",
    ]


def test_names_come_first() -> None:
    assert keys({"labels": {}, "annotations": {}, "namespace": "n", "name": "a"}) == ["name", "namespace", "annotations", "labels"]
    assert keys({"image": "i", "args": [], "name": "c"}) == ["name", "args", "image"]
    assert keys({"namespace": "n", "a": 1}) == ["a", "namespace"]
    assert keys({"kind": "Role", "name": "r", "apiGroup": "g"}) == ["name", "apiGroup", "kind"]


def test_a_users_keys_are_only_sorted() -> None:
    assert keys({"labels": {"name": "a", "app": "b"}}) == ["labels"]
    assert list(ordered({"labels": {"name": "a", "app": "b"}})["labels"]) == ["app", "name"]
    assert list(ordered({"data": {"kind": "a", "apiVersion": "b", "A": "c"}})["data"]) == ["A", "apiVersion", "kind"]


def test_lists_keep_their_order_and_their_mappings_are_ordered() -> None:
    value = {"env": [{"value": "2", "name": "B"}, {"value": "1", "name": "A"}], "args": ["z", "a"]}
    assert dump(ordered(value)) == 'args:\n- z\n- a\nenv:\n- name: B\n  value: "2"\n- name: A\n  value: "1"\n'


def shuffled(value: Any, source: random.Random) -> Any:
    if isinstance(value, dict):
        mixed = list(value)
        source.shuffle(mixed)
        return {key: shuffled(value[key], source) for key in mixed}
    return [shuffled(item, source) for item in value] if isinstance(value, list) else value


FIELDS = st.sampled_from(["apiVersion", "kind", "metadata", "name", "namespace", "labels", "data", "spec", "a", "b", "É"])
OBJECTS = st.recursive(hostile.texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=6), max_leaves=20)


@given(value=OBJECTS, source=st.randoms(use_true_random=False))
def test_order_in_the_source_does_not_count(value: Any, source: random.Random) -> None:
    assert dump(ordered(shuffled(value, source))) == dump(ordered(value))
    assert ordered(value) == value
    assert dump(ordered(ordered(value))) == dump(ordered(value))
