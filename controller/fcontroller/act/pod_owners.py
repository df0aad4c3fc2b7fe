"""Who owns the Pods of a namespace, whatever their labels."""

from __future__ import annotations

import asyncio

from fcontroller.act import requests
from fcontroller.act.requests import OwnedPod, Refused
from fcontroller.api import Api, Unreachable

_LONGEST = 300
"""Seconds for one list. 100,000 Pods, which are 200 pages, take a tenth of that."""
_TOO_LONG = f"the Pods of the namespace could not be listed within {_LONGEST} s, to see whether one is left"


class _Known:
    """What is known of one namespace, as long as somebody asks about it."""

    def __init__(self) -> None:
        self.asking = 0
        self.lock = asyncio.Lock()
        self.begun = self.ended = 0
        """The number of lists that were begun, and of those the last one that came to its end."""
        self.owners: dict[str, OwnedPod] = {}
        self.error: Refused | Unreachable | None = None
        """Why that one failed."""


class PodOwners:
    """Lists the Pods of a namespace once for all who ask meanwhile: a thousand Frameworks that end would each list 100,000 Pods."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._namespaces: dict[str, _Known] = {}

    async def pod_of(self, namespace: str, owner: str) -> OwnedPod | None:
        """Return a Pod that has the owner with that uid, or None, by a list that began after this was asked.

        Raises Refused and Unreachable, for all who wait for a list: if each tried again, the last would wait for hours.
        """
        known = self._namespaces.setdefault(namespace, _Known())
        wanted = known.begun + 1
        known.asking += 1
        try:
            async with known.lock:
                if known.ended < wanted:
                    known.begun += 1
                    known.error = None
                    try:
                        async with asyncio.timeout(_LONGEST):
                            known.owners = await requests.pod_owners(self._api, namespace)
                    except TimeoutError:
                        known.error = Unreachable(_TOO_LONG)
                    except (Refused, Unreachable) as error:
                        known.error = error.with_traceback(None)
                    known.ended = known.begun
                if known.error is not None:
                    raise known.error
                return known.owners.get(owner)
        finally:
            known.asking -= 1
            if not known.asking:
                del self._namespaces[namespace]
