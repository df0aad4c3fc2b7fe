"""The Pods that FrameworkController really asked an API server to make, field by field against what we expand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fcompile.default import default
from fcompile.expand import config_map, pod
from fcompile.load import values
from fcompile.lower.environment import ClusterValues
from fcompile.lower.intent import Intent, lower
from fcompile.model import names

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "upstream_pods.json").read_text())
UIDS = ClusterValues("<uid>", 0, "<uid>", "<uid>", "<uid>", 0)
API_SERVER_DEFAULTS = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "defaultMode": 420,
    "apiVersion": "v1",
}


def without_defaults(recorded: Any, ours: Any) -> Any:
    """What was recorded, less the API server's own defaults where we say nothing."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        kept = {}
        for key, value in recorded.items():
            if key in ours:
                kept[key] = without_defaults(value, ours[key])
            elif key == "imagePullPolicy" or API_SERVER_DEFAULTS.get(key, recorded) == value:
                continue
            else:
                kept[key] = value
        return kept
    if isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        return [without_defaults(theirs, own) for theirs, own in zip(recorded, ours, strict=True)]
    return recorded


def intent() -> Intent:
    (framework,) = values(RECORDED["framework"].encode())
    return lower(default(framework).framework)


@pytest.mark.parametrize("name", [key for key in RECORDED["objects"] if key.startswith("Pod/")])
def test_pod_is_upstreams(name: str) -> None:
    recorded = RECORDED["objects"][name]
    role_name, index = name.split("-")[1:]
    role = next(role for role in intent().roles if role.name == role_name)
    ours = pod(role, "default", int(index), UIDS)
    owners = recorded["metadata"].pop("ownerReferences")
    assert [owner["kind"] for owner in owners] == ["ConfigMap"]
    recorded = without_defaults(recorded, ours)
    assert ours == recorded
    for kind in ("containers", "initContainers"):
        for mine, theirs in zip(ours["spec"].get(kind, []), recorded["spec"].get(kind, []), strict=True):
            assert [variable["name"] for variable in mine["env"]] == [variable["name"] for variable in theirs["env"]]


@pytest.mark.parametrize("name", [key for key in RECORDED["objects"] if key.startswith("Pod/")])
def test_expected_manifest_leaves_out_what_only_the_cluster_knows(name: str) -> None:
    role_name, index = name.split("-")[1:]
    role = next(role for role in intent().roles if role.name == role_name)
    expected, live = pod(role, "default", int(index)), pod(role, "default", int(index), UIDS)
    gone = set(live["metadata"]["annotations"]) - set(expected["metadata"]["annotations"])
    assert gone == set(names.CLUSTER_NAMES)
    for mine, theirs in zip(expected["spec"]["containers"], live["spec"]["containers"], strict=True):
        left = [variable for variable in theirs["env"] if variable not in mine["env"]]
        assert [variable["name"] for variable in left] == [*names.CLUSTER_NAMES, names.TASK_ATTEMPT_INSTANCE_UID]
        assert [variable for variable in theirs["env"] if variable in mine["env"]] == mine["env"]
    assert "<uid>" not in json.dumps(expected)


def test_config_map_is_upstreams_with_the_intent_in_it() -> None:
    recorded = RECORDED["objects"]["ConfigMap/ph-attempt"]
    made = config_map(intent(), "default")
    held = json.loads(made.pop("data")["intent.json"])
    recorded["metadata"].pop("ownerReferences")
    for name in (names.FRAMEWORK_UID, names.FRAMEWORK_ATTEMPT_ID):
        recorded["metadata"]["annotations"].pop(name)
    assert made == recorded
    assert [role["name"] for role in held["roles"]] == ["ps", "worker"]
