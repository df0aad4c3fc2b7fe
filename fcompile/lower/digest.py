"""The digest of an intent: 78 characters that identify what was reviewed."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from importlib import import_module
from typing import Any

from fcompile.emit.json import canonical_pieces

V1 = "v1"
"""The first version of the lowering rules. Any change of what `lower` makes of a Framework needs a new one."""
V2 = "v2"
"""The rules of v1, and sums with the index (`{{FC_TASK_INDEX+1}}`): only for Frameworks that have one, so that other digests stay."""
KNOWN = (V1, V2)
"""All that `lower` knows: a release keeps at least the version before its own, so that what was reviewed with that still runs."""


def digest(roles: list[dict[str, Any]], version: str) -> Generator[None, None, str]:
    """Return, in steps, `v1:sha256:…` over the canonical JSON of what Pods and Services will be.

    `roles` are mappings of `name`, `pod` and `service` (null without one). Their order does not count, nor do counts and
    policies, which stay outside: scaling and stopping never change a digest.
    """
    document = {"lowering": version, "roles": sorted(roles, key=lambda role: str(role["name"]))}
    return (yield from document_digest(document, version))[0]


def document_digest(document: dict[str, Any], version: str) -> Generator[None, None, tuple[str, int]]:
    """Return, in steps, `v1:sha256:…` over the canonical JSON of a whole document, counts and policies included; and its bytes."""
    hashed, size = _sha256()(), 0
    for piece in canonical_pieces(document):
        hashed.update(piece)
        size += len(piece)
        yield
    return digest_text(hashed.hexdigest(), version), size


def digest_text(hashed: str, version: str) -> str:
    """Return a digest as it is written, from a SHA-256 in hexadecimal."""
    return f"{version}:sha256:{hashed}"


def version_of(digest: str) -> str:
    """Return the version of the lowering rules that a digest begins with."""
    return digest.partition(":")[0]


@cache
def _sha256() -> Any:
    # Python's own SHA-256 if there is one, as in its `random`: loading OpenSSL for one digest would take a tenth of the run.
    return next(module for module in map(_module, ("_sha2", "_sha256", "hashlib")) if module is not None).sha256


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None
