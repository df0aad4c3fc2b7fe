"""What the editors' JSON Schema and the CRD say in the same words."""

from __future__ import annotations

from typing import Any

from fcompile.model import names
from fcompile.model.fields import Field
from fcompile.model.framework import INT32_MAX

Schema = dict[str, Any]
PLACEHOLDER = rf"\{{\{{(FC_[A-Z_]+|{names.SUM})\}}\}}"
"""A pattern for what is let through wherever a form is asked for."""


def bounds(field: Field) -> Schema:
    """Return the smallest and the largest number that a field can have, and of a list the numbers of its items."""
    if field.kind == "list":
        return {**({"minItems": 1} if field.required else {}), **({"maxItems": field.max_items} if field.max_items else {})}
    low, high = field.minimum, field.maximum
    if field.kind == "integer" and field.format in ("int32", "file-mode"):
        low, high = -INT32_MAX - 1 if low is None else low, INT32_MAX if high is None else high
    return {key: bound for key, bound in (("minimum", low), ("maximum", high)) if bound is not None}
