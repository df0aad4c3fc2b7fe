"""It fits: what a Framework that fails loudly takes in etcd, and what many of them take in memory."""

from __future__ import annotations

import copy
import json
import os
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import urllib3

from fcontroller.api import collection, path_of
from tests.stress.pods import UNTIL_TOLD
from tests.stress.setting import Json, Row, Setting, lateness, role, until

MIB = 1 << 20
ETCD = 8 << 30
"""Bytes that etcd may hold: that many Pods are more than it usually may."""
os.environ["ETCD_QUOTA_BACKEND_BYTES"] = str(ETCD)


def rows(setting: Setting, scale: float = 1) -> Iterator[Row]:
    """What there is to measure; at a scale of 1 as many as the table says."""
    yield from _loud(setting, int(10_000 * scale))
    yield from _completed(setting, int(3_000 * scale))
    yield from _alive(setting, int(1_000 * scale), 50)


def _loud(setting: Setting, tasks: int) -> Iterator[Row]:
    """All tasks fail, each with the longest message that a container may leave."""
    controller = setting.controller
    controller.forget_turns()
    with setting.tenant() as namespace:
        # None of them ends the Framework before the last one.
        policy = {"minFailedTaskCount": tasks, "minSucceededTaskCount": -1}
        loud = role("loud", tasks, {"run": "1", "exits": "1", "message": "4096"})
        setting.apply(namespace, "loud", {**loud, "frameworkAttemptCompletionPolicy": policy})
        largest = 0

        def over() -> bool:
            nonlocal largest
            found = setting.framework(namespace, "loud")
            largest = max(largest, len(json.dumps({key: found.get(key) for key in ("spec", "status")}, separators=(",", ":"))))
            return bool((found.get("status") or {}).get("state") == "Completed")

        took = until(over, "the loud Framework does not end", 1800, every=1)
    yield Row(f"{tasks:,} tasks fail with 4 KiB messages: spec and status, MiB", largest / MIB, 1.4, f"{took:.0f} s")
    yield Row("… longest turn of the loop, ms of CPU", controller.longest_turn, 100)
    setting.gone(namespace)


def _completed(setting: Setting, frameworks: int) -> Iterator[Row]:
    """The controller starts where many Frameworks of 100 tasks are over."""
    with setting.tenant() as namespace:
        setting.apply(namespace, "first", role("worker", 100, {"run": "0.5"}))
        until(lambda: setting.state(namespace, "first") == "Completed", "it does not end", 120)
        first = setting.framework(namespace, "first")
        setting.controller.end()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: _copy(setting, namespace, first, f"over{number}"), range(frameworks)))
        setting.controller.forget_turns()
        setting.controller.start()
        until(lambda: setting.controller.metric("fcontroller_frameworks") > frameworks, "they are not all known", 300)
        memory, turn = setting.controller.memory, setting.controller.longest_turn
        until(lambda: _all_are_deleted(setting, namespace), "they do not go", 300)
    yield Row(f"{frameworks:,} Frameworks of 100 tasks are over: memory after a start, MiB", memory, 256)
    yield Row("… longest turn of the loop, ms of CPU", turn, 100)
    setting.gone(namespace)


def _all_are_deleted(setting: Setting, namespace: str) -> bool:
    """Return whether one request was enough to delete all Frameworks. The API server cuts its answer where it takes too long."""
    try:
        return setting.cluster.api.request("DELETE", collection("frameworks", namespace))[0] < 300
    except urllib3.exceptions.HTTPError:
        return False


def _copy(setting: Setting, namespace: str, first: Json, name: str) -> None:
    """Another Framework of the same kind, with the same end."""
    metadata = {"name": name, "namespace": namespace, "annotations": first["metadata"].get("annotations")}
    made = setting.ask("POST", collection("frameworks", namespace), {**first, "metadata": metadata, "status": None})
    status = copy.deepcopy(first["status"])
    setting.ask("PUT", f"{path_of('frameworks', namespace, name)}/status", {**made, "status": status})


def _alive(setting: Setting, frameworks: int, namespaces: int) -> Iterator[Row]:
    """As many as that of 100 tasks each, all running at the same time, come to their end."""
    controller = setting.controller
    controller.forget_turns()
    setting.audit()
    made = [f"crowd-{secrets.token_hex(3)}" for _ in range(min(namespaces, frameworks))]
    for namespace in made:
        setting.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    places = [(made[number % len(made)], f"train{number}") for number in range(frameworks)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda place: setting.apply(*place, role("worker", 100, {"run": UNTIL_TOLD})), places))
    total = frameworks * 100
    took = until(lambda: controller.metric('fcontroller_tasks{state="running"}') >= total, "they do not all run", 5400, every=5)
    yield Row(f"{total:,} tasks of {frameworks:,} Frameworks run: memory, MiB", controller.memory, 1024, f"{took:.0f} s")
    setting.end_pods()
    took = until(lambda: controller.metric('fcontroller_frameworks{state="Completed"}') >= frameworks, "they do not all end", 5400, every=5)
    cpu = controller.cpu / total
    died, late = not controller.alive, lateness(setting.audit(), controller.period)
    yield Row("… and are Completed: memory, MiB", controller.memory, 1024, f"{took:.0f} s")
    yield Row("… lease late, s", late, 2)
    yield Row("… restarts of the controller", int(died), 0)
    yield Row("… longest turn of the loop, ms of CPU", controller.longest_turn, 100, f"{cpu * 1000:.2f} ms of CPU a task in all")
    for namespace in made:
        setting.ask("DELETE", f"/api/v1/namespaces/{namespace}", {"propagationPolicy": "Background"})
