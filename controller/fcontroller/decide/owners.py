"""Who owns what: a Framework its ConfigMap and Services, the ConfigMap of an attempt its Pods.

By these references Kubernetes' garbage collector deletes. Anybody may write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fcompile.model.names import API_VERSION, FRAMEWORK_NAME, KIND, config_map_name

FOREGROUND: Final = "foregroundDeletion"
"""The finalizer with which the garbage collector keeps an owner until what blocks its deletion is gone."""
ORPHAN: Final = "orphan"
"""The finalizer with which it takes the owner off what it owns, so that this stays."""
_LONGEST_NAME = 253


def framework_owner(framework: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference by which a Framework owns an object."""
    return _reference(API_VERSION, KIND, framework["metadata"])


def config_map_owner(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference by which the ConfigMap with this metadata owns a Pod."""
    return _reference("v1", "ConfigMap", metadata)


def _reference(api_version: str, kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def owners(metadata: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the references to an object's owners."""
    return metadata.get("ownerReferences") or ()


def controller_of(metadata: Mapping[str, Any]) -> str:
    """Return the uid of the owner that is the object's controller, or the empty string."""
    return next((str(owner["uid"]) for owner in owners(metadata) if owner.get("controller")), "")


def shortened(owner: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reference whose texts are no longer than any name: the API server takes a megabyte, and that is then none of ours."""
    return {key: value[:_LONGEST_NAME] if isinstance(value, str) else value for key, value in owner.items()}


def is_labelled(metadata: Mapping[str, Any], framework: str) -> bool:
    """Return whether an object has the label of its Framework, without which lists of the Framework's objects do not show it."""
    return bool((metadata.get("labels") or {}).get(FRAMEWORK_NAME) == framework)


def is_framework(owner: Mapping[str, Any], name: str | None = None) -> bool:
    """Return whether an owner is a Framework, with that name unless it is None."""
    return (owner.get("apiVersion"), owner.get("kind")) == (API_VERSION, KIND) and name in (None, owner.get("name"))


def is_config_map(owner: Mapping[str, Any], framework: str) -> bool:
    """Return whether an owner is the ConfigMap of a Framework with that name."""
    return (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) == ("v1", "ConfigMap", config_map_name(framework))


def awaits_collector(metadata: Mapping[str, Any]) -> bool:
    """Return whether an object is being deleted in the foreground: it stays until the garbage collector says that what it owns is gone."""
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or ())
