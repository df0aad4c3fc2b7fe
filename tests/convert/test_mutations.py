"""Whatever is changed in a job, it is converted or refused, and what comes out is right: no traceback on any input."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from fcompile import compile as compile_text
from fcompile.convert.conversion import Account
from fcompile.convert.ledger import LEFT_OUT, Ledger, Outcome
from fcompile.convert.report import FORMATS, report
from fcompile.diagnostics.problem import Path, Severity, field_path
from fcompile.model.values import at
from tests.convert.jobs import jobs
from tests.convert.mutations import mutated
from tests.convert.operator import convert

EACH = 30
"""Changes of each job: with the 57 jobs there are, more than a thousand."""


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
            _is_of_one_mind(account)
    assert converted, "nothing was tried but refusals"


@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in jobs()])
def test_every_field_of_a_job_as_people_write_it_is_spoken_of(job: dict[str, Any]) -> None:
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    assert [field_path(path) for path in _left_out(account)] == []


@pytest.mark.parametrize("job", [pytest.param(job, id=name) for name, job in jobs()])
def test_what_nobody_spoke_of_is_left_out(job: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What `entries` makes of silence, so that the test above can fail."""
    monkeypatch.setattr(Ledger, "_add", lambda *_: None)
    (account,) = convert(json.dumps(job)).jobs
    assert _left_out(account) == list(_leaves(at(account.document.value, account.item), ()))


def _is_of_one_mind(account: Account) -> None:
    """No field is both kept, or dropped since it changes nothing, and left out."""
    left_out = set(_left_out(account))
    others = {entry.path for entry in account.entries if entry.outcome is not Outcome.DIFFERENT}
    assert not left_out & others


def _left_out(account: Account) -> list[Path]:
    return [entry.path for entry in account.entries if entry.what == LEFT_OUT]


def _leaves(value: Any, path: Path) -> Iterator[Path]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for step, item in below for leaf in _leaves(item, (*path, step))]
    yield from found or [path]
