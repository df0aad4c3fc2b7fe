"""What `emit` writes, `load` reads back as the same value: `build` may be piped into `build`.

Compared by their canonical JSON: `load` reads `1.0` and `-0.0` as whole numbers, as Kubernetes would keep them.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fcompile.emit import json, yaml
from fcompile.load import values
from tests.emit import hostile


@given(written=st.lists(hostile.objects, min_size=1, max_size=3))
def test_yaml(written: list[Any]) -> None:
    read = values("".join(map(yaml.document, written)).encode())
    assert json.canonical(read) == json.canonical(written)
    assert [list(value) for value in read] == [list(value) for value in written]


@given(written=hostile.objects)
def test_json(written: dict[str, Any]) -> None:
    assert json.canonical(values(json.pretty(written).encode())) == json.canonical([written])
    assert json.canonical(values(json.canonical(written))) == json.canonical([written])


@given(written=st.lists(hostile.objects, min_size=2, max_size=3))
def test_json_list(written: list[Any]) -> None:
    (read,) = values("".join(json.items(map(json.item, written))).encode())
    assert json.canonical(read) == json.canonical({"apiVersion": "v1", "kind": "List", "items": written})
