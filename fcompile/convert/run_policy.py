"""The fields of a job that say when it starts, ends and goes: what Framework has of them, and what not yet."""

from __future__ import annotations

import json

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.model.framework import MANAGED_BY

MULTIKUEUE = "kueue.x-k8s.io/multikueue"
_LIFETIME = {
    "activeDeadlineSeconds": ("it runs without a deadline", "stop it by hand (`executionType: Stop`), or with `timeout` in the command"),
    "ttlSecondsAfterFinished": (
        "it is deleted when the controller's setting says so, 30 days after its end by default",
        "delete it by hand, or set `frameworkCompletedRetainSec` of the controller",
    ),
    "cleanPodPolicy": (
        "when it ends, all of its Pods go, those that run too",
        "collect logs while the Pods run",
    ),
    "schedulingPolicy": ("its Pods are scheduled one by one", "use a scheduler that gangs by labels of Pods, or leave it"),
}
_NOT_YET = "Framework has no such field yet"


def read_run_policy(policy: Fields, draft: Draft, ledger: Ledger, operator: str) -> int | None:
    """Take over a run policy, and return its `backoffLimit`; what becomes of that depends on the replicas.

    :param operator: the value of `managedBy` that means the operator itself.
    """
    for key in policy.each():
        if key == "suspend":
            _suspend(policy, draft, ledger)
        elif key == "managedBy":
            _managed_by(policy, draft, ledger, operator)
        elif key in _LIFETIME:
            not_yet(policy, key, draft, ledger)
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
        ledger.converted(path, "spec.managedBy")
    else:
        raise Refusal(path, f"`{value}` manages this job: what that makes of it is not known here")


def not_yet(policy: Fields, key: str, draft: Draft, ledger: Ledger) -> None:
    """Take down a field that Framework does not have yet: it stays in a comment."""
    value, path = policy.value[key], policy.at(key)
    if value in ({}, "") or (key, value) == ("cleanPodPolicy", "All"):
        ledger.dropped(path, "all Pods of a Framework go when it ends" if value == "All" else "it is empty")
        return
    what, remedy = _LIFETIME[key]
    ledger.different(path, f"not yet there: {what}", _NOT_YET, remedy)
    draft.comment(f"Not yet there: {key}: {json.dumps(value, ensure_ascii=False)}", ("spec",))
