"""The kubelet of tests and of the demo does not give a Pod up."""

from __future__ import annotations

import asyncio

import pytest

from fcontroller.api import Answer
from tests.controller.lab import Refusing, lab, refusal
from tests.decide.world import role_spec
from tests.safety.virtual_time import VirtualLoop, in_virtual_time


@pytest.mark.parametrize("end", ["/binding", "/status"])
def test_a_pod_goes_on_when_the_server_is_back(end: str) -> None:
    """A Pod that nobody touches meanwhile has no event that would remind of it."""
    left = 5

    def away(_: str, path: str) -> Answer | None:
        nonlocal left
        if "/pods/" not in path or not path.endswith(end) or not left:
            return None
        left -= 1
        return refusal(503, "ServiceUnavailable", "not yet")

    async def work(_: VirtualLoop) -> None:
        async with lab(Refusing(away)) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 1, "1")]})
            await made.completed("train")

    in_virtual_time(work)
    assert not left


def test_a_pod_that_the_server_removes_itself_is_not_deleted_again() -> None:
    """As one that has ended: its grace period is 0, and nobody waits for a kubelet."""
    deleted = 0

    def count(method: str, path: str) -> None:
        nonlocal deleted
        deleted += method == "DELETE" and "/pods/" in path

    async def work(_: VirtualLoop) -> None:
        async with lab(Refusing(count)) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 3, "1")]})
            await made.completed("train")
            await asyncio.sleep(1)

    in_virtual_time(work)
    assert deleted == 3
