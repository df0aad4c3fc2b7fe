"""Print what the controller does while others do their worst, beside what is good: `python -m tests.stress [ROWS…] [--scale 0.1]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.cluster import start
from tests.stress import deaths, fits, refused, soak, tenants, trust
from tests.stress.setting import Row, Setting, setting

TABLES: dict[str, Callable[[Setting, float], Iterator[Row]]] = {
    "trust": trust.rows,
    "tenants": tenants.rows,
    "refused": refused.rows,
    "fits": fits.rows,
    "deaths": deaths.rows,
    "soak": soak.rows,
}


def main() -> int:
    """Print the table; returns 1 when something is worse than it may be."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="ROWS", help=f"which (default: all): {', '.join(TABLES)}")
    parser.add_argument("--scale", type=float, default=1, help="of the sizes and times; limits are meant for 1")
    arguments = parser.parse_args()
    folder, missed = Path(tempfile.mkdtemp(prefix="fcompile-stress-")), False
    print(f"logs: {folder}", file=sys.stderr)
    for name in arguments.tables or TABLES:
        with start(audited=True, say=lambda line: print(line, file=sys.stderr)) as cluster, setting(cluster, folder) as made:
            print(f"\n{name}", flush=True)
            for row in TABLES[name](made, arguments.scale):
                verdict = "" if row.value <= row.limit else "  MISSED"
                missed |= bool(verdict)
                print(f"{row.what:<80} {row.value:9.2f} {row.limit:9.2f}  {row.about}{verdict}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
