"""Random requests, written so that they can be sent to two servers: uids and resourceVersions are named, not given.

In a body, these strings stand for something that differs between servers:

- `$version current`, `$version stale`: the resourceVersion last seen of the object that is written, and the first one seen.
- `$uid configmaps a current`, `… first`, `… none`: the uid last seen of an object, the first one that an object of this name had,
  and one that no object has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

from fcompile.model.names import API_VERSION

Strategy = st.SearchStrategy[Any]
NAMES = ("a", "b", "c")
CORE = "/api/v1/namespaces/{namespace}"
COLLECTIONS = {
    "frameworks": f"/apis/{API_VERSION}/namespaces/{{namespace}}/frameworks",
    "pods": f"{CORE}/pods",
    "configmaps": f"{CORE}/configmaps",
    "services": f"{CORE}/services",
    "events": f"{CORE}/events",
    "leases": "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases",
}
"""The path of each kind that is tried."""
KINDS = {
    "frameworks": (API_VERSION, "Framework"),
    "pods": ("v1", "Pod"),
    "configmaps": ("v1", "ConfigMap"),
    "services": ("v1", "Service"),
    "events": ("v1", "Event"),
    "leases": ("coordination.k8s.io/v1", "Lease"),
}
"""apiVersion and kind."""


class Operation(NamedTuple):
    """One request."""

    method: str
    kind: str
    #: Empty for the collection.
    name: str = ""
    #: `status` or `binding`.
    part: str = ""
    body: Any = None
    query: dict[str, str] = {}  # noqa: RUF012  # nobody changes it
    #: The body is what was last seen of the object, changed by `body` (`merged`).
    changes_seen: bool = False


def manifest(kind: str, name: str, namespace: str = "{namespace}") -> dict[str, Any]:
    """The least that a real server takes."""
    version, called = KINDS[kind]
    result: dict[str, Any] = {"apiVersion": version, "kind": called, "metadata": {"name": name}}
    if kind == "pods":
        result["spec"] = {"containers": [{"name": "main", "image": "image"}]}
    elif kind == "services":
        result["spec"] = {"clusterIP": "None", "selector": {"x": "1"}, "ports": [{"port": 80}]}
    elif kind == "events":
        result |= {"involvedObject": {"kind": "Pod", "namespace": namespace, "name": "a"}, "reason": "First", "type": "Normal"}
    elif kind == "leases":
        result["spec"] = {"holderIdentity": "one"}
    elif kind == "frameworks":
        result["spec"] = {"description": "first"}
    return result


# What is written

_CONTENTS: dict[str, Strategy] = {
    "frameworks": st.sampled_from(
        [
            {"spec": {"description": "first"}},
            {"spec": {"description": "second"}},
            {"status": {"state": "AttemptRunning"}},
            {"status": {"state": "Completed", "none": None, "list": [None, {"a": None}], "number": 1.5}},
            {"status": {}},
            {"status": None},
            {"spec": {"description": "third"}, "status": {"state": "Third"}},
        ]
    ),
    "pods": st.sampled_from(
        [
            {"status": {"phase": "Running"}},
            {"status": {"phase": "Failed", "reason": "Evicted"}},
            {"status": {"phase": "Succeeded", "reason": None, "message": "fine"}},
            {"spec": {"containers": [{"name": "main", "image": "other"}]}},
            {"spec": {"activeDeadlineSeconds": 10}},
            {"spec": {"activeDeadlineSeconds": 20}},
            {"spec": {"activeDeadlineSeconds": None}},
            {"spec": {"restartPolicy": "Never"}},
            {"spec": {"hostNetwork": True}},
            {"spec": {"nodeName": "node-b"}},
            {"spec": {"terminationGracePeriodSeconds": 5}},
        ]
    ),
    "configmaps": st.sampled_from(
        [{"data": {"key": "one"}}, {"data": {"key": "two"}}, {"data": {"key": None, "other": "1"}}, {"data": {}}, {"data": None}]
    ),
    "services": st.sampled_from(
        [{"spec": {"selector": {"x": "2"}}}, {"spec": {"publishNotReadyAddresses": True}}, {"spec": {"ports": [{"port": 81}]}}]
    ),
    "events": st.sampled_from([{"count": 2}, {"message": "again"}, {"reason": "Second"}, {"involvedObject": {"namespace": "other"}}]),
    "leases": st.sampled_from(
        [{"spec": {"holderIdentity": "two"}}, {"spec": {"leaseTransitions": 1}}, {"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}]
    ),
}

_POOLS = (
    ("configmaps", "pods"),
    ("frameworks", "configmaps", "pods"),
    ("frameworks",),
    ("pods",),
    ("configmaps",),
    ("services", "leases", "events"),
    tuple(COLLECTIONS),
)
# A sequence keeps to few kinds and names, so that its requests meet.
kinds = st.shared(st.sampled_from(_POOLS), key="kinds").flatmap(st.sampled_from)
names = st.shared(st.sampled_from((NAMES, NAMES[:2], NAMES[:1])), key="names").flatmap(st.sampled_from)
# Of an object with the finalizer `orphan` whose owners have gone, the real collector's workers race each other (both.compare), so that
# a sequence has either this finalizer or owners. Deletions with the policy Orphan are in both.
_orphans = st.shared(st.booleans(), key="orphans")
_FINALIZERS = ("test.example/one", "test.example/two", "foregroundDeletion", "bad")
_finalizers = _orphans.flatmap(
    lambda orphans: st.lists(st.sampled_from((*_FINALIZERS, "orphan") if orphans else _FINALIZERS), unique=True, max_size=2)
)
_labels = st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["1", "2"]), max_size=2)
_versions = st.sampled_from(["$version current", "$version stale", None])
_ages = st.sampled_from(["current", "current", "current", "first"])


@st.composite
def _owner(draw: st.DrawFn) -> dict[str, Any]:
    kind, name = draw(kinds.map(lambda kind: "configmaps" if kind == "events" else kind)), draw(names)
    version, called = KINDS[kind]
    uid = draw(st.sampled_from([f"$uid {kind} {name} current"] * 6 + [f"$uid {kind} {name} first", f"$uid {kind} {name} none"]))
    flags = draw(
        st.fixed_dictionaries({}, optional={"controller": st.booleans(), "blockOwnerDeletion": st.sampled_from([True, True, False])})
    )
    return {"apiVersion": version, "kind": called, "name": name, "uid": uid, **flags}


_owners = _orphans.flatmap(
    lambda orphans: st.lists(_owner(), max_size=0 if orphans else 2, unique_by=lambda owner: (owner["kind"], owner["name"]))
)
_metadata = st.fixed_dictionaries(
    {}, optional={"labels": _labels, "annotations": _labels, "finalizers": _finalizers, "ownerReferences": _owners}
)


def _contents(kind: str) -> Strategy:
    """What is no patch: null in a ConfigMap's data is an empty string to a real server."""
    return _CONTENTS[kind].filter(lambda content: None not in (content.get("data") or {}).values())


