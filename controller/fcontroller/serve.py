"""What is asked from outside: /metrics by Prometheus, /healthz and /readyz by the kubelet.

It is on the same event loop as everything else: when that hangs, nobody answers, and the kubelet begins the Pod anew.
"""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from fcontroller.metrics import CONTENT_TYPE, Metrics


class Unlistenable(Exception):
    """The address cannot be listened to."""


async def serve(address: str, metrics: Metrics, alive: Callable[[], str], ready: Callable[[], str]) -> web.AppRunner:
    """Begin to answer at `HOST:PORT` (no host: at all addresses). Raises Unlistenable.

    :param alive: why the process should be begun anew, or the empty string. :param ready: the same for why it cannot be relied on.
    """
    host, _, port = address.rpartition(":")
    app = web.Application()

    def probe(trouble: Callable[[], str]) -> Callable[[web.Request], object]:
        async def answer(_: web.Request) -> web.Response:
            said = trouble()
            return web.Response(text=f"{said or 'ok'}\n", status=503 if said else 200)

        return answer

    async def scraped(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    app.router.add_get("/metrics", scraped)
    app.router.add_get("/healthz", probe(alive))  # type: ignore[arg-type]
    app.router.add_get("/readyz", probe(ready))  # type: ignore[arg-type]
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host.strip("[]") or None, int(port)).start()
    except (OSError, ValueError) as error:
        await runner.cleanup()
        raise Unlistenable(f"--listen {address}: {error}") from None
    return runner
