"""What the controller tells of: log lines, Events, counts, snapshots, conditions."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Answer, Json, Unreachable, collection, path_of
from fcontroller.decide import states
from fcontroller.decide.codes import STOPPED
from fcontroller.decide.conditions import set_condition
from fcontroller.decide.context import SNAPSHOTS
from fcontroller.decide.status import Role, Status, Task
from fcontroller.log import Log, Rarely
from fcontroller.report import events as events_module
from fcontroller.report.events import NORMAL, WARNING, Recorder
from fcontroller.report.reporter import Reporter
from fcontroller.testing.memory_api.facade import Facade
from tests.controller.lab import SETTINGS, Lab, Refusing, in_memory, lab, now, refusal, run_in_memory
from tests.decide.world import role_spec
from tests.safety.virtual_time import VirtualLoop, in_virtual_time

ONCE_MORE = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 1}}
MARKED = re.compile(r": (On\w+): ObjectSnapshot: (.+)")


async def event(made: Lab, done: Callable[[Json], bool]) -> Json:
    """The first Event of which something is so."""
    async with asyncio.timeout(30):
        while not (found := [each for each in await made.events() if done(each)]):
            await asyncio.sleep(0.05)
    return found[0]


def snapshots(made: Lab) -> list[tuple[str, Json]]:
    found = [MARKED.search(line["message"]) for line in made.lines]
    return [(match[1], json.loads(match[2])) for match in found if match]


def informed(made: Lab) -> list[str]:
    return [line["message"] for line in made.lines if line["level"] == "info" and "Snapshot" not in line["message"]]


def test_the_life_of_a_framework() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("f", {**ONCE_MORE, "taskRoles": [role_spec("a", 1, "0", "3")]})
            status = await made.completed("f")
            await event(made, lambda each: each["reason"] == "AttemptStarted" and each["count"] == 2)
            last = await event(made, lambda each: each["reason"] == "Failed")
            assert last["message"].startswith("Attempt 1 was the last, and has ended with 3 ContainerUnrecognizedFailed: ")
            events = [(each["type"], each["reason"], each["count"]) for each in await made.events()]
            assert [each for each in events if each[1] != "TasksFailed"] == [
                ("Normal", "AttemptStarted", 2),
                ("Warning", "AttemptRetried", 1),
                ("Warning", "Failed", 1),
            ]
            conditions = {each["type"]: (each["status"], each["reason"], each["observedGeneration"]) for each in status["conditions"]}
            assert conditions["Completed"] == ("True", "ContainerUnrecognizedFailed", 1)
            assert conditions["Succeeded"] == ("False", "ContainerUnrecognizedFailed", 1)
            states = [line.split(" is ")[1] for line in informed(made) if line.startswith("default/f is ")]
            assert [state for state in states if state in ("AttemptRunning", "AttemptCompleted", "Completed")] == [
                *("AttemptRunning", "AttemptCompleted") * 2,
                "Completed",
            ]
            assert made.report.retries == {("framework", "accountable"): 1}
            assert made.report.attempts == {("framework", "other"): 2, ("task", "other"): 2}
            assert made.report.transitions["framework", "Completed"] == 1

    run_in_memory(work())


def test_the_delay_of_a_retry_is_told_of_when_it_begins() -> None:
    """After an exit code of a conflict, as the barrier's, a Framework looked for up to 15 minutes as if it had ended."""

    async def work() -> None:
        async with lab(in_memory(), settings=SETTINGS._replace(conflict_delay=(900, 900))) as made:
            once = {"retryPolicy": {"fancyRetryPolicy": False}}
            await made.make("f", {"retryPolicy": {"fancyRetryPolicy": True}, "taskRoles": [role_spec("a", 1, "0", "201,0", task=once)]})
            await made.until("f", lambda status: status["retryPolicyStatus"]["retryDelaySec"] == 900)
            told = await event(made, lambda each: each["reason"] == "RetryDelayed")
            said = "Attempt 0 has ended with 201 ContainerTransientConflictFailed, a conflict with others: attempt 1 follows in 900 s"
            assert (told["type"], told["message"]) == ("Normal", said)
            await made.restart()
            await made.until("f", lambda status: status["state"] == "Completed", 1000)
            assert informed(made).count(said) == 1
            assert [each["count"] for each in await made.events() if each["reason"] == "RetryDelayed"] == [1]

    run_in_memory(work())


