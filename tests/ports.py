"""Ports for processes that tests start."""

from __future__ import annotations

import contextlib
import secrets
import socket


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens.

    It is none that the kernel gives to connections, of which many are made before the process listens.
    """
    while True:
        port = 20_000 + secrets.randbelow(10_000)  # Not of `random`, which hypothesis seeds in the same way in each process.
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
