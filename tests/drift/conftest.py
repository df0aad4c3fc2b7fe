"""Frameworks to send to a real API server: every example, and generated ones."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from fcompile.check.document import Options, check_document, empty
from fcompile.check.objects import is_framework
from fcompile.check.rules.pod.dropped import DROPPED
from fcompile.diagnostics.problem import Severity
from fcompile.emit import yaml
from fcompile.load import Document, read, values
from fcompile.schema.pod_schemas import DEFAULT_VERSION
from tests.cluster import Cluster
from tests.drift.objects import Frameworks, minor
from tests.strategies import basics, frameworks
from tests.strategies.templates import PRIORITY_CLASS, RUNTIME_CLASS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COUNT = min(settings().max_examples, 1000)
"""As many Frameworks are generated for each test. One that breaks is shown whole, and not made smaller: a server is too slow for that."""


def generate(strategy: basics.Strategy, count: int = COUNT) -> list[Any]:
    """So many examples of a strategy, the same ones on every run in CI."""
    found: list[Any] = []

    @settings(max_examples=count, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def in_namespace(found: list[Any], namespace: str) -> Frameworks:
    """The Frameworks in one namespace, with other names where one is taken. They are not changed."""
    taken: dict[str, Any] = {}
    for value in found:
        name = value["metadata"]["name"]
        name = f"{name[:59]}x{len(taken)}" if name in taken else name
        taken[name] = {**value, "metadata": {**value["metadata"], "name": name, "namespace": namespace}}
    return list(taken.values())


def fitting(found: list[Any], cluster: Cluster) -> list[Any]:
    """Those that use nothing newer than the cluster. For the newest, that is all of them."""
    version = minor(cluster)
    return [value for value in found if version >= DEFAULT_VERSION or _fits(value, version)]


def _fits(value: Any, version: int) -> bool:
    checked = empty("-")
    for document in read(json.dumps(value).encode(), "-"):
        assert isinstance(document, Document)
        check_document(document, Options(version, "default"), checked)
    return not any(problem.severity is Severity.ERROR or problem.rule is DROPPED for problem in checked.problems)


@cache
def _inputs(name: str) -> list[Any]:
    if name == "generated":
        return generate(frameworks())
    files = sorted(path for path in EXAMPLES.rglob("*.yaml") if path.parent.name != "bad")
    return [value for path in files for value in values(path.read_bytes()) if is_framework(value)]


@pytest.fixture(params=["examples", "generated"])
def given_frameworks(request: pytest.FixtureRequest, cluster: Cluster, namespace: str) -> Frameworks:
    """Frameworks as people write them, all in a namespace of their own."""
    return in_namespace(fitting(_inputs(request.param), cluster), namespace)


@pytest.fixture(scope="session", autouse=True)
def classes(cluster: Cluster) -> None:
    """What Pods name and a cluster must have, or it refuses them."""
    priorities = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1000}
        for name in (PRIORITY_CLASS, "preemptible", "llm-training")
    ]
    runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": RUNTIME_CLASS}, "handler": "sandbox"}
    cluster.kubectl("apply", "-f", "-", input="".join(map(yaml.document, [*priorities, runtime])))
