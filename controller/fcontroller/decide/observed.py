"""What the controller has seen of a ConfigMap or Pod: only what decisions depend on, since ten thousand whole Pods are 100 MB."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from fcompile.model.names import config_map_name
from fcontroller.decide.go_json import valid
from fcontroller.decide.owners import FOREGROUND, controller_of, is_config_map, is_framework, owners
from fcontroller.decide.status import from_time

T = TypeVar("T")
PENDING, CREATING, INITIALIZING = "Pending", "ContainerCreating", "PodInitializing"
_SAME: Final = {"ErrImagePull": "ImagePullBackOff"}
"""Reasons that alternate with another one, and count as that one."""
_DISRUPTION: Final = "DisruptionTarget"
_LONGEST: Final = 300
"""Characters of a message, of which ten thousand may be in memory."""
_END: Final = 32 * 1024
"""Bytes of what is kept of a Pod's end. Kubelets write 12 KiB of messages; whoever may write pods/status, a megabyte for each Pod."""
_NODE_NAME: Final = 253
"""Characters that a node can be called by. The API server takes a megabyte from whoever may create pods/binding."""
_SHORT, _FEW = 100, 20
"""Characters of each text, and items of each list, that are kept of one that is longer."""


class ConfigMap(NamedTuple):
    """The object under the name of the Framework's ConfigMap."""

    uid: str
    controller: str
    """The uid of its controller; empty when it has none."""
    deletion_start: float | None
    """When its deletion was requested, in seconds since 1970; None: it was not."""
    awaits_collector: bool = False
    """Whether a Framework of its name owns it, and its deletion waits until the garbage collector says that its Pods are gone."""
    created: float | None = None
    """When it was created, in seconds since 1970."""
    version: str = ""
    """Its resourceVersion."""


class Wait(NamedTuple):
    """What a Pod waits for. The reason is what `kubectl get pods` shows."""

    reason: str
    message: str


class Container(NamedTuple):
    """What is known of a container of a Pod that has finished. For one that has not terminated this is only the name."""

    name: str
    terminated: bool
    reason: str
    message: str
    signal: int
    code: int
    finished_at: str
    judged: bool
    """Whether the Pod has ended by it: not by a sidecar, which the kubelet ends after the others, so that its exit code says nothing."""


class FinishedPod(NamedTuple):
    """The part of a Pod that tells how it ended. The rest may change without a meaning."""

    name: str
    succeeded: bool
    reason: str
    message: str
    containers: tuple[Container, ...]
    """Init containers first."""
    disruption: tuple[str, ...]
    """As `disruption` returns it."""


read_end: Final = msgspec.json.Decoder(FinishedPod).decode


class Pod(NamedTuple):
    """The object under the name of a task's Pod."""

    uid: str
    controller: str
    phase: str
    node_name: str
    ip: str
    host_ip: str
    deletion_start: float | None
    """When its deletion was requested, in seconds since 1970; None: it was not."""
    finished: bytes | None
    """The `FinishedPod`, once its phase is Failed or Succeeded. It is JSON text: as values it would take five times the memory."""
    grace: float = 0
    """For how many seconds it may run on after that: at most its own grace period, whatever whoever deletes it asks for."""
    marked: bool = False
    """Whether it is being deleted with no grace period left and no finalizer. A Pod stays like this if its deletion was interrupted."""
    disruption: str = ""
    """Why Kubernetes deletes it, if it does and says so."""
    owners: int = 1
    """How many owners it has; 0 where none of them owns it as an attempt's ConfigMap does.

    It goes with its controller only when that is the last of them. The garbage collector leaves it alone where the controller is of a kind
    that is not known, and does not wait for it where it does not block."""
    waits: Wait | None = None
    """What it waits for; None: it has started. Nothing is decided by it."""


def config_map(value: Mapping[str, Any]) -> ConfigMap:
    """Read the fields of a ConfigMap that decisions depend on."""
    metadata = value["metadata"]
    return ConfigMap(
        metadata["uid"],
        _controller(metadata),
        deletion_start=_deletion_start(metadata),
        awaits_collector=FOREGROUND in (metadata.get("finalizers") or ()) and _is_of_a_framework(metadata),
        created=from_time(metadata.get("creationTimestamp")),
        version=metadata.get("resourceVersion", ""),
    )


def pod(value: Mapping[str, Any]) -> Pod:
    """Read the fields of a Pod that decisions depend on."""
    metadata, spec, status = value["metadata"], value["spec"], value.get("status") or {}
    phase = status.get("phase", "")
    return Pod(
        # A hundred thousand Pods share these.
        uid=sys.intern(metadata["uid"]),
        controller=sys.intern(_controller(metadata)),
        phase=sys.intern(phase[:_SHORT]),
        node_name=sys.intern(spec.get("nodeName", "")[:_NODE_NAME]),
        ip=status.get("podIP", ""),
        host_ip=sys.intern(status.get("hostIP", "")[:_SHORT]),
        deletion_start=_deletion_start(metadata),
        finished=_bounded(read_pod(value)) if phase in ("Succeeded", "Failed") else None,
        grace=min(metadata.get("deletionGracePeriodSeconds") or 0, spec.get("terminationGracePeriodSeconds", 30)),
        marked="deletionTimestamp" in metadata and not metadata.get("deletionGracePeriodSeconds") and not metadata.get("finalizers"),
        disruption=": ".join(disruption(status))[:_LONGEST] if "deletionTimestamp" in metadata else "",
        owners=_owners(metadata),
        waits=_wait(spec, status) if phase == PENDING else None,
    )


