"""Whatever is changed in a job, it is converted or refused, and what comes out is right: no traceback on any input."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from fcompile import compile as compile_text
from fcompile.convert.report import FORMATS, report
from fcompile.diagnostics.problem import Severity
from fcompile.load import Document
from fcompile.model.values import at
from tests.convert.jobs import jobs
from tests.convert.mutations import mutated
from tests.convert.operator import convert

EACH = 110
"""Changes of each job: with the jobs there are, more than a thousand."""


@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in jobs()])
def test_a_changed_job_is_converted_or_refused(job: dict[str, Any]) -> None:
    chance = random.Random(json.dumps(job, sort_keys=True))
    converted = 0
    for _ in range(EACH):
        changed = mutated(job, chance)
        written = json.dumps(changed)
        conversion = convert(written)
        for form in FORMATS:
            assert "".join(report(conversion, form, verbose=True))
        assert all(reason.text for account in conversion.refused for reason in account.reasons)
        text = conversion.text()
        if text:
            converted += 1
            compilation = compile_text(text=text)
            assert [str(one) for one in compilation.problems if one.severity is Severity.ERROR] == [], written
            assert convert(text).text() == text
        for account in conversion.jobs:
            _all_told(account.document, account)
    assert converted > EACH // 20


def _all_told(document: Document, account: Any) -> None:
    """Every leaf of the source is in the account of a converted job."""
    if account.made is None:
        return
    told = {entry.path for entry in account.entries}
    for path in _leaves(at(document.value, account.item), ()):
        assert any(path[:length] in told for length in range(len(path) + 1)), path


def _leaves(value: Any, path: tuple[str | int, ...]) -> Any:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for step, item in below for leaf in _leaves(item, (*path, step))]
    return found or [path]
