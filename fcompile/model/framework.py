"""Constants of Frameworks: enumerated values and bounds. `fcompile/declare/framework.py` declares the fields, with these bounds."""

from __future__ import annotations

from fcompile.model.names import GROUP

MANAGED_BY = (f"{GROUP}/frameworkcontroller", "kueue.x-k8s.io/multikueue")
LIFETIME = ("activeDeadlineSeconds", "cleanPodPolicy", "ttlSecondsAfterFinished")
"""Fields of the spec that say when a Framework ends, and what is left of it. They have no defaults: an intent has those that are given."""
MAX_TASKS = 10_000
"""Of one role, and of all roles of a Framework together."""
# The API server estimates the cost of the CRD's rules from the longest possible lists. No real Framework comes near these bounds.
MAX_ROLES = 500
MAX_SERVICE_PORTS = 20
INT32_MAX = 2**31 - 1

SERVER_SET = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""Metadata that only the API server writes."""
