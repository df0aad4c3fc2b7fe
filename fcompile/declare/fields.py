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


_DECLARED = "fcompile.declare.framework"
"""Where the models are whose defaults are the controller's."""

Int32 = Annotated[int, Field(le=INT32_MAX), Also(format="int32")]
Int64 = Annotated[int, Also(format="int64")]
Labels = Annotated[dict[str, str] | None, Also(keys="label-key", format="label-value")]
Annotations = Annotated[dict[str, str] | None, Also(keys="annotation-key")]


class Manifest(BaseModel):
    """A part of a manifest. It keeps fields that it does not know, and refuses values of other types, out of bounds or of no known word."""

    model_config = ConfigDict(strict=True, extra="allow", validate_assignment=True, use_attribute_docstrings=True)

    def model_post_init(self, context: Any, /) -> None:
        """Take the defaults of a subclass for given: whoever writes one means it, and the controller does not know it."""
        cls = type(self)
        if cls.__module__ == _DECLARED:
            return
        declared = next((base.model_fields for base in cls.__mro__ if base.__module__ == _DECLARED and issubclass(base, Manifest)), {})
        for name, field in declared.items():
            own = cls.model_fields[name]
            if not own.is_required() and (own.default, own.default_factory) != (field.default, field.default_factory):
                self.model_fields_set.add(name)

    def manifest(self) -> dict[str, Any]:
        """Return what was given, as plain mappings and lists: no default is filled in but that of a subclass, and a null stays."""
        return self.model_dump(exclude_unset=True, by_alias=True, warnings=False)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show what was given, and no defaults."""
        return [(name, value) for name, value in super().__repr_args__() if name in self.model_fields_set]
