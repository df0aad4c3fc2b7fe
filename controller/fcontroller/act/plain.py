"""Read from the API server with the standard library alone, for code that runs in every Pod and must be small and start quickly.

`act.client` takes eight times as long to import, and three times the memory.
"""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fcontroller.api import Answer, Unreachable

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a Pod finds the token of its service account and the cluster's certificate."""
_TIMEOUT = 30
_ANSWER_BYTES = 8 * 1024 * 1024
"""What an answer may have at most: four times what etcd holds. Whoever answers without an end does not fill the memory."""


class NoServer(Exception):
    """Nothing says where the API server is, or what says it is wrong."""


class Server(NamedTuple):
    """An API server, as one user."""

    url: str
    tls: ssl.SSLContext | None
    """For an https URL; None: as for any server on the web."""
    headers: Callable[[], Mapping[str, str]]
    """Asked for with each request: tokens rotate."""

    def get(self, path: str) -> Answer:
        """Send one GET request over a connection of its own. Raises Unreachable."""
        parts = urlsplit(self.url)
        connection: HTTPConnection
        if parts.scheme == "https":
            connection = HTTPSConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT, context=self.tls)
        else:
            connection = HTTPConnection(parts.hostname or "", parts.port, _TIMEOUT)
        try:
            connection.request("GET", parts.path.rstrip("/") + path, headers={"Accept": "application/json", **self.headers()})
            response = connection.getresponse()
            text = response.read(_ANSWER_BYTES + 1)
            if len(text) > _ANSWER_BYTES or not isinstance(body := json.loads(text), dict):
                raise ValueError("the answer is too large, or no object")
            return Answer(response.status, body)
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            raise Unreachable(f"{self.url}: {error or type(error).__name__}") from error
        finally:
            connection.close()


def tls_of(configuration: Any) -> ssl.SSLContext:
    """Return the TLS that a `kubernetes.client.Configuration` asks for."""
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if not configuration.verify_ssl:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def headers_of(configuration: Any) -> dict[str, str]:
    """Return the headers that authenticate a request by a `kubernetes.client.Configuration`. A token's file may end with a line end."""
    ways = configuration.auth_settings().values()
    return {way["key"]: way["value"].strip() for way in ways if way["in"] == "header" and way["value"]}


def find_server(environment: Mapping[str, str], account: Path = ACCOUNT) -> Server:
    """Return the API server that the environment names by address or kubeconfig, or else that of the Pod's cluster. Raises NoServer."""
    address = environment.get("KUBE_APISERVER_ADDRESS", "")
    files = environment.get("KUBECONFIG", "")
    default = os.path.join(environment.get("HOME", "/"), ".kube", "config")
    if files or os.path.exists(default):
        server = _of_kubeconfig(files or default)
        return server._replace(url=address) if address else server
    if address:
        return Server(address, None, dict)
    return _around(environment, account)


def _around(environment: Mapping[str, str], account: Path) -> Server:
    host, port = (environment.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
    if not host or not port:
        raise NoServer("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, as they are in a Pod, and there is no KUBECONFIG")
    try:
        tls = ssl.create_default_context(cafile=str(account / "ca.crt"))
    except (OSError, ssl.SSLError) as error:
        raise NoServer(f"{account / 'ca.crt'}: {error}: does the Pod have a service account, and its token mounted?") from None
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Server(url, tls, lambda: {"Authorization": f"Bearer {(account / 'token').read_text().strip()}"})


def _of_kubeconfig(files: str) -> Server:
    from kubernetes import client, config  # Exec plugins and all; not needed in a Pod.

    found = client.Configuration()
    try:
        config.load_kube_config(files, None, found, persist_config=False)  # type: ignore[no-untyped-call]
        tls = tls_of(found)
    except (config.ConfigException, OSError, ssl.SSLError) as error:
        raise NoServer(f"{files}: {error}") from None
    return Server(found.host, tls, lambda: headers_of(found))
