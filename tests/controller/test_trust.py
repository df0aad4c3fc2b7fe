"""Who may only write ConfigMaps cannot change what runs: the stored intent counts by the digest in the status alone."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from fcontroller import intent as intents
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.retry import Pace
from fcontroller.api import Answer, Json, path_of
from fcontroller.breath import turns
from fcontroller.decide.review import Rules
from fcontroller.mailbox import IntentRead, Mailbox
from fcontroller.observe.cache import SeenServices
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.intent_keeper import IntentKeeper
from fcontroller.reconcile.services import Services
from tests.cluster import Cluster
from tests.controller.forgeries import FORGERIES, Forge
from tests.controller.lab import Lab, Refusing, in_memory, lab, real, refusal, run, run_in_memory, stored_document
from tests.controller.test_intent import RETRY, all_run, delete_pod
from tests.controller.test_review import IMAGE, digested, images, patched
from tests.decide.world import role_spec
from tests.safety.test_turns import Longest
from tests.safety.virtual_time import VirtualLoop, in_virtual_time

SPEC = {"taskRoles": [role_spec("worker", 2, task=RETRY), role_spec("ps", 1, task=RETRY)]}
PATH = path_of("configmaps", "default", "train-attempt")


async def forged(made: Lab, forge: Forge) -> None:
    """Write into the ConfigMap as somebody else would."""
    config_map = (await made.api.request("GET", PATH)).body
    forge(config_map)
    answer = await made.api.request("PUT", PATH, config_map)
    assert answer.ok, answer.message


def forge_annotation(config_map: Json) -> None:
    config_map["metadata"]["annotations"]["a"] = str(uuid.uuid4())


async def said(made: Lab, status: str, reason: str) -> Json:
    """What is said of the stored intent, once it is so."""

    def found(status_: Json) -> Json | None:
        return next((each for each in status_.get("conditions", ()) if each["type"] == "IntentStored"), None)

    def so(status_: Json) -> bool:
        condition = found(status_)
        return condition is not None and (condition["status"], condition["reason"]) == (status, reason)

    condition = found(await made.until("train", so))
    assert condition is not None
    return condition


async def pods(made: Lab) -> dict[str, Json]:
    return {pod["metadata"]["name"]: pod["spec"] for pod in await made.pods()}


def test_a_forged_intent_is_no_trouble_any_more_once_no_attempt_runs() -> None:
    """It was said to be until the Framework was deleted, and that no Pod is created until it is compiled anew."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await made.kill()
            await forged(made, FORGERIES["another image"])
            await made.edit("train", "taskRoles/0/task/pod/spec/containers/0/image", "another")
            await made.restart()
            forged_so = await said(made, "False", "Forged")
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")
            assert forged_so["message"] in (await said(made, "True", "NotNeeded"))["message"]

    run_in_memory(work())


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
@pytest.mark.parametrize("restarted", [False, True], ids=["alive", "restarted"])
def test_a_forged_intent_runs_nowhere_and_is_repaired(forge: Forge, restarted: bool) -> None:
    async def work() -> None:
        async with lab(in_memory(), rules=Rules(require=True)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            before, config_map = await pods(made), (await made.api.request("GET", PATH)).body
            if restarted:
                await made.kill()
            await forged(made, forge)
            if restarted:
                await made.restart()
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 0, 1])
            again = await pods(made)
            # All but what tells one attempt of a task from another.
            assert without_env(again["train-ps-0"]) == without_env(before["train-ps-0"])
            assert again["train-worker-0"] == before["train-worker-0"]
            if forge is FORGERIES["other annotations"]:
                return
            await said(made, "True", "Stored")
            repaired = (await made.api.request("GET", PATH)).body
            assert [repaired.get(key) for key in ("data", "binaryData")] == [config_map.get(key) for key in ("data", "binaryData")]
            assert "IntentForged" in [event["reason"] for event in await made.events()]
            assert made.report.warnings["IntentForged",] > 0

    run_in_memory(work())


def without_env(spec: Json) -> Json:
    return {**spec, "containers": [{**container, "env": None} for container in spec["containers"]]}


def test_during_a_rescale() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await asyncio.gather(
                forged(made, FORGERIES["another image"]),
                made.edit("train", "taskRoles/0/taskNumber", 4),
                delete_pod(made, "train-ps-0"),
            )
            await all_run(made, "train", [0, 0, 0, 0, 1])
            assert {spec["containers"][0]["image"] for spec in (await pods(made)).values()} == {"a"}
            status = (await made.framework("train"))["status"]
            assert (status["intent"]["nextDigest"], status["intent"]["adopted"]) == (None, False)

    run_in_memory(work())


