"""Runs a job of .gitlab-ci.yml as a runner's shell does, against the API of a GitLab that knows one merge request."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.docs.project import Project

Json = dict[str, Any]
TOKEN = "glpat-a-token"
ME = 42
NOTES = "/api/v4/projects/3/merge_requests/7/notes"


class Lab:
    """The notes of the merge request."""

    def __init__(self, notes: list[Json]) -> None:
        self.notes = notes
        self.address = ""

    def answer(self, method: str, path: str, form: dict[str, list[str]]) -> Any:
        """What the API does; None for what is not there."""
        if (method, path) == ("GET", "/api/v4/user"):
            return {"id": ME}
        if (method, path) == ("GET", NOTES):
            return self.notes
        if (method, path) == ("POST", NOTES):
            self.notes.append({"id": 100 + len(self.notes), "author": {"id": ME}, "body": form["body"][0]})
            return self.notes[-1]
        for note in self.notes:
            if (method, path) == ("PUT", f"{NOTES}/{note['id']}") and note["author"]["id"] == ME:
                note["body"] = form["body"][0]
                return note
        return None


@contextmanager
def serving(notes: list[Json]) -> Iterator[Lab]:
    """A GitLab on this machine."""
    lab = Lab(notes)

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode(), strict_parsing=False)
            found = lab.answer(self.command, urlsplit(self.path).path, form) if self.headers["PRIVATE-TOKEN"] == TOKEN else None
            self.send_response(404 if found is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        do_GET = do_POST = do_PUT = handle_any

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        lab.address = f"http://127.0.0.1:{server.server_port}/api/v4"
        yield lab
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run(
    project: Project, recipe: Json, name: str, lab: Lab, on_result: bool = False, token: str = TOKEN
) -> subprocess.CompletedProcess[str]:
    """A job of a merge request's pipeline: on its branch, or on what merging it would give."""
    job = {**recipe[recipe[name]["extends"]], **recipe[name]}
    variables = {**recipe[recipe[name]["extends"]].get("variables", {}), **recipe[name].get("variables", {})}
    workspace = project.folder.parent / "workspace"
    project.checkout(workspace, project.merged if on_result else project.head, int(variables.get("GIT_DEPTH", 20)))
    environment = project.environment(
        **variables,
        CI="true",
        GITLAB_CI="true",
        CI_API_V4_URL=lab.address,
        CI_PIPELINE_SOURCE="merge_request_event",
        CI_MERGE_REQUEST_DIFF_BASE_SHA=project.base,
        CI_MERGE_REQUEST_IID="7",
        CI_MERGE_REQUEST_PROJECT_ID="3",
        **({"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": project.main} if on_result else {}),
        **({"FCOMPILE_NOTES_TOKEN": token} if token else {}),
    )
    script = "\n".join(["set -eo pipefail", *job["before_script"], *job["script"]])
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(["bash", "-c", script], cwd=workspace, env=environment, timeout=120, check=False, **streams)
