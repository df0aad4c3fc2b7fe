"""Changes of scale while an attempt runs: new tasks are added at the tail; superfluous ones are marked there, and removed once they end.

A task that is marked DeletionPending does not count any more, and is not used again: it is ended, and then dropped, or replaced by a new
task if the spec wants its index again. None of this happens once the attempt is ending.
"""

from __future__ import annotations

from fcontroller.decide.codes import scaled_away
from fcontroller.decide.context import TASK_DELETION, ReconcileContext
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, COMPLETING
from fcontroller.decide.status import Role, Task


def rescale(context: ReconcileContext) -> bool:
    """Follow the spec's scale. Return whether that must be stored before anything else happens."""
    status = context.status
    if status.state in (*COMPLETING, ATTEMPT_COMPLETED, COMPLETED):
        return False
    if _follow(context) or _compact(context):
        status.settled = status.revision
        return True
    return False


def _follow(context: ReconcileContext) -> bool:
    changed, may_grow = False, context.spec.may_have_all(context.status.task_number)
    for spec in context.spec.roles.values():
        role = context.status.role(spec.name)
        if not may_grow and (role is None or len(role.tasks) < spec.task_number):
            continue
        if role is None:
            role = context.new_role(spec.name, 0)
            context.status.roles.append(role)
            context.status.touch()
        for index in range(len(role.tasks), spec.task_number):
            role.add(context.new_task(spec.name, index))
            changed = True
        changed |= _mark(context, role, spec.task_number)
    for role in context.status.roles:
        if role.name not in context.spec.roles:
            changed |= _mark(context, role, 0)
    return changed


def _mark(context: ReconcileContext, role: Role, first: int) -> bool:
    """Mark the tasks from an index on. Return whether one of them was not marked yet."""
    changed = False
    for task in role.tasks[first:]:
        if not task.deletion_pending:
            role.count(task, -1)
            task.deletion_pending = True
            role.count(task, 1)
            if task.attempt.completion is None:
                task.attempt.completion = scaled_away()
            task.changed = context.status.touch()
            changed = True
    return changed


def _compact(context: ReconcileContext) -> bool:
    """Drop and replace marked tasks that are done. Only a new task must be stored before anything else happens."""
    roles, replaced = context.status.roles, False
    for place in range(len(roles) - 1, -1, -1):
        role = roles[place]
        if not role.deletion_pending and role.name in context.spec.roles:
            continue
        spec = context.spec.roles.get(role.name)
        wanted = spec.task_number if spec else 0
        while len(role.tasks) > wanted and _is_done(context, role.tasks[-1]):
            _drop(context, role, role.tasks.pop())
            context.status.touch()
        if spec is None and not role.tasks:
            roles[place] = roles[-1]
            roles.pop()
            context.status.touch()
        for index in range(min(len(role.tasks), wanted) - 1, -1, -1):
            if _is_done(context, role.tasks[index]):
                _drop(context, role, role.tasks[index])
                role.tasks[index] = context.new_task(role.name, index)
                role.count(role.tasks[index], 1)
                replaced = True
    return replaced


def _drop(context: ReconcileContext, role: Role, task: Task) -> None:
    """Take a task that is done out of what is counted and waited for."""
    context.keep(TASK_DELETION, role, task)
    context.status.forget(task)
    role.count(task, -1)


def _is_done(context: ReconcileContext, task: Task) -> bool:
    return task.deletion_pending and task.state == COMPLETED and not task.pod_kept and context.status.is_stored(task)
