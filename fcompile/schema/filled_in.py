"""What the API server fills in where a Pod says nothing, and which values of a field say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fcompile.model.fields import Field
from fcompile.model.values import sequence

FILLED_IN: dict[str, dict[str, Any]] = {
    "AzureDiskVolumeSource": {"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared"},
    "Container": {"resources": {}, "terminationMessagePath": "/dev/termination-log"},
    "ContainerPort": {"protocol": "TCP"},
    "HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "ISCSIVolumeSource": {"iscsiInterface": "default"},
    "ObjectFieldSelector": {"apiVersion": "v1"},
    "PersistentVolumeClaimSpec": {"resources": {}, "volumeMode": "Filesystem"},
    "PersistentVolumeClaimTemplate": {"metadata": {}},
    "PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
    },
    "PreferredSchedulingTerm": {"preference": {}},
    "Probe": {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1},
    "RBDVolumeSource": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "ResourceFieldSelector": {"divisor": "0"},
    "ScaleIOVolumeSource": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
    **{f"{kind}VolumeSource": {"defaultMode": 420} for kind in ("ConfigMap", "DownwardAPI", "Projected", "Secret")},
    "ServiceAccountTokenProjection": {"expirationSeconds": 3600},
}
"""What the API server fills in, apart from what depends on other fields."""
EMPTY_COUNTS = frozenset(
    (
        "activeDeadlineSeconds",
        "allowPrivilegeEscalation",
        "automountServiceAccountToken",
        "defaultMode",
        "enableServiceLinks",
        "fsGroup",
        "hostProcess",
        "hostUsers",
        "hostnameOverride",
        "mode",
        "priority",
        "runAsGroup",
        "runAsNonRoot",
        "runAsUser",
        "storageClassName",
        "terminationGracePeriodSeconds",
        "tolerationSeconds",
        "volumeAttributesClassName",
    )
)
"""Fields in which an empty text, 0 or false is something else than none. In all others the API server drops it, or it means the same."""
EMPTY: dict[str, Any] = {"string": "", "integer": 0, "boolean": False, "map": {}, "list": []}
"""The empty value of each kind of field."""


def without_null_items(value: Any, field: Field | None) -> Any:
    """Return a list with an empty item in place of each null, as the API server reads it, and anything else as it is."""
    if field is None or not isinstance(value, list) or None not in value:
        return value
    return [EMPTY.get(field.items, {}) if item is None else item for item in value]


def merged_expressions(term: Mapping[str, Any], labels: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the expressions that the API server adds to a label selector for `matchLabelKeys` and `mismatchLabelKeys` beside it.

    :param labels: those of the Pod. For a key that is not among them nothing is added.
    """
    return [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for kind, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in sequence(term, kind)
        if key in labels
    ]
