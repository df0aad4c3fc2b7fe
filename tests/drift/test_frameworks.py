"""What `build` prints is what is stored, to the last field, however it is applied and however often."""

from __future__ import annotations

import re

import pytest

from fcompile.load import values
from tests.cluster import Cluster
from tests.drift.objects import Frameworks, Object, build, diff, for_kubectl, listed, own

APPLIES = {
    "client": ("apply",),
    "server": ("apply", "--server-side"),
}
DRY_RUN = "--dry-run=server"
PATIENCE = 240


@pytest.mark.parametrize("way", APPLIES.values(), ids=APPLIES)
def test_what_is_printed_is_stored_and_stays(cluster: Cluster, given_frameworks: Frameworks, way: tuple[str, ...]) -> None:
    sent = for_kubectl(given_frameworks) if "--server-side" in way else given_frameworks
    printed = build(sent)
    written = {value["metadata"]["name"]: value for value in values(printed.encode())}
    assert len(written) == len(sent) > len(given_frameworks) / 2

    cluster.kubectl(*way, "-f", "-", input=printed, timeout=PATIENCE)
    stored = listed(cluster, given_frameworks[0])
    assert {name: own(value) for name, value in stored.items()} == written

    for again in ((*way, DRY_RUN), way):
        said = cluster.kubectl(*again, "-f", "-", input=printed, timeout=PATIENCE).stdout.splitlines()
        assert len(said) == len(written)
        if "--server-side" not in again:  # which says the same whether it changed something or not
            assert [line for line in said if not re.search(r" unchanged\b", line)] == []
        assert listed(cluster, given_frameworks[0]) == stored

    comparable = for_kubectl(sent)
    assert diff(cluster, build(comparable), "--server-side") == (0, "", "")
    # kubectl takes 0.1 s of each in its own kind of diff.
    assert diff(cluster, build(comparable[:: 3 if len(comparable) > 50 else 1])) == (0, "", "")
    if "--server-side" not in way:
        _the_other_way_of_applying_changes_no_field(cluster, stored, comparable)


def _the_other_way_of_applying_changes_no_field(cluster: Cluster, stored: dict[str, Object], sent: list[Object]) -> None:
    cluster.kubectl(*APPLIES["server"], "-f", "-", input=build(sent), timeout=PATIENCE)
    after = listed(cluster, sent[0])
    assert {name: own(value) for name, value in after.items()} == {name: own(value) for name, value in stored.items()}
    assert [value["metadata"]["generation"] for value in after.values()] == [1] * len(after)
    applied = {value["metadata"]["name"] for value in sent}
    assert applied == {name for name, value in after.items() if value["metadata"]["managedFields"][0]["operation"] == "Apply"}


def test_a_change_shows(cluster: Cluster, given_frameworks: Frameworks) -> None:
    first = build(given_frameworks[:1])
    cluster.kubectl("apply", "-f", "-", input=first)
    (changed,) = values(first.encode())
    changed["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["image"] = "another:1"
    for kind in ((), ("--server-side",)):
        code, out, _ = diff(cluster, build([changed]), *kind)
        assert code == 1
        assert "another:1" in out
