"""`python -m tests.safety`: all that must never happen, at full numbers, and a table of what was done. With `--few`, what CI does."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.safety import tally


class Failures:
    """Counts the tests that fail, by file."""

    def __init__(self) -> None:
        self.by_file: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.by_file[Path(report.location[0]).stem] += 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.safety", description=__doc__)
    parser.add_argument("--few", action="store_true", help="the numbers of the test suite")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    arguments = parser.parse_args()
    if not arguments.few:
        os.environ[tally.FULL_RUN] = "1"
    failures = Failures()
    code = pytest.main([str(Path(__file__).parent), "-q", *arguments.pytest], plugins=[failures])
    lines, good = tally.table(failures.by_file)
    print("\n".join(lines))
    return 0 if good and not code else 1


if __name__ == "__main__":
    sys.exit(main())
