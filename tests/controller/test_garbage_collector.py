"""A Framework ends where the garbage collector of the cluster never comes to an end, on a real API server."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from fcontroller.api import collection, path_of
from tests.cluster import Cluster
from tests.stress.deaths import kill_api_server
from tests.stress.setting import Json, Setting, role, setting, until

RETRY: Json = {"retryPolicy": {"fancyRetryPolicy": False, "maxRetryCount": -2}}


@pytest.fixture(scope="module")
def here(own_audited_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with setting(own_audited_cluster, tmp_path_factory.mktemp("collector")) as made:
        yield made


def stop(here: Setting, namespace: str) -> None:
    here.stop(namespace, "train")
    until(lambda: here.state(namespace, "train") == "AttemptDeleting", "it is not being deleted")


def make_anew(here: Setting, namespace: str) -> None:
    """Delete the Framework, and create another of its name, which ends at once."""
    path = path_of("frameworks", namespace, "train")
    here.ask("DELETE", path)
    until(lambda: here.cluster.api.request("GET", path)[0] == 404, "it does not go")
    kept = path_of("configmaps", namespace, "train-attempt")
    until(lambda: "deletionTimestamp" in here.ask("GET", kept)["metadata"], "the garbage collector has not heard of it", 60)
    here.apply(namespace, "train", role("worker", 1, {"run": "0"}))


def test_a_garbage_collector_that_has_heard_nothing_for_a_while(here: Setting) -> None:
    """Meanwhile a Pod that it knows to be going gives way to another of its name, which it takes for a newer state of the first.

    One namespace's collector waits for the Pod that is gone, one's keeps the name of a Framework that is gone, and one's hears of the
    new Pod only when the ConfigMap is being deleted.
    """
    collector = here.cluster.pids["kube-controller-manager"]
    with here.tenant() as waits, here.tenant() as keeps, here.tenant() as late:
        all_three = (waits, keeps, late)
        for namespace in all_three:
            here.apply(namespace, "train", role("worker", 1, **RETRY))
        first = {namespace: _hold(here, namespace) for namespace in all_three}
        os.kill(collector, signal.SIGSTOP)
        try:
            kill_api_server(here)
            for namespace in all_three:
                here.ask("PATCH", _pod(namespace), {"metadata": {"finalizers": None}})
            for namespace in all_three:
                assert _uid_once_it_runs(here, namespace) != first[namespace]
            stop(here, late)
        finally:
            os.kill(collector, signal.SIGCONT)
        _wait_for_collector(here)
        stop(here, waits)
        make_anew(here, keeps)
        for namespace in all_three:
            _wait_for_end(here, namespace)


def _pod(namespace: str) -> str:
    return path_of("pods", namespace, "train-worker-0")


def _hold(here: Setting, namespace: str) -> str:
    """Delete the Pod once it runs, which a finalizer holds, and return its uid."""
    uid = _uid_once_it_runs(here, namespace)
    here.ask("PATCH", _pod(namespace), {"metadata": {"finalizers": ["example.com/hold"]}})
    here.ask("DELETE", _pod(namespace))
    until(lambda: here.running(namespace, "train") == 0, "the Pod does not end")
    return uid


def _uid_once_it_runs(here: Setting, namespace: str) -> str:
    until(lambda: here.running(namespace, "train") == 1, f"it does not run in {namespace}")
    uid: str = here.ask("GET", _pod(namespace))["metadata"]["uid"]
    return uid


def _wait_for_end(here: Setting, namespace: str) -> None:
    until(lambda: here.state(namespace, "train") == "Completed", f"the Framework of {namespace} does not end", 60)
    until(lambda: not here.ask("GET", collection("pods", namespace))["items"], f"a Pod of {namespace} stays")


def _wait_for_collector(here: Setting) -> None:
    """Wait until the garbage collector follows what becomes of Pods."""
    owner = here.ask("POST", collection("configmaps", "default"), {"metadata": {"generateName": "owner-"}})["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["name"], "uid": owner["uid"]}
    pod = {"metadata": {"generateName": "owned-", "ownerReferences": [reference]}, "spec": {"containers": [{"name": "main", "image": "a"}]}}
    owned = path_of("pods", "default", here.ask("POST", collection("pods", "default"), pod)["metadata"]["name"])
    here.ask("DELETE", path_of("configmaps", "default", owner["name"]))
    until(lambda: here.cluster.api.request("GET", owned)[0] == 404, "what has no owner is not deleted")
