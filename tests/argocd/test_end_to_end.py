"""From `generate` to the end of the run on a real API server: applied as Argo CD does it, the output never differs from what is there."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fcompile.commands.argocd.bundle import script
from fcompile.emit import yaml
from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from fcontroller.api import Json, path_of
from fcontroller.decide.review import Rules
from tests.argocd.lua import act, merge_patch
from tests.argocd.server import Answer, environment, inside
from tests.cluster import Cluster
from tests.controller.lab import Lab, lab, real, run

SOURCE = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata:
  name: {name}
spec:
  retryPolicy: {{maxRetryCount: 1}}
  taskRoles:
  - name: worker
    taskNumber: 2
    service: {{ports: [{{port: 80}}]}}
    task:
      retryPolicy: {{fancyRetryPolicy: true}}
      podGracefulDeletionTimeoutSec: 600
      pod:
        metadata: {{annotations: {{sim/run: "{seconds}", sim/exits: "{exits}"}}}}
        spec:
          restartPolicy: Never
          containers:
          - {{name: main, image: a, resources: {{limits: {{cpu: 0.5, memory: 1024Mi}}}}, env: [{{name: A}}]}}
          volumes: [{{name: work, emptyDir: {{}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}-settings}}
data: {{a: b}}
"""
# As Argo CD applies: by client-side apply, and with the sync option ServerSideApply under its own name.
WAYS = {"client": (), "server": ("--server-side", "--field-manager=argocd-controller")}


def generated(folder: Path, namespace: str, **source: str) -> Answer:
    (folder / "app").mkdir(exist_ok=True)
    (folder / "app" / "train.yaml").write_text(SOURCE.format(**source))
    env = environment("app", [{"name": "pods", "string": "true"}], ARGOCD_APP_NAMESPACE=namespace)
    answer = inside("generate", folder / "app", env)
    assert answer.code == 0, answer.said
    return answer


def parts(answer: Answer) -> tuple[str, str]:
    """What Argo CD applies, and the Pods that it only compares, without what its settings say to ignore."""
    pods = [value for value in answer.objects if value["kind"] == "Pod"]
    for pod in pods:
        assert pod["metadata"]["annotations"].pop("argocd.argoproj.io/hook") == "Skip"
    return "".join(map(yaml.document, [value for value in answer.objects if value["kind"] != "Pod"])), "".join(map(yaml.document, pods))


