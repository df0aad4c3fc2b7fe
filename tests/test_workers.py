"""A run of all tests has one process more than two cores, and leaves together what belongs together."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from tests import workers
from tests.pseudo_terminal import interruptible

CONFTEST = """
import os, pytest
from tests.workers import in_order

def pytest_collection_modifyitems(config, items):
    for item in items:
        if "quick" in item.path.name:
            item.add_marker("quick")
    in_order(config, items)

@pytest.fixture(autouse=True)
def log(request):
    with open("log", "a") as file:
        print(os.environ.get("PYTEST_XDIST_WORKER", "none"), request.path.name, file=file)
"""
FILES = ("test_a_quick.py", "test_b_slow.py", "test_c_quick.py", "tests/stress/test_d_quick.py", "tests/stress/test_e_quick.py")
TESTS = "import pytest\n\n@pytest.mark.parametrize('number', range(4))\ndef test_it(number): ...\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -n=auto --import-mode=importlib -p tests.workers\nmarkers = quick\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(TESTS)
    return tmp_path


def clean(repository: Path) -> dict[str, str]:
    """The environment of a run that is not part of this one."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | {"PYTHONPATH": str(repository)}


def run(project: Path, repository: Path, *arguments: str, cores: int = 0) -> list[tuple[str, str]]:
    """Run the project's tests; which process had which file, test by test.

    :param cores: as many may be used; 0: all.
    """
    few = set(sorted(os.sched_getaffinity(0))[:cores] if cores else os.sched_getaffinity(0))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=project,
        env=clean(repository),
        preexec_fn=lambda: os.sched_setaffinity(0, few),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in (project / "log").read_text().splitlines()]
    return [(process, name) for process, name in lines]


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody says which cores a process may use")


@pytest.mark.skipif(workers.cores() < 2, reason="there is one core")
def test_four_processes_share_all_tests_by_file(project: Path, repository: Path) -> None:
    by_file = defaultdict(set)
    for process, name in run(project, repository):
        by_file[name].add(process)
    assert set(by_file) == {Path(name).name for name in FILES}
    assert all(len(processes) == 1 for processes in by_file.values())
    assert set().union(*by_file.values()) == {"gw0", "gw1", "gw2", "gw3"}
    assert by_file["test_d_quick.py"] == by_file["test_e_quick.py"]


def test_what_takes_long_begins_first(project: Path, repository: Path) -> None:
    names = [name for _, name in run(project, repository, "-n", "1")]
    assert list(dict.fromkeys(names)) == ["test_d_quick.py", "test_e_quick.py", "test_b_slow.py", "test_a_quick.py", "test_c_quick.py"]


@pytest.mark.parametrize(("arguments", "cores"), [(["test_a_quick.py"], 0), ([], 1)], ids=["a file is named", "there is one core"])
def test_no_other_process(project: Path, repository: Path, arguments: list[str], cores: int) -> None:
    assert {process for process, _ in run(project, repository, *arguments, cores=cores)} == {"none"}


INTERRUPTED = """
import os, pathlib, signal, time

def test_fails(): assert False, "it has failed"

def test_waits():
    while not pathlib.Path("told").exists(): time.sleep(0.02)
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)
"""
TELLS = """
def pytest_runtest_logreport(report):
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        open("told", "w").close()
"""


def test_an_interrupt_shows_what_has_failed(project: Path, repository: Path) -> None:
    """Each warning is an error here, and a plugin warns of processes that were ended."""
    options = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    with (project / "pytest.ini").open("a") as file:
        file.write("\n    ".join(["filterwarnings =", *options["filterwarnings"]]))
    with (project / "conftest.py").open("a") as file:
        file.write(TELLS)
    (project / "test_it.py").write_text(INTERRUPTED)
    command = interruptible(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", "test_it.py", "test_a_quick.py")
    done = subprocess.run(command, cwd=project, env=clean(repository), capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (pytest.ExitCode.INTERRUPTED, "")
    assert "it has failed" in done.stdout
    assert re.search(r"^=+ 1 failed\b.* in ", done.stdout, re.MULTILINE)


def test_one_process_has_all_tests_of_a_cluster_that_it_starts(request: pytest.FixtureRequest, repository: Path) -> None:
    """Of those tests that take part in this run."""
    asking = {item.path for item in request.session.items if "audited_cluster" in getattr(item, "fixturenames", ())}
    assert {workers.unit(path.relative_to(repository).as_posix()) for path in asking} <= {"audited cluster"}


def test_what_stays_together_is_there(repository: Path) -> None:
    assert [path for paths in workers.TOGETHER.values() for path in paths if not (repository / path).exists()] == []
