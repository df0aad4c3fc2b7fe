"""Who may change what while the admission policies are in force: each change by each user with each verb, on a real API server."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from fcompile.model import names
from fcontroller.api import Json, collection, path_of
from tests.argocd.lua import merge_patch
from tests.cluster import Cluster
from tests.cluster.api import Api
from tests.deploy import people
from tests.deploy.conftest import NAMESPACE
from tests.deploy.test_rights import role

# yes, no (refused by a policy), or - (he has no right to do that by any verb).
CONFIG_MAPS = """
                               config-maps  edit  admin  status  argocd-server  argocd  controller  namespaced  collector
create with the owner          no           no    no     -       -              yes     yes         yes         -
create without an owner        yes          yes   yes    -       -              yes     yes         yes         -
nothing                        yes          yes   yes    -       yes            yes     yes         yes         yes
data changed                   no           no    no     -       no             yes     yes         yes         yes
data added                     no           no    no     -       no             yes     yes         yes         yes
data gone                      no           no    no     -       no             yes     yes         yes         yes
binaryData added               no           no    no     -       no             yes     yes         yes         yes
immutable                      no           no    no     -       no             yes     yes         yes         yes
owner taken off                no           no    no     -       no             yes     yes         yes         yes
owner without control          no           no    no     -       no             yes     yes         yes         yes
owner and data                 no           no    no     -       no             yes     yes         yes         yes
owner added to another's       no           no    no     -       no             yes     yes         yes         yes
another owner beside           no           no    no     -       no             yes     yes         yes         yes
label FC_ changed              no           no    no     -       no             yes     yes         yes         yes
label FC_ added                no           no    no     -       no             yes     yes         yes         yes
label FC_ gone                 no           no    no     -       no             yes     yes         yes         yes
label of others                yes          yes   yes    -       yes            yes     yes         yes         yes
annotation FC_ changed         no           no    no     -       no             yes     yes         yes         yes
annotation FC_ added           no           no    no     -       no             yes     yes         yes         yes
annotation FC_ gone            no           no    no     -       no             yes     yes         yes         yes
annotation of the group        no           no    no     -       no             yes     yes         yes         yes
annotation of others           yes          yes   yes    -       yes            yes     yes         yes         yes
finalizer taken off            yes          yes   yes    -       yes            yes     yes         yes         yes
finalizer put on               yes          yes   yes    -       yes            yes     yes         yes         yes
all finalizers replaced        yes          yes   yes    -       yes            yes     yes         yes         yes
another's data                 yes          yes   yes    -       yes            yes     yes         yes         yes
delete                         yes          yes   yes    -       yes            yes     yes         yes         yes
"""
FRAMEWORKS = """
                               no-pods  author  edit  admin  status  argocd-server  argocd  controller  namespaced  collector