class Applied:
    """Manifests in a namespace, and the question whether they still are what is there."""

    def __init__(self, cluster: Cluster, namespace: str, way: tuple[str, ...]) -> None:
        self.cluster, self.namespace, self.way = cluster, namespace, way

    async def kubectl(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(self.cluster.kubectl, *arguments, **options)

    async def apply(self, text: str) -> None:
        await self.kubectl("apply", "-n", self.namespace, *self.way, "-f", "-", input=text)

    async def same(self, text: str) -> None:
        """A dry run on the server gives what is there. The status is the controller's, and changes meanwhile."""
        there = await self._objects("get", "-f", "-", input=text)
        assert await self._objects("apply", *self.way, "--dry-run=server", "-f", "-", input=text) == there

    async def unchanged(self, text: str) -> None:
        """kubectl, which reads and dry-runs one after the other, shows no difference. Nothing must be under way."""
        done = await self.kubectl("diff", "-n", self.namespace, *self.way, "-f", "-", input=text, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done.stdout

    async def _objects(self, *command: str, input: str) -> list[Json]:
        done = await self.kubectl(*command, "-n", self.namespace, "-o", "json", input=input)
        found = json.loads(done.stdout)
        return list(map(_without_status, found["items"] if found["kind"] == "List" else [found]))


def _without_status(value: Json) -> Json:
    """An object without what every write of its status changes. Its generation stays: each change of its spec counts there."""
    metadata = {key: item for key, item in value["metadata"].items() if key not in ("resourceVersion", "managedFields")}
    return {key: item for key, item in {**value, "metadata": metadata}.items() if key != "status"}


def in_lab(cluster: Cluster, namespace: str, work: Callable[[Lab], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        async with real(cluster) as api, lab(api, namespace, rules=Rules(enforce=True, require=True)) as made:
            await work(made)

    run(all_of_it())


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_at_no_moment_is_there_a_difference(cluster: Cluster, namespace: str, tmp_path: Path, way: tuple[str, ...]) -> None:
    """The first attempt fails, the second succeeds: each when both of its Pods have been compared, however long that takes."""
    manifests, pods = parts(generated(tmp_path, namespace, name="train", seconds="forever", exits="0"))
    applied, codes = Applied(cluster, namespace, way), [1, 0]

    async def work(lab: Lab) -> None:
        await applied.apply(manifests)
        status: Json = {}
        while status.get("state") != "Completed":
            await applied.same(manifests)
            status = (await lab.framework("train")).get("status") or {}
            if codes and status.get("state") == "AttemptRunning" and status["taskCounts"]["running"] == 2:
                await Applied(cluster, namespace, ()).unchanged(pods)
                await all_end(lab, codes.pop(0))
                await lab.until("train", lambda found: found["taskCounts"]["running"] < 2 or found["attemptStatus"]["id"] == 1)
        await applied.unchanged(manifests)
        assert (await lab.framework("train"))["status"]["retryPolicyStatus"]["totalRetriedCount"] == 1

    in_lab(cluster, namespace, work)
    assert not codes


async def all_end(lab: Lab, code: int) -> None:
    """Have the containers of all Pods exit, as a kubelet reports it."""
    for pod in await lab.pods():
        state = {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}}
        ended = [{**container, "ready": False, "state": state} for container in pod["status"]["containerStatuses"]]
        changes = {"phase": "Failed" if code else "Succeeded", "containerStatuses": ended}
        patch = [{"op": "replace", "path": f"/status/{key}", "value": value} for key, value in changes.items()]
        answer = await lab.api.request("PATCH", f"{path_of('pods', lab.namespace, pod['metadata']['name'])}/status", patch)
        assert answer.ok, answer.message


async def argo_cd_acts(cluster: Cluster, lab: Lab, name: str, action: str, parameters: dict[str, str] | None = None) -> None:
    """What Argo CD's API server does for an action: two merge patches, of the status and of the rest, of what Lua gave back.

    Lua has no nulls, so that it patches the status too, though no action means to.
    """
    live = await lab.framework(name)
    patch = merge_patch(live, act(script(f"actions/{action}/action.lua"), live, parameters))
    path = path_of("frameworks", lab.namespace, name)
    status = {"status": patch.pop("status", {})}
    for where, body in ((f"{path}/status", status), (path, patch)):
        code, answer = await asyncio.to_thread(cluster.api.request, "PATCH", where, body)
        assert code == 200, answer


def test_actions_while_it_runs(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """The controller is restarted each time: without that it goes on as well, but only when bookmarks of its watches have come, once a
    minute, since somebody else has written a status."""
    manifests, _ = parts(generated(tmp_path, namespace, name="train", seconds="forever", exits="0"))

    async def work(lab: Lab) -> None:
        await Applied(cluster, namespace, ()).apply(manifests)
        await lab.until("train", lambda status: status["taskCounts"]["running"] == 2)
        before = await lab.framework("train")
        for action, parameters, done in (
            ("scale", {"worker": "3"}, lambda status: status["taskCounts"]["running"] == 3),
            ("stop", {}, lambda status: status["state"] == "Completed"),
        ):
            await lab.kill()
            await argo_cd_acts(cluster, lab, "train", action, parameters)
            await lab.restart()
            await lab.until("train", done)
        after = await lab.framework("train")
        assert after["status"]["attemptStatus"]["completionStatus"]["code"] == -210
        assert compared(after) == {**compared(before), "executionType": "Stop", "taskNumber": 3}

    in_lab(cluster, namespace, work)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_sync_takes_back_a_scale_and_fails_after_a_stop(cluster: Cluster, namespace: str, tmp_path: Path, way: tuple[str, ...]) -> None:
    """As docs/argocd.md says of the actions."""
    manifests, _ = parts(generated(tmp_path, namespace, name="train", seconds="forever", exits="0"))
    # An action owns the field that it has changed, and Argo CD takes it back in any case.
    applied = Applied(cluster, namespace, (*way, "--force-conflicts") if way else ())

    async def work(lab: Lab) -> None:
        await applied.apply(manifests)
        await argo_cd_acts(cluster, lab, "train", "scale", {"worker": "3"})
        await applied.apply(manifests)
        assert (await lab.framework("train"))["spec"]["taskRoles"][0]["taskNumber"] == 2
        await argo_cd_acts(cluster, lab, "train", "stop")
        refused = await applied.kubectl("apply", "-n", namespace, *applied.way, "-f", "-", input=manifests, check=False)
        assert "executionType stays Stop" in refused.stderr

    in_lab(cluster, namespace, work)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_pause_and_a_restart_are_no_difference_and_outlast_a_sync(
    cluster: Cluster, namespace: str, tmp_path: Path, way: tuple[str, ...]
) -> None:
    """Git does not have the annotations, so Argo CD neither compares nor removes them."""
    manifests, _ = parts(generated(tmp_path, namespace, name="train", seconds="forever", exits="0"))
    applied = Applied(cluster, namespace, way)

    async def work(lab: Lab) -> None:
        await applied.apply(manifests)
        await lab.until("train", lambda status: status["taskCounts"]["running"] == 2)
        for action, done in (
            ("pause", lambda status: paused(status) == "True"),
            ("resume", lambda status: paused(status) == "False"),
            ("restart", lambda status: (status["attemptStatus"]["id"], status["taskCounts"]["running"]) == (1, 2)),
        ):
            await lab.kill()  # As above.
            await argo_cd_acts(cluster, lab, "train", action)
            await lab.restart()
            await lab.until("train", done)
            before = (await lab.framework("train"))["metadata"]["annotations"]
            assert (PAUSE_ANNOTATION in before, RESTART_ANNOTATION in before) == (action == "pause", action == "restart")
            await applied.unchanged(manifests)
            await applied.apply(manifests)
            assert (await lab.framework("train"))["metadata"]["annotations"] == before
        status = (await lab.framework("train"))["status"]
        assert (status["state"], status["attemptStatus"]["id"]) == ("AttemptRunning", 1)

    in_lab(cluster, namespace, work)


def paused(status: Json) -> Any:
    return next((one["status"] for one in status.get("conditions", ()) if one["type"] == "Paused"), None)


def compared(framework: Json) -> Json:
    """The spec, its only role's number of tasks apart."""
    (role,) = framework["spec"]["taskRoles"]
    rest = {key: item for key, item in role.items() if key != "taskNumber"}
    return {**framework["spec"], "taskRoles": [rest], "taskNumber": role["taskNumber"]}
