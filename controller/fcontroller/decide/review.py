"""Whether what would run is what was reviewed, and which spec holds while the newest edit is not in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fcompile.lower.digest import KNOWN, version_of
from fcompile.lower.intent import Intent, Role
from fcontroller.decide.spec import RetryPolicy, RoleSpec, Spec, owners_of_pods, read_role
from fcontroller.decide.status import Role as RoleStatus
from fcontroller.decide.status import Status

_LONGEST = 100
"""Characters of an annotation that are shown. A digest has fewer, and anybody may write something else."""


class Verdict(NamedTuple):
    """What the condition says, and whether an attempt may begin with it."""

    reviewed: bool | None
    """None: nobody said what was reviewed."""
    reason: str
    message: str
    may_run: bool


class Rules(NamedTuple):
    """How strictly the controller enforces reviews."""

    enforce: bool = True
    """Run nothing that differs from what its digest says was reviewed."""
    require: bool = False
    """Also run nothing without a digest. No more is required than is enforced (`effective_settings`)."""


def review(reviewed: str | None, digest: str, rules: Rules) -> Verdict:
    """Compare the digest of what was reviewed, if there is one, with that of what would run."""
    if reviewed == digest:
        return Verdict(True, "DigestMatches", f"New Pods are made from what was reviewed: {digest}", True)
    held = "; until then no Pod is made of it, and a restart waits" if rules.enforce else ""
    fix = f"compile it with `fcompile build`, review and apply that{held}"
    if not reviewed:
        said = "The Framework has no digest of what was reviewed"
        return Verdict(False if rules.require else None, "NotCompiled", f"{said}: {fix}" if rules.require else said, not rules.require)
    shown = reviewed[:_LONGEST]
    version = version_of(shown)
    if version[:1] == "v" and version[1:].isdecimal() and version not in KNOWN:
        said = f"{shown} was reviewed, by the lowering rules {version}, and this controller has {' and '.join(KNOWN)}"
        return Verdict(False, "UnknownLowering", f"{said}: use fcompile and fcontroller of one version, or {fix}", not rules.enforce)
    return Verdict(False, "DigestDiffers", f"What would run is {digest}, and {shown} was reviewed: {fix}", not rules.enforce)


def in_force(spec: Spec, intent: Intent, last: Spec) -> Spec:
    """Return the spec as far as the intent that an attempt runs has its roles: their counts and policies count at once.

    It is the whole spec when the intent was made of it. If not, a role that the spec has lost stays as it is stored, with as many tasks
    as it had in the last spec in force.
    """
    return with_roles(spec, {role.name: _role_in_force(role, spec, last) for role in intent.roles})


def _role_in_force(role: Role, spec: Spec, last: Spec) -> RoleSpec:
    if role.name in spec.roles:
        return spec.roles[role.name]._replace(owners=owners_of_pods(role.pod))
    task = {**role.policies, "pod": role.pod}
    stored = read_role({"name": role.name, "taskNumber": role.task_number, **role.policies, "task": task})
    return stored._replace(task_number=last.roles[role.name].task_number) if role.name in last.roles else stored


def with_what_runs(spec: Spec, status: Status) -> Spec:
    """Return the part of the spec that is about running roles, for the time in which the intent is not known.

    A role that the spec has lost stays. What becomes of its tasks that have ended is decided once the intent is known, or the edit holds.
    """
    roles = [spec.roles.get(role.name) or _bare_role(role) for role in status.roles]
    return with_roles(spec, {role.name: role for role in roles})


def with_roles(spec: Spec, roles: Mapping[str, RoleSpec]) -> Spec:
    """Return the spec with other roles in force than it has."""
    there = {name: role.task_number for name, role in roles.items()}
    awaited = sum(max(role.task_number - there.get(role.name, 0), 0) for role in spec.roles.values())
    return spec._replace(roles=roles, awaited=awaited)


def _bare_role(role: RoleStatus) -> RoleSpec:
    # Of those before the last that is wanted, one may be marked still: a new task takes its place when it has ended.
    count = max([task.index + 1 for task in role.tasks if not task.deletion_pending], default=0)
    never = RetryPolicy(fancy=False, max_retry_count=0)
    return RoleSpec(role.name, count, -1, -1, never, role.graceful_deletion_timeout, known=False)
