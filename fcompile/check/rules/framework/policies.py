"""Policies that can never do what they seem to say: retries, completion, and what a Pod's restartPolicy makes of them.

Frameworks with these policies run, but hardly as meant, so the problems are warnings.
"""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.check.context import FrameworkContext, RoleContext
from fcompile.check.misplaced import explained
from fcompile.diagnostics.problem import Finding, Fix, Path, warning_rule
from fcompile.diagnostics.suggestions import closest
from fcompile.model.values import integer, mapping, text
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import FRAMEWORK_TYPES

UNREACHABLE = warning_rule(
    code="FC301",
    name="unreachable-completion-policy",
    summary="A completion policy waits for more tasks than its role has.",
    why="The count can never be reached, so the policy does nothing.",
    remedy="Lower it to at most `taskNumber`, or write -1 to say that there is no limit.",
)
ZERO = warning_rule(
    code="FC302",
    name="zero-in-completion-policy",
    summary="A completion policy says 0, which means no limit.",
    why="FrameworkController treats 0 as -1: the policy is switched off.",
    remedy="Write -1 to say so, or 1 to complete the attempt at the first such task.",
)
GAP = warning_rule(
    code="FC303",
    name="contradictory-completion-policy",
    summary="Some mixtures of failed and succeeded tasks reach neither of a role's two counts.",
    why="When every task is completed and no policy was reached, the attempt counts as Succeeded, failed tasks or not.",
    remedy="Choose counts whose sum is at most taskNumber + 1.",
)
FAILURES_IGNORED = warning_rule(
    code="FC304",
    name="failures-never-fail",
    summary="No role's minFailedTaskCount can end the attempt as failed.",
    why="The Framework will be Succeeded even when every task failed.",
    remedy="Set minFailedTaskCount to 1 or more in each role whose failures matter.",
)
RETRY_NEVER_FIRES = warning_rule(
    code="FC305",
    name="retry-never-fires",
    summary="A retry policy never has anything to retry.",
    why="Failures never end the attempt, so there is no failed attempt to retry.",
    remedy="Let failures end it, or drop the retry policy.",
)
NEVER_COMPLETES = warning_rule(
    code="FC306",
    name="never-completes",
    summary="A completion policy waits for tasks that never complete.",
    why=(
        "With `restartPolicy: Always` the kubelet restarts the containers for ever, and with `maxRetryCount: -2` the task "
        "itself is always retried: it never counts as succeeded."
    ),
    remedy="Use `restartPolicy: Never` (or OnFailure) and a retry policy that ends.",
)
RESTART_POLICY_LEFT_OUT = warning_rule(
    code="FC307",
    name="restart-policy-left-out",
    summary="A Pod template has no restartPolicy, which means Always.",
    why="Kubernetes restarts the containers for ever, so the task never completes.",
    remedy="Write `restartPolicy: Never` for a task that ends, or `Always` to say that it serves.",
)
NOTHING_RUNS = warning_rule(
    code="FC308",
    name="nothing-runs",
    summary="A Framework has no task at all.",
    why="Without tasks an attempt never completes: it waits in AttemptPreparing until somebody scales it up or stops it.",
    remedy="Give a role a taskNumber of 1 or more.",
)
SUCCESS_ENDS_NOTHING = warning_rule(
    code="FC309",
    name="success-ends-nothing",
    summary="The tasks of one role end, those of another never do, and nothing says that the attempt is over by then.",
    why="An attempt succeeds once all tasks of all roles have completed, or a minSucceededTaskCount is reached. This one runs on for ever.",
    remedy="Set minSucceededTaskCount in the role whose success is that of the job, often to 1 or to its taskNumber.",
)
RETRY_EVEN_SUCCESS = -2


def policies(context: FrameworkContext) -> Iterator[Finding]:
    """Yield the problems of one Framework's policies."""
    for role in context.roles:
        yield from _completion_policy(role)
        yield from _restart_policy(role)
    yield from _whole_framework(context)


def _in_force(role: RoleContext, name: str) -> int:
    """Return a count of the role's completion policy, or its default."""
    value = integer(mapping(role.value, "frameworkAttemptCompletionPolicy"), name)
    return int(FRAMEWORK_TYPES["CompletionPolicy"][name].default) if value is None else value


def min_failed(role: RoleContext) -> int:
    return _in_force(role, "minFailedTaskCount")


def min_succeeded(role: RoleContext) -> int:
    return _in_force(role, "minSucceededTaskCount")


def _completion_policy(role: RoleContext) -> Iterator[Finding]:
    number_known = _knows_its_number(role)
    policy = mapping(role.value, "frameworkAttemptCompletionPolicy")
    base = (*role.path, "frameworkAttemptCompletionPolicy")
    for name in ("minFailedTaskCount", "minSucceededTaskCount"):
        count, path = integer(policy, name), (*base, name)
        if count == 0:
            message = f"`{name}: 0` means no limit: write -1 to say so, or 1 to complete the attempt at the first such task"
            yield Finding(ZERO, path, message, fix=Fix("write -1, which means the same", path, "value", "-1"))
        # A role with 0 tasks is waiting to be scaled up, and so is its policy.
        elif number_known and count is not None and count > role.task_number > 0:
            message = (
                f"`{name}: {count}` can never be reached with {_tasks(role.task_number)}: lower it to at most {role.task_number}, or write "
                "-1 for no limit"
            )
            yield Finding(UNREACHABLE, path, message)
    failed, succeeded = min_failed(role), min_succeeded(role)
    within = number_known and 1 <= failed <= role.task_number and 1 <= succeeded <= role.task_number
    if within and failed + succeeded > role.task_number + 1:
        message = (
            f"with {failed - 1} of {_tasks(role.task_number)} failed and {role.task_number - failed + 1} succeeded neither count is "
            "reached, and the attempt is Succeeded all the same: let minFailedTaskCount + minSucceededTaskCount be at most "
            f"{role.task_number + 1}"
        )
        yield Finding(GAP, base, message, part="key")