def test_what_is_told_of_again_and_again_leaves_room_for_other_events() -> None:
    """Each delayed retry, and each value of an annotation that does not pause, was an Event of its own: later ones were dropped."""

    async def work() -> None:
        async with lab(in_memory(), settings=SETTINGS._replace(conflict_delay=(30, 30))) as made:
            once = {"retryPolicy": {"fancyRetryPolicy": False}}
            codes = ",".join(["201"] * 40 + ["0"])
            await made.make("f", {"retryPolicy": {"fancyRetryPolicy": True}, "taskRoles": [role_spec("a", 1, "0", codes, task=once)]})
            for number in range(40):
                patch = [{"op": "add", "path": "/metadata/annotations", "value": {names.PAUSE_ANNOTATION: f"v{number}"}}]
                assert (await made.api.request("PATCH", path_of("frameworks", made.namespace, "f"), patch)).ok
                await asyncio.sleep(1)
            await made.until("f", lambda status: status["state"] == "Completed", 4000)
            await asyncio.sleep(120)
            events = {each["reason"]: each for each in await made.events()}
            assert [events[reason]["count"] for reason in ("RetryDelayed", "PauseIgnored", "Completed")] == [40, 40, 1]
            assert "attempt 40 follows" in events["RetryDelayed"]["message"]
            assert '"v39"' in events["PauseIgnored"]["message"]
            assert made.recorder.results["dropped"] == 0

    run_in_memory(work())


def test_every_line_says_which_framework() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            framework = await made.make("f", {"taskRoles": [role_spec("a", 2, "0")]})
            await made.completed("f")
            lines = [line for line in made.lines if "Pod" not in line["message"]]
            assert {(line["namespace"], line["framework"], line["uid"]) for line in lines} == {
                ("default", "f", framework["metadata"]["uid"])
            }
            assert {line["attempt"] for line in lines if " is " in line["message"] and line["level"] == "info"} == {0}
            tasks = [line for line in lines if line["message"] == "task 1 of role a of default/f is AttemptRunning"]
            assert [(line["level"], line["role"], line["index"], line["taskAttempt"]) for line in tasks] == [("debug", "a", 1, 0)]

    run_in_memory(work())


