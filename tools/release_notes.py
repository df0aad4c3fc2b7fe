"""Print what CHANGELOG.md says of a release: `python tools/release_notes.py v0.1.0`.

Exits with 1 when the tag is not that of the version in fcompile/_version.py, or the changelog has no section with a date for it.
"""

from __future__ import annotations

import argparse
import re
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SECTION = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?\n(.*?)(?=^## \[|\Z)", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Print the notes; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tag", help="such as v0.1.0")
    tag = parser.parse_args().tag
    try:
        print(notes(tag, (ROOT / "CHANGELOG.md").read_text("utf-8"), (ROOT / "fcompile" / "_version.py").read_text("utf-8")))
    except ValueError as problem:
        print(f"{tag}: {problem}", file=sys.stderr)
        return 1
    return 0


def notes(tag: str, changelog: str, module: str) -> str:
    """Return the section of a tag. Raises ValueError, with what to do."""
    version = re.search(r'^__version__ = "(.+)"$', module, re.MULTILINE)
    if version is None or tag != f"v{version[1]}":
        raise ValueError(f"fcompile/_version.py has version {version and version[1]}: change it there, or choose another tag")
    for name, day, text in _SECTION.findall(changelog):
        if f"v{name}" == tag:
            if not day:
                raise ValueError("its section in CHANGELOG.md has no date")
            date.fromisoformat(day)
            return str(text).strip()
    raise ValueError(f"CHANGELOG.md has no section [{tag.removeprefix('v')}]: give [Unreleased] that name, and a date")


if __name__ == "__main__":
    sys.exit(main())
