"""The statuses that FrameworkController's own controller came to, on the way and in the end, are ours in every field."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

from fcontroller.api import Api, Json
from tests.cluster import Cluster
from tests.controller.lab import SETTINGS, in_memory, lab, real, run_in_memory
from tests.controller.play import Stage

SCENARIOS: list[Json] = json.loads((Path(__file__).parent / "data" / "played_on_upstream.json").read_text("utf-8"))["scenarios"]
AT_A_TIME = 40
SLOW_RETRIES = SETTINGS._replace(conflict_delay=(10, 11))
"""Time enough to do something while a retry waits."""


def differences(ours: Any, upstreams: Any, where: str = "") -> list[str]:
    """Fields that are not equal, or of another type. `<any>` in the record: upstream was not sure itself."""
    if upstreams == "<any>":
        return []
    if isinstance(ours, dict) and isinstance(upstreams, dict):
        names = dict.fromkeys((*upstreams, *ours))
        return [
            found for name in names for found in differences(ours.get(name, "absent"), upstreams.get(name, "absent"), f"{where}.{name}")
        ]
    if isinstance(ours, list) and isinstance(upstreams, list) and len(ours) == len(upstreams):
        pairs = enumerate(zip(ours, upstreams, strict=True))
        return [found for place, (one, other) in pairs for found in differences(one, other, f"{where}[{place}]")]
    return [] if (type(ours), ours) == (type(upstreams), upstreams) else [f"{where}: {ours!r}, and upstream has {upstreams!r}"]


async def _same(stage: Stage, scenario: Json, turns: asyncio.Semaphore) -> list[str]:
    try:
        async with turns:
            notes = await stage.play(scenario)
    except AssertionError as error:
        return [str(error)]
    return [f"{scenario['name']}{found}" for found in differences(notes, scenario["notes"])]


async def _all(api: Api, namespace: str, scenarios: list[Json]) -> dict[str, list[str]]:
    """What is different, by the scenario's name."""
    async with lab(api, namespace, settings=SLOW_RETRIES):
        stage = Stage(api, namespace)
        watching = asyncio.create_task(stage.watch())
        turns = asyncio.Semaphore(AT_A_TIME)
        found = await asyncio.gather(*(_same(stage, scenario, turns) for scenario in scenarios))
        watching.cancel()
    return {scenario["name"]: lines for scenario, lines in zip(scenarios, found, strict=True) if lines}


def test_in_memory() -> None:
    # Pods that an API server refuses: there is no validation in memory.
    async def work() -> None:
        found = await _all(in_memory(), "default", [scenario for scenario in SCENARIOS if not scenario.get("server")])
        assert not found, "\n".join(itertools.chain(*found.values()))

    run_in_memory(work())


def test_on_a_real_server(cluster: Cluster) -> None:
    async def play(scenarios: list[Json], namespace: str) -> dict[str, list[str]]:
        cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=baseline")
        async with real(cluster) as api:
            return await _all(api, namespace, scenarios)

    # What ends in the same moment may be seen in another order where the machine is busy: a rule that is broken is broken each time.
    scenarios, found = SCENARIOS, dict[str, list[str]]()
    for _ in range(3):
        with cluster.namespace() as namespace:
            found = asyncio.run(play(scenarios, namespace))
        scenarios = [scenario for scenario in SCENARIOS if scenario["name"] in found]
        if not scenarios:
            return
    raise AssertionError("\n".join(itertools.chain(*found.values())))
