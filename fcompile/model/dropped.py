"""Fields that an API server knows, but takes out of a new Pod because a feature gate is off by default: which, and in which versions."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from fcompile.model import gates


class Gate(NamedTuple):
    known: int
    """The first version whose API has the field."""
    on: int
    """The first version in which it is in force."""
    name: str


_USER = Gate(37, gates.NEVER, "AtomicWriteVolumeUserFields")
_IN_FILES = {source: {"defaultUser": _USER, "items": {"user": _USER}} for source in ("configMap", "secret", "downwardAPI")}
_HOOK = {
    "sleep": Gate(gates.KNOWS_SLEEP, gates.SLEEP, "PodLifecycleSleepAction"),
    "httpGet": {"protocol": Gate(37, gates.NEVER, "H2CContainerProbe")},
}
_PROBE = {
    "httpGet": {"protocol": Gate(37, gates.NEVER, "H2CContainerProbe")},
    "grpc": {"mode": Gate(37, gates.NEVER, "GRPCContainerProbeTLS")},
}
_LABEL_KEYS = Gate(29, gates.AFFINITY_MATCH_LABEL_KEYS, "MatchLabelKeysInPodAffinity")
_TERM = {"matchLabelKeys": _LABEL_KEYS, "mismatchLabelKeys": _LABEL_KEYS}
_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": _TERM,
    "preferredDuringSchedulingIgnoredDuringExecution": {"podAffinityTerm": _TERM},
}
_CLAIMS = Gate(26, gates.RESOURCE_CLAIMS, "DynamicResourceAllocation")
_INCLUSION = Gate(25, 26, "NodeInclusionPolicyInPodTopologySpread")

Tree = dict[str, Any]
"""By field: its gate, or the tree of the fields in it (of the items, when it is a list)."""

_SPEC: Tree = {
    "hostUsers": Gate(25, gates.HOST_USERS, "UserNamespacesSupport"),
    "schedulingGates": Gate(26, gates.SCHEDULING_GATES, "PodSchedulingReadiness"),
    "resourceClaims": _CLAIMS,
    "resources": Gate(32, gates.POD_LEVEL_RESOURCES, "PodLevelResources"),
    "hostnameOverride": Gate(34, gates.HOSTNAME_OVERRIDE, "HostnameOverride"),
    "workloadRef": Gate(35, gates.NEVER, "GenericWorkload"),
    "schedulingGroup": Gate(36, gates.NEVER, "GenericWorkload"),
    "evictionResponders": Gate(37, gates.NEVER, "EvictionRequestAPI"),
    "securityContext": {
        "supplementalGroupsPolicy": Gate(31, gates.SUPPLEMENTAL_GROUPS_POLICY, "SupplementalGroupsPolicy"),
        "seLinuxChangePolicy": Gate(32, gates.SELINUX_CHANGE_POLICY, "SELinuxChangePolicy"),
    },
    "volumes": {
        "image": Gate(31, gates.IMAGE_VOLUMES, "ImageVolume"),
        "emptyDir": {"mode": Gate(37, gates.NEVER, "EmptyDirVolumeMode")},
        **_IN_FILES,
        "projected": {
            "defaultUser": _USER,
            "sources": {
                "clusterTrustBundle": Gate(29, gates.CLUSTER_TRUST_BUNDLES, "ClusterTrustBundleProjection"),
                "podCertificate": Gate(34, gates.POD_CERTIFICATES, "PodCertificateRequest"),
                **_IN_FILES,
                "serviceAccountToken": {"user": _USER},
            },
        },
    },
    "topologySpreadConstraints": {
        "minDomains": Gate(25, gates.MIN_DOMAINS, "MinDomainsInPodTopologySpread"),
        "nodeAffinityPolicy": _INCLUSION,
        "nodeTaintsPolicy": _INCLUSION,
        "matchLabelKeys": Gate(25, gates.SPREAD_MATCH_LABEL_KEYS, "MatchLabelKeysInPodTopologySpread"),
    },
    "affinity": {"podAffinity": _AFFINITY, "podAntiAffinity": _AFFINITY},
}
_CONTAINER: Tree = {
    "resizePolicy": Gate(27, gates.RESIZE_POLICY, "InPlacePodVerticalScaling"),
    "restartPolicyRules": Gate(34, gates.CONTAINER_RESTART_RULES, "ContainerRestartRules"),
    "securityContext": {"procMount": Gate(25, gates.PROC_MOUNT, "ProcMountType")},
    "resources": {"claims": _CLAIMS},
    "volumeMounts": {
        "recursiveReadOnly": Gate(30, gates.RECURSIVE_READ_ONLY, "RecursiveReadOnlyMounts"),
        "bindMountOptions": Gate(37, gates.NEVER, "VolumeBindMountOptions"),
    },
    "env": {"valueFrom": {"fileKeyRef": Gate(34, gates.ENV_FILES, "EnvFiles")}},
    "lifecycle": {
        "stopSignal": Gate(gates.KNOWS_STOP_SIGNAL, gates.NEVER, "ContainerStopSignals"),
        "postStart": _HOOK,
        "preStop": _HOOK,
    },
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _PROBE),
}


@cache
def dropped_by(version: int) -> tuple[Tree, Tree]:
    """Return what Kubernetes 1.`version` takes out of a Pod's `spec`, and out of each of its containers."""
    return _pruned(_SPEC, version), _pruned(_CONTAINER, version)


def _pruned(tree: Tree, version: int) -> Tree:
    """Return the part of the tree that this version takes out."""
    kept: Tree = {}
    for field, below in tree.items():
        if isinstance(below, dict):
            if pruned := _pruned(below, version):
                kept[field] = pruned
        elif below.known <= version < below.on:
            kept[field] = below
    return kept
