"""Who meets the admission policies: people with exactly some rights in a namespace, and accounts that are there anyway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fcompile.model import names
from fcontroller.api import Json
from tests.cluster import Cluster
from tests.cluster.api import Api
from tests.cluster.test_kubelet import until

WRITE = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
GROUPS = {"frameworks": names.GROUP, "frameworks/status": names.GROUP, "*": "*"}
"""The API groups of resources that are not in the core one."""
ROLES: dict[str, dict[str, tuple[str, ...]]] = {
    "config-maps": {"configmaps": WRITE},
    "no-pods": {"frameworks": WRITE},
    "author": {"frameworks": WRITE, "pods": ("create",)},
    "status": {"frameworks/status": ("get", "update", "patch")},
    # As Argo CD's own roles for the cluster that it runs in: the server's, which runs resource actions, and that of what syncs.
    "argocd-server": {"*": ("get", "patch", "delete")},
    "argocd": {"*": ("*",)},
}
"""The rights of each user, by resource."""
ARGO_CD = {
    "argocd-server": "system:serviceaccount:argocd:argocd-server",
    "argocd": "system:serviceaccount:argocd:argocd-application-controller",
}
"""The user names of Argo CD's accounts."""
AGGREGATED = ("edit", "admin")
"""Users who have the role of that name, which other roles add to."""


def accounts(namespace: str) -> dict[str, str]:
    """Return the user names of the service accounts: Argo CD's, the controllers' and the garbage collector's."""
    of = "system:serviceaccount:"
    return {
        **ARGO_CD,
        "controller": f"{of}fcontroller:fcontroller",
        "namespaced": f"{of}{namespace}:fcontroller",
        "collector": f"{of}kube-system:generic-garbage-collector",
    }


def invite(cluster: Cluster, namespace: str) -> None:
    """Give each user his rights in a namespace, and wait until the server knows them."""
    manifests = [manifest for user in ROLES for manifest in _own_role(user)]
    aggregate = {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}
    rule = {"apiGroups": [names.GROUP], "resources": ["frameworks"], "verbs": list(WRITE)}
    manifests.append(_manifest("ClusterRole", {"name": "frameworks-edit", "labels": aggregate}, rules=[rule]))
    manifests += [_binding(user, "ClusterRole") for user in AGGREGATED]
    everything = {"apiVersion": "v1", "kind": "List", "items": manifests}
    cluster.kubectl("-n", namespace, "apply", "--server-side", "-f", "-", input=json.dumps(everything))
    for user in AGGREGATED:
        until(lambda user=user: may(cluster.api.impersonate(user), namespace, "update", "frameworks"))  # type: ignore[misc]


def may(user: Api, namespace: str, verb: str, resource: str) -> bool:
    """Return whether a user has a right, whatever policies say."""
    name, _, subresource = resource.partition("/")
    about = {"namespace": namespace, "verb": verb, "group": GROUPS.get(resource, ""), "resource": name, "subresource": subresource}
    review = {"spec": {"resourceAttributes": about}}
    code, answer = user.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    assert code == 201, answer
    allowed: bool = answer["status"]["allowed"]
    return allowed


def _own_role(user: str) -> Iterator[Json]:
    rules = [
        {"apiGroups": [GROUPS.get(resource, "")], "resources": [resource], "verbs": list(verbs)} for resource, verbs in ROLES[user].items()
    ]
    yield _manifest("Role", {"name": user}, rules=rules)
    yield _binding(user, "Role")


def _binding(user: str, kind: str) -> Json:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": user}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": ARGO_CD.get(user, user)}
    return _manifest("RoleBinding", {"name": user}, roleRef=reference, subjects=[subject])


def _manifest(kind: str, metadata: Json, **content: Any) -> Json:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, **content}
