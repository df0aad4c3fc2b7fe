"""The form of a Pod's spec, as far as a conversion goes into it. All else is looked at in the Framework."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from fcompile.check.rules.framework.sizes import ETCD_BYTES
from fcompile.convert.draft import RoleDraft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Refusal
from fcompile.diagnostics.problem import Part, Path
from fcompile.diagnostics.suggestions import closest

NAMED_BYTES = len('{"name":"a"},')
"""No container, volume or variable has fewer."""
_TOO_LARGE = f"its Framework would have more than {ETCD_BYTES:,} bytes, which is all that etcd takes"
_MOST_KEYS = 100
"""Of a mapping that are compared with what they may have been meant to be."""


def require_containers(template: Fields, source: Path | None = None) -> None:
    """Raise Refusal where Pods have no containers, which may be there under a name that is nearly right.

    :param source: as of `refuse_misspelt`.
    """
    spec = template.below("spec")
    if not spec.items("containers"):
        refuse_misspelt(template, ("metadata", "spec"), source=source)
        refuse_misspelt(spec, ("containers",), source=source)
        raise Refusal(source or spec.at("containers"), "its Pods have no containers")


def require_shape(spec: Fields) -> None:
    """Raise Refusal where what is added to has another form than it must."""
    for kind in ("containers", "initContainers"):
        for container in spec.mappings(kind):
            _require_container(container)
    for volume in spec.mappings("volumes"):
        volume.text("name")


def refuse_misspelt(
    fields: Fields, known: Iterable[str], elsewhere: Mapping[str, str] = MappingProxyType({}), source: Path | None = None
) -> None:
    """Raise Refusal where a field is there under a name that is nearly right, or that belongs elsewhere: the API server takes none such.

    :param elsewhere: where fields are that people write here.
    :param source: what stands for every field in the source, where the fields are not in the source themselves.
    """
    left = [field for field in known if field not in fields.value]
    part: Part = "key" if source is None else "value"
    for key in islice((key for key in fields.each() if isinstance(key, str) and key not in known), _MOST_KEYS):
        if key in elsewhere:
            raise Refusal(source or fields.at(key), f"the operator has no field `{key}` here: it is `{elsewhere[key]}`", part=part)
        near = closest(key, left)
        if near is not None:
            raise Refusal(source or fields.at(key), f"the operator has no field `{key}`: did you mean `{near.word}`?", near.word, part=part)


def require_room(count: int, least: int, path: Path) -> None:
    """Raise Refusal where so many things of at least so many bytes each are more than etcd takes, before they are made."""
    if count * least > ETCD_BYTES:
        raise Refusal(path, _TOO_LARGE)


def require_size(roles: Iterable[RoleDraft], path: Path) -> None:
    """Raise Refusal where the roles alone are more than etcd takes, before anything of them is written: a variable may name all tasks."""
    if size([role.template for role in roles], ETCD_BYTES) > ETCD_BYTES:
        raise Refusal(path, _TOO_LARGE)


def size(whole: Any, most: int = sys.maxsize) -> int:
    """Return how many bytes a value has at least when it is written. It is not looked at any further once that is too many."""
    found = 0
    waiting: list[Any] = [whole]
    while waiting and found <= most:
        value = waiting.pop()
        found += len(value) + 1 if isinstance(value, str | dict | list) else 1
        if isinstance(value, dict):
            found += sum(map(len, value))
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return found


def _require_container(container: Fields) -> None:
    container.text("name")
    container.below("resources").below("limits")
    container.below("resources").below("requests")
    container.items("envFrom")
    for field in ("env", "ports", "volumeMounts"):
        for item in container.mappings(field):
            item.text("name")
