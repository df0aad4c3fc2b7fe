"""The proof that the API server in memory is honest: the same requests to it and to a real kube-apiserver, and the same answers.

Compared are status codes, Status objects, objects, lists, what garbage collection makes of them, and the events of watches.
1,000 sequences: `HYPOTHESIS_PROFILE=thorough python -m pytest tests/memory_api/test_as_the_real_one.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from tests.cluster import Cluster
from tests.memory_api.both import compare, wait_for_collector
from tests.memory_api.operations import Operation, operations

SEQUENCES = 1000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 100


@pytest.fixture(scope="module")
def place(cluster: Cluster) -> Iterator[str]:
    """A namespace, once the garbage collector follows Frameworks: it looks for new kinds every 30 seconds."""
    with cluster.namespace() as name:
        wait_for_collector(cluster.api, name, "frameworks", seconds=60)
        yield name


@settings(
    max_examples=SEQUENCES, phases=[Phase.explicit, Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck), database=None
)
@given(sequence=st.lists(operations, min_size=8, max_size=24))
def test_same_answers(sequence: list[Operation], cluster: Cluster, place: str) -> None:
    tries = compare(cluster.api, place, sequence, generation=int(cluster.version.split(".")[1]) >= 35)
    event(f"{tries} tries")
