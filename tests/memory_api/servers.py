"""Servers in memory for tests: time stands still until a test moves it, and uids are counted."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from fcontroller.testing.memory_api import MemoryApi
from tests.memory_api.validation import Validating

PODS = "/api/v1/namespaces/default/pods"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def server(clock: Clock | None = None) -> MemoryApi:
    numbers = itertools.count(1)
    return MemoryApi(clock or Clock(), lambda: f"uid-{next(numbers)}", Validating())


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}}


def pod(name: str, node: str = "", **metadata: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "image"}], **({"nodeName": node} if node else {})}
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def create(api: MemoryApi, path: str, value: dict[str, Any]) -> dict[str, Any]:
    code, answer = api.request("POST", path, value)
    assert code == 201, answer
    made: dict[str, Any] = answer
    return made


def names(events: list[Any]) -> list[tuple[str, str]]:
    """Type and name of each event."""
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]
