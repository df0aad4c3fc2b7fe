"""What a field of a manifest has besides what pydantic has words for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from fcompile.model.framework import INT32_MAX


@dataclass(frozen=True, kw_only=True)
class Also:
    """Metadata of a field, for `Annotated`. The names are those of `fcompile.model.fields.Field`, which explains them."""

    format: str = ""
    keys: str = ""
    ref: str = ""
    map_keys: tuple[str, ...] = ()
    enum: tuple[str, ...] = ()
    nullable: bool = False
    nonempty: bool = False
    forbidden: str = ""
    default: Any = None
    """Of an object that is filled in where it is left out. Not the model's own default: a change of that would not be dumped."""


Int32 = Annotated[int, Field(le=INT32_MAX), Also(format="int32")]
Int64 = Annotated[int, Also(format="int64")]
Labels = Annotated[dict[str, str] | None, Also(keys="label-key", format="label-value")]
Annotations = Annotated[dict[str, str] | None, Also(keys="annotation-key")]


class Manifest(BaseModel):
    """A part of a manifest. It keeps fields that it does not know, and refuses values of other types, out of bounds or of no known word."""

    model_config = ConfigDict(strict=True, extra="allow", validate_assignment=True, use_attribute_docstrings=True)

    def manifest(self) -> dict[str, Any]:
        """Return what was given, as plain mappings and lists: no default is filled in, and a null stays."""
        return self.model_dump(exclude_unset=True, by_alias=True, warnings=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show what was given, and no defaults."""
        return [(name, value) for name, value in super().__repr_args__() if name in self.model_fields_set]