def test_an_end_that_was_asked_for_says_by_what() -> None:
    """Not by which of all the things that end an attempt, of which a restart was none."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 1)]})
            await made.until("f", lambda status: status["state"] == "AttemptRunning")
            annotation = [{"op": "add", "path": "/metadata/annotations/" + names.RESTART_ANNOTATION.replace("/", "~1"), "value": "now"}]
            await made.api.request("PATCH", path_of("frameworks", "default", "f"), annotation)
            await made.until("f", lambda status: (status["state"], status["attemptStatus"]["id"]) == ("AttemptRunning", 1))
            await made.edit("f", "executionType", "Stop")
            await made.completed("f")
            ends = [line["why"] for line in made.lines if line["message"] == "default/f is AttemptDeletionPending"]
            assert ends == ["A restart was asked for by annotation: now", "The Framework is to be stopped"]

    run_in_memory(work())


def test_many_tasks_are_one_event_and_few_lines() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make(
                "f", {"taskRoles": [role_spec("a", 100, "0", "7", frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]}
            )
            await made.completed("f")
            found = await event(made, lambda each: each["reason"] == "TasksFailed" and each["count"] == 100)
            assert found["message"].startswith("Tasks of role a have failed with 7 ContainerUnrecognizedFailed; task ")
            assert len(await made.events()) == 3
            assert len(informed(made)) < 40

    run_in_memory(work())


def test_what_was_not_stored_is_not_told() -> None:
    async def work() -> None:
        down = False
        api = Refusing(lambda method, path: refusal(500, "", "no") if down and method != "GET" and path.endswith("/status") else None)
        async with lab(api) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 1)]})
            await made.until("f", lambda status: status["state"] == "AttemptRunning")
            down = True
            told, counted = len(made.lines), made.report.transitions.total()
            await made.edit("f", "executionType", "Stop")
            await asyncio.sleep(0.6)
            assert made.report.transitions.total() == counted
            assert [line for line in made.lines[told:] if line["level"] != "warning"] == []
            down = False
            await made.completed("f")
            assert made.report.transitions["framework", "Completed"] == 1

    run_in_memory(work())


def test_snapshots_of_retries() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            framework = await made.make("f", {**ONCE_MORE, "taskRoles": [role_spec("a", 1, "0", "1", task=ONCE_MORE)]})
            await made.completed("f")
            found = [(trigger, value) for trigger, value in snapshots(made) if trigger.endswith("Retry")]
            assert [trigger for trigger, _ in found] == ["OnTaskRetry", "OnFrameworkRetry", "OnTaskRetry"]
            task, whole = found[0][1], found[1][1]
            metadata = task["metadata"]
            assert (task["apiVersion"], task["kind"]) == ("frameworkcontroller.microsoft.com/v1", "Task")
            assert metadata["uid"] == task["status"]["instanceUID"]
            assert metadata["labels"] == {"FC_FRAMEWORK_NAME": "f", "FC_TASKROLE_NAME": "a", "FC_TASK_INDEX": "0"}
            assert metadata["annotations"]["FC_FRAMEWORK_ATTEMPT_INSTANCE_UID"] == whole["status"]["attemptStatus"]["instanceUID"]
            assert task["status"]["state"] == "AttemptCompleted"
            assert task["status"]["attemptStatus"]["completionStatus"]["code"] == 1
            assert task["spec"] == framework["spec"]["taskRoles"][0]["task"]
            assert whole["metadata"]["uid"] == framework["metadata"]["uid"]
            assert whole["status"]["state"] == "AttemptCompleted"
            assert whole["status"]["attemptStatus"]["id"] == 0
            assert whole["status"]["retryPolicyStatus"]["totalRetriedCount"] == 0
            assert whole["status"]["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][0]["state"] == "Completed"

    run_in_memory(work())


def test_snapshots_of_deletions() -> None:
    async def work() -> None:
        async with lab(in_memory(), settings=SETTINGS._replace(snapshots=frozenset(SNAPSHOTS))) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 2)]})
            await made.until("f", lambda status: status["taskCounts"]["running"] == 2)
            await made.edit("f", "taskRoles/0/taskNumber", 1)
            await made.until("f", lambda status: len(status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]) == 1)
            await made.edit("f", "executionType", "Stop")
            await made.completed("f")
            await made.api.request("DELETE", path_of("frameworks", "default", "f"))
            async with asyncio.timeout(30):
                while snapshots(made)[-1][0] != "OnFrameworkDeletion":
                    await asyncio.sleep(0.05)
            found = [(trigger, value["kind"], value["metadata"]["name"]) for trigger, value in snapshots(made)]
            assert ("OnTaskDeletion", "Task", "f-a-1") in found
            assert {each for each in found if each[0] == "OnPodDeletion"} == {("OnPodDeletion", "Pod", f"f-a-{index}") for index in (0, 1)}
            assert found.count(("OnFrameworkDeletion", "Framework", "f")) == 1
            task = next(value for trigger, value in snapshots(made) if trigger == "OnTaskDeletion")
            assert task["metadata"]["deletionGracePeriodSeconds"] == 0
            assert task["metadata"]["deletionTimestamp"]
            assert snapshots(made)[-1][1]["status"]["state"] == "Completed"

    run_in_memory(work())


def test_a_name_that_is_taken() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            container = {"name": "main", "image": "a"}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "f-a-0"}, "spec": {"containers": [container]}}
            assert (await made.api.request("POST", "/api/v1/namespaces/default/pods", pod)).ok
            await made.make("f", {"taskRoles": [role_spec("a", 2)]})
            found = await event(made, lambda each: each["reason"] == "NameTaken")
            assert found["message"].startswith("A Pod of role a cannot be made, since something else has its name: ")
            assert [line["level"] for line in made.lines if line.get("reason") == "NameTaken"] == ["warning"]

    run_in_memory(work())


def pods_answered(answer: Answer) -> Refusing:
    return Refusing(lambda method, path: answer if method == "POST" and path.endswith("/pods") else None)


def test_a_race_that_is_lost_again_and_again_is_no_name_that_is_taken() -> None:
    """As between many creations for one ResourceQuota: people looked for an object that was not there."""

    async def work() -> None:
        message = 'Operation cannot be fulfilled on resourcequotas "gpus": the object has been modified'
        async with lab(pods_answered(refusal(409, "Conflict", message))) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 1)]})
            found = await event(made, lambda each: each["type"] == "Warning")
            assert (found["reason"], found["message"]) == (
                "Refused",
                f"Something for role a was refused, and is tried again (409): {message}",
            )

    run_in_memory(work())


def test_pods_that_can_never_be_made() -> None:
    async def work() -> None:
        async with lab(pods_answered(refusal(422, "Invalid", "no such field"))) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 20, frameworkAttemptCompletionPolicy={"minFailedTaskCount": -1})]})
            found = await event(made, lambda each: each["reason"] == "TasksFailed" and each["count"] == 20)
            assert found["message"].startswith("Tasks of role a have failed with -200 PodCreationPermanentError; task ")
            assert len([each for each in await made.events() if each["reason"] == "TasksFailed"]) == 1

    run_in_memory(work())


def test_pods_that_a_quota_forbids() -> None:
    async def work() -> None:
        api = pods_answered(refusal(403, "Forbidden", "exceeded quota: q"))
        async with lab(api) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 20)]})
            found = await event(made, lambda each: each["reason"] == "Refused")
            assert found["message"].startswith("Something for role a was refused, and is tried again (403): exceeded")
            status = await made.until("f", lambda status: any(each["type"] == "PodsCreated" for each in status["conditions"]))
            (said,) = [each for each in status["conditions"] if each["type"] == "PodsCreated"]
            assert (said["status"], said["reason"], said["message"]) == ("False", "Refused", "role a: exceeded quota: q")
            await made.edit("f", "executionType", "Stop")
            await made.completed("f")

    run_in_memory(work())


FRAMEWORK = {
    "apiVersion": "a/v1",
    "kind": "Framework",
    "metadata": {"name": "f", "namespace": "default", "uid": "1", "resourceVersion": "1"},
}


def test_the_same_again_is_counted_and_no_framework_has_many() -> None:
    async def work() -> None:
        api = in_memory()
        recorder = Recorder(api, now)
        for count in range(50):
            recorder.record(FRAMEWORK, WARNING, "Same", f"for the {count}th time", "topic")
            recorder.record(FRAMEWORK, NORMAL, "Different", f"number {count}")
        while recorder.results.total() < 51:
            await asyncio.sleep(0.01)
        assert recorder.results == {"written": 25, "dropped": 26}
        events = (await api.request("GET", "/api/v1/events")).body["items"]
        (same,) = [each for each in events if each["reason"] == "Same"]
        assert (same["count"], same["message"]) == (50, "for the 49th time")
        assert len(events) == 25

    run_in_memory(work())


def test_little_is_kept_and_logged_of_a_long_annotation() -> None:
    """Whoever may write one could fill the memory: of each digest 200 KB were known for ten minutes, and logged; and then the disk, by half
    a megabyte a second."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            framework = await made.make("train", {"taskRoles": [role_spec("worker", 1)]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            annotation = names.DIGEST_ANNOTATION.replace("/", "~1")
            for number in range(5):
                patch = [{"op": "add", "path": f"/metadata/annotations/{annotation}", "value": f"v1:{number}{'x' * 200_000}"}]
                assert (await made.api.request("PATCH", path_of("frameworks", made.namespace, "train"), patch)).ok
                await asyncio.sleep(1)
            (line,) = [line["message"] for line in made.lines if line.get("reason") == "DigestDiffers"]
            assert len(line) < 500
            assert made.report.warnings["DigestDiffers",] == 5
            await asyncio.sleep(60)
            for _ in range(2):
                made.report.warn(framework, "DigestDiffers", "x" * 200_000)
            lines = [len(line["message"]) for line in made.lines if line.get("reason") == "DigestDiffers"]
            assert lines == [len(line), 10_000]
            assert max(len(text) for event in made.recorder._events for text in event) <= 1_000

    run_in_memory(work())


