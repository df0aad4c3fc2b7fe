"""Services of roles are made, kept, repaired and removed; those of others are left alone and told of. In memory and on a real server."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

import pytest

from fcompile.lower.intent import Intent
from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.requests import Refused
from fcontroller.api import Answer, Api, Body, Json, Projection, Unreachable, collection, path_of
from fcontroller.decide.services import Plan, plan
from fcontroller.mailbox import Mailbox, ServicesReported, ServicesSeen
from fcontroller.observe.cache import SeenServices
from fcontroller.reconcile import services
from fcontroller.testing.memory_api.facade import Facade
from tests.cluster import Cluster
from tests.controller.lab import LENIENT, Lab, Refusing, in_memory, lab, real, refusal, run, run_in_memory
from tests.controller.test_kept_pods import pause
from tests.decide.world import role_spec

HEADLESS = {"ports": [{"port": 80, "name": "http"}]}
SPEC = {"taskRoles": [role_spec("worker", 1, service=HEADLESS), role_spec("ps", 1)]}
OPTIONS = {"apiVersion": "v1", "kind": "DeleteOptions"}


async def service(made: Lab, name: str) -> Json | None:
    answer = await made.api.request("GET", path_of("services", made.namespace, name))
    return answer.body if answer.ok else None


async def until(made: Lab, name: str, so: Callable[[Any], bool]) -> Json:
    """The Service once something is so; None stands for none."""
    async with asyncio.timeout(30):
        while not so(found := await service(made, name)):
            await asyncio.sleep(0.05)
    return found or {}


async def delete(made: Lab, kind: str, name: str, **options: str) -> None:
    assert (await made.api.request("DELETE", path_of(kind, made.namespace, name), {**OPTIONS, **options})).ok


async def change(made: Lab, name: str, **changes: Any) -> None:
    """Write the Service with other metadata or another spec, as somebody with an editor does."""
    while True:  # We may write it meanwhile.
        found = await service(made, name)
        assert found is not None
        edited = {key: {**found[key], **value} for key, value in changes.items()}
        answer = await made.api.request("PUT", path_of("services", made.namespace, name), {**found, **edited})
        if answer.code != 409:
            break
    assert answer.ok, answer.message


def condition(framework: Json) -> tuple[str, str] | None:
    for found in (framework.get("status") or {}).get("conditions", ()):
        if found["type"] == "ServicesMade":
            return found["status"], found["reason"]
    return None


async def told(made: Lab, name: str, status: str, reason: str) -> None:
    await made.until(name, lambda found: condition({"status": found}) == (status, reason))


async def runs(made: Lab, name: str) -> None:
    await made.until(name, lambda status: status["state"] == "AttemptRunning")


async def foreign(made: Lab, name: str, labels: Mapping[str, str]) -> Json:
    value = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": made.namespace, "labels": labels},
        "spec": {"clusterIP": "None", "ports": [{"port": 7, "protocol": "TCP", "targetPort": 7}], "selector": {"app": "theirs"}},
    }
    answer = await made.api.request("POST", collection("services", made.namespace), value)
    assert answer.ok, answer.message
    return answer.body


async def kept(made: Lab) -> None:
    await made.make("kept", SPEC)
    await runs(made, "kept")
    first = await until(made, "kept-worker", bool)
    assert (first["spec"]["clusterIP"], first["spec"]["selector"]) == (
        "None",
        {"FC_FRAMEWORK_NAME": "kept", "FC_TASKROLE_NAME": "worker"},
    )

    await delete(made, "services", "kept-worker")
    await until(made, "kept-worker", lambda found: found and found["metadata"]["uid"] != first["metadata"]["uid"])

    await change(made, "kept-worker", metadata={"annotations": {"note": "a"}}, spec={"sessionAffinity": "ClientIP"})
    ports = [{"port": 81, "protocol": "TCP", "targetPort": 81, "name": "other"}]
    await change(made, "kept-worker", metadata={"labels": {"team": "a"}}, spec={"ports": ports, "publishNotReadyAddresses": False})
    found = await until(made, "kept-worker", lambda found: found["spec"]["ports"][0]["port"] == 80)
    assert found["metadata"]["labels"] == {"FC_FRAMEWORK_NAME": "kept", "FC_TASKROLE_NAME": "worker", "team": "a"}
    assert found["metadata"]["annotations"] == {"note": "a"}
    assert (found["spec"]["publishNotReadyAddresses"], found["spec"]["sessionAffinity"]) == (True, "ClientIP")
    await until(made, "kept-worker", lambda found: found["spec"]["selector"] == first["spec"]["selector"])


async def with_an_address(made: Lab, note: str = "") -> None:
    """Of a Service that somebody else has made for us: nobody can take the address off it again."""
    name = f"address{len(note)}"
    await made.make(name, SPEC)
    await runs(made, name)
    found = await until(made, f"{name}-worker", bool)
    metadata = {key: found["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
    metadata["annotations"] = {"note": note}
    spec = {"clusterIP": "10.0.0.77" if note else "10.0.0.78", "ports": [{"port": 7}], "selector": {"app": "b"}}
    while True:  # We may be faster.
        await made.api.request("DELETE", path_of("services", made.namespace, f"{name}-worker"), OPTIONS)
        answer = await made.api.request("POST", collection("services", made.namespace), {"metadata": metadata, "spec": spec})
        if answer.code != 409:
            break
    assert answer.ok, answer.message
    found = await until(made, f"{name}-worker", lambda found: found and found["spec"]["clusterIP"] == "None")
    assert found["spec"]["selector"] == {"FC_FRAMEWORK_NAME": name, "FC_TASKROLE_NAME": "worker"}


async def with_an_address_and_too_large(made: Lab) -> None:
    await with_an_address(made, "x" * 200_000)


async def too_large(made: Lab) -> None:
    """Whoever says of a Service that it is a Framework's may add to it, but not so much that it fills the controller's memory."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "any", "uid": str(uuid.uuid4()), "controller": True}
    note = {"note": "x" * 200_000}
    value = {
        "metadata": {
            **{"name": "nobodys-worker", "namespace": made.namespace, "labels": {"FC_FRAMEWORK_NAME": "nobodys"}},
            **{"annotations": note, "ownerReferences": [owner]},
        },
        "spec": {"clusterIP": "None", "ports": [{"port": 7, "protocol": "TCP", "targetPort": 7}]},
    }
    answer = await made.api.request("POST", collection("services", made.namespace), value)
    assert answer.ok, answer.message
    await made.make("large", SPEC)
    await runs(made, "large")
    await change(made, "large-worker", metadata={"annotations": note}, spec={"selector": {"app": "another"}})
    found = await until(made, "large-worker", lambda found: "FC_TASKROLE_NAME" in found["spec"]["selector"])
    assert found["spec"]["selector"] == {"FC_FRAMEWORK_NAME": "large", "FC_TASKROLE_NAME": "worker"}
    assert found["metadata"]["annotations"] == note
    for name in ("nobodys", "large"):
        kept = made.controller.cache.of((made.namespace, name)).services
        assert len(json.dumps(kept)) < 2000


