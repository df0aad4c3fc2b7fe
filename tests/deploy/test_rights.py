"""The controller works with the rights that deploy/ gives it, and uses every one of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fcompile.model import names
from fcontroller.act.client import from_kubeconfig
from fcontroller.api import Answer, Api, Json, collection, path_of
from fcontroller.demo.kubelet import Kubelet
from fcontroller.lease import Fenced, Lease
from tests.cluster import Cluster
from tests.controller import lab
from tests.controller.lab import PREFIX, Lab
from tests.decide.world import role_spec
from tests.deploy.test_manifests import VARIANTS

Right = tuple[str, str, str]
"""A group, a resource and a verb."""
ASKED_OF_THE_AUTHORIZER_ALONE = {
    ("frameworkcontroller.microsoft.com", "frameworks/finalizers", "update"),
    ("", "configmaps/finalizers", "update"),
}
"""The admission plugin OwnerReferencesPermissionEnforcement asks whether the user has them; no request uses them."""


class Meddled(Api):
    """An API server on which somebody else changes a Framework just before its status is written for the first time."""

    def __init__(self, api: Api, others: Api) -> None:
        self.api, self.others, self.done = api, others, False

    async def request(self, method: str, path: str, *arguments: Any, **options: Any) -> Answer:
        if path.endswith("/status") and not self.done:
            self.done = True
            patch = [{"op": "add", "path": "/metadata/labels", "value": {"team": "a"}}]
            assert (await self.others.request("PATCH", path.removesuffix("/status"), patch)).ok
        return await self.api.request(method, path, *arguments, **options)

    def watch(self, path: str, query: Any) -> Any:
        return self.api.watch(path, query)


@pytest.mark.parametrize(("variant", "home"), VARIANTS.items())
def test_granted_is_used(
    audited_cluster: Cluster, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str, home: str
) -> None:
    cluster, folder = audited_cluster, str(repository / "deploy" / variant)
    cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": home}}))
    cluster.kubectl("apply", "--server-side", "-k", folder)
    monkeypatch.setattr(lab, "SETTINGS", lab.SETTINGS._replace(completed_retention=1))
    with cluster.namespace() as other:
        lab.run(everything(cluster, account(cluster, home, tmp_path), home, home if variant else other, "" if not variant else home))
    granted = set(rights(yaml.safe_load_all(cluster.kubectl("kustomize", folder).stdout)))
    end = time.monotonic() + 10
    while (used := set(requests(cluster, home))) != granted - ASKED_OF_THE_AUTHORIZER_ALONE and time.monotonic() < end:
        time.sleep(0.1)
    assert granted - used == ASKED_OF_THE_AUTHORIZER_ALONE
    assert used - granted == set()


def account(cluster: Cluster, namespace: str, folder: Path) -> str:
    """A kubeconfig of the controller's service account."""
    token = cluster.kubectl("-n", namespace, "create", "token", "fcontroller").stdout
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"]["token"] = token
    (folder / "kubeconfig").write_text(json.dumps(config))
    return str(folder / "kubeconfig")


def rights(documents: Iterable[Any]) -> Iterable[Right]:
    """What the manifests allow the controller."""
    for document in documents:
        if document["metadata"]["name"] in ("fcontroller", "fcontroller-lease"):
            for rule in document.get("rules", ()):
                yield from ((group, what, verb) for group in rule["apiGroups"] for what in rule["resources"] for verb in rule["verbs"])


def requests(cluster: Cluster, namespace: str) -> Iterable[Right]:
    """What the controller has asked the server for."""
    for event in cluster.audit_log():
        if event["user"]["username"] == f"system:serviceaccount:{namespace}:fcontroller":
            about = event["objectRef"]
            what = f"{about['resource']}/{about['subresource']}" if "subresource" in about else about["resource"]
            yield about.get("apiGroup", ""), what, event["verb"]


