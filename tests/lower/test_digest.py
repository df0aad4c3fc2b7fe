"""The digest is SHA-256 over canonical JSON, wherever it comes from."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fcompile.lower.digest import V1, digest
from fcompile.lower.intent import at_once


def test_digest_can_be_computed_by_anybody() -> None:
    roles: list[dict[str, Any]] = [{"name": "b", "pod": {"é": [1, 0.5, "x"]}, "service": None}, {"name": "a", "pod": {}, "service": None}]
    content = {"lowering": V1, "roles": roles[::-1]}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert at_once(digest(roles, V1)) == f"v1:sha256:{hashlib.sha256(written).hexdigest()}"
