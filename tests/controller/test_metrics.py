"""What Prometheus is told is what the table says, and is what is so."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fcontroller.metrics import METRICS, Metrics, _what
from tests.controller.lab import in_memory, lab, run
from tests.decide.world import role_spec


def test_the_table_has_every_metric() -> None:
    async def work() -> None:
        async with lab(in_memory()) as made:
            metrics = Metrics()
            metrics.controller, metrics.reporter, metrics.recorder = made.controller, made.report, made.recorder
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

    run(work())


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
