"""Row 1, looked at after every write of every test: one live Pod per task, nothing that was not allowed before, nothing taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fcompile.model import names
from fcontroller.api import Json
from fcontroller.decide.states import (
    ATTEMPT_COMPLETED,
    COMPLETED,
    COMPLETING,
    CREATION_PENDING,
    CREATION_REQUESTED,
    DELETING,
    DELETION_PENDING,
)
from fcontroller.decide.status import from_time
from fcontroller.testing.memory_api.store import Change, Collection
from tests.safety import tally
from tests.safety.kubelet import Kubelet
from tests.safety.server import Server

_ONCE = ("completionStatus", "instanceUID", "completionTime")
"""What never changes in an attempt once it is there."""


class Watcher:
    """Looks at every write, and keeps what must never be in `violations`."""

    def __init__(self, server: Server, kubelet: Kubelet) -> None:
        self._server, self._kubelet = server, kubelet
        self.violations: list[str] = []
        self.writes = 0
        self.late = False
        """Requests may arrive long after they were sent: whether they were allowed cannot be told from what is stored."""
        self.foreground = True
        """Nobody has taken the finalizer off an attempt's ConfigMap: it stays until its Pods have gone."""
        self.moves = True
        """The server lets Pods have another owner."""
        self._frameworks: set[str] = set()
        """The uids of all that there were."""
        self.stored = {kind: collection.objects for (_, kind), collection in server.memory._store.collections.items()}
        server.memory._store.listen(self._see)
        server.before = self._before

    def _wrong(self, what: str) -> None:
        self.violations.append(f"{self._server.loop.passed:.3f} s, write {self.writes}: {what}")

    # What a controller is about to write

    def _before(self, method: str, path: str, body: Any) -> None:
        kind, name, part = _split(path)
        if method in ("POST", "PATCH", "DELETE") and kind in ("pods", "configmaps", "services") and not self.late:
            self._unless_paused(method, name, body if method == "POST" else self._there(kind, name))
        if method == "DELETE":
            self._before_deletion(kind, name, body)
        elif kind == "frameworks" and part != "status":
            self._wrong(f"{method} of a Framework itself")
        elif kind == "frameworks" and not (body["metadata"].get("uid") and body["metadata"].get("resourceVersion")):
            self._wrong("a status without uid or resourceVersion")
        elif method == "POST" and kind == "pods" and not self.late:
            self._before_pod(body)
        elif method == "POST" and kind == "configmaps" and not self.late:
            self._before_config_map(body)
        elif kind == "pods" and method != "POST":
            self._before_patch(method, name, body)
        elif kind in ("configmaps", "services") and method != "POST":
            there = self._there(kind, name)
            left = there is not None and "deletionTimestamp" in there["metadata"]  # Of an earlier Framework, by the garbage collector.
            if there is not None and self._framework(_owner(there)) is None and not left:
                self._wrong(f"{method} of {kind} {name}, which is not ours")

    def _unless_paused(self, method: str, name: str, value: Json | None) -> None:
        """What the controller has said to be paused gets nothing new, and loses nothing, until somebody changes that."""
        metadata = value["metadata"] if value else {}
        uid = (metadata.get("annotations") or {}).get(names.FRAMEWORK_UID) or (_owner(value) if value else "")
        framework = self._framework(uid)
        if framework is None or "deletionTimestamp" in framework["metadata"] or framework["spec"]["executionType"] == "Stop":
            return
        said = any(one["type"] == "Paused" and one["status"] == "True" for one in (framework.get("status") or {}).get("conditions", ()))
        if said and framework["metadata"]["annotations"].get(names.PAUSE_ANNOTATION) == "true":
            self._wrong(f"{method} of {name or metadata['name']}, while its Framework is paused")

    def _before_deletion(self, kind: str, name: str, options: Any) -> None:
        uid = (options.get("preconditions") or {}).get("uid")
        if not uid:
            self._wrong(f"DELETE of {kind} {name} without a uid")
        there = self._there(kind, name)
        if there is None or there["metadata"]["uid"] != uid or self.late:
            return
        if kind == "frameworks":
            if there["status"]["state"] != COMPLETED:
                self._wrong("DELETE of a Framework that is not completed")
            return
        framework = self._framework(_owner(there)) if kind != "pods" else self._framework_of_pod(there)
        if framework is None:
            if kind != "pods":
                self._wrong(f"DELETE of {kind} {name}, which is not ours")
        elif kind == "pods":
            self._before_pod_deletion(framework, there, options)
        elif kind == "configmaps":
            known = framework["status"]["attemptStatus"]["configMapUID"] == uid
            if known and framework["status"]["state"] not in (*COMPLETING, CREATION_REQUESTED):
                self._wrong(f"DELETE of the attempt's ConfigMap in {framework['status']['state']}")
            if known and self.moves and framework["status"]["attemptStatus"].get("retryRefused"):
                for pod in self.stored["pods"].values():
                    _, task = _task(framework, pod)
                    if _owner(pod) == uid and task is not None and task["attemptStatus"].get("podKept") and not task["deletionPending"]:
                        self._wrong(f"DELETE of the ConfigMap, which {pod['metadata']['name']} is to outlive")

    def _before_patch(self, method: str, name: str, operations: Any) -> None:
        """Only the owners of a Pod change, if it is as it was seen."""
        tests = [("test", "/metadata/uid"), ("test", "/metadata/resourceVersion"), ("add", "/metadata/ownerReferences")]
        if method != "PATCH" or [(one["op"], one["path"]) for one in operations] != tests:
            return self._wrong(f"{method} of {name}: {operations}")
        uid, version, owners = (one["value"] for one in operations)
        pod = self._there("pods", name)
        framework = self._framework_of_pod(pod) if pod is not None else None
        if pod is None or framework is None or self.late or (pod["metadata"]["uid"], pod["metadata"]["resourceVersion"]) != (uid, version):
            return None
        attempt, (_, task) = framework["status"]["attemptStatus"], _task(framework, pod)
        if task is None or task["attemptStatus"]["podUID"] != uid:
            return self._wrong(f"{method} of {name}, which is no task's")
        if [owner["uid"] for owner in owners] == [framework["metadata"]["uid"]]:
            return self._before_move(name, framework, task)
        if [owner["uid"] for owner in owners] != [attempt["configMapUID"]] or pod["metadata"].get("ownerReferences") == owners:
            self._wrong(f"{method} of {name}: {operations}")
        return None

    def _before_move(self, name: str, framework: Json, task: Json) -> None:
        """The Framework becomes the owner of a Pod that is kept, once nothing can make it begin another attempt."""
        if not framework["status"]["attemptStatus"].get("retryRefused") or framework["status"]["state"] != DELETION_PENDING:
            self._wrong(f"PATCH of {name} in {framework['status']['state']}")
        if not task["attemptStatus"].get("podKept"):
            self._wrong(f"PATCH of {name}, which is not kept")

    def _before_pod_deletion(self, framework: Json, pod: Json, options: Json) -> None:
        role, task = _task(framework, pod)
        if _owner(pod) == framework["metadata"]["uid"] and framework["status"]["state"] == COMPLETED:
            return  # It was kept, and its time is over.
        if options.get("gracePeriodSeconds") == 0 and role is not None and role["podGracefulDeletionTimeoutSec"] is None:
            self._wrong(f"DELETE by force of {pod['metadata']['name']}, whose role waits for ever")
        if task is not None and task["attemptStatus"]["podUID"] == pod["metadata"]["uid"]:
            asked = task["state"] == CREATION_REQUESTED  # It was not seen in time, or is scaled away before it was.
            kept = task["deletionPending"] and task["attemptStatus"].get("podKept")  # Its index may be used again.
            goes = framework["status"]["state"] == DELETING  # Or should: the garbage collector has left it.
            # Nobody would see it any more.
            hidden = (pod["metadata"].get("labels") or {}).get(names.FRAMEWORK_NAME) != framework["metadata"]["name"]
            if task["state"] not in COMPLETING and not asked and not kept and not goes and not hidden:
                self._wrong(f"DELETE of {pod['metadata']['name']} in {task['state']}")

    def _before_pod(self, pod: Json) -> None:
        notes, name = pod["metadata"]["annotations"], pod["metadata"]["name"]
        framework = self._framework(notes[names.FRAMEWORK_UID])
        if framework is None:
            return self._unless_gone(name, notes[names.FRAMEWORK_UID])
        attempt, (role, task) = framework["status"]["attemptStatus"], _task(framework, pod)
        if role is None or task is None:
            return self._wrong(f"POST of {name}, of which there is no task")
        allowed = {
            names.FRAMEWORK_ATTEMPT_ID: str(attempt["id"]),
            names.CONFIGMAP_UID: attempt["configMapUID"],
            names.TASKROLE_UID: role["instanceUID"],
            names.TASK_UID: task["instanceUID"],
            names.TASK_ATTEMPT_ID: str(task["attemptStatus"]["id"]),
        }
        said = {key: notes[key] for key in allowed}
        if said != allowed:
            self._wrong(f"POST of {name} with {said}, and {allowed} is stored")
        if task["state"] != CREATION_PENDING or task["attemptStatus"]["podUID"] is not None:
            self._wrong(f"POST of {name}, whose task is {task['state']}")
        return None

    def _before_config_map(self, config_map: Json) -> None:
        framework = self._framework(_owner(config_map))
        if framework is None:
            return self._unless_gone("a ConfigMap", _owner(config_map))
        attempt = framework["status"]["attemptStatus"]
        wanted = config_map["metadata"]["annotations"][names.FRAMEWORK_ATTEMPT_ID]
        if framework["status"]["state"] != CREATION_PENDING or attempt["configMapUID"] or str(attempt["id"]) != wanted:
            self._wrong(f"POST of the ConfigMap of attempt {wanted} in {framework['status']['state']} of attempt {attempt['id']}")
        return None

    def _unless_gone(self, what: str, framework: str) -> None:
        """A request that was on its way when the Framework went makes what the garbage collector takes."""
        if framework not in self._frameworks:
            self._wrong(f"POST of {what} for a Framework that was never there")

    def _there(self, kind: str, name: str) -> Json | None:
        return self.stored[kind].get(name)

    def _framework(self, uid: str) -> Json | None:
        return next((value for value in self.stored["frameworks"].values() if value["metadata"]["uid"] == uid), None)

    def _framework_of_pod(self, pod: Json) -> Json | None:
        notes = pod["metadata"].get("annotations") or {}
        framework = self._framework(notes.get(names.FRAMEWORK_UID, ""))
        if framework is None:
            return None
        _, task = _task(framework, pod)
        if not _owner(pod) and (task is None or task["attemptStatus"]["podUID"] != pod["metadata"]["uid"]):
            self._wrong(f"write of {pod['metadata']['name']}, which nobody controls and is no task's")
        return framework

    # What is stored

    def _see(self, collection: Collection, change: Change) -> None:
        self.writes += 1
        tally.add("one Pod", 1)
        kind = collection.kind.plural
        if kind == "pods" and change.old is None:
            self._one_pod_each()
        elif kind == "frameworks" and change.new is not None:
            self._frameworks.add(change.new["metadata"]["uid"])
            before, after = ((value or {}).get("status") or None for value in (change.old, change.new))
            if after is not None:
                self._nothing_goes_back(before, after, deleted="deletionTimestamp" in change.new["metadata"])
                if self.foreground:
                    self._none_lives_too_long(change.new["metadata"]["uid"], after)

    def _one_pod_each(self) -> None:
        for key, count in Counter(_key(pod) for pod in self._kubelet.alive.values()).items():
            if count > 1 and key[0]:
                self._wrong(f"{count} live Pods of {key}")

    def _nothing_goes_back(self, before: Json | None, after: Json, deleted: bool) -> None:
        if before is None:
            return
        for what in _goes_back(before, after, self._server.loop.wall()):
            self._wrong(f"the Framework's {what}")
        old, new = before["attemptStatus"], after["attemptStatus"]
        tasks = {task["instanceUID"]: task for _, task in _tasks(after)}
        for role, task in _tasks(before):
            later = tasks.get(task["instanceUID"])
            name = f"{role['name']}-{task['index']}"
            if later is not None:
                kept, still = (one["attemptStatus"].get("podKept") for one in (task, later))
                # With a Framework that is deleted all Pods go, whoever owns them.
                if kept and not still and not later["deletionPending"] and not deleted and self._is_moved(task):
                    self._wrong(f"{name}'s Pod is not kept any more")
                for what in _goes_back(task, later, self._server.loop.wall()):
                    self._wrong(f"{name}'s {what}")
            elif old["id"] == new["id"] and not (task["deletionPending"] and task["state"] == COMPLETED):
                self._wrong(f"{name} has gone in {task['state']}")

    def _is_moved(self, task: Json) -> bool:
        """Return whether the task's Pod is the Framework's own. Others go with the ConfigMap, whoever deletes that."""
        uid = task["attemptStatus"]["podUID"]
        pods = [pod for pod in self.stored["pods"].values() if pod["metadata"]["uid"] == uid]
        return bool(pods) and pods[0]["metadata"]["ownerReferences"][0]["kind"] == names.KIND

    def _none_lives_too_long(self, framework: str, status: Json) -> None:
        """Of an attempt that is said to be over no Pod lives."""
        over = {
            (task["instanceUID"], str(task["attemptStatus"]["id"]))
            for _, task in _tasks(status)
            if task["state"] in (ATTEMPT_COMPLETED, COMPLETED)
        }
        for pod in self._kubelet.alive.values():
            notes = pod["metadata"].get("annotations") or {}
            if (notes.get(names.TASK_UID), notes.get(names.TASK_ATTEMPT_ID)) in over:
                self._wrong(f"{pod['metadata']['name']} lives, and its attempt is said to be over")
            if status["state"] in (ATTEMPT_COMPLETED, COMPLETED) and notes.get(names.FRAMEWORK_UID) == framework:
                self._wrong(f"{pod['metadata']['name']} lives, and the Framework is {status['state']}")