def _of(kind: str, name: str, version: Any, uid: Any) -> dict[str, Any]:
    """What a body says of the state that it relies on."""
    return {
        **({"resourceVersion": version} if version else {}),
        **({"uid": f"$uid {kind} {name} {uid}"} if uid else {}),
    }


# Requests


@st.composite
def creations(draw: st.DrawFn, plain: bool = False) -> Operation:
    """:param plain: the least that is taken, which others can name as their owner."""
    kind, name = draw(kinds), draw(names)
    if plain:
        return Operation("POST", kind, body=manifest(kind, name))
    body = manifest(kind, name)
    body["metadata"] |= draw(_metadata)
    if draw(st.booleans()):
        body = merged(body, draw(_contents(kind)))
    if kind == "pods" and draw(st.booleans()):
        body["spec"]["nodeName"] = "node-a"
    if draw(st.integers(0, 19)) == 7:  # one thing wrong at a time: the order in which a server looks is not told
        wrong = draw(st.sampled_from([{"metadata": {"name": None}}, {"metadata": {"namespace": "other"}}, {"kind": "Node"}]))
        body = merged(manifest(kind, name), wrong)
    return Operation("POST", kind, body=body)


@st.composite
def replacements(draw: st.DrawFn) -> Operation:
    kind, name = draw(kinds), draw(names)
    seen = draw(st.integers(0, 3)) > 0
    changes = merged({"metadata": draw(_metadata)}, draw(_contents(kind)) if draw(st.booleans()) else {})
    changes["metadata"] |= _of(kind, name, draw(_versions), draw(st.one_of(st.none(), _ages)))
    body = changes if seen else merged(manifest(kind, name), changes)
    return Operation("PUT", kind, name, "" if kind == "services" else draw(_parts(kind)), body, changes_seen=seen)


@st.composite
def patches(draw: st.DrawFn) -> Operation:
    """What people change: fields of the metadata and of the content, each as a whole."""
    kind, name = draw(kinds), draw(names)
    about = draw(_metadata) | _of(kind, name, draw(st.sampled_from([None, None, "$version current", "$version stale"])), None)
    if draw(st.integers(0, 4)) == 0:
        about |= _of(kind, name, None, draw(_ages))
    if draw(st.integers(0, 5)) == 0:
        about["finalizers"] = None
    content = draw(_CONTENTS[kind]) if draw(st.booleans()) else {}
    body = [_operation(f"/metadata/{field}", value) for field, value in about.items()]
    for field, value in content.items():
        each = isinstance(value, dict) and field in ("spec", "data")
        body += [_operation(f"/{field}/{key}", item) for key, item in value.items()] if each else [_operation(f"/{field}", value)]
    return Operation("PATCH", kind, name, draw(_parts(kind)), body)


