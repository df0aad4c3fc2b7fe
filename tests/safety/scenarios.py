"""Lives of Frameworks, each short and of another kind: what the rows of this folder put under strain.

What is done to a Framework follows what is seen of it, not the clock, so that a life stays the same when all takes longer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

from fcompile.model import names
from fcontroller.api import Answer, Json, collection, path_of
from fcontroller.testing.memory_api.answers import failure
from tests.decide.world import role_spec as role
from tests.safety.world import NAMESPACE, RETRY, World, owner_kind, policy

Life = Callable[[World], None]
SCENARIOS: dict[str, Life] = {}
OFTEN = {"fancyRetryPolicy": True, "maxRetryCount": 3}
NEVER_DONE = policy(-1, -1)


def scenario(life: Life) -> Life:
    SCENARIOS[life.__name__] = life
    return life


def live(world: World, name: str, quiet: float = 25) -> Json:
    """Go through a life, until nothing was written for a while; returns what there is then."""
    random.seed(name)  # The jitter is the same each time, so that lives have the same writes until something is different.
    SCENARIOS[name](world)
    world.settle(quiet)
    return world.end()


@cache
def calm(name: str) -> tuple[Json, World]:
    """Go through a life in which nothing else happens; what there is then, and its world, which is over. It is the same each time."""
    with World() as world:
        return live(world, name), world


def runs(world: World, count: int, name: str = "f") -> None:
    """Wait until so many Pods run, and the status says so."""
    world.until(lambda: _running(world, name) == count, 900)
    world.run(1.5)


def _running(world: World, name: str) -> int:
    pods = {pod["metadata"]["uid"]: "deletionTimestamp" in pod["metadata"] for pod in world.all("pods").values()}
    roles = (world.status(name).get("attemptStatus") or {}).get("taskRoleStatuses") or ()
    tasks = [task for role in roles for task in role["taskStatuses"] if task["state"] == "AttemptRunning"]
    return sum(pods.get(task["attemptStatus"]["podUID"]) is False for task in tasks)


def is_in(world: World, state: str, name: str = "f") -> None:
    world.until(lambda: world.status(name).get("state") == state, 900)


@scenario
def all_succeed(world: World) -> None:
    world.make({"taskRoles": [role("a", 3, run="1")]})


@scenario
def tasks_and_framework_are_retried(world: World) -> None:
    roles = [role("a", 1, run="1", exits="200,1,1,0", task={"retryPolicy": RETRY}), role("b", 1, run="200")]
    world.make({"retryPolicy": RETRY, "taskRoles": roles})
    is_in(world, "Completed")


@scenario
def the_workers_decide(world: World) -> None:
    roles = [role("ps", 2), role("worker", 2, run="1", frameworkAttemptCompletionPolicy=policy(1, 2))]
    world.make({"taskRoles": roles})


@scenario
def fails_for_good(world: World) -> None:
    world.make({"retryPolicy": OFTEN, "taskRoles": [role("a", 1, run="1", exits="210", task={"retryPolicy": OFTEN}), role("b", 1)]})


@scenario
def conflicts_wait(world: World) -> None:
    world.make({"retryPolicy": OFTEN, "taskRoles": [role("a", 1, run="1", exits="201,0"), role("b", 1, run="200")]})
    is_in(world, "Completed")


@scenario
def stops_while_a_retry_waits(world: World) -> None:
    world.make({"retryPolicy": OFTEN, "taskRoles": [role("a", 1, run="1", exits="201")]})
    world.until(lambda: world.status().get("retryPolicyStatus", {}).get("retryDelaySec"), 900, 0.1)
    world.stop()


@scenario
def scaled_up(world: World) -> None:
    world.make({"taskRoles": [role("a", 1)]})
    runs(world, 1)
    world.edit("taskRoles/0/taskNumber", 3)
    runs(world, 3)


@scenario
def scaled_down(world: World) -> None:
    world.make({"taskRoles": [role("a", 3)]})
    runs(world, 3)
    world.edit("taskRoles/0/taskNumber", 1)


@scenario
def scaled_down_and_up(world: World) -> None:
    world.make({"taskRoles": [role("a", 3)]})
    runs(world, 3)
    world.edit("taskRoles/0/taskNumber", 1)
    world.run(0.3)
    world.edit("taskRoles/0/taskNumber", 4)
    runs(world, 4)


@scenario
def roles_come(world: World) -> None:
    world.make({"taskRoles": [role("a", 1)]})
    runs(world, 1)
    world.apply({"taskRoles": [role("a", 1), role("b", 2)]})
    runs(world, 3)


@scenario
def roles_go(world: World) -> None:
    world.make({"taskRoles": [role("a", 1), role("b", 2), role("c", 1)]})
    runs(world, 4)
    world.apply({"taskRoles": [role("a", 1), role("c", 1)]})


@scenario
def roles_go_and_come_again(world: World) -> None:
    world.make({"taskRoles": [role("a", 1), role("b", 1)]})
    runs(world, 2)
    world.apply({"taskRoles": [role("a", 1)]})
    world.run(0.2)
    world.apply({"taskRoles": [role("a", 1), role("b", 2)]})
    runs(world, 3)


@scenario
def stops(world: World) -> None:
    world.make({"taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.stop()


@scenario
def never_starts(world: World) -> None:
    world.make({"executionType": "Create", "taskRoles": [role("a", 2)]})
    world.settle()
    world.stop()


@scenario
def starts_late(world: World) -> None:
    world.make({"executionType": "Create", "taskRoles": [role("a", 3, run="1")]})
    world.settle()
    world.edit("taskRoles/0/taskNumber", 1)
    world.settle()
    world.edit("executionType", "Start")


@scenario
def a_pod_is_deleted(world: World) -> None:
    world.make({"taskRoles": [role("a", 2, task={"retryPolicy": RETRY})]})
    runs(world, 2)
    world.delete("pods", "f-a-0")
    runs(world, 2)


@scenario
def a_deleted_pod_ends_it(world: World) -> None:
    world.make({"taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.delete("pods", "f-a-0")


@scenario
def the_config_map_is_deleted(world: World) -> None:
    world.make({"retryPolicy": RETRY, "taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.delete("configmaps", "f-attempt", propagationPolicy="Foreground")
    world.until(lambda: world.status()["attemptStatus"]["id"] == 1, 300)
    runs(world, 2)


@scenario
def the_config_map_is_deleted_and_its_pods_later(world: World) -> None:
    world.watcher.foreground = False
    world.make({"taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.delete("configmaps", "f-attempt", propagationPolicy="Background")


@scenario
def a_pod_is_refused(world: World) -> None:
    world.server.admit = lambda pod: _refusal(422, "Invalid", "spec.containers[0].image: Required value")
    world.make({"taskRoles": [role("a", 1)]})


@scenario
def a_pod_is_forbidden(world: World) -> None:
    world.server.admit = lambda pod: _refusal(403, "Forbidden", "no") if pod["metadata"]["name"] == "f-a-0" else None
    world.make({"taskRoles": [role("a", 1), role("b", 1)]})


@scenario
def a_quota_is_full_for_a_while(world: World) -> None:
    world.server.admit = lambda pod: _refusal(403, "Forbidden", "exceeded quota: q") if world.loop.passed < 3 else None
    world.make({"taskRoles": [role("a", 2, run="1")]})


def _refusal(code: int, reason: str, message: str) -> Answer:
    return Answer(code, failure(code, reason, message))


@scenario
def a_finished_pod_is_held(world: World) -> None:
    spec = {"taskRoles": [role("a", 1, run="1", exits="1,0", task={"retryPolicy": RETRY})]}
    spec["taskRoles"][0]["task"]["pod"]["metadata"]["finalizers"] = ["example.com/hold"]
    world.make(spec)
    while world.status().get("state") != "Completed":
        world.run(5)
        assert world.loop.passed < 600
        if any("deletionTimestamp" in pod["metadata"] for pod in world.all("pods").values()):
            path = path_of("pods", NAMESPACE, "f-a-0")
            assert world.server.write("PATCH", path, [{"op": "remove", "path": "/metadata/finalizers"}]).ok


@scenario
def a_node_is_lost_and_its_pods_are_forced(world: World) -> None:
    world.make({"taskRoles": [role("a", 2, task={"retryPolicy": RETRY, "podGracefulDeletionTimeoutSec": 5})]})
    runs(world, 2)
    world.kubelet.lost = True
    world.delete("pods", "f-a-0")
    world.run(20)
    world.kubelet.catch_up()
    runs(world, 2)


@scenario
def a_node_is_lost_and_waited_for(world: World) -> None:
    world.make({"taskRoles": [role("a", 1, task={"retryPolicy": RETRY})]})
    runs(world, 1)
    world.kubelet.lost = True
    world.delete("pods", "f-a-0")
    world.run(200)
    world.kubelet.catch_up()
    runs(world, 1)


@scenario
def the_framework_is_deleted(world: World) -> None:
    world.make({"taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.delete("frameworks", "f", propagationPolicy="Foreground")


@scenario
def the_framework_is_deleted_and_made_again(world: World) -> None:
    world.make({"taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.delete("frameworks", "f", propagationPolicy="Background")
    world.make({"taskRoles": [role("a", 1), role("b", 1)]})
    world.until(lambda: set(world.all("pods")) == {"f-a-0", "f-b-0"}, 300)
    runs(world, 2)


@scenario
def a_pod_is_replaced_by_a_strange_one(world: World) -> None:
    world.make({"taskRoles": [role("a", 1, task={"retryPolicy": RETRY})]})
    runs(world, 1)
    world.delete("pods", "f-a-0", gracePeriodSeconds=0)
    strange = {"metadata": {"name": "f-a-0"}, "spec": {"containers": [{"name": "x", "image": "y"}]}}
    assert world.server.write("POST", collection("pods", NAMESPACE), strange).ok
    world.run(10)
    assert world.all("pods")["f-a-0"]["spec"]["containers"][0]["image"] == "y"
    world.delete("pods", "f-a-0")
    runs(world, 1)


@scenario
def a_strange_config_map_is_in_the_way(world: World) -> None:
    strange = {"metadata": {"name": "f-attempt", "labels": {"FC_FRAMEWORK_NAME": "f"}}, "data": {"mine": "yes"}}
    assert world.server.write("POST", collection("configmaps", NAMESPACE), strange).ok
    world.make({"taskRoles": [role("a", 1, run="1")]})
    world.run(10)
    assert world.all("configmaps")["f-attempt"]["data"] == {"mine": "yes"}
    world.delete("configmaps", "f-attempt")
    is_in(world, "Completed")


@scenario
def a_new_template_counts_from_the_next_pod_on(world: World) -> None:
    world.make({"taskRoles": [role("a", 2, task={"retryPolicy": RETRY})]})
    runs(world, 2)
    world.edit("taskRoles/0/task/pod/spec/containers/0/image", "b")
    world.run(120)  # Until it counts for sure.
    world.delete("pods", "f-a-0")
    runs(world, 2)
    images = {name: pod["spec"]["containers"][0]["image"] for name, pod in world.all("pods").items()}
    assert images == {"f-a-0": "b", "f-a-1": "a"}


@scenario
def a_new_policy_is_met_already(world: World) -> None:
    world.make({"taskRoles": [role("a", 2, run="1", frameworkAttemptCompletionPolicy=NEVER_DONE), role("b", 1)]})
    runs(world, 1)
    world.run(1)
    world.edit("taskRoles/0/frameworkAttemptCompletionPolicy/minSucceededTaskCount", 2)


@scenario
def two_live_side_by_side(world: World) -> None:
    world.make({"taskRoles": [role("a", 1, run="1", exits="1,0", task={"retryPolicy": RETRY})]}, "f")
    world.make({"taskRoles": [role("a", 1, run="2")]}, "g")


@scenario
def with_services(world: World) -> None:
    world.make({"taskRoles": [role("a", 1, run="2", service={"ports": [{"name": "p", "port": 80}]}), role("b", 1, run="4")]})


@scenario
def paused_while_pods_end(world: World) -> None:
    """One is deleted, one fails, one is scaled away and back: nothing is done about it before the Framework goes on."""
    world.make({"taskRoles": [role("a", 3, task={"retryPolicy": RETRY})]})
    runs(world, 3)
    world.pause()
    held = _made(world)
    world.delete("pods", "f-a-0")
    world.kubelet.finish(world.all("pods")["f-a-1"], 200)
    world.edit("taskRoles/0/taskNumber", 2)
    world.until(lambda: [world.task("a", index)["state"] for index in range(2)] == ["AttemptCompleted", "AttemptDeletionPending"], 900)
    world.edit("taskRoles/0/taskNumber", 3)
    world.run(20)
    assert {name: held[name] for name in ("f-a-1", "f-a-2")} == _made(world)
    world.pause(False)
    runs(world, 3)
    assert _made(world)["f-a-2"] == held["f-a-2"]


def _made(world: World) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in world.all("pods").items()}


@scenario
def paused_before_it_begins(world: World) -> None:
    world.make({"executionType": "Create", "taskRoles": [role("a", 2, run="1")]})
    world.pause()
    world.edit("executionType", "Start")
    world.run(20)
    assert (world.all("pods"), world.all("configmaps")) == ({}, {})
    world.pause(False)


@scenario
def paused_and_stopped(world: World) -> None:
    world.make({"retryPolicy": RETRY, "taskRoles": [role("a", 2)]})
    runs(world, 2)
    world.pause()
    world.delete("pods", "f-a-0")
    world.until(lambda: world.task("a", 0)["state"] == "AttemptCompleted", 900)
    world.stop()


@scenario
def restarted(world: World) -> None:
    """Each of two values, and the second once more."""
    world.make({"taskRoles": [role("a", 2)]})
    runs(world, 2)
    for attempt, value in ((1, "one"), (2, "two"), (2, None), (2, "two")):
        world.annotate(names.RESTART_ANNOTATION, value)
        world.until(lambda: world.status()["attemptStatus"]["id"] == attempt, 900)  # noqa: B023
        runs(world, 2)


def keeps(*roles: Json, **changes: Any) -> Json:
    return {"cleanPodPolicy": "Running", "taskRoles": list(roles), **changes}


@scenario
def finished_pods_stay(world: World) -> None:
    """Two succeed, one runs on and goes."""
    world.make(keeps(role("a", 2, run="1", frameworkAttemptCompletionPolicy=policy(1, 2)), role("b", 1)))
    is_in(world, "Completed")
    assert {name: owner_kind(pod) for name, pod in world.all("pods").items()} == {"f-a-0": "Framework", "f-a-1": "Framework"}


@scenario
def finished_pods_stay_only_of_the_last_attempts(world: World) -> None:
    # The second one ends long after the first has failed for good: of two that end together, either may be seen first.
    roles = [role("a", 1, run="1", exits="200,1,1,0", task={"retryPolicy": RETRY}), role("b", 1, run="100", exits="1,0")]
    world.make(keeps(*roles, retryPolicy=OFTEN))
    is_in(world, "Completed")
    assert set(world.all("pods")) == {"f-a-0", "f-b-0"}


@scenario
def the_index_of_a_pod_that_stays_is_used_again(world: World) -> None:
    world.make(keeps(role("a", 3, run="forever", frameworkAttemptCompletionPolicy=NEVER_DONE), role("b", 1)))
    runs(world, 4)
    for index in (0, 2):
        assert world.kubelet.finish(world.all("pods")[f"f-a-{index}"], 1)
    world.until(lambda: [world.task("a", index)["state"] for index in (0, 2)] == ["Completed"] * 2, 900)
    world.edit("taskRoles/0/taskNumber", 1)
    world.until(lambda: all(task["deletionPending"] for task in _tasks(world, "a")[1:]), 900, 0.1)
    world.edit("taskRoles/0/taskNumber", 3)
    runs(world, 3)
    world.stop()
    is_in(world, "Completed")
    assert set(world.all("pods")) == {"f-a-0"}


def _tasks(world: World, role: str) -> list[Json]:
    roles = world.status()["attemptStatus"]["taskRoleStatuses"]
    return next(item["taskStatuses"] for item in roles if item["name"] == role)


@scenario
def nothing_follows_from_pods_that_stay(world: World) -> None:
    """One is deleted, one loses its label, one gets another."""
    world.make(keeps(role("a", 3, run="1", task={"retryPolicy": RETRY}, frameworkAttemptCompletionPolicy=NEVER_DONE), role("b", 1)))
    world.until(
        lambda: {(world.all("pods").get(f"f-a-{index}") or {"status": {}})["status"].get("phase") for index in range(3)} == {"Succeeded"}
    )
    world.until(lambda: [world.task("a", index)["state"] for index in range(3)] == ["Completed"] * 3, 900)
    world.settle(60)  # A status whose answer was lost is sent again, later each time.
    written = world.server.writes
    world.delete("pods", "f-a-0")
    for index, operation in (
        (1, {"op": "remove", "path": "/metadata/labels"}),
        (2, {"op": "add", "path": "/metadata/labels/x", "value": "y"}),
    ):
        assert world.server.write("PATCH", path_of("pods", NAMESPACE, f"f-a-{index}"), [operation]).ok
    world.run(20)
    assert world.server.writes == written
    world.stop()
    is_in(world, "Completed")
    assert set(world.all("pods")) == {"f-a-1", "f-a-2"}


@scenario
def it_ends_at_its_deadline(world: World) -> None:
    world.make({"activeDeadlineSeconds": 30, "retryPolicy": OFTEN, "taskRoles": [role("a", 2, task={"retryPolicy": OFTEN})]})
    is_in(world, "Completed")


@scenario
def its_deadline_comes_while_a_retry_waits(world: World) -> None:
    world.make(keeps(role("a", 1, run="1", exits="201"), role("b", 1), activeDeadlineSeconds=30, retryPolicy=OFTEN))
    is_in(world, "Completed")
    assert world.status()["attemptStatus"]["completionStatus"]["code"] == -240
    assert not world.all("pods")


@scenario
def its_deadline_comes_while_its_pods_are_refused(world: World) -> None:
    world.server.admit = lambda pod: _refusal(403, "Forbidden", "exceeded quota: q") if pod["metadata"]["name"] == "f-b-0" else None
    world.make(keeps(role("a", 1, run="1"), role("b", 1), activeDeadlineSeconds=40))
    is_in(world, "Completed")
    assert world.status()["attemptStatus"]["completionStatus"]["code"] == -240
    assert set(world.all("pods")) == {"f-a-0"}


@scenario
def it_goes_as_soon_as_it_is_over(world: World) -> None:
    world.make(keeps(role("a", 2, run="1"), ttlSecondsAfterFinished=0))
    world.until(lambda: not world.framework(), 3000)
    world.until(lambda: not world.all("pods"), 900)
