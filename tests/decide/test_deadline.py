"""Frameworks that may take only so long: `activeDeadlineSeconds`."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.decide.states import COMPLETED, CREATED, CREATION_PENDING, DELETING, STATES
from fcontroller.decide.status import to_time
from fcontroller.decide.status_json import to_json
from tests.decide.test_states import Meddled
from tests.decide.world import SETTINGS, START, World, from_json, role_spec

ALWAYS = {"fancyRetryPolicy": True, "maxRetryCount": -2}
SPEC = {"taskRoles": [role_spec("a", 2, task={"retryPolicy": ALWAYS})], "retryPolicy": ALWAYS}


def limited(seconds: int = 100, **changes: Any) -> World:
    return World({**SPEC, "activeDeadlineSeconds": seconds, **changes}, SETTINGS)


def with_context(world: World, **changes: Any) -> None:
    """Have decisions made under other circumstances. What can be called is called."""
    look = world.look

    def looked() -> Any:
        context = look()
        for name, value in changes.items():
            setattr(context, name, value() if callable(value) else value)
        return context

    world.look = looked  # type: ignore[method-assign]


def edit(world: World, **changes: Any) -> None:
    world.set_spec({**world.spec["spec"], **changes})


def paused_condition(world: World) -> Any:
    assert world.stored is not None
    (said,) = (one for one in world.stored["conditions"] if one["type"] == "Paused")
    return said


def code(world: World) -> int | None:
    assert world.stored is not None
    ended = world.stored["attemptStatus"]["completionStatus"]
    return None if ended is None else ended["code"]


def told(world: World) -> tuple[str, int | None, int]:
    """State, completion code and attempt."""
    assert world.stored is not None
    return world.stored["state"], code(world), world.stored["attemptStatus"]["id"]


def test_one_that_runs_ends_and_is_not_retried() -> None:
    world = limited()
    world.run(99)
    assert code(world) is None
    world.run(10)
    assert (told(world), world.pods, world.config_map) == ((COMPLETED, -240, 0), {}, None)
    assert world.stored is not None
    ended = world.stored["attemptStatus"]["completionStatus"]
    assert (ended["phrase"], ended["type"]) == ("ActiveDeadlineExceeded", {"name": "Failed", "attributes": ["Permanent"]})
    assert "trigger" not in ended
    assert [world.task("a", index)["attemptStatus"]["completionStatus"]["code"] for index in range(2)] == [-220, -220]


def test_attempts_and_delays_count_together() -> None:
    """Each attempt takes 5 s, and each wait for the next one a minute."""
    world = limited(150, taskRoles=[role_spec("a", 1, run="5", exits="201")])
    world.run(1000)
    assert (told(world), world.made) == ((COMPLETED, -240, 3), {"f-a-0": 3})
    ends = [status["completionTime"] for status in world.history if status["completionTime"]]
    assert ends[0] == "2027-01-15T08:02:30Z"


def test_it_counts_from_the_first_configmap_and_is_stored_once() -> None:
    world = limited(executionType="Create")
    world.run(500)
    assert world.stored is not None
    assert "activeStartTime" not in world.stored
    edit(world, executionType="Start")
    world.run(90)
    since = world.stored["activeStartTime"]
    assert since == "2027-01-15T08:08:20Z"
    assert code(world) is None
    world.delete_config_map()
    world.run(5)
    assert (told(world)[2], world.stored["activeStartTime"]) == (1, since)
    world.run(10)
    assert told(world) == (COMPLETED, -240, 1)


@pytest.mark.parametrize("first", [SPEC["taskRoles"], []])
def test_one_whose_pods_cannot_be_created(first: Any) -> None:
    world = limited(taskRoles=first)
    with_context(world, may_create=False)
    world.run(110)
    assert (told(world), world.made) == ((COMPLETED, -240, 0), {})


def test_one_whose_configmap_is_never_seen() -> None:
    world = limited()
    world.hidden_config_map = True
    world.run(110)
    assert (told(world), world.config_map) == ((COMPLETED, -240, 0), None)


def test_one_that_may_not_begin_its_next_attempt() -> None:
    """Nothing gates it, as nothing gates Stop."""
    world = limited(taskRoles=[role_spec("a", 1, run="5", exits="200,0")])
    world.run(4)
    with_context(world, may_begin=False)
    world.run(30)
    assert told(world) == ("AttemptCreationPending", None, 1)
    world.run(100)
    assert told(world) == (COMPLETED, -240, 1)


def test_an_attempt_that_is_completing_keeps_its_code() -> None:
    world = limited(retryPolicy={}, taskRoles=[role_spec("a", 1, task={"pod": {"spec": {}, "metadata": {"finalizers": ["a/b"]}}})])
    world.keep_going = False
    world.run(50)
    world.delete_pod(("a", 0))
    world.run(5)
    world.delete_config_map()
    world.run(200)
    assert told(world)[:2] == ("AttemptDeleting", -100)
    for key, pod in list(world.pods.items()):
        world.gone(key, pod)
    world.run(5)
    assert told(world) == (COMPLETED, -100, 0)


def test_edits_count_at_once() -> None:
    world = limited()
    world.run(50)
    edit(world, activeDeadlineSeconds=1000)
    world.run(500)
    assert code(world) is None
    edit(world, activeDeadlineSeconds=None)
    world.run(5000)
    assert code(world) is None
    edit(world, activeDeadlineSeconds=10)
    world.run(5)
    assert told(world) == (COMPLETED, -240, 0)


@pytest.mark.parametrize(("created", "since"), [(0, 0), (20, 20), (-20, 0)])
def test_one_that_comes_late_counts_from_the_first_configmap(created: int, since: int) -> None:
    """By the API server's clock, unless ours says that the attempt began later: one of them is behind then."""
    world = World(SPEC, SETTINGS)
    world.run(50)
    assert world.config_map is not None
    world.config_map["metadata"]["creationTimestamp"] = to_time(START + created)
    edit(world, activeDeadlineSeconds=60)
    world.run(5)
    assert world.stored is not None
    assert (code(world), world.stored["activeStartTime"]) == (None, to_time(START + since))
    world.run(15)
    assert code(world) == (None if since else -240)


