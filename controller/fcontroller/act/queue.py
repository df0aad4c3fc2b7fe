"""The actions of one Framework: they wait in a queue, and so many are carried out at a time.

While an action for a task waits or is under way the task is busy, and nothing more is decided about it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fcontroller.act.actions import Failed, backoff
from fcontroller.act.perform import ActionContext, perform
from fcontroller.api import Unreachable
from fcontroller.decide.context import Action, CreatePod, DeleteConfigMap, DeletePod, Key, ReconcileContext, RemovePod
from fcontroller.decide.status import Attempt, Status, Task
from fcontroller.dependencies import Dependencies

_AT_A_TIME = 32
_Decided = tuple[int, int | None]
"""The revisions of the last changes of the Framework's state and of a task's."""


class Queue:
    """Carries out the actions of one Framework."""

    def __init__(
        self,
        dependencies: Dependencies,
        start: Callable[[Coroutine[Any, Any, None]], object],
        scene: Callable[[], ActionContext],
        context: Callable[[], ReconcileContext],
        poke: Callable[..., None],
    ) -> None:
        """:param start: runs the work. :param scene, context: how things are now. :param poke: is told the tasks to look at."""
        self._dependencies, self._start, self._scene, self._context, self._poke = dependencies, start, scene, context, poke
        self.busy: set[Key | None] = set()
        """Tasks for which something is to be done, and None for the Framework itself."""
        self._failures: dict[Key | None, int] = {}
        self._waiting: deque[tuple[Action, Key | None, _Decided]] = deque()
        self.workers = 0
        """How many actions are carried out."""
        self._creating = 0
        """Pods that were asked for, and no answer has come yet."""
        self._all_answered = asyncio.Event()
        self._all_answered.set()

    def __len__(self) -> int:
        """How many actions wait until others are done."""
        return len(self._waiting)

    @property
    def creating(self) -> bool:
        """Whether Pods were asked for, and no answer has come yet."""
        return not self._all_answered.is_set()

    def clear(self) -> None:
        """Begin nothing of what waits."""
        self._waiting.clear()

    def add(self, action: Action) -> None:
        """Have an action carried out."""
        key = _key(action)
        self.busy.add(key)
        self._waiting.append((action, key, self._decided(key)))
        if self.workers < _AT_A_TIME:
            self.workers += 1
            self._start(self._work())

    async def _work(self) -> None:
        try:
            while self._waiting:
                action, key, decided = self._waiting.popleft()
                if self._decided(key) == decided:
                    await self._act(action, key)
                else:  # It has waited, and meanwhile there may be something else to do.
                    self.done(key)
        finally:
            self.workers -= 1

    async def _act(self, action: Action, key: Key | None) -> None:
        about, decided = self._about(key), self._decided(key)
        try:
            scene = self._scene()
            if isinstance(action, DeleteConfigMap):
                await self._all_answered.wait()  # A Pod that came after its attempt has gone would run on for a while.
            with self._counted(action):
                result = await perform(self._dependencies, action, scene)
            # Meanwhile the attempt may have gone, and its tasks with it: what was done for them means nothing to those that came after.
            if result is not None and self._about(key) is about:
                result(self._context())
        except (Failed, Unreachable) as error:
            code = error.code if isinstance(error, Failed) else 0
            self._dependencies.report.refused(self._scene().framework, key, code, str(error), self._failures.get(key, 0) + 1)
        if self._decided(key) != decided:
            self._failures.pop(key, None)
            self.done(key)
        else:  # Nothing follows from it, or not before it is seen: it may be decided once more, but not at once.
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            asyncio.get_running_loop().call_later(backoff(failures), self.done, key)

    @contextlib.contextmanager
    def _counted(self, action: Action) -> Iterator[None]:
        creates = isinstance(action, CreatePod)
        self._creating += creates
        if creates:
            self._all_answered.clear()
        try:
            yield
        finally:
            self._creating -= creates
            if not self._creating:
                self._all_answered.set()

    def done(self, key: Key | None) -> None:
        """Nothing is to be done for a task (None: the Framework) any more."""
        self.busy.discard(key)
        self._poke(*[] if key is None else [key])

    def _about(self, key: Key | None) -> Attempt | None:
        """The attempt that an action is for: a task's, or the Framework's. None: there is no such task any more."""
        life = _life(self._scene().status, key)
        return life.attempt if life is not None else None

    def _decided(self, key: Key | None) -> _Decided:
        """What a decision depends on: it holds for as long as this stays the same."""
        status = self._scene().status
        life = _life(status, key)
        return status.changed, None if life is None else life.changed


def _life(status: Status, key: Key | None) -> Status | Task | None:
    """The task, or the Framework."""
    if key is None:
        return status
    role = status.role(key[0])
    return role.tasks[key[1]] if role is not None and key[1] < len(role.tasks) else None


def _key(action: Action) -> Key | None:
    match action:
        case CreatePod(role, index) | RemovePod(role, index, _):
            return role, index
        case DeletePod():
            return action.role, action.task
    return None
