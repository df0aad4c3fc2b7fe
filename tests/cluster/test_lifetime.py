"""Nothing of a cluster outlives those who use it, however they end; and those of one test run use the same."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.test_kubelet import until
from tests.pseudo_terminal import interruptible

# `cluster` so that all is built, and that a machine without a cluster skips.
pytestmark = [
    pytest.mark.usefixtures("cluster"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc"),
]

UP = ("-m", "tests.cluster", "up", "--no-crd")
TESTS = """
import time

def test_a(cluster, worker_id):
    assert cluster.api.request("GET", "/readyz")[0] == 200
    with open("uses", "a") as file:
        print(worker_id, cluster.folder, file=file)
    while len({line.split()[0] for line in open("uses")}) < 2:  # Else the first may give up the cluster before the other begins.
        time.sleep(0.1)

test_b = test_c = test_d = test_a

def test_long(cluster):
    time.sleep(1000)
"""


class Runner:
    """A process that starts a cluster, and what there is of it."""

    def __init__(self, repository: Path, folder: Path, *command: str) -> None:
        self.temporary = folder / "temporary"  # the runner's: so all that it leaves can be seen
        self.temporary.mkdir()
        self.written = folder / "written"
        environment = {**os.environ, "TMPDIR": str(self.temporary), "PYTHONPATH": str(repository)}
        with self.written.open("wb") as output:
            self.process = subprocess.Popen(
                interruptible(sys.executable, *command), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def wait_for(self, pattern: str) -> Path:
        """Until there is such a file of the cluster."""
        until(lambda: any(self.temporary.glob(f"fcompile-cluster-*/{pattern}")) or self.process.poll() is not None, seconds=120)
        assert self.process.poll() is None, self.written.read_text()
        return next(self.temporary.glob(f"fcompile-cluster-*/{pattern}"))

    def processes(self) -> list[int]:
        """The servers of a cluster that is up, and last its keeper."""
        servers: list[int] = list(json.loads(self.wait_for("cluster.json").read_text())["pids"].values())
        return [*servers, int(_stat(servers[0])[1])]

    def left(self) -> list[Path]:
        return list(self.temporary.glob("fcompile-cluster-*"))

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(60)


def _stat(pid: int) -> list[str]:
    """The state of a process, its parent, and so on; Z when there is no such process."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return ["Z"]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if _stat(pid)[0] != "Z"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=["SIGKILL", "SIGTERM", "SIGINT"])
def test_it_ends_with_what_started_it(repository: Path, tmp_path: Path, how: signal.Signals) -> None:
    runner = Runner(repository, tmp_path, *UP)
    processes = runner.processes()
    assert alive(processes) == processes
    assert len(processes) == 4
    streams = [os.readlink(f"/proc/{pid}/fd/{number}") for pid in processes for number in (0, 1, 2)]
    assert str(runner.written) not in streams
    runner.end(how)
    until(lambda: not alive(processes) and not runner.left())


def test_by_hand_it_prints_what_a_shell_needs(repository: Path, tmp_path: Path) -> None:
    runner = Runner(repository, tmp_path, *UP)
    until(lambda: "export PATH=" in runner.written.read_text() or runner.process.poll() is not None, seconds=120)
    exports = [line for line in runner.written.read_text().splitlines() if line.startswith("export ")]
    script = "\n".join([*exports, "kubectl get namespaces -o name"])
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    runner.end(signal.SIGTERM)
    assert "namespace/default" in shell.stdout.splitlines(), shell.stderr


def test_it_ends_with_a_test_run_that_is_killed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    runner = Runner(repository, tmp_path, "-m", "pytest", "-p", "tests.cluster.fixtures", "test_it.py")
    processes = runner.processes()
    runner.end(signal.SIGKILL)
    until(lambda: not alive(processes) and not [path for path in runner.left() if path.is_dir()])


def test_nothing_is_left_of_one_that_was_still_starting(repository: Path, tmp_path: Path) -> None:
    runner = Runner(repository, tmp_path, *UP)
    runner.wait_for("kube-apiserver.log")
    runner.end(signal.SIGKILL)
    until(lambda: not runner.left())


def test_its_servers_end_when_their_keeper_is_killed(repository: Path, tmp_path: Path) -> None:
    runner = Runner(repository, tmp_path, *UP)
    *servers, keeper = runner.processes()
    os.kill(keeper, signal.SIGKILL)
    until(lambda: not alive(servers))
    runner.end(signal.SIGKILL)


def test_all_workers_of_a_test_run_share_one(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    options = ("-n", "2", "--dist", "load", "-k", "not long")
    runner = Runner(repository, tmp_path, "-m", "pytest", "-p", "tests.cluster.fixtures", *options, "test_it.py")
    assert runner.process.wait(120) == 0, runner.written.read_text()
    uses = [line.split() for line in (tmp_path / "uses").read_text().splitlines()]
    assert {worker for worker, _ in uses} == {"gw0", "gw1"}
    assert len({folder for _, folder in uses}) == 1
    until(lambda: not runner.left())
