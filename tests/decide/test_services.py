"""What is done about Services, for each way in which they can be found."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fcontroller.decide.services import CreateService, DeleteService, Plan, ReplaceService, plan

Json = dict[str, Any]
OWNER = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "name": "f", "uid": "u", "controller": True}
IDENTITY = {"FC_FRAMEWORK_NAME": "f", "FC_TASKROLE_NAME": "a"}


def service(publish: bool = True, ports: Any = ({"port": 80, "name": "http"},)) -> Json:
    spec: Json = {"clusterIP": "None", "publishNotReadyAddresses": publish, "selector": dict(IDENTITY), "ports": list(ports)}
    return {"metadata": {"name": "f-a", "labels": dict(IDENTITY), "ownerReferences": [OWNER]}, "spec": spec}


def stored(wanted: Json) -> Json:
    """As an API server keeps it: with its defaults, and without what is false or empty."""
    made = copy.deepcopy(wanted)
    made["metadata"] |= {"uid": "s", "resourceVersion": "1"}
    spec = made["spec"]
    spec |= {"type": "ClusterIP", "clusterIPs": ["None"], "sessionAffinity": "None", "ipFamilies": ["IPv4"]}
    said = [{key: value for key, value in port.items() if value != ""} for port in spec["ports"]]
    spec["ports"] = [{"protocol": "TCP", "targetPort": port["port"], **port} for port in said]
    return {**made, "spec": {key: value for key, value in spec.items() if value}}


@pytest.mark.parametrize("publish", [True, False])
@pytest.mark.parametrize(
    "ports", [(), ({"port": 80},), ({"port": 53, "protocol": "UDP", "targetPort": "dns"},), ({"port": 80, "name": "", "protocol": ""},)]
)
def test_what_is_right_is_left_alone(publish: bool, ports: Any) -> None:
    wanted = service(publish, ports)
    assert plan({"f-a": wanted}, {"f-a": stored(wanted)}, "u") == Plan([], [])
    assert plan({"f-a": wanted}, {"f-a": copy.deepcopy(wanted)}, "u") == Plan([], []), "an API server without defaults"


def test_what_is_not_there_is_made_and_what_nobody_wants_goes() -> None:
    assert plan({"f-a": service()}, {}, "u") == Plan([CreateService(service())], [])
    assert plan({}, {"f-a": stored(service())}, "u") == Plan([DeleteService("f-a", "s")], [])
    going = stored(service())
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert plan({}, {"f-a": going}, "u") == plan({"f-a": service()}, {"f-a": going}, "u") == Plan([], [])


def test_what_cannot_become_headless_is_made_anew() -> None:
    addressed = stored(service())
    addressed["spec"]["clusterIP"] = "10.0.0.7"
    assert plan({"f-a": service()}, {"f-a": addressed}, "u") == Plan([DeleteService("f-a", "s"), CreateService(service())], [])
    addressed["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert [type(action) for action in plan({"f-a": service()}, {"f-a": addressed}, "u").actions] == [ReplaceService]


DAMAGE: dict[str, Any] = {
    "no labels": lambda value: value["metadata"].pop("labels"),
    "another label": lambda value: value["metadata"]["labels"].update(FC_TASKROLE_NAME="b"),
    "another selector": lambda value: value["spec"]["selector"].update(FC_TASKROLE_NAME="b"),
    "a narrower selector": lambda value: value["spec"]["selector"].update(more="b"),
    "no selector": lambda value: value["spec"].pop("selector"),
    "no ports": lambda value: value["spec"].pop("ports"),
    "one port more": lambda value: value["spec"]["ports"].append({"port": 81, "name": "b", "protocol": "TCP", "targetPort": 81}),
    "another port": lambda value: value["spec"]["ports"][0].update(port=81),
    "another target": lambda value: value["spec"]["ports"][0].update(targetPort=81),
    "only what is ready": lambda value: value["spec"].pop("publishNotReadyAddresses"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_the_intent_says_is_repaired(damage: Any) -> None:
    right = stored(service())
    damaged = copy.deepcopy(right)
    damage(damaged)
    assert plan({"f-a": service()}, {"f-a": damaged}, "u") == Plan([ReplaceService(right)], [])


def test_a_name_for_elsewhere_is_a_headless_service_again() -> None:
    elsewhere = stored(service())
    elsewhere["spec"] = {"type": "ExternalName", "externalName": "elsewhere", "sessionAffinity": "None"}
    (action,) = plan({"f-a": service()}, {"f-a": elsewhere}, "u").actions
    assert isinstance(action, ReplaceService)
    ports = [{"port": 80, "name": "http", "protocol": "TCP", "targetPort": 80}]
    assert action.service["spec"] == {**service()["spec"], "type": "ClusterIP", "sessionAffinity": "None", "ports": ports}


def test_what_others_add_stays() -> None:
    there = stored(service())
    there["metadata"]["labels"]["team"] = "vision"
    there["metadata"]["annotations"] = {"note": "scraped"}
    there["spec"]["sessionAffinity"] = "ClientIP"
    there["spec"]["ports"][0]["appProtocol"] = "http"
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([], [])
    damaged = copy.deepcopy(there)
    damaged["spec"]["publishNotReadyAddresses"] = False
    assert plan({"f-a": service()}, {"f-a": damaged}, "u") == Plan([ReplaceService(there)], [])


@pytest.mark.parametrize("owners", [[], [{**OWNER, "controller": False}], [{**OWNER, "name": "g", "uid": "v"}], None])
def test_what_is_somebody_elses_is_reported_and_never_touched(owners: Any) -> None:
    there = stored(service(ports=()))
    there["metadata"]["ownerReferences"] = owners
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([], ["f-a"])
    assert plan({}, {"f-a": there}, "u") == Plan([], [])


def test_what_a_framework_of_the_same_name_has_left_behind_is_waited_for() -> None:
    there = stored(service())
    there["metadata"]["ownerReferences"] = [{**OWNER, "uid": "before"}]
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([], [])


def test_what_the_watch_does_not_show_is_not_waited_for() -> None:
    """Nobody tells that a Service without our label is gone: it was waited for for ever, and the role had none."""
    there = stored(service())
    there["metadata"] |= {"ownerReferences": [{**OWNER, "uid": "before"}], "labels": {"FC_TASKROLE_NAME": "a"}}
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([], ["f-a"])
    del there["metadata"]["labels"]
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([], ["f-a"])


def test_one_that_a_finalizer_holds_is_reported() -> None:
    """Somebody who may write Services had given it such an owner: it was waited for for ever, and nobody was told of the wrong address."""
    there = stored(service())
    there["metadata"] |= {"ownerReferences": [{**OWNER, "uid": "before"}], "finalizers": ["example.com/hold"], "deletionTimestamp": "now"}
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([], ["f-a"])


def test_ours_is_repaired_while_a_finalizer_holds_it() -> None:
    right = stored(service())
    right["metadata"] |= {"finalizers": ["example.com/hold"], "deletionTimestamp": "now"}
    there = copy.deepcopy(right)
    there["spec"]["selector"] = {"some": "body"}
    assert plan({"f-a": service()}, {"f-a": there}, "u") == Plan([ReplaceService(right)], [])
    assert plan({}, {"f-a": there}, "u") == Plan([], [])


def test_a_service_that_is_to_have_no_ports_loses_those_it_has() -> None:
    wanted = service()
    del wanted["spec"]["ports"]
    right = stored(service(ports=()))
    assert plan({"f-a": wanted}, {"f-a": stored(service())}, "u").actions == [
        ReplaceService({**right, "spec": {**right["spec"], "ports": []}})
    ]
