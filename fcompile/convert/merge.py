"""A strategic merge, as far as patches of runtimes need it: lists of named things are merged by their names, all others replaced."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from fcompile.convert.ledger import Refusal
from fcompile.diagnostics.problem import Path

KEYS = {
    **dict.fromkeys(("replicatedJobs", "containers", "initContainers", "env", "volumes", "imagePullSecrets", "schedulingGates"), "name"),
    "volumeMounts": "mountPath",
}
"""What identifies an item of a list."""


class Patched:
    """A value that patches are applied to, one after the other, as they come."""

    def __init__(self, value: Any) -> None:
        """Take the value: it is changed from now on."""
        self.value = value
        # The lists are kept, so that none gets the identity of one that is gone.
        self._places: dict[int, tuple[list[Any], dict[str, int]]] = {}

    def apply(self, patch: Any, path: Path) -> None:
        """Apply a patch, which is not changed. A null in it removes a field. Raises Refusal for `$patch`.

        :param path: of the patch, in its source.
        """
        self.value = self._merged(self.value, patch, path, "")

    def _merged(self, base: Any, patch: Any, path: Path, field: str) -> Any:
        if isinstance(patch, dict):
            made = base if isinstance(base, dict) else {}
            for key, value in patch.items():
                if key.startswith("$"):
                    raise Refusal((*path, key), "such a directive of a patch is not carried out here: write the result into the runtime")
                if value is None:
                    made.pop(key, None)
                else:
                    made[key] = self._merged(made.get(key), value, (*path, key), key)
            return made
        if isinstance(patch, list) and isinstance(base, list) and field in KEYS:
            self._merge_list(base, patch, path, KEYS[field])
            return base
        return deepcopy(patch)

    def _merge_list(self, made: list[Any], patch: list[Any], path: Path, key: str) -> None:
        places = self._places_in(made, key)
        for number, item in enumerate(patch):
            here = (*path, number)
            if not isinstance(item, dict) or not isinstance(item.get(key), str):
                raise Refusal(here, f"an item of a patch needs its `{key}`")
            place = places.setdefault(item[key], len(made))
            if place == len(made):
                made.append(None)
            made[place] = self._merged(made[place], item, here, "")

    def _places_in(self, items: list[Any], key: str) -> dict[str, int]:
        """Return where in a list the first item of each name is."""
        if id(items) not in self._places:
            places: dict[str, int] = {}
            for place, item in enumerate(items):
                if isinstance(item, dict) and isinstance(item.get(key), str):
                    places.setdefault(item[key], place)
            self._places[id(items)] = items, places
        return self._places[id(items)][1]
