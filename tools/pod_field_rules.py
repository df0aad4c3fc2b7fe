"""What Kubernetes' published schemas do not say of the fields of a Pod: closed sets of values, forms of strings, bounds, and what the
API server insists on. Kept by hand, from the constants and validation functions of Kubernetes 1.25 to 1.37; `pod_schemas.py` merges it.

A rule is what the API server does with its default feature gates. A list of rules holds one for each range of versions. Only what can
be said of one field alone is here: rules over several fields are in `fcompile/check/rules/pod`.
"""

from __future__ import annotations

from typing import Any

Rule = dict[str, Any]

INT32_MAX = 2**31 - 1
# The API server has no such bounds. They are ours, so that it can tell what the rules of our CRD may cost, and nobody meets them.
MAX_CONTAINERS = 64
MAX_VOLUMES = 256
MAX_VOLUMES_BEFORE_1_29 = 200  # Kubernetes 1.28 takes a rule that counts sources for half as costly again, and refused the definition.
MAX_TOLERATIONS = 128
PROTOCOLS = ["TCP", "UDP", "SCTP"]
PULL_POLICIES = ["Always", "IfNotPresent", "Never"]
SELECTOR_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"]
LABEL_OPERATORS = SELECTOR_OPERATORS
NODE_OPERATORS = [*SELECTOR_OPERATORS, "Gt", "Lt"]
PROFILE_TYPES = ["RuntimeDefault", "Localhost", "Unconfined"]
SIGNALS = [
    *(f"SIG{name}" for name in ("ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL", "PIPE")),
    *(f"SIG{name}" for name in ("POLL", "PROF", "PWR", "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU")),
    *(f"SIG{name}" for name in ("URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ", "RTMIN")),
    *(f"SIGRTMIN+{number}" for number in range(1, 16)),
    *(f"SIGRTMAX-{number}" for number in range(14, 0, -1)),
    "SIGRTMAX",
]

NEEDED: Rule = {"required": True}
LABEL: Rule = {"format": "dns-label"}
SUBDOMAIN: Rule = {"format": "dns-subdomain"}
PORT: Rule = {"minimum": 1, "maximum": 65535}
PORT_OR_NAME: Rule = {"required": True, **PORT, "format": "port-name"}
FILE_MODE: Rule = {"minimum": 0, "maximum": 0o777, "format": "file-mode"}
USER_ID: Rule = {"minimum": 0, "maximum": INT32_MAX}
SECONDS: Rule = {"minimum": 0}
WEIGHT: Rule = {"minimum": 1, "maximum": 100}
LOCAL_PATH: Rule = {"format": "local-path"}
ENV_NAME: list[Rule] = [
    {"required": True, "format": "env-name", "until": 31},
    {"required": True, "format": "relaxed-env-name", "since": 32},
]
IP: list[Rule] = [{"required": True, "format": "ip", "until": 35}, {"required": True, "format": "strict-ip", "since": 36}]
FILE_USER = USER_ID
LABELS: Rule = {"keys": "label-key", "format": "label-value"}
ONLY_LABELS: Rule = {"forbidden": "only `labels` and `annotations` may be set for the claim"}


def since(version: int, rule: Rule) -> list[Rule]:
    """A rule for a field behind a feature gate. Before the version that has the gate on by default, the API server drops the field whatever
    it holds."""
    return [{"until": version - 1}, {**rule, "since": version}]


INCLUSION = since(26, {"enum": ["Honor", "Ignore"], "nonempty": True})


def _container(kind: str) -> dict[str, Rule | list[Rule]]:
    return {
        f"{kind}.name": {**NEEDED, **LABEL},
        f"{kind}.image": {**NEEDED, "format": "image"},
        f"{kind}.imagePullPolicy": {"enum": PULL_POLICIES},
        f"{kind}.terminationMessagePolicy": {"enum": ["File", "FallbackToLogsOnError"]},
        # 1.34 drops all but that of sidecars, whatever it says.
        f"{kind}.restartPolicy": [
            {"until": 28},
            {"enum": ["Always"], "nonempty": True, "since": 29, "until": 33},
            {"since": 34, "until": 34},
            {"enum": ["Always", ["Never", 35], ["OnFailure", 35]], "nonempty": True, "since": 35},
        ],
        f"{kind}.restartPolicyRules": {"max_items": 20},
    }


