"""A ConfigMap that was forged while no controller ran is repaired, also where the status cannot be stored."""

from __future__ import annotations

import asyncio

import pytest

from fcontroller.api import Answer, Json, path_of
from tests.controller.forgeries import FORGERIES
from tests.controller.lab import Refusing, lab, refusal, run_in_memory
from tests.controller.test_intent import all_run
from tests.controller.test_trust import SPEC, forged

PATH = path_of("configmaps", "default", "train-attempt")
STATUS = path_of("frameworks", "default", "train") + "/status"


@pytest.mark.parametrize("refused", [False, True], ids=["stored", "refused"])
def test_a_forged_intent_is_repaired_by_the_next_process(refused: bool) -> None:
    async def work() -> None:
        full = [False]

        def answer(method: str, path: str) -> Answer | None:
            return refusal(403, "Forbidden", "a webhook") if full[0] and (method, path) == ("PUT", STATUS) else None

        async with lab(Refusing(answer)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await asyncio.sleep(10)
            before = (await made.api.request("GET", PATH)).body["data"]
            await made.kill()
            await forged(made, FORGERIES["another image"])
            full[0] = refused
            made.controller = made._controller()
            made.start()
            await asyncio.sleep(600)
            assert (await made.api.request("GET", PATH)).body["data"] == before

    run_in_memory(work())


def test_a_forged_intent_is_not_said_to_be_right_before_it_was_read() -> None:
    """After each start of the controller the condition was True for a moment, and was written twice."""

    async def work() -> None:
        is_refused = [False]

        async def answer(method: str, path: str) -> Answer | None:
            if not is_refused[0] or path != PATH:
                return None
            await asyncio.sleep(3)
            return refusal(403, "Forbidden", "a webhook") if method == "PUT" else None

        async with lab(Refusing(answer)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await forged(made, FORGERIES["another image"])
            is_refused[0] = True
            await made.until("train", lambda status: stored(status) == ["False"], 60)
            await made.kill()
            made.controller = made._controller()
            made.start()
            seen = set[str]()
            for _ in range(400):
                await asyncio.sleep(0.05)
                seen.update(stored((await made.framework("train"))["status"]))
            assert seen == {"False"}

    run_in_memory(work())


def stored(status: Json) -> list[str]:
    """What the status says of the stored intent."""
    return [each["status"] for each in status["conditions"] if each["type"] == "IntentStored"]
