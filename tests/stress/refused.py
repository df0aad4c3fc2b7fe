"""Nothing freezes: whatever write is refused for ever, it is said what waits and why, and Stop ends the Framework."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fcompile.model import names
from fcontroller.api import collection, path_of
from tests.stress.setting import IMAGE, Row, Setting, role, until

SAID = 30.0
"""Seconds within which it must be said."""
STOPS = 30.0
"""Seconds within which a Stop ends what runs."""
_POLICIES, _BINDINGS = (f"/apis/admissionregistration.k8s.io/v1/validatingadmission{kind}" for kind in ("policies", "policybindings"))
TASKS = 3
_MADE = {"configmaps": names.config_map_name("train"), "pods": "train-worker-0"}
"""What there is of each kind once the Framework runs."""


class Refusal(NamedTuple):
    """A write that is refused."""

    begin: Callable[[Setting, str], object]
    """Makes it so, in a namespace."""
    condition: str = ""
    """Which one says it; empty: an Event does, since the status cannot be stored."""
    edit: Callable[[Setting, str], object] | None = None
    """Asks for the write of a Framework that runs; None: it is refused from the beginning."""
    stops: bool = True
    """Whether Stop can end it as long as it is refused."""


def rows(setting: Setting, _scale: float = 1) -> Iterator[Row]:
    """What came of each refusal. There are no sizes to scale."""
    for name in REFUSALS:
        yield from tried(setting, name)


def tried(setting: Setting, name: str) -> Iterator[Row]:
    """What comes of one refusal."""
    with setting.tenant(webhook=True) as namespace:
        yield from _refused(setting, name, REFUSALS[name], namespace)
    setting.gone(namespace)


def _refused(setting: Setting, name: str, refusal: Refusal, namespace: str) -> Iterator[Row]:
    if refusal.edit is None:
        refusal.begin(setting, namespace)
        _apply(setting, namespace)
    else:
        _apply(setting, namespace)
        until(lambda: setting.running(namespace, "train") == TASKS, f"{name}: it does not run")
        refusal.begin(setting, namespace)
        refusal.edit(setting, namespace)
    try:
        took = until(lambda: _said(setting, namespace, refusal.condition), f"{name}: nobody says so", 4 * SAID)
        yield Row(f"{name}: seconds until it is said", took, SAID, refusal.condition or "Event")
        logged = sum(namespace in line and '"level": "warning"' in line.lower() for line in setting.controller.log.splitlines())
        yield Row("… lines of the log missing", int(not logged), 0)
        if refusal.stops:
            setting.stop(namespace, "train")
            ended = until(lambda: setting.state(namespace, "train") == "Completed", f"{name}: Stop does not end it", 4 * STOPS)
            yield Row("… seconds until Stop has ended it", ended, STOPS)
    finally:
        setting.cluster.api.request("DELETE", f"{_POLICIES}/{namespace}")
        setting.cluster.api.request("DELETE", f"{_BINDINGS}/{namespace}")
    if not refusal.stops:
        setting.stop(namespace, "train")
        ended = until(lambda: setting.state(namespace, "train") == "Completed", f"{name}: it does not go on", 4 * STOPS)
        yield Row("… seconds until it has ended, once it may", ended, 2 * STOPS)


def _said(setting: Setting, namespace: str, condition: str) -> bool:
    if condition:
        return bool(setting.conditions(namespace, "train").get(condition, {}).get("status") == "False")
    events: Any = setting.ask("GET", collection("events", namespace))["items"]
    return any(event["type"] == "Warning" and event["reason"] == "StatusRefused" for event in events)


def _apply(setting: Setting, namespace: str) -> None:
    setting.apply(namespace, "train", {**role("worker", TASKS), "service": {}})


def deny(resource: str, operation: str, *, group: str = "", when: str = "true") -> Callable[[Setting, str], None]:
    """Refuse writes by an admission policy of somebody else, and wait until the server has taken it in."""

    def begin(setting: Setting, namespace: str) -> None:
        version = "v1"
        rule = {"apiGroups": [group], "apiVersions": [version], "operations": [operation], "resources": [resource]}
        within = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        spec = {
            "matchConstraints": {"namespaceSelector": within, "resourceRules": [rule]},
            "validations": [{"expression": f"!({when})", "message": "a policy of somebody else denies it"}],
        }
        setting.ask("POST", _POLICIES, {"metadata": {"name": namespace}, "spec": spec})
        binding = {"policyName": namespace, "validationActions": ["Deny"]}
        setting.ask("POST", _BINDINGS, {"metadata": {"name": namespace}, "spec": binding})
        until(lambda: _is_denied(setting, namespace, resource, operation), "the policy is not in force")

    return begin


def _is_denied(setting: Setting, namespace: str, resource: str, operation: str) -> bool:
    """Return whether such a write of the Framework's is refused when it is tried without effect."""
    if resource == "frameworks/status":
        path, body = f"{path_of('frameworks', namespace, 'train')}/status", {"status": {"state": "AttemptRunning"}}
    elif operation == "CREATE":
        path, body = collection(resource, namespace), {"metadata": {"name": "tried"}}
    else:
        path, body = path_of(resource, namespace, _MADE[resource]), {"data": {"tried": "tried"}}
    method = {"CREATE": "POST", "UPDATE": "PATCH", "DELETE": "DELETE"}[operation]
    code, answer = setting.cluster.api.request(method, path, body if operation != "DELETE" else None, {"dryRun": "All"})
    assert code < 300 or "a policy of somebody else denies it" in answer["message"], answer
    return code >= 300