async def everything(cluster: Cluster, kubeconfig: str, home: str, namespace: str, scope: str) -> None:
    """A controller's life in which all happens that it has rights for.

    :param home: the controller's namespace. :param namespace: the Frameworks'. :param scope: what it is told to follow.
    """
    ours, others = from_kubeconfig(kubeconfig), from_kubeconfig(str(cluster.kubeconfig))
    lease = Lease(ours, home, "fcontroller", "test", duration=3)
    made, users = Lab(Meddled(Fenced(ours, lease), others), scope, False), Lab(others, namespace, False)
    kubelet = asyncio.create_task(Kubelet(others, PREFIX, namespace=namespace).run())
    await lease.acquire()
    keeping = asyncio.create_task(lease.keep())
    made.start()
    try:
        await asyncio.gather(*(life(users) for life in (retried, unreviewed, rescaled, refused, served)))
    finally:
        await made.kill()
        for task in (kubelet, keeping):
            task.cancel()
        await lease.release()
        await ours.close()
        await others.close()


async def retried(users: Lab) -> None:
    retry = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 1}}
    await users.make("retried", {"taskRoles": [role_spec("a", 2, run="0.2", exits="1,0", task=retry, service={"ports": [{"port": 80}]})]})
    await gone(users, "retried")


async def unreviewed(users: Lab) -> None:
    head = {"apiVersion": names.API_VERSION, "kind": names.KIND}
    metadata = {"name": "unreviewed", "annotations": {names.DIGEST_ANNOTATION: "v1:sha256:0"}}
    body = {**head, "metadata": metadata, "spec": {"taskRoles": [role_spec("a", 1, run="0.2")]}}
    assert (await users.api.request("POST", collection("frameworks", users.namespace), body)).ok
    await gone(users, "unreviewed")


async def rescaled(users: Lab) -> None:
    await users.make("rescaled", {"taskRoles": [role_spec("a", 2)]})
    await users.until("rescaled", lambda status: status["taskCounts"]["running"] == 2)
    await users.edit("rescaled", "taskRoles/0/taskNumber", 1)
    await users.until("rescaled", lambda status: status["taskCounts"]["total"] == 1)
    await users.edit("rescaled", "executionType", "Stop")
    await gone(users, "rescaled")


async def refused(users: Lab) -> None:
    role: Json = role_spec("a", 1)
    role["task"]["pod"]["spec"]["containers"][0]["volumeMounts"] = [{"name": "nowhere", "mountPath": "/a"}]
    await users.make("refused", {"taskRoles": [role]})
    await gone(users, "refused")


async def served(users: Lab) -> None:
    """Of two Services one is somebody else's; ours is changed, and then not wanted any more."""
    theirs, ours = (path_of("services", users.namespace, f"served-{role}") for role in "ab")
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "served-a"}, "spec": {"clusterIP": "None"}}
    assert (await users.api.request("POST", collection("services", users.namespace), body)).ok
    await users.make("served", {"taskRoles": [role_spec(role, 1, service={}) for role in "ab"]})
    await users.until("served", lambda status: status["taskCounts"]["running"] == 2)
    patch: list[Json] = [{"op": "replace", "path": "/spec/selector/FC_TASKROLE_NAME", "value": "a"}]
    assert (await users.api.request("PATCH", ours, patch)).ok
    while (await users.api.request("GET", ours)).body["spec"]["selector"]["FC_TASKROLE_NAME"] != "b":
        await asyncio.sleep(0.1)
    patch = [{"op": "remove", "path": "/spec/taskRoles/1/service"}]
    assert (await users.api.request("PATCH", path_of("frameworks", users.namespace, "served"), patch)).ok
    while (await users.api.request("GET", ours)).ok:
        await asyncio.sleep(0.1)
    await users.edit("served", "executionType", "Stop")
    await gone(users, "served")
    assert (await users.api.request("DELETE", theirs)).ok


async def gone(users: Lab, name: str) -> None:
    """Wait until a Framework has completed, and was deleted since its time was up."""
    end = time.monotonic() + 60
    while (answer := await users.api.request("GET", path_of("frameworks", users.namespace, name))).code != 404:
        assert time.monotonic() < end, answer.body
        await asyncio.sleep(0.1)