def _split(path: str) -> tuple[str, str, str]:
    """Kind, `namespace/name` and subresource of a path."""
    before, _, rest = path.partition("/namespaces/")
    namespace, kind, *names_ = rest.split("/") if rest else ("", before.rpartition("/")[2])
    return kind, f"{namespace}/{names_[0]}" if names_ else "", names_[1] if len(names_) > 1 else ""


def _owner(value: Json) -> str:
    return next((str(owner["uid"]) for owner in value["metadata"].get("ownerReferences") or () if owner.get("controller")), "")


def _key(pod: Json) -> tuple[str, str, str]:
    notes = pod["metadata"].get("annotations") or {}
    return notes.get(names.FRAMEWORK_UID, ""), notes.get(names.TASKROLE_NAME, ""), notes.get(names.TASK_INDEX, "")


def _tasks(status: Json) -> Iterator[tuple[Json, Json]]:
    return ((role, task) for role in status["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"])


def _task(framework: Json, pod: Json) -> tuple[Json | None, Json | None]:
    """The role and task that a Pod is of, in the stored status."""
    _, name, index = _key(pod)
    for role in framework["status"]["attemptStatus"]["taskRoleStatuses"]:
        if role["name"] == name:
            return role, next((task for task in role["taskStatuses"] if str(task["index"]) == index), None)
    return None, None


