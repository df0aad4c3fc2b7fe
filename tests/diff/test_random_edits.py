"""Random edits of random Frameworks against the controller at work: no edit ends a Pod of which `diff` has not said that it may."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import random
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from fcompile.diff.effects import Effect
from fcompile.diff.frameworks import FrameworkDiff, compare
from fcompile.model.framework import asks_for_pause
from fcompile.model.names import DIGEST_ANNOTATION, PAUSE_ANNOTATION, RESTART_ANNOTATION
from fcompile.pipeline.compiled import compile_framework
from fcontroller.api import path_of
from tests.controller.lab import Lab, in_memory, lab, run_in_memory
from tests.diff.frameworks import Json, framework, role, side, spec

ROLES = "abcd"
UNDER_WAY = ("AttemptPreparing", "AttemptDeletionPending", "AttemptDeletionRequested", "AttemptDeleting", "AttemptCompleted")


class Edits:
    """Makes random specs, and changes them."""

    def __init__(self, seed: int) -> None:
        self.random, self._restarts = random.Random(seed), count()

    def spec(self) -> Json:
        roles = [self.role(name) for name in self.random.sample(ROLES[:3], self.random.randint(1, 3))]
        return spec(*roles, retryPolicy=self.retry_policy(), **self.random.choice([{}, {}, {"activeDeadlineSeconds": 3600}]))

    def role(self, name: str) -> Json:
        made = role(name, self.random.randint(1, 4), frameworkAttemptCompletionPolicy=self.completion_policy())
        made["task"]["retryPolicy"] = self.retry_policy()
        return made

    def retry_policy(self) -> Json:
        return {"fancyRetryPolicy": self.random.random() < 0.2, "maxRetryCount": self.random.choice([0, 0, 1, 3, -1, -2])}

    def completion_policy(self) -> Json:
        return {"minFailedTaskCount": self.random.choice([1, 1, -1, 2, 3]), "minSucceededTaskCount": self.random.choice([-1, -1, 0, 1, 2])}

    def edit(self, before: Json) -> Json:
        """Return the Framework with one to three changes."""
        after = copy.deepcopy(before)
        for _ in range(self.random.choice([1, 1, 2, 3])):
            with contextlib.suppress(IndexError):  # There is no role left to remove, or no name for another.
                self.random.choice([self.of_framework, self.of_annotations, self.of_roles, self.of_role])(after)
        return after

    def of_framework(self, value: Json) -> None:
        new: list[Json] = [
            {"retryPolicy": self.retry_policy()},
            {"activeDeadlineSeconds": self.random.choice([1, 3600, 7200])},
            {"cleanPodPolicy": self.random.choice(["All", "Running"])},
            {"ttlSecondsAfterFinished": 3600},
            {"description": "another"},
        ]
        value["spec"].update({"executionType": "Stop"} if self.random.random() < 0.08 else self.random.choice(new))

    def of_annotations(self, value: Json) -> None:
        annotations = value["metadata"].setdefault("annotations", {})
        if self.random.random() < 0.3:
            annotations[RESTART_ANNOTATION] = str(next(self._restarts))
        elif annotations.pop(PAUSE_ANNOTATION, None) is None:
            annotations[PAUSE_ANNOTATION] = "true"

    def of_roles(self, value: Json) -> None:
        roles = value["spec"]["taskRoles"]
        name = self.random.choice(sorted(set(ROLES) - {one["name"] for one in roles}))
        what = self.random.choice(["add", "rename", "remove"])
        if what == "add":
            roles.append(self.role(name))
        elif what == "rename":
            self.random.choice(roles)["name"] = name
        else:
            roles.remove(self.random.choice(roles[1:]))

    def of_role(self, value: Json) -> None:
        one = self.random.choice(value["spec"]["taskRoles"])
        what = self.random.choice(["scale", "scale", "policy", "retry", "image"])
        if what == "scale":
            one["taskNumber"] = self.random.randint(0, 5)
        elif what == "policy":
            one["frameworkAttemptCompletionPolicy"] = self.completion_policy()
        elif what == "retry":
            one["task"]["retryPolicy"] = self.retry_policy()
        else:
            one["task"]["pod"]["spec"]["containers"][0]["image"] = self.random.choice(["a:1", "a:2"])


class Life:
    """A Framework in a lab, and what is done to it."""

    def __init__(self, made: Lab) -> None:
        self.made = made

    async def found(self) -> Json | None:
        answer = await self.made.api.request("GET", path_of("frameworks", "default", "train"))
        return answer.body if answer.ok else None

    async def running(self) -> dict[str, str]:
        """The uids of the Pods that run, by their names."""
        runs = [pod["metadata"] for pod in await self.made.pods() if pod.get("status", {}).get("phase") in (None, "Pending", "Running")]
        return {metadata["name"]: metadata["uid"] for metadata in runs if "deletionTimestamp" not in metadata}

    async def end(self, pod: str, how: str) -> None:
        if how == "deleted":
            await self.made.api.request("DELETE", path_of("pods", "default", pod), {"apiVersion": "v1", "kind": "DeleteOptions"})
        else:
            await self.made.api.request(
                "PATCH", f"{path_of('pods', 'default', pod)}/status", [{"op": "add", "path": "/status/phase", "value": how}]
            )

    async def rest(self) -> None:
        """Wait until nothing happens any more."""
        still = 0
        while still < 10:
            await asyncio.sleep(0.03)
            still = still + 1 if await self._rests() else 0

    async def outdated(self) -> tuple[set[str], set[str]]:
        """The Pods that run and are not what Pods of their role are made from now, as they are, and as the status has it."""
        reconciler = self.made.controller.reconcilers.get(("default", "train"))
        if reconciler is None or reconciler.status is None or reconciler.renderer is None:
            return set(), set()
        runs, status = await self.running(), reconciler.status
        pods = {pod["metadata"]["name"]: pod for pod in await self.made.pods() if pod["metadata"]["name"] in runs}
        differ = {name for name, pod in pods.items() if await reconciler.differing_fields(pod, reconciler.renderer)}
        marked = {task.attempt.object_name for _, task in status.tasks() if task.attempt.pod_template_hash}
        assert {role.name: role.outdated for role in status.roles} == {
            role.name: sum(task.is_outdated for task in role.tasks) for role in status.roles
        }
        return differ, marked & runs.keys()

    async def _rests(self) -> bool:
        found, pods = await self.found(), await self.made.pods()
        reconciler = self.made.controller.reconcilers.get(("default", "train"))
        if any(pod.get("status", {}).get("phase") in (None, "Pending") or "deletionTimestamp" in pod["metadata"] for pod in pods):
            return False
        if found is None or reconciler is None:
            return True
        status = reconciler.status
        is_settled = status is not None and status.revision <= status.stored and not reconciler.under_way
        is_known = reconciler.framework["metadata"]["generation"] == found["metadata"]["generation"]
        return is_settled and is_known and (asks_for_pause(found) or found["status"]["state"] not in UNDER_WAY)


def changes(found: FrameworkDiff | None) -> Iterator[tuple[Any, ...]]:
    for change in found.changes if found else ():
        yield change.role, change.field, change.before, change.after, change.reason


@pytest.mark.parametrize("seed", range(60))
def test_what_ends_pods_is_said_before(seed: int) -> None:
    edits = Edits(seed)

    async def work() -> None:
        async with lab(in_memory()) as made:
            life, value = Life(made), framework(edits.spec())
            await made.make("train", value["spec"])
            for _ in range(4):
                await life.rest()
                for _ in range(edits.random.randint(0, 3)):
                    if running := sorted(await life.running()):
                        await life.end(edits.random.choice(running), edits.random.choice(["Succeeded", "Failed", "deleted"]))
                        await life.rest()
                there = await life.found()
                if there is None:
                    return
                before, after = await life.running(), edits.edit(value)
                compiled, digest = compile_framework(after, "default").framework, there["metadata"]["annotations"][DIGEST_ANNOTATION]
                if edits.random.random() < 0.2:  # Somebody edits the spec alone.
                    compiled["metadata"]["annotations"][DIGEST_ANNOTATION] = digest
                new = side(after)._replace(digest=compiled["metadata"]["annotations"][DIGEST_ANNOTATION])
                found = compare(side(value, there["status"])._replace(digest=digest), new)
                if found is not None and found.effect is Effect.REFUSED:
                    continue
                edited = {"/spec": compiled["spec"], "/metadata/annotations": compiled["metadata"]["annotations"]}
                patch = [{"op": "replace", "path": path, "value": now} for path, now in edited.items()]
                assert (await made.api.request("PATCH", path_of("frameworks", "default", "train"), patch)).ok
                value = after
                await asyncio.sleep(2)  # A deadline of a second passes.
                await life.rest()
                ended = before.items() - (await life.running()).items()
                assert not ended or (found is not None and found.ends_pods), (sorted(ended), list(changes(found)))
                differ, marked = await life.outdated()
                assert differ == marked

    run_in_memory(work())
