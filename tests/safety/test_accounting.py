"""Row 3: every retry and every completion is counted once, whatever the controller has to go through meanwhile.

The rules are tried thousands of times over, on a world without an API server; the whole controller, some of the times.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from fcontroller.api import Json
from tests.decide.world import SETTINGS
from tests.decide.world import World as SmallWorld
from tests.decide.world import role_spec as role
from tests.safety import tally
from tests.safety.accounts import CONFLICT, DELETED, Accounts, Policy, RoleRules
from tests.safety.faults import Fault
from tests.safety.server import CrashAfter
from tests.safety.world import World, policy

POLICIES = st.builds(Policy, st.booleans(), st.sampled_from([0, 0, 1, 2, 3, -1, -2]))
ROLES = st.lists(
    st.builds(RoleRules, st.sampled_from("abc"), st.integers(1, 3), POLICIES, st.sampled_from([-1, 1, 2]), st.sampled_from([-1, 1, 2])),
    min_size=1,
    max_size=2,
    unique_by=lambda rules: rules.name,
)
KEEPS = st.sampled_from([None, "Running"])
"""Whether finished Pods stay changes nothing in any account."""
FAULTS = {
    "dies before": Fault.crash(),
    "dies, stored": Fault.crash(stored=True),
    "dies, answered": Fault(CrashAfter(), stored=True),
    "lost": Fault.lost(),
    "lost, stored": Fault.lost(stored=True),
    "500": Fault.internal_error(),
    "429": Fault.too_many(),
}
QUIET = 12
"""Seconds after which there is nothing left to be stored."""
BATCHES = 10
"""What Hypothesis remembers of thousands of sequences does not fit into small machines."""


class Subject(Protocol):
    """What is held against the accounts."""

    def ends(self, key: tuple[str, int], code: int) -> None: ...
    def trouble(self, kind: str, after: int) -> None: ...
    def status(self) -> Json: ...
    def wait(self, seconds: float) -> None: ...
    def close(self) -> None: ...


class Small:
    """Decisions alone."""

    def __init__(self, spec: Json) -> None:
        self._world = SmallWorld(spec, SETTINGS)
        self._world.run(2)

    def ends(self, key: tuple[str, int], code: int) -> None:
        if code == DELETED:
            self._world.delete_pod(key)
        else:
            self._world.finish(self._world.pods[key], code)

    def trouble(self, kind: str, after: int) -> None:
        self._world.crash_after = after

    def status(self) -> Json:
        assert self._world.stored is not None
        return self._world.stored

    def wait(self, seconds: float) -> None:
        self._world.run(seconds)

    def close(self) -> None:
        pass


class Whole:
    """The whole controller."""

    def __init__(self, spec: Json) -> None:
        self._world = World()
        self._world.make(spec)
        self._world.run(2)

    def ends(self, key: tuple[str, int], code: int) -> None:
        name = f"f-{key[0]}-{key[1]}"
        if code == DELETED:
            self._world.delete("pods", name)
        else:
            assert self._world.kubelet.finish(self._world.all("pods")[name], code)

    def trouble(self, kind: str, after: int) -> None:
        target, server = self._world.server.writes + after, self._world.server
        server.fault = lambda call: FAULTS[kind] if call.write == target else None

    def status(self) -> Json:
        return self._world.status()

    def wait(self, seconds: float) -> None:
        self._world.run(seconds)
        self._world.settle(QUIET)

    def close(self) -> None:
        self._world.close()
        self._world.check()


class Sequence(RuleBasedStateMachine):
    """A Framework, what happens to its Pods and to its controller."""

    kind: ClassVar[Any] = Small
    subject: Subject
    accounts: Accounts

    @initialize(roles=ROLES, retry=POLICIES, keeps=KEEPS)
    def begin(self, roles: list[RoleRules], retry: Policy, keeps: str | None) -> None:
        self.accounts = Accounts(roles, retry)
        self.subject = self.kind(
            {
                "retryPolicy": _retry(retry),
                "cleanPodPolicy": keeps,
                "taskRoles": [
                    role(
                        rules.name,
                        rules.number,
                        frameworkAttemptCompletionPolicy=policy(rules.min_failed, rules.min_succeeded),
                        task={"retryPolicy": _retry(rules.retry)},
                    )
                    for rules in roles
                ],
            }
        )

    @precondition(lambda self: self.accounts.living())
    @rule(data=st.data(), code=st.sampled_from([0, 0, 1, 1, 7, 200, 201, 210, DELETED]))
    def a_pod_ends(self, data: st.DataObject, code: int) -> None:
        key = data.draw(st.sampled_from(self.accounts.living()))
        before = self.accounts.total
        self.subject.ends(key, code)
        self.accounts.ends(key, code)
        self.subject.wait(70 if code == CONFLICT and self.accounts.total > before else 3)

    @precondition(lambda self: self.accounts.living())
    @rule(kind=st.sampled_from(sorted(FAULTS)), after=st.integers(1, 9))
    def trouble_comes(self, kind: str, after: int) -> None:
        self.subject.trouble(kind, after)

    @precondition(lambda self: not self.accounts.living())
    @rule(roles=ROLES, retry=POLICIES, keeps=KEEPS)
    def another_one(self, roles: list[RoleRules], retry: Policy, keeps: str | None) -> None:
        self.subject.close()
        self.begin(roles, retry, keeps)

    @invariant()
    def the_status_says_the_same(self) -> None:
        if not hasattr(self, "accounts"):
            return
        for _ in range(100):
            if self._is_calm():
                break
            self.subject.wait(5)
        assert told(self.subject.status()) == expected(self.accounts)

    def _is_calm(self) -> bool:
        """Whether the controller has done all that there is to do."""
        status = self.subject.status()
        tasks = [task for item in status["attemptStatus"]["taskRoleStatuses"] for task in item["taskStatuses"]]
        return status["state"] == "Completed" or all(task["state"] in ("AttemptRunning", "Completed") for task in tasks)

    def teardown(self) -> None:
        if hasattr(self, "subject"):
            self.subject.close()


def _retry(policy: Policy) -> Json:
    return {"fancyRetryPolicy": policy.fancy, "maxRetryCount": policy.most}


def told(status: Json) -> Any:
    """What the status says of the Framework and of each task: retries, those that count, and how it completed."""
    tasks = {
        (item["name"], task["index"]): _account(task)
        for item in status["attemptStatus"]["taskRoleStatuses"]
        for task in item["taskStatuses"]
    }
    return _account(status), tasks


def _account(life: Json) -> tuple[int, int, int, int | None]:
    retries, attempt = life["retryPolicyStatus"], life["attemptStatus"]
    code = attempt["completionStatus"]["code"] if life["state"] == "Completed" else None
    return attempt["id"], retries["totalRetriedCount"], retries["accountableRetriedCount"], code


def expected(accounts: Accounts) -> Any:
    tasks = {key: (task.total, task.total, task.counted, task.code) for key, task in accounts.tasks.items()}
    return (accounts.total, accounts.total, accounts.counted, accounts.code), tasks


@pytest.mark.parametrize("batch", range(BATCHES))
def test_sequences(batch: int) -> None:
    _sequences(Small, "accounting", tally.wanted("accounting") // BATCHES, batch)


def test_sequences_of_the_whole_controller() -> None:
    _sequences(Whole, "accounting, the whole controller", tally.wanted("accounting, the whole controller"))


def test_batches_are_not_the_same() -> None:
    """Where the examples follow from the code, they are the same for the same code."""
    ends: list[list[Any]] = []

    class Noted(Small):
        def ends(self, key: tuple[str, int], code: int) -> None:
            ends[-1].append((key, code))
            super().ends(key, code)

    for batch in range(3):
        ends.append([])
        _sequences(Noted, "compared batches", 3, batch)
    assert all(ends)
    assert ends[0] != ends[1] != ends[2] != ends[0]


def _sequences(subject: Any, row: str, examples: int, batch: int = 0) -> None:
    class Counted(Sequence):
        kind = subject

        def teardown(self) -> None:
            super().teardown()
            tally.add(row)

    run_state_machine_as_test(
        seed(batch)(Counted) if settings().derandomize else Counted,
        settings=settings(max_examples=examples, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)),
    )
