"""The client of the test cluster, when the server is killed."""

from __future__ import annotations

import gc
import socket
import struct
import threading

import pytest
import urllib3

from tests.cluster import Cluster
from tests.cluster.api import Api


def test_nothing_stays_open_of_a_server_that_hangs_up(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=hang_up, args=[server])
        thread.start()
        api = Api(server.getsockname()[1], cluster.folder / "certificates" / "apiserver.crt", "")
        for _ in range(50):
            with pytest.raises(urllib3.exceptions.HTTPError):
                api.request("GET", "/readyz")
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        gc.collect()  # A socket that is still open is an error now.


def hang_up(server: socket.socket) -> None:
    """Accept connections and reset them."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
