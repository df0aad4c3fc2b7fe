"""A death costs nothing: the controller is killed again and again, and so is the API server, while tasks fail and are tried again."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.stress.setting import Row, Setting, pods_made, role, until

FAILURES = 3
"""How often each task fails before it succeeds."""
PERIOD = 4.0
"""Seconds from one death to the next."""


def rows(setting: Setting, scale: float = 1) -> Iterator[Row]:
    """What deaths have cost; at a scale of 1 there are 500 tasks."""
    for name in DEATHS:
        yield from tried(setting, name, int(500 * scale))


def tried(setting: Setting, name: str, tasks: int, most: float = math.inf) -> Iterator[Row]:
    """What deaths of one kind cost a Framework with so many tasks, which goes on in peace after `most` of them."""
    with setting.tenant() as namespace:
        exits = ",".join(["1"] * FAILURES + ["0"])
        policy = {"fancyRetryPolicy": False, "maxRetryCount": FAILURES + 2}
        setting.audit()
        setting.apply(namespace, "train", role("worker", tasks, {"run": "1", "exits": exits}, retryPolicy=policy))
        deaths, next_one = 0, time.monotonic() + PERIOD

        def over() -> bool:
            nonlocal deaths, next_one
            if deaths < most and time.monotonic() >= next_one:
                DEATHS[name](setting)
                deaths, next_one = deaths + 1, time.monotonic() + PERIOD
            if not setting.controller.alive:  # As its Deployment does: on a slow machine the lease may run out before the server is back.
                setting.controller.start()
            return setting.state(namespace, "train") == "Completed"

        until(over, f"{name}: it does not come to its end", 600, every=0.5)
        made = sum(count for (place, _), count in pods_made(setting.audit()).items() if place == namespace)
        status = setting.status(namespace, "train")["attemptStatus"]
    counted = [task["retryPolicyStatus"]["accountableRetriedCount"] for each in status["taskRoleStatuses"] for task in each["taskStatuses"]]
    yield Row(f"{name}: Pods made, other than one for each attempt", abs(made - tasks * (FAILURES + 1)), 0, f"{deaths} deaths")
    yield Row("… tasks whose count of failures is wrong", sum(count != FAILURES for count in counted), 0, f"of {len(counted)}")
    yield Row("… tasks missing", tasks - len(counted), 0)
    setting.gone(namespace)


def _kill_controller(setting: Setting) -> None:
    setting.controller.restart(signal.SIGKILL)


def kill_api_server(setting: Setting) -> None:
    """Kill the API server, and start it again as it was."""
    pid = setting.cluster.pids["kube-apiserver"]
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid), "the API server does not die")
    with (setting.cluster.folder / "kube-apiserver-again.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=setting.cluster.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    setting.cluster.pids["kube-apiserver"] = process.pid
    setting.at_end(process.wait)
    setting.at_end(process.kill)
    until(setting.answers, "the API server does not come back", 120, every=0.2)


def is_alive(pid: int) -> bool:
    """Whether a process runs. One that has ended stays until its parent has looked."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


DEATHS = {"the controller is killed every 4 s": _kill_controller, "the API server is killed every 4 s": kill_api_server}
