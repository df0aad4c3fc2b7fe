"""Fields that the API server knows, but takes out of a new Pod without a word, because a feature gate is off by default."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from fcompile.check.pod_rules.pod import Placed, Pod
from fcompile.check.pod_rules.read import entries, given
from fcompile.diagnostics.problem import Finding, Path, Severity, rule
from fcompile.model import gates

DROPPED = rule(
    "FC200",
    "field-dropped-by-server",
    Severity.WARNING,
    "A field is not in force in this Kubernetes version: the API server takes it out.",
    "The version knows the field, but only behind a feature gate that is off unless somebody switched it on. "
    "The Pod then runs as if the field were not there. Remove it, or aim at a newer version.",
)


class _Gate(NamedTuple):
    known: int
    """The first version whose API has the field."""
    on: int
    """The first version in which it is in force."""
    name: str


_USER = _Gate(37, gates.NEVER, "AtomicWriteVolumeUserFields")
_FILES = {"defaultUser": _USER, "items": {"user": _USER}}
_HOOK = {
    "sleep": _Gate(gates.KNOWS_SLEEP, gates.SLEEP, "PodLifecycleSleepAction"),
    "httpGet": {"protocol": _Gate(37, gates.NEVER, "H2CContainerProbe")},
}
_PROBE = {
    "httpGet": {"protocol": _Gate(37, gates.NEVER, "H2CContainerProbe")},
    "grpc": {"mode": _Gate(37, gates.NEVER, "GRPCContainerProbeTLS")},
}
_LABEL_KEYS = _Gate(29, gates.AFFINITY_MATCH_LABEL_KEYS, "MatchLabelKeysInPodAffinity")
_TERM = {"matchLabelKeys": _LABEL_KEYS, "mismatchLabelKeys": _LABEL_KEYS}
_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": _TERM,
    "preferredDuringSchedulingIgnoredDuringExecution": {"podAffinityTerm": _TERM},
}
_CLAIMS = _Gate(26, gates.RESOURCE_CLAIMS, "DynamicResourceAllocation")
_INCLUSION = _Gate(25, 26, "NodeInclusionPolicyInPodTopologySpread")

Tree = dict[str, Any]
"""By field: its gate, or the tree of the fields in it (of the items, when it is a list)."""

_SPEC: Tree = {
    "hostUsers": _Gate(25, gates.HOST_USERS, "UserNamespacesSupport"),
    "schedulingGates": _Gate(26, gates.SCHEDULING_GATES, "PodSchedulingReadiness"),
    "resourceClaims": _CLAIMS,
    "resources": _Gate(32, gates.POD_LEVEL_RESOURCES, "PodLevelResources"),
    "hostnameOverride": _Gate(34, gates.HOSTNAME_OVERRIDE, "HostnameOverride"),
    "workloadRef": _Gate(35, gates.NEVER, "GenericWorkload"),
    "schedulingGroup": _Gate(36, gates.NEVER, "GenericWorkload"),
    "evictionResponders": _Gate(37, gates.NEVER, "EvictionRequestAPI"),
    "securityContext": {
        "supplementalGroupsPolicy": _Gate(31, gates.SUPPLEMENTAL_GROUPS_POLICY, "SupplementalGroupsPolicy"),
        "seLinuxChangePolicy": _Gate(32, gates.SELINUX_CHANGE_POLICY, "SELinuxChangePolicy"),
    },
    "volumes": {
        "image": _Gate(31, gates.IMAGE_VOLUMES, "ImageVolume"),
        "emptyDir": {"mode": _Gate(37, gates.NEVER, "EmptyDirVolumeMode")},
        "configMap": _FILES,
        "secret": _FILES,
        "downwardAPI": _FILES,
        "projected": {
            "defaultUser": _USER,
            "sources": {
                "clusterTrustBundle": _Gate(29, gates.CLUSTER_TRUST_BUNDLES, "ClusterTrustBundleProjection"),
                "podCertificate": _Gate(34, gates.POD_CERTIFICATES, "PodCertificateRequest"),
                "configMap": _FILES,
                "secret": _FILES,
                "downwardAPI": _FILES,
                "serviceAccountToken": {"user": _USER},
            },
        },
    },
    "topologySpreadConstraints": {
        "minDomains": _Gate(25, gates.MIN_DOMAINS, "MinDomainsInPodTopologySpread"),
        "nodeAffinityPolicy": _INCLUSION,
        "nodeTaintsPolicy": _INCLUSION,
        "matchLabelKeys": _Gate(25, gates.SPREAD_MATCH_LABEL_KEYS, "MatchLabelKeysInPodTopologySpread"),
    },
    "affinity": {"podAffinity": _AFFINITY, "podAntiAffinity": _AFFINITY},
}
_CONTAINER: Tree = {
    "resizePolicy": _Gate(27, gates.RESIZE_POLICY, "InPlacePodVerticalScaling"),
    "restartPolicyRules": _Gate(34, gates.CONTAINER_RESTART_RULES, "ContainerRestartRules"),
    "securityContext": {"procMount": _Gate(25, gates.PROC_MOUNT, "ProcMountType")},
    "resources": {"claims": _CLAIMS},
    "volumeMounts": {
        "recursiveReadOnly": _Gate(30, gates.RECURSIVE_READ_ONLY, "RecursiveReadOnlyMounts"),
        "bindMountOptions": _Gate(37, gates.NEVER, "VolumeBindMountOptions"),
    },
    "env": {"valueFrom": {"fileKeyRef": _Gate(34, gates.ENV_FILES, "EnvFiles")}},
    "lifecycle": {
        "stopSignal": _Gate(gates.KNOWS_STOP_SIGNAL, gates.NEVER, "ContainerStopSignals"),
        "postStart": _HOOK,
        "preStop": _HOOK,
    },
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
}
_SIDECAR = _Gate(gates.KNOWS_SIDECARS, gates.SIDECARS, "SidecarContainers")
_RESTART_POLICY = _Gate(gates.KNOWS_RESTART_RULES, gates.CONTAINER_RESTART_RULES, "ContainerRestartRules")


def dropped_fields(pod: Pod) -> Iterator[Finding]:
    """The fields of the template that will not be in force."""
    spec, container = _trees(pod.version)
    yield from _found(pod.spec, pod.path, spec, pod.version)
    for placed in pod.containers:
        yield from _found(placed.fields, placed.path, container, pod.version)
        if "restartPolicy" in placed.fields:
            yield from _restart_policy(placed, pod.version)


@cache
def _trees(version: int) -> tuple[Tree, Tree]:
    return _pruned(_SPEC, version), _pruned(_CONTAINER, version)


def _pruned(tree: Tree, version: int) -> Tree:
    """Only what this version takes out."""
    kept: Tree = {}
    for field, below in tree.items():
        if isinstance(below, dict):
            if pruned := _pruned(below, version):
                kept[field] = pruned
        elif below.known <= version < below.on:
            kept[field] = below
    return kept


def _found(fields: dict[str, Any], path: Path, tree: Tree, version: int) -> Iterator[Finding]:
    if tree.keys().isdisjoint(fields):
        return
    for field, below in tree.items():
        value = fields.get(field)
        if value is None:
            continue
        if not isinstance(below, dict):
            if not (field == "procMount" and value == "Default"):
                yield _dropped((*path, field), below, version)
        elif isinstance(value, dict):
            yield from _found(value, (*path, field), below, version)
        elif isinstance(value, list):
            for index, entry in entries(fields, field):
                yield from _found(entry, (*path, field, index), below, version)


def _restart_policy(container: Placed, version: int) -> Iterator[Finding]:
    """Sidecars came before other restart policies of containers."""
    if not given(container.fields, "restartPolicy"):
        return
    path = (*container.path, "restartPolicy")
    if container.is_init and version == _SIDECAR.known:
        yield _dropped(path, _SIDECAR, version)
    elif version == _RESTART_POLICY.known and not container.is_sidecar:
        yield _dropped(path, _RESTART_POLICY, version)


def _dropped(path: Path, gate: _Gate, version: int) -> Finding:
    later = f"it is in force from 1.{gate.on}" if gate.on < gates.NEVER else "every version that is known needs it"
    message = f"`{path[-1]}` is dropped by Kubernetes 1.{version} unless the feature gate {gate.name} is on ({later}); remove it"
    return Finding(DROPPED, path, message, part="key")