def test_events_that_cannot_be_written_are_dropped() -> None:
    async def work() -> None:
        class Down(Facade):
            async def request(self, *_: Any, **__: Any) -> Answer:
                raise Unreachable("down")

        for api in (Down(in_memory().server), Refusing(lambda *_: refusal(403, "Forbidden", "no"))):
            recorder = Recorder(api, now)
            recorder.record(FRAMEWORK, NORMAL, "A", "a")
            while not recorder.results:
                await asyncio.sleep(0.01)
            assert recorder.results == {"failed": 1}

    run_in_memory(work())


def test_an_event_that_is_refused_again_and_again_does_not_use_up_those_of_what_follows() -> None:
    async def work() -> None:
        busy = [True]
        api = Refusing(lambda *_: Answer(429, {}) if busy else None)
        recorder = Recorder(api, now)
        for _ in range(100):
            recorder.record(FRAMEWORK, WARNING, "Refused", "exceeded quota")
            await asyncio.sleep(1)
        busy.clear()
        recorder.record(FRAMEWORK, WARNING, "Failed", "attempt 3 was the last")
        await asyncio.sleep(1)
        events = (await api.request("GET", "/api/v1/events")).body["items"]
        assert [event["reason"] for event in events] == ["Failed"]

    run_in_memory(work())


