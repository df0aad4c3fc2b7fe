"""What all tests share: how hypothesis runs, where the repository is, and snapshots that are files to read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation

pytest_plugins = ["tests.cluster.fixtures"]

# A test that fails on one run and passes on the next teaches nothing: the examples follow from the code alone. `random` looks for new ones,
# `thorough` is for a night: HYPOTHESIS_PROFILE=thorough. What they find becomes an `@example`.
# No deadline for single examples anywhere, since machines are shared and slow at times.
settings.register_profile("same", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("random", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("random"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "same")


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
