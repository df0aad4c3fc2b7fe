"""Conditions of a Framework (`status.conditions`): what people and tools should know beside the state."""

from __future__ import annotations

from fcontroller.decide.status import Json, Status, to_time

INTENT_REVIEWED = "IntentReviewed"
"""Whether the attempt runs what the digest annotation says was reviewed. Unknown: the Framework has no such annotation."""


def set_condition(status: Status, kind: str, value: bool | None, reason: str, message: str, generation: int, now: float) -> bool:
    """Set a condition; None is Unknown. Whether it says something else than before."""
    wanted = {None: "Unknown", True: "True", False: "False"}[value]
    conditions: list[Json] = list(status.others.get("conditions") or ())
    old = next((condition for condition in conditions if condition["type"] == kind), None)
    said = {"type": kind, "status": wanted, "reason": reason, "message": message, "observedGeneration": generation}
    if old is not None and all(old.get(key) == item for key, item in said.items()):
        return False
    since = old["lastTransitionTime"] if old is not None and old["status"] == wanted else to_time(now)
    new = {**said, "lastTransitionTime": since}
    status.others = {**status.others, "conditions": [*(condition for condition in conditions if condition is not old), new]}
    status.touch()
    return True