def test_one_that_comes_after_a_retry_counts_from_the_first_run() -> None:
    world = World(SPEC, SETTINGS)
    world.run(3)
    world.delete_config_map()
    world.run(47)
    assert world.config_map is not None
    world.config_map["metadata"]["creationTimestamp"] = to_time(START + 4)
    assert world.stored is not None
    assert "activeStartTime" not in world.stored
    edit(world, activeDeadlineSeconds=60)
    world.run(5)
    assert (code(world), world.stored["activeStartTime"]) == (None, world.stored["runTime"])
    world.run(10)
    assert told(world) == (COMPLETED, -240, 1)


def test_one_that_comes_while_no_attempt_may_begin() -> None:
    world = World({**SPEC, "taskRoles": [role_spec("a", 1, run="5", exits="200,0")]}, SETTINGS)
    world.run(4)
    with_context(world, may_begin=False)
    world.run(30)
    edit(world, activeDeadlineSeconds=10)
    world.run(5)
    assert told(world) == (COMPLETED, -240, 1)


def test_both_clocks_must_agree() -> None:
    world = limited()
    world.run(50)
    with_context(world, server_now=lambda: world.now - 100)
    world.run(149)
    assert code(world) is None
    world.run(2)
    assert code(world) == -240


class TestClocks:
    """One clock that is wrong, then or later, never lets a deadline come early."""

    def since(self, world: World) -> set[str]:
        return {status["activeStartTime"] for status in world.history if "activeStartTime" in status}

    def put_right(self, world: World) -> None:
        """The controller's clock is, or another controller leads, whose clock is right."""
        assert world.server_ahead is not None
        world.now, world.server_ahead = world.now + world.server_ahead, 0

    def test_our_clock_is_behind_at_the_start(self) -> None:
        world = limited()
        world.server_ahead = 1000
        world.run(10)
        assert self.since(world) == {to_time(START + 1000)}
        self.put_right(world)
        world.run(89)
        assert code(world) is None
        world.run(2)
        assert code(world) == -240

    def test_our_clock_is_ahead_at_the_start(self) -> None:
        """The deadline comes late, but not by as much as the clock was wrong."""
        world = limited()
        world.server_ahead = -1_000_000
        world.run(10)
        assert self.since(world) == {to_time(START)}
        self.put_right(world)
        world.run(99)
        assert code(world) is None
        world.run(2)
        assert (code(world), len(self.since(world))) == (-240, 2)

    @pytest.mark.parametrize("ahead", [-30, 30])
    def test_small_differences_change_nothing(self, ahead: int) -> None:
        world = limited()
        world.server_ahead = ahead
        world.run(10)
        self.put_right(world)
        world.run(60)
        assert (code(world), len(self.since(world))) == (None, 1)

    def test_what_is_later_than_one_clock_alone_stays(self) -> None:
        """That clock is behind."""
        world = limited()
        world.server_ahead = 0
        world.run(10)
        since = self.since(world)
        world.now, world.server_ahead = world.now - 1000, 1000
        world.run(20)
        assert (code(world), self.since(world)) == (None, since)
        world.now, world.server_ahead = world.now + 1000, None
        world.run(10)
        world.now -= 1000
        world.run(10)
        assert (code(world), self.since(world)) == (None, since)

    def test_our_clock_jumps_ahead(self) -> None:
        world = limited()
        world.server_ahead = 0
        world.run(10)
        world.now, world.server_ahead = world.now + 1000, -1000
        world.run(80)
        assert code(world) is None


