"""What Prometheus is told is what the table says, and is what is so."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fcontroller import metrics as metrics_module
from fcontroller.api import Json, Projection, collection
from fcontroller.decide import conditions
from fcontroller.metrics import METRICS, Metrics, Sources, _what
from tests.controller.lab import RULES, SETTINGS, Lab, Refusing, in_memory, lab, refusal, run_in_memory
from tests.controller.test_dispatcher import Slow, create, slow_in
from tests.decide.world import role_spec
from tests.safety.virtual_time import VirtualLoop, in_virtual_time


def test_the_table_has_every_metric() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            metrics = Metrics()
            metrics.sources = Sources(made.controller, made.report, made.recorder)
            await made.make("f", {"taskRoles": [role_spec("a", 3), role_spec("b", 2, "0")]})
            await made.make("g", {"executionType": "Create", "taskRoles": [role_spec("a", 1)]})
            await made.until("f", lambda status: status["taskCounts"] == {"running": 3, "completed": 2, "total": 5})
            await made.until("g", lambda status: True)
            families = {family.name: family for family in text_string_to_metric_families(metrics.text().decode())}
            assert {name: family.type for name, family in families.items() if name.startswith("fcontroller_")} == {
                name: metric.kind for name, metric in METRICS.items()
            }
            tasks = {sample.labels["state"]: sample.value for sample in families["fcontroller_tasks"].samples}
            assert tasks == {"running": 3, "succeeded": 2, "failed": 0, "deletion_pending": 0, "other": 1}
            frameworks = {sample.labels["state"]: sample.value for sample in families["fcontroller_frameworks"].samples if sample.value}
            assert frameworks == {"AttemptRunning": 1, "AttemptCreationPending": 1}

    run_in_memory(work())


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/v1/pods", ("list", "pods")),
        ("GET", "/api/v1/namespaces/a/pods", ("list", "pods")),
        ("GET", "/api/v1/namespaces/a/pods/b", ("get", "pods")),
        ("WATCH", "/apis/frameworkcontroller.microsoft.com/v1/frameworks", ("watch", "frameworks")),
        ("PUT", "/apis/frameworkcontroller.microsoft.com/v1/namespaces/a/frameworks/b/status", ("update", "frameworks/status")),
        ("POST", "/apis/coordination.k8s.io/v1/namespaces/a/leases", ("create", "leases")),
        ("PATCH", "/api/v1/namespaces/a/events/b", ("patch", "events")),
        ("DELETE", "/api/v1/namespaces/namespaces/configmaps/pods", ("delete", "configmaps")),
    ],
)
def test_a_request_in_the_words_of_kubernetes(method: str, path: str, expected: tuple[str, str]) -> None:
    assert _what(method, path) == expected


def test_how_writes_of_statuses_end() -> None:
    metrics, path = Metrics(), "/apis/frameworkcontroller.microsoft.com/v1/namespaces/a/frameworks/b/status"
    for code in (200, 200, 409, 500, 0):
        metrics.called("PUT", path, code, 0.01)
    families = {family.name: family for family in text_string_to_metric_families(metrics.text().decode())}
    results = {
        sample.labels["result"]: sample.value for sample in families["fcontroller_status_writes"].samples if sample.name.endswith("total")
    }
    assert results == {"stored": 2, "conflict": 1, "failed": 2}


def refusing(ends: list[str]) -> Refusing:
    """An API server that takes nothing whose path ends in one of these."""
    quota = refusal(403, "Forbidden", "exceeded quota: q")
    return Refusing(lambda method, path: quota if method in ("POST", "PUT") and path.endswith(tuple(ends)) else None)


async def until(metrics: Metrics, name: str, wanted: Callable[[float], bool], **labels: str) -> None:
    async with asyncio.timeout(20):
        while not wanted(value(metrics, name, **labels)):
            await asyncio.sleep(0.05)


def value(metrics: Metrics, name: str, **labels: str) -> float:
    families = text_string_to_metric_families(metrics.text().decode())
    (found,) = [one.value for family in families for one in family.samples if (one.name, one.labels) == (name, labels)]
    return found


def metrics_of(made: Lab) -> Metrics:
    metrics = Metrics()
    metrics.sources = Sources(made.controller, made.report)
    return metrics


def test_a_framework_is_frozen_once_something_has_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        refused = list[str]()
        async with lab(refusing(refused)) as made:
            metrics = metrics_of(made)
            refused.append("/pods")
            await made.make("f", {"taskRoles": [role_spec("a", 3)]})
            await made.until("f", lambda status: any(each["type"] == "PodsCreated" for each in status["conditions"]))
            assert value(metrics, "fcontroller_frozen_frameworks", condition="PodsCreated") == 0
            assert value(metrics, "fcontroller_warnings_total", reason="Refused") > 0
            monkeypatch.setattr(metrics_module, "FROZEN_AFTER", 1)
            await until(metrics, "fcontroller_frozen_frameworks", lambda count: count == 1, condition="PodsCreated")
            assert value(metrics, "fcontroller_frozen_frameworks", condition="IntentStored") == 0
            await asyncio.sleep(5)
            assert 5 <= value(metrics, "fcontroller_longest_frozen_seconds", condition="PodsCreated") <= 30
            assert value(metrics, "fcontroller_longest_frozen_seconds", condition="IntentStored") == 0
            refused.clear()
            await until(metrics, "fcontroller_frozen_frameworks", lambda count: count == 0, condition="PodsCreated")
            assert value(metrics, "fcontroller_longest_frozen_seconds", condition="PodsCreated") == 0

    run_in_memory(work())


def test_every_problem_freezes(repository: Path) -> None:
    """But that messages are cut, and that Pods are from before an edit: nothing waits for that."""
    sources = [path.read_text("utf-8") for path in (repository / "controller" / "fcontroller").rglob("*.py")]
    said = {name for source in sources for name in re.findall(r"set_problem\(status, ([A-Z_]+)", source)}
    assert {getattr(conditions, name) for name in said} == {*conditions.PROBLEMS, conditions.MESSAGES_KEPT, conditions.PODS_UP_TO_DATE}


def test_a_status_that_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        refused = list[str]()
        async with lab(refusing(refused)) as made:
            metrics = metrics_of(made)
            refused.append("/status")
            await made.make("f", {"taskRoles": [role_spec("a", 1)]})
            await until(metrics, "fcontroller_oldest_unsaved_status_seconds", lambda seconds: seconds > 1)
            assert value(metrics, "fcontroller_frozen_frameworks", condition="StatusStored") == 0
            monkeypatch.setattr(metrics_module, "FROZEN_AFTER", 1)
            assert value(metrics, "fcontroller_frozen_frameworks", condition="StatusStored") == 1
            refused.clear()
            await until(metrics, "fcontroller_oldest_unsaved_status_seconds", lambda seconds: seconds == 0)
            assert value(metrics, "fcontroller_frozen_frameworks", condition="StatusStored") == 0

    run_in_memory(work())


def test_a_status_that_changes_all_the_time_is_stored_all_the_same() -> None:
    """It has changed again whenever a write has come to its end, and yet nothing waits for long."""

    async def takes_time(method: str, path: str) -> None:
        if method == "PUT" and path.endswith("/status"):
            await asyncio.sleep(0.05)

    async def work() -> None:
        async with lab(Refusing(takes_time)) as made:
            metrics = metrics_of(made)
            await made.make("f", {"taskRoles": [role_spec("a", 2)]})
            await made.until("f", lambda status: status["state"] == "AttemptRunning")
            (reconciler,) = made.controller.reconcilers.values()
            loop = asyncio.get_running_loop()
            oldest, end = 0.0, loop.time() + 5
            while loop.time() < end:
                assert reconciler.status is not None
                reconciler.status.touch()
                reconciler.reconcile()
                oldest = max(oldest, value(metrics, "fcontroller_oldest_unsaved_status_seconds"))
                await asyncio.sleep(0.02)
            assert 0 < oldest < 2.5

    run_in_memory(work())


def test_what_waits_for_its_turn() -> None:
    async def work(loop: VirtualLoop) -> None:
        made = Lab(Slow(slow_in("bad")), "default", RULES, SETTINGS)
        api, metrics = made.controller.dependencies.api, metrics_of(made)
        many = [loop.create_task(create(api, "bad")) for _ in range(100)]
        await asyncio.sleep(5)
        assert value(metrics, "fcontroller_requests_waiting", priority="creation") > 50
        assert value(metrics, "fcontroller_requests_waiting", priority="urgent") == 0
        assert value(metrics, "fcontroller_oldest_waiting_request_seconds", priority="creation") == pytest.approx(5)
        assert value(metrics, "fcontroller_oldest_waiting_request_seconds", priority="urgent") == 0
        await asyncio.gather(*many)
        assert value(metrics, "fcontroller_oldest_waiting_request_seconds", priority="creation") == 0

    in_virtual_time(work)


def test_requests_that_hang_are_counted_where_they_hang() -> None:
    """There are the namespaces that have most of them, and no others: of thousands each would be a series."""

    async def work(loop: VirtualLoop) -> None:
        made = Lab(Slow(lambda namespace, _: 0.1 if namespace == "good" else 30), "default", RULES, SETTINGS)
        api, metrics = made.controller.dependencies.api, metrics_of(made)
        many = [loop.create_task(create(api, f"bad{number}")) for number in range(15) for _ in range(number)]
        await create(api, "good")
        assert "fcontroller_hanging_requests{" not in metrics.text().decode()
        await asyncio.sleep(5)
        found = {number: value(metrics, "fcontroller_hanging_requests", framework_namespace=f"bad{number}") for number in range(5, 15)}
        assert found == {number: number for number in range(5, 15)}
        assert metrics.text().decode().count("fcontroller_hanging_requests{") == 10
        await asyncio.gather(*many)
        assert "fcontroller_hanging_requests{" not in metrics.text().decode()

    in_virtual_time(work)


class Silent(Refusing):
    """An API server that lists, and says nothing more."""

    async def watch(self, path: str, query: Mapping[str, str], projection: Projection = Projection.WHOLE) -> AsyncIterator[Json]:
        await asyncio.sleep(1e9)
        yield {}


def test_events_that_wait_are_counted_though_they_are_sent_one_by_one() -> None:
    """Those of a namespace are written one after the other: the metric never said of more than one that it waits."""

    async def work() -> None:
        async def slow(method: str, path: str) -> None:
            if (method, path) == ("POST", collection("events", "default")):
                await asyncio.sleep(100)

        async with lab(Refusing(slow)) as made:
            metrics = Metrics()
            metrics.sources = Sources(made.controller, made.report, made.recorder)
            await made.make("train", {"taskRoles": [role_spec("a", 1, run="forever")]})
            framework = await made.framework("train")
            for number in range(9):
                made.recorder.record(framework, "Normal", "Test", f"event {number}")
            await made.until("train", lambda status: status["state"] == "AttemptRunning")  # Its start is an Event, too, and under way.
            await asyncio.sleep(5)
            assert value(metrics, "fcontroller_requests_waiting", priority="event") == 9

    run_in_memory(work())


def test_the_age_of_each_watch() -> None:
    async def work(loop: VirtualLoop) -> None:
        made = Lab(Silent(lambda *_: None), "default", RULES, SETTINGS)
        metrics = metrics_of(made)
        loop.passed = 1000
        made.start()
        await asyncio.sleep(1)
        assert value(metrics, "fcontroller_watch_age_seconds", resource="pods") == pytest.approx(1)
        await asyncio.sleep(200)
        for resource in ("pods", "configmaps", "services", "frameworks"):
            assert value(metrics, "fcontroller_watch_age_seconds", resource=resource) == pytest.approx(201)
        await made.kill()

    in_virtual_time(work)


def test_the_age_of_a_watch_that_never_begins() -> None:
    async def work(loop: VirtualLoop) -> None:
        deaf = refusal(503, "ServiceUnavailable", "no")
        made = Lab(Silent(lambda _, path: deaf if path.endswith("/configmaps") else None), "default", RULES, SETTINGS)
        metrics = metrics_of(made)
        loop.passed = 1000
        made.start()
        await asyncio.sleep(200)
        assert value(metrics, "fcontroller_watch_age_seconds", resource="configmaps") == pytest.approx(200)
        # Frameworks are listed when all else is known: nobody has asked for them yet.
        assert 'fcontroller_watch_age_seconds{resource="frameworks"}' not in metrics.text().decode()
        await made.kill()

    in_virtual_time(work)


def test_how_late_the_event_loop_is() -> None:
    async def work() -> None:
        metrics = Metrics()
        measuring = asyncio.create_task(metrics.measure_lag())
        await asyncio.sleep(0.3)
        time.sleep(1.2)
        await asyncio.sleep(0.3)
        measuring.cancel()
        count = value(metrics, "fcontroller_event_loop_lag_seconds_count")
        assert count - value(metrics, "fcontroller_event_loop_lag_seconds_bucket", le="0.5") == 1
        assert count - value(metrics, "fcontroller_event_loop_lag_seconds_bucket", le="2.5") == 0

    run_in_memory(work())
