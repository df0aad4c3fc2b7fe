"""A throw-away Kubernetes cluster for tests: a real API server, without any container engine.

Tests ask for the fixtures `cluster` and `namespace`; by hand, `python -m tests.cluster up`.
"""

from tests.cluster.build import DEFAULT_VERSION, ClusterError, Unavailable
from tests.cluster.cluster import Cluster, shared, start

__all__ = ["DEFAULT_VERSION", "Cluster", "ClusterError", "Unavailable", "shared", "start"]
