"""Stored statuses that take much memory are read one after the other, whoever reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from fcontroller.decide.status import Status
from fcontroller.reconcile import read_status, reconciler, retention
from fcontroller.reconcile.read_status import read_status as read


@pytest.mark.parametrize(("compressed", "most"), [("H4sI", 1), (None, 3)])
def test_how_many_are_read_at_a_time(compressed: str | None, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, seen = 0, 0

    def status_from(_: Any) -> Generator[None, None, Status]:
        nonlocal under_way, seen
        under_way += 1
        seen = max(seen, under_way)
        yield
        yield
        under_way -= 1
        return Status("f-attempt", 0)

    async def work() -> None:
        stored = {"attemptStatus": {"taskRoleStatusesCompressed": compressed}}
        await asyncio.gather(*[read(stored, namespace) for namespace in ("a", "a", "b")])

    monkeypatch.setattr(read_status, "status_from", status_from)
    asyncio.run(work())
    assert seen == most


def test_all_who_read_one_read_it_so() -> None:
    for module in (reconciler, retention):
        assert vars(module)["read_status"] is read
        assert "status_from" not in vars(module)
