"""What runs in a cluster compared with what was reviewed, without the values that only the cluster knows (`expand.LEFT_OUT`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from fcompile.diagnostics.visible import first_of
from fcompile.diff.compare import ABSENT, ANY, Difference, differences
from fcompile.diff.defaults import as_the_server_reads
from fcompile.diff.tasks import COMPLETED, by_role
from fcompile.emit.json import canonical
from fcompile.expand import pod, service
from fcompile.lower.environment import with_containers
from fcompile.lower.intent import Role
from fcompile.model import names
from fcompile.model.fields import Field
from fcompile.model.framework import SERVER_SET
from fcompile.model.values import integer, mapping, sequence, text
from fcompile.pipeline.compiled import Compiled

Json = dict[str, Any]
_PLACED = {"nodeName", "preemptionPolicy", "priority"}
"""What the scheduler and the API server's own admission put into every Pod."""
_OVERHEAD = "overhead"
"""What the API server copies from the runtime class that a Pod names."""
_OWNERS = ("ConfigMap", names.KIND)
"""What the controller lets a Pod belong to: its attempt, and after the end the Framework, where `cleanPodPolicy` keeps the Pod."""
_SERVED = ("AttemptCreationRequested", "AttemptPreparing", "AttemptRunning", "AttemptDeletionPending")
"""States in which the Services of roles are there: they are made before an attempt begins, and go with it."""
_TOKEN, _TOKEN_PATH = "kube-api-access-", "/var/run/secrets/kubernetes.io/serviceaccount"
"""How the volume of the service account's token is named, and where it is mounted."""
_TOKEN_SOURCES = [
    {"serviceAccountToken": {"path": "token"}},
    {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    {"configMap": {"name": "openshift-service-ca.crt", "items": [{"key": "service-ca.crt", "path": "service-ca.crt"}]}},
]
"""What is in it; the last one on OpenShift alone. Under its name, anything could be mounted, also in its place."""


class Pods(NamedTuple):
    """Tasks of a role whose Pods compare in the same way."""

    role: str
    kind: str
    """`as-expected`, `differ`, `finished` (the task has completed, and its Pod is gone), `missing` or `unexpected`."""
    names: str
    number: int
    differences: tuple[Difference, ...] = ()
    """`before` is what runs, `after` what was reviewed."""
    note: str = ""


class Live(NamedTuple):
    """What runs of a Framework."""

    namespace: str
    name: str
    state: str
    attempt: int
    pods: tuple[Pods, ...]
    services: tuple[tuple[str, tuple[Difference, ...]], ...]
    """Those that differ, by name."""

    @property
    def differs(self) -> bool:
        return bool(self.services) or any(pods.kind in ("differ", "unexpected") for pods in self.pods)


def look(compiled: Compiled, status: Any, objects: Iterable[Json]) -> Live:
    """Compare the Pods and Services of a Framework, as the API server has them, with what the Framework compiles to.

    `status` is the Framework's own, with the tasks' statuses in full.
    """
    name = compiled.intent.framework
    mine = [thing for thing in objects if mapping(mapping(thing, "metadata"), "labels").get(names.FRAMEWORK_NAME) == name]
    tasks = by_role(status)
    found: list[Pods] = []
    running = {one["metadata"]["name"]: one for one in mine if one.get("kind") == "Pod"}
    for role in compiled.intent.roles:
        found += _role(compiled, role, tasks.get(role.name, []), running)
    if running:
        found.append(Pods("", "unexpected", first_of(sorted(running), 10), len(running)))
    return Live(
        compiled.namespace,
        name,
        text(status, "state") or "not seen by the controller",
        integer(mapping(status, "attemptStatus"), "id") or 0,
        tuple(found),
        tuple(_services(compiled, text(status, "state"), mine)),
    )


def _role(compiled: Compiled, role: Role, tasks: Sequence[Any], running: dict[str, Json]) -> list[Pods]:
    """Group the tasks of a role by how their Pods compare; the Pods are taken out of `running`."""
    groups: dict[tuple[str, str, bytes], tuple[list[int], tuple[Difference, ...]]] = {}
    for index in range(role.task_number):
        live = running.pop(names.pod_name(compiled.intent.framework, role.name, index), None)
        status = tasks[index] if index < len(tasks) else {}
        different: tuple[Difference, ...] = ()
        if live is not None:
            different = tuple(pod_differences(live, pod(role, compiled.namespace, index)))
            kind, note = ("differ" if different else "as-expected"), _phase(live)
        else:
            kind, note = _without_pod(status)
        alike = canonical([[difference.field, *(_plain(side, index) for side in difference[1:])] for difference in different])
        groups.setdefault((kind, note, alike), ([], different))[0].append(index)
    return [
        Pods(role.name, kind, names.pod_name(compiled.intent.framework, role.name, braces(indices)), len(indices), different, note)
        for (kind, note, _), (indices, different) in groups.items()
    ]


def _plain(side: Any, index: int) -> Any:
    """Return a value in a form that is equal for two tasks when only the index differs."""
    if side is ABSENT:
        return None
    return [canonical([side]).decode().replace(f"-{index}", "-{}").replace(f'"{index}"', '"{}"')]


def _phase(live: Mapping[str, Any]) -> str:
    if "deletionTimestamp" in live["metadata"]:
        return "being deleted"
    phase = text(mapping(live, "status"), "phase") or ""
    return phase if phase in ("Failed", "Pending", "Succeeded", "Unknown") else ""


def _without_pod(status: Any) -> tuple[str, str]:
    state = text(status, "state")
    if state != COMPLETED:
        return "missing", state or "the controller has not seen the task yet"
    completion = mapping(mapping(status, "attemptStatus"), "completionStatus")
    return "finished", f"{text(completion, 'phrase') or 'no phrase'}, code {integer(completion, 'code')}"


def pod_differences(live: Json, expected: Json) -> Iterable[Difference]:
    """Yield how a running Pod (`before`) differs from the reviewed one (`after`)."""
    running = as_the_server_reads(_without_cluster_values(live, expected))
    reviewed = as_the_server_reads(expected)
    for part, type_name in (("metadata", "ObjectMeta"), ("spec", "PodSpec")):
        if running[part] != reviewed[part]:  # most Pods do not differ at all
            yield from differences(running[part], reviewed[part], Field("object", ref=type_name), part)


def _without_cluster_values(live: Json, expected: Json) -> Json:
    metadata = {key: value for key, value in live["metadata"].items() if key not in SERVER_SET}
    metadata["annotations"] = {key: value for key, value in mapping(metadata, "annotations").items() if key not in names.CLUSTER_NAMES}
    own = {text(owner, "uid") for owner in sequence(mapping(expected, "metadata"), "ownerReferences")}
    owners = [owner for owner in sequence(metadata, "ownerReferences") if text(owner, "kind") not in _OWNERS or text(owner, "uid") in own]
    metadata["ownerReferences"] = owners
    spec, reviewed = live["spec"], expected["spec"]
    placed = _PLACED | {_OVERHEAD} if reviewed.get("runtimeClassName") else _PLACED
    kept = {key: value for key, value in spec.items() if key not in placed or reviewed.get(key) not in (None, "", {})}
    volumes = {text(volume, "name") for volume in sequence(reviewed, "volumes")}
    tokens = [text(volume, "name") for volume in sequence(spec, "volumes") if _is_token(volume)]
    added = frozenset(name for name in tokens if name not in volumes)
    kept["volumes"] = [volume for volume in sequence(spec, "volumes") if text(volume, "name") not in added]
    kept["tolerations"] = [
        toleration
        for toleration in sequence(spec, "tolerations")
        if not _is_usual(toleration) or toleration in sequence(reviewed, "tolerations")
    ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": with_containers(kept, partial(_container, tokens=added))}


def _container(container: Json, tokens: Collection[str | None]) -> Json:
    """Return a container without the token's mount and the cluster's own variables (later ones of the same names are users').

    :param tokens: the names of the volumes that hold it.
    """
    seen: set[str] = set()
    env = []
    for variable in sequence(container, "env"):
        name = text(variable, "name") or ""
        if name not in names.CLUSTER_ENV or name in seen:
            env.append(variable)
        seen.add(name)
    mounts = [
        mount
        for mount in sequence(container, "volumeMounts")
        if not (text(mount, "name") in tokens and mount == {"name": mount["name"], "mountPath": _TOKEN_PATH, "readOnly": True})
    ]
    return {**container, "env": env, "volumeMounts": mounts}


def _is_token(volume: Any) -> bool:
    """Return whether a volume is what the API server adds for the token."""
    projected = mapping(volume, "projected")
    sources = [_without_expiration(source) for source in sequence(projected, "sources")]
    return (
        (text(volume, "name") or "").startswith(_TOKEN)
        and volume.keys() == {"name", "projected"}
        and sources in (_TOKEN_SOURCES[:-1], _TOKEN_SOURCES)
    )


def _without_expiration(source: Any) -> Any:
    """Return a source of a volume without the seconds after which a token in it expires."""
    token = mapping(source, "serviceAccountToken")
    return {"serviceAccountToken": {key: item for key, item in token.items() if key != "expirationSeconds"}} if token else source


def _is_usual(toleration: Any) -> bool:
    """Return whether a toleration is one that every Pod gets: five minutes for a node that is not ready or cannot be reached."""
    return toleration in [
        {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]


def _services(compiled: Compiled, state: str | None, objects: Iterable[Json]) -> Iterable[tuple[str, tuple[Difference, ...]]]:
    """Yield the Services of roles that differ from the reviewed ones. Defaults that the cluster fills in for ports are not compared."""
    live = {thing["metadata"]["name"]: thing for thing in objects if thing.get("kind") == "Service"}
    for role in compiled.intent.roles:
        expected = service(role, compiled.namespace)
        if expected is None:
            continue
        name = expected["metadata"]["name"]
        if name not in live:
            if state in _SERVED:
                yield name, (Difference("service", ABSENT, "expected"),)
            continue
        spec, wanted = live[name]["spec"], expected["spec"]
        # The API server drops what is false and an empty name, and fills in what else is empty.
        running = {"publishNotReadyAddresses": False} | {key: spec[key] for key in wanted if key in spec}
        right = [{key: item for key, item in port.items() if item != ""} for port in sequence(wanted, "ports")]
        ports = [{key: port.get(key) for key in want} for port, want in zip(sequence(spec, "ports"), right, strict=False)]
        ports += sequence(spec, "ports")[len(ports) :]
        found = tuple(differences({**running, "ports": ports}, {**wanted, "ports": right}, ANY, "spec"))
        if found:
            yield name, found


def braces(indices: Sequence[int]) -> str:
    """Return indices in the notation that a shell expands: `7`, `{0..3}`, `{{0..3},7}`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and runs[-1][-1] == index - 1:
            runs[-1][1:] = [index]
        else:
            runs.append([index])
    parts = [f"{{{run[0]}..{run[-1]}}}" if len(run) > 1 else str(run[0]) for run in runs]
    return parts[0] if len(parts) == 1 else "{" + ",".join(parts) + "}"
