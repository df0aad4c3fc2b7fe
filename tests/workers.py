"""The pytest plugin that deals out a run of all tests to worker processes (pytest-xdist): how many, and which tests stay together.

A file is never divided: what its tests share is made once. Those that take long begin first, so that no worker is alone with one in
the end.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

AT_MOST = 4
"""Processes that nobody asked for. A container may see far more cores than it may use; `-n 8` is for who knows better."""
TOGETHER = {
    "stressed servers": ("tests/deploy/test_backup.py", "tests/stress"),
    "audited cluster": (
        "tests/cluster/test_cluster.py",
        "tests/controller/test_fidelity.py",
        "tests/deploy/test_flow_schema.py",
        "tests/deploy/test_manifests.py",
        "tests/deploy/test_policies.py",
        "tests/deploy/test_policies_live.py",
        "tests/deploy/test_rights.py",
    ),
    "generated Frameworks": (
        "tests/drift/test_accepted.py",
        "tests/drift/test_default.py",
        "tests/drift/test_frameworks.py",
        "tests/drift/test_pods.py",
    ),
    "hostile input": ("tests/test_attacks.py",),
}
"""Files and folders that begin first: their tests share what one process makes, want no other like them at once, or take minutes."""


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes `-n auto` is, which pyproject.toml asks for: none for named files, which are done before they start.

    They wait for servers and other programs half of the time, so there are two more than cores.
    """
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return 0 if named or cores() < 2 else min(cores() + 2, AT_MOST)


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return what deals out units as `unit` says, in the order in which they were collected."""
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    if config.getoption("dist") not in ("load", "loadgroup"):
        return None

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid.partition("::")[0])

    config.option.loadscopereorder = False
    return Scheduling(config, log)


def in_order(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put first what takes longest, where there are workers: what stays together, then files that are not all quick."""
    if not hasattr(config, "workerinput"):
        return
    slow = {item.path for item in items if not item.get_closest_marker("quick")}
    ranks = {
        path: (unit(path.relative_to(config.rootpath).as_posix()) not in TOGETHER, path not in slow)
        for path in {item.path for item in items}
    }
    items.sort(key=lambda item: ranks[item.path])


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def unit(file: str) -> str:
    """Return what a file's tests are dealt out with: the name of their group, or the file."""
    return next((group for group, paths in TOGETHER.items() if any(Path(file).is_relative_to(path) for path in paths)), file)
