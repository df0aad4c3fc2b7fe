"""The workers of one Framework: they carry out a limited number of actions at a time.

While an action for a task waits or is under way the task is busy, and nothing else is decided about it. A task whose action failed is not
busy: the same action waits for a backoff, another one begins at once.

Pods of a role are created in growing batches, as by Kubernetes' Job controller (slow start): first one, then twice as many each time, as
long as all succeed. After a quota's refusal, a server that is busy or fails, or a missing answer, one Pod is tried again after a while.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

from fcompile.model.framework import restart_of
from fcontroller.act import requests
from fcontroller.act.dispatcher import Group, Priority
from fcontroller.act.requests import Refused
from fcontroller.act.retry import QUEUED, SILENT, SLOW, backoff
from fcontroller.api import Unreachable, Unwanted
from fcontroller.decide import actions
from fcontroller.decide.failures.creation import ends_batch
from fcontroller.decide.status import Attempt, Key, Status
from fcontroller.dependencies import Dependencies
from fcontroller.mailbox import Broken, Decided, Due, Mailbox, Performed, Result
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.perform import ActionContext, perform
from fcontroller.reconcile.refusals import Refusals

_AT_A_TIME = 32
_IN_A_CROWD = 8
"""The same in a namespace that is crowded with requests, of Frameworks that are not the next: a thousand with 32 actions each would take
200 MiB for waiting."""
_MANY = 50
"""With more failures, conditions are set once a second at most: each failure leads to a reconciliation, which goes through all of them."""
_LONG = 60.0
"""Seconds after which it is said that an attempt waits for its turn to begin: in a crowd each may do so for a while."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
"""Seconds for which no Pod of a role is requested after a refusal that would meet all others too."""


class _Job:
    """An action, from its decision to its end."""

    __slots__ = ("action", "asked", "began", "decided", "key", "sent", "window", "work")

    def __init__(self, action: actions.Action, decided: Decided) -> None:
        self.action, self.key, self.decided = action, actions.key_of(action), decided
        self.sent = False
        """Whether it was asked for at least once."""
        self.asked = False
        """Whether it is asked for now, so that it may be carried out."""
        self.work: asyncio.Task[Result | None] | None = None
        self.window: Window | None = None
        """The one that it counts in."""
        self.began = asyncio.get_running_loop().time()

    def put_off(self) -> None:
        """Note that the server has not carried it out, and has said when to ask again."""
        self.asked = False

    def abandon(self) -> None:
        """Give up the creation of a Pod or ConfigMap that is not under way."""
        if not self.asked and self.work is not None:
            self.work.cancel()


class _Failure(NamedTuple):
    """An action that has failed, or had no effect."""

    action: actions.Action
    decided: Decided
    error: Exception | None
    began: float
    """When the first of them began, by the clock of the loop: in a crowd it may have waited for its turn since then, each time."""
    seconds: float
    """How long after that the last one failed."""
    times: int
    """How often, one after the other."""
    not_before: float
    """When it may be tried again, by the clock of the loop."""

    def lasts(self) -> bool:
        """Return whether the failure has lasted for more than a moment."""
        return self.error is not None and requests.lasts(self.error, self.times, self.seconds)


class Window:
    """The slow start of a role: how many Pods may be requested at a time."""

    def __init__(self) -> None:
        self.size = 1
        self.under_way = 0
        self.failures = 0
        self.why = ""
        """Why the server makes no Pods of the role, once that has lasted for more than a moment."""
        self.paused_until = float("-inf")
        """By the clock of the loop."""

    def room(self, now: float) -> int:
        """Return how many more Pods may be requested."""
        return 0 if now < self.paused_until else min(self.size, _AT_A_TIME) - self.under_way

    def grow(self) -> None:
        """Allow one more for each success, which doubles the number after a whole batch."""
        self.size, self.failures, self.why = min(self.size + 1, 2 * _AT_A_TIME), 0, ""

    def shrink(self, error: Exception, seconds: float, now: float) -> None:
        """Begin with one Pod again after a while.

        :param seconds: what the answer took.
        """
        self.size = 1
        if now < self.paused_until:
            return  # Others of the same batch have failed before.
        self.failures += 1
        self.why = str(error) if requests.lasts(error, self.failures, seconds) else ""
        self.paused_until = now + backoff(self.failures, _FIRST_PAUSE, _LONGEST_PAUSE)


