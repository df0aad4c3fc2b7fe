"""Every example, compiled and run on a real API server: what was sent and what is there is what `fcompile build --emit expected` printed.

What was sent is in the server's audit log, as the server has read it; so the compiled files are sent to it too, as a dry run, and read from
the same log. They are never compared with anything that is compiled here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path

import pytest

from fcompile import expand
from fcompile.load import values
from fcompile.lower.intent import Intent, lower_in_steps
from fcontroller import intent as intents
from fcontroller.api import Json, collection, path_of
from fcontroller.log import Log
from fcontroller.reconcile.inspector import Inspector
from tests import laws
from tests.cluster import Cluster
from tests.controller.lab import Lab, lab, real
from tests.drift.conftest import fitting
from tests.drift.objects import address, build, diff
from tests.test_examples import SINGLE, SWEEP

Key = tuple[str, str, str]
"""Kind, namespace, name."""
KINDS = {"pods": "Pod", "services": "Service", "configmaps": "ConfigMap"}
CLASSES = ("llm-training", "preemptible")


def compiled(*arguments: str) -> list[Json]:
    """What `fcompile build` prints for the examples, each Framework told to start: one waits for that."""
    done = laws.run(["build", *arguments, *map(str, SINGLE), str(SWEEP)])
    assert done.code == 0, done.err
    objects = values(done.out)
    for value in objects:
        if value["kind"] == "Framework":
            value["spec"]["executionType"] = "Start"
    return objects


def key(value: Json) -> Key:
    return value["kind"], value["metadata"]["namespace"], value["metadata"]["name"]


class Trial:
    """The examples while they run, and what is expected of them."""

    def __init__(self, cluster: Cluster, made: Lab) -> None:
        self.cluster, self.made = cluster, made
        self.objects: list[Json] = []
        self.expected: dict[Key, Json] = {}

    async def listed(self, kind: str) -> list[Json]:
        items: list[Json] = (await self.made.api.request("GET", collection(kind))).body["items"]
        return items

    async def settled(self, without: Iterable[str] = ()) -> list[Json]:
        """The Frameworks, once each of them runs or has completed, and these Pods (uids) have been replaced."""
        gone, end = set(without), time.monotonic() + 60
        while True:
            frameworks = await self.listed("frameworks")
            waiting = [framework for framework in frameworks if not _settled(framework, gone)]
            if not waiting:
                return frameworks
            assert time.monotonic() < end, [(framework["metadata"]["name"], framework.get("status")) for framework in waiting]
            await asyncio.sleep(0.5)

    async def apply(self, *arguments: str) -> None:
        """Compile the examples and what is expected of them, and apply them."""
        self.objects = [value for value in compiled(*arguments) if value["kind"] != "Framework" or fitting([value], self.cluster)]
        self.expected = {key(value): value for value in values(build(self.objects, "--emit=expected").encode())}
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": self.objects})
        await asyncio.to_thread(self.cluster.kubectl, "apply", "-f", "-", input=text)
        await self.settled()

    async def retry(self, wanted: Callable[[Json], bool]) -> None:
        """Delete a Pod of each Framework that has a wanted role, and wait for what becomes of it."""
        deleted = []
        for framework in await self.settled():
            if framework["status"]["state"] != "Completed":
                roles = [role["name"] for role in framework["spec"]["taskRoles"] if wanted(role)]
                for role in framework["status"]["attemptStatus"]["taskRoleStatuses"]:
                    task = role["taskStatuses"][-1]
                    if role["name"] in roles[:1] and task["state"] == "AttemptRunning":
                        deleted.append(task["attemptStatus"]["podUID"])
                        path = path_of("pods", framework["metadata"]["namespace"], task["attemptStatus"]["podName"])
                        assert (await self.made.api.request("DELETE", path)).ok
        assert len(deleted) > 10
        await self.settled(deleted)

    async def nothing_differs(self) -> None:
        """`kubectl diff` of the compiled file has nothing to say of what exists."""
        live = {
            (kind, value["metadata"]["namespace"], value["metadata"]["name"])
            for plural, kind in KINDS.items()
            for value in await self.listed(plural)
        }
        there = [self.expected[found] for found in live & self.expected.keys()]
        assert sum(value["kind"] == "Pod" for value in there) > 90
        # Admission adds to tolerations, which is a conflict over the whole list in the server-side form.
        mergeable = [value for value in there if "tolerations" not in value.get("spec", {})]
        last = [value for value in there if value["kind"] == "Pod" and _is_last(value, live)]
        for objects, options in ((mergeable, ("--server-side",)), (last, ())):
            code, shown, said = await asyncio.to_thread(diff, self.cluster, "\n".join(map(json.dumps, objects)), *options)
            assert (code, said) == (0, ""), shown

    async def only_edits_are_counted(self) -> None:
        """The gauge in /metrics has nothing to say either, until somebody edits a Pod."""
        inspector = Inspector(self.made.controller, Log("error"))
        await inspector._round()
        assert inspector.differing["other"] == 0
        pods = [pod for pod in await self.listed("pods") if pod["status"].get("phase") == "Running"]
        for pod, path in ((pods[0], "/spec/containers/0/image"), (pods[-1], "/metadata/annotations/FC_TASK_INDEX")):
            patch = [{"op": "replace", "path": path, "value": "1000"}]
            about = pod["metadata"]
            assert (await self.made.api.request("PATCH", path_of("pods", about["namespace"], about["name"]), patch)).ok
        await inspector._round()
        assert inspector.differing["other"] == 2

    def created(self, *, dry_run: bool) -> Iterator[tuple[Key, Json]]:
        """What the server was asked to create, as it read that."""
        for event in self.cluster.audit_log():
            about = event["objectRef"]
            plain = event["verb"] == "create" and "subresource" not in about and ("dryRun=All" in event["requestURI"]) == dry_run
            value = event.get("requestObject") or {"metadata": {}}
            if plain and about["resource"] in KINDS and "name" in value["metadata"]:  # Other tests of this cluster leave it to the server.
                yield (KINDS[about["resource"]], about["namespace"], value["metadata"]["name"]), value

    def try_expected(self) -> dict[Key, Json]:
        """Send what was compiled to the server without effect: how it reads that."""
        for value in self.expected.values():
            if value["kind"] != "ConfigMap":
                self.cluster.api.request("POST", address(value), value, {"dryRun": "All"})
        return dict(self.created(dry_run=True))


def _is_last(pod: Json, live: set[Key]) -> bool:
    """Of a role the last task is one that was retried, or that is new. For the client-side form kubectl takes 0.1 s of each Pod."""
    index = int(pod["metadata"]["labels"]["FC_TASK_INDEX"])
    role = pod["metadata"]["name"].removesuffix(str(index))
    return ("Pod", pod["metadata"]["namespace"], f"{role}{index + 1}") not in live


def _settled(framework: Json, gone: set[str]) -> bool:
    status = framework.get("status") or {}
    if status.get("state") != "AttemptRunning":
        return bool(status.get("state") == "Completed")
    tasks = [task for role in status["attemptStatus"]["taskRoleStatuses"] for task in role["taskStatuses"]]
    scale = sum(role["taskNumber"] for role in framework["spec"]["taskRoles"])
    if status["conditions"][0]["observedGeneration"] != framework["metadata"]["generation"] or len(tasks) != scale:
        return False
    return all(
        task["state"] == "Completed" or (task["state"] == "AttemptRunning" and task["attemptStatus"]["podUID"] not in gone)
        for task in tasks
    )


def reviewed_part(value: Json) -> Json:
    """An object that was sent, without what only the cluster knows: the closed list, and no more."""
    value = json.loads(json.dumps(value))
    metadata, spec = value["metadata"], value.get("spec", {})
    for kind, where, which, _ in expand.LEFT_OUT:
        if kind != value["kind"]:
            continue
        if where == "metadata.ownerReferences":
            metadata["ownerReferences"].pop()
        elif where == "metadata.annotations":
            metadata["annotations"] = {name: text for name, text in metadata["annotations"].items() if name not in which}
        elif where == "binaryData":
            value.pop("binaryData", None)
        else:
            assert where == "env of every container and init container"
            for container in (*spec["containers"], *spec.get("initContainers", ())):
                container["env"] = [variable for variable in container["env"] if variable["name"] not in which]
    if not metadata["ownerReferences"]:
        del metadata["ownerReferences"]
    return value


def newer(framework: Json, version: str | None) -> Generator[None, None, Intent]:
    """Another version of the lowering rules."""
    intent = yield from lower_in_steps(framework, version)
    roles = [role._replace(pod={**role.pod, "spec": {**role.pod["spec"], "hostname": "newer"}}) for role in intent.roles]
    return intent._replace(roles=tuple(roles), digest=intent.digest.replace("v1", "v0"))


def retries(role: Json) -> bool:
    """Whether a task of the role whose Pod was deleted by somebody is tried again, whatever becomes of others."""
    policy = role["task"]["retryPolicy"]
    return bool(policy["fancyRetryPolicy"] or policy["maxRetryCount"])


def one_more(framework: Json) -> str:
    """A task more for its first role."""
    role = framework["spec"]["taskRoles"][0]
    return f"{framework['metadata']['name']}/{role['name']}.taskNumber={role['taskNumber'] + 1}"


def prepare(cluster: Cluster) -> None:
    """Make what the examples take for granted."""
    for name in sorted({value["metadata"]["namespace"] for value in compiled()}):
        cluster.api.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    for name in CLASSES:
        cluster.api.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": 1})


def test_what_was_compiled_is_what_is_sent_and_what_runs(
    audited_cluster: Cluster, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    cluster = audited_cluster

    prepare(cluster)

    async def work() -> Trial:
        async with real(cluster) as api, lab(api, "") as made:
            trial = Trial(cluster, made)
            await trial.apply()
            await trial.nothing_differs()

            await trial.retry(lambda role: True)
            await trial.nothing_differs()

            await trial.apply(
                *(
                    argument
                    for framework in (value for value in trial.objects if value["kind"] == "Framework")
                    for argument in ("--set", one_more(framework))
                )
            )
            await trial.nothing_differs()

            monkeypatch.setattr(intents, "lower_in_steps", newer)
            await made.restart()
            await trial.retry(retries)
            await trial.nothing_differs()
            await trial.only_edits_are_counted()
            return trial

    trial = asyncio.run(work())
    expected = trial.try_expected()
    # The count of tasks that a ConfigMap began with is not that of the last one.
    sent = [(found, value) for found, value in trial.created(dry_run=False) if found in trial.expected and found[0] != "ConfigMap"]
    assert len(sent) > len([found for found in trial.expected if found[0] != "ConfigMap"])
    for found, value in sent:
        assert reviewed_part(value) == expected[found]
