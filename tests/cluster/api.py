"""A small client of the API server: plain requests, many at a time."""

from __future__ import annotations

import contextlib
import copy
import errno
import json
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

CONNECTIONS = 32


class _Socket(ssl.SSLSocket):
    """An SSLSocket that closes itself when the server has hung up before TLS begins, as a killed one does. CPython 3.11 forgets to."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except OSError as error:
            if error.errno == errno.ECONNRESET:
                self.close()
            raise


class Api:
    """Requests over kept-alive connections; any number of threads may share one.

    Nothing is tried again, and no status code is an error here: tests look at what the server says.
    """

    def __init__(self, port: int, certificate: Path, token: str) -> None:
        """:param certificate: of the server, which signs itself. :param token: an administrator's bearer token."""
        tls = ssl.create_default_context(cafile=certificate)
        tls.sslsocket_class = _Socket
        self._pool = urllib3.HTTPSConnectionPool(
            "127.0.0.1",
            port,
            maxsize=CONNECTIONS,
            ssl_context=tls,
            headers={"Authorization": f"Bearer {token}", "User-Agent": "fcompile-tests"},
            retries=False,
            timeout=urllib3.Timeout(60),
        )
        self._impersonated: dict[str, str] = {}

    def impersonate(self, user: str) -> Api:
        """Return a client over the same connections whose requests are those of a user, or of a service account by its user name."""
        other = copy.copy(self)
        other._impersonated = {"Impersonate-User": user}
        return other

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, str | int] | None = None,
        *,
        content_type: str = "",
        accept: str = "application/json",
    ) -> tuple[int, Any]:
        """One request.

        :param path: from the root: `/api/v1/namespaces`.
        :param body: text and bytes are sent as they are, anything else as JSON.
        :param content_type: of the body; without it a PATCH is a JSON merge patch and all else is JSON.
        :param accept: the form of the answer.
        :returns: the status code, and the body: decoded where it is JSON, else text.
        """
        answer = self.send(method, path, body, query, content_type=content_type, accept=accept)
        text = answer.data
        return answer.status, json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text.decode()

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, str | int] | None = None,
        *,
        content_type: str = "",
        accept: str = "application/json",
    ) -> urllib3.BaseHTTPResponse:
        """Send one request, as `request` does, and return the whole answer with its headers."""
        return self._pool.urlopen(method, _with_query(path, query), _encoded(body), self._headers(method, content_type, accept))

    def watch(self, path: str, query: Mapping[str, str | int] | None = None, *, seconds: int = 3600) -> Watch:
        """The changes of a collection, until the server ends the watch after `seconds`."""
        full = _with_query(path, {**(query or {}), "watch": "1", "timeoutSeconds": seconds})
        headers = self._headers("GET", "", "application/json")
        answer = self._pool.urlopen(
            "GET", full, headers=headers, preload_content=False, timeout=urllib3.Timeout(connect=60, read=seconds + 60)
        )
        return Watch(answer)

    def _headers(self, method: str, content_type: str, accept: str) -> dict[str, str]:
        kind = content_type or ("application/merge-patch+json" if method == "PATCH" else "application/json")
        return {**self._pool.headers, **self._impersonated, "Content-Type": kind, "Accept": accept}


class Watch:
    """Events (`{"type": …, "object": …}`) as they come. A refused watch is one event of type `ERROR`, as the end of a failed one is."""

    def __init__(self, answer: urllib3.BaseHTTPResponse) -> None:
        self._answer = answer
        self._stopped = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            if self._answer.status == 200:
                yield from map(json.loads, _lines(self._answer))
            else:
                yield {"type": "ERROR", "object": json.loads(self._answer.data)}
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError):
            if not self._stopped:  # what a read says whose connection is shut down meanwhile depends on where it was
                raise
        finally:
            self._answer.close()  # what is still to come is not wanted, so the connection cannot be used again

    def stop(self) -> None:
        """Ends the events, in another thread than the one that waits for them too."""
        self._stopped = True
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # it has ended already
            self._answer.shutdown()


def _encoded(body: object) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body, separators=(",", ":"))).encode()


def _with_query(path: str, query: Mapping[str, str | int] | None) -> str:
    if not query:
        return path
    encoded = urlencode(query)
    return f"{path}?{encoded}"


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """The lines of an answer, each as soon as it is complete."""
    rest = b""
    while piece := answer.read1():
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
