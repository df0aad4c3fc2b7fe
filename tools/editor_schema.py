"""Write `schemas/framework.schema.json`: the JSON Schema that editors use. `--check`: write nothing, exit with 1 if it is out of date."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fcompile.schema.editor import rendered
from fcompile.schema.pod_schemas import DEFAULT_VERSION

OUTPUT = Path(__file__).resolve().parent.parent / "schemas" / "framework.schema.json"


def main() -> int:
    """Write or check the file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the file is current")
    text = rendered(DEFAULT_VERSION)
    if parser.parse_args().check:
        return 0 if OUTPUT.exists() and OUTPUT.read_text("utf-8") == text else 1
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(text, "utf-8")
    print(f"{OUTPUT.name}: {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
