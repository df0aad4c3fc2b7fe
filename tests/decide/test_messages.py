"""What failures say fits into the status, however many they are and whatever they say."""

from __future__ import annotations

import json
import random
import string
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.model.packed import role_statuses
from fcontroller.decide import states
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.messages import CUT, REASON, TOTAL, fitted, room, size
from fcontroller.decide.observed import read_pod
from fcontroller.decide.status import Role, Status, Task
from fcontroller.decide.status_json import to_json, to_text
from tests.decide.world import from_json

Json = dict[str, Any]
MIB = 1024 * 1024
SPEC = 60_000
"""Bytes of a spec with scripts in it."""
CLASSIFY = Classifier(read_failures(DEFAULT_POD_FAILURE_SPEC)[0])


def failed(message: str, reason: str = "Error", containers: int = 1) -> Json:
    ended = {"exitCode": 1, "reason": reason, "message": message, "finishedAt": "2027-01-15T08:00:00Z"}
    each = [{"name": f"main{number}", "state": {"terminated": ended}} for number in range(containers)]
    return CLASSIFY(read_pod({"metadata": {"name": "f-a-0"}, "status": {"phase": "Failed", "containerStatuses": each}}))


def framework_of(count: int) -> Status:
    """All of its tasks run, on some hundred nodes."""
    rng, status = random.Random(count), Status("f-attempt", 1.8e9)
    role, base = Role("a", str(uuid.UUID(int=rng.getrandbits(128)))), str(uuid.UUID(int=rng.getrandbits(128)))[:-12]
    for index in range(count):
        task = Task(index, f"{base}{index:012x}", f"f-a-{index}", 1.8e9)
        task.attempt.created(str(uuid.UUID(int=rng.getrandbits(128))))
        task.state, task.run_time, node = states.RUNNING, 1.8e9 + rng.random() * 1000, rng.randrange(500)
        task.attempt.run_time = task.run_time
        task.pod_node_name, task.pod_host_ip = f"cluster-pool-{node * 7919:08x}", f"10.1.{node % 256}.{node // 256}"
        task.pod_ip = f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}"
        role.tasks.append(task)
        role.count(task, 1)
    status.roles = [role]
    return status


def end(status: Status, index: int, completion: Json, now: float) -> Json:
    """A task ends for good, and this is kept of it."""
    role = status.roles[0]
    task = role.tasks[index]
    status.complete(task, completion)
    task.state, task.completion_time = states.COMPLETED, now
    kept = task.attempt.completion
    assert kept is not None
    return kept


@pytest.mark.parametrize("loud", ["words", "quotes", "many containers", "reasons"])
def test_ten_thousand_that_fail_loudly_fit(loud: str) -> None:
    rng, status = random.Random(loud), framework_of(10_000)
    alphabet = "\"\\\n'" if loud == "quotes" else string.ascii_letters + string.digits + "+/"
    table = bytes(ord(alphabet[byte % len(alphabet)]) for byte in range(256))
    for index in rng.sample(range(10_000), 10_000):
        words = rng.randbytes(4096 if loud != "many containers" else 1024).translate(table).decode()
        completion = failed(words, words[:16] if loud == "reasons" else "Error", 12 if loud == "many containers" else 1)
        end(status, index, completion, 1.8e9 + rng.random() * 100_000)
    assert status.cut
    assert SPEC + len(to_text(status).encode()) <= 1.4 * MIB


def test_the_first_failures_keep_everything_and_no_other_is_forgotten() -> None:
    status, words = framework_of(10_000), "x" * 4096
    kept = [end(status, index, failed(words), 1.8e9) for index in range(100)]
    whole = TOTAL // 2 // 4096
    assert [each == failed(words) for each in kept] == [True] * whole + [False] * (100 - whole)
    last = kept[-1]
    assert (last["code"], last["phrase"], last["pod"]["containers"]) == (
        *(1, "ContainerUnrecognizedFailed"),
        [{"name": "main0", "reason": "Error", "code": 1}],
    )
    assert last["diagnostics"].endswith(CUT)


def test_in_a_small_framework_everybody_has_a_share() -> None:
    status, words = framework_of(100), "x" * 4096
    kept = [end(status, index, failed(words), 1.8e9) for index in range(100)]
    assert min(each["diagnostics"].count("x") for each in kept) > 300
    assert status.said <= TOTAL


def test_what_was_kept_never_changes_and_is_counted_again_after_a_restart() -> None:
    status, words = framework_of(1000), "x" * 3000
    for index in range(500):
        end(status, index, failed(words + str(index)), 1.8e9)
    stored = json.loads(to_text(status))
    again = from_json(stored)
    assert again.said == status.said
    assert role_statuses(to_json(again)["attemptStatus"]) == role_statuses(stored["attemptStatus"])
    for index in range(500, 1000):
        assert end(status, index, failed(words + str(index)), 1.8e9) == end(again, index, failed(words + str(index)), 1.8e9)


