"""Where a Pod may be scheduled: tolerations, spread constraints, gates, priority, overhead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import choice, entries, given
from fcompile.check.rules.pod.affinity import deprecated_label, match_label_keys, matches_nothing
from fcompile.check.rules.pod.selectors import selector_rules
from fcompile.check.seen import Seen, repeated
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.formats import accepts
from fcompile.model.values import integer, mapping, sequence, text

TOLERATION = error_rule(
    code="FC279",
    name="toleration",
    summary="The fields of a toleration do not go together.",
    why=(
        "Exists takes no value, and an empty key needs Exists; Equal takes the value of a label; tolerationSeconds needs the "
        "effect NoExecute."
    ),
    remedy="Remove what does not belong to the operator.",
)
SPREAD = error_rule(
    code="FC280",
    name="topology-spread",
    summary="Topology spread constraints repeat or contradict each other.",
    why="There is one constraint for each pair of topologyKey and whenUnsatisfiable, and `minDomains` goes only with DoNotSchedule.",
    remedy="Remove what the message names.",
)
SCHEDULING_GATE = error_rule(
    code="FC281",
    name="scheduling-gate",
    summary="A scheduling gate is there twice, or the Pod has a nodeName already.",
    why="A Pod with gates waits to be scheduled, so it cannot have `nodeName`.",
    remedy="Remove `nodeName`, and list each gate once.",
)
PRIORITY = error_rule(
    code="FC282",
    name="priority",
    summary="The Pod's priority or preemptionPolicy is not that of its priority class.",
    why="The API server fills both in from the class in `priorityClassName`.",
    remedy="Leave them out.",
)
PRIORITY_ALONE = warning_rule(
    code="FC283",
    name="priority-without-class",
    summary="The Pod has a priority or preemptionPolicy, but no priorityClassName.",
    why="The API server refuses it unless it is that of the cluster's default priority class.",
    remedy="Use `priorityClassName`.",
)
OVERHEAD = error_rule(
    code="FC284",
    name="overhead-without-runtime-class",
    summary="The Pod has an overhead but no runtime class.",
    why="The API server fills `overhead` in from the RuntimeClass.",
    remedy="Leave it out, or name the class in `runtimeClassName`.",
)

_PREEMPTS = "PreemptLowerPriority"
_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_HIGHEST_PRIORITY = 1_000_000_000
"""Of all other classes."""


def scheduling_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of what decides where the Pod runs, affinity aside."""
    spec = pod.spec
    for key in mapping(spec, "nodeSelector"):
        yield from deprecated_label(key, (*pod.path, "nodeSelector", key), "key")
    for toleration, path in entries(spec, pod.path, "tolerations"):
        yield from toleration_rules(toleration, path)
    if "topologySpreadConstraints" in spec:
        yield from _spread(pod)
    if "schedulingGates" in spec and pod.version >= gates.SCHEDULING_GATES:
        yield from _gates(pod)
    if "priority" in spec or "preemptionPolicy" in spec:
        yield from _priority(pod)
    if isinstance(spec.get("overhead"), dict) and not given(spec, "runtimeClassName"):
        message = "`overhead` comes from the runtime class, and the Pod names none; remove it, or add `runtimeClassName`"
        yield Finding(OVERHEAD, (*pod.path, "overhead"), message, part="key")


def toleration_rules(toleration: dict[str, Any], path: Path) -> Iterator[Finding]:
    """Yield the problems of one toleration."""
    key, operator, value = text(toleration, "key"), choice(toleration, "operator", "Equal"), text(toleration, "value")
    if operator == "Exists":
        if value:
            message = f'`operator: Exists` takes no `value`, and "{value}" is given; remove one of the two'
            yield Finding(TOLERATION, (*path, "value"), message)
    elif operator == "Equal":
        if not key:
            field_path = next(((*path, field) for field in ("operator", "key") if field in toleration), path)
            message = "a toleration without `key` is for all taints and needs `operator: Exists`; add the key or write Exists"
            yield Finding(TOLERATION, field_path, message)
        if value and not accepts("label-value")(value):
            yield Finding(TOLERATION, (*path, "value"), f'"{value}" cannot be the value of a taint; correct it')
    effect = text(toleration, "effect")
    if given(toleration, "tolerationSeconds") and effect != "NoExecute":
        field_path = (*path, "effect") if effect else (*path, "tolerationSeconds")
        yield Finding(TOLERATION, field_path, "`tolerationSeconds` needs `effect: NoExecute`; write it, or remove the seconds")


def _spread(pod: Pod) -> Iterator[Finding]:
    seen = Seen()
    for constraint, path in entries(pod.spec, pod.path, "topologySpreadConstraints"):
        key, action = text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable")
        if first := seen.again((key, action), path):
            message = f'there is a constraint for "{key}" with {action} already; join the two'
            yield Finding(SPREAD, path, message, related=first)
        yield from deprecated_label(key, (*path, "topologyKey"), "value")
        if given(constraint, "minDomains") and pod.version >= gates.MIN_DOMAINS and action == "ScheduleAnyway":
            message = f"`minDomains` needs `whenUnsatisfiable: DoNotSchedule`, not {action}; change one of the two"
            yield Finding(SPREAD, (*path, "minDomains"), message, part="key")
        yield from _spread_selector(constraint, path, pod)


def _spread_selector(constraint: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    if constraint.get("labelSelector") is None:
        yield matches_nothing(path)
    elif pod.version >= gates.SPREAD_SELECTORS:
        yield from selector_rules(constraint, path, "labelSelector")
    if "matchLabelKeys" in constraint and pod.version >= gates.SPREAD_MATCH_LABEL_KEYS:
        yield from match_label_keys(constraint, path, pod, merges=pod.version >= gates.SPREAD_SELECTOR_MERGE)


def _gates(pod: Pod) -> Iterator[Finding]:
    for name, path, first in repeated(pod.spec, pod.path, "schedulingGates", "name"):
        yield Finding(SCHEDULING_GATE, path, f'the gate "{name}" is there already; remove one', related=first)
    if sequence(pod.spec, "schedulingGates") and text(pod.spec, "nodeName"):
        message = "`nodeName` cannot be set while there are `schedulingGates`; drop one of the two"
        yield Finding(SCHEDULING_GATE, (*pod.path, "nodeName"), message, part="key")


def _priority(pod: Pod) -> Iterator[Finding]:
    name = text(pod.spec, "priorityClassName")
    usual = _SYSTEM_PRIORITIES.get(name or "", 0)
    settings = {"priority": (integer(pod.spec, "priority"), usual), "preemptionPolicy": (text(pod.spec, "preemptionPolicy"), _PREEMPTS)}
    for key, (value, wanted) in settings.items():
        if value is None or value == wanted:
            continue
        if name in _SYSTEM_PRIORITIES:
            yield Finding(PRIORITY, (*pod.path, key), f"`{key}` {value} is not the {wanted} of {name}; leave it out")
        elif isinstance(value, int) and value > _HIGHEST_PRIORITY:
            yield Finding(
                PRIORITY, (*pod.path, key), f"`{key}` {value} is more than {_HIGHEST_PRIORITY}, the most of any class; leave it out"
            )
        elif not name:
            message = f"`{key}` {value} is refused unless it is the cluster's default; name the class in `priorityClassName` instead"
            yield Finding(PRIORITY_ALONE, (*pod.path, key), message, part="key")
