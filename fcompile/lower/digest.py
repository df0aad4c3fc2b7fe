"""The digest of an intent: 78 characters that identify what was reviewed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from fcompile.emit.json import canonical

V1 = "v1"
"""The first version of the lowering rules. Any change of what `lower` makes of a Framework needs a new one."""
V2 = "v2"
"""The rules of v1, and sums with the index (`{{FC_TASK_INDEX+1}}`): only for Frameworks that have one, so that other digests stay."""
KNOWN = (V1, V2)
"""All that `lower` knows: a release keeps at least the version before its own, so that what was reviewed with that still runs."""


def digest(roles: list[dict[str, Any]], version: str) -> str:
    """Return `v1:sha256:…` over the canonical JSON of what Pods and Services will be.

    `roles` are mappings of `name`, `pod` and `service` (null without one). Their order does not count, nor do counts and
    policies, which stay outside: scaling and stopping never change a digest.
    """
    return document_digest(canonical({"lowering": version, "roles": sorted(roles, key=lambda role: str(role["name"]))}), version)


def document_digest(text: bytes, version: str) -> str:
    """Return `v1:sha256:…` over the canonical JSON of a whole document, counts and policies included."""
    return digest_text(_sha256()(text).hexdigest(), version)


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
