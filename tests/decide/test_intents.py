"""Which intent is in force, what is next, and what is written, for each thing that can be found."""

from __future__ import annotations

import pytest

from fcontroller.decide.intents import LoweredSpec, plan_intent
from fcontroller.decide.status import IntentRecord

OLD, NEW = "v1:sha256:old", "v1:sha256:new"
EDITED = LoweredSpec(2, NEW, True)
"""The spec was edited, and may run."""
REFUSED = EDITED._replace(may_run=False)
SAME = LoweredSpec(2, OLD, True)
"""An edit that changes nothing of what runs."""


def plan(record: IntentRecord, spec: LoweredSpec, stored: str | None, *held: str, named: bool = True) -> tuple[object, ...]:
    """The digest in force, its generation, the next digest, and what is written."""
    planned = plan_intent(record, named, spec, stored, held)
    return planned.record.digest, planned.record.generation, planned.record.next, planned.write


def test_an_edit_is_named_then_written_then_in_force() -> None:
    before = IntentRecord(OLD, None, 1)
    assert plan(before, EDITED, OLD, OLD) == (OLD, 1, NEW, None)
    assert plan(IntentRecord(OLD, NEW, 1), EDITED, OLD, OLD, named=False) == (OLD, 1, NEW, None), "the status does not say so yet"
    assert plan(IntentRecord(OLD, NEW, 1), EDITED, None, OLD) == (OLD, 1, NEW, None), "it is not known what is there"
    assert plan(IntentRecord(OLD, NEW, 1), EDITED, OLD, OLD) == (OLD, 1, NEW, NEW)
    assert plan(IntentRecord(OLD, NEW, 1), EDITED, "", OLD) == (OLD, 1, NEW, NEW)
    assert plan(IntentRecord(OLD, NEW, 1), EDITED, NEW, OLD) == (NEW, 2, None, None)


@pytest.mark.parametrize("stored", [OLD, None])
@pytest.mark.parametrize(("spec", "generation"), [(SAME, 2), (REFUSED, 1), (LoweredSpec(1, NEW, True), 1), (LoweredSpec(1, OLD, True), 1)])
def test_what_is_in_force_stays(spec: LoweredSpec, generation: int, stored: str | None) -> None:
    """What the spec lowers to only counts for a newer generation, and when it may run."""
    assert plan(IntentRecord(OLD, None, 1), spec, stored, OLD) == (OLD, generation, None, None)


def test_an_edit_that_is_taken_back_before_it_was_written_is_forgotten() -> None:
    assert plan(IntentRecord(OLD, NEW, 1), LoweredSpec(3, OLD, True), OLD, OLD) == (OLD, 3, None, None)


def test_one_that_was_written_and_then_edited_again_is_in_force_until_the_next() -> None:
    assert plan(IntentRecord(OLD, NEW, 1), LoweredSpec(3, "v1:sha256:third", True), NEW, OLD) == (NEW, None, "v1:sha256:third", None)


@pytest.mark.parametrize(
    "spec", [LoweredSpec(3, "v1:sha256:third", True), LoweredSpec(3, OLD, True), LoweredSpec(3, "v1:sha256:third", False)]
)
def test_one_that_may_have_been_written_is_not_forgotten_before_the_config_map_was_read(spec: LoweredSpec) -> None:
    assert plan(IntentRecord(OLD, NEW, 1), spec, None, OLD) == (OLD, 1, NEW, None)


@pytest.mark.parametrize("found", ["", "v1:sha256:forged"])
def test_what_is_forged_or_lost_is_written_back_where_there_is_a_copy(found: str) -> None:
    assert plan(IntentRecord(OLD, None, 2), SAME, found, OLD, NEW) == (OLD, 2, None, OLD)
    assert plan(IntentRecord(OLD, None, 2), SAME, found, NEW) == (OLD, 2, None, None)
    assert plan(IntentRecord(OLD, None, 2), SAME, None, OLD) == (OLD, 2, None, None)


@pytest.mark.parametrize(("spec", "wanted"), [(EDITED, NEW), (REFUSED, None)])
def test_an_attempt_without_a_record_is_adopted(spec: LoweredSpec, wanted: str | None) -> None:
    planned = plan_intent(IntentRecord(), True, spec, "v1:sha256:whatever", ())
    assert (planned.record.digest, planned.record.next, planned.record.adopted, planned.write) == (None, wanted, True, None)
    again = plan_intent(planned.record, True, spec, "", ())
    assert (again.record.adopted, again.write) == (True, wanted)
    if wanted:
        assert plan_intent(again.record, True, spec, wanted, ()).record.adopted, "it stays adopted once its intent is in force"
    assert not plan_intent(IntentRecord(OLD, None, 1), True, EDITED, OLD, ()).record.adopted


def test_an_adopted_attempt_stays_one_through_an_edit() -> None:
    planned = plan_intent(IntentRecord(OLD, None, 1, True), True, EDITED, OLD, ())
    assert (planned.record.next, planned.record.adopted) == (NEW, True)
