"""What holds for every Framework without errors, over generated ones. `tests/drift` asks a real API server about the same ones."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcompile import Framework
from fcompile.check.document import Options, check_document, empty
from fcompile.default import default
from fcompile.diagnostics.problem import Severity
from fcompile.emit import yaml
from fcompile.load import Document, read
from fcompile.model.quantities import nanos
from fcompile.pipeline.compiled import compile_framework
from tests import laws
from tests.strategies import basics, frameworks, with_nulls
from tests.strategies.frameworks import many_tasks

FEW = settings(max_examples=settings().max_examples if settings().max_examples > 100 else 40)
"""Generating a Framework takes some 30 ms."""


@given(frameworks(many_tasks))
def test_no_error_in_it(value: dict[str, Any]) -> None:
    """Every Pod of these is taken by a real API server (`tests/drift`), so an error would be a false alarm."""
    checked = empty("-")
    for document in read(json.dumps(value).encode(), "-"):
        assert isinstance(document, Document)
        check_document(document, Options(36, "default"), checked)
    assert [problem for problem in checked.problems if problem.severity is Severity.ERROR] == []


@FEW
@given(with_nulls(frameworks()))
def test_all_laws_hold(value: dict[str, Any]) -> None:
    laws.hold(yaml.dump(value).encode())


@FEW
@given(frameworks(many_tasks))
def test_default_is_idempotent_and_leaves_its_input_alone(value: dict[str, Any]) -> None:
    before = copy.deepcopy(value)
    once = default(value).framework
    assert value == before
    again = default(once)
    assert again.framework == once
    assert again.filled == ()


@FEW
@given(st.data())
def test_a_null_is_the_same_as_nothing(data: st.DataObject) -> None:
    value = data.draw(frameworks())
    before = default(value).framework
    assert default(data.draw(with_nulls(st.just(value)))).framework == before


@FEW
@given(with_nulls(frameworks()))
def test_a_model_gives_back_what_it_was_given(value: dict[str, Any]) -> None:
    assert Framework.model_validate(value).manifest() == value


@FEW
@given(frameworks(many_tasks))
def test_the_defaulted_framework_runs_the_same(value: dict[str, Any]) -> None:
    compiled = compile_framework(value, "default")
    assert compile_framework(compiled.framework, "other").intent == compiled.intent


@FEW
@given(frameworks(many_tasks), st.sampled_from([0, 1, 77]), st.sampled_from(["Create", "Stop"]))
def test_the_digest_says_nothing_of_how_many_and_when(value: dict[str, Any], count: int, execution: str) -> None:
    before = compile_framework(value, "default").intent.digest
    value["spec"] |= {"executionType": execution, "retryPolicy": {"maxRetryCount": 7}}
    value["spec"]["taskRoles"].reverse()
    for role in value["spec"]["taskRoles"]:
        role["taskNumber"] = count
    assert compile_framework(value, "elsewhere").intent.digest == before


@pytest.mark.parametrize("rows", [basics.CPU, basics.MEMORY, basics.WHOLE])
def test_spellings_of_one_amount(rows: tuple[tuple[Any, ...], ...]) -> None:
    """What the strategies take for equal and for more is equal and more."""
    amounts = [{nanos(spelt) for spelt in row} for row in rows]
    assert all(len(amount) == 1 for amount in amounts)
    assert sorted(amounts, key=lambda amount: min(filter(None, amount), default=0)) == amounts
