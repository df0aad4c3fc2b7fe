"""Run the controller against a cluster until SIGTERM or SIGINT.

Several may run at once: they share a Lease, and one of them acts. The cluster is the one of the kubeconfig, or the one around the Pod.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import random
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from fcompile.diagnostics.problem import Severity
from fcompile.diagnostics.text import render
from fcompile.diagnostics.writer import Style
from fcontroller.act.dry_run import DryRun
from fcontroller.api import Api
from fcontroller.config.given import Given, Mistaken, add_arguments, as_file
from fcontroller.config.given import given as read_settings
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.creation import creation_failure
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.review import Rules
from fcontroller.decide.sync import Settings
from fcontroller.lease import Fenced, Lease, LostLease
from fcontroller.log import Log
from fcontroller.main import Controller
from fcontroller.outside import Outside

EXIT_LOST_LEASE = 1
EXIT_MISTAKEN = 2
_GC_THRESHOLDS = 20_000, 20, 20


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.epilog = "Each flag can also be given in the environment: --lease-name as FCONTROLLER_LEASE_NAME. docs/operations.md has all."
    add_arguments(parser)
    parser.add_argument("--check", action="store_true", help="print the settings in force, and where each comes from, and end")


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop; returns the exit code: 0 after a signal, 1 when the lease was lost, 2 when the settings are wrong."""
    try:
        settings = read_settings(arguments, os.environ)
    except Mistaken as error:
        print(f"fcontroller: {error}", file=sys.stderr)
        return EXIT_MISTAKEN
    wrong = [problem for problem in settings.problems if problem.severity != Severity.NOTE]
    for problem in settings.problems if arguments.check else wrong:
        print(render(problem, Style()), file=sys.stderr)
    if any(problem.severity == Severity.ERROR for problem in wrong):
        return EXIT_MISTAKEN
    if arguments.check:
        print(as_file(settings), end="")
        return 0
    return _start(settings)


def _start(settings: Given) -> int:
    try:
        from fcontroller.act.client import NoServer, from_kubeconfig
    except ModuleNotFoundError as error:
        print(f"fcontroller: {error.name} is not installed: pip install 'fcompile[controller]'", file=sys.stderr)
        return EXIT_MISTAKEN
    config = settings.config
    address = config.kube_api_server_address or os.environ.get("KUBE_APISERVER_ADDRESS", "")
    try:
        return asyncio.run(_run(lambda: from_kubeconfig(config.kube_config_file_path or None, address=address), settings))
    except NoServer as error:
        print(f"fcontroller: {error}", file=sys.stderr)
        return EXIT_MISTAKEN


async def _run(connect: Callable[[], Any], given: Given) -> int:
    api, config = connect(), given.config
    log = Log(config.log_level)
    for problem in given.problems:
        log.info(problem.message, file=problem.file, line=problem.span.line)
    identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"
    lease = Lease(api, config.lease_namespace, config.lease_name, identity, duration=config.lease_seconds)
    work = asyncio.ensure_future(_dry_run(api, given, log) if config.dry_run else _lead(api, lease, given, log))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, work.cancel)
    if not config.dry_run:
        log.info("waits for the lease", identity=identity)
    try:
        await work
    except asyncio.CancelledError:
        log.info("stops")
        with contextlib.suppress(Exception):  # It would be free in a few seconds anyway.
            await asyncio.wait_for(lease.release(), 5)
        return 0
    except LostLease:
        log.error("has lost the lease")
    finally:
        await api.close()
    return EXIT_LOST_LEASE


async def _lead(api: Any, lease: Lease, given: Given, log: Log) -> None:
    await lease.acquire()
    log.info("leads")
    await _until_one_ends(_controller(Fenced(api, lease), given).run(), lease.keep())


async def _dry_run(api: Any, given: Given, log: Log) -> None:
    log.info("begins a dry run: nothing is written, and no lease is taken")
    await _controller(DryRun(api, log.info), given).run()


def _controller(api: Api, given: Given) -> Controller:
    config = given.config
    rules = Rules(config.enforce_intent, config.require_digest)
    outside = Outside(api, _settings(given), time.time, random.randint, creation_failure, rules, config.dry_run)
    return Controller(outside, config.namespace)


async def _until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    # What is imported stays; without this, Python looks through it again and again while Pods come and go.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
    )
