"""Faults happen where the script says, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from fcontroller.testing.memory_api import Call, Crash, Fault, Faults, Lost, WatchFaults
from tests.memory_api.servers import CONFIG_MAPS, config_map, create, names, server


def exists(faults: Faults, name: str) -> bool:
    return faults.api.request("GET", f"{CONFIG_MAPS}/{name}")[0] == 200


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("fault", "error"), [(Fault.lost, Lost), (Fault.crash, Crash)])
def test_a_write_is_lost_before_or_after_it_is_stored(fault: Any, error: type[BaseException], stored: bool) -> None:
    faults = Faults(server(), {2: fault(stored=stored)})
    create(faults, CONFIG_MAPS, config_map("a"))
    faults.request("GET", CONFIG_MAPS)
    with pytest.raises(error):
        faults.request("POST", CONFIG_MAPS, config_map("b"))
    create(faults, CONFIG_MAPS, config_map("c"))
    assert [exists(faults, name) for name in "abc"] == [True, stored, True]
    assert (faults.calls, faults.writes) == (4, 3)


def test_nothing_that_handles_errors_survives_a_crash() -> None:
    assert not issubclass(Crash, Exception)


@pytest.mark.parametrize(
    ("fault", "code", "stored", "seconds"),
    [
        (Fault.too_many(3), 429, False, 3),
        (Fault.internal_error(), 500, False, None),
        (Fault.internal_error(stored=True), 500, True, None),
        (Fault.timeout(), 504, False, 1),
        (Fault.timeout(stored=True), 504, True, 1),
    ],
)
def test_the_server_answers_with_an_error(fault: Fault, code: int, stored: bool, seconds: int | None) -> None:
    faults = Faults(server(), {1: fault})
    answered, status = faults.request("POST", CONFIG_MAPS, config_map("a"))
    assert (answered, status["code"], status.get("details", {}).get("retryAfterSeconds")) == (code, code, seconds)
    assert exists(faults, "a") == stored


def test_a_rule_sees_every_call() -> None:
    seen: list[Call] = []

    def rule(call: Call) -> Fault | None:
        seen.append(call)
        return Fault.internal_error() if call.path.endswith("/a") else None

    faults = Faults(server(), rule=rule)
    create(faults, CONFIG_MAPS, config_map("a"))
    assert faults.request("GET", f"{CONFIG_MAPS}/a")[0] == 500
    assert faults.request("DELETE", f"{CONFIG_MAPS}/a")[0] == 500
    assert exists(faults, "a")
    assert seen == [Call(1, 1, "POST", CONFIG_MAPS), Call(2, 0, "GET", f"{CONFIG_MAPS}/a"), Call(3, 2, "DELETE", f"{CONFIG_MAPS}/a")]


def watched(faults: WatchFaults, count: int = 4) -> tuple[Any, list[Any]]:
    """A watch with faults, and what it tells of so many new objects: a0, a1…"""
    api = Faults(server(), watches=lambda number, path: faults if (number, path) == (1, CONFIG_MAPS) else None)
    watch = api.watch(CONFIG_MAPS)
    for number in range(count):
        create(api, CONFIG_MAPS, config_map(f"a{number}"))
    return watch, watch.read()


def test_events_are_dropped_and_repeated() -> None:
    _, events = watched(WatchFaults(drop=frozenset({1, 4}), repeat=frozenset({2})))
    assert [name for _, name in names(events)] == ["a1", "a1", "a2"]


def test_events_come_when_there_were_more_writes() -> None:
    api = Faults(server(), watches=lambda *_: WatchFaults(lag=2))
    watch = api.watch(CONFIG_MAPS)
    told = []
    for name in "abcd":
        create(api, CONFIG_MAPS, config_map(name))
        told.append([name for _, name in names(watch.read())])
    assert told == [[], [], ["a"], ["b"]]


def test_a_watch_is_cut() -> None:
    watch, events = watched(WatchFaults(cut_after=2))
    assert (len(events), watch.closed, watch.read()) == (2, True, [])


def test_a_half_open_watch_does_not_end() -> None:
    watch, events = watched(WatchFaults(silent_after=2))
    assert (len(events), watch.closed, watch.read()) == (2, False, [])


def test_history_is_forgotten_in_the_middle() -> None:
    watch, events = watched(WatchFaults(expired_after=2))
    assert [event["type"] for event in events] == ["ADDED", "ADDED", "ERROR"]
    assert (events[-1]["object"]["code"], watch.closed) == (410, True)


def test_a_watch_is_refused() -> None:
    watch, events = watched(WatchFaults(refused=True))
    assert (watch.code, events[0]["type"], events[0]["object"]["code"]) == (410, "ERROR", 410)