def test_stop_comes_first() -> None:
    world = limited()
    world.run(50)
    world.now += 100
    edit(world, executionType="Stop")
    world.run(5)
    assert told(world) == (COMPLETED, -210, 0)


class TestPaused:
    def test_it_ends_when_it_goes_on(self) -> None:
        """Time goes on during a pause; nothing is deleted."""
        world = limited()
        world.run(50)
        world.paused = True
        world.run(500)
        assert (code(world), len(world.pods), world.deleted) == (None, 2, [])
        said = paused_condition(world)
        assert said["reason"] == "DeadlineExceeded"
        assert said["message"].endswith("Its deadline has passed: it ends once it goes on")
        assert said["lastTransitionTime"] == to_time(START + 50), "when the pause began"
        world.paused = False
        world.run(5)
        assert told(world) == (COMPLETED, -240, 0)

    def test_a_later_deadline_is_one_that_has_not_passed(self) -> None:
        world = limited()
        world.run(50)
        world.paused = True
        world.run(500)
        edit(world, activeDeadlineSeconds=10_000)
        world.run(5)
        said = paused_condition(world)
        assert (said["reason"], said["status"]) == ("Annotated", "True")

    def test_a_paused_one_can_be_stopped(self) -> None:
        world = limited()
        world.run(50)
        world.paused = True
        world.run(500)
        edit(world, executionType="Stop")
        world.run(5)
        assert told(world) == (COMPLETED, -210, 0)

    def test_it_is_looked_at_in_time_and_not_all_the_time(self) -> None:
        world = limited()
        world.paused = True
        world.run(1)
        assert not [when for when, _ in world.settle() if when <= world.now]
        world.paused = False
        world.run(1)
        assert next(when for when, _ in world.settle()) == pytest.approx(START + 101, abs=1)


@pytest.mark.parametrize("state", [state for state in STATES if state != DELETING])  # Without its Pods, the ConfigMap goes at once.
def test_in_every_state(state: str) -> None:
    """It ends in the same time whichever state it is in when the deadline comes, and nothing is left."""

    def late(world: World) -> None:
        world.now += 1000

    world = Meddled("framework", state, late, activeDeadlineSeconds=600)
    world.run(2000)
    assert (told(world)[0], world.pods, world.config_map) == (COMPLETED, {}, None)
    # Left to itself, both of its attempts fail with 1. Before the first one nothing counts; one that has ended is followed by the second.
    own = state in (CREATION_PENDING, COMPLETED)
    assert told(world)[1:] == ((1, 1) if own else (-240, 0) if state in CREATED else (-240, 1))


def test_what_is_stored_is_read_again() -> None:
    world = limited()
    world.run(50)
    assert world.stored is not None
    assert to_json(from_json(world.stored)) == world.stored
    plain = World(SPEC, SETTINGS)
    plain.run(50)
    assert plain.stored is not None
    assert plain.stored.keys() == world.stored.keys() - {"activeStartTime"}
