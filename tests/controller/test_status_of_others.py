"""What others make of a status."""

from __future__ import annotations

from typing import Any

from fcontroller.api import path_of
from tests.controller.lab import in_memory, lab, run_in_memory
from tests.decide.world import role_spec


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_one_without_nulls_says_the_same() -> None:
    """As Argo CD writes it with an action: Lua has no nulls. The reconciler goes on with what it knows, and does not begin anew."""

    async def work() -> None:
        async with lab(in_memory()) as made:
            await made.make("train", {"taskRoles": [role_spec("a", 1)]})
            await made.until("train", lambda status: status["state"] == "AttemptRunning")
            reconciler = made.controller.reconcilers["default", "train"]
            writer = reconciler.writer
            await made.until("train", lambda _: reconciler.status is not None and reconciler.status.stored == reconciler.status.revision)
            path = path_of("frameworks", "default", "train")
            framework = without_nulls(await made.framework("train"))
            assert (await made.api.request("PUT", f"{path}/status", framework)).ok
            await made.edit("train", "executionType", "Stop")
            status = await made.completed("train")
            assert reconciler.writer is writer
            assert status["retryPolicyStatus"]["retryDelaySec"] is None

    run_in_memory(work())
