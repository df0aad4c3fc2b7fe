"""The promise: `kubectl diff` of the expected manifests against what the controller makes is empty, and one change shows."""

from __future__ import annotations

import copy

from fcompile.emit import yaml
from fcompile.load import values
from tests.cluster import Cluster
from tests.drift.live import run
from tests.drift.objects import Frameworks, Object, build, for_kubectl

PATIENCE = 300


def _diff(cluster: Cluster, manifests: str, way: tuple[str, ...]) -> tuple[int, str, str]:
    done = cluster.kubectl("diff", "--concurrency=4", *way, "-f", "-", input=manifests, check=False, timeout=PATIENCE)
    # The API server's warnings (a long host name, a volume plugin that was removed) are no differences.
    said = [line for line in done.stderr.splitlines() if not line.startswith("Warning: ")]
    return done.returncode, done.stdout, "\n".join(said)


def _has_own_tolerations(value: Object) -> bool:
    """Admission plugins (`DefaultTolerationSeconds`, `ExtendedResourceToleration`, …) add to the list, which is atomic: a server-side diff
    is then a conflict over the whole list. kubectl's own kind of diff is not, since the plugins add to its dry run as well."""
    return "tolerations" in value["spec"]


def test_nothing_differs_and_a_change_shows(cluster: Cluster, given_frameworks: Frameworks) -> None:
    live = run(cluster, given_frameworks)
    assert len(live) > 50
    printed = build(given_frameworks, "--emit=expected")
    comparable = for_kubectl(values(printed.encode()))
    if len(comparable) < len(values(printed.encode())):
        printed = "".join(yaml.stream(comparable))
    assert _diff(cluster, printed, ()) == (0, "", "")

    mergeable = [value for value in comparable if value["kind"] != "Pod" or not _has_own_tolerations(value)]
    assert len(mergeable) > len(comparable) / 2
    assert _diff(cluster, "".join(yaml.stream(mergeable)), ("--server-side",)) == (0, "", "")
    _changes_show(cluster, next(value for value in mergeable if value["kind"] == "Pod"))


def _changes_show(cluster: Cluster, pod: Object) -> None:
    """Fields that the API server lets one change in a Pod: all others it refuses even in a dry run."""
    changed = copy.deepcopy(pod)
    changed["spec"]["containers"][0]["image"] = "another:1"
    labelled = copy.deepcopy(pod)
    labelled["metadata"]["labels"]["FC_TASK_INDEX"] = "77"
    for value, seen in ((changed, "another:1"), (labelled, '"77"')):
        code, out, _ = _diff(cluster, yaml.dump(value), ())
        assert code == 1
        assert seen in out
        code, out, err = _diff(cluster, yaml.dump(value), ("--server-side",))
        # Somebody else's field is a conflict, which kubectl reports as an error: a difference all the same.
        assert code != 0
        assert seen in out or "conflict" in err
