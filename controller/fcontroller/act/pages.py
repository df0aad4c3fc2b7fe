"""A list, page by page. Pages of large objects, and of a slow server, are shorter: neither can keep a list from being read."""

from __future__ import annotations

from collections.abc import Callable

from fcontroller.api import Answer, Api, Projection, Query, TooLong, TooSlow

PAGE = 500
"""Objects in one answer, when they are as small as most are."""
_LONG = 2 * 1024 * 1024
"""Bytes of whole objects in one answer from which on the next one has fewer: to decode 24 MiB of them takes half a second, in one turn."""
_SLOWER = 8
"""How many times shorter the next page is after one that took too long: each of these costs a minute."""


class Pages:
    """The pages of one list."""

    def __init__(
        self,
        api: Api,
        path: str,
        query: Query,
        projection: Projection = Projection.WHOLE,
        largest: int = PAGE,
        failed: Callable[[str], object] = lambda _: None,
    ) -> None:
        """:param query: what is listed. :param largest: objects in one answer at most.

        :param failed: called with why a page has failed that took too long.
        """
        self._api, self._path, self._query, self._projection = api, path, dict(query), projection
        self._size = self._largest = largest
        self._failed = failed
        self.more = True
        """Whether there is another page. A list that is gone (410) may say how to go on with what there is by now."""

    async def next(self) -> Answer:
        """Return the next page, or a refusal. Raises Unreachable, as when one object alone is too long or too slow."""
        while True:
            query = {**self._query, "limit": str(self._size)}
            try:
                answer = await self._api.request("GET", self._path, None, query, self._projection)
            except TooSlow as error:
                if self._size == 1:
                    raise
                self._failed(str(error))
                self._largest, self._size = max(self._size // 2, 1), max(self._size // _SLOWER, 1)
                continue
            except TooLong as error:
                if self._size == 1:
                    raise TooLong(f"{error}, with one object in it") from error
                self._size //= 2
                continue
            about = answer.body.get("metadata")
            following = about.get("continue") if isinstance(about, dict) else None
            self.more = bool(following)
            if following:
                self._query["continue"] = following
            if self._projection is Projection.WHOLE and answer.size > _LONG:
                self._size = max(self._size * _LONG // answer.size, 1)
            else:  # Pages grow slowly, since a page that turns out too long is read for nothing.
                self._size = min(self._size + self._size // 4 + 1, self._largest)
            return answer
