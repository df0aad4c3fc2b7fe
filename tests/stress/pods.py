"""Runs the Pods of a cluster, as far as the API server can see: `python -m tests.stress.pods KUBECONFIG`.

Beside what `fcontroller.testing.kubelet` knows, `stress/message` is how long the message is with which containers end.
"""

from __future__ import annotations

import asyncio
import sys

from fcontroller.act.client import from_kubeconfig
from fcontroller.api import Json
from fcontroller.testing.kubelet import Kubelet


class _Kubelet(Kubelet):
    def _ended(self, pod: Json) -> Json | None:
        status = super()._ended(pod)
        length = int((pod["metadata"].get("annotations") or {}).get("stress/message", 0))
        if status is not None and length:
            for container in status["containerStatuses"]:
                # Each its own, so that nothing of it can be written once for all.
                container["state"]["terminated"]["message"] = (pod["metadata"]["uid"] * (length // 36 + 1))[:length]
        return status


async def main(kubeconfig: str) -> None:
    api = from_kubeconfig(kubeconfig)
    try:
        await _Kubelet(api, "stress").run()
    finally:
        await api.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
