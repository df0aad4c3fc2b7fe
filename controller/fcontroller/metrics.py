"""Metrics for Prometheus. Counters are kept where things happen; gauges are read at each scrape.

No metric has a Framework's name in it: there may be any number of them. `tools/operations_page.py` writes the table of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry, Histogram, disable_created_metrics
from prometheus_client import Counter as Counted
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from fcompile._version import __version__
from fcontroller.act.dispatcher import Priority
from fcontroller.act.lease import Lease
from fcontroller.api import target_of
from fcontroller.decide.conditions import PROBLEMS, problems
from fcontroller.decide.states import COMPLETED, STATES
from fcontroller.reconcile.controller import Controller
from fcontroller.reconcile.inspector import Inspector
from fcontroller.reconcile.reconciler import Reconciler
from fcontroller.reconcile.retention import Kept
from fcontroller.report.events import Recorder
from fcontroller.report.reporter import Reporter

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LOOKS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)
_REQUESTS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LAGS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_LAG_EVERY = 0.25
"""Seconds between one look at how late the event loop is and the next."""
_COUNTED = ("running", "succeeded", "failed", "deletion_pending")
"""What a role counts of its tasks."""
FROZEN_AFTER = 30.0
"""Seconds of waiting after which a Framework counts as frozen."""
_STATUS_STORED = "StatusStored"
"""Not a condition: a status that cannot be stored cannot have one."""
_MOST_NAMESPACES = 10
"""Namespaces that a metric names at most: there may be any number of them."""
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Described(NamedTuple):
    """A metric. Prometheus adds `_total` to the names of counters."""

    kind: str
    about: str
    labels: tuple[str, ...] = ()


METRICS = {
    "fcontroller_build_info": Described("gauge", "always 1; the version is a label", ("version",)),
    "fcontroller_leader": Described("gauge", "1 in the process that leads, else 0"),
    "fcontroller_frameworks": Described("gauge", "Frameworks by state", ("state",)),
    "fcontroller_retained_frameworks": Described(
        "gauge", "Frameworks that would have been deleted after their end, and stay since a GitOps tool tracks them"
    ),
    "fcontroller_tasks": Described(
        "gauge", "tasks by what the completion policies count them as: running, succeeded, failed, deletion_pending, other", ("state",)
    ),
    "fcontroller_frozen_frameworks": Described(
        "gauge",
        f"Frameworks for which something has waited for {FROZEN_AFTER:g} seconds, by the condition that is False; StatusStored: their"
        " status is not stored",
        ("condition",),
    ),
    "fcontroller_longest_frozen_seconds": Described(
        "gauge", "for how long the Framework has waited that has waited longest, by the same conditions; 0: none has", ("condition",)
    ),
    "fcontroller_oldest_unsaved_status_seconds": Described("gauge", "how long the status that has waited longest waits to be stored"),
    "fcontroller_pods_not_as_reviewed": Described(
        "gauge",
        "Pods that run and differ from what was reviewed in a field that it has; looked at all the time, seen within minutes. By cause:"
        " edit: they are as before the last edit, until their tasks are retried; unknown: they are from before an edit that this controller"
        " has not seen, or an older one; other: admission or somebody has changed them",
        ("cause",),
    ),
    "fcontroller_queue_depth": Described("gauge", "actions (Pods to create, to delete, …) that wait until others are done"),
    "fcontroller_actions_in_flight": Described("gauge", "actions under way"),
    "fcontroller_requests_waiting": Described(
        "gauge",
        "requests that wait for their turn, by what goes first: urgent (statuses, reads); intent and end (ConfigMaps and Services that are"
        " written or deleted); deletion, owners and creation (all of Pods); event",
        ("priority",),
    ),
    "fcontroller_oldest_waiting_request_seconds": Described(
        "gauge", "how long the request that has waited longest waits for its turn", ("priority",)
    ),
    "fcontroller_hanging_requests": Described(
        "gauge",
        f"requests that have had no answer for a second or longer while others soon have, as behind a slow admission webhook, in the"
        f" {_MOST_NAMESPACES} namespaces that have most of them",
        ("framework_namespace",),
    ),
    "fcontroller_lease_seconds_left": Described(
        "gauge", "for how long the leader may still act if it cannot renew the Lease; only there where it leads"
    ),
    "fcontroller_event_loop_lag_seconds": Described(
        "histogram", "how late the event loop comes to what is due, looked at four times a second"
    ),
    "fcontroller_sync_seconds": Described("histogram", "how long it takes to decide about one Framework once"),
    "fcontroller_transitions": Described(
        "counter", "state changes that were stored, of Frameworks and tasks (level), by the new state", ("level", "state")
    ),
    "fcontroller_attempts_ended": Described(
        "counter",
        "attempts that have ended, by completion code; exit codes of containers outside 200..219 are `other`",
        ("level", "code"),
    ),
    "fcontroller_retries": Described(
        "counter", "retries: accountable, or not since the failure was transient or a conflict", ("level", "kind")
    ),
    "fcontroller_status_writes": Described("counter", "writes of a Framework's status: stored, conflict or failed", ("result",)),
    "fcontroller_api_requests": Described("counter", "answers of the API server; code 0: none came", ("verb", "resource", "code")),
    "fcontroller_api_request_seconds": Described("histogram", "how long they took, watches aside", ("verb", "resource")),
    "fcontroller_watch_age_seconds": Described(
        "gauge", "how long ago a watch has last brought an event or a bookmark, or a list has come", ("resource",)
    ),
    "fcontroller_watch_ends": Described(
        "counter", "watches that have ended: done (as was asked for), expired (all is listed again) or failed", ("resource", "reason")
    ),
    "fcontroller_warnings": Described(
        "counter",
        "Warnings about Frameworks by their reason, also those that became no Event because the Framework had too many",
        ("reason",),
    ),
    "fcontroller_events": Described(
        "counter", "Kubernetes Events: written, failed, or dropped because the Framework had too many or too many wait", ("result",)
    ),
}


class Sources(NamedTuple):
    """What metrics are looked up in: all of it where the process leads, the controller alone in a dry run."""

    controller: Controller | None = None
    reporter: Reporter | None = None
    recorder: Recorder | None = None
    inspector: Inspector | None = None


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        self.lease: Lease | None = None
        self.sources = Sources()
        disable_created_metrics()  # type: ignore[no-untyped-call]  # When each series began: nobody asks, and it is as many series again.
        self._registry = CollectorRegistry()
        for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
            self._registry.register(collector)
        self.looked = self._histogram("fcontroller_sync_seconds", _LOOKS).observe
        self._lag = self._histogram("fcontroller_event_loop_lag_seconds", _LAGS)
        self._requests = self._counted("fcontroller_api_requests")
        self._seconds = self._histogram("fcontroller_api_request_seconds", _REQUESTS)
        self._series: dict[tuple[str, str, int], tuple[Counted, Histogram | None]] = {}
        self._writes = self._counted("fcontroller_status_writes")
        self._registry.register(self)

    def _counted(self, name: str) -> Counted:
        return Counted(name, METRICS[name].about, METRICS[name].labels, registry=self._registry)

    def _histogram(self, name: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, METRICS[name].about, METRICS[name].labels, buckets=buckets, registry=self._registry)

    def called(self, method: str, path: str, code: int, seconds: float) -> None:
        """Count a request to the API server and how long it took; code 0 means that there was no answer."""
        verb, resource = _what(method, path)
        found = self._series.get((verb, resource, code))
        if found is None:  # Looking one up costs more than counting.
            found = self._requests.labels(verb, resource, code), self._seconds.labels(verb, resource) if verb != "watch" else None
            self._series[verb, resource, code] = found
        count, duration = found
        count.inc()
        if duration is not None:
            duration.observe(seconds)
        if resource == "frameworks/status":
            self._writes.labels("conflict" if code == 409 else "stored" if 200 <= code < 300 else "failed").inc()

    async def measure_lag(self) -> None:
        """Look again and again at how late the event loop is, until cancelled."""
        while True:
            due = time.monotonic() + _LAG_EVERY  # Not the loop's own time, which stands still while it works.
            await asyncio.sleep(_LAG_EVERY)
            self._lag.observe(max(time.monotonic() - due, 0))

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that are looked up at each scrape instead of counted."""
        controller, reporter, recorder, inspector = self.sources
        yield _looked_up("fcontroller_build_info", {(__version__,): 1})
        yield _looked_up("fcontroller_leader", {(): self.lease is not None and self.lease.held})
        yield _looked_up("fcontroller_lease_seconds_left", {(): self.lease.left} if self.lease and self.lease.held else {})
        reconcilers = list(controller.reconcilers.values()) if controller else []
        yield from _of_frameworks(reconcilers, controller.retention.kept.values() if controller else ())
        yield from _of_what_waits(reconcilers)
        api = controller.dependencies.api if controller else None
        waiting = Counter(api.waiting) if api else Counter[Priority]()
        if recorder is not None:  # It asks for a turn for few of them at a time.
            waiting[Priority.EVENT] += recorder.waiting
        yield _looked_up("fcontroller_requests_waiting", {(priority.name.lower(),): count for priority, count in waiting.items()})
        oldest = {(priority.name.lower(),): api.longest_wait(priority) for priority in Priority} if api else {}
        yield _looked_up("fcontroller_oldest_waiting_request_seconds", oldest)
        hanging = Counter({(namespace,): count for namespace, count in api.hanging.items()} if api else {})
        yield _looked_up("fcontroller_hanging_requests", dict(hanging.most_common(_MOST_NAMESPACES)))
        reflectors = {reflector.path.rpartition("/")[2]: reflector for reflector in (controller.reflectors if controller else ())}
        ages = {(kind,): asyncio.get_running_loop().time() - reflector.heard for kind, reflector in reflectors.items() if reflector.heard}
        yield _looked_up("fcontroller_watch_age_seconds", ages)
        ends = {(kind, reason): count for kind, reflector in reflectors.items() for reason, count in reflector.ends.items()}
        yield _looked_up("fcontroller_watch_ends", ends)
        differing = inspector.differing if inspector else {}
        yield _looked_up("fcontroller_pods_not_as_reviewed", {(cause,): count for cause, count in differing.items()})
        if reporter is not None:
            yield _looked_up("fcontroller_transitions", reporter.transitions)
            yield _looked_up("fcontroller_attempts_ended", reporter.attempts)
            yield _looked_up("fcontroller_retries", reporter.retries)
            yield _looked_up("fcontroller_warnings", reporter.warnings)
        if recorder is not None:
            yield _looked_up("fcontroller_events", {(result,): count for result, count in recorder.results.items()})


