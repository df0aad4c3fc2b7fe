"""Under a whole Argo CD that syncs and heals by itself, training runs once: however old its Framework is, nothing runs again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fcompile.emit import yaml
from fcompile.pipeline.compiled import compile_framework
from fcontroller.api import Json, collection, path_of
from tests.argocd.store import store
from tests.argocd.whole import argo_cd
from tests.cluster import Cluster
from tests.cluster.cluster import apply_crd
from tests.controller.lab import SETTINGS, Lab, lab, real, run
from tests.decide.world import role_spec


def uids(pods: list[Json]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}


@pytest.mark.parametrize("seconds", [3, None])
def test_run_once(own_cluster: Cluster, tmp_path: Path, seconds: int | None) -> None:
    """Its time to live is over, or the controller's retention: Argo CD finds nothing to heal, and no Pod is made.

    Then somebody deletes the Framework, which shows that Argo CD does heal, and that the training runs again then.
    """
    apply_crd(own_cluster)
    with own_cluster.namespace() as namespace:
        head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "train"}}
        spec = {"ttlSecondsAfterFinished": seconds, "cleanPodPolicy": "Running", "taskRoles": [role_spec("a", 2, run="0.5")]}
        source = "".join(map(yaml.document, [compile_framework({**head, "spec": spec}, namespace).framework]))
        run(_life(own_cluster, namespace, tmp_path, source))


async def _life(cluster: Cluster, namespace: str, folder: Path, source: str) -> None:
    settings = SETTINGS._replace(completed_retention=3)
    async with real(cluster) as api, lab(api, namespace, settings=settings) as made, store() as redis:
        with argo_cd(cluster, folder, namespace, source, redis) as argo:
            await _made(made)
            over = await made.until("train", _is_retained, 180)
            uid = (await made.framework("train"))["metadata"]["uid"]
            # The Pods that stayed for their logs have gone: only the record is there.
            assert await made.pods() == []
            await asyncio.to_thread(argo.until, lambda: argo.told() == ("Synced", "Healthy"), "it is not healthy")
            await asyncio.to_thread(argo.compare_again)
            there = await made.framework("train")
            assert (there["metadata"]["uid"], there["status"], await made.pods()) == (uid, over, [])
            assert argo.told() == ("Synced", "Healthy")
            history = argo.application()["status"]["history"]
            assert len(history) == 1, "it was synced once"

            options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
            assert (await api.request("DELETE", path_of("frameworks", namespace, "train"), options)).ok
            again = await _made(made, uid)
            assert again != uid
            await made.until("train", lambda status: status["state"] == "Completed", 180)


def _is_retained(status: Json) -> bool:
    return any(one["type"] == "Retained" and one["status"] == "True" for one in status.get("conditions", ()))


async def _made(made: Lab, other_than: str = "") -> str:
    """Wait until Argo CD has applied the Framework; returns its uid."""
    async with asyncio.timeout(180):
        while True:
            items = (await made.api.request("GET", collection("frameworks", made.namespace))).body["items"]
            if found := [item["metadata"]["uid"] for item in items if item["metadata"]["uid"] != other_than]:
                return str(found[0])
            await asyncio.sleep(0.2)
