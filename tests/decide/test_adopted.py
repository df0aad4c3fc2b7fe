"""What is said of an attempt that FrameworkController began."""

from __future__ import annotations

import pytest

from fcontroller.decide.codes import Json
from fcontroller.decide.conditions import set_adopted
from fcontroller.decide.status import Status


def said(status: Status) -> Json:
    (condition,) = status.others["conditions"]
    return {key: condition[key] for key in ("type", "status", "reason", "message")}


def test_pods_as_they_should_be_are_no_reason_to_warn() -> None:
    status = Status("f-attempt", 0)
    assert set_adopted(status, {}, 1, 0) is None
    assert said(status) == {
        "type": "Adopted",
        "status": "True",
        "reason": "PodsMatch",
        "message": "Attempt 0 began before this controller knew it; its Pods are what the intent says",
    }


def test_a_few_of_those_that_differ_are_named_and_it_is_warned_once() -> None:
    status = Status("f-attempt", 0)
    fields = ["spec.containers[main].image", "spec.nodeSelector", "spec.priority", "spec.subdomain"]
    differing = {f"f-a-{index}": fields[: index + 1] for index in range(5)}
    message = (
        "Attempt 0 began before this controller knew it; Pods that differ from the intent run on until their tasks are retried: "
        "`f-a-0` in `spec.containers[main].image`; `f-a-1` in `spec.containers[main].image`, `spec.nodeSelector`; "
        "`f-a-2` in `spec.containers[main].image`, `spec.nodeSelector`, `spec.priority` and 2 more"
    )
    assert set_adopted(status, differing, 1, 0) == ("AdoptedPodsDiffer", message)
    assert said(status)["reason"] == "PodsDiffer"
    assert set_adopted(status, differing, 1, 0) is None


@pytest.mark.parametrize(("pods", "fields", "more"), [(1, 1, []), (3, 3, []), (4, 4, [" and 1 more", ", …"]), (5, 1, [" and 2 more"])])
def test_what_is_left_out_is_counted(pods: int, fields: int, more: list[str]) -> None:
    status = Status("f-attempt", 0)
    warning = set_adopted(status, {f"f-a-{index}": ["spec.priority"] * fields for index in range(pods)}, 1, 0)
    assert warning is not None
    assert [found for found in (" and 0 more", " and 1 more", " and 2 more", ", …") if found in warning[1]] == more
    assert warning[1].endswith((" more", "`spec.priority`"))
