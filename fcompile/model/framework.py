"""Constants of Frameworks that `fcompile/declare/framework.py` declares: enumerated values, bounds; and what a Framework asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fcompile.model.names import GROUP, PAUSE_ANNOTATION, RESTART_ANNOTATION
from fcompile.model.values import mapping, text

MANAGED_BY = (f"{GROUP}/frameworkcontroller", "kueue.x-k8s.io/multikueue")
LIFETIME = ("activeDeadlineSeconds", "cleanPodPolicy", "ttlSecondsAfterFinished")
"""Fields of the spec that say when a Framework ends, and what is left of it. They have no defaults: an intent has those that are given."""
KEEPS_PODS = ("Running", "None")
"""Values of `cleanPodPolicy` under which finished Pods stay. Pods that run are always ended, so that both mean the same."""
_LONGEST = 100
"""Characters of an annotation that count: the status keeps that of a restart."""
MAX_TASKS = 10_000
"""Of one role, and of all roles of a Framework together."""
STATUS_BYTES_PER_TASK = 110
"""What a task takes of a status that is compressed, without the messages of failures."""
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


def is_anothers(spec: Mapping[str, Any]) -> bool:
    """Return whether another controller reconciles the Framework with this spec."""
    return spec.get("managedBy") not in (None, MANAGED_BY[0])


def asks_for_pause(framework: Mapping[str, Any]) -> bool:
    """Return whether a Framework is annotated to be held as it is. Stop works all the same, so that this alone does not pause it."""
    return _annotation(framework, PAUSE_ANNOTATION) == "true"


def ignored_pause(framework: Mapping[str, Any]) -> str:
    """Return the value of a Framework's pause annotation that neither pauses nor says that it does not; the empty string: there is none."""
    value = _annotation(framework, PAUSE_ANNOTATION)
    return "" if value in ("true", "false") else value


def restart_of(framework: Mapping[str, Any]) -> str:
    """Return the value of a Framework's restart annotation; the empty string: it has none."""
    return _annotation(framework, RESTART_ANNOTATION)


def _annotation(framework: Mapping[str, Any], name: str) -> str:
    return (text(mapping(mapping(framework, "metadata"), "annotations"), name) or "")[:_LONGEST]
