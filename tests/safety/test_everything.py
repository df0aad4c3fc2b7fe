"""Row 1, all at once: Frameworks that change, Pods that end and go, a controller that dies, an API server that fails, lags and lies."""

from __future__ import annotations

import random

import pytest

from fcompile.model import names
from fcontroller.api import Json, path_of
from tests.decide.world import role_spec as role
from tests.safety import tally
from tests.safety.faults import Call, Fault
from tests.safety.server import CrashAfter
from tests.safety.test_storms import KINDS
from tests.safety.world import NAMESPACE, World, owner_kind, policy

BATCHES = 10
SHARE = 0.5
"""Of all writes that are to be looked at, about so many are here."""
TRACKING = "argocd.argoproj.io/tracking-id"
CRASHES = (Fault.crash(), Fault.crash(stored=True), Fault(CrashAfter(), stored=True))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_everything_at_once(batch: int) -> None:
    begun, seed = tally.done["one Pod"], 0
    while tally.done["one Pod"] - begun < SHARE * tally.wanted("one Pod") / BATCHES:
        seed += 1
        one_life(f"{batch} {seed}")


def one_life(seed: str) -> None:
    """Play a life. What it does depends on the seed, and on the order of sets: with PYTHONHASHSEED it is nearly always the same."""
    chance = random.Random(seed)
    random.seed(seed)  # Of the controller's jitter.
    with World() as world:
        server = world.server
        # A request that is on its way for so long was right when it was sent, and may not be any more when it arrives.
        world.watcher.late = True
        server.latency = lambda: chance.choice([0.001, 0.004, 0.02, 0.3])
        server.lags = {kind: chance.choice([0, 0, 1, 3]) for kind in ("frameworks", "configmaps", "pods")}
        server.older = {chance.choice(["frameworks", "configmaps", "pods"]): chance.choice([0, 2, 5])}
        often = chance.choice([0, 0.02, 0.1])
        server.fault = lambda call: _fault(chance, call, often)
        server.hold = lambda kind, event: chance.random() < 0.1
        world.make(spec(chance))
        for _ in range(30):
            world.run(chance.choice([0.05, 0.3, 1, 5]))
            if not world.framework():  # Its time after its end was over.
                world.make(spec(chance))
            _something(world, chance)
        server.fault, server.hold, server.lags, server.older = (lambda call: None), (lambda kind, event: False), {}, {}
        if chance.random() < 0.5 and world.framework():
            world.stop()
            world.until(lambda: world.status().get("state", "Completed") == "Completed")
            world.settle()
            # Pods that have ended may stay, as the Framework's own.
            left = {(owner_kind(pod), pod["status"]["phase"] in ("Failed", "Succeeded")) for pod in world.all("pods").values()}
            assert (left <= {("Framework", True)}, world.all("configmaps")) == (True, {})
        world.settle(130)
        if world.framework() and world.condition("Retained") == "True":
            assert not world.all("pods")


def _fault(chance: random.Random, call: Call, often: float) -> Fault | None:
    if chance.random() >= often:
        return None
    if call.write and chance.random() < 0.4:
        return chance.choice(CRASHES)
    # An invalid Pod is a Pod that will never be: that ends most lives too soon.
    return KINDS[chance.choice([kind for kind in KINDS if kind != "422"])]()


def _something(world: World, chance: random.Random) -> None:
    pods = [pod for pod in world.all("pods").values() if "deletionTimestamp" not in pod["metadata"]]
    ended = [pod for pod in pods if pod["status"]["phase"] in ("Succeeded", "Failed")]
    what = chance.random()
    if what < 0.5 and pods:
        world.kubelet.finish(chance.choice(pods), chance.choice([0, 1, 1, 137, 200, 201, 210]))
    elif what < 0.65 and pods:
        world.delete("pods", chance.choice(pods)["metadata"]["name"])
    elif what < 0.85:
        world.apply(spec(chance))
    elif what < 0.88:
        world.delete("configmaps", "f-attempt", propagationPolicy="Foreground")
    elif what < 0.9:
        world.delete("frameworks", "f", propagationPolicy="Foreground")
        world.until(lambda: "f" not in world.all("frameworks"))
        world.make(spec(chance))
    elif what < 0.93:
        world.restart()
    elif what < 0.95:
        world.server.compact()
    elif what < 0.97 and ended:  # One that runs, without its label, may still live for its time of grace when it is said to be gone.
        path = path_of("pods", NAMESPACE, chance.choice(ended)["metadata"]["name"])
        world.server.write("PATCH", path, [{"op": "remove", "path": "/metadata/labels"}])
    elif what < 0.99 and world.framework():
        is_tracked = TRACKING in world.framework()["metadata"]["annotations"]
        world.annotate(TRACKING, None if is_tracked else f"lab:{names.GROUP}/{names.KIND}:{NAMESPACE}/f")


def spec(chance: random.Random) -> Json:
    roles = chance.sample(["a", "b", "c"], chance.randint(1, 3))
    lifetime = {
        "activeDeadlineSeconds": chance.choice([None, None, 1, 20]),
        "ttlSecondsAfterFinished": chance.choice([None, None, 0, 10]),
        "cleanPodPolicy": chance.choice([None, "All", "Running", "None"]),
    }
    return {"retryPolicy": _retry(chance), "taskRoles": [_role(chance, name) for name in roles], **lifetime}


def _role(chance: random.Random, name: str) -> Json:
    rules = policy(chance.choice([-1, -1, 1, 2]), chance.choice([-1, -1, 2]))
    # Nobody deletes by force here: two Pods of a task would be allowed then.
    return role(
        name,
        chance.randint(0, 3),
        run=chance.choice(["forever", "forever", "1", "10"]),
        exits=chance.choice(["0", "1", "1,0", "200,0"]),
        frameworkAttemptCompletionPolicy=rules,
        task={"retryPolicy": _retry(chance)},
    )


def _retry(chance: random.Random) -> Json:
    return {"fancyRetryPolicy": chance.random() < 0.5, "maxRetryCount": chance.choice([0, 1, 3])}
