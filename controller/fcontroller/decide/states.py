"""The states of a Framework and of a task, and every way from one to another: the tables that the rest of `decide` goes by.

An attempt of a Framework is a ConfigMap, an attempt of a task is a Pod; both go through the same states. An action that a
state allows is only carried out after that state is stored in the API server, so that a restarted controller knows what may have been
done:

- AttemptCreationPending: the object may be created. AttemptCreationRequested: it was, and its uid is known.
- AttemptDeletionPending: how the attempt ended is known, and the object may be deleted. AttemptDeletionRequested: it was.
- AttemptCompleted: the object is gone, or stays for good (`cleanPodPolicy`), and the next attempt may begin. Completed: there will be none.
"""

from __future__ import annotations

from typing import NamedTuple

CREATION_PENDING = "AttemptCreationPending"
CREATION_REQUESTED = "AttemptCreationRequested"
PREPARING = "AttemptPreparing"
RUNNING = "AttemptRunning"
DELETION_PENDING = "AttemptDeletionPending"
DELETION_REQUESTED = "AttemptDeletionRequested"
DELETING = "AttemptDeleting"
ATTEMPT_COMPLETED = "AttemptCompleted"
COMPLETED = "Completed"

COMPLETING = (DELETION_PENDING, DELETION_REQUESTED, DELETING)
"""The attempt has ended, and its object is still there."""
ENDED = (*COMPLETING, ATTEMPT_COMPLETED, COMPLETED)
"""How the attempt has ended is known."""
CREATED = (CREATION_REQUESTED, PREPARING, RUNNING)
"""The object of the attempt was made, and the attempt has not ended."""
STARTING = (CREATION_PENDING, CREATION_REQUESTED, PREPARING)
"""The object of the attempt is still to be made, or to run."""
STATES = (CREATION_PENDING, *CREATED, *COMPLETING, ATTEMPT_COMPLETED, COMPLETED)
"""In the order of a life."""


class Transition(NamedTuple):
    """A transition to a state from each of some other states."""

    sources: tuple[str, ...]
    target: str
    when: str


FRAMEWORK_CREATED = Transition((CREATION_PENDING,), CREATION_REQUESTED, "the ConfigMap was created")
FRAMEWORK_SEEN = Transition((CREATION_REQUESTED,), PREPARING, "the ConfigMap is in the cache")
FRAMEWORK_RUNS = Transition((PREPARING,), RUNNING, "a task that is not to be deleted runs")
FRAMEWORK_ENDS = Transition(
    (PREPARING, RUNNING), DELETION_PENDING, "a completion policy is met, all tasks are completed, Stop, the deadline, or a restart"
)
FRAMEWORK_DELETED = Transition((DELETION_PENDING,), DELETION_REQUESTED, "the ConfigMap was told to go")
FRAMEWORK_GOES = Transition(
    (*CREATED, DELETION_PENDING, DELETION_REQUESTED),
    DELETING,
    "the ConfigMap is being deleted, by us or by others, or is gone before its Pods",
)
FRAMEWORK_GONE = Transition((CREATION_PENDING, *CREATED, *COMPLETING), ATTEMPT_COMPLETED, "the ConfigMap is gone, or is not to be made")
FRAMEWORK_RETRIED = Transition(
    (ATTEMPT_COMPLETED,), CREATION_PENDING, "the retry policy or a restart wants another attempt, and the delay is over or cut short"
)
FRAMEWORK_DONE = Transition((ATTEMPT_COMPLETED,), COMPLETED, "the retry policy wants no other attempt")

TASK_CREATED = Transition((CREATION_PENDING,), CREATION_REQUESTED, "the Pod was created")
TASK_SEEN = Transition((CREATION_REQUESTED,), PREPARING, "the Pod is in the cache")
TASK_RUNS = Transition((PREPARING,), RUNNING, "the Pod is Running")
TASK_WAITS = Transition((RUNNING,), PREPARING, "the Pod is Pending again")
TASK_ENDS = Transition((PREPARING, RUNNING), DELETION_PENDING, "the Pod has Succeeded or Failed, or the task is scaled away")
TASK_DELETED = Transition((DELETION_PENDING,), DELETION_REQUESTED, "the Pod was told to go")
TASK_GOES = Transition((*CREATED, DELETION_PENDING, DELETION_REQUESTED), DELETING, "the Pod is being deleted, by us or by others")
TASK_GONE = Transition(
    (CREATION_PENDING, *CREATED, *COMPLETING), ATTEMPT_COMPLETED, "the Pod is gone or cannot be made, or the Framework's attempt is gone"
)
TASK_KEPT = Transition(
    (DELETION_PENDING,),
    ATTEMPT_COMPLETED,
    "the Pod stays, as cleanPodPolicy says: it has ended, and the retry policy wants no other attempt",
)
TASK_RETRIED = Transition((ATTEMPT_COMPLETED,), CREATION_PENDING, "the retry policy wants another attempt, and its delay is over")
TASK_DONE = Transition((ATTEMPT_COMPLETED,), COMPLETED, "the retry policy wants no other attempt, or the Framework's attempt is gone")
