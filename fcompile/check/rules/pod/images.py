"""Images whose name no runtime can read: the API server takes them, and the kubelet then says InvalidImageName, for ever.

The grammar is that of the distribution project's references, by which kubelets read images.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Finding, Fix, Path, error_rule
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, text

UNREADABLE_IMAGE = error_rule(
    code="FC217",
    name="unreadable-image",
    summary="No container runtime can read the name of an image.",
    why="The API server takes it, and then no container ever starts (InvalidImageName).",
    remedy="Write `registry/path:tag`, with the path in lower case. Fill in variables before: nothing does so later.",
)

_DOMAIN = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_DIGEST = r"sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}"
_IMAGE = lazy(rf"(?P<name>(?:{_DOMAIN}/)?{_PART}(?:/{_PART})*)(?::\w[\w.-]{{0,127}})?(?:@(?:{_DIGEST}))?", re.ASCII)
_LONGEST_NAME = 255
_LONGEST = _LONGEST_NAME + 300
"""With a tag of 128 characters and a digest; what is longer need not be looked at."""
_BARE_ID = lazy(r"[0-9a-f]{64}")
_SCHEME = lazy(r"[A-Za-z][A-Za-z0-9+.-]*://")
_TO_FILL_IN = lazy(r"\{\{|\{%|\$\{|\$\(|\$[A-Za-z_]|<[A-Za-z_ -]+>")
_OURS = "{{FC_"
"""Images with this are skipped: an unknown placeholder is reported by a rule of its own."""


def image_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the images of containers and of volumes that cannot be read."""
    for container in pod.containers:
        yield from _image(container.fields, "image", container.path)
    for volume, path in entries(pod.spec, pod.path, "volumes"):
        yield from _image(mapping(volume, "image"), "reference", (*path, "image"))


def readable(image: str) -> bool:
    """Return whether a container runtime can read the name of an image."""
    if len(image) > _LONGEST or _BARE_ID.fullmatch(image):
        return False
    match = _IMAGE.fullmatch(image)
    return match is not None and len(match["name"]) <= _LONGEST_NAME


def _image(fields: dict[str, Any], field: str, path: Path) -> Iterator[Finding]:
    image = text(fields, field)
    # The API server itself refuses space around it, which another rule reports.
    if not image or image != image.strip() or readable(image) or _OURS in image:
        return
    here = (*path, field)
    why, better = _why(image)
    fix = Fix(f"write {better}", here, "value", better) if better and readable(better) else None
    shown = image if len(image) <= 80 else f"{image[:77]}…"
    yield Finding(UNREADABLE_IMAGE, here, f"no runtime can pull the image `{shown}`: {why}", fix=fix)


def _why(image: str) -> tuple[str, str]:
    """Return what is wrong with a name, and perhaps a better one."""
    scheme = _SCHEME.match(image)
    name, at, digest = image.partition("@")
    if _TO_FILL_IN.search(image):
        return "nothing fills in the variable; render the file first, or write the value", ""
    if scheme:
        return f"leave `{scheme.group()}` out", image[scheme.end() :]
    if any(character.isspace() for character in image):
        return "take the spaces out", ""
    if at and not re.fullmatch(_DIGEST, digest):
        return "after `@` write a digest, which is `sha256:` and 64 digits from 0 to f", ""
    if image.endswith((":", "@", "/")):
        return f"leave out the `{image[-1]}` at its end, or write what follows it", image[:-1]
    if _BARE_ID.fullmatch(image):
        return "it is the id of an image; write the name of one", ""
    if name != name.lower():
        lower = _lower_path(image)
        if readable(lower):
            return f"the path is in lower case: `{lower}`", lower
    return "write `registry/path:tag` of lower-case letters, digits, `.`, `-` and `_`", ""


def _lower_path(image: str) -> str:
    """Return the name with all but its tag and digest in lower case."""
    name, at, digest = image.partition("@")
    path, slash, last = name.rpartition("/")
    last, colon, tag = last.partition(":")
    return f"{path.lower()}{slash}{last.lower()}{colon}{tag}{at}{digest}"
