"""Who owns the Pods of a namespace, whatever their labels."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from fcontroller.act import requests
from fcontroller.act.requests import OwnedPod
from fcontroller.api import Api, Unreachable

_LONGEST = 300
"""Seconds for one list. 100,000 Pods, which are 200 pages, take a tenth of that."""
_TOO_LONG = f"the Pods of the namespace could not be listed within {_LONGEST} s, to see whether one is left"


class PodOwners:
    """Lists the Pods of a namespace once for all who ask meanwhile: a thousand Frameworks that end would each list 100,000 Pods."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._next: dict[str, tuple[asyncio.Task[dict[str, OwnedPod]], set[str]]] = {}
        """By namespace, the list that has not begun yet, and the uids that are looked for in it."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def pod_of(self, namespace: str, owner: str) -> OwnedPod | None:
        """Return a Pod that has the owner with that uid, or None, by a list that began after this was asked.

        Raises Refused and Unreachable, for all who wait for a list: if each tried again, the last would wait for hours.
        """
        if namespace not in self._next:
            self._next[namespace] = asyncio.get_running_loop().create_task(self._list(namespace)), set()
        listed, wanted = self._next[namespace]
        wanted.add(owner)
        return (await asyncio.shield(listed)).get(owner)  # Others wait for it too.

    async def _list(self, namespace: str) -> dict[str, OwnedPod]:
        async with self._locks.setdefault(namespace, asyncio.Lock()):
            _, wanted = self._next.pop(namespace)
            try:
                async with asyncio.timeout(_LONGEST):
                    return await requests.pods_of(self._api, namespace, wanted)
            except TimeoutError:
                raise Unreachable(_TOO_LONG) from None