@pytest.mark.parametrize("name", ["another image", "no intent", "a bomb"])
def test_what_cannot_be_repaired_makes_no_pods_and_does_not_hold_anything_up(name: str) -> None:
    """An edit that was not reviewed is there: what the spec lowers to is not what is in force, and the copy in memory is gone."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await made.edit("train", IMAGE, "unreviewed")
            await made.until("train", lambda status: status["conditions"][0]["reason"] == "DigestDiffers")
            await made.kill()
            await forged(made, FORGERIES[name])
            await made.restart()
            condition = await said(made, "False", "Forged")
            assert "No Pod is created" in condition["message"]
            await delete_pod(made, "train-ps-0")
            await made.until("train", lambda status: tasks(status, 1)[0]["state"] == "AttemptCreationPending")
            await asyncio.sleep(0.5)
            assert sorted(await pods(made)) == ["train-worker-0", "train-worker-1"]
            # What was reviewed takes the place of what is lost.
            await digested(made, "train")
            found = await images(made, lambda found: "train-ps-0" in found)
            assert found == {"train-worker-0": "a", "train-worker-1": "a", "train-ps-0": "unreviewed"}
            await said(made, "True", "Stored")

    run_in_memory(work())


def test_stop_works_without_an_intent() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await made.edit("train", IMAGE, "unreviewed")
            await made.kill()
            await forged(made, FORGERIES["no intent"])
            await made.restart()
            await said(made, "False", "Forged")
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")

    run_in_memory(work())


def test_an_intent_that_was_removed_is_no_adoption() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await made.kill()
            await forged(made, FORGERIES["no intent"])
            await made.edit("train", IMAGE, "unreviewed")
            await made.restart()
            await said(made, "False", "Forged")
            await delete_pod(made, "train-ps-0")
            await asyncio.sleep(0.5)
            assert "unreviewed" not in {spec["containers"][0]["image"] for spec in (await pods(made)).values()}
            assert not any(each["type"] == "Adopted" for each in (await made.framework("train"))["status"]["conditions"])

    run_in_memory(work())


def test_a_config_map_of_another_uid_ends_the_attempt() -> None:
    """Its uid is the attempt: whoever makes it anew has deleted it."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {**SPEC, "retryPolicy": {"fancyRetryPolicy": True, "maxRetryCount": 0}})
            await all_run(made, "train", [0, 0, 0])
            config_map = (await made.api.request("GET", PATH)).body
            FORGERIES["another image"](config_map)
            for key in ("uid", "resourceVersion", "finalizers", "creationTimestamp"):
                config_map["metadata"].pop(key, None)
            await made.kill()
            await made.api.request("PATCH", PATH, [{"op": "remove", "path": "/metadata/finalizers"}])
            await made.api.request("DELETE", PATH, {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Orphan"})
            await made.api.request("PATCH", PATH, [{"op": "remove", "path": "/metadata/finalizers"}])
            assert (await made.api.request("POST", "/api/v1/namespaces/default/configmaps", config_map)).ok
            await made.restart()
            await made.until("train", lambda status: status["retryPolicyStatus"]["totalRetriedCount"] == 1, 90)
            await all_run(made, "train", [0, 0, 0])
            assert {spec["containers"][0]["image"] for spec in (await pods(made)).values()} == {"a"}

    run_in_memory(work())


def refused_writes(answer: Answer) -> Refusing:
    """A server that takes no change of ConfigMaps."""
    return Refusing(lambda method, path: answer if method == "PUT" and "/configmaps/" in path else None)


@pytest.mark.parametrize("code", [413, 422, 403, 500, 404, 409])
def test_an_intent_that_cannot_be_stored_holds_up_nothing_else(code: int) -> None:
    async def work() -> None:
        async with lab(refused_writes(refusal(code, "Refused", "not that"))) as made:
            await made.make(
                "train", {"taskRoles": [*SPEC["taskRoles"], role_spec("short", 1, run="1", frameworkAttemptCompletionPolicy=NEVER)]}
            )
            await all_run(made, "train", [0, 0, 0, 0])
            await made.edit("train", IMAGE, "b")
            await digested(made, "train")
            condition = await said(made, "False", "Refused")
            assert "not that" in condition["message"]
            assert "IntentRefused" in [event["reason"] for event in await made.events()]
            await made.until("train", lambda status: status["taskCounts"]["completed"] == 1)
            await made.edit("train", "taskRoles/0/taskNumber", 1)
            await made.until("train", lambda status: status["taskCounts"]["total"] == 3)
            await delete_pod(made, "train-ps-0")
            await made.until("train", lambda status: [task["attemptStatus"]["id"] for task in tasks(status, 1)] == [1])
            assert "b" not in {spec["containers"][0]["image"] for spec in (await pods(made)).values()}
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")

    run_in_memory(work())


NEVER = {"minFailedTaskCount": -1, "minSucceededTaskCount": -1}


def tasks(status: Json, role: int) -> list[Json]:
    found: list[Json] = status["attemptStatus"]["taskRoleStatuses"][role]["taskStatuses"]
    return found


def test_an_intent_of_rules_that_are_not_known_makes_no_pods() -> None:
    """A newer controller began it."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await made.kill()
            framework = await made.framework("train")
            framework["status"]["intent"]["digest"] = framework["status"]["intent"]["digest"].replace("v1:", "v9:")
            assert (await made.api.request("PUT", f"{path_of('frameworks', 'default', 'train')}/status", framework)).ok
            await made.restart()
            await said(made, "False", "UnknownLowering")
            await delete_pod(made, "train-ps-0")
            await asyncio.sleep(0.5)
            assert sorted(await pods(made)) == ["train-worker-0", "train-worker-1"]

    run_in_memory(work())


def test_a_digest_that_is_taken_away_is_told() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await patched(made, "train", {"op": "remove", "path": "/metadata/annotations"})
            await made.until("train", lambda status: status["conditions"][0]["reason"] == "NotCompiled")
            assert [event["reason"] for event in await made.events() if event["type"] == "Warning"] == ["NotCompiled"]

    run_in_memory(work())


def test_a_stubborn_forger_is_not_answered_as_fast_as_he_writes() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            begun: int = made.api.server.revision  # type: ignore[attr-defined]
            forgeries = 0
            async with asyncio.timeout(10):
                for _ in range(200):
                    config_map: Any = (await made.api.request("GET", PATH)).body
                    FORGERIES["another image"](config_map)
                    forgeries += (await made.api.request("PUT", PATH, config_map)).ok
                    await asyncio.sleep(0.01)
            written: int = made.api.server.revision - begun - forgeries  # type: ignore[attr-defined]
            assert written < forgeries / 4
            await said(made, "True", "Stored")
            assert {spec["containers"][0]["image"] for spec in (await pods(made)).values()} == {"a"}

    run_in_memory(work())


OWNER_CHANGES: dict[str, Callable[[list[Json]], object]] = {
    "taken off": lambda owners: owners.clear(),
    "another one": lambda owners: owners.append({"apiVersion": "example.com/v1", "kind": "Nothing", "name": "a", "uid": "a"}),
    "another kind": lambda owners: owners[0].update(kind="Nothing"),
    "does not block": lambda owners: owners[0].update(blockOwnerDeletion=False),
}


@pytest.mark.parametrize("restarted", [False, True], ids=["alive", "restarted"])
@pytest.mark.parametrize("change", OWNER_CHANGES.values(), ids=OWNER_CHANGES)
def test_an_owner_that_was_changed_is_put_back(change: Callable[[list[Json]], object], restarted: bool) -> None:
    """Without it, or with another one, the ConfigMap would outlive its Framework, and with it all Pods."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            before = (await made.api.request("GET", PATH)).body
            if restarted:
                await made.kill()
            await forged(made, lambda config_map: change(config_map["metadata"]["ownerReferences"]))
            if restarted:
                await made.restart()
            end = asyncio.get_running_loop().time() + 20
            owners = before["metadata"]["ownerReferences"]
            while (found := (await made.api.request("GET", PATH)).body)["metadata"].get("ownerReferences") != owners:
                assert asyncio.get_running_loop().time() < end
                await asyncio.sleep(0.05)
            assert found["data"] == before["data"]
            # Once, and that is it.
            await asyncio.sleep(0.5)
            assert (await made.api.request("GET", PATH)).body["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]

    run_in_memory(work())


def test_an_owner_is_put_back_where_the_document_cannot_be(cluster: Cluster, namespace: str) -> None:
    """Nobody can change an immutable document, and the owner was only written together with it: all Pods outlived the Framework."""

    async def work() -> None:
        async with real(cluster) as api, lab(api, namespace) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            path = path_of("configmaps", namespace, "train-attempt")
            forged = (await api.request("GET", path)).body
            del forged["metadata"]["ownerReferences"]
            assert (await api.request("PUT", path, {**forged, "immutable": True, "data": {}})).ok
            async with asyncio.timeout(20):
                while "ownerReferences" not in (await api.request("GET", path)).body["metadata"]:
                    await asyncio.sleep(0.1)
                while "is immutable" not in (await said(made, "False", "Forged"))["message"]:
                    await asyncio.sleep(0.1)
            await api.request("DELETE", path_of("frameworks", namespace, "train"), {"propagationPolicy": "Background"})
            async with asyncio.timeout(60):
                while await made.pods():
                    await asyncio.sleep(0.1)

    run(work())


@pytest.mark.parametrize("forge", [FORGERIES["another image"], forge_annotation], ids=["document", "annotation"])
def test_a_stubborn_forger_is_not_read_as_fast_as_he_writes(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is more unpacked than the document has that is in force. When he has been calm for long, there is no wait."""
    read, limits = intents.read_stored, list[int]()

    def counted(config_map: Json, limit: int) -> Any:
        limits.append(limit)
        return read(config_map, limit)

    monkeypatch.setattr(intents, "read_stored", counted)

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            document = stored_document((await made.api.request("GET", PATH)).body)
            await asyncio.sleep(0.3)
            limits.clear()
            for _ in range(100):
                with contextlib.suppress(AssertionError):  # It is repaired meanwhile.
                    await forged(made, forge)
                await asyncio.sleep(0.01)
            assert 1 <= len(limits) <= 14
            assert set(limits) == {len(document)}

    run_in_memory(work())


def test_long_waits_are_no_calm() -> None:
    async def work(loop: VirtualLoop) -> None:
        pace = Pace()
        delays = []
        for _ in range(20):
            delays.append(pace.delay(0))
            await asyncio.sleep(delays[-1])
        assert delays[0] == 0
        assert min(delays[12:]) > 40
        await asyncio.sleep(61)
        assert pace.delay(0) == 0

    in_virtual_time(work)


@pytest.mark.usefixtures("without_collections")
def test_large_documents_are_read_one_after_another_and_in_many_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is held after a start, so that all of what somebody else has written is unpacked."""
    read, open_, most = intents.read_stored, [0], [0]

    def counted(config_map: Json, limit: int) -> Any:
        open_[0] += 1
        most[0] = max(most[0], open_[0])
        try:
            return (yield from read(config_map, limit))
        finally:
            open_[0] -= 1

    monkeypatch.setattr(intents, "read_stored", counted)
    packed = base64.b64encode(gzip.compress(b" " * (3 << 20))).decode()
    metadata = {"resourceVersion": "2", "uid": "u", "ownerReferences": [{"controller": True, "uid": "f"}]}
    config_map: Json = {"metadata": metadata, "binaryData": {intents.COMPRESSED_KEY: packed}}
    framework: Json = {"metadata": {"name": "train", "namespace": "default", "uid": "f"}}

    async def work() -> None:
        api, mailbox, longest = Dispatcher(Refusing(lambda *_: Answer(200, config_map))), Mailbox(lambda _: None), Longest()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(20):
                services = Services(api, framework, SeenServices(lambda: 0), tasks.create_task, mailbox)
                keeper = IntentKeeper(api, framework, services, tasks.create_task, mailbox, Alarms(mailbox))
                keeper.read("u", framework, "v1:sha256:0", "v1:sha256:1")
        assert [message.problem for message in mailbox.take() if isinstance(message, IntentRead)] == 20 * ["it holds another document"]
        assert most == [1]
        assert longest.turn < 0.1

    run_in_memory(work())


def test_what_many_of_one_namespace_hold_does_not_keep_others_waiting() -> None:
    """After a restart a thousand forged ones had to be unpacked before anybody else's."""

    async def work() -> None:
        done = list[str]()

        async def unpack(tenant: str) -> None:
            async with turns().alone(tenant):
                await asyncio.sleep(1)
                done.append(tenant)

        async with asyncio.TaskGroup() as tasks:
            for tenant in [*["bad"] * 100, *["good"] * 2]:
                tasks.create_task(unpack(tenant))
        assert len(done) == 102
        assert [place for place, tenant in enumerate(done) if tenant == "good"] <= [2, 4]

    run_in_memory(work())


@pytest.mark.parametrize("deleted", [False, True], ids=["not deleted", "deleted"])
def test_a_deletion_that_orphans_takes_the_owner_off_for_good(deleted: bool) -> None:
    """Also when the watch of ConfigMaps is ahead of that of Frameworks: the Framework that is given is of before."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            framework = await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            digest = (await made.framework("train"))["status"]["intent"]["digest"]
            await made.kill()
            path = path_of("frameworks", "default", "train")
            held = await made.api.request("PATCH", path, [{"op": "add", "path": "/metadata/finalizers", "value": ["orphan"]}])
            assert held.ok, held.message
            if deleted:
                assert (await made.api.request("DELETE", path, {})).ok
            await forged(made, lambda config_map: config_map["metadata"].pop("ownerReferences"))
            uid = (await made.api.request("GET", PATH)).body["metadata"]["uid"]
            api, mailbox = Dispatcher(made.api), Mailbox(lambda _: None)
            async with asyncio.TaskGroup() as tasks:
                services = Services(api, framework, SeenServices(lambda: 0), tasks.create_task, mailbox)
                keeper = IntentKeeper(api, framework, services, tasks.create_task, mailbox, Alarms(mailbox))
                keeper.read(uid, framework, digest)
            (message,) = mailbox.take()
            assert isinstance(message, IntentRead)
            keeper.note(message)
            assert (keeper.stored, keeper.orphaned) == (digest, not deleted)

    run_in_memory(work())
