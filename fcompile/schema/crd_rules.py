"""Rules of the CRD over several fields, in CEL.

A type's rules are checked wherever the type is used. The API server bounds what all rules may cost together, from how many items a list
may have: so some lists have a bound that nobody meets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fcompile.model.fields import Type


class Rule(NamedTuple):
    """One rule. `fields`: those of the type that the expression needs; where a version lacks one, the rule is left out."""

    expression: str
    message: str
    fields: tuple[str, ...] = ()

    def holds_for(self, fields: Type, version: int) -> bool:
        return all(field in fields for field in self.fields)

    def printed(self) -> dict[str, Any]:
        return {"rule": self.expression, "message": self.message}


RULES: dict[str, tuple[Rule, ...]] = {}
