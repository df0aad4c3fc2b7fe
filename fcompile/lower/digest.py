"""The digest of an intent: what was reviewed, in 78 characters."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from fcompile.emit.json import canonical

LOWERING_VERSION = "v1"
"""The version of the lowering rules. Any change of what `lower` makes of a Framework needs a new one."""


def digest(roles: list[dict[str, Any]]) -> str:
    """`v1:sha256:…` over the canonical JSON of what Pods and Services will be.

    `roles` are mappings of `name`, `pod` and `service` (null without one). Their order does not count, nor do counts and
    policies, which stay outside: scaling and stopping never change a digest.
    """
    content = {"lowering": LOWERING_VERSION, "roles": sorted(roles, key=lambda role: str(role["name"]))}
    return f"{LOWERING_VERSION}:sha256:{_sha256()(canonical(content)).hexdigest()}"


@cache
def _sha256() -> Any:
    # Python's own SHA-256 where there is one, as its `random` does: loading OpenSSL for one digest would be a tenth of the whole run.
    return next(found for found in map(_module, ("_sha2", "_sha256", "hashlib")) if found is not None).sha256


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None
