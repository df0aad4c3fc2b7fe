"""The promise: `kubectl diff` of the expected manifests against what the controller makes is empty, and one change shows."""

from __future__ import annotations

import copy

from hypothesis import settings

from fcompile.emit import yaml
from fcompile.load import values
from tests.check.frameworks import framework, role
from tests.cluster import Cluster
from tests.drift.live import run
from tests.drift.objects import Frameworks, Object, build, diff, for_kubectl

MANY = 1000
"""More examples than that are tried by somebody who has a night's time (`thorough`)."""


def _has_own_tolerations(value: Object) -> bool:
    """Admission plugins (`DefaultTolerationSeconds`, `ExtendedResourceToleration`, …) add to the list, which is atomic: a server-side diff
    is then a conflict over the whole list. kubectl's own kind of diff is not, since the plugins add to its dry run as well."""
    return "tolerations" in value["spec"]


def _for_its_own_kind_of_diff(objects: list[Object]) -> list[Object]:
    """Of each role the first Pod and the last, and of many objects each third: kubectl takes 0.1 s of each. The other kind has them all."""
    names = {(value["metadata"]["namespace"], value["metadata"]["name"]) for value in objects if value["kind"] == "Pod"}

    def is_between(value: Object) -> bool:
        metadata = value["metadata"]
        role, _, index = metadata["name"].rpartition("-")
        return value["kind"] == "Pod" and index != "0" and (metadata["namespace"], f"{role}-{int(index) + 1}") in names

    few = [value for value in objects if not is_between(value)]
    return few if len(few) < 100 or settings().max_examples > MANY else few[::3]


def test_nothing_differs_and_a_change_shows(cluster: Cluster, given_frameworks: Frameworks) -> None:
    live = run(cluster, given_frameworks)
    assert len(live) > 50
    printed = build(given_frameworks, "--emit=expected")
    comparable = for_kubectl(values(printed.encode()))
    assert diff(cluster, "".join(map(yaml.document, _for_its_own_kind_of_diff(comparable)))) == (0, "", "")

    mergeable = [value for value in comparable if value["kind"] != "Pod" or not _has_own_tolerations(value)]
    assert len(mergeable) > len(comparable) / 2
    assert diff(cluster, "".join(map(yaml.document, mergeable)), "--server-side") == (0, "", "")
    _changes_show(cluster, next(value for value in mergeable if value["kind"] == "Pod"))


def _changes_show(cluster: Cluster, pod: Object) -> None:
    """Fields that the API server lets one change in a Pod: all others it refuses even in a dry run."""
    changed = copy.deepcopy(pod)
    changed["spec"]["containers"][0]["image"] = "another:1"
    labelled = copy.deepcopy(pod)
    labelled["metadata"]["labels"]["FC_TASK_INDEX"] = "77"
    for value, seen in ((changed, "another:1"), (labelled, '"77"')):
        code, out, _ = diff(cluster, yaml.dump(value))
        assert code == 1
        assert seen in out
        code, out, err = diff(cluster, yaml.dump(value), "--server-side")
        # Somebody else's field is a conflict, which kubectl reports as an error: a difference all the same.
        assert code != 0
        assert seen in out or "conflict" in err


def test_an_intent_that_is_stored_compressed(cluster: Cluster, namespace: str) -> None:
    """Its ConfigMap has `binaryData`, which is not in the expected manifest."""
    script = "".join(f"echo {number}\n" for number in range(60_000))
    large = framework(role(count=1, spec={"containers": [{"name": "c", "image": "b", "command": ["sh", "-c", script]}]}))
    large["metadata"]["namespace"] = namespace
    run(cluster, [large])
    printed = build([large], "--emit=expected")
    assert "intent.json" not in printed
    for way in ((), ("--server-side",)):
        assert diff(cluster, printed, *way) == (0, "", "")