def test_an_event_is_counted_on_whose_first_answer_was_lost() -> None:
    async def work() -> None:
        class Losing(Facade):
            lost = False

            async def request(self, method: str, *rest: Any, **options: Any) -> Answer:
                answer = await super().request(method, *rest, **options)
                if method == "POST" and not self.lost:
                    self.lost = True
                    raise Unreachable("the answer was lost")
                return answer

        api = Losing(in_memory().server)
        recorder = Recorder(api, now)
        for _ in range(5):
            recorder.record(FRAMEWORK, WARNING, "Refused", "exceeded quota")
            await asyncio.sleep(70)
        (event,) = (await api.request("GET", "/api/v1/events")).body["items"]
        assert event["count"] == 5

    run_in_memory(work())


def test_an_event_with_which_the_recorder_fails_holds_up_no_other() -> None:
    """Two of the same time, and one later."""

    def fails(_: str, path: str) -> Answer | None:
        if path.endswith("/events") and not failed:
            failed.append(OSError(24, "Too many open files"))
            raise failed[0]
        return None

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, about: said.append(about["exception"]))
        api = Refusing(fails)
        recorder = Recorder(api, now)
        for reason in ("First", "Second", "Third"):
            recorder.record(FRAMEWORK, NORMAL, reason, "so it is")
            await asyncio.sleep(60 if reason == "Second" else 0)
        await asyncio.sleep(60)
        written = (await api.request("GET", collection("events", "default"))).body["items"]
        assert ({each["reason"] for each in written}, recorder.results) == ({"Second", "Third"}, {"written": 2, "failed": 1})
        assert said == failed

    failed, said = list[Exception](), list[Exception]()
    run_in_memory(work())


def test_levels() -> None:
    lines: list[str] = []
    log = Log("warning", lines.append)
    log.debug("a")
    log.info("b")
    log.warning("c", code=1)
    log.always("d")
    said = [json.loads(line) for line in lines]
    assert [(each["level"], each["message"]) for each in said] == [("warning", "c"), ("info", "d")]
    assert said[0]["code"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said[0]["time"])


EVIL = "A\x1b[31mB\x9b31mC\u202eD\u2066E\u2028F\x7fG\x85H\ufeffI\U000e0041J\r\n::error::x ##vso[task.complete]"
ACTS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0041]|##vso")


def test_text_of_containers_acts_nowhere() -> None:
    """Whoever reads the JSON of a line gets it as it was."""
    lines: list[str] = []
    Log("info", lines.append).info(EVIL, diagnostics=EVIL)
    assert not ACTS.search(lines[0])
    assert (json.loads(lines[0])["message"], json.loads(lines[0])["diagnostics"]) == (EVIL, EVIL)
    status = Status("f-attempt", 1.5)
    set_condition(status, "PodsCreated", False, "Refused", EVIL, 1, 0)
    assert not set_condition(status, "PodsCreated", False, "Refused", EVIL, 1, 0)
    assert not ACTS.search(status.others["conditions"][0]["message"])

    async def work() -> None:
        async with lab(in_memory()) as made:
            framework = await made.make("train", {"taskRoles": [role_spec("worker", 1)]})
            made.recorder.record(framework, WARNING, "TasksFailed", EVIL * 50)
            await asyncio.sleep(0.1)
            (event,) = [event for event in await made.events() if event["reason"] == "TasksFailed"]
            assert not ACTS.search(event["message"])
            assert "\\u202e" in event["message"]
            assert len(event["message"]) == 1000

    run_in_memory(work())


def test_what_is_said_rarely() -> None:
    now = 1000.0
    rarely = Rarely(lambda: now)
    assert [rarely.may("a"), rarely.may("a"), rarely.may("b")] == [True, False, True]
    now += 60
    assert rarely.may("a")


def test_a_clock_that_is_set_back_silences_nothing() -> None:
    now = 10_000.0
    rarely = Rarely(lambda: now)
    assert [rarely.may("a"), rarely.may("b")] == [True, True]
    now -= 3600
    assert [rarely.may("a"), rarely.may("a"), rarely.may("b")] == [True, False, True]


