"""When a status is stored."""

from __future__ import annotations

import asyncio

import pytest

from fcontroller.reconcile import status_writer
from tests.controller.lab import in_memory, lab, run
from tests.decide.world import role_spec


def test_what_must_be_stored_first_does_not_wait_however_large_the_status_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_writer, "_SHARE", 1e9)  # Changes of tasks are not stored for years.

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 3)]})
            async with asyncio.timeout(10):
                while len(await made.pods()) < 3:
                    await asyncio.sleep(0.05)

    run(work())
