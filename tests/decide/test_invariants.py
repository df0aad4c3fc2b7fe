"""Whatever happens in whatever order: nothing that was seen once is ever taken back, and in the end there is peace."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fcontroller.decide import states
from fcontroller.decide.status_json import to_json
from tests.decide.world import SETTINGS, World, from_json, role_spec

POLICIES = st.builds(lambda fancy, count: {"fancyRetryPolicy": fancy, "maxRetryCount": count}, st.booleans(), st.integers(-2, 3))
COUNTS = st.builds(
    lambda failed, succeeded: {"minFailedTaskCount": failed, "minSucceededTaskCount": succeeded}, st.integers(-1, 3), st.integers(-1, 3)
)
ROLES = st.lists(
    st.builds(
        lambda name, count, retry, policy, timeout: role_spec(
            name, count, frameworkAttemptCompletionPolicy=policy, task={"retryPolicy": retry, "podGracefulDeletionTimeoutSec": timeout}
        ),
        st.sampled_from("abc"),
        st.integers(0, 3),
        POLICIES,
        COUNTS,
        st.sampled_from([None, 0, 5, 60]),
    ),
    max_size=3,
    unique_by=lambda role: role["name"],
)
SPECS = st.builds(
    lambda roles, retry, deadline, keeps: {
        "taskRoles": roles,
        "retryPolicy": retry,
        "activeDeadlineSeconds": deadline,
        "cleanPodPolicy": keeps,
    },
    ROLES,
    POLICIES,
    st.sampled_from([None, None, 1, 100]),
    st.sampled_from([None, "All", "Running", "None"]),
)
CODES = st.sampled_from([0, 1, 137, 200, 201, 210])


class Lives(RuleBasedStateMachine):
    """One Framework, and everything that others can do to it."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World({"executionType": "Create", "taskRoles": []}, SETTINGS)
        self.checked = 0
        self.stopped = False

    @rule(spec=SPECS)
    def edit(self, spec: Any) -> None:
        kind = "Stop" if self.stopped else "Start"
        self.world.set_spec({**copy.deepcopy(spec), "executionType": kind})
        self.world.settle()

    @rule(seconds=st.sampled_from([0, 0.2, 1, 5, 70, 400]))
    def wait(self, seconds: float) -> None:
        self.world.run(seconds)

    @precondition(lambda self: self.world.pods)
    @rule(data=st.data(), code=CODES)
    def pod_ends(self, data: st.DataObject, code: int) -> None:
        self.world.finish(self.world.pods[data.draw(st.sampled_from(sorted(self.world.pods)))], code)
        self.world.settle()

    @precondition(lambda self: self.world.pods)
    @rule(data=st.data(), settles=st.booleans())
    def pod_deleted(self, data: st.DataObject, settles: bool) -> None:
        self.world.delete_pod(data.draw(st.sampled_from(sorted(self.world.pods))))
        if settles:
            self.world.settle()

    @rule()
    def config_map_deleted(self) -> None:
        self.world.delete_config_map()
        self.world.settle()

    @rule(after=st.integers(1, 12))
    def dies(self, after: int) -> None:
        self.world.crash_after = after

    @rule(paused=st.booleans())
    def pause(self, paused: bool) -> None:
        """The world sees to it that nothing is created or deleted meanwhile."""
        self.world.paused = paused
        self.world.settle()

    @rule(value=st.sampled_from(["", "a", "b"]))
    def restart(self, value: str) -> None:
        self.world.restart = value
        self.world.settle()

    @rule()
    def stop(self) -> None:
        self.stopped = True
        self.world.set_spec({**self.world.spec["spec"], "executionType": "Stop"})
        self.world.settle()

    @invariant()
    def counts_are_right(self) -> None:
        if self.world.status is not None:
            for role in self.world.status.roles:
                counted = [task.counted for task in role.tasks]
                assert (role.running, role.failed, role.succeeded) == tuple(
                    counted.count(what) for what in ("running", "failed", "succeeded")
                )
                assert role.deletion_pending == sum(task.deletion_pending for task in role.tasks)
                assert role.starting == sum(task.state in states.STARTING and not task.deletion_pending for task in role.tasks)

    @invariant()
    def kept_pods_are_of_completed_tasks(self) -> None:
        if self.world.status is not None:
            for _, task in self.world.status.tasks():
                assert not task.pod_kept or task.state == "Completed"

    @invariant()
    def nothing_goes_back(self) -> None:
        history = self.world.history
        start = max(self.checked - 1, 0)
        for before, after in itertools.pairwise(history[start:]):
            goes_on(before, after)
            for task, later in same_tasks(before, after):
                goes_on(task, later)
        self.checked = len(history)

    @invariant()
    def what_is_stored_is_all_there_is(self) -> None:
        if self.world.stored is not None:
            assert to_json(from_json(self.world.stored)) == self.world.stored

    def teardown(self) -> None:
        """Stopped, it completes, leaves nothing behind but Pods that have ended and are its own, and then nothing more is written."""
        world = self.world
        world.crash_after = 0
        world.set_spec({**world.spec["spec"], "executionType": "Stop"})
        world.run(10_000)
        assert world.stored is not None
        assert (world.stored["state"], world.config_map) == ("Completed", None)
        for pod in world.pods.values():
            assert pod["status"]["phase"] in ("Succeeded", "Failed")
            assert pod["metadata"]["ownerReferences"][0]["uid"] == "framework"
            assert world.stored["attemptStatus"]["retryRefused"] is True
        written = len(world.history)
        world.run(10_000)
        assert len(world.history) == written


def goes_on(before: Any, after: Any) -> None:
    """A Framework or task, at two times one after the other."""
    old, new = before["attemptStatus"], after["attemptStatus"]
    assert new["id"] in (old["id"], old["id"] + 1)
    assert after["retryPolicyStatus"]["totalRetriedCount"] == new["id"]
    assert after["retryPolicyStatus"]["accountableRetriedCount"] >= before["retryPolicyStatus"]["accountableRetriedCount"]
    assert before["state"] != "Completed" or after["state"] == "Completed"
    assert (before["startTime"], before["runTime"] or after["runTime"]) == (after["startTime"], after["runTime"])
    assert before.get("activeStartTime") in (None, after.get("activeStartTime"))
    assert not old.get("retryRefused") or (new["retryRefused"] and new["id"] == old["id"])
    if new["id"] == old["id"]:
        for field in ("completionStatus", "instanceUID", "completionTime"):
            assert old[field] in (None, new[field]), field
    else:
        assert old["completionStatus"] is not None


def same_tasks(before: Any, after: Any) -> list[tuple[Any, Any]]:
    old, new = (
        {task["instanceUID"]: task for role in status["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"]}
        for status in (before, after)
    )
    return [(old[uid], new[uid]) for uid in old.keys() & new.keys()]


TestLives = Lives.TestCase
TestLives.settings = settings(stateful_step_count=50)
