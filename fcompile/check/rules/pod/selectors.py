"""Label selectors and node selectors: operators and the values that go with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_values import entries, texts
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model.formats import accepts
from fcompile.model.values import mapping, sequence, text

SELECTOR_VALUES = error_rule(
    code="FC275",
    name="selector-values",
    summary="The operator of a selector and its values do not go together.",
    why="In and NotIn need values, Exists and DoesNotExist must have none, Gt and Lt (node selectors only) take exactly one.",
    remedy="Change the operator or its values.",
)
NODE_REQUIREMENT = error_rule(
    code="FC276",
    name="node-requirement",
    summary="A node selector asks for something that no node can have.",
    why="Values must be valid values of labels. `matchFields` knows only metadata.name, with In or NotIn and one node.",
    remedy="Correct what the message names.",
)
NOT_A_NUMBER = warning_rule(
    code="FC277",
    name="selector-compares-text",
    summary="A Gt or Lt of a node selector has a value that is not a whole number.",
    why="The API server does not look, but the scheduler can never match it.",
    remedy="Give a whole number.",
)


def selector_rules(owner: dict[str, Any], path: Path, key: str) -> Iterator[Finding]:
    """Yield the problems of the label selector under `key` of the object at `path`, if there is one."""
    for requirement, requirement_path in entries(mapping(owner, key), (*path, key), "matchExpressions"):
        yield from _values(requirement, requirement_path)


def node_term_rules(term: dict[str, Any], path: Path, *, required: bool, version: int) -> Iterator[Finding]:
    """Yield the problems of one term of a node selector. `required`: of an affinity that must be fulfilled."""
    for requirement, item_path in entries(term, path, "matchExpressions"):
        yield from _values(requirement, item_path)
        for value, value_path in texts(requirement, item_path, "values") if required and version >= 33 else ():
            if not accepts("label-value")(value):
                yield Finding(NODE_REQUIREMENT, value_path, f'"{value}" cannot be the value of a label; correct it')
    for requirement, item_path in entries(term, path, "matchFields"):
        yield from _field(requirement, item_path)


def _values(requirement: dict[str, Any], path: Path) -> Iterator[Finding]:
    operator, values = text(requirement, "operator"), sequence(requirement, "values")
    if operator in ("In", "NotIn"):
        if not values:
            yield Finding(SELECTOR_VALUES, _place(requirement, path), f"`operator: {operator}` needs `values`; list at least one")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield Finding(SELECTOR_VALUES, (*path, "values"), f"`operator: {operator}` takes no `values`; remove them", part="key")
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            message = f"`operator: {operator}` takes exactly one value, not {len(values)}; list one"
            yield Finding(SELECTOR_VALUES, _place(requirement, path), message)
        elif isinstance(values[0], str) and not _is_integer(values[0]):
            message = f'`operator: {operator}` never matches with "{values[0]}", which is not a whole number; write one'
            yield Finding(NOT_A_NUMBER, (*path, "values", 0), message)


def _place(requirement: dict[str, Any], path: Path) -> Path:
    return (*path, "values") if "values" in requirement else path


def _is_integer(value: str) -> bool:
    digits = value[1:] if value[:1] in ("+", "-") else value
    return digits.isascii() and digits.isdigit()


def _field(requirement: dict[str, Any], path: Path) -> Iterator[Finding]:
    operator, key = text(requirement, "operator"), text(requirement, "key")
    values = sequence(requirement, "values")
    if operator and operator not in ("In", "NotIn"):
        message = f'`operator` in `matchFields` must be In or NotIn, not "{operator}"; change it'
        yield Finding(NODE_REQUIREMENT, (*path, "operator"), message)
    elif len(values) != 1:
        yield Finding(NODE_REQUIREMENT, _place(requirement, path), f"`matchFields` take exactly one value, not {len(values)}; list one")
    if key and key != "metadata.name":
        yield Finding(NODE_REQUIREMENT, (*path, "key"), f'`key` in `matchFields` must be metadata.name, not "{key}"; change it')
        return
    for position, value in enumerate(values):
        if value is None or (isinstance(value, str) and not accepts("dns-subdomain")(value)):
            yield Finding(NODE_REQUIREMENT, (*path, "values", position), f'"{value}" cannot be the name of a node; correct it')
