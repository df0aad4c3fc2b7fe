"""Check that every generated file in the repository is what its generator makes today.

A generator is a script in this folder that takes `--check`: it then writes nothing, and exits with 1 and a message when a file
of its own is out of date. Exits with 1 if any of them does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def generators() -> list[Path]:
    """The scripts beside this one that take `--check`, in the order of their names."""
    shared = (Path(__file__).name, "generated.py")
    scripts = {path: path.read_text("utf-8") for path in sorted(HERE.glob("*.py")) if path.name not in shared}
    return [path for path, text in scripts.items() if '"--check"' in text or "write_or_check(" in text]


def main() -> int:
    """Run each generator's check; returns the exit code."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    stale = []
    for script in generators():
        print(f"{script.name} --check", flush=True)
        if subprocess.run([sys.executable, str(script), "--check"], cwd=HERE.parent, check=False).returncode:
            stale.append(script.name)
    for name in stale:
        print(f"out of date: run `python tools/{name}` and commit what it changes", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
