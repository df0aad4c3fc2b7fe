"""Reading the stored status of a Framework, bit by bit."""

from __future__ import annotations

from contextlib import nullcontext

from fcontroller.api import Json
from fcontroller.breath import turns, unhurried
from fcontroller.decide.status import Status
from fcontroller.decide.status_json import status_from


async def read_status(stored: Json, namespace: str) -> Status:
    """Return a status as it is stored; compressed ones are read one after the other.

    Raises what `status_from` raises for one that nobody should have written.

    :param namespace: of the Framework, which waits with one status at a time.
    """
    # Some kilobytes may unpack to a hundred megabytes of values.
    compressed = stored["attemptStatus"].get("taskRoleStatusesCompressed")
    async with turns().alone(namespace) if compressed else nullcontext():
        status, _ = await unhurried(status_from(stored))
    return status
