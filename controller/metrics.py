"""What Prometheus is told. Counts are kept where things happen; what can be looked up is looked up when it is asked for.

No metric has a Framework's name in it: there may be any number of them. `docs/operations.md` has the table, and a test holds it to this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry, Histogram
from prometheus_client import Counter as Counted
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from fcompile import __version__
from fcontroller.decide.states import STATES
from fcontroller.lease import Lease
from fcontroller.main import Controller
from fcontroller.report.events import Recorder
from fcontroller.report.reporter import Reporter

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LOOKS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)
_REQUESTS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.controller: Controller | None = None
        self.reporter: Reporter | None = None
        self.recorder: Recorder | None = None
        self._registry = CollectorRegistry()
        for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
            self._registry.register(collector)
        self._looks = Histogram("fcontroller_sync_seconds", "One look at a Framework: deciding.", buckets=_LOOKS, registry=self._registry)
        self.looked = self._looks.observe
        self._requests = Counted(
            "fcontroller_api_requests",
            "Answers of the API server; code 0: there was none.",
            ("verb", "resource", "code"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "fcontroller_api_request_seconds", "Until an answer.", ("verb", "resource"), buckets=_REQUESTS, registry=self._registry
        )
        self._writes = Counted(
            "fcontroller_status_writes", "Statuses sent: stored, conflict or failed.", ("result",), registry=self._registry
        )
        self._registry.register(self)

    def called(self, method: str, path: str, code: int, seconds: float) -> None:
        """The API server was asked; code 0: it did not answer."""
        verb, resource = _what(method, path)
        self._requests.labels(verb, resource, code).inc()
        if method != "WATCH":
            self._seconds.labels(verb, resource).observe(seconds)
        if resource == "frameworks/status":
            self._writes.labels("conflict" if code == 409 else "stored" if 200 <= code < 300 else "failed").inc()

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """What is not counted but looked up."""
        yield _gauge("fcontroller_build_info", "The version.", ("version",), {(__version__,): 1})
        yield _gauge("fcontroller_leader", "Whether this process leads.", (), {(): self.lease is not None and self.lease.held})
        yield from self._of_frameworks(self.controller)
        yield from self._of_reports(self.reporter, self.recorder)

    def _of_frameworks(self, controller: Controller | None) -> Iterator[Metric]:
        runners = list(controller.runners.values()) if controller else []
        statuses = [runner.status for runner in runners if runner.status is not None]
        states = Counter({(state,): 0 for state in STATES})
        states.update((status.state,) for status in statuses)
        yield _gauge("fcontroller_frameworks", "Frameworks by state.", ("state",), states)
        roles = [role for status in statuses for role in status.roles]
        tasks = {
            "running": sum(role.running for role in roles),
            "succeeded": sum(role.succeeded for role in roles),
            "failed": sum(role.failed for role in roles),
            "deletion_pending": sum(role.deletion_pending for role in roles),
        }
        tasks["other"] = sum(len(role.tasks) for role in roles) - sum(tasks.values())
        yield _gauge(
            "fcontroller_tasks", "Tasks: what the completion policies count them as.", ("state",), {(k,): n for k, n in tasks.items()}
        )
        yield _gauge("fcontroller_queue_depth", "Actions that wait for a slot.", (), {(): sum(runner.waiting for runner in runners)})
        yield _gauge("fcontroller_actions_in_flight", "Actions under way.", (), {(): sum(runner.acting for runner in runners)})
        restarts = {
            (follower.path.rpartition("/")[2], reason): count
            for follower in (controller.followers if controller else ())
            for reason, count in follower.ends.items()
        }
        about = "Watches that have ended: done (as asked for), expired (all is listed again) or failed."
        yield _counter("fcontroller_watch_ends", about, ("resource", "reason"), restarts)

    def _of_reports(self, reporter: Reporter | None, recorder: Recorder | None) -> Iterator[Metric]:
        if reporter is not None:
            yield _counter(
                "fcontroller_transitions", "Moves that were stored, by where they lead.", ("level", "state"), reporter.transitions
            )
            yield _counter("fcontroller_attempts_ended", "Attempts by completion code.", ("level", "code"), reporter.attempts)
            yield _counter("fcontroller_retries", "Retries: accountable, transient or conflict.", ("level", "kind"), reporter.retries)
        if recorder is not None:
            results = {(result,): count for result, count in recorder.results.items()}
            yield _counter("fcontroller_events", "Kubernetes Events: written, failed or dropped (too many).", ("result",), results)


def _what(method: str, path: str) -> tuple[str, str]:
    """The verb and the resource of a request, as Kubernetes calls them."""
    _, _, *steps = path.strip("/").split("/")
    steps = steps[1:] if path.startswith("/apis") else steps
    if len(steps) > 2 and steps[0] == "namespaces":
        steps = steps[2:]
    resource, *rest = steps or [""]
    verb = method.lower() if method not in ("GET", *_VERBS) else _VERBS.get(method) or ("get" if rest else "list")
    return verb, "/".join([resource, *rest[1:]])


def _gauge(name: str, about: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    return _filled(GaugeMetricFamily(name, about, labels=labels), values)


def _counter(name: str, about: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    return _filled(CounterMetricFamily(name, about, labels=labels), values)


def _filled(family: Any, values: Mapping[Any, float]) -> Metric:
    for labels, value in values.items():
        family.add_metric(labels, value)
    made: Metric = family
    return made
