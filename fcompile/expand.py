"""From the intent to the objects: the attempt's ConfigMap, the Services, and the Pod of each task.

The compiler expands without the cluster's values and gets the expected manifests; the controller expands the same intent with
them and gets what it creates. `LEFT_OUT` is the whole difference between the two.
"""

from __future__ import annotations

from typing import Any

from fcompile.emit.json import canonical
from fcompile.lower.environment import ClusterValues, add_cluster_env, with_containers
from fcompile.lower.intent import Intent, Role
from fcompile.lower.placeholders import substitute, task_values
from fcompile.lower.quantities import canonical_quantities
from fcompile.model import names
from fcompile.schema.pod_schemas import POD_TEMPLATE

LEFT_OUT = (
    ("Pod", "metadata.ownerReferences", ("of the attempt's ConfigMap",), "its uid"),
    ("Pod", "metadata.annotations", names.CLUSTER_NAMES, "a uid or attempt id"),
    ("Pod", "env of every container and init container", names.CLUSTER_NAMES, "a uid or attempt id"),
    ("Pod", "env of every container and init container", (names.TASK_ATTEMPT_INSTANCE_UID,), "the attempt id"),
    ("ConfigMap", "metadata.ownerReferences", ("of the Framework",), "its uid"),
    ("ConfigMap", "metadata.annotations", names.CLUSTER_NAMES[:2], "a uid or attempt id"),
    ("ConfigMap", "binaryData", (), "a compressed intent: its bytes depend on the compressor; the digest vouches for its content"),
    ("Service", "metadata.ownerReferences", ("of the Framework",), "its uid"),
)
"""What only the cluster can know, as (kind, field, which of it, why): left out of the expected manifests, never replaced by a placeholder.
Whatever the API server itself adds to an object (defaults, uid, times, status, managed fields) is not in them either."""

INTENT_KEY = "intent.json"
DIGEST_KEY = "digest"
PLAIN_INTENT_BYTES = 512 * 1024
"""Up to this size the ConfigMap holds the intent as plain JSON, beyond it gzipped under `intent.json.gz` in `binaryData`."""


def config_map(intent: Intent, namespace: str, document: bytes | None = None) -> dict[str, Any]:
    """Return the ConfigMap that stands for an attempt and holds its intent.

    :param document: the canonical JSON of the intent's, where it is at hand.
    """
    name = names.config_map_name(intent.framework)
    document = canonical(intent.document()) if document is None else document
    data = {DIGEST_KEY: intent.digest}
    if len(document) <= PLAIN_INTENT_BYTES:
        data[INTENT_KEY] = document.decode()
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {
                names.CONFIGMAP_NAME: name,
                names.FRAMEWORK_NAME: intent.framework,
                names.FRAMEWORK_NAMESPACE: namespace,
            },
            "labels": {names.FRAMEWORK_NAME: intent.framework},
            # The garbage collector removes the ConfigMap only when its Pods are gone, so no two attempts overlap.
            "finalizers": ["foregroundDeletion"],
        },
        "data": data,
    }


def service(role: Role, namespace: str) -> dict[str, Any] | None:
    """Return the role's Service, or None."""
    made: dict[str, Any] | None = substitute(role.service, {names.FRAMEWORK_NAMESPACE: namespace})
    return made


def pod(role: Role, namespace: str, index: int | str, cluster: ClusterValues | None = None) -> dict[str, Any]:
    """Return the Pod of one task: with `cluster` as the controller creates it, without it as it was reviewed."""
    # Again for each task, since an amount may depend on the index: `102{{FC_TASK_INDEX}}Mi` is 1Gi for task 4.
    made = canonical_quantities(substitute(role.pod, task_values(namespace, index, role.sums)), POD_TEMPLATE)
    return made if cluster is None else _with_cluster(made, cluster)


def _with_cluster(reviewed: dict[str, Any], cluster: ClusterValues) -> dict[str, Any]:
    """Return a Pod with the cluster's values. The reviewed Pod may share parts with the intent, and is not changed."""
    metadata = reviewed["metadata"]
    spec = with_containers(reviewed["spec"], lambda container: {**container, "env": add_cluster_env(container["env"], cluster)})
    return {**reviewed, "metadata": {**metadata, "annotations": {**metadata["annotations"], **cluster.annotations()}}, "spec": spec}