def test_a_retry_gives_back_what_its_attempt_took() -> None:
    status = framework_of(1000)
    for index in range(16):
        end(status, index, failed("x" * 4096), 1.8e9)
    assert end(status, 16, failed("x" * 4096), 1.8e9) != failed("x" * 4096)
    task = status.roles[0].tasks[0]
    status.forget(task)
    task.begin_attempt("f-a-0", 1.8e9)
    assert end(status, 0, failed("y" * 4096), 1.8e9) == failed("y" * 4096)


@given(st.text(max_size=2000), st.text(max_size=100), st.integers(0, 2 * TOTAL), st.integers(1, 20_000), st.booleans())
def test_what_is_kept_takes_no_more_than_its_share(message: str, reason: str, taken: int, tasks: int, pod: bool) -> None:
    completion = failed(message, reason)
    if not pod:
        del completion["pod"]
    kept = fitted(completion, taken, tasks)
    share = TOTAL // 2 // tasks
    assert size(kept) <= max(share, TOTAL // 2 - taken, len(CUT.encode()) * 2)
    assert {key: kept[key] for key in ("code", "phrase", "type")} == {key: completion[key] for key in ("code", "phrase", "type")}
    assert kept["diagnostics"].split(": ")[0] == "Pod failed"
    assert fitted(kept, 0, 1) == kept


@pytest.mark.parametrize(("beside", "tasks"), [(0, 12_500), (1_300_000, 10), (1_300_000, 1000), (1_200_000, 2000)])
def test_messages_fill_what_the_spec_and_the_tasks_leave(beside: int, tasks: int) -> None:
    """Base64 makes four bytes of three; a task takes 110 without its messages."""
    left = 1.4 * MIB - beside - 110 * tasks
    assert 0 < room(beside, tasks) < TOTAL
    assert left - 3 < room(beside, tasks) * 4 / 3 <= left


def test_there_is_neither_more_room_than_all_may_have_nor_less_than_none() -> None:
    assert [room(0, 1), room(SPEC, 10_000), room(1_300_000, 2000), room(2_000_000, 1)] == [TOTAL, TOTAL, 0, 0]


def test_what_counts_of_a_completion() -> None:
    assert size(None) == 0
    assert [size({"diagnostics": "x" * length}) for length in (10, 200, 203)] == [0, 0, 3]
    assert size({}) == 0
    pod = {"reason": "x" * 25, "message": '"é', "containers": [{"reason": "short", "message": "abc"}, {"reason": "y" * 22}]}
    assert size({"pod": pod}) == 5 + 4 + 3 + 2


def test_where_an_end_without_a_pod_is_cut() -> None:
    completion = {"code": -120, "diagnostics": "Refused: " + "x" * 1000}
    share = TOTAL // 2 // 1000
    kept = fitted(completion, TOTAL, 1000)
    assert kept == {"code": -120, "diagnostics": ("Refused: " + "x" * 1000)[: 200 + share] + CUT}


def test_a_status_knows_whether_anything_was_cut() -> None:
    status = framework_of(1000)
    known = []
    for index, (taken, message) in enumerate([(0, "x"), (TOTAL, "x" * 4096), (0, "x")]):
        status.said = taken
        end(status, index, failed(message), 1.8e9)
        known.append(status.cut)
    assert known == [False, True, True], "of this attempt, whatever comes after"


def test_a_completion_that_is_known_stays_and_is_counted_once() -> None:
    status = framework_of(10)
    end(status, 0, failed("first"), 1.8e9)
    said = status.said
    assert end(status, 0, failed("second"), 1.8e9) == failed("first")
    assert status.said == said == len("first")


def test_a_reason_is_only_cut_when_it_is_long() -> None:
    """Short ones count for nothing: they are few, and compress well."""
    for length in (REASON, REASON + 1):
        reason = "R" * (length - 2) + "é"
        kept = fitted(failed("x" * 100, reason), TOTAL, 1000, 0)["pod"]["containers"][0]
        beginning, cut, _ = kept["reason"].partition(CUT)
        assert (bool(cut), beginning == reason) == ((False, True) if length == REASON else (True, False))
        assert reason.startswith(beginning)
        assert len(beginning) > REASON // 2
        assert "message" not in kept


def test_one_task_alone_may_say_half_of_all() -> None:
    most = failed("x" * (TOTAL // 2))
    assert fitted(most, TOTAL, 1) == most
    assert fitted(failed("x" * (TOTAL // 2 + 1)), TOTAL, 1) != most
    assert fitted(most, TOTAL, 2) != most


def test_tasks_that_end_alike_share_what_is_kept_of_it() -> None:
    """Of 100,000 tasks it would take 140 MiB."""
    status = framework_of(2)
    one, other = (end(status, index, failed("no space left"), 1.8e9) for index in range(2))
    assert one == failed("no space left")
    assert one is other
