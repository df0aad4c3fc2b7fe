"""A world of one Framework around `decide`: an API server without lag, a garbage collector, a kubelet, and virtual time.

It is only as good as decisions need; the controller as a whole is tried on the in-memory API and on a real one.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable
from typing import Any

from fcompile.default import default
from fcompile.lower.intent import at_once
from fcontroller.decide import observed
from fcontroller.decide.actions import (
    Action,
    AdoptPod,
    ConfirmConfigMapGone,
    ConfirmPodGone,
    CreateConfigMap,
    CreatePod,
    DeleteConfigMap,
    DeletePod,
    MovePod,
    RecognizePod,
    RemoveConfigMap,
    RemovePod,
)
from fcontroller.decide.context import ReconcileContext, Settings
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.framework import (
    config_map_confirmed_gone,
    config_map_created,
    config_map_deleted,
    config_map_gone,
    kept_keys,
    reconcile_framework,
)
from fcontroller.decide.spec import is_paused, read_spec
from fcontroller.decide.states import DELETION_PENDING
from fcontroller.decide.status import Key, Status, to_time
from fcontroller.decide.status_json import status_from, to_json
from fcontroller.decide.task import find, pod_created, pod_deleted, pod_gone, pod_moved
from fcontroller.testing.kubelet import NODE, ended, running

Json = dict[str, Any]
START = 1_800_000_000.0


_LOOKS = (RecognizePod, ConfirmPodGone, ConfirmConfigMapGone)
_CREATIONS = (CreateConfigMap, CreatePod)
SETTINGS = Settings(Classifier(read_failures(DEFAULT_POD_FAILURE_SPEC)[0]))


def role_spec(name: str, count: int, run: str = "forever", exits: str = "0", **changes: Any) -> Json:
    """A role whose Pods run for so many seconds, and exit with these codes in turn.

    `changes` are of the role itself, or, as `task={…}`, of its task.
    """
    template = {"metadata": {"annotations": {"sim/run": run, "sim/exits": exits}}, "spec": {"containers": [{"name": "main", "image": "a"}]}}
    task = {"pod": template, **changes.pop("task", {})}
    return {"name": name, "taskNumber": count, "task": task, **changes}


def from_json(stored: Json) -> Status:
    """Return a status that was stored."""
    return at_once(status_from(stored))


class Refused(Exception):
    """The API server did not create the Pod: the completion that follows."""

    def __init__(self, completion: Json) -> None:
        super().__init__(completion["phrase"])
        self.completion = completion


class Crashed(Exception):
    """The controller has died: whatever is not stored is lost."""


class World:
    """Run it with `run`, change it with `at`, look at `stored`."""

    def __init__(self, spec: Json, settings: Settings, name: str = "f", restarts: bool = False) -> None:
        """:param restarts: forget everything but what is stored after each write, as a controller does that crashes there."""
        self.name, self.settings, self.restarts = name, settings, restarts
        self.now = START
        self.uids = 0
        self.set_spec(spec)
        self.stored: Json | None = None
        self.history: list[Json] = []
        """Every status that was stored."""
        self.status: Status | None = None
        self.config_map: Json | None = None
        self.pods: dict[Key, Json] = {}
        self.made: dict[str, int] = {}
        """How many Pods were made under a name."""
        self.finished: dict[str, int] = {}
        """How many of them ended by themselves."""
        self.deleted: list[tuple[Key, str, bool]] = []
        """What the controller has deleted of Pods, and whether by force."""
        self.admit: Callable[[Key], None] = lambda key: None
        """May raise `Refused`."""
        self.keep_going = True
        """Whether the kubelet ends Pods that are being deleted."""
        self.hidden = self.hidden_config_map = False
        """Whether the cache never shows Pods, or the ConfigMap."""
        self.crash_after = 0
        """Before or after which action or write the controller dies, once."""
        self.may_move = True
        """Whether the API server lets Pods have another owner."""
        self.moved: list[Key] = []
        """The Pods whose owner the Framework became, whenever that was asked for."""
        self.deleting = False
        """Whether the Framework is being deleted."""
        self.server_ahead: float | None = None
        """Seconds that the API server's clock is ahead of the controller's; None: its time is not known."""
        self.paused, self.restart = False, ""
        """What its annotations say."""
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def set_spec(self, spec: Json) -> None:
        framework = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": self.name}}
        self.spec = default({**framework, "spec": spec}).framework
        self.rules = read_spec(self.spec)

    def at(self, seconds: float, what: Callable[[], None]) -> None:
        """Do something after so many seconds from now."""
        self.uids += 1
        heapq.heappush(self._events, (self.now + seconds, self.uids, what))

    def run(self, seconds: float) -> None:
        """Reconcile, and let so many seconds pass."""
        end = self.now + seconds
        while True:
            requeue_after = self.settle()
            times = [time for time, _ in requeue_after] + [event[0] for event in self._events[:1]]
            times = [time for time in times if time <= end]
            if not times:
                self.now = end
                return
            self.now = max(self.now, min(times))
            while self._events and self._events[0][0] <= self.now:
                heapq.heappop(self._events)[2]()

    def settle(self) -> list[tuple[float, Key | None]]:
        """Reconcile until nothing changes. Return when to do so again."""
        before: list[Action] = []
        for _ in range(10_000):
            context = self.look()
            self.status = context.status
            reconcile_framework(context)
            try:
                saved = self._save()
                if not saved and context.actions == before:
                    if context.actions:
                        self.at(1, lambda: None)  # They were done, and to no effect yet: they are tried again.
                    return context.requeue_after
                for action in context.actions:
                    self._may_crash()
                    self._act(context, action)
                    self._may_crash()
            except Crashed:
                self.status = None if self.stored is None else self._load(self.stored)
            before = context.actions
        raise AssertionError("it never settles")

    def _may_crash(self) -> None:
        self.crash_after -= 1
        if self.crash_after == 0:
            raise Crashed

    def look(self) -> ReconcileContext:
        return ReconcileContext(
            name=self.name,
            uid="framework",
            generation=0,
            spec=self.rules,
            status=self.status or Status(f"{self.name}-attempt", self.now),
            is_new=self.status is None,
            now=self.now,
            server_now=None if self.server_ahead is None else self.now + self.server_ahead,
            new_uid=self.new_uid,
            random_delay=lambda low, high: low,
            settings=self.settings,
            config_map=observed.config_map(self.config_map) if self.config_map and not self.hidden_config_map else None,
            pods={} if self.hidden else {key: observed.pod(pod) for key, pod in self.pods.items() if _owner(pod) != "framework"},
            deleting=self.deleting,
            paused=is_paused(self.paused, self.rules),
            restart=self.restart,
            busy=(),
            creating=False,
            may_begin=True,
            may_create=True,
            may_recognize=True,
        )

    def new_uid(self) -> str:
        self.uids += 1
        return f"uid{self.uids}"

    def _save(self) -> bool:
        assert self.status is not None
        changed = self.status.revision > self.status.stored
        if changed:
            self._may_crash()
            self.stored = json.loads(json.dumps(to_json(self.status)))
            self.history.append(self.stored)
            self.status.stored = self.status.revision
            self._may_crash()
            if self.restarts:
                self.status = self._load(self.stored)
        return changed

    def _load(self, stored: Json) -> Status:
        """Read a status as a controller does that begins: with what its predecessor has moved."""
        status = from_json(stored)
        if status.state == DELETION_PENDING and status.retry_refused:
            status.end.unmoved = kept_keys(status) - {key for key, pod in self.pods.items() if _owner(pod) == "framework"}
        return status

    def _act(self, context: ReconcileContext, action: Action) -> None:
        context.status = self.status or context.status
        allowed = not isinstance(action, _CREATIONS) if context.deleting else isinstance(action, _LOOKS)
        assert allowed or not context.paused, f"{action} while it is paused"
        match action:
            case CreateConfigMap():
                assert self.config_map is None
                self.config_map = self.object(f"{self.name}-attempt", "framework")
                config_map_created(context, self.config_map["metadata"]["uid"], "v1:sha256:0", 1)
            case DeleteConfigMap(uid, completion):
                self.delete_config_map(uid)
                if completion is None:
                    config_map_deleted(context)
                elif self.config_map is None:
                    config_map_gone(context, completion)
            case RemoveConfigMap(completion):
                config_map_gone(context, completion)
            case CreatePod(key):
                self._create_pod(context, key)
            case DeletePod(key, uid, force, completion):
                self.deleted.append((key, uid, force))
                self.delete_pod(key, uid, force)
                if completion is not None:
                    if key not in self.pods:
                        pod_gone(context, key, completion)
                else:
                    pod_deleted(context, key, uid)
            case RemovePod(key, completion):
                pod_gone(context, key, completion)
            case RecognizePod(key, uid):
                self._recognize(context, key, uid)
            case ConfirmPodGone(key, uid, completion):
                pod = self.pods.get(key)
                if pod is None or pod["metadata"]["uid"] != uid:
                    pod_gone(context, key, completion)
            case AdoptPod(key, uid):
                if key in self.pods and self.pods[key]["metadata"]["uid"] == uid:
                    self.pods[key]["metadata"]["ownerReferences"] = [self.owner(str(context.status.attempt.object_uid))]
            case MovePod(key, uid):
                self._move_pod(context, key, uid)
            case ConfirmConfigMapGone(uid):
                if self.config_map is None or self.config_map["metadata"]["uid"] != uid:
                    config_map_confirmed_gone(context, uid)

    def _move_pod(self, context: ReconcileContext, key: Key, uid: str) -> None:
        if not self.may_move:
            return
        pod = self.pods.get(key)
        if pod is not None and pod["metadata"]["uid"] == uid:
            pod["metadata"]["ownerReferences"] = [{"uid": "framework", "controller": True}]
            self.moved.append(key)
        pod_moved(context, key, gone=pod is None or pod["metadata"]["uid"] != uid)

    def _recognize(self, context: ReconcileContext, key: Key, uid: str) -> None:
        pod = self.pods.get(key)
        if pod is None or pod["metadata"]["uid"] != uid:
            return
        if pod["made_for"] == self._made_for(context, key):
            pod_created(context, key, uid, "template")
        elif not context.paused:
            self.delete_pod(key, uid)

    def _made_for(self, context: ReconcileContext, key: Key) -> Json:
        _, task = find(context.status, key)
        return {"uid": task.instance_uid, "attempts": (context.status.attempt.id, task.attempt.id)}

    def owner(self, uid: str) -> Json:
        kind = {"apiVersion": "v1", "kind": "ConfigMap", "name": f"{self.name}-attempt"}
        return {**kind, "uid": uid, "controller": True, "blockOwnerDeletion": True}

    def object(self, name: str, owner: str) -> Json:
        return {"metadata": {"name": name, "uid": self.new_uid(), "ownerReferences": [self.owner(owner)]}, "spec": {}, "status": {}}

    def _create_pod(self, context: ReconcileContext, key: Key) -> None:
        assert key not in self.pods, "two Pods of one task"
        assert self.config_map is not None
        try:
            self.admit(key)
        except Refused as refused:
            pod_gone(context, key, refused.completion)
            return
        name = f"{self.name}-{key[0]}-{key[1]}"
        pod = self.object(name, self.config_map["metadata"]["uid"])
        pod["status"] = {"phase": "Pending"}
        pod["spec"] = {"nodeName": NODE, "containers": [{"name": "main"}]}
        pod["made_for"] = self._made_for(context, key)
        self.pods[key] = pod
        self.made[name] = self.made.get(name, 0) + 1
        pod_created(context, key, pod["metadata"]["uid"], "template")
        self._kubelet(key, pod)

    def _kubelet(self, key: Key, pod: Json) -> None:
        role = next(role for role in self.spec["spec"]["taskRoles"] if role["name"] == key[0])
        notes = role["task"]["pod"].get("metadata", {}).get("annotations", {})
        self.at(0.1, lambda: self._runs(pod))
        if notes.get("sim/run", "forever") != "forever":
            exits = [int(code) for code in notes.get("sim/exits", "0").split(",")]
            self.at(0.1 + float(notes["sim/run"]), lambda: self._ends(pod, exits))

    def _runs(self, pod: Json) -> None:
        if "deletionTimestamp" not in pod["metadata"]:
            pod["status"] = running(pod, str(to_time(self.now)))

    def _ends(self, pod: Json, exits: list[int]) -> None:
        name = pod["metadata"]["name"]
        if "deletionTimestamp" not in pod["metadata"]:
            self.finish(pod, exits[min(self.finished.get(name, 0), len(exits) - 1)])
            self.finished[name] = self.finished.get(name, 0) + 1

    def finish(self, pod: Json, code: int) -> None:
        """The Pod's only container ends."""
        if "deletionTimestamp" not in pod["metadata"]:
            pod["status"] = ended(pod, code, str(to_time(self.now)))

    def delete_pod(self, key: Key, uid: str | None = None, force: bool = False) -> None:
        """Delete a Pod as anybody might; it is gone a second later, or at once by force."""
        pod = self.pods.get(key)
        if pod is None or (uid is not None and pod["metadata"]["uid"] != uid):
            return
        if force or not pod["spec"]:
            self.gone(key, pod)
        elif "deletionTimestamp" not in pod["metadata"]:
            pod["metadata"]["deletionTimestamp"] = to_time(self.now + 30)
            pod["metadata"]["deletionGracePeriodSeconds"] = 30
            if self.keep_going:
                self.at(1, lambda: self.gone(key, pod))

    def task(self, role: str, index: int) -> Json:
        """The status of a task, as it is stored."""
        assert self.stored is not None
        roles = self.stored["attemptStatus"]["taskRoleStatuses"]
        task: Json = next(one for one in roles if one["name"] == role)["taskStatuses"][index]
        return task

    def forget_pod(self, key: Key) -> None:
        """Lose what was stored since the Pod was made, as a controller does that dies just then."""
        states = [status["attemptStatus"]["taskRoleStatuses"][0]["taskStatuses"][key[1]]["state"] for status in self.history]
        self.status = from_json(self.history[states.count("AttemptCreationPending") - 1])

    def gone(self, key: Key, pod: Json) -> None:
        if self.pods.get(key) is pod:
            del self.pods[key]
        self._collect()

    def delete_config_map(self, uid: str | None = None) -> None:
        """Delete the ConfigMap as anybody might: it goes after its Pods."""
        if self.config_map is not None and uid in (None, self.config_map["metadata"]["uid"]):
            self.config_map["metadata"]["deletionTimestamp"] = to_time(self.now)
            for key in [key for key, pod in self.pods.items() if _owner(pod) == self.config_map["metadata"]["uid"]]:
                self.delete_pod(key)
            self._collect()

    def _collect(self) -> None:
        if self.config_map is not None and "deletionTimestamp" in self.config_map["metadata"]:
            owner = self.config_map["metadata"]["uid"]
            if not any(_owner(pod) == owner for pod in self.pods.values()):
                self.config_map = None


def _owner(pod: Json) -> Any:
    return pod["metadata"]["ownerReferences"][0]["uid"]