create                         no       yes     yes   yes    -       -              yes     -           -           -
nothing                        yes      yes     yes   yes    -       yes            yes     -           -           yes
tasks                          no       yes     yes   yes    -       no             yes     -           -           no
image                          no       yes     yes   yes    -       no             yes     -           -           no
stopped                        no       yes     yes   yes    -       no             yes     -           -           no
digest changed                 no       yes     yes   yes    -       no             yes     -           -           no
digest gone                    no       yes     yes   yes    -       no             yes     -           -           no
paused                         no       yes     yes   yes    -       no             yes     -           -           no
annotation of others           yes      yes     yes   yes    -       yes            yes     -           -           yes
label                          yes      yes     yes   yes    -       yes            yes     -           -           yes
owner                          yes      yes     yes   yes    -       yes            yes     -           -           yes
finalizer put on               yes      yes     yes   yes    -       yes            yes     -           -           yes
finalizer taken off            yes      yes     yes   yes    -       yes            yes     -           -           yes
status                         -        -       -     -      yes     yes            yes     yes         yes         yes
delete                         yes      yes     yes   yes    -       yes            yes     yes         yes         yes
"""
Change = Callable[[Json], object]
"""Changes an object."""
REMOVE: Any = object()


def at(*path: str | int, value: Any) -> Change:
    """Set a field, or remove it."""

    def change(found: Any) -> None:
        *parents, last = path
        for key in parents:
            if isinstance(found, dict):
                found.setdefault(key, {})
            found = found[key]
        if value is REMOVE:
            del found[last]
        else:
            found[last] = value

    return change


def both(*changes: Change) -> Change:
    return lambda found: [change(found) for change in changes]


def label(key: str, value: Any) -> Change:
    return at("metadata", "labels", key, value=value)


def annotation(key: str, value: Any) -> Change:
    return at("metadata", "annotations", key, value=value)


def finalizers(*names: str) -> Change:
    return at("metadata", "finalizers", value=list(names))


UNOWNED = "another's data", "owner added to another's"
"""Changes of a ConfigMap that no Framework controls."""
CONFIG_MAP_CHANGES: dict[str, Change] = {
    "nothing": lambda _: None,
    "data changed": at("data", "intent.json", value="{}"),
    "data added": at("data", "another", value=""),
    "data gone": at("data", value=REMOVE),
    "binaryData added": at("binaryData", value={"intent.json.gz": "AAAA"}),
    "immutable": at("immutable", value=True),
    "owner taken off": at("metadata", "ownerReferences", value=[]),
    "owner without control": at("metadata", "ownerReferences", 0, "controller", value=False),
    "owner and data": both(at("metadata", "ownerReferences", value=[]), at("data", "intent.json", value="{}")),
    "owner added to another's": both(
        at("metadata", "ownerReferences", 0, "controller", value=True), at("metadata", "ownerReferences", 1, "controller", value=False)
    ),
    "another owner beside": lambda found: found["metadata"]["ownerReferences"].append(
        {"apiVersion": "v1", "kind": "Secret", "name": "a", "uid": "a"}
    ),
    "label FC_ changed": label(names.FRAMEWORK_NAME, "another"),
    "label FC_ added": label("FC_ANOTHER", "a"),
    "label FC_ gone": label(names.FRAMEWORK_NAME, REMOVE),
    "label of others": label("fc_team", "a"),
    "annotation FC_ changed": annotation(names.FRAMEWORK_UID, "another"),
    "annotation FC_ added": annotation("FC_ANOTHER", "a"),
    "annotation FC_ gone": annotation(names.FRAMEWORK_UID, REMOVE),
    "annotation of the group": annotation(f"{names.GROUP}/another", "a"),
    "annotation of others": annotation(f"x.{names.GROUP}/another", "a"),
    "finalizer taken off": finalizers("foregroundDeletion"),
    "finalizer put on": finalizers("foregroundDeletion", "example.com/hold", "example.com/another"),
    "all finalizers replaced": finalizers("example.com/another"),
    "another's data": at("data", "key", value="another"),
}
FRAMEWORK_CHANGES: dict[str, Change] = {
    "nothing": lambda _: None,
    "tasks": at("spec", "taskRoles", 0, "taskNumber", value=2),
    "image": at("spec", "taskRoles", 0, "task", "pod", "spec", "containers", 0, "image", value="another"),
    "stopped": at("spec", "executionType", value="Stop"),
    "digest changed": annotation(names.DIGEST_ANNOTATION, "v1:sha256:1"),
    "digest gone": annotation(names.DIGEST_ANNOTATION, REMOVE),
    "paused": annotation(f"{names.GROUP}/pause", "true"),
    "annotation of others": annotation("argocd.argoproj.io/tracking-id", "a"),
    "label": label(names.FRAMEWORK_NAME, "a"),
    "owner": at("metadata", "ownerReferences", value=[{"apiVersion": "v1", "kind": "Secret", "name": "a", "uid": "a"}]),
    "finalizer put on": finalizers("example.com/hold", "example.com/another"),
    "finalizer taken off": finalizers(),
    "status": at("status", value={"state": "Completed"}),
}


def rows(table: str) -> dict[str, dict[str, str]]:
    """Return a table's verdicts, by change and user."""
    head, *lines = (line for line in table.splitlines() if line)
    users = head.split()
    width = head.index(users[0])
    return {line[:width].strip(): dict(zip(users, line[width:].split(), strict=True)) for line in lines}


