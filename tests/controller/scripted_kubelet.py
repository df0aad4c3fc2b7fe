"""A kubelet that annotations, whose names begin with `sim/`, tell more than how long Pods run and how they exit:

- `ends`: statuses that its containers end with, as JSON, one for each Pod that was made under the name; null: it goes on running.
- `start`: `never` (it gets no node) or `bound` (it gets one, and never starts).
- `stop`: `never`: its node does not let go of it when it is deleted.
"""

from __future__ import annotations

import json

from fcontroller.api import Json
from tests.annotated_kubelet import AnnotatedKubelet


class ScriptedKubelet(AnnotatedKubelet):
    async def _live(self, pod: Json) -> None:
        start = self.wish(pod, "start")
        if start == "bound":
            await self._bind(pod)
        elif not start:
            await super()._live(pod)

    def _ended(self, pod: Json) -> Json | None:
        wish = self.wish(pod, "ends")
        if not wish:
            return super()._ended(pod)
        ends: list[Json | None] = json.loads(wish)
        return ends[min(self._made_before(pod), len(ends) - 1)]

    async def _end(self, pod: Json) -> None:
        if self.wish(pod, "stop") != "never":
            await super()._end(pod)
