"""The API server takes every expected Pod, ConfigMap and Service, and keeps each field that we wrote."""

from __future__ import annotations

from typing import Any

from fcompile.expand import pod
from fcompile.load import values
from fcompile.model.framework import MAX_TASKS
from fcompile.pipeline.compiled import compile_framework
from tests.cluster import Cluster
from tests.drift.objects import EMPTY, Frameworks, Object, Path, build, create, differences, own, without


def test_accepted_and_kept(cluster: Cluster, given_frameworks: Frameworks) -> None:
    written = values(build(given_frameworks, "--emit=expected").encode())
    _accepted(cluster, written)


def test_pods_of_the_last_tasks(cluster: Cluster, given_frameworks: Frameworks) -> None:
    """Five digits in place of one: names and values grow by them."""
    roles = [(value, role) for value in given_frameworks for role in compile_framework(value, "").intent.roles]
    _accepted(cluster, [pod(role, value["metadata"]["namespace"], MAX_TASKS - 1) for value, role in roles])


def _accepted(cluster: Cluster, written: list[Object]) -> None:
    assert written
    read = create(cluster, written, dryRun="All")
    dropped = [_dropped(one, other) for one, other in zip(written, read, strict=True)]
    # An empty value that is gone said nothing: without it, the same object is made.
    bare = create(cluster, (without(one, paths) for one, paths in zip(written, dropped, strict=True) if paths), dryRun="All")
    for once, again in zip((other for other, paths in zip(read, dropped, strict=True) if paths), bare, strict=True):
        assert {**own(once), "status": None} == {**own(again), "status": None}


def _dropped(written: Object, read: Object) -> set[Path]:
    """The empty values of a written object that did not come back. Nothing else may be missing, and nothing may be changed."""
    found = set()
    for path, value, other in differences(written, read):
        if path == ("spec", "tolerations"):
            # Admission plugins add to this list, always at its end.
            assert other[: len(value)] == value
        else:
            assert other is None, (path, value, other)
            assert _is_empty(value), (path, value)
            found.add(path)
    return found


def _is_empty(value: Any) -> bool:
    return any(value == empty and type(value) is type(empty) for empty in EMPTY)
