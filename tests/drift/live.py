"""Objects on the server as the controller will make them: those of the intent, with the values that only the cluster knows."""

from __future__ import annotations

import base64
import gzip
from typing import Any

from fcompile.emit.json import canonical
from fcompile.expand import INTENT_KEY, config_map, pod, service
from fcompile.lower.environment import ClusterValues
from fcompile.model import names
from fcompile.pipeline.compiled import Compiled, compile_framework
from tests.cluster import Cluster
from tests.drift.objects import Frameworks, Object, create


def run(cluster: Cluster, frameworks: Frameworks) -> list[Object]:
    """Store the Frameworks, and make what an attempt of each runs: its ConfigMap, Services and Pods. What the server made of the Pods."""
    compiled = [compile_framework(value, "") for value in frameworks]
    stored = create(cluster, [one.framework for one in compiled])
    shared = [_shared(one, owner) for one, owner in zip(compiled, stored, strict=True)]
    config_maps = create(cluster, [made[0] for made in shared])
    create(cluster, [made for objects in shared for made in objects[1:]])
    every = zip(compiled, stored, config_maps, strict=True)
    return create(cluster, [made for one, framework, owner in every for made in _pods(one, framework, owner)])


def _owned(value: Object, owner: Object) -> Object:
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {**value, "metadata": {**value["metadata"], "ownerReferences": [reference]}}


def _shared(compiled: Compiled, framework: Object) -> list[Object]:
    made = config_map(compiled.intent, compiled.namespace)
    if INTENT_KEY not in made["data"]:
        packed = gzip.compress(canonical(compiled.intent.document()))
        made["binaryData"] = {f"{INTENT_KEY}.gz": base64.b64encode(packed).decode()}
    made["metadata"]["annotations"] |= {names.FRAMEWORK_UID: framework["metadata"]["uid"], names.FRAMEWORK_ATTEMPT_ID: "3"}
    services = [service(role, compiled.namespace) for role in compiled.intent.roles]
    return [_owned(value, framework) for value in (made, *services) if value is not None]


def _pods(compiled: Compiled, framework: Object, owner: Object) -> list[Object]:
    found: list[Any] = []
    for number, role in enumerate(compiled.intent.roles):
        for index in range(role.task_number):
            # The uids of roles and tasks are random ones of the controller's own.
            known = ClusterValues(
                framework_uid=framework["metadata"]["uid"],
                framework_attempt_id=3,
                config_map_uid=owner["metadata"]["uid"],
                task_role_uid=f"5b0c6a1e-0000-4000-8000-{number:012}",
                task_uid=f"7d3f1f52-0000-4000-8000-{index:012}",
                task_attempt_id=12,
            )
            found.append(_owned(pod(role, compiled.namespace, index, known), owner))
    return found
