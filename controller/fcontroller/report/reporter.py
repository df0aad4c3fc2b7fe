"""Reports to the log, to metrics, and as Events to people who look at a Framework."""

from __future__ import annotations

import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

from fcontroller.act.requests import TRANSITORY, Refused, StillThere, is_lasting
from fcontroller.api import Json
from fcontroller.breath import turns
from fcontroller.decide import states
from fcontroller.decide.codes import ending, is_reserved, policy_met
from fcontroller.decide.context import FRAMEWORK_DELETION, POD_DELETION
from fcontroller.decide.retry import NEVER_RETRIED
from fcontroller.decide.status import Attempt, Ended, Key, Task, TransitionRecord
from fcontroller.log import Log, Rarely
from fcontroller.report import Report
from fcontroller.report.events import NORMAL, WARNING, Recorder
from fcontroller.report.snapshots import framework_snapshot, marked, pod_snapshot, task_snapshot

_ATTEMPT_ENDS = (states.FRAMEWORK_GONE, states.TASK_GONE, states.TASK_KEPT)
_AT_ONCE = 100
_LONGEST = 300
"""Characters of what a container said before it ended; the status has more."""


class Reporter(Report):
    """Writes log lines and Events, and counts."""

    def __init__(
        self, log: Log, recorder: Recorder | None, snapshots: frozenset[str], looked: Callable[[float], None], now: Callable[[], float]
    ) -> None:
        """:param snapshots: those of `SNAPSHOTS` that are wanted. :param looked: is told how many seconds each look took."""
        self._log, self._recorder, self._snapshots, self._now = log, recorder, snapshots, now
        self.looked = looked  # type: ignore[method-assign, assignment]
        self._rarely = Rarely(now)
        self.transitions: Counter[tuple[str, str]] = Counter()
        """By level (framework, task) and state."""
        self.attempts: Counter[tuple[str, str]] = Counter()
        """Those that have ended, by level and completion code."""
        self.retries: Counter[tuple[str, str]] = Counter()
        """By level and kind."""
        self.warnings: Counter[tuple[str]] = Counter()
        """By reason."""
        self._untold: deque[tuple[Json, TransitionRecord]] = deque()
        """Transitions of tasks that are still to be logged, each with its Framework."""

    def stored(self, framework: Json, transitions: Sequence[TransitionRecord]) -> None:
        self._count(transitions)
        self._tell_failed_tasks(framework, transitions)
        for record in transitions:
            if record.of is None:
                self._tell_framework(framework, record)
        if self._log.writes("debug"):
            self._untold.extend((framework, record) for record in transitions if record.of)
            if self._untold:
                turns().put(self._tell_tasks)

    def _count(self, transitions: Sequence[TransitionRecord]) -> None:
        self.transitions.update([(_level(record), record.transition.target) for record in transitions])
        self.retries.update([(_level(record), record.retry) for record in transitions if record.retry])
        self.attempts.update([(_level(record), _code(record)) for record in transitions if record.transition in _ATTEMPT_ENDS])

    def _tell_framework(self, framework: Json, record: TransitionRecord) -> None:
        transition, attempt, completion = record.transition, record.attempt, record.completion
        how = _how(completion)
        if completion is not None and transition in (states.FRAMEWORK_ENDS, states.FRAMEWORK_GONE):
            how["diagnostics"] = _brief(completion)
        why = (policy_met(completion) or _brief(completion)) if completion is not None and transition is states.FRAMEWORK_ENDS else ""
        self._log.info(
            f"{_name(framework)} is {transition.target}", why=why or transition.when, **_of(framework), attempt=attempt.id, **how
        )
        failed = completion is not None and completion["type"]["name"] == "Failed"
        kind, end = (WARNING if failed else NORMAL), _told(completion) if completion else ""
        if transition is states.FRAMEWORK_CREATED:
            self._record(framework, NORMAL, "AttemptStarted", f"Attempt {attempt.id} has begun", topic="started")
        elif transition is states.FRAMEWORK_RETRIED:
            again = f"attempt {attempt.id + 1} follows ({record.retry} retry)"
            topic = ending(completion) if completion else ""
            self._record(framework, kind, "AttemptRetried", f"Attempt {attempt.id} has ended with {end}; {again}", topic)
        elif transition is states.FRAMEWORK_DONE:
            self._record(
                framework, kind, "Failed" if failed else "Completed", f"Attempt {attempt.id} was the last, and has ended with {end}"
            )

    def _tell_tasks(self) -> None:
        """Log some of the tasks' transitions: all that are stored at once may take half a second."""
        for framework, record in [self._untold.popleft() for _ in range(min(_AT_ONCE, len(self._untold)))]:
            self._tell_task(framework, record)
        if self._untold:
            turns().put(self._tell_tasks)

    def _tell_task(self, framework: Json, record: TransitionRecord) -> None:
        assert record.of is not None
        role, task = record.of
        self._log.debug(
            f"task {task.index} of role {role.name} of {_name(framework)} is {record.transition.target}",
            why=record.transition.when,
            **_of(framework),
            role=role.name,
            index=task.index,
            taskAttempt=record.attempt.id,
            **_how(record.completion),
        )

    def _tell_failed_tasks(self, framework: Json, transitions: Iterable[TransitionRecord]) -> None:
        """Write one line and one Event for all tasks of a role that have failed in the same way."""
        failed: dict[tuple[str, int], list[tuple[Task, Json]]] = {}
        for record in transitions:
            completion = record.completion
            if record.of and completion and record.transition in (states.TASK_GONE, states.TASK_KEPT) and _has_failed(completion):
                role, task = record.of
                failed.setdefault((role.name, completion["code"]), []).append((task, completion))
        for (name, code), tasks in failed.items():
            first, completion = tasks[0]
            end, brief = ending(completion), _brief(completion)
            which = {"role": name, "code": code, "tasks": len(tasks), "indices": [task.index for task, _ in tasks[:10]]}
            self._log.info(f"tasks of {_name(framework)} have failed with {end}", **_of(framework), **which, diagnostics=brief)
            message = f"Tasks of role {name} have failed with {end}; task {first.index}: {brief}"
            self._record(framework, WARNING, "TasksFailed", message, f"{name} {code}", len(tasks))

    def ended(self, framework: Json, ended: Ended) -> None:
        if ended.role is None:
            self._snapshot(framework, ended.trigger, framework_snapshot(framework, ended.value))
        else:
            self._snapshot(framework, ended.trigger, task_snapshot(framework, ended, ended.role, self._now()))

    def delayed(self, framework: Json, attempt: Attempt, seconds: int) -> None:
        end = "" if attempt.completion is None else f" with {ending(attempt.completion)}"
        said = f"Attempt {attempt.id} has ended{end}, a conflict with others: attempt {attempt.id + 1} follows in {seconds:,} s"
        self._log.info(said, **_of(framework), attempt=attempt.id)
        self._record(framework, NORMAL, "RetryDelayed", said, topic="delayed")

    def refused(self, framework: Json, key: Key | None, error: Exception, failures: int) -> None:
        code, message = (error.code if isinstance(error, Refused) else 0), str(error)
        if isinstance(error, StillThere):
            self._warn_of(framework, "DeletionHeld", message, key, code)
        elif code == 0 or code == 429 or (code >= 500 and not is_lasting(error)):  # The problem is the server's, not the Framework's.
            if self._rarely.may(("", code)):
                self._log.warning("the API server fails, and is asked again", **_of(framework), code=code, answer=message)
        elif code == 409 and failures < TRANSITORY:  # It may be a race, or a name that our own leftovers have, which go.
            return
        elif isinstance(error, Refused) and error.reason == "AlreadyExists":
            what = "The ConfigMap" if key is None else f"A Pod of role {key[0]}"
            self._warn_of(framework, "NameTaken", f"{what} cannot be made, since something else has its name: {message}", key, code)
        else:  # Another 409 is a race: with whoever writes the same object, or for a quota.
            what = f"Something for role {key[0]}" if key and key[0] else "Something"
            self._warn_of(framework, "Refused", f"{what} was refused, and is tried again ({code}): {message}", key, code)

    def unsaved(self, framework: Json, error: Exception) -> None:
        if isinstance(error, Refused) and (is_lasting(error) or error.code == 409):  # A conflict (409) is a race, and not reported.
            message = f"The status cannot be stored, and nothing more is done until it can be ({error.code}): {error}"
            self._warn_of(framework, "StatusRefused", message, None, error.code)
        else:
            self.refused(framework, None, error, 1)

    def _warn_of(self, framework: Json, reason: str, message: str, key: Key | None, code: int) -> None:
        """Warn of something that many tasks may report at the same time, at most once a minute for each role and code."""
        topic = f"{'' if key is None else key[0]} {code}"
        if self._rarely.may((framework["metadata"]["uid"], topic)):
            self._log.warning(message, reason=reason, **_of(framework), code=code)
        self._record(framework, WARNING, reason, message, topic)

    def warn(self, framework: Json, reason: str, message: str, topic: str = "") -> None:
        if self._rarely.may((framework["metadata"]["uid"], reason)):  # Whoever may annotate it may have it warned of without an end.
            self._log.warning(message, reason=reason, **_of(framework))
        self._record(framework, WARNING, reason, message, topic)

    def broke(self, framework: Json, error: BaseException) -> None:
        said = f"The controller has failed with it, and leaves it alone until it changes or some time has gone by: {error!r:.300}"
        if self._rarely.may((framework["metadata"]["uid"], type(error))):  # Somebody may write the same nonsense again and again.
            self._log.error(said, error="".join(traceback.format_exception(error)), **_of(framework))
        self._record(framework, WARNING, "ControllerFailed", said)

    def framework_deleted(self, framework: Json) -> None:
        self._log.info(f"{_name(framework)} is deleted", **_of(framework))
        if FRAMEWORK_DELETION in self._snapshots:
            self._snapshot(framework, FRAMEWORK_DELETION, framework_snapshot(framework))

    def pod_deleted(self, pod: Json) -> None:
        if POD_DELETION in self._snapshots:
            self._log.always(f"Pod {_name(pod)}{marked(POD_DELETION, pod_snapshot(pod))}")

    def _snapshot(self, framework: Json, trigger: str, value: Json) -> None:
        self._log.always(f"{value['kind']} {_name(value)}{marked(trigger, value)}", **_of(framework))

    def _record(self, framework: Json, kind: str, reason: str, message: str, topic: str = "", count: int = 1) -> None:
        if kind == WARNING:
            self.warnings[reason,] += count
        if self._recorder is not None:
            self._recorder.record(framework, kind, reason, message, topic, count)


