"""Write what is under `schemas/` and made from the field tables: the editors' JSON Schema and the CRD, for the default Kubernetes version.

`--check`: write nothing, exit with 1 if one of them is out of date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fcompile.schema import crd, editor
from fcompile.schema.pod_schemas import DEFAULT_VERSION

FOLDER = Path(__file__).resolve().parent.parent / "schemas"
GENERATED = {"framework.schema.json": editor.rendered, "framework-crd.yaml": crd.rendered}


def main() -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the files are current")
    texts = {FOLDER / name: rendered(DEFAULT_VERSION) for name, rendered in GENERATED.items()}
    if parser.parse_args().check:
        return 0 if all(path.exists() and path.read_text("utf-8") == text for path, text in texts.items()) else 1
    for path, text in texts.items():
        path.write_text(text, "utf-8")
        print(f"{path.name}: {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