def test_however_much_there_is_to_say_each_thing_is_said_once_a_minute_and_then_forgotten() -> None:
    now = 1000.0
    rarely = Rarely(lambda: now)
    assert [sum([rarely.may(what) for what in range(15_000)]) for _ in range(3)] == [15_000, 0, 0]
    now += 60
    assert rarely.may("a")
    assert len(rarely._said) == 1


class Counted(Facade):
    """Takes all Events, and counts the requests."""

    def __init__(self) -> None:
        super().__init__(in_memory().server)
        self.methods: Counter[str] = Counter()

    async def request(self, method: str, path: str, *_: Any, **__: Any) -> Answer:
        self.methods[method] += 1
        return Answer(200, {})


def test_repetitions_of_thousands_of_frameworks_make_one_event_each() -> None:
    """etcd keeps each Event for an hour: when a quota was full for 5,000 Frameworks, it got 300,000 of them in that time."""

    async def work(loop: VirtualLoop) -> None:
        api = Counted()
        recorder = Recorder(api, loop.wall)
        for _ in range(3):
            for number in range(5000):
                about = {"name": "f", "namespace": "n", "uid": str(number), "resourceVersion": "1"}
                recorder.record({**FRAMEWORK, "metadata": about}, "Warning", "Refused", "exceeded quota", "w 403")
            await asyncio.sleep(60)
        assert api.methods == {"POST": 5000, "PATCH": 10_000}
        await asyncio.sleep(600)
        recorder.record(FRAMEWORK, "Normal", "AttemptStarted", "begun")
        assert len(recorder._events) == 1

    in_virtual_time(work)


def test_an_event_that_waits_is_written_once_however_often_it_was_repeated_meanwhile() -> None:
    """With a slow server each repetition waited by itself: after an hour, an Event was more than an hour late."""

    class Slow(Counted):
        async def request(self, method: str, *rest: Any, **options: Any) -> Answer:
            await asyncio.sleep(0.5)
            return await super().request(method, *rest, **options)

    async def work(loop: VirtualLoop) -> None:
        api = Slow()
        recorder = Recorder(api, loop.wall)
        for _ in range(60):
            for number in range(300):
                about = {"name": "f", "namespace": "n", "uid": str(number), "resourceVersion": "1"}
                recorder.record({**FRAMEWORK, "metadata": about}, WARNING, "Refused", "exceeded quota", "w 403")
            await asyncio.sleep(60)
        before = recorder.results.total()
        await asyncio.sleep(300 * 0.5 + 60)
        assert recorder.results.total() - before <= 300
        assert all(event.value["count"] == event.written == 60 for event in recorder._events.values())

    in_virtual_time(work)


def test_frameworks_that_come_and_go_faster_than_events_are_written_fill_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """And they keep no Events of other namespaces from being written."""
    monkeypatch.setattr(events_module, "_WAITING", 100)

    class Slow(Counted):
        async def request(self, method: str, *rest: Any, **options: Any) -> Answer:
            await asyncio.sleep(0.5)
            return await super().request(method, *rest, **options)

    async def work(loop: VirtualLoop) -> None:
        recorder = Recorder(Slow(), loop.wall)
        for number in range(1000):
            about = {"name": "f", "namespace": "n", "uid": str(number), "resourceVersion": "1"}
            recorder.record({**FRAMEWORK, "metadata": about}, "Normal", "AttemptStarted", "begun")
            await asyncio.sleep(0.1)
        assert recorder.waiting <= 100
        assert recorder.results["dropped"] > 600
        recorder.record(FRAMEWORK, "Normal", "AttemptStarted", "begun")
        before = recorder.results["written"]
        await asyncio.sleep(0.7)
        assert recorder.results["written"] - before >= 2, "that of another namespace too"
        await asyncio.sleep(100)
        assert (recorder.waiting, recorder.results.total()) == (0, 1001)

    in_virtual_time(work)


