"""Placeholders: `{{FC_TASK_INDEX}}` and five others, replaced in every string of a Pod template, keys included.

Plain substitution, as in FrameworkController: no spaces inside the braces, no nesting, anything else in double braces
(Helm's, Argo's, the shell's) stays as it is. No value contains an upper-case letter or a brace except a symbolic one, so
that the order of replacement cannot matter.

Since version v2 of the lowering rules there are sums of the index and a number, too: `{{FC_TASK_INDEX+1}}`. FrameworkController
does not replace them.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_not
from typing import Any

from fcompile.model import names
from fcompile.model.patterns import lazy

_PLACEHOLDER = lazy(r"\{\{(FC_[A-Z_]+(?:[+-][0-9]+)?)\}\}")
_SUM = lazy(rf"\{{\{{({names.SUM})\}}\}}")


def role_values(framework: str, role: str) -> dict[str, str]:
    """Return the values of the placeholders in a role; the namespace and the index stay placeholders."""
    index = names.placeholder(names.TASK_INDEX)
    return {
        names.FRAMEWORK_NAMESPACE: names.placeholder(names.FRAMEWORK_NAMESPACE),
        names.FRAMEWORK_NAME: framework,
        names.TASKROLE_NAME: role,
        names.TASK_INDEX: index,
        names.CONFIGMAP_NAME: names.config_map_name(framework),
        names.POD_NAME: names.pod_name(framework, role, index),
    }


def task_values(namespace: str, index: int | str, sums: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the values of the placeholders that a lowered role still has, for one task.

    :param sums: the sums in the role, as `sums_in` returns them; empty for an index that is not made of digits.
    """
    return {names.FRAMEWORK_NAMESPACE: namespace, **index_values(index, sums)}


def index_values(index: int | str, sums: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the values of a task's index and of each sum with it."""
    return {names.TASK_INDEX: str(index), **{written: str(int(index) + addend(written)) for written in sums}}


def values_of(framework: str, role: str, namespace: str, index: int, sums: tuple[str, ...]) -> dict[str, str]:
    """Return what each placeholder, and each of these sums, stands for in the template of a role for one task."""
    of_task = task_values(namespace, index, sums)
    return {**substitute(role_values(framework, role), of_task), **of_task}


def sums_in(value: Any) -> tuple[str, ...]:
    """Return each different sum, as `FC_TASK_INDEX+1`, in the strings of a value, keys included."""
    found: set[str] = set()
    waiting: list[Any] = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if "{{FC_TASK_INDEX" in value:
                found.update(match[1] for match in _SUM.finditer(value))
        elif isinstance(value, dict):
            waiting += value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return tuple(sorted(found))


def addend(written: str) -> int:
    """Return what is added to the index in a sum."""
    return int(written.removeprefix(names.TASK_INDEX))


def substitute(value: Any, values: Mapping[str, str]) -> Any:
    """Return `value` with each `{{NAME}}` of `values` replaced in all strings, keys included. The input is not changed.

    What has nothing to replace in it is not copied: the result may share parts with the input, and is the input when nothing at all
    is replaced. If two keys of a mapping become equal, the one that sorts later wins, as in FrameworkController.
    """
    kind = type(value)
    if kind is str:
        return _replace(value, values) if "{{FC_" in value else value
    if kind is dict:
        if "{{FC_" in "\n".join(value):
            return {_replace(key, values): substitute(value[key], values) for key in sorted(value)}
        changed = {}
        for key, item in value.items():
            kind = type(item)
            if (kind is str and "{{FC_" not in item) or (kind is not str and kind is not dict and kind is not list):
                continue  # most items by far: a call for each of them would take most of the time
            made = substitute(item, values)
            if made is not item:
                changed[key] = made
        return {**value, **changed} if changed else value
    if kind is list:
        made = [item if type(item) is str and "{{FC_" not in item else substitute(item, values) for item in value]
        return made if any(map(is_not, made, value)) else value
    return value


def substitute_again(value: Any, made: Any, values: Mapping[str, str]) -> Any:
    """Return `substitute(value, values)`, in less time.

    :param made: what `substitute` has made of the value with other values for the same placeholders.
    """
    if made is value:
        return value  # There is none in it.
    if type(value) is dict and "{{FC_" not in "\n".join(value):
        changed = {key: substitute_again(item, made[key], values) for key, item in value.items() if made[key] is not item}
        return {**value, **changed}
    if type(value) is list:
        return [substitute_again(item, other, values) for item, other in zip(value, made, strict=True)]
    return substitute(value, values)


def _replace(text: str, values: Mapping[str, str]) -> str:
    # In one pass: what one placeholder leaves is not looked at again, and thousands of different sums cost no more than one.
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