async def follows_the_spec(made: Lab) -> None:
    await made.make("follows", SPEC)
    await runs(made, "follows")
    await until(made, "follows-worker", bool)
    await made.edit("follows", "taskRoles/1/service", {"publishNotReadyAddresses": False})
    patch = [{"op": "remove", "path": "/spec/taskRoles/0/service"}]
    assert (await made.api.request("PATCH", path_of("frameworks", made.namespace, "follows"), patch)).ok
    await until(made, "follows-ps", bool)
    await until(made, "follows-worker", lambda found: found is None)
    patch = [{"op": "remove", "path": "/spec/taskRoles/1"}]
    assert (await made.api.request("PATCH", path_of("frameworks", made.namespace, "follows"), patch)).ok
    await until(made, "follows-ps", lambda found: found is None)


async def follows_the_spec_of_the_next_attempt(made: Lab) -> None:
    """Edited while the first attempt is over and the second has not begun."""
    retried = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 1}}
    await made.make("next", {**retried, "taskRoles": [role_spec("worker", 1, service=HEADLESS), role_spec("ps", 1, "0", "1")]})
    await made.until("next", lambda status: status["attemptStatus"]["completionStatus"] is not None)
    patch = [{"op": "remove", "path": "/spec/taskRoles/0/service"}, {"op": "add", "path": "/spec/taskRoles/1/service", "value": {}}]
    assert (await made.api.request("PATCH", path_of("frameworks", made.namespace, "next"), patch)).ok
    await until(made, "next-ps", bool)
    await until(made, "next-worker", lambda found: found is None)


