"""Problems: what they are (`problem`), and the formats that they are printed in, each in a module of its own."""

from __future__ import annotations

from typing import TextIO

from fcompile.diagnostics.writer import Style, Writer

FORMATS = {
    "text": "TextWriter",
    "json": "JsonWriter",
    "sarif": "SarifWriter",
    "junit": "JunitWriter",
    "github": "GithubWriter",
}
"""Every format, with the class in the module of the format's name that writes it."""


def open_writer(name: str, stream: TextIO, style: Style | None = None) -> Writer:
    """Return the writer of the format `name`. Its module is imported here, so that a run pays only for the format it prints.

    Raises KeyError for a name that is not in `FORMATS`.
    """
    from importlib import import_module

    writer_class = getattr(import_module(f"fcompile.diagnostics.{name}"), FORMATS[name])
    writer: Writer = writer_class(stream, style or Style())
    return writer
