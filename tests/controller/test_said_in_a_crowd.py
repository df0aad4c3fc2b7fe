"""What is refused or not answered is said within half a minute, in a namespace that is crowded too."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fcontroller.act.retry import QUEUED, SILENT
from fcontroller.api import Answer, Unreachable, collection
from tests.controller.lab import Refusing, lab, refusal, run_in_memory
from tests.controller.test_held import condition
from tests.decide.world import role_spec

ABOUT = ("IntentStored", "ServicesMade")
BUSY = [
    ("POST", "pods", "PodsCreated"),
    ("POST", "configmaps", "IntentStored"),
    ("POST", "services", "ServicesMade"),
    ("DELETE", "configmaps", "ObjectsDeleted"),
    ("DELETE", "pods", "ObjectsDeleted"),
]


@pytest.mark.parametrize("frameworks", [5, 60])
def test_pods_that_are_not_answered_are_said_within_half_a_minute(frameworks: int) -> None:
    async def work() -> None:
        async def hangs(method: str, path: str) -> None:
            if (method, path) == ("POST", collection("pods", "default")):
                await asyncio.sleep(60)
                raise Unreachable("no answer")

        async with lab(Refusing(hangs)) as made:
            loop = asyncio.get_running_loop()
            began = loop.time()
            for number in range(frameworks):
                await made.make(f"train{number}", {"taskRoles": [role_spec("a", 3, run="forever")]})
            said = dict[str, float]()
            while loop.time() < began + 100:
                for number in range(frameworks):
                    status = (await made.framework(f"train{number}")).get("status") or {}
                    for each in status.get("conditions") or ():
                        if (each["type"], each["status"]) == ("PodsCreated", "False"):
                            said.setdefault(f"train{number}", loop.time() - began)
                await asyncio.sleep(0.5)
            assert len(said) == frameworks
            assert max(said.values()) <= 31

    run_in_memory(work())


@pytest.mark.parametrize("seconds", [1, 5, 10, 20, 60])
@pytest.mark.parametrize(("method", "kind", "kind_of_condition"), BUSY)
def test_a_busy_server_is_said_within_half_a_minute(method: str, kind: str, kind_of_condition: str, seconds: float) -> None:
    """It says itself for how long it is busy: nobody has to wait that long to hear of it."""

    async def work() -> None:
        def busy(asked: str, path: str) -> Answer | None:
            is_it = asked == method and path.startswith(collection(kind, "default")) and is_busy
            return Answer(429, refusal(429, "TooManyRequests", "busy").body, seconds) if is_it else None

        is_busy = method == "POST"
        async with lab(Refusing(busy)) as made:
            loop = asyncio.get_running_loop()
            await made.make("train", {"taskRoles": [role_spec("a", 3, run="forever", service={})]})
            if method == "DELETE":
                await made.until("train", lambda status: status["state"] == "AttemptRunning")
                is_busy = True
                smaller = [role_spec("a", 1, run="forever", service={})]
                await (made.edit("train", "taskRoles", smaller) if kind == "pods" else made.edit("train", "executionType", "Stop"))
            began = loop.time()
            await condition(made, kind_of_condition, "False")
            assert loop.time() - began <= 16

    run_in_memory(work())


@pytest.mark.parametrize("seconds", [1, 5, 14, 20])
@pytest.mark.parametrize(("method", "kind", "kind_of_condition"), BUSY)
def test_who_waits_as_the_server_asks_waits_neither_for_an_answer_nor_for_others(
    method: str, kind: str, kind_of_condition: str, seconds: float
) -> None:
    async def work() -> None:
        def busy(asked: str, path: str) -> Answer | None:
            is_it = asked == method and path.startswith(collection(kind, "default")) and is_busy
            return Answer(429, refusal(429, "TooManyRequests", "busy").body, seconds) if is_it else None

        is_busy, names = method == "POST", [f"train{number}" for number in range(30)]
        async with lab(Refusing(busy)) as made:
            for name in names:
                await made.make(name, {"taskRoles": [role_spec("a", 3, run="forever", service={})]})
            if method == "DELETE":
                for name in names:
                    await made.until(name, lambda status: status["state"] == "AttemptRunning")
                is_busy = True
                smaller = [role_spec("a", 1, run="forever", service={})]
                for name in names:
                    await (made.edit(name, "taskRoles", smaller) if kind == "pods" else made.edit(name, "executionType", "Stop"))
            said, end = set[str](), asyncio.get_running_loop().time() + 60
            while asyncio.get_running_loop().time() < end:
                for name in names:
                    conditions = ((await made.framework(name)).get("status") or {}).get("conditions") or ()
                    said |= {each["message"] for each in conditions if (each["type"], each["status"]) == (kind_of_condition, "False")}
                await asyncio.sleep(0.5)
            assert said
            assert not [message for message in said if SILENT in message or QUEUED in message]

    run_in_memory(work())


@pytest.mark.parametrize("crowd", [0, 40])
def test_a_refused_configmap_is_said_soon(crowd: int) -> None:
    async def work() -> None:
        async def late(method: str, path: str) -> Any:
            if (method, path) == ("POST", collection("configmaps", "default")) and refused:
                return refusal(403, "Forbidden", "a webhook")
            if (method, path) == ("POST", collection("pods", "default")):
                await asyncio.sleep(4)
            return None

        refused = False
        async with lab(Refusing(late)) as made:
            loop = asyncio.get_running_loop()
            for number in range(crowd):
                await made.make(f"large{number}", {"taskRoles": [role_spec("a", 100, run="forever")]})
            await asyncio.sleep(15)
            refused = True
            began = loop.time()
            await made.make("train", {"taskRoles": [role_spec("a", 3, run="forever")]})
            await condition(made, "IntentStored", "False")
            took = loop.time() - began
            assert took <= 15

    run_in_memory(work())


@pytest.mark.parametrize("kind", ["configmaps", "services"])
def test_a_server_is_not_said_to_be_silent_before_it_was_asked(kind: str) -> None:
    async def work() -> None:
        async def late(method: str, path: str) -> None:
            if (method, path) == ("POST", collection(kind, "default")):
                await asyncio.sleep(4)

        async with lab(Refusing(late)) as made:
            for number in range(200):
                await made.make(f"train{number}", {"taskRoles": [role_spec("a", 1, run="forever", service={})]})
            said = set[str]()
            for _ in range(40):
                await asyncio.sleep(1)
                listed = (await made.api.request("GET", collection("frameworks", "default"))).body["items"]
                conditions = [each for framework in listed for each in (framework.get("status") or {}).get("conditions") or ()]
                said |= {each["message"] for each in conditions if each["status"] == "False" and each["type"] in ABOUT}
            assert {framework["status"]["state"] for framework in listed} == {"AttemptRunning"}
            assert said == set()

    run_in_memory(work())


def test_what_fails_after_each_wait_for_its_turn_is_said_the_second_time() -> None:
    """It was said after three failures, as of what is tried again at once: here each came a minute after the last one."""

    async def work() -> None:
        async def fails(method: str, path: str) -> Answer | None:
            if (method, path) == ("POST", collection("configmaps", "default")):
                await asyncio.sleep(10)
                return refusal(500, "InternalError", "failed calling webhook: TLS handshake timeout")
            return None

        async with lab(Refusing(fails)) as made:
            for number in range(120):
                await made.make(f"train{number}", {"taskRoles": [role_spec("a", 1, run="forever")]})
            await asyncio.sleep(90)
            listed = (await made.api.request("GET", collection("frameworks", "default"))).body["items"]
            said = [each["reason"] for framework in listed for each in framework["status"]["conditions"] if each["type"] == "IntentStored"]
            assert said == ["Refused"] * 120

    run_in_memory(work())


@pytest.mark.parametrize("kind", ["configmaps", "services"])
def test_an_attempt_that_waits_long_for_its_turn_says_so(kind: str) -> None:
    """For minutes nothing said why a Framework did not begin: others of its namespace, which hung in a webhook, went first."""

    async def work() -> None:
        async def hangs(method: str, path: str) -> Answer | None:
            if is_slow and (method, path) == ("POST", collection(kind, "default")):
                await asyncio.sleep(30)
                return refusal(500, "InternalError", "failed calling webhook: context deadline exceeded")
            return None

        async def listed() -> list[Any]:
            found = (await made.api.request("GET", collection("frameworks", "default"))).body["items"]
            return [[each for each in framework["status"]["conditions"] if each["type"] == "IntentStored"] for framework in found]

        is_slow = True
        async with lab(Refusing(hangs)) as made:
            for number in range(150):
                await made.make(f"train{number}", {"taskRoles": [role_spec("a", 1, run="forever", service={})]})
            await asyncio.sleep(75)
            said = [(each["status"], each["reason"]) for (each,) in await listed()]
            assert set(said) == {("False", "Refused"), ("False", "WaitsForTurn")}
            assert said.count(("False", "WaitsForTurn")) > 50
            is_slow = False
            await asyncio.sleep(130)
            assert {(each["status"], each["reason"]) for (each,) in await listed()} == {("True", "Stored")}

    run_in_memory(work())


def test_nor_before_it_was_asked_what_a_configmap_holds() -> None:
    """Nor that this waits for its turn: what it was made with is known, so that nothing waits for the answer."""

    async def work() -> None:
        async def late(method: str, path: str) -> None:
            if method == "GET" and path.startswith(collection("configmaps", "default") + "/"):
                await asyncio.sleep(4)

        async with lab(Refusing(late)) as made:
            for number in range(200):
                await made.make(f"train{number}", {"taskRoles": [role_spec("a", 1, run="forever")]})
            said = set[str]()
            for _ in range(60):
                await asyncio.sleep(1)
                listed = (await made.api.request("GET", collection("frameworks", "default"))).body["items"]
                conditions = [each for framework in listed for each in (framework.get("status") or {}).get("conditions") or ()]
                said |= {each["message"] for each in conditions}
            assert {framework["status"]["state"] for framework in listed} == {"AttemptRunning"}
            assert not [message for message in said if SILENT in message or QUEUED in message]

    run_in_memory(work())


@pytest.mark.parametrize(("frameworks", "tasks", "seconds"), [(1, 100, 8), (4, 60, 6)])
def test_pods_that_wait_long_to_be_deleted_are_said_to(frameworks: int, tasks: int, seconds: float) -> None:
    """They ran on for minutes after a scale-down, and only creations that wait for their turn were told of."""

    async def work() -> None:
        async def late(method: str, path: str) -> None:
            await asyncio.sleep(seconds if method == "DELETE" and path.startswith(collection("pods", "default") + "/") else 0)

        async with lab(Refusing(late)) as made:
            names = [f"train{number}" for number in range(frameworks)]
            for name in names:
                await made.make(name, {"taskRoles": [role_spec("a", tasks, run="forever")]})
            await asyncio.sleep(60)
            assert len(await made.pods()) == frameworks * tasks
            for name in names:
                await made.edit(name, "taskRoles", [role_spec("a", 1, run="forever")])
            await asyncio.sleep(30)
            said = [event for event in await made.events() if event["reason"] == "DeletionsWait"]
            assert {event["involvedObject"]["name"] for event in said} == set(names)
            assert {event["message"] for event in said} == {f"Pods are to be deleted, and were not told so yet: {QUEUED}"}
            await asyncio.sleep(100)
            assert len(await made.pods()) == frameworks
            assert [event["count"] for event in await made.events() if event["reason"] == "DeletionsWait"] == [1] * frameworks

    run_in_memory(work())
