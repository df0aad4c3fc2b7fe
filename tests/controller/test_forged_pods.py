"""Who may create Pods cannot have one counted as a task's that does something else than was reviewed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.api import Json, collection
from tests.decide.world import role_spec as role
from tests.safety.scenarios import runs
from tests.safety.world import NAMESPACE, World

SIDECAR = {"name": "x", "image": "y"}
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def _mounted(name: str, path: str, source: Json) -> Json:
    return {"container": {"volumeMounts": [{"name": name, "mountPath": path}]}, "spec": {"volumes": [{"name": name, **source}]}}


def _forge(world: World, change: Json) -> str:
    """Make the Pod of the second task as somebody would who has seen that of the first. Return its uid."""
    pod, uids = world.all("pods")["f-a-0"], [world.task("a", index)["instanceUID"] for index in (0, 1)]
    metadata = {key: pod["metadata"][key] for key in ("name", "labels", "annotations", "ownerReferences")}
    text = json.dumps({"metadata": metadata, "spec": pod["spec"]})
    forged = json.loads(text.replace("f-a-0", "f-a-1").replace(*uids))
    for kind in ("labels", "annotations"):
        forged["metadata"][kind][names.TASK_INDEX] = "1"
    container = forged["spec"]["containers"][0]
    for variable in container["env"]:
        if variable["name"] == names.TASK_INDEX:
            variable["value"] = "1"
        variable |= change.get("env", {}).get(variable["name"], {})
    container["env"].sort(key=lambda variable: variable["name"] in change.get("last", ()))
    container |= change.get("container", {})
    forged["metadata"]["annotations"] |= change.get("annotations", {})
    forged["spec"] |= change.get("spec", {})
    forged["spec"]["containers"] += change.get("containers", [])
    answer = world.server.write("POST", collection("pods", NAMESPACE), forged)
    assert answer.ok, answer.message
    return str(answer.body["metadata"]["uid"])


@pytest.mark.parametrize(
    ("change", "own"),
    [
        ({}, True),
        ({"container": {"command": ["true"]}}, False),
        ({"container": {"args": ["--help"]}}, False),
        ({"container": {"lifecycle": {"postStart": {"exec": {"command": ["kill", "1"]}}}}}, False),
        (_mounted("v", "/bin", {"emptyDir": {}}), False),
        (_mounted("kube-api-access-abcde", "/bin", {"configMap": {"name": "c"}}), False),
        (_mounted("kube-api-access-abcde", "/bin", {"projected": {"sources": [{"configMap": {"name": "c"}}]}}), False),
        # In the place of the service account's token.
        (_mounted("kube-api-access-abcde", TOKEN_PATH, {"projected": {"sources": [{"configMap": {"name": "c"}}]}}), False),
        # Commands may have these values in them, and they may become variables by the downward API.
        ({"env": {names.TASK_UID: {"value": "; exit 0"}}}, False),
        ({"env": {names.TASK_ATTEMPT_INSTANCE_UID: {"value": "; exit 0"}}}, False),
        ({"last": [names.TASK_UID]}, False),
        ({"annotations": {names.CONFIGMAP_UID: "; exit 0"}}, False),
        ({"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}}, False),
        ({"annotations": {"a": "b"}}, True),
        ({"containers": [SIDECAR]}, False),
        ({"spec": {"initContainers": [SIDECAR]}}, False),
        ({"spec": {"activeDeadlineSeconds": 1}}, False),
        ({"spec": {"hostPID": True}}, False),
        # As Kubernetes' own admission adds it.
        ({"container": {"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}}}, True),
        ({"spec": {"tolerations": [{"key": "k", "operator": "Exists"}], "nodeSelector": {"a": "b"}}}, True),
        ({"spec": {"imagePullSecrets": [{"name": "s"}], "priorityClassName": "usual"}}, True),
    ],
)
def test_only_what_was_reviewed_is_recognized(change: dict[str, Any], own: bool) -> None:
    with World() as world:
        world.make({"taskRoles": [role("a", 2, run="forever")]})
        world.until(lambda: len(world.all("pods")) == 1, step=0.001)
        world.die()  # The second one was not made.
        forged = _forge(world, change)
        world.start()
        runs(world, 2)
        assert (world.all("pods")["f-a-1"]["metadata"]["uid"] == forged) == own