async def left_alone(made: Lab) -> None:
    before = [await foreign(made, "alone-worker", {}), await foreign(made, "alone-metrics", {"FC_FRAMEWORK_NAME": "alone"})]
    await made.make("alone", SPEC)
    await runs(made, "alone")
    await told(made, "alone", "False", "NameTaken")
    assert [await service(made, "alone-worker"), await service(made, "alone-metrics")] == before
    path = collection("events", made.namespace)
    events = [event for event in (await made.api.request("GET", path)).body["items"] if event["reason"] == "ServiceNameTaken"]
    assert [(event["involvedObject"]["name"], "`alone-worker`" in event["message"]) for event in events] == [("alone", True)]
    await delete(made, "services", "alone-worker")
    await until(made, "alone-worker", bool)
    await told(made, "alone", "True", "Made")
    assert await service(made, "alone-metrics") == before[1]


async def ends_with_the_framework(made: Lab) -> None:
    await made.make("ends", {**SPEC, "taskRoles": [role_spec("worker", 1, "0", service=HEADLESS)]})
    await made.completed("ends")
    await until(made, "ends-worker", bool)
    await delete(made, "frameworks", "ends", propagationPolicy="Foreground")
    await until(made, "ends-worker", lambda found: found is None)
    async with asyncio.timeout(30):
        while (made.namespace, "ends") in made.controller.cache.all():
            await asyncio.sleep(0.05)


async def ends_while_it_runs(made: Lab) -> None:
    """The collector takes the Service first, while the Framework is still there: it must not come back."""
    await made.make("goes", SPEC)
    await runs(made, "goes")
    await delete(made, "frameworks", "goes", propagationPolicy="Foreground")
    await until(made, "goes-worker", lambda found: found is None)
    async with asyncio.timeout(30):
        while (await made.framework("goes")).get("kind") == "Framework":
            await asyncio.sleep(0.05)


async def after_a_restart(made: Lab) -> None:
    """Also: a Framework that was made anew waits for the collector to take the Service of its predecessor."""
    await made.make("again", SPEC)
    await runs(made, "again")
    await until(made, "again-worker", bool)
    await made.kill()
    await delete(made, "services", "again-worker")
    made.controller = made._controller()
    made.start()
    old = await until(made, "again-worker", bool)
    await delete(made, "frameworks", "again", propagationPolicy="Background")
    framework = await made.make("again", SPEC)
    found = await until(made, "again-worker", lambda found: found and found["metadata"]["uid"] != old["metadata"]["uid"])
    assert found["metadata"]["ownerReferences"][0]["uid"] == framework["metadata"]["uid"]
    assert condition(await made.framework("again")) is None


async def after_one_that_lost_its_label(made: Lab) -> None:
    """No watch tells that the collector has taken it."""
    await made.make("bare", SPEC)
    await runs(made, "bare")
    old = await until(made, "bare-worker", bool)
    await made.kill()
    path = path_of("services", made.namespace, "bare-worker")
    assert (await made.api.request("PATCH", path, [{"op": "remove", "path": "/metadata/labels"}])).ok
    await delete(made, "frameworks", "bare", propagationPolicy="Background")
    framework = await made.make("bare", SPEC)
    made.controller = made._controller()
    made.start()
    found = await until(made, "bare-worker", lambda found: found and found["metadata"]["uid"] != old["metadata"]["uid"])
    assert found["metadata"]["ownerReferences"][0]["uid"] == framework["metadata"]["uid"]


