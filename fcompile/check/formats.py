"""The forms of single strings, under the name that checks know. They live in `model.formats`: editors' schemas need them too."""

from __future__ import annotations

from fcompile.model.formats import FORMATS, MAX_ANNOTATIONS, SPACE, Format, accepts, suggestion

__all__ = ["FORMATS", "MAX_ANNOTATIONS", "SPACE", "Format", "accepts", "suggestion"]
