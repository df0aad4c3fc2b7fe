"""All at once, for half an hour: tenants at random, deaths, pauses of the process, a server that is busy, slow or gone, and a forger."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from fcompile.model import names
from fcontroller.api import collection
from tests.controller.forgeries import FORGERIES
from tests.stress.deaths import kill_api_server
from tests.stress.setting import IMAGE, Json, Row, Setting, creations, pods_made, role, until
from tests.stress.trust import allow_config_maps, forge

MINUTES = 30
TENANTS = 8
AT_A_TIME = 40
"""Frameworks that are not over."""
POLICY: Json = {"fancyRetryPolicy": True, "maxRetryCount": 20}
"""Failures are counted; what others do to a Pod is not its task's failure."""
Place = tuple[str, str]


def rows(setting: Setting, scale: float = 1) -> Iterator[Row]:
    """What is not as it should be in the end; at a scale of 1 after half an hour."""
    allow_config_maps(setting)
    seed = random.randrange(1 << 32)
    print(f"seed: {seed}", file=sys.stderr)
    soak = Soak(setting, random.Random(seed))
    setting.audit()
    soak.run(60 * MINUTES * scale)
    yield from soak.verdict()


class Soak:
    """Makes Frameworks, disturbs them and the controller, and knows what each should come to."""

    def __init__(self, setting: Setting, chance: random.Random) -> None:
        self.setting, self.chance = setting, chance
        self.failures: dict[Place, int] = {}
        """How often each task of a Framework fails before it succeeds."""
        self.lost = Counter[Place]()
        """How often others deleted a Framework's Pods: one that had just failed, and whose end was not stored yet, counts as deleted."""
        self.stopped: set[Place] = set()
        self.open: set[Place] = set()
        self.done = Counter[str]()
        """What was done how often."""
        self.died = 0
        self.namespaces: list[str] = []

    def run(self, seconds: float) -> None:
        """Do it for so long, and wait until all Frameworks are over."""
        for number in range(TENANTS):
            name = f"soak-{number}"
            self.setting.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": {"stress-webhook": "on"}}})
            self.namespaces.append(name)
        end, next_disturbance = time.monotonic() + seconds, time.monotonic() + 5
        while time.monotonic() < end:
            self._look()
            if len(self.open) < AT_A_TIME:
                self._make()
            if time.monotonic() > next_disturbance:
                name, disturb = self.chance.choice(DISTURBANCES)
                self.done[name] += 1
                disturb(self)
                next_disturbance = time.monotonic() + self.chance.uniform(2, 12)
            time.sleep(0.2)
        self.calm()
        until(self._look, "not all Frameworks come to their end", 600, every=1)

    def calm(self) -> None:
        """Let Pods be made again."""
        self.setting.webhook.seconds.clear()
        self.setting.webhook.retry_after.clear()

    def _look(self) -> bool:
        """Note which Frameworks are over; returns whether all are."""
        if not self.setting.controller.alive:
            self.died += 1
            self.setting.controller.start()
        for namespace in self.namespaces:
            for found in self.setting.ask("GET", collection("frameworks", namespace))["items"]:
                if (found.get("status") or {}).get("state") == "Completed":
                    self.open.discard((namespace, found["metadata"]["name"]))
        return not self.open

    def _make(self) -> None:
        place = self.chance.choice(self.namespaces), f"f{len(self.failures)}"
        self.failures[place] = failures = self.chance.randrange(4)
        exits = ",".join(["1"] * failures + ["0"])
        wishes = {"run": str(self.chance.choice((0.5, 2, 5))), "exits": exits}
        roles = [role(name, self.chance.randint(1, 12), wishes, retryPolicy=POLICY) for name in ("a", "b")[: self.chance.randint(1, 2)]]
        self.setting.apply(*place, *roles)
        self.open.add(place)

    def some(self) -> Place | None:
        """A Framework that is not over."""
        return self.chance.choice(sorted(self.open)) if self.open else None

    def verdict(self) -> Iterator[Row]:
        """Compare what is there, and what the audit log has, with what should be."""
        events = self.setting.audit()
        made, specs = pods_made(events), [event["requestObject"]["spec"] for event in creations(events, "", 0)]
        forged = sum(spec["containers"][0]["image"] != IMAGE or bool(spec.get("hostPID")) for spec in specs)
        wrong_end = wrong_count = more = fewer = tasks = 0
        for (namespace, name), failures in self.failures.items():
            status = self.setting.status(namespace, name)
            attempt = status["attemptStatus"]
            if (namespace, name) in self.stopped:
                wrong_end += attempt["completionStatus"]["code"] not in (-210, 0)
                continue
            wrong_end += attempt["completionStatus"]["code"] != 0
            for each in attempt["taskRoleStatuses"]:
                for task in each["taskStatuses"]:
                    tasks += 1
                    counted = task["retryPolicyStatus"]["accountableRetriedCount"]
                    wrong_count += not failures - self.lost[namespace, name] <= counted <= failures
                    pods = made[namespace, names.pod_name(name, each["name"], task["index"])]
                    more += pods > task["attemptStatus"]["id"] + 1
                    fewer += pods < task["attemptStatus"]["id"] + 1
        what = ", ".join(f"{count} × {name}" for name, count in sorted(self.done.items()))
        yield Row("Frameworks with a wrong end", wrong_end, 0, f"of {len(self.failures)}; {what}")
        yield Row("tasks whose count of failures is wrong", wrong_count, 0, f"of {tasks}")
        yield Row("tasks that had more Pods than attempts", more, 0, f"{made.total()} Pods")
        # An API server that is killed has not logged what it has just stored.
        yield Row("tasks with an attempt whose Pod is not in the log", fewer, 32 * self.done["death of the API server"])
        yield Row("forged Pods that were asked for", forged, 0)
        stalls = self.done["pause of the process"] + self.done["death of the API server"]
        yield Row("ends of the controller that nothing explains", max(self.died - stalls, 0), 0, f"{self.died} ends")


