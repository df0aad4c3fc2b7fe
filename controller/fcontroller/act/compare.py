"""Compare a Pod in the cluster with the one that its attempt makes: every field of the latter must be there; others may be added."""

from __future__ import annotations

import re
from typing import Any

from msgspec import json

from fcompile import expand
from fcompile.diff.compare import ABSENT
from fcompile.diff.live import pod_differences
from fcompile.lower.intent import Role
from fcontroller.api import Json

_ADMITTED = re.compile(r"spec\.(imagePullSecrets|nodeSelector|priorityClassName|tolerations|(initC|c)ontainers\[[^]]*]\.resources)\b")
"""What Kubernetes' own admission adds to Pods. It says where and when they run, and not what."""


def differing_fields(pod: Json, made: bytes, role: Role, namespace: str, index: int, *, added: bool = False) -> list[str]:
    """Return the fields in which a Pod differs from what was asked for.

    :param made: the Pod as the controller creates it, as JSON. :param role: what it is made from.
    :param added: also those of the spec that it has in addition, but for what Kubernetes' own admission adds.
    """
    wanted = json.decode(made)
    # Objects from lists lack `kind` and `apiVersion`.
    if not added and all(contains(pod[part], wanted[part]) for part in ("metadata", "spec")):
        return []
    found = pod_differences(pod, expand.pod(role, namespace, index))
    return [field for field, _, after in found if after is not ABSENT or (added and _is_foreign(field))]


def _is_foreign(field: str) -> bool:
    return field.startswith("spec.") and not _ADMITTED.match(field)


def contains(live: Any, made: Any) -> bool:
    """Return whether a value has everything that was asked for. A quick test: True is certain, False is not."""
    if live == made:
        return True
    if isinstance(made, dict):
        return isinstance(live, dict) and all(key in live and contains(live[key], value) for key, value in made.items())
    # Admission adds volumes, mounts and variables after ours.
    added = isinstance(made, list) and isinstance(live, list) and len(live) >= len(made) and all(isinstance(item, dict) for item in made)
    return added and all(contains(*pair) for pair in zip(live, made, strict=False))
