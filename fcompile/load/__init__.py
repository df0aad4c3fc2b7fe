"""Bytes → plain values with positions, exactly as kubectl reads YAML and JSON.

`read` gives every document of a file and every reason for one that cannot be read; `values` is for those who want only the values.
`fcompile.load.files` finds the files. What kubectl refuses is refused here, and so is what is too large to be of any use (`rules.py` has
the limits).
"""

from .document import Document
from .source import LoadError, Source
from .stream import read, values

__all__ = ["Document", "LoadError", "Source", "read", "values"]
