"""The other processes of `benchmarks.controller`: `python -m benchmarks.pods post|aiohttp|life|run KUBECONFIG NAMESPACE COUNT`.

`post` is the floor: it creates as many Pods as a Framework of one role has, by plain concurrent requests, and nothing else; `aiohttp` does
so with that library. `life` also deletes each of them when it has succeeded. `run` is a kubelet for the namespace: Pods run for a moment
and succeed.
"""

from __future__ import annotations

import argparse
import asyncio
import ssl
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import uvloop
from kubernetes import client, config

from fcompile.pipeline.compiled import compile_framework
from fcontroller import intent as intents
from fcontroller.act.client import Client, from_kubeconfig
from fcontroller.api import Json, Name, Projection, collection, path_of
from fcontroller.decide.status import Role, Task
from fcontroller.observe.reflector import Reflector
from fcontroller.reconcile.pod_renderer import PodRenderer
from fcontroller.testing.kubelet import Kubelet

AT_A_TIME = 32
NAME = "floor"


def framework(name: str, namespace: str, count: int, *, retried: bool = False) -> Json:
    """Return a compiled Framework of one role, with a small Pod; it completes when all its tasks have succeeded.

    :param retried: whether there is another attempt after one that was lost.
    """
    container = {
        "name": "main",
        "image": "registry.example.com/training/worker:2.7.1",
        "command": ["python", "-m", "training.main", "--rank=$(FC_TASK_INDEX)"],
        "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        "resources": {"requests": {"cpu": "8", "memory": "64Gi"}, "limits": {"nvidia.com/gpu": "8"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    volume = {"name": "data", "emptyDir": {}}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}}
    role = {"name": "worker", "taskNumber": count, "task": {"pod": pod}}
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": name}}
    spec = {"retryPolicy": {"fancyRetryPolicy": retried}, "taskRoles": [role]}
    return compile_framework({**head, "spec": spec}, namespace).framework


Send = Callable[[str, bytes], Awaitable[int]]
"""Creates the Pod at a path; returns the status code."""


async def post(api: Client, send: Send, namespace: str, count: int, *, whole_life: bool = False) -> None:
    """Create the Pods, the same that the controller makes; prints the seconds that it took, of the clock and of CPU.

    :param whole_life: delete each Pod when it has succeeded, and end when all are gone.
    """
    value = framework(NAME, namespace, count)
    intent = compile_framework(value, namespace).intent
    value["metadata"] |= {"uid": str(uuid.uuid4()), "generation": 1}
    # The owner must be there, or the garbage collector takes the Pods; it has no owner itself.
    owner = intents.config_map(intent, value, 0)
    del owner["metadata"]["ownerReferences"]
    made = await api.request("POST", collection("configmaps", namespace), owner)
    renderer, role = PodRenderer(intent, value, made.body["metadata"]["uid"]), Role("worker", str(uuid.uuid4()))
    tasks = [Task(index, str(uuid.uuid4()), "", 0) for index in range(count)]
    pods = iter([renderer.pod(0, role, task) for task in tasks])

    async def worker() -> None:
        for pod in pods:
            code = await send(collection("pods", namespace), pod)
            assert code == 201, code

    began, cpu = time.perf_counter(), time.process_time()
    created = asyncio.gather(*(worker() for _ in range(AT_A_TIME)))
    if whole_life:
        cleaner = _Cleaner(api, namespace, count)
        following = asyncio.create_task(Reflector(api, collection("pods", namespace), cleaner, projection=Projection.POD).run())
        await cleaner.over.wait()
        following.cancel()
    await created
    print(time.perf_counter() - began, time.process_time() - cpu)


class _Cleaner:
    """Deletes each Pod of a namespace when it has succeeded. A server may end a watch at any time: a reflector begins another."""

    def __init__(self, api: Client, namespace: str, count: int) -> None:
        self._api, self._namespace, self._count = api, namespace, count
        self._slots = asyncio.Semaphore(AT_A_TIME)
        self._deletions: dict[str, asyncio.Task[None]] = {}
        self._there: set[str] = set()
        self._seen: set[str] = set()
        self.over = asyncio.Event()
        """Set when so many Pods were there and are gone."""

    def seen(self, value: Json) -> None:
        name = value["metadata"]["name"]
        self._there.add(name)
        self._seen.add(name)
        if value["status"].get("phase") == "Succeeded" and name not in self._deletions:
            self._deletions[name] = asyncio.create_task(self._delete(name))

    def deleted(self, value: Json) -> None:
        self._there.discard(value["metadata"]["name"])
        self._look()

    def retain(self, names: set[Name]) -> None:
        self._there &= {name for _, name in names}
        self._look()

    def _look(self) -> None:
        if len(self._seen) == self._count and not self._there:
            self.over.set()

    async def _delete(self, name: str) -> None:
        async with self._slots:
            answer = await self._api.request("DELETE", path_of("pods", self._namespace, name), projection=Projection.METADATA)
        assert answer.ok, answer


@asynccontextmanager
async def _by_aiohttp(kubeconfig: str) -> AsyncIterator[Send]:
    configuration = client.Configuration()
    config.load_kube_config(kubeconfig, client_configuration=configuration, persist_config=False)  # type: ignore[no-untyped-call]
    connector = aiohttp.TCPConnector(limit=0, ssl=ssl.create_default_context(cafile=configuration.ssl_ca_cert))
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
    headers = {"Content-Type": "application/json", "Accept": accept}
    headers |= {way["key"]: way["value"] for way in configuration.auth_settings().values()}
    async with aiohttp.ClientSession(configuration.host, connector=connector, headers=headers) as session:

        async def send(path: str, pod: bytes) -> int:
            async with session.post(path, data=pod) as answer:
                msgspec.json.decode(await answer.read())
                return answer.status

        yield send


async def _main(what: str, kubeconfig: str, namespace: str, count: int) -> None:
    api = from_kubeconfig(kubeconfig)

    async def send(path: str, pod: bytes) -> int:
        return (await api.request("POST", path, pod, projection=Projection.METADATA)).code

    try:
        if what in ("post", "life"):
            await post(api, send, namespace, count, whole_life=what == "life")
        elif what == "aiohttp":
            async with _by_aiohttp(kubeconfig) as by_aiohttp:
                await post(api, by_aiohttp, namespace, count)
        else:
            await Kubelet(api, namespace=namespace, stop=0, run=0.2).run()
    finally:
        await api.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pods", description=__doc__)
    parser.add_argument("what", choices=("post", "aiohttp", "life", "run"))
    parser.add_argument("kubeconfig")
    parser.add_argument("namespace")
    parser.add_argument("count", type=int)
    uvloop.run(_main(**vars(parser.parse_args())))
