"""The plugin's commands, run exactly as Argo CD's plugin server runs them: in the application's folder, in a process group of their
own, with the environment of the sidecar and what Argo CD adds to it, and ended by signals to the group when the deadline has passed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from fcompile.load import values
from tests.laws import run


class Answer(NamedTuple):
    code: int
    out: str
    said: str

    @property
    def objects(self) -> list[Any]:
        """The manifests, as Argo CD splits them."""
        return values(self.out.encode())

    def by_name(self) -> dict[str, Any]:
        return {f"{value['kind']}/{value['metadata']['name']}": value for value in self.objects}


def environment(source_path: str = "", parameters: Any = None, **variables: str) -> dict[str, str]:
    """What a command finds in its environment. `parameters` None: the Application has no `plugin` section."""
    sidecar = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": "/", "PYTHONDONTWRITEBYTECODE": "1"}
    added = {
        "ARGOCD_APP_NAME": "lab",
        "ARGOCD_APP_NAMESPACE": "research",
        "ARGOCD_APP_PROJECT_NAME": "default",
        "ARGOCD_APP_REVISION": "0123456789abcdef0123456789abcdef01234567",
        "ARGOCD_APP_REVISION_SHORT": "0123456",
        "ARGOCD_APP_REVISION_SHORT_8": "01234567",
        "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/lab.git",
        "ARGOCD_APP_SOURCE_PATH": source_path,
        "ARGOCD_APP_SOURCE_TARGET_REVISION": "HEAD",
        "KUBE_VERSION": "1.36.3",
        "KUBE_API_VERSIONS": "v1,apps/v1,frameworkcontroller.microsoft.com/v1",
    }
    if parameters is not None:
        added["ARGOCD_APP_PARAMETERS"] = json.dumps(parameters)
    return {**sidecar, **added, **variables}


def call(action: str, folder: Path, env: Mapping[str, str] | None = None, *, deadline: float = 60, grace: float = 5) -> Answer:
    """One command of the plugin, to its end."""
    command: Sequence[str] = [sys.executable, "-m", "fcompile", "argocd", action]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment() if env is None else dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        text=True,
    )
    timers = [threading.Timer(when, _signal, (process.pid, number)) for when, number in ((deadline, 15), (deadline + grace, 9))]
    for timer in timers:
        timer.start()
    out, said = process.communicate()
    for timer in timers:
        timer.cancel()
    return Answer(process.returncode, out.removesuffix("\n"), said)


def inside(action: str, folder: Path, env: Mapping[str, str]) -> Answer:
    """The same within this process, which is quicker."""
    with contextlib.chdir(folder), mock.patch.dict(os.environ, env, clear=True):
        ran = run(["argocd", action])
    return Answer(ran.code, ran.out.decode().removesuffix("\n"), ran.err)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.Signals(number))
