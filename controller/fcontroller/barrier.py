"""`fcontroller barrier`."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, NoReturn
from urllib.parse import quote

from fcompile.commands.group import command
from fcompile.model.packed import role_statuses
from fcompile.program import safe
from fcontroller.act.plain import NoServer, find_server
from fcontroller.api import Answer, Json, Unreachable, collection
from fcontroller.decide.codes import CONTAINER_CONFLICT, CONTAINER_PERMANENT

TIMED_OUT, IMPOSSIBLE, UNKNOWN = CONTAINER_CONFLICT.code, CONTAINER_PERMANENT.code, 1
FRAMEWORK, INJECTOR = "framework.json", "injector.sh"
_ROLE = re.compile("[A-Za-z0-9_]+")
_LAST = 10
"""Seconds that the last answer has when the time is over."""
_SPREAD = 0.5, 1.5
"""How long one wait is, as parts of the interval: ten thousand Pods that start, or are refused, at the same time do not go on in step."""
_NAMED = 5
"""How many of the tasks that are waited for are named in a message."""


class Failed(Exception):
    """The barrier will not be passed."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Settings(NamedTuple):
    """What to wait for, and how long, in seconds."""

    namespace: str
    name: str
    interval: int
    timeout: int


class Role(NamedTuple):
    """The tasks that the spec wants of a role. A spec may want very many: only those that have a status are in memory."""

    name: str
    wanted: int
    ips: list[str | None]
    """Of those that have a status. None: it has no Pod with an address yet, or is being scaled away."""

    @property
    def missing(self) -> int:
        """Return how many have no address."""
        return self.wanted - len(self.ips) + self.ips.count(None)

    def some_missing(self) -> list[str]:
        """Return the first of these."""
        absent = (index for index, ip in enumerate(self.ips) if ip is None)
        return [f"{self.name}[{index}]" for index in islice(chain(absent, range(len(self.ips), self.wanted)), _NAMED)]


@command(
    page="operations.md",
    examples={
        "FC_FRAMEWORK_NAMESPACE=ml FC_FRAMEWORK_NAME=train fcontroller barrier && . ./injector.sh": "by hand, with the current kubeconfig",
        "BARRIER_CHECK_TIMEOUT_SEC=1200 fcontroller barrier": "wait for longer, in a container of a task",
    },
)
def barrier() -> int:
    """Wait, as an init container, until every task of the Framework has a Pod IP; then write framework.json and injector.sh.

    injector.sh is for `. ./injector.sh`: it exports FB_{ROLE}_IPS (comma-separated) and FB_{ROLE}_ADDRESSES, with the port that
    FB_{ROLE}_PORT names, for each role. framework.json is the Framework with its status, never compressed. Both go to the working
    folder, each of them whole or not at all.

    Settings come from the environment: FC_FRAMEWORK_NAMESPACE and FC_FRAMEWORK_NAME, which every container of a task has;
    BARRIER_CHECK_INTERVAL_SEC (at least 5, default 10, give or take a random half); BARRIER_CHECK_TIMEOUT_SEC (60 to 1200, default
    600). The API server is the one around the Pod, unless KUBE_APISERVER_ADDRESS or KUBECONFIG says otherwise; the Pod's service
    account must be allowed to get Frameworks.

    Exit codes: 0 all are there; 201 they were not in time, and the attempt may be tried again later; 210 wrong settings, or no such
    Framework; 1 anything else, as an API server that gave no answer in the end.
    """
    # There are no arguments: those who write Pod templates set environment variables.
    # The first process of a container has no default handlers.
    signal.signal(signal.SIGTERM, _terminated)
    try:
        settings = read_settings(os.environ)
        _end_at_last(settings.timeout)
        server = find_server(os.environ)
        path = f"{collection('frameworks', quote(settings.namespace, safe=''))}/{quote(settings.name, safe='')}"
        write(Path.cwd(), wait(lambda: server.get(path), settings))
    except Failed as error:
        return _end(error.code, str(error))
    except (NoServer, OSError) as error:
        return _end(UNKNOWN, str(error))
    return 0


def _end_at_last(timeout: int) -> None:
    """See to it that an answer that comes byte by byte does not last for longer than the whole wait may."""

    def late(*_: object) -> NoReturn:
        raise Failed(UNKNOWN, f"the API server's answer takes too long: given up after {timeout} s")

    if hasattr(signal, "SIGALRM"):  # Not on Windows.
        signal.signal(signal.SIGALRM, late)
        signal.alarm(timeout + _LAST)


