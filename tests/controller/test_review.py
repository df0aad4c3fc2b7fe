"""What was reviewed is what runs: what becomes of Frameworks whose digest is another, is missing, or is no longer right after an edit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fcompile.model import names
from fcompile.pipeline.compiled import compile_framework
from fcontroller.api import Json, collection, path_of
from fcontroller.decide.review import Rules
from tests.controller.lab import LENIENT, Lab, in_memory, lab, run_in_memory
from tests.controller.test_intent import RETRY, SPEC, all_run, delete_pod
from tests.decide.world import role_spec

DIGEST = "/metadata/annotations/" + names.DIGEST_ANNOTATION.replace("/", "~1")
IMAGE = "taskRoles/1/task/pod/spec/containers/0/image"


def condition(status: Json) -> tuple[str, str]:
    (found,) = [condition for condition in status["conditions"] if condition["type"] == "IntentReviewed"]
    return found["status"], found["reason"]


async def told(made: Lab, name: str, status: str, reason: str) -> Json:
    return await made.until(name, lambda found: "conditions" in found and condition(found) == (status, reason))


async def warned(made: Lab) -> list[tuple[str, str]]:
    events = [event for event in await made.events() if event["type"] == "Warning"]
    return [(event["reason"], event["involvedObject"]["name"]) for event in events]


async def patched(made: Lab, name: str, *patch: Json) -> None:
    assert (await made.api.request("PATCH", path_of("frameworks", "default", name), list(patch))).ok


async def digested(made: Lab, name: str, digest: str = "") -> None:
    """Annotate a Framework with a digest, by default with that of its spec, as one who has reviewed it."""
    digest = digest or compile_framework(await made.framework(name), "default").intent.digest
    await patched(made, name, {"op": "add", "path": DIGEST, "value": digest})


async def tampered(made: Lab, name: str) -> None:
    """Change what was reviewed, before it runs."""
    await made.make(name, {"executionType": "Create", **SPEC})
    await made.edit(name, IMAGE, "another")
    await made.edit(name, "executionType", "Start")


async def waits(made: Lab, name: str) -> None:
    """Nothing of it runs, also when something happens to it, and after a restart."""
    await made.edit(name, "taskRoles/0/taskNumber", 2)
    await made.restart()
    await made.make(f"{name}other", {"taskRoles": [role_spec("a", 1)]})
    await all_run(made, f"{name}other", [0])
    assert [pod for pod in await made.pods() if pod["metadata"]["name"].startswith(f"{name}-")] == []


async def images(made: Lab, so: Callable[[dict[str, str]], bool]) -> dict[str, str]:
    """The images of Pods by name, once something is so."""
    async with asyncio.timeout(30):
        while True:
            found = {pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in await made.pods()}
            if so(found):
                return found
            await asyncio.sleep(0.05)


def test_what_was_not_reviewed_is_told() -> None:
    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            await made.make("good", SPEC)
            await tampered(made, "bad")
            await told(made, "good", "True", "DigestMatches")
            await told(made, "bad", "False", "DigestDiffers")
            await all_run(made, "bad", [0, 0, 0])
            assert await warned(made) == [("DigestDiffers", "bad")]

    run_in_memory(work())


def test_what_was_not_reviewed_does_not_run_where_that_is_enforced() -> None:
    async def work() -> None:
        async with lab(in_memory(), rules=Rules(enforce=True)) as made:
            await tampered(made, "bad")
            await told(made, "bad", "False", "DigestDiffers")
            await waits(made, "bad")
            await digested(made, "bad", "v3:sha256:00")
            await told(made, "bad", "False", "UnknownLowering")
            await digested(made, "bad")
            await all_run(made, "bad", [0, 0, 0])
            await told(made, "bad", "True", "DigestMatches")
            await patched(made, "badother", {"op": "remove", "path": DIGEST})
            await told(made, "badother", "Unknown", "NotCompiled")

    run_in_memory(work())


def test_without_a_digest_nothing_runs_where_one_is_required() -> None:
    async def work() -> None:
        async with lab(in_memory(), rules=Rules(require=True)) as made:
            body = {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": {"name": "raw"}, "spec": SPEC}
            assert (await made.api.request("POST", collection("frameworks", "default"), body)).ok
            await told(made, "raw", "False", "NotCompiled")
            assert await warned(made) == [("NotCompiled", "raw")]
            await waits(made, "raw")
            annotations = compile_framework(await made.framework("raw"), "default").framework["metadata"]["annotations"]
            await patched(made, "raw", {"op": "add", "path": "/metadata/annotations", "value": annotations})
            await all_run(made, "raw", [0, 0, 0])

    run_in_memory(work())


def test_an_edit_while_an_attempt_runs_is_held_against_the_digest_too() -> None:
    async def work() -> None:
        async with lab(in_memory(), rules=LENIENT) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            await made.edit("train", "taskRoles/0/taskNumber", 3)
            status = await made.until("train", lambda found: found["conditions"][0]["observedGeneration"] == 2)
            assert condition(status) == ("True", "DigestMatches")
            await made.edit("train", IMAGE, "another")
            status = await told(made, "train", "False", "DigestDiffers")
            assert status["conditions"][0]["observedGeneration"] == 3
            assert await warned(made) == [("DigestDiffers", "train")]
            await delete_pod(made, "train-ps-0")
            await images(made, lambda found: found.get("train-ps-0") == "another")
            await digested(made, "train")
            await told(made, "train", "True", "DigestMatches")

    run_in_memory(work())


def test_an_edit_that_was_not_reviewed_makes_no_pods_where_that_is_enforced() -> None:
    """Counts, policies and Stop, which no digest covers, hold at once; templates, Services and roles are those of the stored intent."""

    async def work() -> None:
        async with lab(in_memory(), rules=Rules(enforce=True)) as made:
            await made.make("train", SPEC)
            await all_run(made, "train", [0, 0, 0])
            edits: list[Any] = [
                {"op": "replace", "path": f"/spec/{IMAGE}", "value": "another"},
                {"op": "replace", "path": "/spec/taskRoles/1/taskNumber", "value": 2},
                {"op": "remove", "path": "/spec/taskRoles/0"},
                {"op": "add", "path": "/spec/taskRoles/0", "value": role_spec("more", 1, task=RETRY, service={})},
            ]
            await patched(made, "train", *edits)
            await told(made, "train", "False", "DigestDiffers")
            expected = dict.fromkeys(("train-worker-0", "train-worker-1", "train-ps-0", "train-ps-1"), "a")
            await images(made, lambda found: found == expected)
            await made.edit("train", "taskRoles/1/taskNumber", 3)
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 0, 1, 0, 0])
            await made.restart()
            await delete_pod(made, "train-ps-0")
            await all_run(made, "train", [0, 0, 2, 0, 0])
            expected["train-ps-2"] = "a"
            assert await images(made, lambda found: True) == expected
            assert (await made.api.request("GET", path_of("services", "default", "train-worker"))).ok
            assert (await made.api.request("GET", path_of("services", "default", "train-more"))).code == 404

            await digested(made, "train")
            await told(made, "train", "True", "DigestMatches")
            await delete_pod(made, "train-ps-0")
            left = {"train-ps-0": "another", "train-ps-1": "a", "train-ps-2": "a", "train-more-0": "a"}
            await images(made, lambda found: found == left)

            await made.edit("train", "taskRoles/1/task/pod/spec/containers/0/image", "third")
            await told(made, "train", "False", "DigestDiffers")
            await made.edit("train", "executionType", "Stop")
            await made.completed("train")

    run_in_memory(work())
