"""Compare a Pod in the cluster with the one that its attempt makes: every field of the latter must be there; others may be added."""

from __future__ import annotations

import re
from typing import Any

from msgspec import json

from fcompile import expand
from fcompile.check.rules.pod.profile_annotations import APP_ARMOR
from fcompile.diff.compare import ABSENT
from fcompile.diff.live import pod_differences
from fcompile.lower.intent import Role
from fcompile.model import names
from fcontroller.api import Json

_ADMITTED = re.compile(r"spec\.(imagePullSecrets|nodeSelector|priorityClassName|tolerations|(initC|c)ontainers\[[^]]*]\.resources)\b")
"""What Kubernetes' own admission adds to Pods. It says where and when they run, and not what."""


def differing_fields(pod: Json, made: bytes, role: Role, namespace: str, index: int, *, added: bool = False) -> list[str]:
    """Return the fields in which a Pod differs from what was asked for.

    :param made: the Pod as the controller creates it, as JSON. :param role: what it is made from.
    :param added: also those of the spec that it has in addition, but for what Kubernetes' own admission adds; and uids and attempt ids.
    """
    wanted = json.decode(made)
    # Objects from lists lack `kind` and `apiVersion`.
    if not added and all(contains(pod[part], wanted[part]) for part in ("metadata", "spec")):
        return []
    found = pod_differences(pod, expand.pod(role, namespace, index))
    fields = [field for field, _, after in found if after is not ABSENT or (added and _is_foreign(field))]
    if added:
        there = _cluster_values(pod)
        fields[:0] = [field for field, value in _cluster_values(wanted).items() if there.get(field) != value]
    return fields


def _is_foreign(field: str) -> bool:
    # The API server takes a container's profile from such an annotation, and `pod_differences` leaves it out then.
    return (field.startswith("spec.") and not _ADMITTED.match(field)) or APP_ARMOR in field


def _cluster_values(pod: Json) -> dict[str, Any]:
    """Return, by field, what `pod_differences` leaves out since only the cluster knows it.

    A command may have it in it, as `$(FC_TASK_UID)`: by its value, or as it is written where the variable comes later.
    """
    annotations = pod["metadata"].get("annotations") or {}
    values = {f"metadata.annotations.{name}": annotations.get(name) for name in names.CLUSTER_NAMES}
    for kind in ("initContainers", "containers"):
        for container in pod["spec"].get(kind) or ():
            field, variables = f"spec.{kind}[{container['name']}].env", container.get("env") or ()
            values[field] = [variable["name"] for variable in variables]
            for variable in variables:
                if variable["name"] in names.CLUSTER_ENV:  # The first of a name: later ones are the user's.
                    values.setdefault(f"{field}[{variable['name']}]", variable)
    return values


def contains(live: Any, made: Any) -> bool:
    """Return whether a value has everything that was asked for. A quick test: True is certain, False is not."""
    if live == made:
        return True
    if isinstance(made, dict):
        return isinstance(live, dict) and all(key in live and contains(live[key], value) for key, value in made.items())
    # Admission adds volumes, mounts and variables after ours.
    added = isinstance(made, list) and isinstance(live, list) and len(live) >= len(made) and all(isinstance(item, dict) for item in made)
    return added and all(contains(*pair) for pair in zip(live, made, strict=False))
