"""The defaults of the CRD are those of `build`: what the API server makes of a partial Framework is what the compiler makes of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from fcompile.default import default
from fcompile.model import names
from tests.cluster import Cluster
from tests.drift.conftest import fitting, generate, in_namespace
from tests.drift.objects import Frameworks, create, own
from tests.strategies import frameworks, with_nulls


@cache
def partial() -> list[Any]:
    return generate(with_nulls(frameworks()))


def test_of_examples(cluster: Cluster, given_frameworks: Frameworks) -> None:
    _agree(cluster, given_frameworks)


def test_of_partial_frameworks(cluster: Cluster, namespace: str) -> None:
    _agree(cluster, in_namespace(fitting(partial(), cluster), namespace))


def test_of_nulls_in_maps(cluster: Cluster, namespace: str) -> None:
    """The server takes a null that its definition does not allow out of what it stores, without a word: the digest was another's then."""
    limits = {"limits": {"cpu": None, "memory": "1Gi"}}
    volume = {"name": "data", "csi": {"driver": "csi.example.com", "volumeAttributes": {"a": None}}}
    spec = {
        "containers": [{"name": "c", "image": "i", "resources": limits}],
        "nodeSelector": {"example.com/gpu": None},
        "resources": limits,
        "volumes": [volume],
    }
    metadata = {"labels": {"a": None}, "annotations": {"b": None}}
    written = {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": "nulls", **metadata},
        "spec": {"taskRoles": [{"name": "worker", "task": {"pod": {"metadata": metadata, "spec": spec}}}]},
    }
    _agree(cluster, in_namespace([written, default(written).framework], namespace))


def _agree(cluster: Cluster, given: Frameworks) -> None:
    wanted = [default(value).framework for value in given]
    for want, made in zip(wanted, map(own, create(cluster, given)), strict=True):
        # A number is left a number on the server where a quantity is wanted, and `default` writes a string: so once more through `default`,
        # which must find nothing to fill in.
        again = default(made)
        assert again.framework == want
        assert again.filled == ()
