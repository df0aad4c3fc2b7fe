"""The demo's kubelet, with Pods that say in annotations how they live.

`{prefix}/run` is for how many seconds the containers of a Pod run (none: until it is deleted), `{prefix}/exits` how they exit: codes with
commas between, one for each Pod that was made under the name.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from fcontroller.api import Api, Json, WentBack
from fcontroller.testing.kubelet import Kubelet


class AnnotatedKubelet(Kubelet):
    def __init__(self, api: Api, prefix: str, *, namespace: str = "") -> None:
        super().__init__(api, namespace=namespace)
        self._prefix = prefix

    async def run(self) -> None:
        """Follow Pods until cancelled, also those of a backup that the server is restored from."""
        while True:
            with contextlib.suppress(WentBack):
                await super().run()
            self._known.clear()
            self._going.clear()

    def wish(self, pod: Json, name: str) -> str:
        """What the annotation of this name says; empty: there is none."""
        return str((pod["metadata"].get("annotations") or {}).get(f"{self._prefix}/{name}", ""))

    def _seconds(self, pod: Json) -> float | None:
        seconds = self.wish(pod, "run")
        return None if seconds in ("", "forever") else float(seconds)

    def _codes(self, pod: Json) -> Sequence[int]:
        return [int(code) for code in (self.wish(pod, "exits") or "0").split(",")]
