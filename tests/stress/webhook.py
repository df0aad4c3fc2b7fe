"""An admission webhook of somebody else: it takes its time over Pods, or sends them away for a while."""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.cluster import Cluster

LABEL = "stress-webhook"
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Webhook:
    """What it does with the Pods that are to be created in each namespace which has its label."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        """It answers so late."""
        self.retry_after: dict[str, int] = {}
        """It refuses, with 429 and this Retry-After."""

    def review(self, request: dict[str, Any]) -> dict[str, Any]:
        namespace = request["namespace"]
        time.sleep(self.seconds.get(namespace, 0))
        wait = self.retry_after.get(namespace)
        if wait is None:
            return {"uid": request["uid"], "allowed": True}
        status = {"code": 429, "reason": "TooManyRequests", "message": "come back later", "details": {"retryAfterSeconds": wait}}
        return {"uid": request["uid"], "allowed": False, "status": status}


@contextlib.contextmanager
def serving(cluster: Cluster) -> Iterator[Webhook]:
    """A webhook that the cluster asks about Pods."""
    webhook = Webhook()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = json.dumps({**asked, "response": webhook.review(asked["request"])}).encode()
            with contextlib.suppress(OSError):  # The server has given up waiting.
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    certificate, key = (cluster.folder / "certificates" / f"apiserver.{what}" for what in ("crt", "key"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = _Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        _register(cluster, f"https://127.0.0.1:{server.server_port}/", certificate.read_bytes())
        yield webhook
    finally:
        cluster.api.request("DELETE", f"{_CONFIGURATIONS}/stress")
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, *_: object) -> None:
        """The server has ended the connection."""


def _register(cluster: Cluster, url: str, certificate: bytes) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    hook = {
        "name": "stress.example.com",
        "clientConfig": {"url": url, "caBundle": base64.b64encode(certificate).decode()},
        "rules": [rule],
        "namespaceSelector": {"matchExpressions": [{"key": LABEL, "operator": "Exists"}]},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": 30,
        "admissionReviewVersions": ["v1"],
    }
    code, answer = cluster.api.request("POST", _CONFIGURATIONS, {"metadata": {"name": "stress"}, "webhooks": [hook]})
    assert code == 201, answer