def _knows_its_number(role: RoleContext) -> bool:
    """Return whether `taskNumber` is what it seems.

    If it is misspelt or of a wrong type, that has been reported, and problems that follow from it would mislead.
    """
    value = role.value
    if not isinstance(value, dict):
        return False
    if value.get("taskNumber") is not None:
        return integer(value, "taskNumber") is not None
    return "taskNumber" not in explained("TaskRole", value, FRAMEWORK_TYPES["TaskRole"], NEWEST)


def _restart_policy(role: RoleContext) -> Iterator[Finding]:
    spec = mapping(role.template, "spec")
    spec_path: Path = (*role.template_path, "spec")
    restart = text(spec, "restartPolicy")
    none = spec and spec.get("restartPolicy") in (None, "")
    # What is nearly that name is told of as such. Compared with all names, as in `explained`, thousands of Frameworks take seconds.
    if none and not any(closest(str(key), ("restartPolicy",)) for key in spec if key != "restartPolicy"):
        how, place = ("empty", (*spec_path, "restartPolicy")) if "restartPolicy" in spec else ("left out", spec_path)
        message = f"`restartPolicy` is {how}, which means Always: a task that ends needs `Never`"
        yield Finding(RESTART_POLICY_LEFT_OUT, place, message, part="key")
    if min_succeeded(role) < 1:
        return
    path = (*role.path, "frameworkAttemptCompletionPolicy", "minSucceededTaskCount")
    retry = integer(mapping(mapping(role.value, "task"), "retryPolicy"), "maxRetryCount")
    if restart == "Always":
        never = "succeed, since `restartPolicy: Always` restarts their containers for ever: use `restartPolicy: Never` or OnFailure"
    elif retry == RETRY_EVEN_SUCCESS:
        never = "complete, since `task.retryPolicy.maxRetryCount: -2` retries them even when they succeed: use -1 or a limit"
    else:
        return
    yield Finding(NEVER_COMPLETES, path, f"`minSucceededTaskCount: {min_succeeded(role)}` waits for tasks that never {never}")


def _whole_framework(context: FrameworkContext) -> Iterator[Finding]:
    roles = context.roles
    if not roles:
        return
    if all(role.task_number == 0 for role in roles):
        message = "every role has `taskNumber: 0`, so that nothing runs and the attempt never completes"
        yield Finding(NOTHING_RUNS, ("spec", "taskRoles"), message, part="key")
        return
    yield from _success(roles)
    if any(min_failed(role) >= 1 or min_failed(role) < -1 for role in roles):  # values below -1 have been reported
        return
    retry = mapping(mapping(context.value, "spec"), "retryPolicy")
    count = integer(retry, "maxRetryCount") or 0
    # Where successes end the attempt, failures are tolerated on purpose.
    if all(min_succeeded(role) < 1 for role in roles):
        message = "no role has a minFailedTaskCount of 1 or more: no failure ends the attempt"
        yield Finding(FAILURES_IGNORED, ("spec", "taskRoles"), message, part="key")
    if count == -1 or count > 0:
        message = (
            f"`maxRetryCount: {count}` has no failed attempt to retry, since no role's minFailedTaskCount lets a failure end the attempt: "
            "set minFailedTaskCount, or drop the retry policy"
        )
        yield Finding(RETRY_NEVER_FIRES, ("spec", "retryPolicy", "maxRetryCount"), message)


def _success(roles: tuple[RoleContext, ...]) -> Iterator[Finding]:
    """Yield that no success ends the attempt, because of a role that serves beside one that ends."""
    with_tasks = [role for role in roles if role.task_number > 0]
    serving = [role for role in with_tasks if _serves_for_ever(role)]
    ending = [role for role in with_tasks if _ends(role)]
    if not serving or not ending or any(min_succeeded(role) >= 1 for role in roles):
        return
    message = (
        f"tasks of `{serving[0].name}` never end, so the attempt runs on after those of `{ending[0].name}` have succeeded: "
        f"set `minSucceededTaskCount` in the `frameworkAttemptCompletionPolicy` of `{ending[0].name}`"
    )
    yield Finding(SUCCESS_ENDS_NOTHING, ending[0].path, message)


def _serves_for_ever(role: RoleContext) -> bool:
    """Return whether the role says that its tasks never complete. (Where `restartPolicy` is left out, that has been reported.)"""
    retry = integer(mapping(mapping(role.value, "task"), "retryPolicy"), "maxRetryCount")
    return text(mapping(role.template, "spec"), "restartPolicy") == "Always" or retry == RETRY_EVEN_SUCCESS


def _ends(role: RoleContext) -> bool:
    return text(mapping(role.template, "spec"), "restartPolicy") in ("Never", "OnFailure") and not _serves_for_ever(role)


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"
