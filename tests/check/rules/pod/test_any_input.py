"""The Pod rules over templates that are wrong in any way: they never fail, and what they point at is there."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.check.pod import in_force
from fcompile.diagnostics.problem import Path
from tests.check.rules.pod.pods import NEWEST, OLDEST, container, findings, pod

PODS = json.loads((File(__file__).parents[2] / "data" / "server_verdicts.json").read_text("utf-8"))["pods"]
WRONG: list[Any] = [None, True, 0, -1, 1.5, float("nan"), 10**400, "", "x", "-5Gi", "\ud800", [], [None], [1], {}, {"": None}, {"x": 1}]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    for step, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(below, (*path, step))


KEYS = sorted({step for template in PODS for path in places(template) for step in path if isinstance(step, str)})


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def with_value(template: Any, path: Path, value: Any) -> Any:
    """The template with another value at the path; the rest is shared."""
    if not path:
        return value
    changed = copy.copy(template)
    changed[path[0]] = with_value(template[path[0]], path[1:], value)
    return changed


def look(template: Any, version: int) -> None:
    found = findings(template, version)
    for finding in found:
        at(template, finding.path)
        for related in finding.related:
            at(template, related.path)
        assert not finding.message.endswith("."), finding.message
    in_force(found, version)


@pytest.mark.parametrize("index", range(len(PODS)))
def test_any_value_anywhere(index: int) -> None:
    template = PODS[index]
    for number, path in enumerate(places(template)):
        for value in WRONG if path else ():
            look(with_value(template, path, value), OLDEST + number % (NEWEST - OLDEST + 1))


@pytest.mark.parametrize("template", [{}, {"spec": None}, {"spec": []}, {"metadata": "x", "spec": {"containers": None}}])
def test_templates_that_are_none(template: Any) -> None:
    assert findings(template) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(KEYS),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(KEYS), below, max_size=5),
    max_leaves=30,
)


@given(spec=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8), version=st.integers(OLDEST, NEWEST))
def test_any_spec(spec: dict[str, Any], version: int) -> None:
    look({"spec": spec}, version)


@given(fields=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8), version=st.integers(OLDEST, NEWEST))
def test_any_container(fields: dict[str, Any], version: int) -> None:
    look(pod({**container(), **fields}), version)


@given(metadata=st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8))
def test_any_metadata(metadata: dict[str, Any]) -> None:
    look(pod(metadata=metadata), 36)
