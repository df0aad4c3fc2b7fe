"""Runs the Pods of a cluster, as far as the API server can see: `python -m tests.stress.pods KUBECONFIG`.

Beside what `tests.annotated_kubelet` knows, `stress/message` is how long the message is with which containers end. Pods whose
`stress/run` is `until told` end when the process gets SIGUSR1.
"""

from __future__ import annotations

import asyncio
import signal
import sys

from fcontroller.act.client import from_kubeconfig
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.api import Api, Json
from tests.annotated_kubelet import AnnotatedKubelet

UNTIL_TOLD = "until told"


class _Kubelet(AnnotatedKubelet):
    def __init__(self, api: Api, told: asyncio.Event) -> None:
        super().__init__(api, "stress")
        self._told = told

    async def _runs(self, pod: Json) -> bool:
        if self.wish(pod, "run") != UNTIL_TOLD:
            return await super()._runs(pod)
        await self._told.wait()
        return True

    def _ended(self, pod: Json) -> Json | None:
        status = super()._ended(pod)
        length = int(self.wish(pod, "message") or 0)
        if status is not None and length:
            for container in status["containerStatuses"]:
                # Each its own, so that nothing of it can be written once for all.
                container["state"]["terminated"]["message"] = (pod["metadata"]["uid"] * (length // 36 + 1))[:length]
        return status


async def main(kubeconfig: str) -> None:
    api = from_kubeconfig(kubeconfig)
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, told.set)
    try:
        await _Kubelet(Dispatcher(api), told).run()  # Where all end at once, not each has a connection.
    finally:
        await api.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
