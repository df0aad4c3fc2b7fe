"""Run Frameworks to their end on a laptop: the controller itself, an API server in memory, and a kubelet that runs nothing.

The Frameworks are compiled first, as `fcompile build` does. Each container runs for --run seconds and exits with 0, unless --exit says
otherwise; a Pod that is deleted goes. Nothing leaves this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Json, collection
from fcontroller.decide.context import Settings
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.creation import creation_failure
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.status import Status
from fcontroller.demo.screen import Screen
from fcontroller.dependencies import Dependencies
from fcontroller.reconcile.controller import Controller
from fcontroller.testing.kubelet import Kubelet
from fcontroller.testing.memory_api import MemoryApi
from fcontroller.testing.memory_api.facade import Facade


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="Frameworks: files, folders or - for stdin")
    parser.add_argument("--run", type=float, default=3, metavar="SECONDS", help="how long each Pod runs (default: 3)")
    parser.add_argument(
        "--exit",
        action="append",
        default=[],
        type=exits,
        metavar="POD=CODES",
        help="exit codes of a Pod, one for each time that it is made, as in train-worker-3=137,0; may be given again",
    )
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="when to give up (default: 120)")


def exits(written: str) -> tuple[str, list[int]]:
    """`POD=CODE[,CODE…]`."""
    pod, _, codes = written.partition("=")
    try:
        return pod, [int(code) for code in codes.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{written}: write it as POD=CODE or POD=CODE,CODE…") from None


def run(arguments: argparse.Namespace) -> int:
    """Play the Frameworks; returns the exit code: 0 when all have completed, 1 when one is invalid or none is there."""
    # The command itself, so that what is shown is what it would have printed for review.
    command = [sys.executable, "-m", "fcompile", "build", "-o", "json", *arguments.paths]
    compiled = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if compiled.returncode:
        return compiled.returncode
    printed = json.loads(compiled.stdout)
    objects: list[Json] = printed["items"] if printed.get("kind") == "List" else [printed]
    frameworks = [value for value in objects if value["kind"] == "Framework"]
    try:
        return asyncio.run(play(frameworks, arguments.run, dict(arguments.exit), arguments.timeout))
    except KeyboardInterrupt:
        return 130


async def play(frameworks: list[Json], seconds: float, exits: dict[str, list[int]], timeout: float) -> int:
    """Run compiled Frameworks until all have completed, or the time is over; returns the exit code."""
    api = Facade(MemoryApi(lambda: datetime.now(UTC), lambda: str(uuid.uuid4())))
    failures, _ = read_failures(DEFAULT_POD_FAILURE_SPEC)
    settings = Settings(Classifier(failures), conflict_delay=(1, 3))
    controller = Controller(Dependencies(Dispatcher(api), settings, time.time, random.randint, creation_failure))
    kubelet = Kubelet(api, "fcontroller.demo", start=0.3, stop=0.5, run=str(seconds), exits=exits)
    tasks = [asyncio.create_task(work) for work in (controller.run(), kubelet.run(), _collect(api))]
    screen, statuses = Screen(sys.stdout), dict[str, Status | None]()
    try:
        for framework in frameworks:
            await _create(api, framework)
        end = time.monotonic() + timeout
        while not screen.show(_statuses(controller, statuses)) and time.monotonic() < end:
            await asyncio.wait(tasks, timeout=0.1, return_when=asyncio.FIRST_EXCEPTION)
            for task in tasks:
                if task.done():
                    task.result()
    finally:
        for task in tasks:
            task.cancel()
        screen.close()
    return 0


def _statuses(controller: Controller, known: dict[str, Status | None]) -> dict[str, Status | None]:
    """Return the statuses of all Frameworks by name: those that are over are as they were last."""
    known.update({name: reconciler.status for (_, name), reconciler in controller.reconcilers.items()})
    return known


async def _create(api: Facade, framework: Json) -> None:
    namespace: str = framework["metadata"]["namespace"]
    head: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    await api.request("POST", "/api/v1/namespaces", head)
    await api.request("POST", collection("frameworks", namespace), framework)


async def _collect(api: Facade) -> None:
    while True:
        await asyncio.sleep(0.1)
        api.collect()
