"""Write the tables of `docs/operations.md`: settings and metrics, from the tables that the controller goes by. The rest is written by hand.

`--check`: write nothing, exit with 1 if a table is not what it would be.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcontroller.config.settings import SETTINGS  # noqa: E402
from fcontroller.metrics import METRICS  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

PAGE = ROOT / "docs" / "operations.md"


def main() -> int:
    """Write or check the page; returns the exit code."""
    return write_or_check(__doc__, PAGE, _page)


def _page() -> str:
    """Return the page with its tables written anew."""
    page = PAGE.read_text("utf-8")
    for name, lines in (("settings", _settings()), ("unused", _unused()), ("metrics", _metrics())):
        table = "\n".join([f"<!-- {name}: by tools/operations_page.py -->", *lines, "<!-- end -->"])
        page = re.sub(f"<!-- {name}:.*?<!-- end -->", table.replace("\\", r"\\"), page, count=1, flags=re.DOTALL)
    return page


def _settings() -> Iterator[str]:
    yield "| key in the file | flag | default | |"
    yield "| --- | --- | --- | --- |"
    for setting in SETTINGS:
        if not setting.field.deprecated:
            about = setting.about + (f": {', '.join(setting.choices)}" if setting.choices else "")
            about += f" (default: {setting.option.otherwise})" if setting.option.otherwise else ""
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
