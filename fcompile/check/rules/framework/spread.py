"""Spread constraints whose selector matches no Pod of the Framework."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.check.context import FrameworkContext, RoleContext, contains_index
from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Finding, Path, warning_rule
from fcompile.lower.placeholders import substitute
from fcompile.model import names
from fcompile.model.values import mapping, sequence, text

SPREADS_NONE = warning_rule(
    code="FC517",
    name="spread-counts-no-task",
    summary="A topology spread constraint selects by a label that the role's own Pods do not have.",
    why=(
        "The scheduler counts only the Pods that the selector matches. Where there is none, every node will do, and all tasks may land on "
        "one."
    ),
    remedy=(
        "Give the template that label, or select by `FC_FRAMEWORK_NAME` and `FC_TASKROLE_NAME`, which each Pod has. If Pods of others are "
        "meant, waive it."
    ),
)

_FEW = 8
"""Constraints of a role that are looked at."""

Labels = dict[str, str | None]
"""By key; None where the value is another one for each task."""


class _Requirement(NamedTuple):
    key: str
    operator: str
    values: tuple[str, ...]
    path: Path


def spread_rules(context: FrameworkContext) -> Iterator[Finding]:
    """Yield the spread constraints that count no Pod of any role of the Framework."""
    of_roles = [_labels(context, role) for role in context.roles]
    for role, own in zip(context.roles, of_roles, strict=True):
        constraints = entries(mapping(role.template, "spec"), (*role.template_path, "spec"), "topologySpreadConstraints")
        for constraint, path in constraints[:_FEW]:
            values = context.values(role, 0)
            requirements = list(_requirements(mapping(constraint, "labelSelector"), (*path, "labelSelector"), values))
            missed = next((requirement for requirement in requirements if not _holds(requirement, own)), None)
            # Tasks may be spread by where those of another role are.
            if missed and not any(all(_holds(requirement, labels) for requirement in requirements) for labels in of_roles):
                message = f"this counts no Pod of the role, so it spreads none of them: they {_why(missed, own)}"
                yield Finding(SPREADS_NONE, missed.path, message)


def _labels(context: FrameworkContext, role: RoleContext) -> Labels:
    values = context.values(role, 0)
    written = mapping(mapping(role.template, "metadata"), "labels")
    labels = {substitute(key, values): _value(value, values) for key, value in written.items()}
    return {**labels, names.FRAMEWORK_NAME: context.name, names.TASKROLE_NAME: role.name, names.TASK_INDEX: None}


def _value(written: Any, values: dict[str, str]) -> str | None:
    """Return what a text is in each task; None where that differs or is not known."""
    if not isinstance(written, str) or contains_index(written):
        return None
    value = substitute(written, values)
    return None if "{{" in value else value


def _requirements(selector: dict[str, Any], path: Path, values: dict[str, str]) -> Iterator[_Requirement]:
    """Yield what a selector asks of labels, where that can be known."""
    asked = [(key, "In", [value], (*path, "matchLabels", key)) for key, value in mapping(selector, "matchLabels").items()]
    for expression, place in entries(selector, path, "matchExpressions"):
        asked.append((text(expression, "key") or "", text(expression, "operator") or "", sequence(expression, "values"), place))
    for key, operator, wanted, place in asked:
        known = tuple(value for item in wanted if (value := _value(item, values)) is not None)
        if len(known) == len(wanted):
            yield _Requirement(substitute(key, values), operator, known, place)


def _holds(requirement: _Requirement, labels: Labels) -> bool:
    key, operator, values, _ = requirement
    value = labels.get(key)
    if not key:
        return True  # Has a rule of its own.
    if key in labels and value is None:
        return operator != "DoesNotExist"
    match operator:
        case "In":
            return value in values or not values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return True


def _why(missed: _Requirement, labels: Labels) -> str:
    key, operator = missed.key, missed.operator
    value = labels.get(key)
    if value is None:
        return f"have no label `{key}`: add it to `metadata.labels` of the template, or select by FC_FRAMEWORK_NAME"
    return f"have `{key}: {value}`: {'write that' if operator == 'In' else 'leave it out'}"
