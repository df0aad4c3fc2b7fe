"""What all tests share: how hypothesis runs, where the repository is, and snapshots that are files to read."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests start hundreds of processes. They are to find bytecode, also where the image of a container keeps Python from writing it.
# First of all: pytest compiles hypothesis anew in each process, for its assertions, where it may not write down what came of it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

from hypothesis import HealthCheck, settings  # noqa: E402
from syrupy.assertion import SnapshotAssertion  # noqa: E402
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode  # noqa: E402
from syrupy.location import PyTestLocation  # noqa: E402

pytest_plugins = ["tests.cluster.fixtures", "tests.workers"]

# A test that fails on one run and passes on the next teaches nothing: the examples follow from the code alone. `random` looks for new ones,
# `thorough` is for a night: HYPOTHESIS_PROFILE=thorough. What they find becomes an `@example`.
# No deadline for single examples anywhere, since machines are shared and slow at times.
settings.register_profile("same", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("random", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("random"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "same")


SLOW = (
    "tests/agreement",
    "tests/argocd/test_doctor.py",
    "tests/argocd/test_generate.py",
    "tests/argocd/test_renderer.py",
    "tests/check/rules/pod/test_any_input.py",
    "tests/check/test_context.py",
    "tests/cluster",
    "tests/controller/test_cache.py",
    "tests/controller/test_changed_by_admission.py",
    "tests/controller/test_cycles.py",
    "tests/controller/test_http.py",
    "tests/controller/test_kept_pods.py",
    "tests/controller/test_large_specs.py",
    "tests/controller/test_late_pods.py",
    "tests/controller/test_played.py",
    "tests/controller/test_process.py",
    "tests/controller/test_said_in_a_crowd.py",
    "tests/controller/test_trust.py",
    "tests/convert/test_attacks.py",
    "tests/convert/test_behaviour.py",
    "tests/convert/test_mutations.py",
    "tests/decide/test_crash.py",
    "tests/decide/test_messages.py",
    "tests/deploy",
    "tests/diff/test_browser.py",
    "tests/diff/test_git_attacks.py",
    "tests/diff/test_properties.py",
    "tests/docs",
    "tests/drift",
    "tests/emit/test_json.py",
    "tests/emit/test_load_reads_it.py",
    "tests/emit/test_splice.py",
    "tests/emit/test_yaml.py",
    "tests/krm/test_programs.py",
    "tests/load/test_limits.py",
    "tests/safety",
    "tests/schema/test_editor.py",
    "tests/shell/test_kubectl.py",
    "tests/shell/test_shells.py",
    "tests/stress",
    "tests/test_attacks.py",
    "tests/test_determinism.py",
    "tests/test_fuzz.py",
    "tests/test_generated.py",
    "tests/test_help.py",
    "tests/test_mutate.py",
    "tests/test_packaging.py",
    "tests/test_pre_commit.py",
    "tests/test_processes_and_streams.py",
    "tests/test_workers.py",
)
"""Folders and files that take more than five seconds. All other tests are quick, unless they ask for a cluster or the network.

tests/controller/test_demo.py takes longer, and is quick all the same: nothing else tries the demo.
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: takes part in a run of two minutes; set by itself (`SLOW` in tests/conftest.py)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is quick, before -m selects."""
    from tests.cluster.fixtures import FIXTURES
    from tests.workers import in_order

    folders = {Path(__file__).parent.parent / name for name in SLOW}
    slow = {path for path in {item.path for item in items} if not folders.isdisjoint((path, *path.parents))}
    for item in items:
        asks = FIXTURES & set(getattr(item, "fixturenames", ())) or item.get_closest_marker("network")
        if not asks and item.path not in slow:
            item.add_marker("quick")
    in_order(config, items)


@pytest.fixture
def without_collections() -> Iterator[None]:
    """No garbage collection: in a process that has run thousands of tests it may take longer than a turn of a loop that is measured."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent


class _Readable(SingleFileSnapshotExtension):
    """One file per snapshot, in `tests/snapshots/<test module>/`, as the output itself is."""

    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        # `snapshot_dirname` is not asked by extensions of this kind (syrupy 7.0).
        return str(Path(test_location.filepath).parent / "snapshots" / test_location.basename)


class _YamlFile(_Readable):
    file_extension = "yaml"


class _TextFile(_Readable):
    file_extension = "txt"


@pytest.fixture
def yaml_file(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """A snapshot that is a YAML file."""
    return snapshot.use_extension(_YamlFile)


@pytest.fixture
def text_file(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """A snapshot that is a text file."""
    return snapshot.use_extension(_TextFile)