def _goes_back(before: Json, after: Json, now: float) -> Iterator[str]:
    """What a Framework or a task takes back, at two times one after the other."""
    old, new = before["attemptStatus"], after["attemptStatus"]
    retries, later = before["retryPolicyStatus"], after["retryPolicyStatus"]
    if new["id"] not in (old["id"], old["id"] + 1) or later["totalRetriedCount"] != new["id"]:
        yield f"attempt goes from {old['id']} to {new['id']}, after {later['totalRetriedCount']} retries"
    if not 0 <= later["accountableRetriedCount"] - retries["accountableRetriedCount"] <= new["id"] - old["id"]:
        yield f"accountable retries go from {retries['accountableRetriedCount']} to {later['accountableRetriedCount']}"
    if before["state"] == COMPLETED and after["state"] != COMPLETED:
        yield f"state goes from {before['state']} to {after['state']}"
    if before["startTime"] != after["startTime"] or before["runTime"] not in (None, after["runTime"]):
        yield "times change"
    if before.get("activeStartTime") not in (None, after.get("activeStartTime")):
        since, later = (from_time(status.get("activeStartTime")) for status in (before, after))
        if since is None or since <= now or later is None or later > since:  # One in the future is put right.
            yield "deadline counts from another time"
    if old.get("retryRefused") and not (new.get("retryRefused") and new["id"] == old["id"]):
        yield "last attempt is followed by another"
    if new["id"] != old["id"] and old["completionStatus"] is None:
        yield "attempt is followed by another, and never ended"
    if new["id"] == old["id"]:
        for field in (*_ONCE, "podUID" if "podUID" in old else "configMapUID"):
            if old[field] not in (None, new[field]):
                yield f"{field} goes from {old[field]} to {new[field]}"
