"""What `emit` writes, `load` reads back as the same value: `build` may be piped into `build`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.emit import json, yaml
from tests.emit import hostile

values: Any = getattr(pytest.importorskip("fcompile.load"), "values", None)
pytestmark = pytest.mark.skipif(values is None, reason="fcompile.load.values is not there yet")


@given(written=st.lists(hostile.objects, min_size=1, max_size=3))
def test_yaml(written: list[Any]) -> None:
    assert hostile.same(written, values("".join(yaml.stream(written)).encode()))


@given(written=hostile.objects)
def test_json(written: dict[str, Any]) -> None:
    assert hostile.same([written], values(json.pretty(written).encode()))


@given(written=st.lists(hostile.objects, min_size=2, max_size=3))
def test_json_list(written: list[Any]) -> None:
    assert hostile.same([{"apiVersion": "v1", "kind": "List", "items": written}], values("".join(json.stream(written)).encode()))
