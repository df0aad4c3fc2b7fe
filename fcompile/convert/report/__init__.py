"""The report of a conversion, one format a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from fcompile.convert.conversion import Conversion

FORMATS = ("text", "markdown", "json")


def report(conversion: Conversion, form: str, *, verbose: bool = False) -> Iterator[str]:
    """Yield the report of a conversion in a format.

    :param verbose: fields that are converted, or change nothing, one by one; JSON has them always.
    """
    write: Callable[[Conversion, bool], Iterator[str]] = import_module(f"fcompile.convert.report.{form}").write
    yield from write(conversion, verbose)