class Workers:
    """Carries out the actions of one Framework."""

    def __init__(self, dependencies: Dependencies, namespace: str, mailbox: Mailbox, alarms: Alarms) -> None:
        self._dependencies, self._namespace, self._mailbox, self._alarms = dependencies, namespace, mailbox, alarms
        self.busy: set[Key | None] = set()
        """Tasks for which something is to be done, and None for the Framework itself."""
        self.windows: dict[str, Window] = {}
        """By role."""
        self._failures: dict[Key | None, dict[type[actions.Action], _Failure]] = {}
        """The last failure of each kind of action: a success of another kind does not end the waiting."""
        self._refusals = Refusals()
        self._asks: tuple[int | None, str] | None = None
        """The Framework's generation, and the restart that it asks for, when actions were last taken in."""
        self._waiting: deque[_Job] = deque()
        self._creations: dict[str, deque[_Job]] = {}
        """Pods to be asked for, by role."""
        self._creating: set[_Job] = set()
        self._others: set[_Job] = set()
        """Under way."""
        self._pods = Group()
        """What the creations of our Pods belong to."""
        self._purged = (0, 0)
        self._attempt: Attempt | None = None
        self._paused = self._stopped = False

    def __len__(self) -> int:
        """Return how many actions wait until others are done."""
        return len(self._waiting) + sum(map(len, self._creations.values()))

    @property
    def are_kept_busy(self) -> bool:
        """Return whether the namespace is crowded with requests, and enough of ours wait for their turn: no more need to be added yet."""
        others = len(self._others) > _IN_A_CROWD // 2 and self.is_crowded(Priority.DELETION)
        if others or len(self._creating) <= _IN_A_CROWD // 2:
            return others
        return self.is_crowded(Priority.CREATION) and (self._waits or len(self._creating) > _AT_A_TIME // 2)

    @property
    def _waits(self) -> bool:
        """Return whether so many requests for Pods go first that one more of ours would not be sent sooner for waiting too."""
        return self._dependencies.api.is_crowded(self._namespace, Priority.CREATION, self._pods)

    def is_crowded(self, priority: Priority) -> bool:
        """Return whether so many requests of the namespace wait that one more would not be sent sooner for waiting too."""
        return self._dependencies.api.is_crowded(self._namespace, priority)

    @property
    def has_trouble(self) -> bool:
        """Return whether anything has failed, or takes long."""
        slow = self._slow(self._creating) or self._slow(self._others) or self._slow(self._first_waiting)
        return bool(self._failures or self._refusals or slow) or any([window.why for window in self.windows.values()])

    @property
    def has_many_failures(self) -> bool:
        """Return whether it takes long to go through all of them."""
        return len(self._failures) + len(self._refusals) > _MANY

    @property
    def under_way(self) -> Collection[asyncio.Task[Result | None]]:
        return [job.work for job in (*self._creating, *self._others) if job.work is not None]

    @property
    def creating(self) -> bool:
        """Return whether creations of Pods were sent that are not answered yet."""
        return any([job.asked for job in self._creating])

    def refused(self, status: Status) -> dict[str, str]:
        """Return why Pods that are still wanted are not created, by role."""
        failed = {failure.action.key[0]: failure for failure in self._failing(status) if isinstance(failure.action, actions.CreatePod)}
        wanted = {role for role, jobs in self._creations.items() if jobs} | failed.keys()
        why = self._refusals.why(status) | {role: str(failure.error) for role, failure in failed.items() if failure.lasts()}
        silence = partial(self._dependencies.api.silence, self._namespace, Priority.CREATION)
        why |= {job.key[0]: silence(sent=job.asked) for job in self._slow(self._creating) if job.key is not None and job.sent}
        return why | {role: window.why for role, window in self.windows.items() if window.why and role in wanted}

    @property
    def queued(self) -> list[str]:
        """Return of which roles Pods have waited for long to be requested, and why."""
        roles = sorted({job.key[0] for job in self._slow(self._creating) if job.key is not None and not job.sent})
        return [f"role {role}: {self._dependencies.api.silence(self._namespace, Priority.CREATION)}" for role in roles]

    @property
    def await_turn(self) -> bool:
        """Return whether creations of Pods wait to be sent."""
        return any(self._creations.values()) or any([not job.sent for job in self._creating])

    @property
    def waits_to_begin(self) -> bool:
        """Return whether the attempt's ConfigMap, or a Service before it, has waited for long to be requested."""
        waits = [job for job in self._others if isinstance(job.action, actions.CreateConfigMap) and not job.sent]
        return any([job.began <= self._now() - _LONG for job in waits])

    @property
    def queued_deletions(self) -> str:
        """Return why Pods have waited for long to be told to go."""
        unsent = [job for job in self._slow((*self._first_waiting, *self._others)) if not job.sent]
        if not any([isinstance(job.action, actions.DeletePod) for job in unsent]):
            return ""
        silence = self._dependencies.api.silence(self._namespace, Priority.DELETION)
        return QUEUED if silence == SILENT else silence  # Between two that are sent none may wait in the namespace for a moment.

    @property
    def deletes_pods(self) -> bool:
        """Return whether Pods wait to be told to go, or are told right now."""
        return any([isinstance(job.action, actions.DeletePod) for job in (*self._first_waiting, *self._others)])

    @property
    def _first_waiting(self) -> list[_Job]:
        """Return of the actions for tasks that wait until others are done the one that has waited longest."""
        return list(islice((job for job in self._waiting if job.key is not None), 1))

    def failing(self, status: Status, *kinds: type) -> list[str]:
        """Return why actions of these kinds fail that are still decided, each reason once."""
        found = {str(failure.error) for failure in self._failing(status) if isinstance(failure.action, kinds) and failure.lasts()}
        slow = [job for job in self._slow(self._others) if isinstance(job.action, kinds)]
        # What of these was not sent yet waits for its turn. The others read something before.
        at_once = (actions.DeletePod, actions.CreateConfigMap)
        awaited = [job for job in slow if job.sent or not isinstance(job.action, at_once)]
        return sorted(found | {self._dependencies.api.silence(self._namespace, sent=job.sent) for job in awaited})

    def _slow(self, jobs: Iterable[_Job]) -> list[_Job]:
        since = self._now() - SLOW
        return [job for job in jobs if job.began <= since]

    def _failing(self, status: Status) -> Iterator[_Failure]:
        found = ((key, failure) for key, failures in self._failures.items() for failure in failures.values())
        return (failure for key, failure in found if failure.decided == decided_now(status, key))

    def stop(self) -> None:
        """Begin no more actions. Requests that were sent come to their end."""
        self._stopped = True
        self._waiting.clear()
        self._creations.clear()
        for job in self._creating:
            job.abandon()

    def advance(self, decided: Iterable[actions.Action], context: Callable[[], ActionContext]) -> None:
        """Take in the decided actions, drop those that are not decided any more, and begin those that may begin.

        :param context: returns the present inputs of actions whenever it is called.
        """
        now = context()
        status, framework, paused = now.status, now.framework, now.paused
        resumes, asks = self._paused and not paused, (framework["metadata"].get("generation"), restart_of(framework))
        if resumes:
            self._failures.clear()  # After the end of a pause nobody wants to wait.
        if resumes or asks != self._asks:
            self._refusals.forget()
        self._paused, self._asks = paused, asks
        self._purge(status)
        for job in self._others:
            if isinstance(job.action, actions.CreateConfigMap) and not self._may_send(job, now):
                job.abandon()  # Its turn may come in minutes, and a Stop would wait for it.
        for action in decided:
            self._add(action, status)
        for job in self._startable():
            self._of(job).add(job)
            job.began = self._now()
            job.work = asyncio.get_running_loop().create_task(self._work(job, context))
            job.work.add_done_callback(partial(self._done, job))
        self._pods.left = len(self._creating) + sum(map(len, self._creations.values()))
        ends = [job.began + SLOW for job in (*self._creating, *self._others)]
        ends += [job.began + _LONG for job in self._others if job.key is None]
        # Each that has had no answer for so long is told of.
        self._alarms.set(None, min([end for end in ends if end > self._now()], default=float("inf")))

    def note(self, performed: Performed, status: Status) -> int:
        """Take in the result of an action. Return how often it has failed in a row; 0: it has not failed."""
        key, action, error = performed.key, performed.action, performed.error
        self.busy.discard(key)
        if isinstance(action, actions.CreatePod):
            self._note_creation(action.key[0], performed)
            self._refusals.note(performed, action.key, status)
        if isinstance(action, actions.ReleaseConfigMap) and error is None:
            self._failures.get(None, {}).pop(actions.CreateConfigMap, None)  # What was in its way is gone.
        # A Pod that was moved changes nothing that is stored.
        if error is None and (decided_now(status, key) != performed.decided or isinstance(action, actions.MovePod)):
            self._failures.pop(key, None)
            return 0
        # The action had no effect, or none that was seen yet: it may be decided again, but not at once.
        of_key = self._failures.setdefault(key, {})
        last = of_key.get(type(action))
        now = self._now()
        again = last is not None and last.action == action and last.error is not None and error is not None
        failures = last.times + 1 if last is not None and last.action == action else 1
        began = last.began if last is not None and again else now - performed.seconds
        delay = max(backoff(failures), error.retry_after if isinstance(error, Refused) else 0)
        of_key[type(action)] = _Failure(action, performed.decided, error, began, now - began, failures, now + delay)
        return failures if error is not None else 0

    def _add(self, action: actions.Action, status: Status) -> None:
        key = actions.key_of(action)
        last = self._failures.get(key, {}).get(type(action))
        if key in self.busy:
            return
        if last is not None and last.action == action and self._now() < last.not_before:
            return self._alarms.set(key, last.not_before)
        if self._now() < (refused_until := self._refusals.not_before(action)):
            return self._alarms.set(key, refused_until)
        self.busy.add(key)
        job = _Job(action, decided_now(status, key))
        if isinstance(action, actions.CreatePod):
            self._creations.setdefault(action.key[0], deque()).append(job)
        else:
            self._waiting.append(job) if key is not None else self._waiting.appendleft(job)

    def _purge(self, status: Status) -> None:
        """Drop actions that were decided before the Framework's state or scale changed and were not sent yet."""
        if (status.changed, status.settled) == self._purged:
            return
        self._purged = status.changed, status.settled
        if status.attempt is not self._attempt:
            self._refusals.begin_attempt(self._attempt)
            self._attempt = status.attempt
            self.windows.clear()
            self._failures.clear()
        for jobs in (self._waiting, *self._creations.values()):
            for job in [jobs.popleft() for _ in range(len(jobs))]:
                if job.decided == decided_now(status, job.key):
                    jobs.append(job)
                else:
                    self.busy.discard(job.key)
                    self._mailbox.put(Due(job.key))
        for job in self._creating:
            if job.decided != decided_now(status, job.key):
                job.abandon()

    def _of(self, job: _Job) -> set[_Job]:
        return self._creating if isinstance(job.action, actions.CreatePod) else self._others

    def _startable(self) -> Iterator[_Job]:
        """Take out the actions that may begin now."""
        creating, held = self.creating, deque[_Job]()
        others = _IN_A_CROWD if self.is_crowded(Priority.DELETION) else _AT_A_TIME
        crowded = self.is_crowded(Priority.CREATION)
        creations = _IN_A_CROWD if self._waits else _AT_A_TIME if crowded else 2 * _AT_A_TIME
        while self._waiting and (self._waiting[0].key is None or len(self._others) < others):
            job = self._waiting.popleft()
            if creating and isinstance(job.action, actions.DeleteConfigMap):
                held.append(job)  # A Pod created after the end of its attempt would run for a while.
            else:
                yield job
        self._waiting.extendleft(reversed(held))
        roles = deque(self._creations)
        while roles and len(self._creating) < creations:
            role = roles.popleft()
            jobs, window = self._creations.pop(role), self.windows.setdefault(role, Window())
            if jobs:
                self._creations[role] = jobs  # Who had a turn is the last the next time.
            if jobs and window.room(self._now()) > 0:
                roles.append(role)
                jobs[0].window = window
                window.under_way += 1
                yield jobs.popleft()
            elif jobs and self._now() < window.paused_until:
                self._alarms.set(None, window.paused_until)

    async def _work(self, job: _Job, context: Callable[[], ActionContext]) -> Result | None:
        while not self._stopped:
            began = context()
            if job.decided != decided_now(began.status, job.key):
                break
            try:
                decided = partial(self._is_decided, job, began, context)
                api = self._dependencies.api.when(partial(self._is_wanted, job, decided), self._pods, job.put_off)
                return await perform(self._dependencies, job.action, began, decided, api)
            except Unwanted:
                if self._stopped or not self._may_send(job, context()):
                    raise  # Otherwise Pods are made from another intent by now.
        return None

    def _is_decided(self, job: _Job, began: ActionContext, context: Callable[[], ActionContext]) -> bool:
        """Return whether an action is still decided, with the intent that it began with."""
        return not self._stopped and self._may_send(job, now := context()) and now.renderer is began.renderer

    def _is_wanted(self, job: _Job, decided: Callable[[], bool]) -> bool:
        """Return whether an action is still decided, and note that it is sent then."""
        sent = decided()
        if sent and not job.sent:
            job.began = self._now()  # From here on it is the server who takes its time.
            self._alarms.set(None, job.began + SLOW)
        job.sent = job.asked = sent
        return sent

    def _may_send(self, job: _Job, now: ActionContext) -> bool:
        # A Stop, a deadline or a pause changes what was decided only when no action is under way for the Framework itself.
        held = now.paused and not (now.deleting and isinstance(job.action, actions.DELETIONS))
        ends = now.ends and isinstance(job.action, actions.CreateConfigMap)
        return not held and not ends and job.decided == decided_now(now.status, job.key)

    def _done(self, job: _Job, work: asyncio.Task[Result | None]) -> None:
        self._of(job).discard(job)
        job.work = None  # With the traceback of what was cancelled it would be a cycle.
        if job.window is not None:
            job.window.under_way -= 1
        error = None if work.cancelled() else work.exception()
        if error is not None and not isinstance(error, Refused | Unreachable | Unwanted):
            self._mailbox.put(Broken(error))
            return
        result = work.result() if error is None and not work.cancelled() else None
        failed = error.with_traceback(None) if isinstance(error, Refused | Unreachable) else None
        if failed is not None:  # A failure is remembered, and its causes have the frames of the request.
            failed.__cause__ = failed.__context__ = None
        self._mailbox.put(Performed(job.action, job.decided, result, failed, self._now() - job.began))

    def _note_creation(self, role: str, performed: Performed) -> None:
        window, error = self.windows.setdefault(role, Window()), performed.error
        if performed.result is not None:  # Otherwise it was not sent, as in a pause.
            window.grow()
        elif isinstance(error, Unreachable) or (isinstance(error, Refused) and ends_batch(error.code, str(error))):
            window.shrink(error, performed.seconds, self._now())

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def decided_now(status: Status, key: Key | None) -> Decided:
    """Return what a decision about a task, or the Framework (None), depends on, as it is now."""
    if key is None:
        return Decided(status.changed, None, status.attempt)
    task = status.task(key)
    return Decided(status.changed, None, None) if task is None else Decided(status.changed, task.changed, task.attempt)
