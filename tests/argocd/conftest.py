"""What the tests of the Argo CD plugin share."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from tests.argocd import tools


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """One line of the summary for all tests that lack the same program, not one for each."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and tools.NONE in report.longrepr[2]:
        report.longrepr = (tools.__file__, 1, report.longrepr[2])
    return report
