"""A browser, where there is one: how wide pages are in windows of several widths."""

from __future__ import annotations

import functools
import html
import http.server
import json
import re
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from tests.argocd.tools import tool

WIDTHS = (360, 420, 600, 768, 900, 1024, 1200, 1400, 1600)
"""In pixels: phones, tablets, halves of screens, screens."""
_PAGE = """<!DOCTYPE html><pre id="found"></pre><script>
const jobs = %s, found = [];
(async () => {
  for (const [page, width] of jobs) {
    const frame = document.createElement("iframe");
    frame.style = `width: ${width}px; height: 900px; border: 0`;
    frame.src = page;
    await new Promise(done => { frame.onload = done; document.body.append(frame); });
    const root = frame.contentDocument.documentElement;
    const cut = [...root.querySelectorAll("body *")].filter(one => frame.contentWindow.getComputedStyle(one).overflowX === "hidden");
    found.push([page, width, Math.max(...[root, ...cut].map(one => one.scrollWidth - one.clientWidth))]);
    frame.remove();
  }
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


def too_wide(folder: Path, pages: Sequence[str], profile: Path) -> list[tuple[str, int, int]]:
    """Return pages below a folder that are scrolled sideways, or cut off: with the width of the window, and by how many pixels.

    :param profile: a folder for what the browser writes.
    """
    browser = tool("chromium")
    wrapper = (_PAGE % json.dumps([(page, width) for page in pages for width in WIDTHS])).encode()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/measure":
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(wrapper)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=600000"]
        done = subprocess.run(
            [browser, *options, "--dump-dom", f"http://127.0.0.1:{server.server_port}/measure"],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    match = re.search(r'<pre id="found">([^<]+)</pre>', done.stdout)
    assert match, done.stderr
    found = json.loads(html.unescape(match[1]))
    assert len(found) == len(pages) * len(WIDTHS)
    return [(page, width, over) for page, width, over in found if over > 0]
