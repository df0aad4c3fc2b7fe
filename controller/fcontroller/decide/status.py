"""The status of a Framework in memory: what `decide` changes, and what is stored when it has changed.

Its JSON is upstream's, field for field. Times are seconds since 1970 with their fraction here, and whole seconds there.

`revision` counts changes, and `stored` is the revision that the API server has. Each task, and the Framework itself, knows the revision
of its last change, so that no action depends on a state that is not stored yet.
"""

from __future__ import annotations

import json
from calendar import timegm
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from fcontroller.decide import messages
from fcontroller.decide.codes import Json
from fcontroller.decide.states import ATTEMPT_COMPLETED, COMPLETED, CREATION_PENDING, ENDED, RUNNING, STARTING, Transition

Key = tuple[str, int]
"""A task, by the name of its role and its index."""


def to_time(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 as Kubernetes writes it."""
    return None if seconds is None else _second(int(seconds))


@lru_cache(10_000)  # Thousands of tasks change in the same second.
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def from_time(text: str | None) -> float | None:
    """Return the seconds since 1970 of a time as Kubernetes writes it. Raises ValueError for anything else."""
    try:
        return None if text is None else float(timegm(datetime.fromisoformat(text).utctimetuple()))
    except OverflowError:  # In UTC it is before the year 1, or after 9999.
        raise ValueError(f"no time that there is: {text}") from None


@lru_cache(100)
def _shared(completion: str) -> Json:
    """Return the same value for the same text: most of 100,000 tasks end alike, and each of these is seven dicts."""
    value: Json = json.loads(completion)
    return value


@dataclass(slots=True)
class Retries:
    """How often something was tried again."""

    total: int = 0
    accountable: int = 0
    delay: int | None = None
    """Seconds from the end of the attempt to the retry that has been decided, or None."""


@dataclass(slots=True, eq=False)
class Attempt:
    """What an attempt of a Framework and one of a task have in common."""

    id: int
    object_name: str
    """Of the ConfigMap or Pod."""
    start_time: float
    run_time: float | None = None
    completion_time: float | None = None
    instance_uid: str | None = None
    object_uid: str | None = None
    completion: Json | None = None
    """The completion status, which never changes once it is there."""
    pod_template_hash: str | None = None
    """Of what a task's Pod was made from, where that is not what Pods of its role are made from now."""

    def created(self, uid: str) -> None:
        """Record that the object of this attempt was created with this uid."""
        self.object_uid = uid
        self.instance_uid = f"{self.id}_{uid}"


@dataclass(slots=True, eq=False)
class End:
    """What is known of the end of the Framework's attempt. It is not stored: who begins anew looks again."""

    object_gone: bool = False
    """Whether the API server has said that the ConfigMap is gone."""
    unmoved: set[Key] | None = None
    """Tasks whose kept Pods the ConfigMap still controls; None: none was moved yet."""
    move_until: float | None = None
    """Until when the ConfigMap waits for them; None: that is not counted yet."""
    collected: str = ""
    """The uid of the ConfigMap whose Pods were all looked at once, since the garbage collector left them."""
    remaining: set[Key] | None = None
    """Tasks whose Pods must be gone before the attempt, whose ConfigMap is gone, may end; None: not known yet."""
    empty_since: float | None = None
    """Since when the ConfigMap that is being deleted has no Pods; None: it has some."""


class Life:
    """What a Framework and a task have in common: a state, its times, and retries."""

    __slots__ = ("changed", "completion_time", "retries", "run_time", "start_time", "state", "transition_time")

    def __init__(self, now: float) -> None:
        self.state = CREATION_PENDING
        self.start_time = now
        self.run_time: float | None = None
        self.completion_time: float | None = None
        self.transition_time = now
        self.retries = Retries()
        self.changed = 0
        """The revision of the last change of state; of a Framework also of the last pause or resumption."""

    def enter(self, transition: Transition, attempt: Attempt, now: float) -> None:
        """Enter the transition's target, and note the times."""
        if self.state not in transition.sources:
            raise ValueError(f"no way from {self.state} to {transition.target} when {transition.when}")
        self.state, self.transition_time = transition.target, now
        if transition.target == RUNNING:
            attempt.run_time = now
            self.run_time = now if self.run_time is None else self.run_time
        elif transition.target == ATTEMPT_COMPLETED:
            attempt.completion_time = now
        elif transition.target == COMPLETED:
            self.completion_time = now


class Task(Life):
    """One task, and its current attempt."""

    __slots__ = ("attempt", "deletion_pending", "index", "instance_uid", "pod_host_ip", "pod_ip", "pod_kept", "pod_node_name", "text")

    def __init__(self, index: int, instance_uid: str, pod_name: str, now: float) -> None:
        super().__init__(now)
        self.index = index
        self.instance_uid = instance_uid
        self.deletion_pending = False
        self.pod_kept = False
        """Whether the finished Pod of the last attempt stays. From then on nothing follows from what becomes of it."""
        self.text: tuple[tuple[object, ...], bytes] | None = None
        """In a large Framework: the task's JSON and what it was made from (`status_json`)."""
        self.begin_attempt(pod_name, now)

    def begin_attempt(self, pod_name: str, now: float) -> None:
        """Begin a new attempt, whose id is the number of retries."""
        self.attempt = Attempt(self.retries.total, pod_name, now)
        self.pod_node_name: str | None = None
        self.pod_ip: str | None = None
        self.pod_host_ip: str | None = None

    @property
    def is_outdated(self) -> bool:
        """Return whether its Pod was made before the last edit of what Pods of its role are made from."""
        return self.attempt.pod_template_hash is not None and not self.deletion_pending

    @property
    def counted(self) -> str:
        """Return what the completion policies count this task as: "running", "failed", "succeeded", or "" for none of them."""
        if self.deletion_pending:
            return ""
        if self.state == RUNNING:
            return "running"
        if self.state != COMPLETED or self.attempt.completion is None:
            return ""
        return "failed" if self.attempt.completion["type"]["name"] == "Failed" else "succeeded"


class Role:
    """The tasks of one role. Counts are kept, since nothing may go through all tasks for one event."""

    def __init__(self, name: str, instance_uid: str) -> None:
        self.name = name
        self.instance_uid = instance_uid
        self.graceful_deletion_timeout: int | None = None
        self.tasks: list[Task] = []
        self.running = self.failed = self.succeeded = 0
        self.starting = 0
        """Tasks whose Pods are still to be made, or to run."""
        self.deletion_pending = 0
        """Tasks that are to be deleted, in whatever state."""
        self.pod_template_hash: str | None = None
        """Of what Pods are made from now, as far as an edit in this attempt has asked for it."""
        self.outdated = 0
        """Tasks whose Pods were made from something else."""

    def add(self, task: Task) -> None:
        """Add a task as the last one."""
        self.tasks.append(task)
        self.count(task, 1)

    def count(self, task: Task, by: int) -> None:
        """Add a task to the counts (1), or take it out (-1). To be called before and after whatever the counts depend on."""
        counted = task.counted
        if counted == "running":
            self.running += by
        elif counted == "failed":
            self.failed += by
        elif counted == "succeeded":
            self.succeeded += by
        self.starting += by * (task.state in STARTING and not task.deletion_pending)
        self.deletion_pending += by * task.deletion_pending
        self.outdated += by * task.is_outdated

    @property
    def completed(self) -> int:
        return self.failed + self.succeeded

    def key(self, task: Task) -> Key:
        """Return what one of its tasks is known by."""
        return self.name, task.index


class TransitionRecord(NamedTuple):
    """A transition that a task, or the Framework, has made."""

    revision: int
    """With which it is stored."""
    transition: Transition
    attempt: Attempt
    """Of a retry: the attempt that has ended."""
    retry: str = ""
    """What kind of retry it is (`RetryDecision.kind`)."""
    of: tuple[Role, Task] | None = None
    """The task that has made it, with its role; None: the Framework itself has."""

    @property
    def completion(self) -> Json | None:
        """Return how the attempt had ended at this transition, or None. (`attempt` itself may know more, which is not stored yet.)"""
        return self.attempt.completion if self.retry or self.transition.target in ENDED else None


class IntentRecord(NamedTuple):
    """Which stored intents are valid, by the digests of whole documents. They are in the status, which only the controller writes."""

    digest: str | None = None
    """Of the document in force; None: of an attempt that nobody has recorded one for."""
    next: str | None = None
    """Of the document that is about to replace it in the ConfigMap."""
    generation: int | None = None
    """The Framework's generation that the document in force was lowered from."""
    adopted: bool = False
    """Whether the attempt began without a record, so that its Pods are older than the intent."""

    def to_json(self) -> Json:
        return {"digest": self.digest, "nextDigest": self.next, "observedGeneration": self.generation, "adopted": self.adopted}


class Ended(NamedTuple):
    """A Framework or a task as it was before it began a new attempt or was removed, for snapshots."""

    trigger: str
    """Of `context.SNAPSHOTS`."""
    value: Json
    """Its status."""
    attempt: Attempt
    """The Framework's."""
    role: Role | None = None
    """Of a task; None: it is the Framework."""


class Status(Life):
    """A Framework's status, and its current attempt."""

    def __init__(self, config_map_name: str, now: float) -> None:
        super().__init__(now)
        self.roles: list[Role] = []
        self._places: dict[str, int] = {}
        """Where each role was in the list when one was not found."""
        self.others: Json = {}
        """Fields that are not upstream's, such as `conditions`."""
        self.conditioned = 0
        """The revision of the last change of a condition."""
        self.revision = self.changed = 1
        self.transitioned = 1
        """The revision of the last change of any state."""
        self.stored = 0
        self.settled = 1
        """The revision of the last change of scale: nothing else happens before it is stored."""
        self.attempt_known = 0
        """The revision in which the uid of the attempt's ConfigMap came in."""
        self.decisive = 0
        """The revision of the last end of a task's attempt that a completion policy may count, or that an edit asks for."""
        self.waiting: set[Key] = set()
        """Tasks that have something to do as soon as their state is stored."""
        self.transitions: list[TransitionRecord] = []
        """In order, until `take_transitions`."""
        self.ended: list[Ended] = []
        """Until somebody takes them out. All of it was stored before."""
        self.intent = IntentRecord()
        self.named = 0
        """The revision in which the digest of the next intent came in."""
        self.restart = ""
        """The value of the restart annotation that the attempt began with, or was ended for."""
        self.active_since: float | None = None
        """When the first attempt began, from which on `activeDeadlineSeconds` counts. Only known where there is, or was, a deadline."""
        self.retry_refused = False
        """Whether it was decided, before the ConfigMap is deleted, that this attempt is the last, so that Pods that are kept outlive it."""
        self.end = End()
        self.said = 0
        """Bytes that the messages of tasks take of what they share (`messages`)."""
        self.beside = 0
        """Bytes that the Framework has without its status."""
        self.cut = False
        """Whether messages were cut in this attempt."""
        self.attempt = Attempt(0, config_map_name, now)

    def complete(self, task: Task, completion: Json) -> None:
        """Note how a task's attempt has ended; long messages are cut. A completion that is known already stays."""
        if task.attempt.completion is None:
            kept = messages.fitted(completion, self.said, self.task_number, messages.room(self.beside, self.task_number))
            self.cut = self.cut or kept is not completion
            task.attempt.completion = _shared(json.dumps(kept))
            self.said += messages.size(kept)

    def forget(self, task: Task) -> None:
        """Free the bytes of a task's messages, before its attempt is replaced or the task is removed."""
        self.said -= messages.size(task.attempt.completion)

    def lose_pod(self, task: Task) -> None:
        """Note that the Pod which a completed task has left does not stay."""
        task.pod_kept, task.changed = False, self.touch()

    def note_template(self, role: Role, task: Task, template: str | None) -> None:
        """Note the hash of what a task's Pod was made from; None: it is what Pods of the role are made from now."""
        if task.attempt.pod_template_hash != template:
            role.count(task, -1)
            task.attempt.pod_template_hash = template
            role.count(task, 1)
            self.touch()

    def role(self, name: str) -> Role | None:
        """Return the role with this name, or None if there is none. For its tasks it is asked 10,000 times in one turn."""
        place = self._places.get(name, len(self.roles))
        if place >= len(self.roles) or self.roles[place].name != name:  # Roles have come or gone.
            self._places = {role.name: place for place, role in enumerate(self.roles)}
            place = self._places.get(name, -1)
        return self.roles[place] if place >= 0 else None

    @property
    def task_number(self) -> int:
        """Return the number of tasks of all roles, with those that are marked for deletion."""
        return sum(len(role.tasks) for role in self.roles)

    def task(self, key: Key) -> Task | None:
        """Return the task of this role with this index, or None if there is none."""
        role = self.role(key[0])
        return role.tasks[key[1]] if role is not None and 0 <= key[1] < len(role.tasks) else None

    def tasks(self) -> Iterator[tuple[Role, Task]]:
        return ((role, task) for role in self.roles for task in role.tasks)

    def is_stored(self, life: Life) -> bool:
        """Return whether the API server has stored the present state of a task, or of the Framework."""
        return life.changed <= self.stored

    def touch(self) -> int:
        """Note that something has changed, and return the new revision."""
        self.revision += 1
        return self.revision

    def transition(self, transition: Transition, now: float, retry: str = "") -> None:
        """Move the Framework to the transition's target, unless it is there already."""
        if self.state != transition.target:
            self.enter(transition, self.attempt, now)
            self.changed = self.transitioned = self.touch()
            self.transitions.append(TransitionRecord(self.revision, transition, self.attempt, retry))

    def transition_task(self, role: Role, task: Task, transition: Transition, now: float, retry: str = "") -> None:
        """Move a task to the transition's target, unless it is there already."""
        if task.state != transition.target:
            role.count(task, -1)
            task.enter(transition, task.attempt, now)
            role.count(task, 1)
            task.changed = self.transitioned = self.touch()
            self.transitions.append(TransitionRecord(self.revision, transition, task.attempt, retry, (role, task)))

    def take_transitions(self) -> list[TransitionRecord]:
        """Return the stored transitions that have not been taken yet."""
        taken = [record for record in self.transitions if record.revision <= self.stored]
        self.transitions = self.transitions[len(taken) :]
        return taken


def task_counts(status: Status) -> Mapping[str, int]:
    """Return how many tasks are running, completed for good, and there in total, for people who look at the Framework."""
    tasks = sum(len(role.tasks) - role.deletion_pending for role in status.roles)
    return {
        "running": sum(role.running for role in status.roles),
        "completed": sum(role.completed for role in status.roles),
        "total": tasks,
    }