RULES: dict[str, Rule | list[Rule]] = {
    # Templates and metadata
    "PodTemplateSpec.spec": NEEDED,
    "ObjectMeta.labels": LABELS,
    "ObjectMeta.annotations": {"keys": "annotation-key"},
    "ObjectMeta.finalizers": {"format": "label-key"},
    "ObjectMeta.creationTimestamp": {"format": "date-time"},
    "ObjectMeta.deletionTimestamp": {"format": "date-time"},
    "ObjectMeta.resourceVersion": {"forbidden": "the API server sets it, and refuses a new object that has one"},
    "ManagedFieldsEntry.time": {"format": "date-time"},
    "LabelSelector.matchLabels": LABELS,
    "LabelSelectorRequirement.key": {**NEEDED, "format": "label-key"},
    "LabelSelectorRequirement.operator": {**NEEDED, "enum": LABEL_OPERATORS},
    "LabelSelectorRequirement.values": [{"until": 25}, {"since": 26, "format": "label-value"}],
    # The Pod
    "PodSpec.containers": {**NEEDED, "max_items": MAX_CONTAINERS},
    "PodSpec.initContainers": {"max_items": MAX_CONTAINERS},
    "PodSpec.volumes": [{"max_items": MAX_VOLUMES_BEFORE_1_29, "until": 28}, {"max_items": MAX_VOLUMES, "since": 29}],
    "PodSpec.tolerations": {"max_items": MAX_TOLERATIONS},
    "PodSpec.ephemeralContainers": {"forbidden": "a Pod cannot be created with it; `kubectl debug` adds such containers to a running Pod"},
    "PodSpec.activeDeadlineSeconds": {"minimum": 1, "maximum": INT32_MAX},
    "PodSpec.dnsPolicy": {"enum": ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]},
    "PodSpec.restartPolicy": {"enum": ["Always", "OnFailure", "Never"]},
    "PodSpec.preemptionPolicy": {"enum": ["PreemptLowerPriority", "Never"], "nonempty": True},
    "PodSpec.hostname": LABEL,
    "PodSpec.subdomain": LABEL,
    "PodSpec.hostnameOverride": since(35, {"format": "hostname", "nonempty": True}),
    "PodSpec.nodeName": SUBDOMAIN,
    "PodSpec.nodeSelector": LABELS,
    "PodSpec.priorityClassName": SUBDOMAIN,
    "PodSpec.runtimeClassName": {**SUBDOMAIN, "nonempty": True},
    "PodSpec.evictionResponders": {"max_items": 10},
    "PodSpec.serviceAccountName": SUBDOMAIN,
    "PodOS.name": {**NEEDED, "enum": ["linux", "windows"]},
    "PodReadinessGate.conditionType": {**NEEDED, "format": "label-key"},
    "PodSchedulingGate.name": {**NEEDED, "format": "label-key"},
    "PodDNSConfig.nameservers": [
        {"format": "ip", "max_items": 3, "until": 35},
        {"format": "strict-ip", "max_items": 3, "since": 36},
    ],
    "PodDNSConfig.searches": [
        {"format": "dns-search", "max_items": 32, "until": 32},
        {"format": "relaxed-dns-search", "max_items": 32, "since": 33},
    ],
    "PodDNSConfigOption.name": NEEDED,
    "HostAlias.ip": IP,
    "HostAlias.hostnames": SUBDOMAIN,
    "PodResourceClaim.name": since(34, {**NEEDED, **LABEL}),
    "PodResourceClaim.resourceClaimName": since(34, {**SUBDOMAIN, "nonempty": True}),
    "PodResourceClaim.resourceClaimTemplateName": since(34, {**SUBDOMAIN, "nonempty": True}),
    "LocalObjectReference.name": {"default": ""},
    # Scheduling
    "Toleration.key": {"format": "label-key"},
    "Toleration.operator": {"enum": ["Equal", "Exists"]},
    "Toleration.effect": {"enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
    "NodeSelector.nodeSelectorTerms": NEEDED,
    "NodeSelectorRequirement.key": {**NEEDED, "format": "label-key"},
    "NodeSelectorRequirement.operator": {**NEEDED, "enum": NODE_OPERATORS},
    "PreferredSchedulingTerm.weight": {**NEEDED, **WEIGHT},
    "WeightedPodAffinityTerm.weight": {**NEEDED, **WEIGHT},
    "WeightedPodAffinityTerm.podAffinityTerm": NEEDED,
    "PodAffinityTerm.topologyKey": {**NEEDED, "format": "label-key"},
    "PodAffinityTerm.namespaces": LABEL,
    "PodAffinityTerm.matchLabelKeys": since(31, {"format": "label-key"}),
    "PodAffinityTerm.mismatchLabelKeys": since(31, {"format": "label-key"}),
    "TopologySpreadConstraint.maxSkew": {**NEEDED, "minimum": 1},
    "TopologySpreadConstraint.topologyKey": NEEDED,
    "TopologySpreadConstraint.whenUnsatisfiable": {**NEEDED, "enum": ["DoNotSchedule", "ScheduleAnyway"]},
    "TopologySpreadConstraint.minDomains": since(27, {"minimum": 1}),
    "TopologySpreadConstraint.nodeAffinityPolicy": INCLUSION,
    "TopologySpreadConstraint.nodeTaintsPolicy": INCLUSION,
    "TopologySpreadConstraint.matchLabelKeys": since(27, {"format": "label-key"}),
    # Security
    "PodSecurityContext.fsGroup": USER_ID,
    "PodSecurityContext.fsGroupChangePolicy": {"enum": ["OnRootMismatch", "Always"], "nonempty": True},
    "PodSecurityContext.runAsGroup": USER_ID,
    "PodSecurityContext.runAsUser": USER_ID,
    "PodSecurityContext.seLinuxChangePolicy": since(33, {"enum": [["MountOption", 37], "Recursive"], "nonempty": True}),
    "PodSecurityContext.supplementalGroups": USER_ID,
    "PodSecurityContext.supplementalGroupsPolicy": since(33, {"enum": ["Merge", "Strict"], "nonempty": True}),
    "SecurityContext.procMount": since(33, {"enum": ["Default", "Unmasked"], "nonempty": True}),
    "SecurityContext.runAsGroup": USER_ID,
    "SecurityContext.runAsUser": USER_ID,
    "SeccompProfile.type": {**NEEDED, "enum": PROFILE_TYPES},
    "AppArmorProfile.type": {**NEEDED, "enum": PROFILE_TYPES},
    "Sysctl.name": {**NEEDED, "format": "sysctl"},
    "WindowsSecurityContextOptions.gmsaCredentialSpecName": {**SUBDOMAIN, "nonempty": True},
    # Containers
    **_container("Container"),
    "ContainerPort.containerPort": {**NEEDED, **PORT},
    "ContainerPort.hostPort": {"minimum": 0, "maximum": 65535},
    "ContainerPort.name": {"format": "port-name"},
    "ContainerPort.protocol": {"enum": PROTOCOLS, "default": "TCP"},
    "EnvVar.name": ENV_NAME,
    "FileKeySelector.key": since(35, {**NEEDED, "format": "relaxed-env-name"}),
    "FileKeySelector.path": since(35, {**NEEDED, "format": "no-backsteps"}),
    "FileKeySelector.volumeName": since(35, {**NEEDED, **LABEL}),
    "EnvFromSource.prefix": [{"format": "env-name", "until": 31}, {"format": "relaxed-env-name", "since": 32}],
    "ConfigMapEnvSource.name": {**NEEDED, "format": "dns-prefix"},
    "SecretEnvSource.name": {**NEEDED, "format": "dns-prefix"},
    "ConfigMapKeySelector.name": {**NEEDED, **SUBDOMAIN},
    "ConfigMapKeySelector.key": {**NEEDED, "format": "config-key"},
    "SecretKeySelector.name": {**NEEDED, **SUBDOMAIN},
    "SecretKeySelector.key": {**NEEDED, "format": "config-key"},
    # A server-side diff takes these objects and `projected.sources` whole: what the API server fills into them must be there before.
    "ObjectFieldSelector.apiVersion": {"default": "v1"},
    "ResourceFieldSelector.divisor": {"default": "0"},
    "ObjectFieldSelector.fieldPath": NEEDED,
    "ResourceFieldSelector.resource": NEEDED,
    "VolumeMount.name": NEEDED,
    "VolumeMount.mountPath": NEEDED,
    "VolumeMount.subPath": {"format": "relative-path"},
    "VolumeMount.subPathExpr": {"format": "relative-path"},
    "VolumeMount.mountPropagation": {"enum": ["None", "HostToContainer", "Bidirectional"], "nonempty": True},
    "VolumeMount.recursiveReadOnly": since(31, {"enum": ["Disabled", "IfPossible", "Enabled"], "nonempty": True}),
    "VolumeMount.bindMountOptions": {"enum": ["noexec", "nodev", "nosuid"]},
    "VolumeDevice.name": NEEDED,
    "VolumeDevice.devicePath": {**NEEDED, "format": "no-backsteps"},
    "ContainerResizePolicy.resourceName": since(33, {**NEEDED, "enum": ["cpu", "memory"]}),
    "ContainerResizePolicy.restartPolicy": since(33, {**NEEDED, "enum": ["NotRequired", "RestartContainer"]}),
    "ContainerRestartRule.action": since(35, {**NEEDED, "enum": ["Restart", ["RestartAllContainers", 36]]}),
    "ContainerRestartRule.exitCodes": since(35, NEEDED),
    "ContainerRestartRuleOnExitCodes.operator": since(35, {**NEEDED, "enum": ["In", "NotIn"]}),
    "ContainerRestartRuleOnExitCodes.values": since(35, {"max_items": 255}),
    "ResourceClaim.name": since(34, NEEDED),
    # Probes and handlers
    "Probe.initialDelaySeconds": SECONDS,
    "Probe.timeoutSeconds": SECONDS,
    "Probe.periodSeconds": SECONDS,
    "Probe.successThreshold": SECONDS,
    "Probe.failureThreshold": SECONDS,
    "Probe.terminationGracePeriodSeconds": {"minimum": 1},
    "ExecAction.command": NEEDED,
    "HTTPGetAction.port": PORT_OR_NAME,
    "HTTPGetAction.scheme": {"enum": ["HTTP", "HTTPS"]},
    "HTTPGetAction.protocol": {"enum": ["HTTP1", "HTTP2"], "nonempty": True},
    "HTTPHeader.name": {**NEEDED, "format": "http-header-name"},
    "TCPSocketAction.port": PORT_OR_NAME,
    "GRPCAction.port": {**NEEDED, **PORT},
    "GRPCAction.mode": {"enum": ["Plaintext", "TLS"], "nonempty": True},
    "SleepAction.seconds": [{"until": 29}, {"minimum": 1, "since": 30, "until": 32}, {"minimum": 0, "since": 33}],
    "Lifecycle.stopSignal": {"enum": SIGNALS, "nonempty": True},
    # Volumes
    "Volume.name": {**NEEDED, **LABEL},
    "ImageVolumeSource.reference": since(35, NEEDED),
    "ImageVolumeSource.pullPolicy": since(35, {"enum": PULL_POLICIES}),
    "EmptyDirVolumeSource.mode": {"minimum": 0, "maximum": 1023},
    "HostPathVolumeSource.path": {**NEEDED, "format": "no-backsteps"},
    "HostPathVolumeSource.type": {
        "enum": ["", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"],
        "nonempty": True,
    },
    "SecretVolumeSource.secretName": NEEDED,
    "SecretVolumeSource.defaultMode": FILE_MODE,
    "SecretVolumeSource.defaultUser": FILE_USER,
    "ConfigMapVolumeSource.name": NEEDED,
    "ConfigMapVolumeSource.defaultMode": FILE_MODE,
    "ConfigMapVolumeSource.defaultUser": FILE_USER,
    "DownwardAPIVolumeSource.defaultMode": FILE_MODE,
    "DownwardAPIVolumeSource.defaultUser": FILE_USER,
    "ProjectedVolumeSource.defaultMode": FILE_MODE,
    "ProjectedVolumeSource.defaultUser": FILE_USER,
    "KeyToPath.key": NEEDED,
    "KeyToPath.path": {**NEEDED, **LOCAL_PATH},
    "KeyToPath.mode": FILE_MODE,
    "KeyToPath.user": FILE_USER,
    "DownwardAPIVolumeFile.path": {**NEEDED, **LOCAL_PATH},
    "DownwardAPIVolumeFile.mode": FILE_MODE,
    "DownwardAPIVolumeFile.user": FILE_USER,
    "SecretProjection.name": NEEDED,
    "ConfigMapProjection.name": NEEDED,
    "ServiceAccountTokenProjection.path": [{**NEEDED, "until": 29}, {**NEEDED, **LOCAL_PATH, "since": 30}],
    "ServiceAccountTokenProjection.expirationSeconds": {"minimum": 600, "maximum": 2**32, "default": 3600},
    "ServiceAccountTokenProjection.user": FILE_USER,
    "ClusterTrustBundleProjection.path": since(37, {**NEEDED, **LOCAL_PATH}),
    "ClusterTrustBundleProjection.user": FILE_USER,
    "PodCertificateProjection.keyType": since(
        37, {**NEEDED, "enum": ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"]}
    ),
    "PodCertificateProjection.signerName": since(37, NEEDED),
    "PodCertificateProjection.credentialBundlePath": LOCAL_PATH,
    "PodCertificateProjection.certificateChainPath": LOCAL_PATH,
    "PodCertificateProjection.keyPath": LOCAL_PATH,
    "PodCertificateProjection.maxExpirationSeconds": {"minimum": 3600, "maximum": 91 * 24 * 3600},
    "PodCertificateProjection.user": FILE_USER,
    "PersistentVolumeClaimVolumeSource.claimName": NEEDED,
    "NFSVolumeSource.server": NEEDED,
    "NFSVolumeSource.path": {**NEEDED, "format": "absolute-path"},
    "CSIVolumeSource.driver": {**NEEDED, "format": "csi-driver"},
    "GitRepoVolumeSource.repository": NEEDED,
    "GitRepoVolumeSource.directory": {"format": "relative-path"},
    "ISCSIVolumeSource.targetPortal": NEEDED,
    "ISCSIVolumeSource.iqn": {**NEEDED, "format": "iscsi-name"},
    "ISCSIVolumeSource.initiatorName": {"format": "iscsi-name", "nonempty": True},
    "ISCSIVolumeSource.lun": {"minimum": 0, "maximum": 255},
    "GCEPersistentDiskVolumeSource.pdName": NEEDED,
    "GCEPersistentDiskVolumeSource.partition": {"minimum": 0, "maximum": 255},
    "AWSElasticBlockStoreVolumeSource.volumeID": NEEDED,
    "AWSElasticBlockStoreVolumeSource.partition": {"minimum": 0, "maximum": 255},
    "AzureDiskVolumeSource.diskName": NEEDED,
    "AzureDiskVolumeSource.diskURI": NEEDED,
    "AzureDiskVolumeSource.cachingMode": {"enum": ["None", "ReadOnly", "ReadWrite"], "nonempty": True},
    "AzureDiskVolumeSource.kind": {"enum": ["Shared", "Dedicated", "Managed"], "nonempty": True},
    "AzureFileVolumeSource.secretName": NEEDED,
    "AzureFileVolumeSource.shareName": NEEDED,
    "CephFSVolumeSource.monitors": NEEDED,
    "RBDVolumeSource.monitors": NEEDED,
    "RBDVolumeSource.image": NEEDED,
    "CinderVolumeSource.volumeID": NEEDED,
    "FlexVolumeSource.driver": NEEDED,
    "GlusterfsVolumeSource.endpoints": NEEDED,
    "GlusterfsVolumeSource.path": NEEDED,
    "PhotonPersistentDiskVolumeSource.pdID": NEEDED,
    "PortworxVolumeSource.volumeID": NEEDED,
    "QuobyteVolumeSource.registry": NEEDED,
    "QuobyteVolumeSource.volume": NEEDED,
    "ScaleIOVolumeSource.gateway": NEEDED,
    "ScaleIOVolumeSource.system": NEEDED,
    "ScaleIOVolumeSource.volumeName": NEEDED,
    "StorageOSVolumeSource.volumeName": {**NEEDED, **LABEL},
    "StorageOSVolumeSource.volumeNamespace": LABEL,
    "VsphereVirtualDiskVolumeSource.volumePath": NEEDED,
    "EphemeralVolumeSource.volumeClaimTemplate": NEEDED,
    "PersistentVolumeClaimTemplate.spec": NEEDED,
    "PersistentVolumeClaimSpec.accessModes": {
        **NEEDED,
        "enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", ["ReadWriteOncePod", 27]],
    },
    "PersistentVolumeClaimSpec.storageClassName": SUBDOMAIN,
    "PersistentVolumeClaimSpec.volumeMode": {"enum": ["Filesystem", "Block"], "nonempty": True},
    "TypedLocalObjectReference.kind": NEEDED,
    "TypedLocalObjectReference.name": NEEDED,
    "TypedObjectReference.kind": NEEDED,
    "TypedObjectReference.name": NEEDED,
    "OwnerReference.apiVersion": NEEDED,
    "OwnerReference.kind": NEEDED,
    "OwnerReference.name": NEEDED,
    "OwnerReference.uid": NEEDED,
}
"""By `Type.field`."""

ONLY_LABELS_TYPE = ("PersistentVolumeClaimTemplate.metadata", "ObjectMeta", "ClaimMetadata", ("labels", "annotations"), ONLY_LABELS)
"""A field whose type is another one with all but a few fields forbidden: field, type, name of the new type, what is left, the rule."""