def _kill(soak: Soak) -> None:
    soak.setting.controller.restart(signal.SIGKILL)


def _pause(soak: Soak) -> None:
    """It may come back after its lease has run out."""
    process = soak.setting.controller.process
    assert process is not None
    if process.poll() is None:
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(soak.chance.uniform(1, 25))
        os.kill(process.pid, signal.SIGCONT)


def _kill_api_server(soak: Soak) -> None:
    kill_api_server(soak.setting)


def _busy(soak: Soak) -> None:
    soak.calm()
    soak.setting.webhook.retry_after[soak.chance.choice(soak.namespaces)] = soak.chance.randint(1, 20)


def _slow(soak: Soak) -> None:
    soak.calm()
    soak.setting.webhook.seconds[soak.chance.choice(soak.namespaces)] = soak.chance.uniform(1, 20)


def _forge(soak: Soak) -> None:
    place = soak.some()
    forgery = soak.chance.choice([forgery for name, forgery in FORGERIES.items() if name != "a bomb"])
    if place:
        with contextlib.suppress(AssertionError, KeyError):  # There is no ConfigMap, or it is forged and was not mended yet.
            forge(soak.setting, *place, forgery)


def _lose_pods(soak: Soak) -> None:
    place = soak.some()
    if place:
        soak.lost[place] += 1
        soak.setting.cluster.api.request("DELETE", f"{collection('pods', place[0])}?labelSelector={names.FRAMEWORK_NAME}={place[1]}")


def _stop(soak: Soak) -> None:
    place = soak.some()
    if place:
        soak.stopped.add(place)
        soak.setting.stop(*place)


DISTURBANCES: list[tuple[str, Callable[[Soak], None]]] = [
    ("kill −9", _kill),
    ("pause of the process", _pause),
    ("death of the API server", _kill_api_server),
    ("429", _busy),
    ("slow webhook", _slow),
    ("forgery", _forge),
    ("Pods deleted", _lose_pods),
    ("Stop", _stop),
]