def _of_frameworks(reconcilers: list[Reconciler], kept: Collection[Kept]) -> Iterator[Metric]:
    statuses = [reconciler.status for reconciler in reconcilers if reconciler.status is not None]
    states = Counter({(state,): 0 for state in STATES})
    states.update((status.state,) for status in statuses)
    states[COMPLETED,] += len(kept)
    yield _looked_up("fcontroller_frameworks", states)
    yield _looked_up("fcontroller_retained_frameworks", {(): sum(one.outlived for one in kept)})
    roles = [role for status in statuses for role in status.roles]
    tasks: dict[str, int] = {state: sum([getattr(role, state) for role in roles]) for state in _COUNTED}
    tasks["other"] = sum([len(role.tasks) for role in roles]) - sum(tasks.values())
    yield _looked_up("fcontroller_tasks", {(state,): count for state, count in tasks.items()})
    busy = [reconciler.workers for reconciler in reconcilers if reconciler.workers.busy]
    yield _looked_up("fcontroller_queue_depth", {(): sum(map(len, busy))})
    yield _looked_up("fcontroller_actions_in_flight", {(): sum([len(workers.under_way) for workers in busy])})


def _of_what_waits(reconcilers: list[Reconciler]) -> Iterator[Metric]:
    # Ten thousand may be gone through while the event loop waits: what costs a microsecond for each costs a hundredth of a second.
    now = reconcilers[0].dependencies.now() if reconcilers else 0.0
    statuses = [reconciler.status for reconciler in reconcilers if reconciler.status is not None]
    unstored = [reconciler.writer.unsaved_since for reconciler in reconcilers if reconciler.writer.unsaved_since is not None]
    unsaved = [asyncio.get_running_loop().time() - since for since in unstored]
    waited = {(kind,): list[float]() for kind in PROBLEMS} | {(_STATUS_STORED,): unsaved}
    for kind, since in [found for status in statuses for found in problems(status).items()]:
        waited[kind,].append(now - since)
    frozen = {kind: sum([each >= FROZEN_AFTER for each in seconds]) for kind, seconds in waited.items()}
    yield _looked_up("fcontroller_frozen_frameworks", frozen)
    yield _looked_up("fcontroller_longest_frozen_seconds", {kind: max([0.0, *seconds]) for kind, seconds in waited.items()})
    yield _looked_up("fcontroller_oldest_unsaved_status_seconds", {(): max(unsaved, default=0.0)})


def _what(method: str, path: str) -> tuple[str, str]:
    """Return the verb and the resource of a request, as Kubernetes calls them."""
    target = target_of(path)
    verb = _VERBS.get(method) or ("watch" if method == "WATCH" else "get" if target.name else "list")
    return verb, f"{target.resource}/{target.subresource}" if target.subresource else target.resource


def _looked_up(name: str, values: Mapping[Any, float]) -> Metric:
    """Return a metric with one value for each tuple of labels."""
    described = METRICS[name]
    family: Any = (GaugeMetricFamily if described.kind == "gauge" else CounterMetricFamily)(name, described.about, labels=described.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    made: Metric = family
    return made