def _of(framework: Json) -> Json:
    """Return the fields that tell in each log line which Framework it is about."""
    metadata = framework["metadata"]
    return {"namespace": metadata["namespace"], "framework": metadata["name"], "uid": metadata["uid"]}


def _name(value: Json) -> str:
    return f"{value['metadata']['namespace']}/{value['metadata']['name']}"


def _level(record: TransitionRecord) -> str:
    return "framework" if record.of is None else "task"


def _code(record: TransitionRecord) -> str:
    """Return the completion code as a label. Exit codes of users' containers become "other": there are too many of them."""
    code: int = (record.completion or {"code": 0})["code"]
    return str(code) if code <= 0 or is_reserved(code) else "other"


def _how(completion: Json | None) -> Json:
    """Return the log fields for how an attempt has ended; none while it has not."""
    return {} if completion is None else {"code": completion["code"], "phrase": completion["phrase"]}


def _has_failed(completion: Json) -> bool:
    """Return whether a task has failed by itself, and was not ended."""
    return completion["type"]["name"] == "Failed" and completion["code"] not in NEVER_RETRIED


def _told(completion: Json) -> str:
    """Return a sentence that says how an attempt of a Framework has ended."""
    why = policy_met(completion)
    return f"{ending(completion)}: {_brief(completion)}{f' ({why})' if why not in _brief(completion) else ''}"


def _brief(completion: Json) -> str:
    text = str(completion.get("diagnostics") or "")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
