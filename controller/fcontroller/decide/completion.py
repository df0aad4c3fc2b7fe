"""When completed tasks complete the attempt of the whole Framework, and how that has ended then."""

from __future__ import annotations

from fcontroller.decide import states
from fcontroller.decide.codes import FRAMEWORK_ATTEMPT_ENDS, SUCCEEDED, Json
from fcontroller.decide.context import ReconcileContext
from fcontroller.decide.retry import RetryDecision, retry_decision
from fcontroller.decide.spec import RoleSpec
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, COMPLETING
from fcontroller.decide.status import Role, Task

Found = tuple[float, Json]
"""When a policy was met, and the completion status that follows."""
TOGETHER = 0.4
"""Seconds. Tasks that complete so close to each other complete together, and the order of the spec counts: states are collected for a
quarter of a second before they are stored, so a smaller difference says more about the storing than about the Pods."""


def policies(context: ReconcileContext) -> None:
    """End the attempt by the completion policy that was met first, or when all tasks have completed."""
    met = [found for spec in context.spec.roles.values() for found in _of_role(context, spec)]
    if met:
        first = min(when for when, _ in met)
        end_framework_attempt(context, next(completion for when, completion in met if _together(when, first)))
    elif 0 < context.spec.task_number <= _completed_tasks(context) and not context.spec.awaited:
        role, task = _last(context)
        end_framework_attempt(context, _all_completed(role, task, _completed_tasks(context), context.spec.task_number))


def _completed_tasks(context: ReconcileContext) -> int:
    return sum(role.completed for role in context.status.roles)


def _together(one: float, other: float) -> bool:
    return abs(one - other) <= TOGETHER


def task_completed(context: ReconcileContext, role: Role, task: Task) -> None:
    """Apply the policies if a task that has completed just now can make a difference."""
    spec = context.spec.roles.get(role.name)
    if context.status.state in COMPLETING or spec is None or task.deletion_pending:
        return
    reached = 1 <= spec.min_failed <= role.failed or 1 <= spec.min_succeeded <= role.succeeded
    if reached or _completed_tasks(context) >= context.spec.task_number:
        policies(context)


def _of_role(context: ReconcileContext, spec: RoleSpec) -> list[Found]:
    role = context.status.role(spec.name)
    if role is None:
        return []
    found = []
    for what, wanted, reached in (("failed", spec.min_failed, role.failed), ("succeeded", spec.min_succeeded, role.succeeded)):
        if 1 <= wanted <= reached:
            trigger = _nth(role, what, wanted)
            found.append((_completed(trigger), _met(role, trigger, reached, wanted, what)))
    return found


def _completed(task: Task) -> float:
    """Return when the task completed. Stored times are cut to whole seconds, so they sort before later times of the same second."""
    return task.completion_time or 0


def _nth(role: Role, counted: str, number: int) -> Task:
    """Return the task that was the `number`-th, counted from 1, to complete among those that count as `counted` ("failed", "succeeded")."""
    tasks = sorted((task for task in role.tasks if task.counted == counted), key=_completed)
    when = _completed(tasks[number - 1])
    before = sum(_completed(task) < when and not _together(_completed(task), when) for task in tasks)
    together = [task for task in role.tasks if task.counted == counted and _together(_completed(task), when)]
    return together[number - 1 - before]


def _last(context: ReconcileContext) -> tuple[Role, Task]:
    """Return the task that completed last; of several at the same time the last one in the order of the spec."""
    roles = [role for name in context.spec.roles if (role := context.status.role(name)) is not None]
    done = [(role, task) for role in roles for task in role.tasks if task.counted in ("failed", "succeeded")]
    end = max(_completed(task) for _, task in done)
    return [found for found in done if _together(_completed(found[1]), end)][-1]


def _trigger(role: Role, task: Task, message: str) -> Json:
    return {"message": message, "taskRoleName": role.name, "taskIndex": task.index}


def _met(role: Role, task: Task, reached: int, wanted: int, what: str) -> Json:
    """Return the completion of the Framework's attempt: that of the task that met the policy, with this task as its trigger."""
    own = task.attempt.completion
    assert own is not None
    policy = f"min{what.capitalize()}TaskCount"
    which = f"1 task of role {role.name} has" if reached == 1 else f"{reached} tasks of role {role.name} have"
    message = f"{which} {what}, which meets {policy} {wanted}"
    taken = {key: value for key, value in own.items() if key != "pod"}
    return {**taken, "trigger": _trigger(role, task, message)}


def _all_completed(role: Role, task: Task, completed: int, total: int) -> Json:
    message = f"All {completed} of {total} tasks are completed, and no completion policy was met"
    return {**SUCCEEDED.ended(message), "trigger": _trigger(role, task, message)}


def end_framework_attempt(context: ReconcileContext, completion: Json) -> None:
    """Record how the Framework's attempt has ended, while its ConfigMap still exists, and begin to delete it."""
    complete_attempt(context, completion)
    context.status.transition(states.FRAMEWORK_ENDS, context.now)
    if context.spec.keeps_pods:
        # It must be stored before the ConfigMap is deleted: of the last attempt, Pods that are kept outlive it.
        status, ended = context.status, context.status.attempt.completion
        assert ended is not None
        decision = retry_decision(context.spec.retry, status.retries.accountable, ended)
        status.retry_refused = not decision.retries
        if decision.retries:
            schedule_retry(context, decision)


def schedule_retry(context: ReconcileContext, decision: RetryDecision) -> None:
    """Record that the Framework is retried, and how long after the end of this attempt."""
    context.status.retries.delay = context.random_delay(*context.settings.conflict_delay) if decision.conflict else 0


def framework_attempt_gone(context: ReconcileContext, completion: Json | None) -> None:
    """Record that the Framework's attempt and its ConfigMap are gone for sure, and every task with them. A known completion stays."""
    complete_attempt(context, completion)
    status, now = context.status, context.now
    for role, task in status.tasks():
        if task.state == COMPLETED:
            continue
        if task.state != ATTEMPT_COMPLETED:
            status.transition_task(role, task, states.TASK_GONE, now)
        task.retries.delay = None
        status.transition_task(role, task, states.TASK_DONE, now)
    status.waiting.clear()
    status.transition(states.FRAMEWORK_GONE, now)


def ended_with_the_attempt() -> Json:
    """Return the completion of a task that ends because the Framework's attempt does."""
    return FRAMEWORK_ATTEMPT_ENDS.ended("The attempt of the Framework has ended")


def complete_attempt(context: ReconcileContext, completion: Json | None) -> None:
    """Record how the Framework's attempt has ended, and every task's attempt with it. What is known already stays."""
    attempt = context.status.attempt
    if attempt.completion is None:
        attempt.completion = completion
    ended = ended_with_the_attempt()
    for role, task in context.status.tasks():
        if task.attempt.completion is None:
            role.count(task, -1)
            task.attempt.completion = ended
            role.count(task, 1)