def _edit_image(setting: Setting, namespace: str) -> None:
    """As somebody does who has the change reviewed: compiled again."""
    found = setting.framework(namespace, "train")
    changed = setting.compiled(namespace, "train", {**role("worker", TASKS, image=f"{IMAGE}.1"), "service": {}})
    found["spec"] = changed["spec"]
    found["metadata"]["annotations"] = changed["metadata"]["annotations"]
    setting.ask("PUT", path_of("frameworks", namespace, "train"), found)


def _scale_down(setting: Setting, namespace: str) -> None:
    patch = [{"op": "replace", "path": "/spec/taskRoles/0/taskNumber", "value": 1}]
    setting.ask("PATCH", path_of("frameworks", namespace, "train"), patch, "application/json-patch+json")


def _scale_up(setting: Setting, namespace: str) -> None:
    patch = [{"op": "replace", "path": "/spec/taskRoles/0/taskNumber", "value": TASKS + 2}]
    setting.ask("PATCH", path_of("frameworks", namespace, "train"), patch, "application/json-patch+json")


def _immutable(setting: Setting, namespace: str) -> None:
    setting.ask("PATCH", path_of("configmaps", namespace, names.config_map_name("train")), {"immutable": True})


def _taken(kind: str, name: str) -> Callable[[Setting, str], None]:
    def begin(setting: Setting, namespace: str) -> None:
        spec = {"spec": {"containers": [{"name": "main", "image": "others"}]}} if kind == "pods" else {}
        setting.ask("POST", collection(kind, namespace), {"metadata": {"name": name}, **spec})

    return begin


def _no_services(setting: Setting, namespace: str) -> None:
    setting.limit(namespace, "services", 0)


def _no_pods(setting: Setting, namespace: str) -> None:
    setting.limit(namespace, "pods", 0)


def _send_away(setting: Setting, namespace: str) -> None:
    setting.webhook.retry_after[namespace] = 20


REFUSALS = {
    "the ConfigMap may not be changed": Refusal(
        deny("configmaps", "UPDATE", when="object.data != oldObject.data"), "IntentStored", _edit_image
    ),
    "the ConfigMap was made immutable": Refusal(_immutable, "IntentStored", _edit_image),
    "the ConfigMap may not be made": Refusal(deny("configmaps", "CREATE"), "IntentStored"),
    "somebody else has the ConfigMap's name": Refusal(_taken("configmaps", "train-attempt"), "IntentStored"),
    "somebody else has a Pod's name": Refusal(_taken("pods", "train-worker-1"), "PodsCreated"),
    "Services are over quota": Refusal(_no_services, "ServicesMade"),
    "Pods are over quota": Refusal(_no_pods, "PodsCreated"),
    "Pods are sent away": Refusal(_send_away, "PodsCreated", _scale_up),
    "Pods may not be deleted": Refusal(deny("pods", "DELETE"), "ObjectsDeleted", _scale_down, stops=False),
    "the ConfigMap may not be deleted": Refusal(
        deny("configmaps", "DELETE"), "ObjectsDeleted", lambda setting, namespace: setting.stop(namespace, "train"), stops=False
    ),
    "the status may not be written": Refusal(deny("frameworks/status", "UPDATE", group=names.GROUP), "", _scale_up, stops=False),
}
