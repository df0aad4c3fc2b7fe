"""Write the tables of `docs/operations.md`: settings and metrics, from the tables that the controller goes by. The rest is written by hand.

`--check`: write nothing, exit with 1 if a table is not what it would be.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcontroller.config.settings import SETTINGS  # noqa: E402
from fcontroller.metrics import METRICS  # noqa: E402

PAGE = ROOT / "docs" / "operations.md"


def main() -> int:
    """Write or check the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is out of date")
    arguments = parser.parse_args()
    old = PAGE.read_text("utf-8")
    new = old
    for name, lines in (("settings", _settings()), ("unused", _unused()), ("metrics", _metrics())):
        table = "\n".join([f"<!-- {name}: by tools/operations_page.py -->", *lines, "<!-- end -->"])
        new = re.sub(f"<!-- {name}:.*?<!-- end -->", table.replace("\\", r"\\"), new, count=1, flags=re.DOTALL)
    if not arguments.check:
        PAGE.write_text(new, "utf-8")
    elif new != old:
        print(f"{PAGE.relative_to(ROOT)} is out of date", file=sys.stderr)
        return 1
    return 0


def _settings() -> Iterator[str]:
    yield "| key in the file | flag | default | |"
    yield "| --- | --- | --- | --- |"
    for setting in SETTINGS:
        if not setting.field.deprecated:
            about = setting.about + (f": {', '.join(setting.choices)}" if setting.choices else "")
            default = "" if setting.default == "" else f"`{json.dumps(setting.default)}`"
            yield f"| `{setting.key}` | {f'`{setting.flag}`' if setting.flag else ''} | {default} | {about} |"


def _unused() -> Iterator[str]:
    yield "| key | why it means nothing here |"
    yield "| --- | --- |"
    yield from (f"| `{setting.key}` | {setting.about} |" for setting in SETTINGS if setting.field.deprecated)


def _metrics() -> Iterator[str]:
    yield "| metric | labels | |"
    yield "| --- | --- | --- |"
    for name, metric in METRICS.items():
        name = f"{name}_total" if metric.kind == "counter" else name
        yield f"| `{name}` | {', '.join(metric.labels)} | {metric.about} ({metric.kind}) |"


if __name__ == "__main__":
    sys.exit(main())