def test_an_end_that_is_not_stored_yet_is_not_told() -> None:
    lines: list[str] = []
    report = Reporter(Log("debug", lines.append), None, frozenset(), lambda seconds: None, now)
    status = Status("f-attempt", 0)
    for transition in (states.FRAMEWORK_CREATED, states.FRAMEWORK_SEEN, states.FRAMEWORK_RUNS):
        status.transition(transition, 1)
    status.stored = status.revision
    status.attempt.completion = STOPPED.ended("stop")
    status.transition(states.FRAMEWORK_ENDS, 2)
    report.stored(FRAMEWORK, status.take_transitions())
    assert [json.loads(line).get("code") for line in lines] == [None, None, None]
    status.stored = status.revision
    report.stored(FRAMEWORK, status.take_transitions())
    assert json.loads(lines[-1])["code"] == -210
    assert report.transitions["framework", "AttemptDeletionPending"] == 1


def test_what_ten_thousand_tasks_do_is_logged_bit_by_bit() -> None:
    """With the level debug it took 0.6 s, in which no lease was renewed."""
    lines: list[str] = []

    async def work() -> None:
        report = Reporter(Log("debug", lines.append), None, frozenset(), lambda seconds: None, now)
        status, role = Status("f-attempt", 0), Role("a", "uid")
        role.tasks = [Task(index, f"uid-{index}", f"f-a-{index}", 0) for index in range(10_000)]
        status.roles = [role]
        for task in role.tasks:
            status.transition_task(role, task, states.TASK_CREATED, 1)
        status.stored = status.revision
        report.stored(FRAMEWORK, status.take_transitions())
        assert lines == []
        turns = 0
        while len(lines) < 10_000:
            await asyncio.sleep(0)
            turns += 1
        assert turns > 2
        assert [json.loads(line)["index"] for line in lines] == list(range(10_000))

    asyncio.run(work())


def test_events_of_one_namespace_do_not_wait_for_anothers() -> None:
    async def stuck(_: str, path: str) -> None:
        """Wait as for a webhook of one namespace that never answers about Events."""
        if path.endswith("/namespaces/stuck/events"):
            await asyncio.sleep(1000)

    async def work() -> None:
        api = Refusing(stuck)
        recorder = Recorder(api, now)
        for namespace in ("stuck", "default"):
            metadata = {"name": "f", "namespace": namespace, "uid": f"in {namespace}", "resourceVersion": "1"}
            framework = {"apiVersion": "a/v1", "kind": "Framework", "metadata": metadata}
            recorder.record(framework, "Normal", "AttemptStarted", "so it is")
        async with asyncio.timeout(10):
            while recorder.results["written"] < 1:
                await asyncio.sleep(0.01)

    run_in_memory(work())


def test_a_status_that_is_refused_for_good_whatever_the_code() -> None:
    for code in (404, 409):

        async def work(code: int = code) -> None:
            refused = refusal(code, "Odd", "no such subresource")
            async with lab(Refusing(lambda method, path: refused if path.endswith("/status") else None)) as made:
                await made.make("f", {"taskRoles": [role_spec("a", 1)]})
                found = await event(made, lambda each: each["reason"] == "StatusRefused")
                assert f"({code}): no such subresource" in found["message"]
                assert [line["level"] for line in made.lines if line.get("reason") == "StatusRefused"] == ["warning"]

        run_in_memory(work())


def test_a_framework_that_somebody_has_filled_up() -> None:
    """The status has no room in etcd: a 500 is no trouble of the server's then."""

    async def work() -> None:
        refused = refusal(500, "", "etcdserver: request is too large")
        async with lab(Refusing(lambda method, path: refused if path.endswith("/status") else None)) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 1)]})
            found = await event(made, lambda each: each["reason"] == "StatusRefused")
            assert "(500): etcdserver: request is too large" in found["message"]
            assert [line["framework"] for line in made.lines if line.get("reason") == "StatusRefused"] == ["f"]

    run_in_memory(work())


def test_a_framework_that_is_over_and_may_not_be_deleted() -> None:
    async def work() -> None:
        refused = refusal(403, "Forbidden", "a policy denies it")
        api = Refusing(lambda method, path: refused if method == "DELETE" and "/frameworks/" in path else None)
        async with lab(api, settings=SETTINGS._replace(completed_retention=0)) as made:
            await made.make("f", {"taskRoles": [role_spec("a", 1, "0")]})
            found = await event(made, lambda each: each["reason"] == "Refused")
            assert found["message"].endswith("tried again (403): its deletion, a while after its end: a policy denies it")
            assert found["involvedObject"]["name"] == "f"
            assert [line["framework"] for line in made.lines if line.get("reason") == "Refused"] == ["f"]

    run_in_memory(work())