def _terminated(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def _end(code: int, message: str) -> int:
    _say(message)
    return code


def _say(message: str) -> None:
    print(safe(f"fcontroller barrier: {message}"), file=sys.stderr, flush=True)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings in the environment. Raises Failed."""
    namespace, name = (environment.get(f"FC_FRAMEWORK_{part}", "") for part in ("NAMESPACE", "NAME"))
    if not namespace or not name:
        raise Failed(IMPOSSIBLE, "FC_FRAMEWORK_NAMESPACE and FC_FRAMEWORK_NAME must say which Framework to wait for")
    interval = _seconds(environment, "BARRIER_CHECK_INTERVAL_SEC", 10, 5)
    return Settings(namespace, name, interval, _seconds(environment, "BARRIER_CHECK_TIMEOUT_SEC", 600, 60, 1200))


def _seconds(environment: Mapping[str, str], name: str, default: int, least: int, most: int | None = None) -> int:
    text = environment.get(name) or str(default)
    value = int(text) if re.fullmatch("[+-]?[0-9]{1,18}", text) else None
    if value is None or value < least or (most is not None and value > most):
        bounds = f"{least} or more" if most is None else f"{least} to {most}"
        raise Failed(IMPOSSIBLE, f"{name} is {text!r}: it must be a whole number of seconds, {bounds}")
    return value


def wait(
    get: Callable[[], Answer],
    settings: Settings,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    chance: Callable[[float, float], float] = random.uniform,
) -> Json:
    """Return the Framework once all its tasks are there, its status not compressed. Raises Failed.

    :param get: asks the API server for it.
    """
    end = clock() + settings.timeout
    while True:
        framework, roles, problem = _look(get, settings)
        if framework and not any(role.missing for role in roles):
            _say("every task has a Pod IP")
            return framework
        message = problem or f"waits for the Pod IP of {_some(roles)}"
        left = end - clock()
        if left <= 0:
            raise Failed(UNKNOWN if problem else TIMED_OUT, f"{message}: given up after {settings.timeout} s")
        _say(message)
        sleep(min(settings.interval * chance(*_SPREAD), left))


def _look(get: Callable[[], Answer], settings: Settings) -> tuple[Json | None, list[Role], str]:
    """Return the Framework and its roles, or why it could not be read this time."""
    try:
        answer = get()
        if answer.ok:
            framework = _unpacked(answer.body)
            return framework, wanted_roles(framework), ""
    except Unreachable as error:
        return None, [], str(error)
    except ValueError as error:
        return None, [], f"the Framework's compressed status cannot be read: {error}"
    except (AttributeError, LookupError, RecursionError, TypeError) as error:  # Whoever may write the status may write anything.
        return None, [], f"the Framework cannot be read, since it is not of the form that it should have: {error!r:.200}"
    if answer.code == 404:
        raise Failed(IMPOSSIBLE, f"there is no Framework {settings.namespace}/{settings.name}")
    return None, [], f"the API server refuses with {answer.code} {answer.reason}: {answer.message}"


def _unpacked(framework: Json) -> Json:
    """Return the Framework with the statuses of its roles in plain JSON."""
    attempt = (framework.get("status") or {}).get("attemptStatus")
    if not attempt:
        return framework
    plain = {key: value for key, value in attempt.items() if key != "taskRoleStatusesCompressed"}
    plain["taskRoleStatuses"] = role_statuses(attempt)
    return {**framework, "status": {**framework["status"], "attemptStatus": plain}}


def wanted_roles(framework: Json) -> list[Role]:
    """Return the roles of the spec that is in force, in its order, with the counts of the newest."""
    status = framework.get("status") or {}
    attempt, in_force = status.get("attemptStatus") or {}, (status.get("intent") or {}).get("observedGeneration")
    statuses = {role["name"]: role["taskStatuses"] or [] for role in attempt.get("taskRoleStatuses") or ()}
    counts = {role["name"]: role.get("taskNumber") for role in framework["spec"].get("taskRoles") or ()}
    if in_force is not None and in_force != framework["metadata"]["generation"]:
        # Of an edit that is not in force, as it was not reviewed, only the counts hold: roles that it adds never come, and others stay.
        tasks = {name: sum(not task["deletionPending"] for task in found) for name, found in statuses.items()}
        counts = {name: counts.get(name, number) for name, number in tasks.items()}
    roles = []
    for name, count in counts.items():
        wanted = 1 if count is None else max(count, 0)
        roles.append(Role(name, wanted, [_ip(task) for task in statuses.get(name, [])[:wanted]]))
    return roles


def _ip(status: Json) -> str | None:
    ip = status["attemptStatus"].get("podIP") or ""
    # What goes into a shell script is looked at, whoever wrote it.
    return ip if re.fullmatch(r"[0-9A-Fa-f.:]+", ip) and not status["deletionPending"] else None


def _some(roles: list[Role]) -> str:
    named = list(islice(chain.from_iterable(role.some_missing() for role in roles), _NAMED))
    more = sum(role.missing for role in roles) - len(named)
    return ", ".join(named) + (f" and {more} other tasks" if more else "")


def write(folder: Path, framework: Json) -> None:
    """Write both files, each of them whole or not at all. Raises OSError."""
    _write(folder / FRAMEWORK, json.dumps(framework, separators=(",", ":"), ensure_ascii=False), 0o644)
    _write(folder / INJECTOR, injector(framework), 0o755)


def _write(path: Path, text: str, mode: int) -> None:
    # Tasks may share the folder, and are all through at the same time: until it is whole, each has a file of its own.
    new = path.with_name(f".{path.name}.{random.getrandbits(64):016x}")
    try:
        with new.open("x", encoding="utf-8") as file:
            file.write(text)
        new.chmod(mode)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def injector(framework: Json) -> str:
    """Return the script that exports the addresses of each role.

    A shell reads it, so that a role must have a name that can be a part of a variable's. Raises Failed.
    """
    lines = ["#!/bin/sh"]
    for role, _, found in wanted_roles(framework):
        ips = [ip or "" for ip in found]
        if not _ROLE.fullmatch(role):
            raise Failed(IMPOSSIBLE, f"a role is called {json.dumps(role)}, which cannot be a part of a variable's name: rename it")
        prefix = f"FB_{role.upper()}"
        addresses = ",".join(f"{ip}:${{{prefix}_PORT}}" for ip in ips)
        lines += [f'export {prefix}_IPS="{",".join(ips)}"', f'export {prefix}_ADDRESSES="{addresses}"']
    return "\n".join(lines) + "\n"
