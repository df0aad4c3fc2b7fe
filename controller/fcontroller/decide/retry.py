"""Whether a completed attempt is followed by another: one decision for Frameworks and tasks alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fcontroller.decide.codes import DEADLINE_EXCEEDED, FRAMEWORK_ATTEMPT_ENDS, RESTARTED, SCALED_DOWN, STOPPED
from fcontroller.decide.spec import RetryPolicy

NEVER_RETRIED = frozenset(code.code for code in (STOPPED, FRAMEWORK_ATTEMPT_ENDS, SCALED_DOWN, DEADLINE_EXCEEDED))
"""Completion codes of what was wanted."""
EVERY_FAILURE = -1
EVERY_COMPLETION = -2


class RetryDecision(NamedTuple):
    retries: bool
    accountable: bool = True
    """Whether the retry counts against `maxRetryCount`."""
    conflict: bool = False
    """Whether to wait for a random time, so that those who got into each other's way do not meet again."""

    @property
    def kind(self) -> str:
        """Return the kind of retry in one word, for metrics."""
        return "accountable" if self.accountable else "conflict" if self.conflict else "transient"


def retry_decision(policy: RetryPolicy, accountable_retries: int, completion: Mapping[str, Any]) -> RetryDecision:
    """Decide whether an attempt that ended with `completion` is retried, after `accountable_retries` retries that counted."""
    if completion["code"] in NEVER_RETRIED:
        return RetryDecision(False)
    if completion["code"] == RESTARTED.code:
        return RetryDecision(True, accountable=False)
    kind = completion["type"]
    failed = kind["name"] == "Failed"
    attributes = kind.get("attributes") or ()
    if policy.fancy and failed:
        if "Transient" in attributes:
            return RetryDecision(True, accountable=False, conflict="Conflict" in attributes)
        if "Permanent" in attributes:
            return RetryDecision(False)
    limit = policy.max_retry_count
    return RetryDecision(limit == EVERY_COMPLETION or (failed and (limit == EVERY_FAILURE or accountable_retries < limit)))