def read_pod(pod: Mapping[str, Any]) -> FinishedPod:
    """Read the fields of a finished Pod that classify its end. A field that is missing or null is read as empty, as Go does."""
    status, init_containers = _field(pod, "status", dict, {}), _field(_field(pod, "spec", dict, {}), "initContainers", list, [])
    sidecars = {_text(item, "name") for item in init_containers if _text(item, "restartPolicy") == "Always"}
    statuses = [*_field(status, "initContainerStatuses", list, []), *_field(status, "containerStatuses", list, [])]
    return FinishedPod(
        name=_text(_field(pod, "metadata", dict, {}), "name"),
        succeeded=status.get("phase") == "Succeeded",
        reason=_text(status, "reason"),
        message=_text(status, "message"),
        containers=tuple([_read_container(item, sidecars) for item in statuses]),
        disruption=disruption(status),
    )


def _read_container(status: Any, sidecars: Collection[str]) -> Container:
    name, terminated = _text(status, "name"), _field(status, "state", dict, {}).get("terminated")
    return Container(
        name=name,
        terminated=isinstance(terminated, dict),
        reason=_text(terminated, "reason"),
        message=_text(terminated, "message"),
        signal=_field(terminated, "signal", int, 0),
        code=_field(terminated, "exitCode", int, 0),
        finished_at=_text(terminated, "finishedAt"),
        judged=name not in sidecars,
    )


def _field(value: Any, key: str, kind: type[T], missing: T) -> T:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, kind) and not isinstance(found, bool) else missing


def _text(value: Any, key: str) -> str:
    return valid(_field(value, key, str, ""))


def _bounded(end: FinishedPod) -> bytes:
    text = msgspec.json.encode(end)
    return text if len(text) <= _END else msgspec.json.encode(_cut(msgspec.json.decode(text)))


def _cut(value: Any) -> Any:
    if isinstance(value, list):
        return [_cut(item) for item in value[:_FEW]]
    return value[:_SHORT] if isinstance(value, str) else value


def disruption(status: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the reason and the message of a Pod's condition DisruptionTarget; nothing if Kubernetes does not say that it takes it away."""
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and (condition.get("type"), condition.get("status")) == (_DISRUPTION, "True"):
            return valid(str(condition.get("reason", ""))), valid(str(condition.get("message", "")))
    return ()


def _wait(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Wait:
    reason, message = _of_containers(spec, status) if spec.get("nodeName") else _of_scheduler(status)
    return Wait(_SAME.get(reason, reason)[:_LONGEST], message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…")


def _of_scheduler(status: Mapping[str, Any]) -> tuple[str, str]:
    for condition in status.get("conditions") or ():
        if (condition.get("type"), condition.get("status")) == ("PodScheduled", "False"):
            return condition.get("reason") or PENDING, condition.get("message") or "it has no node yet"
    return PENDING, "no scheduler has said anything about it yet"


def _of_containers(spec: Mapping[str, Any], status: Mapping[str, Any]) -> tuple[str, str]:
    """Return what keeps a Pod's containers from running. Init containers, which come first, run one after the other."""
    initial, others = status.get("initContainerStatuses") or (), status.get("containerStatuses") or ()
    for container in (*initial, *others):
        waiting = (container.get("state") or {}).get("waiting") or {}
        reason = waiting.get("reason")
        if reason and reason not in (CREATING, INITIALIZING):
            return reason, f"container {container.get('name')}: {waiting.get('message') or 'no more is said about it'}"
    sidecars = [container.get("name") for container in spec.get("initContainers") or () if container.get("restartPolicy") == "Always"]
    for container in initial:
        if "running" in (container.get("state") or {}) and not (container.get("started") and container.get("name") in sidecars):
            return INITIALIZING, f"init container {container.get('name')} runs"
    if initial or others:
        return CREATING, "its node makes its volumes and network ready, or pulls an image: the Pod's Events may say more"
    return PENDING, "its node has said nothing about it yet"


def _controller(metadata: Mapping[str, Any]) -> str:
    # The API server gives uids of 36 characters, and takes a megabyte in a reference. None that is longer is one of ours.
    return controller_of(metadata)[:_SHORT]


def _owners(pod: Mapping[str, Any]) -> int:
    found = owners(pod)
    as_made = [owner for owner in found if owner.get("controller") is True and owner.get("blockOwnerDeletion") is True]
    return len(found) if any([is_config_map(owner, pod["name"].partition("-")[0]) for owner in as_made]) else 0


def _is_of_a_framework(metadata: Mapping[str, Any]) -> bool:
    controllers = [owner for owner in owners(metadata) if owner.get("controller")]
    return any([is_framework(owner) and config_map_name(owner["name"]) == metadata["name"] for owner in controllers])


def _deletion_start(metadata: Mapping[str, Any]) -> float | None:
    # `deletionTimestamp` is when the object must be gone: so many seconds after its deletion was requested.
    end = from_time(metadata.get("deletionTimestamp"))
    return None if end is None else end - (metadata.get("deletionGracePeriodSeconds") or 0)
