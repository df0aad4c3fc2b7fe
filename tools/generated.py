"""What the scripts that write one file share: writing it, or checking that it is current (`--check`)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def write_or_check(about: str | None, file: Path, rendered: Callable[[], str]) -> int:
    """Write the file, or with `--check` only say on stderr that it is out of date; returns the exit code.

    :param about: what `--help` says of the script. :param rendered: returns what the file should hold; not called for `--help`.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the file is out of date")
    arguments = parser.parse_args()
    text = rendered()
    if not arguments.check:
        file.write_text(text, "utf-8")
    elif not file.exists() or file.read_text("utf-8") != text:
        print(f"{file.relative_to(ROOT)} is out of date", file=sys.stderr)
        return 1
    return 0
