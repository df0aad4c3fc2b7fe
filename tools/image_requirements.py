"""Write what the image of the controller is built from, out of uv.lock.

`deploy/requirements.txt` is for what runs, `deploy/requirements-build.txt` for what makes the wheel. Both have exact versions and the
hashes of all wheels, without what other systems or other versions of Python need. `--check`: write nothing, exit with 1 if one of them is
out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "deploy"
WANTED = {"requirements.txt": [("fcompile", "controller")], "requirements-build.txt": [("hatchling", "")]}
"""Packages and their extras, which come with all that they need."""
HEAD = "# Written by tools/image_requirements.py from uv.lock.\n"


def main() -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is out of date")
    arguments = parser.parse_args()
    texts = {FOLDER / name: rendered(wanted) for name, wanted in WANTED.items()}
    if arguments.check:
        return 0 if all(path.exists() and path.read_text("utf-8") == text for path, text in texts.items()) else 1
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


def rendered(wanted: list[tuple[str, str]]) -> str:
    """A file for pip's `--require-hashes`."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    packages = {package["name"]: package for package in lock["package"]}
    names = sorted(set(_needed(wanted, packages, _environment())) - {"fcompile"})
    return HEAD + "".join(_pinned(packages[name]) for name in names)


def _environment() -> dict[str, str]:
    """Of the image, so far as packages' markers ask for it."""
    version = re.search(r"^FROM python:(\d+\.\d+)", (FOLDER / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert version is not None
    system = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_python_implementation": "CPython"}
    return {"python_version": version[1], "python_full_version": f"{version[1]}.0", "implementation_name": "cpython", **system}


def _needed(wanted: list[tuple[str, str]], packages: Mapping[str, Any], environment: dict[str, str]) -> Iterator[str]:
    """The names of packages that come with others, and of those themselves."""
    todo, seen = list(wanted), set(wanted)
    while todo:
        name, extra = todo.pop()
        yield name
        package = packages[name]
        for found in [*package.get("dependencies", ()), *package.get("optional-dependencies", {}).get(extra, ())]:
            if "marker" not in found or Marker(found["marker"]).evaluate(environment):
                new = {(found["name"], inner) for inner in ("", *found.get("extra", ()))} - seen
                todo += new
                seen |= new


def _pinned(package: Mapping[str, Any]) -> str:
    hashes = sorted(wheel["hash"] for wheel in package["wheels"])
    return " \\\n    --hash=".join([f"{package['name']}=={package['version']}", *hashes]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
