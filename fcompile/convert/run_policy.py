"""The fields of a job that say when it starts, how, and by whom: what Framework has of them, and what not yet."""

from __future__ import annotations

import json

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.model.framework import MANAGED_BY

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
RUN_POLICY = (
    "activeDeadlineSeconds",
    "backoffLimit",
    "cleanPodPolicy",
    "managedBy",
    "schedulingPolicy",
    "suspend",
    "ttlSecondsAfterFinished",
)
"""Its fields."""
GANG = (
    "for a gang, make a PodGroup, and give the Pods its name: for the coscheduling plugin in the label `scheduling.x-k8s.io/pod-group`, "
    "for Volcano in the annotation `scheduling.k8s.io/group-name`"
)
_NOT_YET = "Framework has no such field yet"


def read_run_policy(policy: Fields, draft: Draft, ledger: Ledger, operator: str) -> int | None:
    """Take over a run policy, and return its `backoffLimit`; what becomes of that depends on the replicas. `lifetime` has the rest.

    :param operator: the value of `managedBy` that means the operator itself.
    """
    for key in policy.each():
        if key == "suspend":
            _suspend(policy, draft, ledger)
        elif key == "managedBy":
            _managed_by(policy, draft, ledger, operator)
        elif key == "schedulingPolicy":
            _scheduling_policy(policy, draft, ledger)
    return policy.count("backoffLimit")


def _suspend(policy: Fields, draft: Draft, ledger: Ledger) -> None:
    path = policy.at("suspend")
    if not policy.flag("suspend"):
        ledger.dropped(path, "false is the default")
        return
    draft.execution_type = "Create"
    draft.comment("Not yet there: suspend: true. As `Create` it waits until somebody writes `Start`.", ("spec", "executionType"))
    what = "it waits as `executionType: Create`; while it runs it cannot be suspended"
    ledger.different(path, what, _NOT_YET, "write `executionType: Start` to let it run")


def _managed_by(policy: Fields, draft: Draft, ledger: Ledger, operator: str) -> None:
    value, path = policy.text("managedBy") or "", policy.at("managedBy")
    if value in ("", operator):
        ledger.dropped(path, "it names the operator itself")
    elif value == MULTIKUEUE and MULTIKUEUE in MANAGED_BY:
        draft.managed_by = value
        what, why = (
            "no controller of this cluster will run it",
            "the operator leaves such a job to MultiKueue, which knows no Frameworks yet",
        )
        ledger.different(path, what, why, "take `managedBy` out of the Framework, and fcontroller runs it here")
        draft.comment(f"Different: {what}: take it out, and fcontroller runs it here.", ("spec", "managedBy"))
    else:
        raise Refusal(path, f"`{value}` manages this job: what that makes of it is not known here")


def _scheduling_policy(policy: Fields, draft: Draft, ledger: Ledger) -> None:
    """Take down what Framework does not have yet: it stays in a comment."""
    key = "schedulingPolicy"
    value, path = policy.value[key], policy.at(key)
    if value == {}:
        ledger.dropped(path, "it is empty")
        return
    ledger.different(path, "not yet there: its Pods are scheduled one by one", _NOT_YET, GANG)
    draft.comment(f"Not yet there: {key}: {json.dumps(value, ensure_ascii=False)}", ("spec",))