class Attempt(NamedTuple):
    """A request, and the right that it takes."""

    how: str
    method: str
    path: str
    body: Any = None
    content_type: str = ""
    query: Mapping[str, str] = {}

    @property
    def verb(self) -> str:
        return {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(self.method, self.how)

    def by(self, user: Api) -> tuple[int, Any]:
        # Admission is the same as ever in a dry run, and every request finds the same object.
        return user.request(self.method, self.path, self.body, {"dryRun": "All", **self.query}, content_type=self.content_type)


def updates(path: str, old: Json, new: Json) -> Iterator[Attempt]:
    """Yield each way to change an object."""
    patch = {**merge_patch(old, new), **{key: old[key] for key in ("apiVersion", "kind")}}
    yield Attempt("replace", "PUT", path, new)
    yield Attempt("merge", "PATCH", path, patch)
    steps = [{"op": "add", "path": f"/{key}", "value": value} for key, value in new.items()]
    steps += [{"op": "remove", "path": f"/{key}"} for key in old.keys() - new.keys()]
    yield Attempt("json", "PATCH", path, steps, "application/json-patch+json")
    # Who applies can take nothing away that somebody else has set.
    if not any(removed(patch)):
        head = {"metadata": {**patch.get("metadata", {}), "name": old["metadata"]["name"]}}
        options = {"fieldManager": "tests", "force": "true"}
        yield Attempt("apply", "PATCH", path, {**patch, **head}, "application/apply-patch+yaml", options)


def removed(patch: Any) -> Iterator[bool]:
    for value in patch.values():
        yield value is None or value == []
        if isinstance(value, dict):
            yield from removed(value)


def creations(path: str, made: Json) -> Iterator[Attempt]:
    yield Attempt("create", "POST", path, made)


def deletions(path: str) -> Iterator[Attempt]:
    yield Attempt("delete", "DELETE", path)
    yield Attempt("deletecollection", "DELETE", path.rpartition("/")[0])


def owner_of(uid: str) -> Json:
    return {"apiVersion": names.API_VERSION, "kind": names.KIND, "name": "train", "uid": uid, "controller": True}


class Objects(NamedTuple):
    """What is changed: a Framework, its ConfigMap, and one that is somebody else's."""

    framework: Json
    config_map: Json
    other: Json


@pytest.fixture(scope="module")
def there(policed: Cluster) -> Iterator[Objects]:
    framework: Json = {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": "train", "annotations": {names.DIGEST_ANNOTATION: "v1:sha256:0"}, "finalizers": ["example.com/hold"]},
        "spec": {"taskRoles": [role("worker", 1)]},
    }
    framework = made(policed, "frameworks", framework)
    uid = framework["metadata"]["uid"]
    metadata = {
        "name": "train-attempt",
        "labels": {names.FRAMEWORK_NAME: "train"},
        "annotations": {names.FRAMEWORK_UID: uid},
        "ownerReferences": [owner_of(uid)],
        "finalizers": ["foregroundDeletion", "example.com/hold"],
    }
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    config_map = made(policed, "configmaps", {**head, "metadata": metadata, "data": {"intent.json": "{\n}"}})
    # It refers to a Framework that does not control it, and to one of another group that does.
    owners = [{**owner_of(uid), "controller": False}, {**owner_of("a"), "apiVersion": "example.com/v1"}]
    theirs = {**head, "metadata": {"name": "settings", "ownerReferences": owners}, "data": {"key": "value"}}
    yield Objects(framework, config_map, made(policed, "configmaps", theirs))
    for resource, name in (("frameworks", "train"), ("configmaps", "train-attempt"), ("configmaps", "settings")):
        path = path_of(resource, NAMESPACE, name)
        policed.api.request("PATCH", path, {"metadata": {"finalizers": None}})
        policed.api.request("DELETE", path, {"propagationPolicy": "Background"})


def made(cluster: Cluster, resource: str, manifest: Json) -> Json:
    """Create an object, and return it as it can be sent again: without what the server notes."""
    code, answer = cluster.api.request("POST", collection(resource, NAMESPACE), manifest)
    assert code == 201, answer
    for key in ("managedFields", "generation"):
        answer["metadata"].pop(key, None)
    found: Json = answer
    return found


def outcome(attempt: Attempt, user: Api, wanted: str) -> str:
    """Return what has come of it.

    :param wanted: a part of the message when a policy refuses it.
    """
    code, answer = attempt.by(user)
    if code < 300:
        return "yes"
    assert code == 403, f"{code} {attempt.how}: {answer['message']}"
    if f"cannot {attempt.verb} resource" in answer["message"]:
        return "-"
    assert "denied request: " in answer["message"], answer
    assert wanted in answer["message"]
    return "no"


def hold(cluster: Cluster, resource: str, attempts: list[Attempt], verdicts: dict[str, str]) -> None:
    """Let each user try each request, and compare what has come of it."""
    accounts = people.accounts(NAMESPACE)
    needed = f"frameworks/status in {NAMESPACE}" if resource == "configmaps" else f"may not create Pods in {NAMESPACE}"

    def tried(user: str, attempt: Attempt) -> tuple[bool, str]:
        api = cluster.api.impersonate(accounts.get(user, user))
        return people.may(api, NAMESPACE, attempt.verb, resource), outcome(attempt, api, needed)

    tries = [(user, attempt) for user in verdicts for attempt in attempts]
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda pair: tried(*pair), tries))
    keys = [(user, attempt.how) for user, attempt in tries]
    found = {key: outcome for key, (_, outcome) in zip(keys, results, strict=True)}
    assert found == {key: verdicts[key[0]] if right else "-" for key, (right, _) in zip(keys, results, strict=True)}
    # Nobody has fewer rights than the table says.
    assert {user for (user, _), (right, _) in zip(keys, results, strict=True) if right} == {
        user for user, verdict in verdicts.items() if verdict != "-"
    }


