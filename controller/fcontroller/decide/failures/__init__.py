"""How Pods fail, and what that makes of an attempt: `podFailureSpec`, finished Pods, Pods that cannot be created."""

from __future__ import annotations

from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.creation import creation_code, creation_failure
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import Failure, Mistake, read_failures

__all__ = ["DEFAULT_POD_FAILURE_SPEC", "Classifier", "Failure", "Mistake", "creation_code", "creation_failure", "read_failures"]
