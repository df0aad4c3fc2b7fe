"""The pytest plugin of the test cluster: its fixtures and its option."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator, Iterator

import pytest

from tests.cluster import DEFAULT_VERSION, Cluster, ClusterError, Unavailable, shared, start
from tests.cluster.build import Say

FIXTURES = {"cluster", "own_cluster", "audited_cluster", "own_audited_cluster"}
NONE = "NO TEST CLUSTER"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--kubernetes-version", help=f"of the test cluster, as 1.25 or 1.36.3 (default: {DEFAULT_VERSION}, or what KUBEBUILDER_ASSETS has)"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cluster: asks for the test cluster; set by itself (leave these tests out with -m 'not cluster')")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs a cluster, before -m selects."""
    for item in items:
        if FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("cluster")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Gives all tests that lack a cluster one place where they were skipped: the summary has one line for them, not hundreds."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and NONE in report.longrepr[2]:
        report.longrepr = (__file__, 1, report.longrepr[2])
    return report


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster of this test run; all workers of pytest-xdist share it."""
    base = tmp_path_factory.getbasetemp()
    meeting = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with _had(shared(meeting, request.config.getoption("--kubernetes-version"), say=_say(request.config))) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def own_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster for one module alone, without any CustomResourceDefinition: for tests that change what all namespaces share."""
    with _had(start(request.config.getoption("--kubernetes-version"), crd=False, say=_say(request.config))) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def audited_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Another cluster for this test run, one that keeps an audit log (`Cluster.audit_log`)."""
    with _had(start(request.config.getoption("--kubernetes-version"), audited=True, say=_say(request.config))) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def own_audited_cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """One like it for one module alone: for tests that kill its servers."""
    with _had(start(request.config.getoption("--kubernetes-version"), audited=True, say=_say(request.config))) as cluster:
        yield cluster


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A new namespace of the shared cluster, by its name."""
    with cluster.namespace() as name:
        yield name


@contextlib.contextmanager
def _had(made: contextlib.AbstractContextManager[Cluster]) -> Iterator[Cluster]:
    """A cluster, or the reason why the tests that ask for it are skipped. CI must have it."""
    with contextlib.ExitStack() as stack:
        try:
            cluster = stack.enter_context(made)
        except Unavailable as problem:
            if os.environ.get("CI"):
                pytest.fail(f"{NONE}, and CI is set: {problem}", pytrace=False)
            pytest.skip(f"{NONE}: {problem}")
        except ClusterError as problem:
            pytest.fail(f"{NONE}: {problem}", pytrace=False)
        yield cluster


def _say(config: pytest.Config) -> Say:
    """Writes lines to the terminal at once. A worker of pytest-xdist has only the stderr of who started it."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")

    def say(line: str) -> None:
        if terminal and capture:
            with capture.global_and_fixture_disabled():
                if hasattr(config, "workerinput"):
                    print(f"\n{line}", file=sys.stderr, flush=True)
                else:
                    terminal.ensure_newline()
                    terminal.write_line(line)

    return say
