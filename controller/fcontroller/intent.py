"""The intent of an attempt as a document: lowered from the Framework, stored in the attempt's ConfigMap, and all that its Pods come from.

A stored document is only read once its digest is the one that the status names (`decide.intents`).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Generator, Iterator, Mapping
from typing import Any, NamedTuple

from fcompile import expand
from fcompile.default import default
from fcompile.emit.json import canonical
from fcompile.lower.digest import KNOWN, document_digest, version_of
from fcompile.lower.environment import ClusterValues
from fcompile.lower.intent import Intent, Role, lower_in_steps, sums_of
from fcompile.model import names
from fcompile.model.framework import LIFETIME
from fcompile.model.packed import INTENT_BYTES, pieces
from fcontroller.api import Json
from fcontroller.decide.owners import ORPHAN, config_map_owner, framework_owner, owners
from fcontroller.decide.review import Verdict

_CONTENT = ("data", "binaryData")
COMPRESSED_KEY = f"{expand.INTENT_KEY}.gz"


class Document(NamedTuple):
    """An intent and what its document has: the digest and the size. The text is made anew where it is written."""

    intent: Intent
    digest: str
    size: int
    """In bytes."""


class Lowered(NamedTuple):
    """What a Framework's spec lowers to, and what the review says of that."""

    generation: int
    document: Document
    verdict: Verdict


def reviewed_digest(framework: Json) -> str | None:
    """Return the digest of what was reviewed; None when the Framework was not compiled."""
    digest: str | None = (framework["metadata"].get("annotations") or {}).get(names.DIGEST_ANNOTATION)
    return digest


def document_of(framework: Json, *digests: str | None) -> Generator[None, None, Document]:
    """Return, in steps, what a stored Framework lowers to, by the version of the rules in the first digest whose version is known.

    Raises ValueError for a document that is so long that nobody would read it.
    """
    versions = (version_of(digest) for digest in digests if digest)
    version = next((version for version in versions if version in KNOWN), None)
    defaulted = default(framework).framework
    yield
    intent = yield from lower_in_steps(defaulted, version)
    digest, size = yield from document_digest(intent.document(), intent.lowering)
    if size > INTENT_BYTES:
        raise ValueError(f"its intent has {size:,} bytes, and may have {INTENT_BYTES:,}")
    return Document(intent, digest, size)


def config_map(intent: Intent, framework: Json, attempt: int) -> Json:
    """Return the ConfigMap of an attempt: the reviewed one, with what only the cluster knows."""
    metadata = framework["metadata"]
    document = canonical(intent.document())
    made = expand.config_map(intent, metadata["namespace"], document)
    made["metadata"]["annotations"] |= {names.FRAMEWORK_UID: metadata["uid"], names.FRAMEWORK_ATTEMPT_ID: str(attempt)}
    made["metadata"]["ownerReferences"] = [framework_owner(framework)]
    if expand.INTENT_KEY not in made["data"]:
        made["binaryData"] = {COMPRESSED_KEY: base64.b64encode(gzip.compress(document, mtime=0)).decode()}
    return made


def read_stored(config_map: Json, limit: int) -> Generator[None, None, tuple[bytes, str]]:
    """Read, in steps, the document that a ConfigMap holds; return its text and its SHA-256.

    Raises ValueError when it holds none that can be read, or one of more than `limit` bytes.
    """
    found, digest = [], hashlib.sha256()
    for piece in _pieces(config_map, limit):
        found.append(piece)
        digest.update(piece)
        yield
    return b"".join(found), digest.hexdigest()


def _pieces(config_map: Json, limit: int) -> Iterator[bytes]:
    packed = (config_map.get("binaryData") or {}).get(COMPRESSED_KEY)
    text = (config_map.get("data") or {}).get(expand.INTENT_KEY)
    if packed is not None:
        yield from pieces(packed, limit)
    elif text is None:
        raise ValueError("it holds no intent")
    elif len(text) > limit:
        raise ValueError("it holds another document")
    else:
        yield str(text).encode()


def read_document(text: bytes) -> Intent:
    """Return the intent of a document whose digest was verified."""
    document = json.loads(text)
    lowering = document["lowering"]
    roles = tuple(
        Role(role["name"], role["taskNumber"], role["policies"], role["pod"], role["service"], sums_of(role["pod"], lowering))
        for role in document["roles"]
    )
    lifetime = {field: document[field] for field in LIFETIME if field in document}
    return Intent(document["framework"], document["executionType"], document["retryPolicy"], roles, document["digest"], lowering, lifetime)


def as_made(stored: Json, made: Json) -> Json:
    """Return a stored ConfigMap with the document, labels, annotations, owner and finalizer of the one that the controller makes."""
    there, wanted = stored["metadata"], made["metadata"]
    metadata = {**there, "ownerReferences": wanted["ownerReferences"]}
    if "deletionTimestamp" not in there:
        others = [finalizer for finalizer in there.get("finalizers") or () if finalizer not in (ORPHAN, *wanted["finalizers"])]
        metadata["finalizers"] = [*wanted["finalizers"], *others]
    for kind in ("labels", "annotations"):
        metadata[kind] = {**(there.get(kind) or {}), **wanted[kind]}
    if stored.get("immutable"):  # Its document stays as it is, whoever writes.
        return {**stored, "metadata": metadata}
    kept = {key: value for key, value in stored.items() if key not in _CONTENT}
    return {**kept, **{key: made[key] for key in _CONTENT if key in made}, "metadata": metadata}


def pod(role: Role, namespace: str, index: int | str, values: ClusterValues, config_map: Mapping[str, Any]) -> Json:
    """Return the Pod of a task's attempt: the reviewed one, with what only the cluster knows.

    :param config_map: the metadata of the attempt's ConfigMap.
    """
    made = expand.pod(role, namespace, index, values)
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [*owners(made["metadata"]), config_map_owner(config_map)]}}


def service(role: Role, framework: Json) -> Json | None:
    """Return the role's Service, owned by the Framework; None when the role has none."""
    made = expand.service(role, framework["metadata"]["namespace"])
    if made is None:
        return None
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [framework_owner(framework)]}}
