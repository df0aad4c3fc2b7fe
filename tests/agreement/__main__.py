"""The agreement report: `python -m tests.agreement [--count 5000] [--seed 1] [--kubernetes-version 1.36.3] [--write]`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.agreement.report import as_json, as_markdown, as_text, report
from tests.agreement.run import run
from tests.agreement.verdicts import Judge
from tests.cluster import DEFAULT_VERSION, ClusterError, Unavailable, start

PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Exit code 1 when there is less agreement than is wanted."""
    parser = argparse.ArgumentParser(prog="python -m tests.agreement", description="What validate, the CRD and a real API server agree on.")
    parser.add_argument("--count", type=int, default=5000, help="how many changed Frameworks are judged (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of chance; the same seed gives the same Frameworks (default: %(default)s)")
    parser.add_argument("--kubernetes-version", default=DEFAULT_VERSION, help="of the API server, as 1.36.3 (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole report there as JSON")
    parser.add_argument("--write", action="store_true", help=f"write the page {PAGE.parent.name}/{PAGE.name}")
    arguments = parser.parse_args()
    try:
        with start(arguments.kubernetes_version, say=say) as cluster, cluster.namespace() as namespace:
            began = time.monotonic()
            judge = Judge(cluster.api, int(cluster.version.split(".")[1]), namespace)
            judged = run(judge, arguments.count, arguments.seed)
            made = report(judged, judge, cluster.version, arguments.seed, time.monotonic() - began)
    except (ClusterError, Unavailable) as problem:
        say(f"error: {problem}")
        return 2
    print(as_text(made), end="")
    if arguments.json:
        arguments.json.write_text(as_json(made), "utf-8")
    if arguments.write:
        PAGE.write_text(as_markdown(made), "utf-8")
    return 0 if made.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
