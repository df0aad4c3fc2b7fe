"""The tables of states: every transition in them happens to somebody, from every state that it can begin in, and there is no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fcontroller.decide import states
from fcontroller.decide.states import STATES, Transition
from fcontroller.decide.status import Attempt, Life, Status, to_time
from tests.decide.world import SETTINGS, World, role_spec
from tools.states_page import table

TABLES = {"framework": table("FRAMEWORK"), "task": table("TASK")}
ROWS = [
    (kind, name, source)
    for kind, transitions in TABLES.items()
    for name, transition in transitions.items()
    for source in transition.sources
]
Taken = set[tuple[str, str, Transition]]
"""Whose life it was, the state that was left, and by which transition."""


class Meddled(World):
    """A world in which something happens the first time that the Framework, or its first task, is in some state."""

    def __init__(self, whose: str, state: str, deed: Callable[[World], None], **spec: Any) -> None:
        retry = {"fancyRetryPolicy": False, "maxRetryCount": 1}
        role = role_spec("a", 2, run="2", exits="1", task={"retryPolicy": retry})
        super().__init__({"taskRoles": [role], "retryPolicy": retry, **spec}, SETTINGS)
        self.whose, self.state = whose, state
        self.deed: Callable[[World], None] | None = deed

    def look(self) -> Any:
        """Before the controller looks: what it decided is stored and done, and it has not seen yet what came of that."""
        if self.deed is not None and self.status is not None and self._is_now(self.status):
            self.deed(self)
            self.deed = None
        return super().look()

    def _is_now(self, status: Status) -> bool:
        lives: list[Life] = [status] if self.whose == "framework" else [role.tasks[0] for role in status.roles if role.tasks]
        return any(life.state == self.state for life in lives)


def _config_map_goes(world: World) -> None:
    if world.config_map is not None:
        world.config_map["metadata"]["deletionTimestamp"] = to_time(world.now)
        world.at(1, world.delete_config_map)


def _config_map_vanishes(world: World) -> None:
    world.config_map = None
    world.pods.clear()


def _pod_vanishes(world: World) -> None:
    world.pods.pop(("a", 0), None)


def _pod_ends(world: World) -> None:
    if ("a", 0) in world.pods:
        world.finish(world.pods["a", 0], 0)


def _pod_waits(world: World) -> None:
    if ("a", 0) in world.pods:
        world.pods["a", 0]["status"] = {"phase": "Pending"}


def _stop(world: World) -> None:
    world.set_spec({**world.spec["spec"], "executionType": "Stop"})


def _scale_away(world: World) -> None:
    world.pods.pop(("a", 0), None)
    world.set_spec({**world.spec["spec"], "taskRoles": []})


DEEDS = [_config_map_goes, _config_map_vanishes, lambda world: world.delete_pod(("a", 0)), _pod_vanishes, _pod_ends, _pod_waits, _stop]
DEEDS += [_scale_away]


@pytest.fixture(scope="module")
def taken() -> Taken:
    """The transitions of all lives in which one thing happens in one state."""
    found: Taken = set()
    enter = Life.enter

    def noted(self: Life, transition: Transition, attempt: Attempt, now: float) -> None:
        found.add(("framework" if isinstance(self, Status) else "task", self.state, transition))
        enter(self, transition, attempt, now)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Life, "enter", noted)
        for whose in TABLES:
            for state in STATES:
                for deed in DEEDS:
                    Meddled(whose, state, deed).run(700)
        Meddled("task", states.COMPLETED, _stop, cleanPodPolicy="Running").run(700)
    return found


@pytest.mark.parametrize(("kind", "name", "source"), ROWS)
def test_every_move_is_taken(taken: Taken, kind: str, name: str, source: str) -> None:
    assert (kind, source, TABLES[kind][name]) in taken


@pytest.mark.parametrize("transitions", TABLES.values(), ids=TABLES)
def test_every_state_can_be_reached_and_left(transitions: dict[str, Transition]) -> None:
    assert {transition.target for transition in transitions.values()} == set(STATES)
    assert {source for transition in transitions.values() for source in transition.sources} == set(STATES) - {"Completed"}
