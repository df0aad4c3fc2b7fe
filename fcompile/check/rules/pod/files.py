"""Files that Kubernetes writes into a volume: items of ConfigMaps and Secrets, and of the downward API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries
from fcompile.check.rules.pod.certificates import CERTIFICATE_FILES
from fcompile.check.rules.pod.field_refs import field_ref, resource_field_ref
from fcompile.diagnostics.problem import Finding, Path, Related, error_rule, warning_rule
from fcompile.model.values import text

DOWNWARD_FILE = error_rule(
    code="FC244",
    name="downward-api-file",
    summary="A file of the downward API has no source, or two.",
    why="Each file has exactly one of fieldRef and resourceFieldRef.",
    remedy="Keep one of the two.",
)
OVERLAPPING_FILES = warning_rule(
    code="FC245",
    name="overlapping-volume-files",
    summary="Two files in a volume are put at the same path, or one inside the other.",
    why="Only one of them will be there, or the volume cannot be set up.",
    remedy="Give each a path of its own.",
)

_BETWEEN = "\0"
"""In place of `/`: it sorts before all else."""


def downward_files(source: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the `items` of a downward API volume."""
    for item, item_path in entries(source, path, "items"):
        field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        if field is None and resource is None:
            yield Finding(DOWNWARD_FILE, item_path, "the file has no content; add fieldRef or resourceFieldRef")
        elif field is not None and resource is not None:
            message = "`resourceFieldRef` and `fieldRef` exclude each other; keep one"
            yield Finding(DOWNWARD_FILE, (*item_path, "resourceFieldRef"), message, part="key")
        if isinstance(field, dict):
            yield from field_ref(field, (*item_path, "fieldRef"), pod.version, in_file=True)
        elif isinstance(resource, dict):
            yield from resource_field_ref(resource, (*item_path, "resourceFieldRef"), pod, in_file=True)


def overlapping(sources: list[tuple[dict[str, Any], Path]]) -> Iterator[Finding]:
    """Yield files of one volume that hide each other. `sources`: objects with `items`, or with paths of their own, and their places."""
    named = [(file.rstrip("/"), file_path) for source, path in sources for file, file_path in files(source, path)]
    for number, other in sorted(_clashes([file.replace("/", _BETWEEN) for file, _ in named]).items()):
        file, file_path = named[number]
        message = f'the file "{file}" is in the way of another one of this volume; choose another path'
        yield Finding(OVERLAPPING_FILES, file_path, message, related=(Related("the other one", named[other][1]),))


def _clashes(files: list[str]) -> dict[int, int]:
    """Return which files are in the way of one before them, by their numbers, with the first of these.

    None is held against all folders that it lies in: of one path of some kilobytes there can be thousands.
    """
    found: dict[int, int] = {}
    above: list[tuple[str, int]] = []  # The files that the current one lies in, the outermost first.
    for number in sorted(range(len(files)), key=files.__getitem__):  # A file stands before those that lie in it.
        file = files[number] + _BETWEEN
        while above and not file.startswith(above[-1][0]):
            above.pop()
        for _, other in above:
            later, earlier = max(number, other), min(number, other)
            found[later] = min(found.get(later, earlier), earlier)
        if not above or above[-1][0] != file:
            above.append((file, number))
    return found


def files(source: dict[str, Any], path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that a source puts into its volume, each with the path of the field that names it."""
    places = [(item, item_path, "path") for item, item_path in entries(source, path, "items")]
    for owner, owner_path, key in (*places, *((source, path, key) for key in ("path", *CERTIFICATE_FILES))):
        if file := text(owner, key):
            yield file, (*owner_path, key)