@pytest.mark.parametrize("what", rows(CONFIG_MAPS))
def test_config_maps(policed: Cluster, there: Objects, what: str) -> None:
    path = path_of("configmaps", NAMESPACE, "train-attempt")
    if what.startswith("create"):
        new: Json = {"metadata": {**there.config_map["metadata"], "name": "new"}, "data": {"key": "value"}}
        new["metadata"] = {
            key: value for key, value in new["metadata"].items() if key not in ("uid", "creationTimestamp", "resourceVersion")
        }
        if "without" in what:
            del new["metadata"]["ownerReferences"]
        attempts = creations(collection("configmaps", NAMESPACE), new)
    elif what == "delete":
        attempts = deletions(path)
    else:
        old = there.other if what in UNOWNED else there.config_map
        new = copy.deepcopy(old)
        CONFIG_MAP_CHANGES[what](new)
        attempts = updates(path_of("configmaps", NAMESPACE, old["metadata"]["name"]), old, new)
    hold(policed, "configmaps", list(attempts), rows(CONFIG_MAPS)[what])


def test_a_config_map_cannot_be_told_to_leave_its_pods_behind(policed: Cluster, there: Objects) -> None:
    new = copy.deepcopy(there.config_map)
    finalizers("orphan")(new)
    attempt = Attempt("replace", "PUT", path_of("configmaps", NAMESPACE, "train-attempt"), new)
    for user, verdict in (("config-maps", "no"), (people.accounts(NAMESPACE)["controller"], "yes")):
        assert outcome(attempt, policed.api.impersonate(user), "to leave Pods behind: only the controller") == verdict


@pytest.mark.parametrize("what", rows(FRAMEWORKS))
def test_frameworks(policed: Cluster, there: Objects, what: str) -> None:
    path = path_of("frameworks", NAMESPACE, "train")
    new = copy.deepcopy(there.framework)
    if what == "create":
        new["metadata"] = {"name": "new"}
        attempts = creations(collection("frameworks", NAMESPACE), new)
    elif what == "delete":
        attempts = deletions(path)
    else:
        FRAMEWORK_CHANGES[what](new)
        attempts = updates(path, there.framework, new)
    resource = "frameworks/status" if what == "status" else "frameworks"
    if what == "status":
        attempts = updates(f"{path}/status", there.framework, new)
    hold(policed, resource, list(attempts), rows(FRAMEWORKS)[what])


def test_the_status_is_no_way_to_the_spec(policed: Cluster, there: Objects) -> None:
    new = copy.deepcopy(there.framework)
    for what in ("status", "tasks", "paused"):
        FRAMEWORK_CHANGES[what](new)
    path = path_of("frameworks", NAMESPACE, "train")
    for attempt in updates(f"{path}/status", there.framework, new):
        code, answer = attempt.by(policed.api.impersonate("status"))
        assert code == 200, answer["message"]
        assert answer["status"] == {"state": "Completed"}
        assert answer["spec"] == there.framework["spec"]
        assert answer["metadata"]["annotations"] == there.framework["metadata"]["annotations"]


def test_types_fit(policed: Cluster) -> None:
    """The server has checked each expression with the types of what it is for."""
    policies = policed.api.request("GET", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies")[1]["items"]
    assert {policy["metadata"]["name"]: policy["status"]["typeChecking"] for policy in policies} == {
        "fcontroller-configmaps": {},
        "fcontroller-frameworks": {},
    }
