"""What happens while the admission policies are in force: nothing is refused that should not be, and all that ends comes to its end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fcompile.commands.argocd.bundle import script
from fcompile.model import names
from fcontroller.api import Json, collection, path_of
from tests.argocd.lua import act, merge_patch
from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.cluster.test_kubelet import until
from tests.deploy import people
from tests.deploy.conftest import NAMESPACE, POLICIES, in_force
from tests.deploy.test_manifests import VARIANTS, arguments_of
from tests.deploy.test_rights import COMMAND, account, ask, controller, counts, edit, is_gone, role
from tests.drift.objects import build

RETRY = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": 1}}
DELETIONS = ("background", "foreground", "orphan")
"""Ways of deletion, each of a Framework of that name."""
ARGO_CD = {
    "client": ("--field-manager=argocd-controller",),
    "server": ("--server-side", "--force-conflicts", "--field-manager=argocd-controller"),
}
"""How Argo CD applies."""


def compiled(namespace: str, name: str, *roles: Json, **spec: Any) -> str:
    head = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": name, "namespace": namespace}}
    return build([{**head, "spec": {"taskRoles": list(roles), **spec}}])


def train(namespace: str, image: str) -> str:
    """Return a compiled Framework that retries a task of its role `a` once, and all of it once."""
    roles = [role("a", 2, task=RETRY), role("b", 1)]
    for each in roles:
        each["task"]["pod"]["spec"]["containers"][0]["image"] = image
    return compiled(namespace, "train", *roles, **RETRY)


def pods(cluster: Cluster, namespace: str) -> dict[str, str]:
    """Return the images of the Pods in a namespace, by their names."""
    found = ask(cluster, "GET", collection("pods", namespace))["items"]
    return {pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in found}


def status_of(cluster: Cluster, name: str) -> Json:
    found: Json = ask(cluster, "GET", path_of("frameworks", NAMESPACE, name))["status"]
    return found


@contextlib.contextmanager
def running(cluster: Cluster, repository: Path, folder: Path, variant: str) -> Iterator[None]:
    """A controller of a variant, as its own service account, and a kubelet where its people are."""
    home = VARIANTS[variant]
    manifests = list(yaml.safe_load_all(cluster.kubectl("kustomize", str(repository / "deploy" / variant)).stdout))
    command = [*COMMAND, *arguments_of(manifests, home), f"--kubeconfig={account(cluster, home, folder)}"]
    with controller(command):
        yield


def refused(cluster: Cluster, namespace: str) -> list[tuple[str, str]]:
    """Return who was refused something in a namespace, and why: all but people, and what begins in a namespace that ends."""
    answers = [event for event in cluster.audit_log() if event.get("responseStatus", {}).get("code") == 403]
    return [
        (event["user"]["username"], event["responseStatus"]["message"])
        for event in answers
        if event["objectRef"].get("namespace") == namespace
        and "impersonatedUser" not in event
        and "because it is being terminated" not in event["responseStatus"]["message"]
    ]


def verbs(cluster: Cluster, user: str, name: str) -> set[str]:
    """Return what a user has done to objects of a name."""
    return {event["verb"] for event in cluster.audit_log() if event["user"]["username"] == user and event["objectRef"].get("name") == name}


def as_user(cluster: Cluster, user: str, *arguments: str, namespace: str = NAMESPACE, **options: Any) -> str:
    """Return what kubectl prints for a user."""
    return cluster.kubectl("-n", namespace, "--as", people.ARGO_CD.get(user, user), *arguments, **options).stdout


def apply(cluster: Cluster, text: str, namespace: str = NAMESPACE) -> None:
    as_user(cluster, "author", "apply", "-f", "-", input=text, namespace=namespace)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_whole_life(policed: Cluster, repository: Path, tmp_path: Path, variant: str) -> None:
    framework, config_map = path_of("frameworks", NAMESPACE, "train"), path_of("configmaps", NAMESPACE, "train-attempt")

    with running(policed, repository, tmp_path, variant), Kubelet(policed.api, NAMESPACE) as kubelet:
        apply(policed, train(NAMESPACE, "a"))
        until(lambda: counts(policed, framework) == (3, 3))

        before = ask(policed, "GET", config_map)
        apply(policed, train(NAMESPACE, "b"))
        until(lambda: ask(policed, "GET", config_map)["data"] != before["data"])
        edit(policed, framework, "replace", "/spec/taskRoles/0/taskNumber", 3)
        until(lambda: counts(policed, framework) == (4, 4))

        kubelet.finish("train-a-0", exit_code=1)
        until(lambda: pods(policed, NAMESPACE).get("train-a-0") == "b")
        kubelet.finish("train-b-0", exit_code=1)
        until(lambda: status_of(policed, "train")["attemptStatus"]["id"] == 1 and counts(policed, framework) == (4, 4))
        assert set(pods(policed, NAMESPACE).values()) == {"b"}

        edit(policed, framework, "add", "/spec/executionType", "Stop")
        until(lambda: status_of(policed, "train")["state"] == "Completed")
        # None of the conditions that tell of trouble.
        assert {condition["type"] for condition in status_of(policed, "train")["conditions"]} == {
            "IntentReviewed",
            "PodsUpToDate",
            "Completed",
            "Succeeded",
        }
        as_user(policed, "author", "delete", "framework", "train", "--timeout=110s")
    assert refused(policed, NAMESPACE) == []


def test_what_is_deleted_goes(policed: Cluster, repository: Path, tmp_path: Path) -> None:
    """In each way, by who may delete it, and with a whole namespace."""
    with (
        running(policed, repository, tmp_path, ""),
        policed.namespace() as other,
        Kubelet(policed.api, NAMESPACE),
        Kubelet(policed.api, other),
    ):
        people.invite(policed, other)
        apply(policed, train(other, "a"), other)
        for name in DELETIONS:
            apply(policed, compiled(NAMESPACE, name, role("a", 1)))
        until(lambda: counts(policed, path_of("frameworks", other, "train")) == (3, 3))
        until(lambda: all(counts(policed, path_of("frameworks", NAMESPACE, name)) == (1, 1) for name in DELETIONS))

        ask(policed, "DELETE", f"/api/v1/namespaces/{other}")
        for name in DELETIONS:
            as_user(policed, "argocd", "delete", "framework", name, f"--cascade={name}", "--timeout=110s")
        until(lambda: pods(policed, NAMESPACE).keys() == {"orphan-a-0"})
        orphan = path_of("configmaps", NAMESPACE, "orphan-attempt")
        assert "ownerReferences" not in ask(policed, "GET", orphan)["metadata"]
        until(lambda: "patch" in verbs(policed, people.accounts(NAMESPACE)["collector"], "orphan-attempt"))
        as_user(policed, "config-maps", "delete", "configmap", "orphan-attempt", "--cascade=foreground", "--timeout=110s")
        assert is_gone(policed, path_of("pods", NAMESPACE, "orphan-a-0"))
        until(lambda: is_gone(policed, f"/api/v1/namespaces/{other}"))
    assert refused(policed, NAMESPACE) == refused(policed, other) == []


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("forged", ["document and owner", "owner"])
def test_what_was_forged_before_is_repaired(policed: Cluster, repository: Path, tmp_path: Path, variant: str, forged: str) -> None:
    """By a controller that starts when the policies are in force, with what the spec still says."""
    path = path_of("configmaps", NAMESPACE, "train-attempt")
    with Kubelet(policed.api, NAMESPACE):
        with running(policed, repository, tmp_path, variant):
            apply(policed, train(NAMESPACE, "reviewed"))
            until(lambda: counts(policed, path_of("frameworks", NAMESPACE, "train")) == (3, 3))
        stored = ask(policed, "GET", path)
        forgery: Json = {
            "data": {key: text.replace('"reviewed"', '"forged"') for key, text in stored["data"].items()},
            "metadata": {"ownerReferences": None, "labels": {names.FRAMEWORK_NAME: None}},
        }
        assert forgery["data"] != stored["data"]
        if forged == "owner":
            forgery = {"metadata": {"ownerReferences": None}}
        user = policed.api.impersonate("config-maps")
        assert user.request("PATCH", path, forgery)[0] == 403
        with warned_only(policed, repository):
            code, answer = user.request("PATCH", path, forgery)
            assert code == 200, answer["message"]
        ask(policed, "DELETE", path_of("pods", NAMESPACE, "train-a-0"))
        with running(policed, repository, tmp_path, variant):
            until(lambda: content(ask(policed, "GET", path)) == content(stored))
            until(lambda: "train-a-0" in pods(policed, NAMESPACE))
            assert set(pods(policed, NAMESPACE).values()) == {"reviewed"}
            assert user.request("PATCH", path, forgery)[0] == 403
            as_user(policed, "author", "delete", "framework", "train", "--timeout=110s")
            until(lambda: is_gone(policed, path))
            until(lambda: not pods(policed, NAMESPACE))
    assert refused(policed, NAMESPACE) == []


def content(config_map: Json) -> Json:
    """Return what the controller decides about in a ConfigMap."""
    metadata = {key: config_map["metadata"].get(key) for key in ("uid", "labels", "annotations", "ownerReferences")}
    return {**metadata, "data": config_map.get("data"), "binaryData": config_map.get("binaryData")}


@pytest.mark.parametrize("way", ARGO_CD.values(), ids=ARGO_CD)
def test_argo_cd(policed: Cluster, way: tuple[str, ...]) -> None:
    """It syncs with the rights of one account, and runs actions with those of another, which may not create Pods."""
    path = path_of("frameworks", NAMESPACE, "train")
    for image in ("a", "b"):
        as_user(policed, "argocd", "apply", *way, "-f", "-", input=train(NAMESPACE, image))
    live = ask(policed, "GET", path)
    assert live["spec"]["taskRoles"][1]["task"]["pod"]["spec"]["containers"][0]["image"] == "b"

    patch = merge_patch(live, act(script("actions/stop/action.lua"), live))
    patch.pop("status", None)
    server = policed.api.impersonate(people.ARGO_CD["argocd-server"])
    code, answer = server.request("PATCH", path, patch)
    assert code == 403
    assert f"{people.ARGO_CD['argocd-server']} may not create Pods in team-a. Get that right" in answer["message"]
    with granted(policed, people.ARGO_CD["argocd-server"]):
        until(lambda: people.may(server, NAMESPACE, "create", "pods"))
        code, answer = server.request("PATCH", path, patch)
        assert code == 200, answer["message"]
        assert answer["spec"]["executionType"] == "Stop"
    as_user(policed, "argocd", "delete", "framework", "train", "--cascade=foreground", "--timeout=110s")


@contextlib.contextmanager
def granted(cluster: Cluster, user: str) -> Iterator[None]:
    """The right to create Pods."""
    cluster.kubectl("-n", NAMESPACE, "create", "role", "framework-actions", "--verb=create", "--resource=pods")
    cluster.kubectl("-n", NAMESPACE, "create", "rolebinding", "framework-actions", "--role=framework-actions", f"--user={user}")
    yield
    cluster.kubectl("-n", NAMESPACE, "delete", "role,rolebinding", "framework-actions")


KUBECTL = {
    "apply": ("apply", "-f", "-"),
    "apply on the server": ("apply", "--server-side", "-f", "-"),
    "create": ("create", "-f", "-"),
    "replace": ("replace", "-f", "-"),
    "patch": ("patch", "framework", "there", "--type=merge", "-p", '{"spec":{"executionType":"Stop"}}'),
    "annotate": ("annotate", "framework", "there", f"{names.GROUP}/restart=now"),
}
MANAGED = {"managedBy": "kueue.x-k8s.io/multikueue"}
"""Of a Framework that no controller here runs."""


@pytest.fixture(scope="module")
def existing(policed: Cluster) -> Iterator[None]:
    """A Framework and a ConfigMap of it."""
    apply(policed, compiled(NAMESPACE, "there", role("a", 1), **MANAGED))
    uid = ask(policed, "GET", path_of("frameworks", NAMESPACE, "there"))["metadata"]["uid"]
    owner = {"apiVersion": names.API_VERSION, "kind": names.KIND, "name": "there", "uid": uid, "controller": True}
    config_map = {"metadata": {"name": "there-attempt", "ownerReferences": [owner]}, "data": {"digest": "a"}}
    ask(policed, "POST", collection("configmaps", NAMESPACE), config_map)
    yield
    ask(policed, "DELETE", path_of("frameworks", NAMESPACE, "there"))


@pytest.mark.usefixtures("existing")
@pytest.mark.parametrize("how", KUBECTL)
def test_kubectl_says_what_to_do(policed: Cluster, how: str) -> None:
    text = compiled(NAMESPACE, "there" if how in ("apply", "replace") else "new", role("a", 2), **MANAGED)
    done = policed.kubectl("-n", NAMESPACE, "--as=no-pods", *KUBECTL[how], input=text, check=False)
    assert done.returncode == 1
    remedy = "and no-pods may not create Pods in team-a. Get that right, or let somebody who has it apply the change\n"
    assert done.stderr.endswith(remedy), done.stderr


@pytest.mark.usefixtures("existing")
def test_what_is_not_ours_is_free(policed: Cluster) -> None:
    as_user(policed, "no-pods", "label", "framework", "there", "team=a")
    as_user(policed, "no-pods", "annotate", "framework", "there", "example.com/owner=a")
    as_user(policed, "config-maps", "label", "configmap", "there-attempt", "team=a")
    as_user(policed, "config-maps", "create", "configmap", "other", "--from-literal=a=b")
    as_user(policed, "config-maps", "delete", "configmap", "other")
    # Another kind of the group is not ours, if there will be one.
    owner = {"apiVersion": names.API_VERSION, "kind": "Another", "name": "a", "uid": "a", "controller": True}
    another = {"metadata": {"name": "another", "ownerReferences": [owner]}}
    user = policed.api.impersonate("config-maps")
    code, answer = user.request("POST", collection("configmaps", NAMESPACE), another, {"dryRun": "All"})
    assert code == 201, answer["message"]


@pytest.mark.usefixtures("existing")
def test_nothing_is_too_large_for_the_controller(policed: Cluster) -> None:
    """The server goes through a map in the square of its length. So others may not have long ones looked through."""
    path = path_of("configmaps", NAMESPACE, "there-attempt")
    controller = policed.api.impersonate(people.accounts(NAMESPACE)["controller"])
    user = policed.api.impersonate("config-maps")
    many = ask(policed, "GET", path)
    many["metadata"]["annotations"] = {f"a{number}": "" for number in range(20_000)}
    many["data"] = {"intent.json": "a" * 500_000}
    assert controller.request("PUT", path, many, {"dryRun": "All"})[0] == 200
    code, answer = user.request("PUT", path, {**many, "data": {"digest": "a"}}, {"dryRun": "All"})
    assert (code, "annotations FC_*" in answer["message"]) == (403, True)
    # A reference to a Framework cannot be hidden among too many others.
    hidden = {"metadata": {"name": "new", "ownerReferences": [*owners(1001), *many["metadata"]["ownerReferences"]]}}
    assert user.request("POST", collection("configmaps", NAMESPACE), hidden, {"dryRun": "All"})[0] == 403
    # So many that they cannot be looked through: not a reason to refuse what the garbage collector does.
    code, answer = controller.request(
        "POST", collection("configmaps", NAMESPACE), {"metadata": {"name": "new", "ownerReferences": owners(9000)}}, {"dryRun": "All"}
    )
    assert code == 201, answer["message"]


def owners(count: int) -> list[Json]:
    """Return references to Secrets."""
    return [{"apiVersion": "v1", "kind": "Secret", "name": "a", "uid": f"a{number}"} for number in range(count)]


@pytest.mark.usefixtures("existing")
@pytest.mark.parametrize(("user", "resource", "name"), [("config-maps", "configmaps", "there-attempt"), ("no-pods", "frameworks", "there")])
def test_many_annotations_are_no_way_in_and_no_obstacle(policed: Cluster, user: str, resource: str, name: str) -> None:
    path, api = path_of(resource, NAMESPACE, name), policed.api.impersonate(user)
    many = {f"a{number}": "" for number in range(20_000)}
    code, answer = api.request("PATCH", path, {"metadata": {"annotations": many}}, {"dryRun": "All"})
    assert (code, f"{names.GROUP}/* of " in answer["message"]) == (403, True), answer["message"]
    ask(policed, "PATCH", path, {"metadata": {"annotations": many}})
    code, answer = api.request("PATCH", path, {"metadata": {"labels": {"team": "b"}}}, {"dryRun": "All"})
    assert code == 200, answer["message"]
    ask(policed, "PATCH", path, {"metadata": {"annotations": dict.fromkeys(many)}})


def test_in_the_namespace_of_a_controller_its_account_is_everybodys(policed: Cluster) -> None:
    """Who may create Pods there can run them as it, and the role `edit` can take its token: docs/security.md says so."""
    token = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/fcontroller/token"
    code, answer = policed.api.impersonate("edit").request("POST", token, {"spec": {}})
    assert code == 201, answer
    assert policed.api.impersonate("author").request("POST", token, {"spec": {}})[0] == 403


@contextlib.contextmanager
def warned_only(cluster: Cluster, repository: Path) -> Iterator[None]:
    """The policies refuse nothing."""
    folder = repository / "deploy" / "policies"
    cluster.kubectl("apply", "--server-side", "-k", str(folder / "warn"))
    until(lambda: not in_force(cluster))
    yield
    cluster.kubectl("apply", "--server-side", "-k", str(folder))
    until(lambda: in_force(cluster) == POLICIES)


@pytest.mark.usefixtures("existing")
def test_they_can_be_tried_with_warnings(policed: Cluster, repository: Path) -> None:
    patch = ("patch", "configmap", "there-attempt", "--type=merge", "-p", '{"data":{"digest":"b"}}')
    with warned_only(policed, repository):
        done = policed.kubectl("-n", NAMESPACE, "--as=config-maps", *patch)
        warning = (
            "Warning: Validation failed for ValidatingAdmissionPolicy 'fcontroller-configmaps' with binding 'fcontroller-configmaps': "
        )
        assert done.stderr.startswith(warning + "data, ")
        until(lambda: any("validation.policy.admission.k8s.io/validation_failure" in event["annotations"] for event in patches(policed)))


def patches(cluster: Cluster) -> list[Json]:
    """Return what the audit log has about patches of a ConfigMap by a user."""
    events = [event for event in cluster.audit_log() if event["verb"] == "patch" and "impersonatedUser" in event]
    return [event for event in events if event["objectRef"].get("name") == "there-attempt"]
