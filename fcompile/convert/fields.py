"""Fields of a source of which nothing is known yet, read with their place: what is of a wrong type refuses the job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fcompile.convert.ledger import Refusal
from fcompile.diagnostics.problem import Path
from fcompile.model.framework import INT32_MAX

_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)
_KINDS = {dict: "a mapping", list: "a list", str: "a string", bool: "true or false", int: "a whole number"}


class Fields:
    """A mapping of the source, and where it is. A field that is null counts as absent, as it does to the API server."""

    def __init__(self, value: dict[str, Any], path: Path) -> None:
        self.value = value
        self.path = path

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def at(self, key: str) -> Path:
        """Return the path of a field."""
        return (*self.path, key)

    def below(self, key: str) -> Fields:
        """Return the mapping in a field; an empty one when it is absent."""
        found = self._of(key, dict)
        return Fields({} if found is None else found, self.at(key))

    def each(self) -> Iterator[str]:
        """Yield the names of the fields that are there."""
        yield from (key for key, item in self.value.items() if item is not None)

    def text(self, key: str) -> str | None:
        """Return a string."""
        found: str | None = self._of(key, str)
        return found

    def flag(self, key: str) -> bool | None:
        """Return a boolean."""
        found: bool | None = self._of(key, bool)
        return found

    def items(self, key: str) -> list[Any]:
        """Return a list; an empty one when it is absent."""
        return self._of(key, list) or []

    def mappings(self, key: str, what: str = "it", source: Path | None = None) -> Iterator[Fields]:
        """Yield the items of a list, each of which must be a mapping.

        :param what: what to call an item. :param source: what stands for each in the source, where they are not in the source themselves.
        """
        for number, item in enumerate(self.items(key)):
            path = (*self.at(key), number)
            if not isinstance(item, dict):
                raise Refusal(source or path, f"{what} must be a mapping")
            yield Fields(item, path)

    def count(self, key: str, low: int = 0, high: int = INT32_MAX) -> int | None:
        """Return a whole number."""
        found = self.value.get(key)
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if found is None:
            return None
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            instead = int(found) if isinstance(found, str) and _DIGITS.fullmatch(found) else 0
            raise Refusal(self.at(key), f"it must be a whole number from {low} to {high}", instead=max(low, min(instead or 1, high)))
        return found

    def _of(self, key: str, kind: type) -> Any:
        found = self.value.get(key)
        if found is not None and type(found) is not kind:
            raise Refusal(self.at(key), f"it must be {_KINDS[kind]}{_as_text(found) if kind is str else ''}")
        return found


def _as_text(found: Any) -> str:
    """Return what to write for a value that YAML reads as something else than a string."""
    if isinstance(found, bool):
        return f", and without quotes YAML reads this one as {str(found).lower()}"
    return f': write "{found}"' if isinstance(found, int | float) else ""
