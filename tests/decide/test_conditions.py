"""Conditions: what people and `kubectl wait` see beside the state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fcontroller.decide import conditions
from fcontroller.decide.conditions import is_retained, is_said, problems, set_condition, set_paused, set_problem, set_retained, set_services
from fcontroller.decide.review import Verdict
from fcontroller.decide.spec import tracker_of
from fcontroller.decide.status import Status, to_time

FINE = ("Created", "All are there")


def said(status: Status, kind: str) -> dict[str, Any]:
    (found,) = [condition for condition in status.others["conditions"] if condition["type"] == kind]
    return dict(found)


def test_a_problem_is_only_there_once_there_was_one() -> None:
    status = Status("f-attempt", 0)
    assert not set_problem(status, "PodsCreated", "", "", FINE, 1, 10)
    assert "conditions" not in status.others
    assert set_problem(status, "PodsCreated", "Quota", "no more", FINE, 1, 10)
    assert not set_problem(status, "PodsCreated", "Quota", "no more", FINE, 1, 20)
    assert (said(status, "PodsCreated")["status"], said(status, "PodsCreated")["lastTransitionTime"]) == ("False", to_time(10))
    assert not set_problem(status, "PodsCreated", "", "", FINE, 1, 30)
    assert (said(status, "PodsCreated")["status"], said(status, "PodsCreated")["reason"]) == ("True", "Created")
    revision = status.revision
    assert not set_problem(status, "PodsCreated", "", "", ("Other", "words"), 2, 40)
    assert (status.revision, said(status, "PodsCreated")["lastTransitionTime"]) == (revision, to_time(30)), (
        "nothing new, nothing is written"
    )


def test_another_reason_keeps_the_time_and_is_told() -> None:
    status = Status("f-attempt", 0)
    assert set_condition(status, "A", None, "One", "m", 1, 10)
    assert set_condition(status, "B", True, "Other", "m", 1, 10)
    assert set_condition(status, "A", None, "Two", "m", 1, 20)
    assert [(one["type"], one["status"], one["reason"], one["lastTransitionTime"]) for one in status.others["conditions"]] == [
        ("B", "True", "Other", to_time(10)),
        ("A", "Unknown", "Two", to_time(10)),
    ]
    assert (is_said(status, "A", "Two"), is_said(status, "A", "One"), is_said(status, "C", "One")) == (True, False, False)


@pytest.mark.parametrize(("length", "kept"), [(4095, 4095), (4096, 4096), (4097, 4096)])
def test_a_long_message_is_cut(length: int, kept: int) -> None:
    status = Status("f-attempt", 0)
    set_condition(status, "A", False, "R", "x" * length, 1, 10)
    message = said(status, "A")["message"]
    assert (len(message), message.endswith("…")) == (kept, length > kept)


def test_problems_and_since_when_they_last() -> None:
    status = Status("f-attempt", 0)
    set_problem(status, conditions.PODS_CREATED, "Quota", "m", FINE, 1, 10)
    set_problem(status, conditions.SERVICES_MADE, "Refused", "m", FINE, 1, 20)
    set_problem(status, conditions.OBJECTS_DELETED, "Stuck", "m", FINE, 1, 5)
    set_problem(status, conditions.OBJECTS_DELETED, "", "", FINE, 1, 6)
    set_problem(status, conditions.INTENT_STORED, "WaitsForTurn", "m", FINE, 1, 5)
    assert problems(status) == {"PodsCreated": 10, "ServicesMade": 20}


def test_what_has_no_problem_any_more_says_which_it_was() -> None:
    status = Status("f-attempt", 0)
    set_problem(status, conditions.PODS_CREATED, "Quota", "m", FINE, 1, 10)
    for _ in range(2):
        conditions.set_not_needed(status, conditions.PODS_CREATED, 1, 20)
        found = said(status, conditions.PODS_CREATED)
        assert (found["status"], found["message"]) == ("True", "No attempt runs. Before: m")


@pytest.mark.parametrize(
    "nonsense", ["False", {"a": "b"}, [None], [{"type": "PodsCreated"}], [{"status": "False", "reason": "Quota", "type": "A"}]]
)
def test_conditions_that_somebody_else_has_spoilt_are_no_problems(nonsense: object) -> None:
    status = Status("f-attempt", 0)
    status.others = {"conditions": nonsense}
    assert problems(status) == {}


def test_services_that_are_taken_or_refused() -> None:
    status = Status("f-attempt", 0)
    assert set_services(status, [], "", 1, 10) is None
    new = set_services(status, ["f-a", "f-b"], "quota", 1, 10)
    assert new is not None
    assert new[0] == "ServiceNameTaken"
    assert "`f-a`, `f-b`" in new[1]
    assert set_services(status, [], "quota", 1, 10) == ("ServiceRefused", "A Service cannot be made or changed: quota")
    assert set_services(status, [], "", 1, 20) is None
    assert (said(status, "ServicesMade")["status"], said(status, "ServicesMade")["reason"]) == ("True", "Made")


def test_a_review_that_is_taken_away_is_warned_of() -> None:
    status = Status("f-attempt", 0)
    good, bad, none = Verdict(True, "Match", "m", True), Verdict(False, "Mismatch", "n", False), Verdict(None, "NotCompiled", "o", True)
    warnings = [conditions.set_reviewed(status, verdict, 1, 10) for verdict in (none, good, none, bad, bad)]
    removed = "o any more: somebody has removed it, and nothing is enforced without it"
    assert warnings == [None, None, ("NotCompiled", removed), ("Mismatch", "n"), None]
    never = Status("f-attempt", 0)
    assert [conditions.set_reviewed(never, none, generation, 10) for generation in (1, 2)] == [None, None], "there was none to take away"


def test_a_good_end() -> None:
    status = Status("f-attempt", 0)
    status.attempt.completion = {"code": 0, "phrase": "Succeeded", "type": {"name": "Succeeded", "attributes": []}}
    conditions.set_completed(status, 1, 10)
    assert {kind: said(status, kind)["status"] for kind in ("Completed", "Succeeded")} == {"Completed": "True", "Succeeded": "True"}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"trigger": {"message": "1 task of role a has failed"}, "diagnostics": "PodPattern unmatched"}, ": 1 task of role a has failed"),
        ({"diagnostics": "The Framework was told to stop"}, ": The Framework was told to stop"),
        ({}, ""),
    ],
)
def test_the_end_is_said_with_why(more: dict[str, Any], why: str) -> None:
    """The Event that says so is gone after an hour."""
    status = Status("f-attempt", 0)
    status.attempt.completion = {"code": 7, "phrase": "Broke", "type": {"name": "Failed", "attributes": []}, **more}
    conditions.set_completed(status, 1, 10)
    assert said(status, "Completed")["message"] == said(status, "Succeeded")["message"] == f"7 Broke{why}"


@pytest.mark.parametrize(("phrase", "reason"), [("My_Phrase1", "My_Phrase1"), ("my phrase", "Failed"), ("", "Failed"), ("Ends_", "Ends_")])
def test_the_end_is_said_with_a_reason_that_kubernetes_takes(phrase: str, reason: str) -> None:
    status = Status("f-attempt", 0)
    status.attempt.completion = {"code": 3, "phrase": phrase, "type": {"name": "Failed", "attributes": []}}
    conditions.set_completed(status, 1, 10)
    assert (said(status, "Completed")["status"], said(status, "Succeeded")["status"]) == ("True", "False")
    assert (said(status, "Succeeded")["reason"], said(status, "Succeeded")["message"]) == (reason, f"3 {phrase}".strip())


def test_what_is_kept_says_so_once() -> None:
    before = {"conditions": [{"type": "Completed"}], "state": "Completed"}
    once = set_retained(before, "Tracked", "Flux", 1, 10)
    assert once is not None
    assert [condition["type"] for condition in once["conditions"]] == ["Completed", "Retained"]
    assert (once["conditions"][1]["status"], once["conditions"][1]["reason"]) == ("True", "Tracked")
    assert set_retained(once, "Tracked", "Flux", 1, 20) is None
    again = set_retained(once, "Tracked", "Argo CD", 1, 20)
    assert again is not None
    assert [condition["type"] for condition in again["conditions"]] == ["Completed", "Retained"]
    assert again["conditions"][1]["lastTransitionTime"] == to_time(10)
    assert before["conditions"] == [{"type": "Completed"}]
    alone = set_retained({"state": "Completed"}, "Tracked", "Flux", 1, 10)
    assert alone is not None
    (retained,) = alone["conditions"]
    assert retained == {
        **{"type": "Retained", "status": "True", "reason": "Tracked", "lastTransitionTime": to_time(10), "observedGeneration": 1},
        "message": "It is over and would have been deleted by now, but Flux tracks it, and would make it and run it again. Remove it there",
    }


@pytest.mark.parametrize("reason", ["NotDue", "Paused", "NotTracked"])
def test_what_is_not_kept_any_more_says_so_once(reason: str) -> None:
    assert set_retained({"state": "Completed"}, reason, "", 1, 10) is None
    kept = set_retained({"state": "Completed"}, "Tracked", "Flux", 1, 10)
    assert kept is not None
    goes = set_retained(kept, reason, "", 2, 20)
    assert goes is not None
    (retained,) = goes["conditions"]
    assert retained.pop("message")
    about = {"lastTransitionTime": to_time(20), "observedGeneration": 2}
    assert retained == {"type": "Retained", "status": "False", "reason": reason, **about}
    assert (is_retained(kept), is_retained(goes)) == (True, False)
    assert set_retained(goes, "Paused", "", 2, 30) is None
    again = set_retained(goes, "Tracked", "Flux", 2, 40)
    assert again is not None
    assert (again["conditions"][0]["status"], again["conditions"][0]["lastTransitionTime"]) == ("True", to_time(40))


def test_nothing_new_is_said_as_false() -> None:
    status = Status("f-attempt", 0)
    assert set_condition(status, "A", True, "R", "m", 1, 10) is True
    assert said(status, "A") == {
        **{"type": "A", "status": "True", "reason": "R", "message": "m", "observedGeneration": 1, "lastTransitionTime": to_time(10)}
    }
    assert set_condition(status, "A", True, "R", "m", 1, 20) is False
    assert set_problem(status, "PodsCreated", "", "", FINE, 1, 10) is False


def test_a_pause_is_said_each_time_and_nothing_is_when_there_was_none() -> None:
    status = Status("f-attempt", 0)
    seen = []
    for number, paused in enumerate((False, True, True, False, False, True)):
        revision = status.revision
        set_paused(status, paused, 1, number)
        if status.revision > revision:
            assert status.changed == status.revision, "what was decided before, and is not begun, is decided anew"
            seen.append((number, said(status, "Paused")["status"]))
    assert seen == [(1, "True"), (3, "False"), (5, "True")]


FLUX = "kustomize.toolkit.fluxcd.io/name"


@pytest.mark.parametrize(
    ("labels", "annotation", "tracker"),
    [
        ({}, "", ""),
        ({FLUX: "a"}, "", "Flux"),
        ({"helm.toolkit.fluxcd.io/name": "a"}, "", "Flux"),
        ({"team": "a"}, "", "the label team"),
        ({"other": "a"}, "", ""),
        (None, "app:frameworkcontroller.microsoft.com/Framework:ns/f", "Argo CD"),
        ({}, "app:frameworkcontroller.microsoft.com/Framework:ns/g", ""),
    ],
)
def test_who_tracks_it(labels: Any, annotation: str, tracker: str) -> None:
    metadata = {"namespace": "ns", "name": "f", "labels": labels, "annotations": {"argocd.argoproj.io/tracking-id": annotation}}
    assert tracker_of({"metadata": metadata}, "team") == tracker
    assert tracker_of({"metadata": {**metadata, "annotations": None, "labels": {"": "a"}}}, "") == ""
    assert tracker_of({"metadata": {**metadata, "annotations": None, "labels": None}}, "team") == ""


def test_the_conditions_that_alerts_and_people_wait_for_are_documented(repository: Path) -> None:
    documented = "".join(page.read_text("utf-8") for page in (repository / "docs").glob("*.md"))
    kinds = [conditions.INTENT_REVIEWED, *conditions.PROBLEMS, conditions.MESSAGES_KEPT, conditions.PAUSED, conditions.ADOPTED]
    kinds += [conditions.RETAINED, conditions.PODS_UP_TO_DATE, conditions.COMPLETED, conditions.SUCCEEDED]
    assert [kind for kind in kinds if f"`{kind}" not in documented] == []
