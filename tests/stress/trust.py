"""Nobody but us can change what runs: ConfigMaps are forged by somebody who may write nothing else."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from fcompile.model import names
from fcontroller.api import collection, path_of
from tests.controller.forgeries import FORGERIES, Forge
from tests.stress.setting import IMAGE, Json, Row, Setting, creations, role, until

FORGER = "writes-config-maps"
TASKS = 2
SAID = 30.0
"""Seconds within which it must be said."""
RETRY: dict[str, Any] = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": -2}}


def _other_digest(config_map: Json) -> None:
    """As the forged document would be, had it been reviewed: its own digest stands beside it."""
    FORGERIES["another image"](config_map)
    annotations = config_map["metadata"]["annotations"]
    config_map["metadata"]["annotations"] = {key: "sha256:" + "0" * 64 if "digest" in key else value for key, value in annotations.items()}


def _unowned(config_map: Json) -> None:
    FORGERIES["another image"](config_map)
    config_map["metadata"].update(labels={}, ownerReferences=[])


ALL: dict[str, Forge] = {**FORGERIES, "another digest": _other_digest, "nobody's": _unowned}
SILENT = ("other annotations",)
"""What changes nothing that anybody reads."""


def rows(setting: Setting, _scale: float = 1) -> Iterator[Row]:
    """What came of each forgery. There are no sizes to scale."""
    allow_config_maps(setting)
    for name in WAYS:
        yield from tried(setting, name)


def tried(setting: Setting, name: str) -> Iterator[Row]:
    """What comes of all forgeries, done in one way."""
    with setting.tenant() as namespace:
        for number in range(len(ALL)):
            setting.apply(
                namespace, f"f{number}", role("worker", TASKS, **RETRY), role("ps", TASKS, **RETRY), retryPolicy=RETRY["retryPolicy"]
            )
        pods = len(ALL) * 2 * TASKS
        until(
            lambda: all(setting.running(namespace, f"f{number}") == 2 * TASKS for number in range(len(ALL))), "they do not run", every=0.3
        )
        setting.audit()
        began = time.time()
        WAYS[name](setting, namespace)
        until(lambda: _remade(setting, namespace) >= pods // 2, f"{name}: Pods are not made again", 120, every=0.3)
        waiting = {number: forgery for number, forgery in enumerate(ALL) if forgery not in SILENT}

        def all_said() -> bool:
            for number in list(waiting):
                if _said(setting, namespace, f"f{number}"):
                    del waiting[number]
            return not waiting or time.time() > began + 2 * SAID

        until(all_said, "", 3 * SAID, every=0.5)
        took = time.time() - began
        made = creations(setting.audit(), namespace, began)
        forged = [event for event in made if not _as_reviewed(event["requestObject"])]
    yield Row(f"{name}: forged Pods that were asked for", len(forged), 0, f"{len(ALL)} forgeries, {len(made)} Pods made again")
    yield Row("… forgeries that nobody was told of", len(waiting), 0, ", ".join(waiting.values()))
    yield Row("… seconds until all were said", took, SAID)
    setting.gone(namespace)


def _remade(setting: Setting, namespace: str) -> int:
    """How many Pods are there again of those of the second role, whose document was forged, and of the first one."""
    events = setting.audit(forget=False)
    return len({event["objectRef"].get("name") or event["requestObject"]["metadata"]["name"] for event in creations(events, namespace, 0)})


def _said(setting: Setting, namespace: str, name: str) -> bool:
    """Whether a condition and an Event say that the document is not what it should be, or an Event that the ConfigMap was deleted."""
    events = setting.ask("GET", f"{collection('events', namespace)}?fieldSelector=involvedObject.name={name}")["items"]
    mended = "IntentStored" in setting.conditions(namespace, name) and any(event["reason"].startswith("Intent") for event in events)
    return mended or any("ConfigMapExternalDeleted" in event["message"] for event in events)


def _as_reviewed(pod: Json) -> bool:
    spec = pod["spec"]
    return (
        [container["image"] for container in spec["containers"]] == [IMAGE]
        and not spec.get("hostPID")
        and spec.get("serviceAccountName") in (None, "", "default")
    )


def allow_config_maps(setting: Setting) -> None:
    """Let the forger write ConfigMaps everywhere, and nothing else."""
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]
    setting.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": FORGER}, "rules": rules})
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": FORGER},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": FORGER},
        "subjects": [{"apiGroup": group, "kind": "User", "name": FORGER}],
    }
    setting.ask("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    forger = setting.cluster.api.impersonate(FORGER)
    until(lambda: forger.request("GET", collection("configmaps", "default"))[0] == 200, "the forger has no rights")
    code, _ = forger.request("GET", collection("frameworks", "default"))
    assert code == 403, "the forger may do more than he should"


def forge(setting: Setting, namespace: str, name: str, forgery: Forge) -> None:
    """Forge the ConfigMap of a Framework's attempt."""
    forger = setting.cluster.api.impersonate(FORGER)
    path = path_of("configmaps", namespace, names.config_map_name(name))
    for _ in range(20):
        code, config_map = forger.request("GET", path)
        assert code == 200, config_map
        forgery(config_map)
        code, answer = forger.request("PUT", path, config_map)
        if code != 409:  # The controller has mended it at once.
            break
    assert code == 200, answer


def _forge_all(setting: Setting, namespace: str) -> None:
    for number, forgery in enumerate(ALL.values()):
        forge(setting, namespace, f"f{number}", forgery)


def _lose_pods(setting: Setting, namespace: str) -> None:
    setting.ask("DELETE", collection("pods", namespace))


def _alive(setting: Setting, namespace: str) -> None:
    _forge_all(setting, namespace)
    _lose_pods(setting, namespace)


def _killed(setting: Setting, namespace: str) -> None:
    setting.controller.end(signal.SIGKILL)
    _forge_all(setting, namespace)
    _lose_pods(setting, namespace)
    setting.controller.start()


def _rescaled(setting: Setting, namespace: str) -> None:
    for number, forgery in enumerate(ALL.values()):
        patch = [{"op": "replace", "path": "/spec/taskRoles/1/taskNumber", "value": TASKS + 1}]
        setting.ask("PATCH", path_of("frameworks", namespace, f"f{number}"), patch, "application/json-patch+json")
        forge(setting, namespace, f"f{number}", forgery)
    _lose_pods(setting, namespace)


def _remade_map(setting: Setting, namespace: str) -> None:
    """The ConfigMap is made anew under its name, before anybody knows that it was gone."""
    setting.controller.end(signal.SIGKILL)
    forger = setting.cluster.api.impersonate(FORGER)
    for number, forgery in enumerate(ALL.values()):
        path = path_of("configmaps", namespace, names.config_map_name(f"f{number}"))
        _, config_map = forger.request("GET", path)
        forgery(config_map)
        assert forger.request("DELETE", path)[0] == 200
        forger.request("PATCH", path, {"metadata": {"finalizers": None}})
        for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "finalizers"):
            config_map["metadata"].pop(key, None)
        for owner in config_map["metadata"].get("ownerReferences") or ():
            owner.pop("blockOwnerDeletion", None)  # That needs power over the owner.
        code, answer = forger.request("POST", collection("configmaps", namespace), config_map)
        assert code == 201, answer
    _lose_pods(setting, namespace)
    setting.controller.start()


WAYS: dict[str, Callable[[Setting, str], object]] = {
    "forged, and the Pods deleted": _alive,
    "forged while the controller is killed": _killed,
    "forged during a rescale that nobody reviewed": _rescaled,
    "made anew while the controller is killed": _remade_map,
}
