"""Read from the API server with the standard library alone, for code that runs in every Pod and must be small and start quickly.

`act.client` takes eight times as long to import, and three times the memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fcompile.model.names import API_VERSION, NO_DEFINITION
from fcontroller.act.nesting import cut
from fcontroller.api import Answer, Json, Unreachable

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a Pod finds the token of its service account and the cluster's certificate."""
_TIMEOUT = 30
_LONG_AGO = datetime.fromtimestamp(0, UTC)
_SHOWN = 200
"""Bytes of an answer that cannot be understood that are shown."""
_ANSWER_BYTES = 8 * 1024 * 1024
"""What an answer may have at most: four times what etcd holds. Whoever answers without an end does not fill the memory."""


class NoServer(Exception):
    """Nothing says where the API server is, or what says it is wrong."""


class Server(NamedTuple):
    """An API server, as one user."""

    url: str
    tls: Callable[[], ssl.SSLContext] | None
    """Asked for each connection to an https URL: certificates rotate. None: as for any server on the web."""
    headers: Callable[[], Mapping[str, str]]
    """Asked for with each request: tokens rotate."""
    name: str | None = None
    """Whom its certificate is for, if that is not the URL's host; `get` goes by the host."""

    def get(self, path: str) -> Answer:
        """Send one GET request over a connection of its own. Raises Unreachable."""
        parts = urlsplit(self.url)
        connection = HTTPConnection(parts.hostname or "", parts.port, _TIMEOUT)
        try:
            if parts.scheme == "https":
                connection = HTTPSConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT, context=self.tls and self.tls())
            connection.request("GET", parts.path.rstrip("/") + path, headers={"Accept": "application/json", **self.headers()})
            with connection.getresponse() as response:  # Where it has no length, closing the connection does not close it.
                text = response.read(_ANSWER_BYTES + 1)
            if len(text) > _ANSWER_BYTES:
                raise ValueError("the answer is too large")
            return Answer(response.status, _object(response.status, path, text))
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            raise Unreachable(f"{self.url}: {error or type(error).__name__}") from error
        finally:
            connection.close()


def _object(code: int, path: str, text: bytes) -> Json:
    """Return the object of an answer. A proxy may have answered, or a server that does not know the kind. Raises ValueError.

    In `managedFields`, which anybody may write, an API server keeps bytes of any kind, nested as deep as they come.
    """
    with contextlib.suppress(ValueError, RecursionError):
        if isinstance(value := json.loads(cut(text).decode(errors="replace")), dict):
            return value
    raise ValueError(no_object(code, path, text))


def no_object(code: int, path: str, text: bytes) -> str:
    """Return what is said of an answer that holds no object."""
    if code == 404 and path.startswith(f"/apis/{API_VERSION}/"):
        return f"{beginning(text)}: {NO_DEFINITION}"
    return f"{code}, and what follows is not an object: {beginning(text)}"


def beginning(text: bytes) -> str:
    """Return what is shown of an answer that cannot be understood, in one line."""
    line = " ".join(text[:_SHOWN].decode(errors="replace").split())
    return f"{line} …" if len(text) > _SHOWN else line


def server_of(configuration: Any) -> Server:
    """Return the server of a `kubernetes.client.Configuration`. A token's file may end with a line end. Raises OSError."""
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if not configuration.verify_ssl:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)

    def headers() -> dict[str, str]:
        ways = configuration.auth_settings().values()
        return {way["key"]: way["value"].strip() for way in ways if way["in"] == "header" and way["value"]}

    return Server(configuration.host, lambda: context, headers, configuration.tls_server_name)


def find_server(environment: Mapping[str, str], account: Path = ACCOUNT) -> Server:
    """Return the API server that the environment names by address or kubeconfig, or else that of the Pod's cluster. Raises NoServer."""
    return look_up(environment, "", environment.get("KUBE_APISERVER_ADDRESS", ""), account)


def look_up(environment: Mapping[str, str], kubeconfig: str, address: str, account: Path = ACCOUNT) -> Server:
    """Return the API server of a kubeconfig, or else that of the Pod's cluster. Raises NoServer.

    :param kubeconfig: default: KUBECONFIG, or ~/.kube/config where it is there. What is named must be there.
    :param address: overrides the server's address; without a kubeconfig, requests are then anonymous.
    """
    files = kubeconfig or environment.get("KUBECONFIG", "")
    home = environment.get("HOME") or environment.get("USERPROFILE", "/")
    default = os.path.join(home, ".kube", "config")
    if files or os.path.exists(default):
        server = _of_kubeconfig(files or default, address)
        if not (address or server.url):
            raise NoServer(f"{files or default}: the cluster of its context has no `server`")
        return server._replace(url=address or server.url)
    return Server(address, None, dict) if address else _around(environment, account)


def _around(environment: Mapping[str, str], account: Path) -> Server:
    trusted = account / "ca.crt"

    @lru_cache(1)
    def trusting(_: bytes) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(trusted))

    def tls() -> ssl.SSLContext:
        return trusting(trusted.read_bytes())  # The cluster's certificate rotates too.

    def headers() -> dict[str, str]:
        token = (account / "token").read_text().strip()
        if not token:
            raise ValueError(f"{account / 'token'} is empty")
        return {"Authorization": f"Bearer {token}"}

    none = "no kubeconfig, and no cluster around this process"
    host, port = (environment.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
    if not host or not port:
        raise NoServer(f"{none} (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, as they are in a Pod)")
    try:
        tls()
        headers()
    except (OSError, ValueError) as error:
        why = f"{trusted} and token: {error}: does the Pod have a service account, and its token mounted?"
        raise NoServer(f"{none} ({why})") from None
    return Server(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}", tls, headers)


def _of_kubeconfig(files: str, address: str) -> Server:
    if not any(os.path.exists(os.path.expanduser(file)) for file in files.split(os.pathsep)):
        raise NoServer(f"no kubeconfig: {files} is not there")

    from kubernetes import client, config  # Exec plugins and all; not needed in a Pod.
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger
    from yaml import YAMLError

    found = client.Configuration()
    found.host = ""  # Versions before 36 say localhost where a kubeconfig names no server.
    try:
        loader = KubeConfigLoader(KubeConfigMerger(files).config, config_base_path=None)  # type: ignore[no-untyped-call]
        loader.load_and_set(found)  # type: ignore[no-untyped-call]
        if not address and "proxy-url" in (loader._cluster or {}):
            direct = "name a server that is reached without one, with --kube-api-server-address or $KUBE_APISERVER_ADDRESS"
            raise ValueError(f"the cluster of its context has a `proxy-url`, and no proxy is used here: {direct}")
        user = loader._user or {}
        if "tokenFile" in user and "token" not in user:
            if not found.api_key:
                raise ValueError(f"the tokenFile {user['tokenFile']} is empty")
            loader.expiry = _LONG_AGO  # It is read again whenever it is asked for; the library reads it once.
        return server_of(found)
    except (config.ConfigException, OSError, YAMLError, ValueError) as error:
        raise NoServer(f"{files}: {str(error).removesuffix('.')}") from None
    # The library reads what it is given, and trips over what is no kubeconfig: what Python says of that helps nobody.
    except (ArithmeticError, AttributeError, LookupError, TypeError):
        raise NoServer(f"{files}: this is no kubeconfig, or its parts are of wrong types") from None
