"""`validate`, the CRD and the API server judge a few hundred changed Frameworks alike. Thousands: `python -m tests.agreement`."""

from __future__ import annotations

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
