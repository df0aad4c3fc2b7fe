"""Where a path leads through the links of a commit."""

from __future__ import annotations

from collections.abc import Mapping

_MOST_HOPS, _LONGEST_LINK = 40, 4096
"""What Linux follows: so many links after another, and so many bytes of where one leads."""


def end_of(path: bytes, links: Mapping[bytes, bytes]) -> bytes:
    """Return where a path leads within the tree; empty: out of it, or nowhere."""
    done: list[bytes] = []
    left, hops = path.split(b"/")[::-1], 0
    while left:
        step = left.pop()
        if step == b"..":
            if not done:
                return b""
            done.pop()
        elif step not in (b"", b"."):
            done.append(step)
            target = links.get(b"/".join(done))
            if target is not None:
                hops += 1
                if hops > _MOST_HOPS or target.startswith(b"/") or len(target) > _LONGEST_LINK:
                    return b""
                done.pop()
                left += target.split(b"/")[::-1]
    return b"/".join(done)