def _operation(path: str, value: Any) -> dict[str, Any]:
    return {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}


_json_operations: Strategy = st.sampled_from(
    [
        {"op": "add", "path": "/metadata/labels", "value": {"x": "1"}},
        {"op": "add", "path": "/metadata/labels/x", "value": "2"},
        {"op": "remove", "path": "/metadata/labels/x"},
        {"op": "replace", "path": "/metadata/labels/x", "value": "3"},
        {"op": "replace", "path": "/metadata/finalizers", "value": ["test.example/three"]},
        {"op": "test", "path": "/metadata/labels/x", "value": "1"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["test.example/one"]},
        {"op": "add", "path": "/metadata/finalizers/0", "value": "test.example/two"},
        {"op": "add", "path": "/metadata/finalizers/-", "value": "test.example/three"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "$version current"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "$version stale"},
    ]
)


_status_operations: Strategy = st.sampled_from(
    [
        {"op": "add", "path": "/status", "value": {"phase": "Running"}},
        {"op": "replace", "path": "/status", "value": {"phase": "Failed", "message": "over"}},
        {"op": "remove", "path": "/status"},
        {"op": "add", "path": "/status/message", "value": "added"},
        {"op": "replace", "path": "/status/message", "value": "replaced"},
        {"op": "remove", "path": "/status/message"},
        {"op": "test", "path": "/status/message", "value": "added"},
        {"op": "test", "path": "/metadata/uid", "value": "$uid {kind} {name} current"},
        {"op": "test", "path": "/metadata/uid", "value": "$uid {kind} {name} first"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "$version current"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "$version stale"},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "$version stale"},
        {"op": "nonsense", "path": "/status"},
    ]
)


@st.composite
def json_patches(draw: st.DrawFn) -> Operation:
    kind, name = draw(kinds), draw(names)
    part = draw(_parts(kind))
    of_status = part == "status" and kind != "services"
    body: list[dict[str, Any]] = draw(st.lists(_status_operations if of_status else _json_operations, min_size=1, max_size=3))
    body = [{key: value.format(kind=kind, name=name) if "{kind}" in value else value for key, value in step.items()} for step in body]
    return Operation("PATCH", kind, name, part, body)


@st.composite
def deletions(draw: st.DrawFn) -> Operation:
    kind, name = draw(kinds), draw(names)
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "gracePeriodSeconds": st.sampled_from([0, 0, 1, 20, 600, -1]),
                "propagationPolicy": st.sampled_from(["Foreground", "Foreground", "Background", "Orphan"]),
                "preconditions": st.builds(
                    lambda version, uid: _of(kind, name, version, uid),
                    st.sampled_from([None, None, "$version current", "$version stale"]),
                    st.one_of(st.none(), _ages),
                ),
            },
        )
    )
    if "preconditions" not in options and draw(st.integers(0, 5)) == 0:
        return Operation("DELETE", kind, name, query={key: str(value) for key, value in options.items()})
    return Operation("DELETE", kind, name, body=options or None)


@st.composite
def bindings(draw: st.DrawFn) -> Operation:
    name = draw(names)
    about = {"name": name, **_of("pods", name, None, draw(st.one_of(st.none(), _ages)))}
    target = {"apiVersion": "v1", "kind": "Node", "name": draw(st.sampled_from(["node-a", "node-b"]))}
    return Operation("POST", "pods", name, "binding", {"metadata": about, "target": target})


_queries = st.fixed_dictionaries(
    {},
    optional={
        "labelSelector": st.sampled_from(["x=1", "x=1,y=2", "x=2,y", "x", "y="]),
        "limit": st.sampled_from(["1", "2"]),
    },
)
reads = st.one_of(
    st.builds(lambda kind, name: Operation("GET", kind, name), kinds, names),
    st.builds(lambda kind, query: Operation("GET", kind, query=query), kinds, _queries),
)


def _parts(kind: str) -> Strategy:
    return st.sampled_from(["", "status"] if kind in ("frameworks", "pods", "services") else [""])


operations = st.one_of(
    creations(),
    creations(),
    creations(),
    replacements(),
    patches(),
    patches(),
    json_patches(),
    json_patches(),
    deletions(),
    deletions(),
    bindings(),
    reads,
)
"""Any request."""
sequences = st.builds(
    lambda *parts: [operation for part in parts for operation in part],
    st.lists(creations(plain=True), min_size=1, max_size=4),
    st.lists(creations(), min_size=1, max_size=4),
    st.lists(operations, min_size=6, max_size=20),
)
"""Requests one after the other; the first ones see to it that there is something to work on."""


def merged(target: Any, patch: Any) -> Any:
    """A merge patch, except that null stays: it is what is to be sent."""
    if not isinstance(patch, dict) or not isinstance(target, dict):
        return patch
    return {**target, **{name: merged(target.get(name), value) for name, value in patch.items()}}
