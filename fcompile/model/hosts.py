"""Where in a text a host name may stand: a part of a path is none, nor is a bucket."""

from __future__ import annotations

from fcompile.model.patterns import lazy

_BUCKET = lazy(r"(?i)(?<![a-z0-9+.-])(?:s3[an]?|gs|gcs|oss|obs|cosn?|az|abfss?|wasbs?|r2|b2|file)://\Z")
"""What begins the address of a bucket, or of a file."""
_LONGEST_SCHEME = 12


def may_be_host(text: str, start: int, end: int) -> bool:
    """Return whether what stands there can be a host name: not within a path, but at the beginning of a URL."""
    if start >= 2 and text.startswith("//", start - 2):
        return _BUCKET.search(text, max(start - _LONGEST_SCHEME, 0), start) is None
    return not (text.startswith("/", end) or (start > 0 and text.startswith("/", start - 1)))
