"""The files of a conversion, written into a folder as they lie beside each other in the input."""

from __future__ import annotations

import os

from fcompile.convert.conversion import Converted
from fcompile.diagnostics.visible import visible
from fcompile.emit.files import write
from fcompile.errors import UsageError


def write_folder(folder: str, files: list[Converted], *, force: bool) -> int:
    """Write each file, and return how many. Raises UsageError, before anything is written, when one is there and differs, or is a link."""
    wanted = {name: text for name, text in _named(files).items() if text}
    for name, text in wanted.items():
        path = os.path.join(folder, name)
        if not force and os.path.lexists(path) and _text_of(path) != text:
            raise UsageError(f"{visible(path)} is there and differs: use --force to replace it, or another folder")
    write(folder, wanted)
    return len(wanted)


def _named(files: list[Converted]) -> dict[str, str]:
    """Return the texts by file name, below the folder that all files of the input have in common."""
    paths = [os.path.abspath(file.name) for file in files if file.name != "-"]
    top = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    found: dict[str, str] = {}
    for file in files:
        name = "stdin.yaml" if file.name == "-" else os.path.relpath(os.path.abspath(file.name), top)
        if name in found:
            raise UsageError(f"two files would be written as {name}: convert them one after the other")
        found[name] = "".join(file.texts)
    return found


def _text_of(path: str) -> str | None:
    """Return the text of a file; None: it is no text, or a link, which would be replaced."""
    if os.path.islink(path):
        return None
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
