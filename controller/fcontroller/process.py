"""One process that runs Frameworks: it waits for the lease, leads, answers probes, and shuts down in an orderly way."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import signal
import socket
import time
import traceback
import uuid
from collections.abc import Callable
from itertools import count

from fcontroller.act.client import Client
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.dry_run import DryRun
from fcontroller.act.lease import Lease, LostLease
from fcontroller.api import Api, Unreachable, Wanted, WentBack, always, collection
from fcontroller.config.effective import EffectiveSettings
from fcontroller.decide.context import Settings
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.review import Rules
from fcontroller.dependencies import Dependencies
from fcontroller.log import Log, Rarely
from fcontroller.metrics import Metrics, Sources
from fcontroller.reconcile.controller import Controller
from fcontroller.reconcile.inspector import Inspector
from fcontroller.report import Report
from fcontroller.report.events import Recorder
from fcontroller.report.reporter import Reporter
from fcontroller.serve import Server

EXIT_FAILED = 1
_FINISH, _RELEASE = 10, 5
"""Seconds that requests under way may take to end, and that releasing the Lease may take."""

_LOOK = 10.0
"""Seconds between two looks for a namespace that is not there."""

_GC_THRESHOLDS = 5_000, 4, 1_000_000
"""The thresholds of Python's garbage collector. With these, collecting young objects takes milliseconds. A full collection takes a second
with 100,000 tasks, so it runs by the clock: Python would run it most often while many Pods are created."""
_COLLECTION, _YOUNG_TOGETHER, _FULL = 1.0, 4, 3600
"""Seconds between collections of young objects. Every fourth also looks at what the three before have left, and one an hour at everything:
old objects are hardly ever garbage. Python only counts how many more objects there are than before. Where each new object
takes the place of an old one it collects nothing: 100,000 objects are still young when the next few thousand come, and a collection
then takes a quarter of a second."""

Connect = Callable[[Wanted], Client]
"""Makes a client of the API server, which writes only while it may."""


class Process:
    """Everything of one process."""

    def __init__(self, connect: Connect, settings: EffectiveSettings, log: Log, metrics: Metrics) -> None:
        self._effective, self._config, self._log, self._metrics = settings, settings.config, log, metrics
        config = self._config
        self._identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"
        self._rarely = Rarely(time.time)
        self._lease: Lease | None = None
        self._lease_client: Client | None = None
        if not config.dry_run:
            # Connections of its own, so that a renewal never waits for other requests.
            self._lease_client = connect(always)
            where = config.lease_namespace, config.lease_name
            self._lease = Lease(
                self._lease_client,
                *where,
                self._identity,
                duration=config.lease_seconds,
                runs=config.namespace,
                failed=self._unreachable,
            )
        metrics.lease = self._lease
        self._client = connect(self._may_write)
        self._controller: Controller | None = None
        self._missing = ""
        """What is not there that this process is to run."""

    @property
    def _runs(self) -> str:
        return f"namespace {self._config.namespace}" if self._config.namespace else "all namespaces"

    def _may_write(self) -> bool:
        return self._lease is not None and self._lease.held

    async def run(self) -> int:
        """Run until told to stop. Return the exit code: 0 after a signal, 1 after a failure or a lost lease. Raises Unlistenable."""
        beside = [asyncio.create_task(work) for work in (self._metrics.measure_lag(), _collect_garbage())]
        try:
            server = Server(self._metrics, self._unready)
            if self._config.listen:
                await server.listen(self._config.listen)
            work = asyncio.create_task(self._lead(self._lease) if self._lease else self._dry_run())
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self._stop, number, work)
            code = await self._outcome(work)
            if self._lease:
                with contextlib.suppress(Exception):  # If that fails, the lease expires in a few seconds.
                    async with asyncio.timeout(_RELEASE):
                        await self._lease.release()
            await server.close()
            self._log.info("has ended", exitCode=code)
            return code
        finally:
            for each in beside:
                each.cancel()
            for client in (self._client, self._lease_client):
                if client is not None:
                    await client.close()

    async def _outcome(self, work: asyncio.Task[None]) -> int:
        """Return the exit code that follows from how the work has ended."""
        try:
            await work
        except asyncio.CancelledError:
            return 0
        except LostLease as lost:
            self._log.error("has lost the lease", error=str(lost))
        except Exception:
            self._log.error("has failed", error=traceback.format_exc())
        return EXIT_FAILED

    def _stop(self, number: signal.Signals, work: asyncio.Task[None]) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(each)  # A second signal ends the process at once.
        self._log.info("stops", signal=number.name)
        work.cancel()

    async def _lead(self, lease: Lease) -> None:
        self._log.info("waits for the lease", identity=self._identity)
        await lease.acquire()
        self._log.info("leads", identity=self._identity, runs=self._runs)
        while True:
            keeping = asyncio.create_task(lease.keep())
            try:
                await self._control(lease, keeping)
            finally:
                keeping.cancel()
                await asyncio.wait([keeping])

    async def _control(self, lease: Lease, keeping: asyncio.Task[None]) -> None:
        """Run all Frameworks; return when everything must begin anew. Raises LostLease."""
        api, metrics = Dispatcher(self._client, self._may_write, lambda: lease.latency), self._metrics
        recorder = Recorder(api, time.time)
        reporter = Reporter(self._log, recorder, self._config.snapshots, metrics.looked, time.time)
        controller = self._make(api, reporter)
        _spare_the_collector()
        inspector = Inspector(controller, self._log)
        metrics.sources = Sources(controller, reporter, recorder, inspector)
        finish = _FINISH
        running = asyncio.create_task(controller.run())
        beside = [asyncio.create_task(work) for work in (inspector.run(), self._look_for_namespace(api))]
        try:
            done, _ = await asyncio.wait((running, keeping), return_when=asyncio.FIRST_COMPLETED)
            if keeping in done:
                self._client.abort_writes()
            for task in done:
                task.result()
        except* WentBack as group:
            self._log.error("the API server's data is older than before, and stays so: begins anew", error=str(group.exceptions[0]))
            finish = 0  # Results that are not stored yet belong to a state of the server that was lost.
        finally:
            for each in (running, *beside):
                each.cancel()
            await asyncio.wait([running, *beside])
            if lease.held:
                await controller.finish(finish)

    async def _look_for_namespace(self, api: Api) -> None:
        """Say so while the namespace to run is not there: its lists are empty, so that a mistyped one looks as one without Frameworks.

        To ask for an Event that is not stored is all that the controller's rights allow.
        """
        namespace = self._config.namespace
        about = {"metadata": {"name": "fcontroller", "namespace": namespace}, "involvedObject": {"namespace": namespace}}
        while namespace:
            with contextlib.suppress(Unreachable):
                event = {"apiVersion": "v1", "kind": "Event", **about}
                answer = await api.request("POST", collection("events", namespace), event, {"dryRun": "All"})
                self._missing = f"there is no namespace {namespace}" if answer.code == 404 else ""
                if not self._missing:
                    return
                self._unreachable(f"{self._missing}, so that no Framework is run")
            await asyncio.sleep(_LOOK)

    async def _dry_run(self) -> None:
        self._log.info("begins a dry run: nothing is written, and no lease is taken", runs=self._runs)
        controller = self._make(Dispatcher(DryRun(self._client, self._log.info)), Report())
        self._metrics.sources = Sources(controller)
        await controller.run()

    def _make(self, api: Dispatcher, report: Report) -> Controller:
        config = self._config
        rules = Rules(config.enforce_intent, config.require_digest)
        dependencies = Dependencies(
            api,
            _settings(self._effective),
            time.time,
            random.randint,
            rules,
            report,
            config.dry_run,
            self._client.server_now,
        )
        self._controller = Controller(dependencies, config.namespace, self._unreachable)
        return self._controller

    def _unreachable(self, why: str) -> None:
        """Warn, at most once a minute, that the API server does not give the lease or what must be watched."""
        if self._rarely.may(why):
            self._log.warning("the API server does not give what is needed", error=why)

    def _unready(self) -> str:
        """Return why the process is not ready, or the empty string (the readiness probe)."""
        if self._controller:
            return self._missing if self._controller.ready else "not everything has been listed yet"
        return "" if self._lease and self._lease.in_touch else "the API server does not answer about the lease"


def _spare_the_collector() -> None:
    """Exempt all imported modules from garbage collection, which would otherwise scan them again and again while Pods come and go."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


async def _collect_garbage() -> None:
    for number in count(1):
        await asyncio.sleep(_COLLECTION)
        gc.collect(2 if number % _FULL == 0 else 1 if number % _YOUNG_TOGETHER == 0 else 0)


def _settings(effective: EffectiveSettings) -> Settings:
    """Return the settings that decisions depend on."""
    config, (failures, _) = effective.config, read_failures(effective.failures)
    return Settings(
        Classifier(failures),
        completed_retention=config.framework_completed_retain_sec,
        tracking_label=config.tracking_label,
        cache_timeout=config.object_local_cache_creation_timeout_sec,
        conflict_delay=(
            config.framework_min_retry_delay_sec_for_transient_conflict_failed,
            config.framework_max_retry_delay_sec_for_transient_conflict_failed,
        ),
        snapshots=config.snapshots,
    )
