"""The files of a conversion, written into a folder as they lie beside each other in the input."""

from __future__ import annotations

import os

from fcompile.convert.conversion import Converted
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load.files import STDIN, read_regular


def checked_folder(folder: str, files: list[Converted], *, force: bool) -> dict[str, str]:
    """Return what is to be written, by the names of files. Raises UsageError when one is there and differs, or is a link."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise UsageError(f"--to {visible(folder)}: it is not a folder")
    wanted = {name: text for name, file in named(files).items() if (text := "".join(file.texts))}
    for name, text in wanted.items():
        path = os.path.join(folder, name)
        if not force and os.path.lexists(path) and _data_of(path) != text.encode():
            raise UsageError(f"{visible(path)} is there and differs: use --force to replace it, or another folder")
    return wanted


def named(files: list[Converted]) -> dict[str, Converted]:
    """Return the files by the names that they get, below the folder that all files of the input have in common."""
    paths = [os.path.abspath(file.name) for file in files if file.name != STDIN]
    top = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""
    found: dict[str, Converted] = {}
    for file in files:
        name = "stdin.yaml" if file.name == STDIN else os.path.relpath(os.path.abspath(file.name), top)
        if name.endswith(".json") and any(file.texts):
            name = f"{name.removesuffix('.json')}.yaml"  # what is written is YAML
        if name in found:
            raise UsageError(f"two files would be written as {visible(name)}: convert them one after the other")
        found[name] = file
    return found


def _data_of(path: str) -> bytes | None:
    """Return what is in a file; None: it is a link, which would be replaced, or none that can be read."""
    try:
        return None if os.path.islink(path) else read_regular(path)
    except OSError:
        return None
