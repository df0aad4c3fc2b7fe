"""A strategic merge, as far as patches of runtimes need it: lists of named things are merged by their names, all others replaced."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from fcompile.convert.ledger import Refusal
from fcompile.diagnostics.problem import Path

_KEYS = {
    "replicatedJobs": "name",
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
}
"""What identifies an item of a list."""


def merge(base: Any, patch: Any, path: Path, field: str = "") -> Any:
    """Return the base with a patch applied; neither is changed. A null in the patch removes a field. Raises Refusal for `$patch`.

    :param path: of the patch, in its source.
    :param field: the name of the field that holds both.
    """
    if isinstance(patch, dict):
        made = deepcopy(base) if isinstance(base, dict) else {}
        for key, value in patch.items():
            if key.startswith("$"):
                raise Refusal((*path, key), "such a directive of a patch is not carried out here: write the result into the runtime")
            if value is None:
                made.pop(key, None)
            else:
                made[key] = merge(made.get(key), value, (*path, key), key)
        return made
    if isinstance(patch, list) and isinstance(base, list) and field in _KEYS:
        return _merge_lists(base, patch, path, _KEYS[field])
    return deepcopy(patch)


def _merge_lists(base: list[Any], patch: list[Any], path: Path, key: str) -> list[Any]:
    made = deepcopy(base)
    for number, item in enumerate(patch):
        here = (*path, number)
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            raise Refusal(here, f"an item of a patch needs its `{key}`")
        places = [place for place, one in enumerate(made) if isinstance(one, dict) and one.get(key) == item[key]]
        if places:
            made[places[0]] = merge(made[places[0]], item, here)
        else:
            made.append(merge(None, item, here))
    return made
