"""What the models of printed JSON have in common."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

ABSENT: Any = None
"""The default of a field that may be left out. It is never printed as null for that."""
Position = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]


class Report(BaseModel):
    """A part of what a command prints. Fields may be added without a new version, so what is not known is ignored."""

    model_config = ConfigDict(strict=True, use_attribute_docstrings=True)
