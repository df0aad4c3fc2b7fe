"""Runs the Pods of a cluster, as far as the API server can see: `python -m tests.stress.pods KUBECONFIG`.

Beside what `tests.annotated_kubelet` knows, `stress/message` is how long the message is with which containers end.
"""

from __future__ import annotations

import asyncio
import sys

from fcontroller.act.client import from_kubeconfig
from fcontroller.api import Json
from tests.annotated_kubelet import AnnotatedKubelet


class _Kubelet(AnnotatedKubelet):
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
    try:
        await _Kubelet(api, "stress").run()
    finally:
        await api.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
