"""A Pod without the fields that only repeat a default.

Whether `restartPolicy: Always` is written or left out, the same Pod runs. Only what is certain is in the tables.
"""

from __future__ import annotations

from typing import Any

from fcompile.schema.rewrite import rewritten

FILLED_IN: dict[str, dict[str, Any]] = {
    "ConfigMapVolumeSource": {"defaultMode": 420},
    "Container": {"resources": {}, "terminationMessagePath": "/dev/termination-log"},
    "ContainerPort": {"protocol": "TCP"},
    "DownwardAPIVolumeSource": {"defaultMode": 420},
    "HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "HostPathVolumeSource": {"type": ""},
    "ObjectFieldSelector": {"apiVersion": "v1"},
    "PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    },
    "Probe": {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1},
    "ProjectedVolumeSource": {"defaultMode": 420},
    "ResourceFieldSelector": {"divisor": "0"},
    "SecretVolumeSource": {"defaultMode": 420},
    "ServiceAccountTokenProjection": {"expirationSeconds": 3600},
}
"""What the API server fills in."""
MEANS_NOTHING: dict[str, dict[str, Any]] = {
    "ConfigMapKeySelector": {"optional": False},
    "ConfigMapVolumeSource": {"optional": False},
    "Container": {"stdin": False, "stdinOnce": False, "tty": False},
    "ContainerPort": {"hostPort": 0},
    "EmptyDirVolumeSource": {"medium": ""},
    "EnvVar": {"value": ""},
    "PersistentVolumeClaimVolumeSource": {"readOnly": False},
    "PodSpec": {"hostIPC": False, "hostNetwork": False, "hostPID": False, "hostUsers": True, "shareProcessNamespace": False},
    "Probe": {"initialDelaySeconds": 0},
    "SecretKeySelector": {"optional": False},
    "SecretVolumeSource": {"optional": False},
    "SecurityContext": {"privileged": False, "readOnlyRootFilesystem": False},
    "Toleration": {"operator": "Equal"},
    "TopologySpreadConstraint": {"nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"},
    "VolumeMount": {"mountPropagation": "None", "readOnly": False, "recursiveReadOnly": "Disabled"},
}
"""What is stored as it is written, and means the same as leaving the field out."""
EMPTY: dict[str, tuple[str, ...]] = {
    "Container": ("imagePullPolicy", "terminationMessagePath", "workingDir"),
    "ContainerPort": ("hostIP", "name"),
    "HTTPGetAction": ("host", "path", "scheme"),
    "PodSpec": (
        "dnsPolicy",
        "hostname",
        "nodeName",
        "priorityClassName",
        "restartPolicy",
        "schedulerName",
        "serviceAccountName",
        "subdomain",
    ),
    "Probe": ("failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"),
    "TCPSocketAction": ("host",),
    "VolumeMount": ("subPath", "subPathExpr"),
}
"""Fields in which an empty text, or 0, is to the API server as if they were left out: it fills in the default, or drops them."""


def as_the_server_reads(pod: dict[str, Any]) -> dict[str, Any]:
    """Return a lowered Pod without fields that only repeat a default. The input is not changed."""
    return {**pod, "spec": rewritten(pod["spec"], "PodSpec", _without_defaults)}


def _without_defaults(value: dict[str, Any], type_name: str) -> dict[str, Any]:
    idle = {**FILLED_IN.get(type_name, {}), **MEANS_NOTHING.get(type_name, {})}
    empty = EMPTY.get(type_name, ())
    made = {
        name: item
        for name, item in value.items()
        if item != []
        and not (name in idle and idle[name] == item and type(idle[name]) is type(item))
        and not (name in empty and type(item) in (str, int) and not item)
    }
    if type_name == "Container" and made.get("imagePullPolicy") == _pull_policy(made.get("image")):
        del made["imagePullPolicy"]
    return _without_repeated_requests(made) if type_name == "ResourceRequirements" else made


def _pull_policy(image: Any) -> str:
    """Return the pull policy that the API server fills in for an image."""
    name, _, digest = str(image or "").partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _without_repeated_requests(resources: dict[str, Any]) -> dict[str, Any]:
    """Drop requests that equal the limit, since the API server fills these in."""
    limits, requests = resources.get("limits"), resources.get("requests")
    if not isinstance(limits, dict) or not isinstance(requests, dict):
        return resources
    kept = {name: amount for name, amount in requests.items() if limits.get(name) != amount}
    made = {key: value for key, value in resources.items() if key != "requests"}
    return {**made, "requests": kept} if kept else made
