"""`parameters`: what can be set in an application, with the values in its source, as Argo CD's announcements (JSON).

Each name is what `generate` takes as the name of a parameter. The defaults that are announced are never sent back: they are those of
`settings`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeGuard

from fcompile.commands.argocd import application
from fcompile.commands.argocd.generate import enter
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import settings
from fcompile.commands.argocd.sources import sources
from fcompile.commands.group import command
from fcompile.diagnostics.visible import without_commands
from fcompile.errors import UsageError
from fcompile.load import read
from fcompile.load.files import may_hold_framework
from fcompile.model.values import mapping, sequence, text
from fcompile.pipeline import overrides
from fcompile.pipeline.file import File
from fcompile.program import say

MOST = 500
"""More fields than that are no form that anybody fills in."""
_LONGEST = 1_000
"""Characters of a name or a value, which are more than any has that is right. One of megabytes would be announced with each resource."""
Announcement = dict[str, Any]


@command(
    page="argocd.md",
    examples={
        "fcompile argocd parameters": "of the application in this folder",
        "fcompile argocd parameters apps/train | jq -r '.[].name'": "the names alone",
    },
)
@application
def parameters(*, folder: str) -> int:
    """Print what can be set in the roles of the application, as Argo CD's announcements (JSON).

    What is wrong with the application is for `fcompile argocd generate` to say.
    """
    repository = enter(folder)
    found: list[Announcement] = []
    try:
        found += islice(_of_application(repository), MOST + 1)
    except UsageError as error:
        say(str(error))
    if len(found) > MOST:
        say(f"only {MOST} parameters are announced; every other field of a role can be set as well")
    print(without_commands(json.dumps([*_GENERAL, *found[:MOST]])))
    return 0


def _of_application(repository: Repository) -> Iterator[Announcement]:
    for source in sources(repository, settings(os.environ)):
        data = source.content(repository)
        if may_hold_framework(data):
            for framework, name, role in overrides.roles(File(source.name, list(read(data, source.name))).frameworks()):
                if _is_name(framework) and _is_name(name):
                    yield from _of_role(f"{framework}/{name}", role)


def _of_role(name: str, role: Any) -> Iterator[Announcement]:
    if _is_value(tasks := role.get("taskNumber", 1)):
        yield _announcement(f"{name}.taskNumber", f"{name}: tasks", "How many tasks the role has", tasks, "number")
    spec = mapping(mapping(mapping(role, "task"), "pod"), "spec")
    for kind in ("containers", "initContainers"):
        for container in sequence(spec, kind):
            label = text(container, "name")
            if _is_name(label):
                place = f"task.pod.spec.{kind}[{label}]"
                yield from _of_container(f"{name}.{place}", f"{name}, {label}", container)


def _of_container(name: str, title: str, container: Any) -> Iterator[Announcement]:
    if "image" in container and _is_value(container["image"]):
        yield _announcement(f"{name}.image", f"{title}: image", "The image of this container in every task", container["image"])
    for kind in ("requests", "limits"):
        for resource, amount in mapping(mapping(container, "resources"), kind).items():
            if not _is_name(resource) or not _is_value(amount):
                continue
            step = f'["{resource}"]' if not resource.isalnum() else f".{resource}"
            yield _announcement(f"{name}.resources.{kind}{step}", f"{title}: {kind} of {resource}", "For each task", amount)


def _is_name(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST


def _is_value(value: Any) -> bool:
    return value is None or (isinstance(value, bool | int | float | str) and len(str(value)) <= _LONGEST)


def _announcement(name: str, title: str, tooltip: str, value: Any, item_type: str = "", kind: str = "string") -> Announcement:
    held = value if kind != "string" else "" if value is None else str(value)
    said = {"name": name, "title": title, "tooltip": tooltip, "collectionType": kind, kind: held}
    return {**said, "itemType": item_type} if item_type else said


_GENERAL: tuple[Announcement, ...] = (
    _announcement("pods", "show the expected Pods", "Compare the Pods that run with those that were reviewed", "false", "boolean"),
    _announcement("pods-per-role", "expected Pods of a role", "At most so many are shown", "50", "number"),
    _announcement("strict", "strict", "Take warnings for errors", "false", "boolean"),
    _announcement("allow-empty", "allow no Framework at all", "Else an application without Frameworks is an error", "false", "boolean"),
    _announcement("kubernetes-version", "Kubernetes version", "What is checked for; by default that of the cluster", ""),
    _announcement("set", "fields of roles", "[framework/]role.field: value, for any field of a role", {}, kind="map"),
    _announcement("values-files", "values files", "For a Helm chart, in their order", [], kind="array"),
    _announcement("helm-parameters", "Helm values", "For a Helm chart, over its values files", {}, kind="map"),
)
