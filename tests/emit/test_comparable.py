"""Expected Pods are printed as the cluster stores them. `tests/drift` asks a real API server; here is what it takes no server to know."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fcompile.emit import yaml
from fcompile.pipeline.comparable import comparable
from fcompile.pipeline.compiled import compile_framework
from fcompile.pipeline.selection import selection
from tests.check.frameworks import framework, role

Pod = dict[str, Any]
TERM = {"topologyKey": "t", "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["FC_TASK_INDEX", "none"]}
MERGED = [{"key": "FC_TASK_INDEX", "operator": "In", "values": ["7"]}]


def pod(spec: Any) -> Pod:
    return {"metadata": {"labels": {"FC_TASK_INDEX": "7"}}, "spec": spec}


@pytest.mark.parametrize(("version", "merged"), [(30, False), (31, True), (36, True)])
def test_keys_of_an_affinity(version: int, merged: bool) -> None:
    made = comparable(pod({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}}), version)
    (term,) = made["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"].get("matchExpressions") == (MERGED if merged else None)
    assert term["matchLabelKeys"] == TERM["matchLabelKeys"]


@pytest.mark.parametrize(("version", "merged"), [(33, False), (34, True), (37, True)])
def test_keys_of_a_spread(version: int, merged: bool) -> None:
    own = [{"key": "c", "operator": "Exists"}]
    constraint = {**TERM, "labelSelector": {"matchExpressions": own}}
    (made,) = comparable(pod({"topologySpreadConstraints": [constraint]}), version)["spec"]["topologySpreadConstraints"]
    assert made["labelSelector"]["matchExpressions"] == [*own, *(MERGED if merged else ())]


def test_a_term_without_a_selector_gets_none() -> None:
    lone = {"topologyKey": "t", "matchLabelKeys": ["FC_TASK_INDEX"]}
    assert comparable(pod({"topologySpreadConstraints": [lone]}), 36)["spec"]["topologySpreadConstraints"] == [lone]


def test_a_port_of_the_node_that_is_left_open() -> None:
    """With the node's network the API server fills in the container's: in the server-side form a 0 was a conflict."""
    ports = [{"containerPort": 80, "hostPort": 0, "protocol": "TCP"}, {"containerPort": 81, "hostPort": 81, "protocol": "TCP"}]
    containers: Any = {"containers": [{"name": "c", "ports": ports}, {"name": "d"}], "initContainers": [{"name": "i", "ports": ports[:1]}]}
    made = comparable(pod({"hostNetwork": True, **containers}), 36)["spec"]
    filled_in = {"containerPort": 80, "protocol": "TCP"}
    assert made["containers"] == [{"name": "c", "ports": [filled_in, ports[1]]}, {"name": "d"}]
    assert made["initContainers"] == [{"name": "i", "ports": [filled_in]}]
    assert comparable(pod(containers), 36)["spec"] == containers


def test_what_counts_stays_and_nothing_is_changed() -> None:
    written = pod(
        {
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 0,
            "schedulerName": "",
            "securityContext": {"runAsUser": 0, "runAsNonRoot": False},
            "volumes": [{"name": "v", "secret": {"secretName": "s", "defaultMode": 0}}],
            "containers": [{"name": "c", "args": ["", None], "livenessProbe": {"initialDelaySeconds": 0, "periodSeconds": 0}}],
        }
    )
    before = copy.deepcopy(written)
    made = comparable(written, 36)
    assert written == before
    before["spec"]["containers"] = [{"name": "c", "args": ["", ""], "livenessProbe": {"initialDelaySeconds": 0}}]
    del before["spec"]["schedulerName"]
    assert made == before
    assert comparable(made, 36) is made


def test_many_tasks_are_printed_as_one_by_one() -> None:
    spread = {"topologySpreadConstraints": [{**TERM, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}
    compiled = compile_framework(framework(role(count=30, spec=spread)), "ml")
    wanted = selection("pods", version=36)
    texts = "".join(wanted.texts(compiled, yaml.document))
    assert texts == "".join(map(yaml.document, wanted.objects(compiled)))
    assert texts.count("- key: FC_TASK_INDEX") == 30
    assert "- key: FC_TASK_INDEX" not in "".join(selection("pods", version=33).texts(compiled, yaml.document))
