"""The intent of an attempt: made from the Framework before the attempt begins, stored in its ConfigMap, and all that its Pods come from."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

from fcompile import expand
from fcompile.default import default
from fcompile.emit.json import canonical
from fcompile.lower.environment import ClusterValues
from fcompile.lower.intent import Intent, Role, lower
from fcompile.model import names

Json = dict[str, Any]
_CONTENT = ("data", "binaryData")
COMPRESSED_KEY = f"{expand.INTENT_KEY}.gz"


def intent_of(framework: Json) -> Intent:
    """What the Framework, as it is stored, will run."""
    return lower(default(framework).framework)


def reviewed_digest(framework: Json) -> str | None:
    """The digest of what was reviewed; None when the Framework was not compiled."""
    digest: str | None = (framework["metadata"].get("annotations") or {}).get(names.DIGEST_ANNOTATION)
    return digest


def config_map(intent: Intent, framework: Json, attempt: int) -> Json:
    """The ConfigMap of an attempt: the reviewed one, with what only the cluster knows."""
    metadata = framework["metadata"]
    made = expand.config_map(intent, metadata["namespace"])
    made["metadata"]["annotations"] |= {
        names.FRAMEWORK_UID: metadata["uid"],
        names.FRAMEWORK_ATTEMPT_ID: str(attempt),
        names.GENERATION_ANNOTATION: str(metadata["generation"]),
    }
    made["metadata"]["ownerReferences"] = [_owner(names.API_VERSION, names.KIND, metadata)]
    if expand.INTENT_KEY not in made["data"]:
        packed = gzip.compress(canonical(intent.document()), mtime=0)
        made["binaryData"] = {COMPRESSED_KEY: base64.b64encode(packed).decode()}
    return made


def stored_intent(config_map: Json) -> Intent | None:
    """The intent that an attempt's ConfigMap holds; None for one that upstream's controller made."""
    text: str | None = (config_map.get("data") or {}).get(expand.INTENT_KEY)
    packed: str | None = (config_map.get("binaryData") or {}).get(COMPRESSED_KEY)
    if packed is not None:
        text = gzip.decompress(base64.b64decode(packed)).decode()
    if text is None:
        return None
    document = json.loads(text)
    roles = tuple(Role(role["name"], role["taskNumber"], role["policies"], role["pod"], role["service"]) for role in document["roles"])
    return Intent(document["framework"], document["executionType"], document["retryPolicy"], roles, document["digest"])


def is_current(config_map: Json, framework: Json) -> bool:
    """Whether the intent in an attempt's ConfigMap was made of the Framework's spec as it is now, by whichever version of the rules."""
    annotations = config_map["metadata"].get("annotations") or {}
    return annotations.get(names.GENERATION_ANNOTATION) == str(framework["metadata"]["generation"])


def is_adopted(config_map: Json) -> bool:
    """Whether an attempt was begun by upstream's controller, by its ConfigMap."""
    return stored_intent(config_map) is None or names.ADOPTED_ANNOTATION in (config_map["metadata"].get("annotations") or {})


def with_intent(config_map: Json, made: Json) -> Json:
    """An attempt's ConfigMap as it is stored, with the intent of another one."""
    metadata = config_map["metadata"]
    added = {names.GENERATION_ANNOTATION: made["metadata"]["annotations"][names.GENERATION_ANNOTATION]}
    if is_adopted(config_map):
        added[names.ADOPTED_ANNOTATION] = "true"
    kept = {key: value for key, value in config_map.items() if key not in _CONTENT}
    content = {key: value for key, value in made.items() if key in _CONTENT}
    return {**kept, **content, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **added}}}


def pod(role: Role, namespace: str, index: int | str, values: ClusterValues, config_map: Json) -> Json:
    """The Pod of a task's attempt: the reviewed one, with what only the cluster knows.

    :param config_map: the metadata of the attempt's ConfigMap.
    """
    made = expand.pod(role, namespace, index, values)
    owners = [*made["metadata"].get("ownerReferences", ()), _owner("v1", "ConfigMap", config_map)]
    return {**made, "metadata": {**made["metadata"], "ownerReferences": owners}}


def service(role: Role, framework: Json) -> Json | None:
    """The role's Service, owned by the Framework; None when the role has none."""
    made = expand.service(role, framework["metadata"]["namespace"])
    if made is None:
        return None
    owner = _owner(names.API_VERSION, names.KIND, framework["metadata"])
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def _owner(api_version: str, kind: str, metadata: Json) -> Json:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