Scenario = Callable[[Lab], Coroutine[Any, Any, None]]
SCENARIOS: list[Scenario] = [
    kept,
    with_an_address,
    with_an_address_and_too_large,
    too_large,
    follows_the_spec,
    follows_the_spec_of_the_next_attempt,
    left_alone,
]
WITH_COLLECTOR: list[Scenario] = [ends_with_the_framework, ends_while_it_runs, after_a_restart, after_one_that_lost_its_label]
"""In memory only: a real collector takes half a minute until it hears of a new definition."""


@pytest.fixture(autouse=True)
def looks_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_LOOK_AGAIN", 0.3)


def test_in_memory() -> None:
    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            await asyncio.gather(*(scenario(made) for scenario in SCENARIOS))
            for scenario in WITH_COLLECTOR:
                await scenario(made)

    run_in_memory(work())


def test_on_a_real_server(cluster: Cluster, namespace: str) -> None:
    async def work() -> None:
        async with real(cluster) as api, lab(api, namespace, rules=LENIENT) as made:
            await asyncio.gather(*(scenario(made) for scenario in SCENARIOS))

    run(work())


class Counts(Facade):
    """Counts requests about Services, changes some of them right after they are written, and refuses some."""

    def __init__(self, *, fights: bool = False, refuses: int = 0) -> None:
        super().__init__(in_memory().server)
        self.requests: list[str] = []
        self.fights, self.refuses = fights, refuses

    async def request(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        projection: Projection = Projection.WHOLE,
    ) -> Answer:
        if "/services" not in path:
            return await super().request(method, path, body, query, projection)
        self.requests.append(method)
        if method in ("POST", "PUT") and self.refuses:
            self.refuses -= 1
            return Answer(403, {"message": "exceeded quota: services"})
        answer = await super().request(method, path, body, query, projection)
        if self.fights and method in ("POST", "PUT") and answer.ok:
            path = path_of("services", "default", answer.body["metadata"]["name"])
            await super().request("PATCH", path, [{"op": "add", "path": "/spec/selector/mine", "value": "yes"}])
        return answer


