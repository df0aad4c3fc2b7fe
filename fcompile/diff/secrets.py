"""Stars in place of the values of Secrets, wherever these stand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fcompile.default import LAST_APPLIED
from fcompile.model.values import mapping

STARS = "***"
_VALUES = ("data", "stringData")


def is_secret(kind: Any) -> bool:
    """Return whether this is the kind of a Secret. `secret` is none, and what is in it is meant to be as secret."""
    return isinstance(kind, str) and kind.lower() == "secret"


def masked(secret: dict[str, Any], other: dict[str, Any], which: str = " (before)") -> dict[str, Any]:
    """Return a Secret with stars in place of its values, and which side it is where the other one has another value, as kubectl has it."""
    shown = dict(secret)
    for field in _VALUES:
        if field in secret:
            shown[field] = _stars(secret[field], other.get(field), which)
    metadata, others = (mapping(mapping(one, "metadata"), "annotations") for one in (secret, other))
    if LAST_APPLIED in metadata:
        annotations = {**metadata, **_stars({LAST_APPLIED: metadata[LAST_APPLIED]}, others, which)}
        shown["metadata"] = {**mapping(secret, "metadata"), "annotations": annotations}
    return shown


def _stars(values: Any, others: Any, which: str) -> Any:
    """Return stars for each value, or for what is no mapping as it should be; a value that the other side lacks is on one side alone."""
    if not isinstance(values, dict):
        return STARS + which * (others is not None and others != values)
    known: Mapping[str, Any] = others if isinstance(others, dict) else {}
    return {key: STARS + which * (key in known and known[key] != value) for key, value in values.items()}


class Stars:
    """Puts stars in place of the values of Secrets within other things, such as a file: `*** (value 2)`, with one number for equal values.

    There nothing says which Secret of one side is which of the other.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, value: Any) -> str:
        """Return the stars for a value."""
        number = self._numbers.setdefault(json.dumps(value, sort_keys=True), len(self._numbers) + 1)
        return f"{STARS} (value {number:,})"

    def within(self, value: Any) -> Any:
        """Return a value with stars in it."""
        if isinstance(value, list):
            return [self.within(item) for item in value]
        if not isinstance(value, dict):
            return value
        shown = {key: self._each(item) if key.lower() == "secretgenerator" else self.within(item) for key, item in value.items()}
        if is_secret(value.get("kind")):
            self._hide(shown, value)
        return shown

    def _hide(self, shown: dict[str, Any], secret: dict[str, Any]) -> None:
        for field in _VALUES:
            if isinstance(secret.get(field), dict):
                shown[field] = {key: self.of(value) for key, value in secret[field].items()}
            elif field in secret:
                shown[field] = self.of(secret[field])
        annotations = mapping(mapping(secret, "metadata"), "annotations")
        if LAST_APPLIED in annotations:
            hidden = {**annotations, LAST_APPLIED: self.of(annotations[LAST_APPLIED])}
            shown["metadata"] = {**shown["metadata"], "annotations": hidden}

    def _each(self, generators: Any) -> Any:
        """Return what generates Secrets in a kustomization with stars in place of literals, `password=***`."""
        if not isinstance(generators, list):
            return self.within(generators)
        return [
            {**one, "literals": [self._literal(literal) for literal in one["literals"]]}
            if isinstance(one, dict) and isinstance(one.get("literals"), list)
            else self.within(one)
            for one in generators
        ]

    def _literal(self, literal: Any) -> Any:
        if not isinstance(literal, str):
            return self.of(literal)
        name, equals, value = literal.partition("=")
        return f"{name}={self.of(value)}" if equals else self.of(literal)
