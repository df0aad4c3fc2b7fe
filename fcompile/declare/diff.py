"""The JSON of `fcompile diff`, written by `fcompile.diff.json`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from fcompile.declare.report import ABSENT, Count, Position, Report

Effect = Literal["nothing", "on-the-fly", "next-retry", "new-attempt", "refused"]
Kind = Literal["added", "removed", "changed"]


class Place(Report):
    """A place in a file."""

    file: str
    """The file as it was named or found."""
    line: Position
    """The line, from 1."""


class Tasks(Report):
    """How many tasks a role has."""

    before: Count | None
    """On the old side; null: the role is not there."""
    after: Count | None
    """On the new side; null: the role is not there."""


class RoleSize(Report):
    """A role and its size."""

    name: str
    """The role's name."""
    tasks: Tasks
    """How many tasks it has."""


class Amounts(Report):
    """How much of a resource all Pods ask for together, as people write it: `500m`, `900Gi`."""

    before: str
    """On the old side."""
    after: str
    """On the new side."""


class Difference(Report):
    """A field that differs."""

    field: str
    """The field's path. Items of lists are named by what identifies them, as in `containers[main]`."""
    before: Any = ABSENT
    """The old value, or what the API server fills in. Left out: the field is not there."""
    after: Any = ABSENT
    """The new value, or what the API server fills in. Left out: the field is not there."""


class Pods(Report):
    """Pods of a role that a change concerns."""

    names: str
    """Their names, as a shell expands them: `train-worker-{0..3}`."""
    count: Count
    """How many they are."""
    what: Literal["created", "deleted", "kept"]
    """What becomes of them. kept: they stay as they are until their next attempt."""


class Change(Difference):
    """A field that differs, and what that does to a Framework that runs."""

    role: str | None
    """The role that the field is in; null: it is the Framework's own."""
    part: Literal["framework", "role", "pod", "service"]
    """What `field` is in."""
    effect: Effect
    """When the change is so."""
    reason: str
    """Why it has this effect."""
    endsPods: bool
    """Whether it may end Pods before their own completion."""
    pods: list[Pods]
    """The Pods that it concerns."""
    note: str = ABSENT
    """What else there is to say."""


class Framework(Report):
    """A Framework that differs."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    kind: Kind
    """added or removed: it is on one side only."""
    effect: Effect
    """The weightiest of its changes'."""
    endsPods: bool
    """Whether Pods may be ended before their own completion."""
    before: Place | None
    """Where it is on the old side; null: it is added."""
    after: Place | None
    """Where it is on the new side; null: it is removed."""
    roles: list[RoleSize]
    """Its roles, and how many tasks they have."""
    resources: dict[str, Amounts]
    """What all of its Pods ask for together, by the resource's name; also where that does not differ."""
    changes: list[Change]
    """What differs. Empty for one that is added or removed."""


class Object(Report):
    """An object of another kind that differs."""

    kind: str
    """The object's kind. Or that of a file of which something else makes what runs:
    kustomization, Kptfile, patch, chart, template, source, parameters, values, attributes, LFS pointer.

    ignore file: it says what is left out. submodule: another repository, of which the commit is shown. link: where it leads.
    hidden file: it is in a hidden folder, which others may read. unreadable file: there seem to be objects in it.
    """
    namespace: str
    """Its namespace; empty: it has none."""
    name: str
    """Its name; of a file its path."""
    change: Kind
    """added or removed: it is on one side only."""
    endsPods: bool
    """Whether Pods end with it before their own completion."""
    before: str | None
    """The file on the old side; null: it is added."""
    after: str | None
    """The file on the new side; null: it is removed."""
    changes: list[Difference]
    """What differs. Empty for one that is added or removed, but a link: it has where it leads."""


class LivePods(Report):
    """Tasks of a role with which it stands alike in the cluster."""

    role: str | None
    """The role; null: Pods that no role explains."""
    kind: Literal["as-expected", "differ", "finished", "missing", "unexpected"]
    """finished: the task has completed, and its Pod is gone. unexpected: nobody expects the Pod."""
    names: str
    """The Pods' names, as a shell expands them."""
    count: Count
    """How many they are."""
    note: str
    """What else there is to say, such as the Pods' phase. Can be empty."""
    changes: list[Difference]
    """What differs: `before` is what runs, `after` what was reviewed."""


class LiveService(Report):
    """A Service that differs in the cluster."""

    name: str
    """Its name."""
    changes: list[Difference]
    """What differs: `before` is what is there, `after` what was reviewed."""


class Live(Report):
    """What runs of a Framework in the cluster."""

    namespace: str
    """The Framework's namespace."""
    name: str
    """The Framework's name."""
    state: str
    """The state in its status."""
    attempt: Count
    """The id of its attempt."""
    pods: list[LivePods]
    """Its tasks, by how it stands with them."""
    services: list[LiveService]
    """Its Services that differ."""


class Comparison(Report):
    """What will run differently, and what that does. Fields may be added without a new version: ignore what you do not know."""

    model_config = ConfigDict(title="What `fcompile diff --format json` prints")

    version: Literal[1]
    """Rises when a field goes away or changes its meaning."""
    differs: bool
    """Whether anything does."""
    effect: Effect
    """The weightiest of all Frameworks'."""
    endsPods: bool
    """Whether anything may end Pods before their own completion."""
    frameworks: list[Framework]
    """The Frameworks that differ, in the order of the new side."""
    objects: list[Object]
    """The objects of other kinds that differ."""
    live: list[Live]
    """What runs, if that was asked for."""
