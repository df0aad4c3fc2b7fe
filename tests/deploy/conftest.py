"""A cluster with the admission policies of deploy/policies in force."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fcontroller.api import Json, collection
from tests.cluster import Cluster
from tests.cluster.fixtures import FIXTURES
from tests.cluster.test_kubelet import until
from tests.deploy import people

NAMESPACE = "team-a"
"""Where people are, and the controller of that namespace alone."""
POLICIES = {"config-maps", "no-pods"}
"""Whom each of the two policies refuses something."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what applies deploy/ to an API server that is too old for all of it."""
    version = re.match(r"1[.](\d+)", config.getoption("--kubernetes-version") or "")
    if version and int(version[1]) < 29:
        for item in items:
            if item.path.parent == Path(__file__).parent and FIXTURES & set(getattr(item, "fixturenames", ())):
                item.add_marker(pytest.mark.skip(reason="deploy/flow-schema.yaml is for Kubernetes 1.29 or newer"))


@pytest.fixture(scope="module")
def policed(audited_cluster: Cluster, repository: Path) -> Iterator[Cluster]:
    """The audited cluster with both variants of the controller's rights, people in `NAMESPACE`, and the policies."""
    if minor(audited_cluster) < 30:
        pytest.skip("admission policies are a part of Kubernetes since 1.30")
    deploy = repository / "deploy"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    audited_cluster.kubectl("apply", "-f", "-", input=json.dumps(namespace))
    for folder in (deploy, deploy / "namespaced", deploy / "policies"):
        audited_cluster.kubectl("apply", "--server-side", "-k", str(folder))
    people.invite(audited_cluster, NAMESPACE)
    until(lambda: in_force(audited_cluster) == POLICIES)
    yield audited_cluster
    audited_cluster.kubectl("delete", "-k", str(deploy / "policies"))
    until(lambda: not in_force(audited_cluster))


def minor(cluster: Cluster) -> int:
    """Return the number after the first dot of the cluster's version."""
    return int(cluster.version.split(".")[1])


def in_force(cluster: Cluster) -> set[str]:
    """Return which policies refuse what they should. The server takes up each by itself, a moment after it is there."""
    owner = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "name": "a", "uid": "a", "controller": True}
    config_map: Json = {"metadata": {"name": "a", "ownerReferences": [owner]}}
    framework: Json = {
        "apiVersion": "frameworkcontroller.microsoft.com/v1",
        "kind": "Framework",
        "metadata": {"name": "a"},
        "spec": {"taskRoles": [{"name": "a", "task": {"pod": {"spec": {"containers": [{"name": "a", "image": "a"}]}}}}]},
    }
    tries = {"config-maps": (collection("configmaps", NAMESPACE), config_map), "no-pods": (collection("frameworks", NAMESPACE), framework)}
    answers = {user: cluster.api.impersonate(user).request("POST", *what, {"dryRun": "All"}) for user, what in tries.items()}
    assert {code for code, _ in answers.values()} <= {201, 403}, answers
    return {user for user, (code, _) in answers.items() if code == 403}
