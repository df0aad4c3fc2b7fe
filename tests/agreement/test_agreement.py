"""`validate`, the CRD and the API server judge a few hundred changed Frameworks alike. Thousands: `python -m tests.agreement`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agreement.report import Report, as_json, as_markdown, as_text, report
from tests.agreement.run import run
from tests.agreement.verdicts import Judge, as_kubectl_sends
from tests.cluster import Cluster

COUNT = 400
SEED = 20260


@pytest.fixture(scope="module")
def made(cluster: Cluster) -> Report:
    with cluster.namespace() as namespace:
        judge = Judge(cluster.api, int(cluster.version.split(".")[1]), namespace)
        return report(run(judge, COUNT, SEED, every=4), judge, cluster.version, SEED, 0.0)


def test_many_frameworks_are_tried_and_all_judges_refuse_some(made: Report) -> None:
    assert made.bases > 100
    assert made.counts["mutants"] == COUNT
    for outcome in ("refused by validate", "refused by the CRD", "refused by the API server", "run"):
        assert made.counts[outcome] > 50, outcome
    assert made.counts["different reasons of the API server"] > 50


def test_no_false_alarm(made: Report) -> None:
    assert made.false_alarms == []


def test_nothing_is_refused_that_validate_passes(made: Report) -> None:
    assert made.misses == []
    assert made.crd_only == []
    assert made.crashes == []


def test_the_report_tells_what_was_found(made: Report) -> None:
    assert made.is_good
    for written in (as_text(made), as_markdown(made)):
        assert f"Kubernetes {made.version}, seed {SEED}" in written
    assert '"misses_share": 0.0' in as_json(made)


class _Blind(Judge):
    """What the report would say if `validate` knew nothing, or refused everything."""

    told: tuple[str, ...] = ()

    def validate(self, framework: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.told, ()


@pytest.mark.parametrize("told", [(), ("FC101",)])
def test_disagreement_shows(cluster: Cluster, namespace: str, told: tuple[str, ...]) -> None:
    judge = _Blind(cluster.api, int(cluster.version.split(".")[1]), namespace)
    judge.told = told
    made = report(run(judge, 20, SEED, every=25), judge, cluster.version, SEED, 0.0)
    assert not made.is_good
    if told:
        assert sum(found.times for found in made.false_alarms) == made.counts["run"] > 0
        assert not made.misses
        assert f"- {made.counts['run']} × FC101" in as_markdown(made)
    else:
        assert made.misses_share == 1
        assert sum(found.times for found in made.misses) == made.counts["refused by the API server"] > 0
        assert judge.server(next(iter(judge.objects(made.misses[0].example) or ()))) is not None
        assert not made.false_alarms


def test_what_another_cluster_may_have_is_no_reason(cluster: Cluster, namespace: str) -> None:
    judge = Judge(cluster.api, int(cluster.version.split(".")[1]), namespace)

    def refusal(**spec: Any) -> str:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "b"}], **spec}}
        return str(judge.server(pod) or "")

    assert refusal(priorityClassName="high", priority=7, preemptionPolicy="Never") == ""
    assert refusal(runtimeClassName="kata", overhead={"cpu": "1"}) == ""
    assert refusal(runtimeClassName="kata", priorityClassName="high") == ""
    assert "metadata.name" in refusal(runtimeClassName="Kata")
    assert "overhead" in refusal(runtimeClassName="kata", overhead={"cpu": "-1"})
    assert "integer value of priority" in refusal(priorityClassName="system-node-critical", priority=7)
    assert "spec.hostname" in refusal(priorityClassName="high", hostname="-")


def test_the_namespace_counts_if_there_can_be_one(cluster: Cluster, namespace: str) -> None:
    judge = Judge(cluster.api, int(cluster.version.split(".")[1]), namespace)
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "image": "b"}]}}
    assert judge.server({**pod, "metadata": {"name": "a", "namespace": "elsewhere"}}) is None
    assert judge.server({**pod, "metadata": {"name": "a", "namespace": "Else_where"}}) is not None


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        (1.0, 1),
        (1.5, 1.5),
        (-0.0, 0),
        (1e20, 10**20),
        (1e21, 1e21),
        (2**63 - 1, 2**63 - 1),
        (2**64, 2**64),
        (True, True),
        ([{"a": 2.0}], [{"a": 2}]),
    ],
)
def test_numbers_as_kubectl_sends_them(written: object, sent: object) -> None:
    assert as_kubectl_sends(written) == sent
    assert type(as_kubectl_sends(written)) is type(sent)
