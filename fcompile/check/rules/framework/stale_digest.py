"""The digest in a compiled Framework: the controller compares it with what it would run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.problem import Finding, warning_rule
from fcompile.lower.digest import KNOWN, version_of
from fcompile.model.names import DIGEST_ANNOTATION

STALE_DIGEST = warning_rule(
    code="FC414",
    name="stale-digest",
    summary="A compiled Framework was changed, and its digest was not.",
    why="The digest says what was reviewed. The controller makes no Pods from anything else.",
    remedy="Compile the source again with `fcompile build`. In a source, remove the annotation: `build` adds it.",
)
_PATH = ("metadata", "annotations", DIGEST_ANNOTATION)


def stale_digest(said: str, framework: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding if `said` is not the digest of a Framework that has no errors."""
    from fcompile.default import default
    from fcompile.lower.intent import is_digest_of

    if is_digest_of(said, default(framework).framework):
        return
    version = version_of(said)
    if version[:1] == "v" and version[1:].isdecimal() and version not in KNOWN:
        known = " and ".join(KNOWN)
        message = f"the lowering rules of this digest are {version[:20]}, and this fcompile has {known}: use one version of both"
    else:
        message = "this is not the digest of the spec: the controller makes no Pods of it; compile it again with `fcompile build`"
    yield Finding(STALE_DIGEST, _PATH, message)
