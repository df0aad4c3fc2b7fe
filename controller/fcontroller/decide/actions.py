"""What a reconciliation decides to do: requests to the API server, as values. `reconcile.perform` carries them out.

Each has the uid that it relies on, so that it does nothing to another object of the same name.
"""

from __future__ import annotations

from typing import NamedTuple

from fcontroller.decide.codes import Json
from fcontroller.decide.status import Key


class CreateConfigMap(NamedTuple):
    """Begin the attempt of the Framework: store its intent, make its Services."""


class DeleteConfigMap(NamedTuple):
    """Delete the ConfigMap, if it still is the one with that uid."""

    uid: str
    completion: Json | None = None
    """When given: also make sure that it is gone, and then complete the attempt like this."""


class RemoveConfigMap(NamedTuple):
    """Delete a ConfigMap of ours that the cache may not show, make sure that it is gone, and complete the attempt."""

    completion: Json


class ReleaseConfigMap(NamedTuple):
    """Take the garbage collector's finalizer off the ConfigMap with that uid, which is being deleted, if no Pod has it for an owner."""

    uid: str
    key: Key = ("", -1)
    """No task's, nor the Framework's own: a Stop must not wait until all Pods of the namespace are listed."""


class ConfirmConfigMapGone(NamedTuple):
    """Ask the API server whether the ConfigMap is gone, which the cache no longer shows.

    If it is still there, it is deleted where that is due, and otherwise gets back its label.
    """

    uid: str


class CreatePod(NamedTuple):
    """Begin an attempt of a task."""

    key: Key


class DeletePod(NamedTuple):
    """Delete the task's Pod, if it still is the one with that uid."""

    key: Key
    uid: str
    force: bool = False
    completion: Json | None = None
    """As in `DeleteConfigMap`."""


class RemovePod(NamedTuple):
    """As `RemoveConfigMap`, for a Pod."""

    key: Key
    completion: Json


class RecognizePod(NamedTuple):
    """Accept a Pod of unknown uid as the task's own if it is exactly what the task's attempt makes; else delete it."""

    key: Key
    uid: str


class ConfirmPodGone(NamedTuple):
    """Ask the API server whether the task's Pod is gone, which the cache no longer shows; delete it if it has only lost its label."""

    key: Key
    uid: str
    completion: Json
    """Of the attempt, once it is gone."""


class AdoptPod(NamedTuple):
    """Give the task's Pod its owners again, which somebody has changed, if it still is the Pod with that uid."""

    key: Key
    uid: str


class MovePod(NamedTuple):
    """Make the Framework the owner of a Pod that is kept, in place of the ConfigMap, if it still is the Pod with that uid."""

    key: Key
    uid: str


Action = (
    CreateConfigMap
    | DeleteConfigMap
    | RemoveConfigMap
    | ReleaseConfigMap
    | ConfirmConfigMapGone
    | CreatePod
    | DeletePod
    | RemovePod
    | RecognizePod
    | ConfirmPodGone
    | AdoptPod
    | MovePod
)


def key_of(action: Action) -> Key | None:
    """Return the task that an action is for; None: it is for the Framework itself."""
    return getattr(action, "key", None)


CREATIONS = (CreateConfigMap, CreatePod)
DELETIONS = (DeleteConfigMap, RemoveConfigMap, ReleaseConfigMap, DeletePod, RemovePod, MovePod)
"""Actions that delete something, or lead to that. In a pause they may only do so where the Framework itself is being deleted.

The others read first, and delete nothing while the Framework is paused.
"""
