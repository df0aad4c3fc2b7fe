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


_SELECTOR = {"matchLabels": {"a": "b"}}
_PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}
_TERM = {"topologyKey": "t", "labelSelector": _SELECTOR, "matchLabelKeys": ["FC_TASK_INDEX", "none"], "mismatchLabelKeys": ["tier"]}
_SPREAD = {"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR}
_HTTP = {"port": 80, "path": "", "scheme": "", "httpHeaders": [{"name": "A"}]}
_NO_TIMES = dict.fromkeys(("failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds"), 0)
STORED_OTHERWISE: dict[str, Object] = {
    "labels of the Pod in an affinity": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}},
    "labels of the Pod in a spread": {"topologySpreadConstraints": [{**_SPREAD, "matchLabelKeys": ["FC_TASKROLE_NAME"]}]},
    "empty texts": {"dnsPolicy": "", "restartPolicy": "", "schedulerName": "", "serviceAccountName": "", "serviceAccount": ""},
    "empty texts of a container": {
        "containers": [
            {"name": "c", "image": "b", "imagePullPolicy": "", "terminationMessagePath": "", "livenessProbe": {"httpGet": _HTTP}}
        ]
    },
    "no times of a probe": {"containers": [{"name": "c", "image": "b", "livenessProbe": {"tcpSocket": {"port": 80}, **_NO_TIMES}}]},
    "empty texts of volumes": {
        "volumes": [
            {"name": "a", "image": {"reference": "d:1", "pullPolicy": ""}},
            {"name": "b", "rbd": {"monitors": ["m"], "image": "i", "keyring": "", "pool": "", "user": ""}},
            {"name": "c", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2015-02.example.com:test", "lun": 0, "iscsiInterface": ""}},
            {"name": "d", "projected": {"sources": []}},
        ]
    },
    "nulls in lists": {"containers": [{"name": "c", "image": "b", "args": ["a", None]}], "securityContext": {"supplementalGroups": [None]}},
    "a system call's setting without a value": {"securityContext": {"sysctls": [{"name": "kernel.sem"}]}},
    "no preference": {"affinity": {"nodeAffinity": _PREFERRED}},
    "no exit codes": {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "c",
                "image": "b",
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "NotIn", "values": []}}],
            }
        ],
    },
    "two service accounts": {"serviceAccountName": "a", "serviceAccount": "b"},
    "a negative grace period": {"terminationGracePeriodSeconds": -5},
}


def test_nothing_differs_where_the_server_stores_something_else(cluster: Cluster, namespace: str) -> None:
    metadata = {"labels": {"tier": "x"}}
    written = [framework(role(count=2, spec=spec, metadata=metadata), name=f"odd{n}") for n, spec in enumerate(STORED_OTHERWISE.values())]
    for value in written:
        value["metadata"]["namespace"] = namespace
    assert len(run(cluster, written)) == 2 * len(written)
    for what, value in zip(STORED_OTHERWISE, written, strict=True):
        printed = build([value], "--emit=expected", f"--kubernetes-version={cluster.version}")
        for way in ((), ("--server-side",)):
            assert diff(cluster, printed, *way) == (0, "", ""), what


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
