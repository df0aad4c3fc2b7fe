"""The containers of a Pod among themselves: names, restart policies, and what init containers may not have."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.check.pod_context import PROBES, ContainerRef, Pod
from fcompile.check.pod_values import entries, given
from fcompile.check.seen import Seen, repeated
from fcompile.diagnostics.problem import Finding, error_rule
from fcompile.model import gates
from fcompile.model.values import sequence, text

DUPLICATE_CONTAINER = error_rule(
    code="FC201",
    name="duplicate-container-name",
    summary="Two containers of a Pod have the same name.",
    why="Regular and init containers share one set of names.",
    remedy="Rename one of the two.",
)
INIT_HOOK = error_rule(
    code="FC202",
    name="init-container-hook",
    summary="An init container that is not a sidecar has a probe or a lifecycle hook.",
    why="Probes and hooks need a container that keeps running.",
    remedy="Remove them, or make it a sidecar with `restartPolicy: Always` (Kubernetes 1.29 and newer).",
)
CONTAINER_RESTART_POLICY = error_rule(
    code="FC203",
    name="container-restart-policy",
    summary="A regular container has a restartPolicy of its own, which this Kubernetes version does not allow.",
    why="Before 1.35 only init containers can have one.",
    remedy="Remove it, so that the Pod's restartPolicy applies, or check for Kubernetes 1.35 or newer.",
)
RESTART_RULES = error_rule(
    code="FC204",
    name="restart-policy-rules",
    summary="A container has restartPolicyRules where they are not allowed.",
    why="They need the container's own `restartPolicy`, and on sidecars they came with Kubernetes 1.36.",
    remedy="Add a `restartPolicy` to the container, or remove them.",
)
RESIZE_POLICY = error_rule(
    code="FC205",
    name="resize-policy",
    summary="A resizePolicy contradicts itself or the restart policy.",
    why=(
        "A container has one entry for each of cpu and memory. RestartContainer is only for containers that can be restarted: "
        "not in a Pod with `restartPolicy: Never`, and from 1.36 not in an init container that is not a sidecar."
    ),
    remedy="Remove the entry, or use NotRequired.",
)


def container_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the list of containers, and of settings of a container that depend on its kind."""
    seen = Seen()
    for container in pod.containers:
        name, path = container.name, (*container.path, "name")
        if name and (first := seen.again(name, path)):
            message = f'the container name "{name}" is taken in this Pod; choose another'
            yield Finding(DUPLICATE_CONTAINER, path, message, related=first)
        fields = container.fields
        if container.is_init and not container.is_sidecar:
            yield from _init_hooks(container, pod.version)
        if "restartPolicy" in fields or "restartPolicyRules" in fields:
            yield from _restart_policy(container, pod.version)
        if "resizePolicy" in fields and pod.version >= gates.RESIZE_POLICY:
            yield from _resize_policy(container, pod)


def _init_hooks(container: ContainerRef, version: int) -> Iterator[Finding]:
    for hook in ("lifecycle", *PROBES):
        value = container.fields.get(hook)
        if value is None:
            continue
        if hook == "lifecycle" and isinstance(value, dict) and set(value) == {"stopSignal"} and version >= gates.KNOWS_STOP_SIGNAL:
            continue  # Taken out with its gated field, before anything looks at it.
        message = f'`{hook}` is not allowed on the init container "{container.name}", which runs to its end; remove it'
        if version >= gates.SIDECARS:
            message += ", or make the container a sidecar with `restartPolicy: Always`"
        yield Finding(INIT_HOOK, (*container.path, hook), message, part="key")


def _restart_policy(container: ContainerRef, version: int) -> Iterator[Finding]:
    if version < gates.KNOWS_RESTART_RULES:
        if version >= gates.KNOWS_SIDECARS and not container.is_init and given(container.fields, "restartPolicy"):
            message = f"`restartPolicy` on a regular container needs Kubernetes 1.35, and this is for 1.{version}; use that of the Pod"
            yield Finding(CONTAINER_RESTART_POLICY, (*container.path, "restartPolicy"), message, part="key")
        return
    if version < gates.CONTAINER_RESTART_RULES or not sequence(container.fields, "restartPolicyRules"):
        return
    path = (*container.path, "restartPolicyRules")
    if not given(container.fields, "restartPolicy"):
        message = "`restartPolicyRules` need the container's own `restartPolicy`; add it"
        yield Finding(RESTART_RULES, path, message, part="key")
    elif container.is_sidecar and version < gates.RESTART_ALL_CONTAINERS:
        message = f"`restartPolicyRules` are not allowed on a sidecar in Kubernetes 1.{version}; remove them"
        yield Finding(RESTART_RULES, path, message, part="key")


def _resize_policy(container: ContainerRef, pod: Pod) -> Iterator[Finding]:
    for resource, path, first in repeated(container.fields, container.path, "resizePolicy", "resourceName"):
        yield Finding(RESIZE_POLICY, path, f'`resizePolicy` has a second entry for "{resource}"; remove one', related=first)
    runs_once = container.is_init and not container.is_sidecar and pod.version >= 36
    for entry, path in entries(container.fields, container.path, "resizePolicy"):
        restarts = text(entry, "restartPolicy") == "RestartContainer"
        if restarts and pod.restart_policy == "Never":
            message = "`restartPolicy: RestartContainer` does not go with `restartPolicy: Never` of the Pod; write NotRequired"
            yield Finding(RESIZE_POLICY, (*path, "restartPolicy"), message)
        elif restarts and runs_once:
            message = "an init container that is not a sidecar cannot be restarted to be resized; write NotRequired"
            yield Finding(RESIZE_POLICY, (*path, "restartPolicy"), message)
