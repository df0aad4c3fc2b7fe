"""One cannot stop all: what a small Framework of one namespace, and the lease, feel of what is done in another."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

from fcompile.model import names
from tests.stress.setting import Json, Row, Setting, creations, lateness, role, until

SMALL = 5
"""Tasks of the Framework that must not wait."""
SLOW = 20
"""Seconds of a webhook, or of a Retry-After."""
LATE = 2.0
"""Seconds that the lease may be late."""
SEEN = 3.0
"""Seconds within which a Stop is to be seen."""

Nuisance = Callable[[Setting, str, float], Iterator[list[str]]]
"""Does something in a namespace, at a scale; gives the Frameworks that are stopped in the end."""


def rows(setting: Setting, scale: float = 1) -> Iterator[Row]:
    """What each nuisance does to others; at a scale of 1 as in the table."""
    alone = sorted(_small(setting) for _ in range(3))[1]
    for name in NUISANCES:
        yield from beside(setting, name, alone, scale)


def beside(setting: Setting, name: str, alone: float, scale: float) -> Iterator[Row]:
    """What one nuisance does to others.

    :param alone: the seconds that a small Framework takes without it.
    """
    nuisance: Any = contextlib.contextmanager(NUISANCES[name])
    controller = setting.controller
    controller.forget_turns()
    setting.audit()
    with setting.tenant(webhook=True) as namespace, nuisance(setting, namespace, scale) as frameworks:
        took, end = [_small(setting)], time.monotonic() + 40 * scale
        while time.monotonic() < end:
            time.sleep(0.5)
            took.append(_small(setting))
        stopped = time.time()
        for framework in frameworks:
            setting.stop(namespace, framework)
        let_go = until(lambda: not frameworks or setting.count("configmaps", namespace) == 0, f"{name}: its ConfigMaps stay", 120)
        events = setting.audit()
        died = not controller.alive
        if died:
            controller.start()
    yield Row(f"{name}: another's small Framework waits longer, s", max(took) - alone, 5, f"{max(took):.2f} s; alone {alone:.2f} s")
    yield Row("… lease late, s", lateness(events, controller.period), LATE)
    yield Row("… restarts of the controller", int(died), 0)
    if frameworks:
        last = max((event["at"] for event in creations(events, namespace, 0)), default=stopped)
        yield Row("… seconds after Stop until the last Pod was asked for", max(last - stopped, 0), SEEN)
        yield Row("… Pods asked for once their ConfigMap was to go", len(list(_late(events, namespace, frameworks))), 0)
        ended = max(min(_ends(events, namespace, framework)) for framework in frameworks)
        gone = f"gone after {let_go:.1f} s: the garbage collector removes the Pods first"
        yield Row("… seconds until their ConfigMaps are asked to go", ended - stopped, SLOW + 10, gone)
    yield Row("… longest turn of the loop, ms of CPU", controller.longest_turn, 100)
    setting.gone(namespace)


def _late(events: list[Json], namespace: str, frameworks: list[str]) -> Iterator[Json]:
    """The requests for Pods of a Framework that came after that to delete its ConfigMap: of somebody who has seen the Stop."""
    for framework in frameworks:
        for event in creations(events, namespace, min(_ends(events, namespace, framework))):
            if event["requestObject"]["metadata"]["labels"][names.FRAMEWORK_NAME] == framework:
                yield event


def _ends(events: list[Json], namespace: str, framework: str) -> list[float]:
    """When the deletion of a Framework's ConfigMap was asked for."""
    about = "configmaps", namespace, names.config_map_name(framework)
    return [event["at"] for event in events if event["verb"] == "delete" and _about(event) == about]


def _about(event: Json) -> tuple[str, str, str]:
    what = event["objectRef"]
    return what["resource"], what.get("namespace", ""), what.get("name", "")


def _small(setting: Setting) -> float:
    """Seconds until all Pods of a small Framework are there."""
    with setting.tenant() as namespace:
        setting.apply(namespace, "small", role("a", SMALL))
        return until(lambda: setting.count("pods", namespace) == SMALL, "a small Framework does not run", 120)


def slow_webhook(setting: Setting, namespace: str, scale: float) -> Iterator[list[str]]:
    setting.webhook.seconds[namespace] = SLOW
    yield from _many(setting, namespace, int(20 * scale) or 1, 50)


def quota(setting: Setting, namespace: str, scale: float) -> Iterator[list[str]]:
    setting.limit(namespace, "pods", 0)
    yield from _many(setting, namespace, 1, int(500 * scale))


def too_many_requests(setting: Setting, namespace: str, scale: float) -> Iterator[list[str]]:
    setting.webhook.retry_after[namespace] = SLOW
    yield from _many(setting, namespace, 2, int(200 * scale))


def large(setting: Setting, namespace: str, scale: float) -> Iterator[list[str]]:
    yield from _many(setting, namespace, 1, int(10_000 * scale))


def many(setting: Setting, namespace: str, scale: float) -> Iterator[list[str]]:
    yield from _many(setting, namespace, int(300 * scale), 10)


def every_limit(setting: Setting, namespace: str, scale: float) -> Iterator[list[str]]:
    """As many roles as the CustomResourceDefinition allows, and as many tasks as a Framework may have."""
    roles = [role(f"r{number}", 20) for number in range(int(500 * scale))]
    setting.apply(namespace, "roles", *roles)
    yield ["roles"]


def half_open(setting: Setting, _: str, scale: float) -> Iterator[list[str]]:
    """Connections to the probes on which nothing is asked."""
    with contextlib.ExitStack() as stack:
        for _number in range(int(1_500 * scale)):
            with contextlib.suppress(OSError):  # It has ended it, or takes no more.
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", setting.controller.port), timeout=1))
                connection.sendall(b"GET /metrics HTTP/1.1\r\n")
        yield []


def _many(setting: Setting, namespace: str, frameworks: int, tasks: int) -> Iterator[list[str]]:
    made = [f"train{number}" for number in range(frameworks)]
    for name in made:
        setting.apply(namespace, name, role("worker", tasks))
    yield made


NUISANCES: dict[str, Nuisance] = {
    "Pods of 20 Frameworks pass a webhook of 20 s": slow_webhook,
    "500 Pods over quota": quota,
    "Pods answered 429, Retry-After 20": too_many_requests,
    "10,000 Pods are created": large,
    "300 Frameworks at once": many,
    "500 roles, 10,000 tasks": every_limit,
    "1,500 half-open connections to the probes": half_open,
}
