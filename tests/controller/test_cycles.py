"""What a Framework has needed is free when it is over: old cycles are only collected once an hour."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from itertools import count

import pytest

from fcontroller.api import Answer, Api, path_of
from tests.cluster import Cluster
from tests.controller.lab import Refusing, lab, real, refusal, run, run_in_memory
from tests.decide.world import role_spec


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    """The collector does nothing by itself."""
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


async def leave(api: Api, tasks: int, namespace: str = "default", seconds: float = 60) -> Counter[str]:
    """The types of all that some Frameworks leave to the collector once they have been over for so long."""
    async with lab(api, namespace) as made:
        await made.make("first", {"taskRoles": [role_spec("a", 3, "0.1")]})
        await made.completed("first")  # From here on nothing is done for the first time.
        await asyncio.sleep(0.5)
        gc.collect()
        gc.set_debug(gc.DEBUG_SAVEALL)
        for number in range(5):
            await made.make(f"train{number}", {"taskRoles": [role_spec("a", tasks, "0.1", service={})]})
        for number in range(5):
            await made.completed(f"train{number}")
        await asyncio.sleep(seconds)
        assert not made.controller.reconcilers
        gc.collect()
        return Counter(type(left).__qualname__ for left in gc.garbage)


def test_frameworks_leave_nothing_to_the_collector() -> None:
    """Pods wait for their turn when the Framework begins to run, so that their creations are given up and decided anew."""

    async def take_time(method: str, path: str) -> None:
        if method != "GET":
            await asyncio.sleep(0.03)

    async def work() -> None:
        assert await leave(Refusing(take_time), 40) == {}

    run_in_memory(work())


@pytest.mark.parametrize(("code", "reason"), [(403, "Forbidden"), (409, "Conflict"), (429, "TooManyRequests"), (500, "InternalError")])
def test_nor_does_what_is_refused(code: int, reason: str) -> None:
    asked = count()

    def refuse_some(method: str, path: str) -> Answer | None:
        is_ours = (method == "POST" and path.endswith(("/pods", "/configmaps", "/services", "/events"))) or (
            method == "PUT" and "/frameworks/" in path
        )
        return refusal(code, reason, "not now") if is_ours and next(asked) % 3 == 0 else None

    async def work() -> None:
        assert await leave(Refusing(refuse_some), 10) == {}

    run_in_memory(work())


def test_nor_do_their_connections(cluster: Cluster, namespace: str) -> None:
    async def work() -> None:
        async with real(cluster) as api:
            assert await leave(api, 20, namespace, seconds=35) == {}

    run(work())


def test_nor_does_a_framework_that_is_deleted_while_everything_is_refused() -> None:
    async def work() -> None:
        refused = False

        def refuse(method: str, path: str) -> Answer | None:
            is_ours = (method == "POST" and path.endswith("/pods")) or (method == "PUT" and "/frameworks/" in path)
            return refusal(403, "Forbidden", "never") if refused and is_ours else None

        api = Refusing(refuse)
        async with lab(api) as made:
            for number in range(2):
                refused = number == 1
                await made.make("train", {"taskRoles": [role_spec("a", 3, "0.1")]})
                await asyncio.sleep(20)
                gc.collect()
                gc.set_debug(gc.DEBUG_SAVEALL if refused else 0)
                options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
                assert (await api.request("DELETE", path_of("frameworks", made.namespace, "train"), options)).ok
                await asyncio.sleep(60)
            gc.collect()
            assert Counter(type(left).__qualname__ for left in gc.garbage) == {}

    run_in_memory(work())