def test_nothing_is_asked_while_nothing_happens() -> None:
    async def work() -> None:
        api = Counts()
        async with lab(api) as made:
            await made.make("quiet", SPEC)
            await runs(made, "quiet")
            await made.edit("quiet", "taskRoles/0/taskNumber", 2)
            await made.until("quiet", lambda status: len(status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"]) == 2)
            await asyncio.sleep(1)
            assert api.requests == ["GET", "POST"], "one list, and what is made"

    run_in_memory(work())


def test_somebody_who_always_changes_it_is_no_reason_for_a_storm() -> None:
    async def work() -> None:
        api = Counts(fights=True)
        async with lab(api) as made:
            await made.make("fight", SPEC)
            await runs(made, "fight")
            await asyncio.sleep(2)
            assert 2 < api.requests.count("PUT") < 8

    run_in_memory(work())


def test_a_refusal_is_told_and_the_attempt_waits_for_its_services() -> None:
    async def work() -> None:
        async with lab(Counts(refuses=7)) as made:
            await made.make("refused", SPEC)
            await told(made, "refused", "False", "Refused")
            assert await made.pods() == []
            await runs(made, "refused")
            await told(made, "refused", "True", "Made")

    run_in_memory(work())


def about_services(answer: Callable[[str], Awaitable[Answer | None]]) -> Refusing:
    """An API server that answers writes of Services in a way of its own; None: as always."""

    async def nothing() -> None:
        return None

    return Refusing(lambda method, path: answer(method) if method in ("POST", "PUT") and path.endswith("/services") else nothing())


async def message(made: Lab, name: str) -> str:
    conditions = (await made.framework(name))["status"]["conditions"]
    return next(str(found["message"]) for found in conditions if found["type"] == "ServicesMade")


@pytest.mark.parametrize("begins", [True, False], ids=["at the beginning", "later"])
@pytest.mark.parametrize("unreachable", [True, False], ids=["breaks", "hangs"])
def test_a_service_that_nobody_answers_for_is_told(unreachable: bool, begins: bool) -> None:
    """A webhook that hangs, or a connection that breaks each time: nothing was said of it while an attempt ran."""

    async def answer(method: str) -> Answer | None:
        if not api.silent:
            return None
        if not unreachable:
            await asyncio.sleep(60)
        raise Unreachable("POST services: no answer in 60 s")

    class Silent(Refusing):
        silent = begins

    api = Silent(about_services(answer).refusal)

    async def work() -> None:
        async with lab(api) as made:
            await made.make("train", SPEC)
            if not begins:
                await runs(made, "train")
                api.silent = True
                await delete(made, "services", "train-worker")
            began = asyncio.get_running_loop().time()
            await told(made, "train", "False", "Refused")
            assert asyncio.get_running_loop().time() - began < 30
            assert ("no answer in 60 s" if unreachable else "has not answered for 14 s") in await message(made, "train")
            await asyncio.sleep(300)
            assert "no answer in 60 s" in await message(made, "train")
            api.silent = False
            await made.until("train", lambda found: condition({"status": found}) == ("True", "Made"), 150)
            await until(made, "train-worker", bool)

    run_in_memory(work())


def test_a_pause_while_nobody_answers() -> None:
    async def answer(method: str) -> Answer | None:
        if api.silent:
            await asyncio.sleep(60)
            raise Unreachable("POST services: no answer in 60 s")
        return None

    class Silent(Refusing):
        silent = False

    api = Silent(about_services(answer).refusal)

    async def work() -> None:
        async with lab(api) as made:
            await made.make("train", SPEC)
            await runs(made, "train")
            api.silent = True
            await delete(made, "services", "train-worker")
            for wait in (10, 55, 70):
                await asyncio.sleep(wait)
                await pause(made, str(wait == 10).lower())
            api.silent = False
            await made.until("train", lambda found: condition({"status": found}) == ("True", "Made"), 200)

    run_in_memory(work())


@pytest.mark.parametrize("code", [403, 500, 0])
def test_a_refusal_is_forgotten_when_the_service_is_there_all_the_same(code: int) -> None:
    """Somebody else has made it as it should be; or (0) it was stored, and the answer never came."""

    async def answer(method: str) -> Answer | None:
        if code == 0 and api.refuses:
            await asyncio.sleep(60)
            raise Unreachable("POST services: no answer in 60 s")
        return refusal(code, "Any", "no") if api.refuses else None

    class Sometimes(Refusing):
        refuses = False

    api = Sometimes(about_services(answer).refusal)

    async def work() -> None:
        async with lab(api) as made:
            await made.make("train", SPEC)
            await runs(made, "train")
            found = await service(made, "train-worker")
            assert found is not None
            api.refuses = True
            await delete(made, "services", "train-worker")
            await told(made, "train", "False", "Refused")
            metadata = {key: found["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
            answered = await Facade.request(api, "POST", collection("services", "default"), {**found, "metadata": metadata})
            assert answered.ok, answered.message
            await made.until("train", lambda found: condition({"status": found}) == ("True", "Made"), 150)

    run_in_memory(work())


def test_a_service_that_is_deleted_now_and_then_is_made_again_at_once() -> None:
    """Each repair made the next one wait for longer, for as long as the attempt ran: in the end a minute."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", SPEC)
            await runs(made, "train")
            for _ in range(20):
                await asyncio.sleep(601)
                await delete(made, "services", "train-worker")
                await asyncio.sleep(1)
                assert await service(made, "train-worker")

    run_in_memory(work())


FRAMEWORK = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": "train", "namespace": "default", "uid": "u"}}


def edited(port: int) -> Intent:
    """An intent with one Service."""
    roles = [role_spec("worker", 1, service={"ports": [{"port": port}]})]
    return compile_framework({**FRAMEWORK, "spec": {"taskRoles": roles}}, "default").intent


class Late(Refusing):
    """Answers one PUT late, with a refusal."""

    def __init__(self) -> None:
        answers = [asyncio.sleep(2, refusal(403, "Forbidden", "no"))]
        super().__init__(lambda method, _: answers.pop() if method == "PUT" and answers else None)


def test_an_edit_that_is_refused_late_undoes_no_newer_one() -> None:
    """The attempt before may still wait for an answer when the next one is edited."""

    async def port(api: Api) -> int:
        return int((await api.request("GET", path_of("services", "default", "train-worker"))).body["spec"]["ports"][0]["port"])

    async def work() -> None:
        api, (old, new, newer) = Late(), map(edited, (80, 81, 82))
        made = services.Services(Dispatcher(api), FRAMEWORK, SeenServices(lambda: 0), asyncio.create_task, Mailbox(lambda _: None))
        await made.ensure(old, FRAMEWORK)
        made.maintain(old, FRAMEWORK)
        late = asyncio.create_task(made.ensure(new, FRAMEWORK))
        await asyncio.sleep(1)
        await made.ensure(newer, FRAMEWORK)
        with pytest.raises(Refused):
            await late
        await asyncio.sleep(1)
        assert await port(api) == 82

    run_in_memory(work())


@pytest.mark.parametrize("what", ["an edit", "what ran"])
def test_a_late_refusal_of_what_nobody_wants_any_more_is_not_told(what: str) -> None:
    """It stood in the condition until the next edit, of an edit that was taken back, or of an attempt that is over."""

    async def work() -> None:
        mailbox, api, (old, new) = Mailbox(lambda _: None), Late(), map(edited, (80, 81))
        made = services.Services(Dispatcher(api), FRAMEWORK, SeenServices(lambda: 0), asyncio.create_task, mailbox)
        await made.ensure(old, FRAMEWORK)
        made.maintain(old, FRAMEWORK)
        if what == "an edit":
            late = asyncio.create_task(made.ensure(new, FRAMEWORK))
            await asyncio.sleep(1)
            made.forget_edit()
            with pytest.raises(Refused):
                await late
        else:
            made.maintain(new, FRAMEWORK)
            await asyncio.sleep(1)
            made.maintain(None, FRAMEWORK)
        await asyncio.sleep(5)
        assert [message.refused for message in mailbox.take() if isinstance(message, ServicesReported) and message.refused] == []

    run_in_memory(work())


def test_a_crowd_of_services_is_gone_through_once_for_all_that_has_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may write Services made five thousand in a Framework's name, and with each change of one all were gone through: other
    namespaces' Frameworks waited for a quarter of a minute."""
    planned = list[int]()

    def counted(wanted: Mapping[str, Json], found: Mapping[str, Json], owner: str) -> Plan:
        planned.append(len(found))
        return plan(wanted, found, owner)

    monkeypatch.setattr(services, "plan", counted)

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("crowd", SPEC)
            await runs(made, "crowd")
            for number in range(200):
                await foreign(made, f"crowd-x{number}", {"FC_FRAMEWORK_NAME": "x"})
            await asyncio.sleep(1)
            planned.clear()
            reconciler = made.controller.reconcilers["default", "crowd"]
            for _ in range(200):
                reconciler.mailbox.put(ServicesSeen())
            await asyncio.sleep(1)
            assert planned == [201]
            await change(made, "crowd-worker", spec={"selector": {"app": "theirs"}})
            await until(made, "crowd-worker", lambda found: "FC_TASKROLE_NAME" in found["spec"]["selector"])

    run_in_memory(work())
