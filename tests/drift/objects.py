"""What is sent to the server and what comes back: printing, sending, comparing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import urllib3

from fcompile.default import LAST_APPLIED
from fcompile.emit import yaml
from fcompile.model.framework import SERVER_SET
from tests import laws
from tests.cluster import Cluster

Object = dict[str, Any]
Frameworks = list[Object]
Path = tuple[str | int, ...]

_PLURALS = {"Pod": "pods", "ConfigMap": "configmaps", "Service": "services", "Framework": "frameworks"}
_NOT_FOR_YAML = re.compile("[\x7f-\x9f\ufffe\uffff]")
"""`kubectl diff` and a server-side apply read JSON as YAML. There these characters, which stand in JSON as they are, are refused;
only U+0085 is taken for a line break and folded, so that what is stored is not what was sent, and nobody is told. (FC116 warns.)"""
EMPTY: tuple[Any, ...] = (False, 0, "", [], {})


def build(frameworks: Iterable[Object], *arguments: str) -> str:
    """What `fcompile build` prints for them."""
    done = laws.run(["build", *arguments, "-"], "".join(map(yaml.document, list(frameworks))).encode())
    assert done.code == 0, done.err
    return done.out.decode()


def for_kubectl(objects: Iterable[Object]) -> list[Object]:
    """Those that kubectl can compare and a server-side apply can carry."""
    return [value for value in objects if not _NOT_FOR_YAML.search(json.dumps(value, ensure_ascii=False))]


def address(value: Object) -> str:
    """Where objects of this kind are, in this one's namespace."""
    version = value["apiVersion"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{root}/namespaces/{value['metadata']['namespace']}/{_PLURALS[value['kind']]}"


def request(cluster: Cluster, method: str, path: str, body: object = None, query: Mapping[str, str | int] | None = None) -> tuple[int, Any]:
    """One request, sent again while a changed CustomResourceDefinition comes into use: the server says so, or hangs up in the middle."""
    while True:
        try:
            status, answer = cluster.api.request(method, path, body, query)
        except urllib3.exceptions.ProtocolError:
            if method != "GET":
                raise
            continue
        if status != 429:
            return status, answer
        time.sleep(answer["details"]["retryAfterSeconds"])


def create(cluster: Cluster, objects: Iterable[Object], **query: str) -> list[Object]:
    """Create all of them, several at a time; each must be accepted. What the server made of them, in the same order."""

    def post(value: Object) -> Object:
        status, answer = request(cluster, "POST", address(value), value, {"fieldValidation": "Strict", **query})
        assert status == 201, f"{answer.get('message', answer)}\n{yaml.dump(value)}"
        made: Object = answer
        return made

    return _at_once(post, objects)


def _at_once(call: Any, items: Iterable[Any]) -> list[Any]:
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(call, items))


def listed(cluster: Cluster, kind: Object) -> dict[str, Object]:
    """The objects of the same kind and namespace, by name."""
    status, answer = request(cluster, "GET", address(kind))
    assert status == 200, answer
    head = {"apiVersion": kind["apiVersion"], "kind": kind["kind"]}
    return {item["metadata"]["name"]: {**head, **item} for item in answer["items"]}


def minor(cluster: Cluster) -> int:
    """The cluster's Kubernetes 1.x minor version."""
    return int(cluster.version.split(".")[1])


def diff(cluster: Cluster, manifests: str, *options: str) -> tuple[int, str, str]:
    """Exit code, output and messages of `kubectl diff`."""
    concurrency = ("--concurrency=4",) if minor(cluster) >= 28 else ()
    done = cluster.kubectl("diff", *concurrency, *options, "-f", "-", input=manifests, check=False, timeout=300)
    # The API server's warnings (a long host name, a volume plugin that was removed) are no differences.
    said = [line for line in done.stderr.splitlines() if not line.startswith("Warning: ")]
    return done.returncode, done.stdout, "\n".join(said)


def own(stored: Object) -> Object:
    """A stored object without the metadata that only a server sets, and without what kubectl notes down."""
    metadata = {key: value for key, value in stored["metadata"].items() if key not in SERVER_SET}
    kept = {key: value for key, value in metadata.pop("annotations", {}).items() if key != LAST_APPLIED}
    return {**stored, "metadata": {**metadata, **({"annotations": kept} if kept else {})}}


def differences(written: Any, read: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Fields of `written` that `read` lacks (None) or has with another value. Types count, and so does the spelling of a quantity."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key, value in written.items():
            if key in read:
                yield from differences(value, read[key], (*path, key))
            else:
                yield (*path, key), value, None
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for index, (value, other) in enumerate(zip(written, read, strict=True)):
            yield from differences(value, other, (*path, index))
    elif written != read or type(written) is not type(read):
        yield path, written, read


def without(value: Any, paths: set[Path], path: Path = ()) -> Any:
    """A copy without the fields at these paths."""
    if isinstance(value, dict):
        return {key: without(item, paths, (*path, key)) for key, item in value.items() if (*path, key) not in paths}
    if isinstance(value, list):
        return [without(item, paths, (*path, index)) for index, item in enumerate(value)]
    return value
