"""Compare a Pod in the cluster with the one that its attempt makes: every field of the latter must be there; others may be added."""

from __future__ import annotations

from typing import Any

from msgspec import json

from fcompile import expand
from fcompile.diff.compare import ABSENT
from fcompile.diff.live import pod_differences
from fcompile.lower.intent import Role
from fcontroller.api import Json


def differing_fields(pod: Json, made: bytes, role: Role, namespace: str, index: int) -> list[str]:
    """Return the fields in which a Pod differs from what was asked for.

    :param made: the Pod as the controller creates it, as JSON. :param role: what it is made from.
    """
    wanted = json.decode(made)
    if all(contains(pod[part], wanted[part]) for part in ("metadata", "spec")):  # Objects from lists lack `kind` and `apiVersion`.
        return []
    found = pod_differences(pod, expand.pod(role, namespace, index))
    return [difference.field for difference in found if difference.after is not ABSENT]


def contains(live: Any, made: Any) -> bool:
    """Return whether a value has everything that was asked for. A quick test: True is certain, False is not."""
    if live == made:
        return True
    if isinstance(made, dict):
        return isinstance(live, dict) and all(key in live and contains(live[key], value) for key, value in made.items())
    # Admission adds volumes, mounts and variables after ours.
    added = isinstance(made, list) and isinstance(live, list) and len(live) >= len(made) and all(isinstance(item, dict) for item in made)
    return added and all(contains(*pair) for pair in zip(live, made, strict=False))
