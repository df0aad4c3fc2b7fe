"""The templates of this folder, in an environment of Jinja that escapes what is inserted and lets no name be missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Return the environment. `finalize` makes each value what is inserted."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(os.path.dirname(__file__)),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
