"""Run the controller against a cluster until SIGTERM or SIGINT.

Several may run at once: they share a Lease, and one of them acts. The cluster is the one of the kubeconfig, or the one around the Pod.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import sys
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.creation import creation_failure
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.sync import Settings
from fcontroller.lease import Fenced, Lease, LostLease
from fcontroller.main import Controller
from fcontroller.outside import Outside

EXIT_LOST_LEASE = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: $KUBECONFIG, ~/.kube/config or, in a Pod, its service account")
    parser.add_argument("--namespace", default="", metavar="NAME", help="run only the Frameworks of this namespace (default: all)")
    parser.add_argument("--lease-namespace", default="default", metavar="NAME", help="where the Lease is (default: %(default)s)")
    parser.add_argument("--lease-name", default="fcontroller", metavar="NAME", help="the Lease of all replicas (default: %(default)s)")
    parser.add_argument("--lease-seconds", type=float, default=15, metavar="SECONDS", help="how long it lasts (default: %(default)s)")
    parser.add_argument(
        "--enforce-intent", action="store_true", help="begin no attempt that would not run what its Framework's digest says was reviewed"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop; returns the exit code: 0 after a signal, 1 when the lease was lost."""
    try:
        from fcontroller.act.client import from_kubeconfig
    except ModuleNotFoundError as error:
        print(f"fcontroller: {error.name} is not installed: pip install 'fcompile[controller]'", file=sys.stderr)
        return 2
    return asyncio.run(_run(from_kubeconfig, arguments))


async def _run(connect: Callable[[str | None], Any], arguments: argparse.Namespace) -> int:
    api = connect(arguments.kubeconfig)
    identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4()}"
    lease = Lease(api, arguments.lease_namespace, arguments.lease_name, identity, duration=arguments.lease_seconds)
    work = asyncio.ensure_future(_lead(api, lease, arguments))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, work.cancel)
    log("waits for the lease", identity=identity)
    try:
        await work
    except asyncio.CancelledError:
        log("stops")
        with contextlib.suppress(Exception):  # It would be free in a few seconds anyway.
            await asyncio.wait_for(lease.release(), 5)
        return 0
    except LostLease:
        log("has lost the lease")
    finally:
        await api.close()
    return EXIT_LOST_LEASE


async def _lead(api: Any, lease: Lease, arguments: argparse.Namespace) -> None:
    await lease.acquire()
    log("leads")
    failures, _ = read_failures(DEFAULT_POD_FAILURE_SPEC)
    settings = Settings(Classifier(failures))
    outside = Outside(Fenced(api, lease), settings, time.time, random.randint, creation_failure, arguments.enforce_intent)
    tasks = [asyncio.create_task(work) for work in (Controller(outside, arguments.namespace).run(), lease.keep())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def log(message: str, **fields: Any) -> None:
    """A line of JSON on the standard error."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "message": message, **fields}
    print(json.dumps(line), file=sys.stderr, flush=True)
