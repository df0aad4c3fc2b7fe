"""One process that runs Frameworks: it waits for the lease, leads, answers probes meanwhile, and ends in good order."""

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

from fcontroller.act.client import Client
from fcontroller.act.dry_run import DryRun
from fcontroller.api import Api
from fcontroller.config.given import Given
from fcontroller.decide.context import Settings
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.creation import creation_failure
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.review import Rules
from fcontroller.dependencies import Dependencies
from fcontroller.inspector import Inspector
from fcontroller.lease import Fenced, Lease, LostLease
from fcontroller.log import Log, Rarely
from fcontroller.main import Controller
from fcontroller.metrics import Metrics
from fcontroller.report import Report
from fcontroller.report.events import Recorder
from fcontroller.report.reporter import Reporter
from fcontroller.serve import serve

EXIT_FAILED = 1
_FINISH, _RELEASE = 10, 5
"""Seconds that what is under way has to come to its end, and that giving up the lease may take."""

_GC_THRESHOLDS = 20_000, 20, 20


class Process:
    """Everything of one process."""

    def __init__(self, api: Client, given: Given, log: Log, metrics: Metrics) -> None:
        self._api, self._given, self._config, self._log, self._metrics = api, given, given.config, log, metrics
        identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"
        config = self._config
        self._rarely = Rarely(time.time)
        where = config.lease_namespace, config.lease_name
        lease = Lease(api, *where, identity, duration=config.lease_seconds, failed=self._unreachable)
        self._lease = metrics.lease = None if config.dry_run else lease
        self._identity = identity
        self._controller: Controller | None = None
        self._work: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Run until told to stop; returns the exit code: 0 after a signal, 1 after a failure or a lost lease. Raises Unlistenable."""
        listen = self._config.listen
        server = await serve(listen, self._metrics, self._trouble, self._unready) if listen else None
        self._work = asyncio.ensure_future(self._lead(self._lease) if self._lease else self._dry_run())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop, number)
        code = await self._outcome(self._work)
        if self._lease:
            with contextlib.suppress(Exception):  # It would be free in a few seconds anyway.
                await asyncio.wait_for(self._lease.release(), _RELEASE)
        if server:
            await server.cleanup()
        self._log.info("has ended", exitCode=code)
        return code

    async def _outcome(self, work: asyncio.Task[None]) -> int:
        """The exit code that follows from how the work has ended."""
        try:
            await work
        except asyncio.CancelledError:
            return 0
        except LostLease:
            self._log.error("has lost the lease")
        except Exception:
            self._log.error("has failed", error=traceback.format_exc())
        return EXIT_FAILED

    def _stop(self, number: signal.Signals) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(each)  # The second one ends it at once.
        self._log.info("stops", signal=number.name)
        if self._work:
            self._work.cancel()

    async def _lead(self, lease: Lease) -> None:
        self._log.info("waits for the lease", identity=self._identity)
        await lease.acquire()
        self._log.info("leads", identity=self._identity)
        api, metrics = Fenced(self._api, lease), self._metrics
        metrics.recorder = Recorder(api, time.time)
        metrics.reporter = Reporter(self._log, metrics.recorder, self._config.snapshots, metrics.looked, time.time)
        controller = self._make(api, metrics.reporter)
        _spare_the_collector()
        running, keeping = asyncio.create_task(controller.run()), asyncio.create_task(lease.keep())
        metrics.inspector = Inspector(controller, self._log)
        looking = asyncio.create_task(metrics.inspector.run())
        try:
            done, _ = await asyncio.wait((running, keeping), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            running.cancel()
            looking.cancel()
            await asyncio.wait([running, looking])
            if lease.held:
                await controller.finish(_FINISH)
            keeping.cancel()
            await asyncio.wait([keeping])

    async def _dry_run(self) -> None:
        self._log.info("begins a dry run: nothing is written, and no lease is taken")
        await self._make(DryRun(self._api, self._log.info), Report()).run()

    def _make(self, api: Api, report: Report) -> Controller:
        config = self._config
        rules = Rules(config.enforce_intent, config.require_digest)
        dependencies = Dependencies(api, _settings(self._given), time.time, random.randint, creation_failure, rules, report, config.dry_run)
        self._controller = self._metrics.controller = Controller(dependencies, config.namespace, self._unreachable)
        return self._controller

    def _unreachable(self, why: str) -> None:
        """The lease, or what is to be followed, cannot be had."""
        if self._rarely.may(why):
            self._log.warning("the API server does not give what is needed", error=why)

    def _trouble(self) -> str:
        """Why the process should be begun anew, or the empty string."""
        return "the controller has ended" if self._work and self._work.done() else ""

    def _unready(self) -> str:
        """Why it cannot be relied on, or the empty string."""
        if self._controller:
            return "" if self._controller.ready else "not everything has been listed yet"
        return "" if self._lease and self._lease.in_touch else "the API server does not answer about the lease"


def _spare_the_collector() -> None:
    """What is imported stays; without this, Python looks through it again and again while Pods come and go."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def _settings(given: Given) -> Settings:
    """What decisions depend on."""
    config, (failures, _) = given.config, read_failures(given.failures)
    return Settings(
        Classifier(failures),
        completed_retention=config.framework_completed_retain_sec,
        cache_timeout=config.object_local_cache_creation_timeout_sec,
        conflict_delay=(
            config.framework_min_retry_delay_sec_for_transient_conflict_failed,
            config.framework_max_retry_delay_sec_for_transient_conflict_failed,
        ),
        snapshots=config.snapshots,
    )
