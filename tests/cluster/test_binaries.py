"""Where a cluster's binaries come from, and what is said when there are none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import Cluster, ClusterError, Unavailable, start
from tests.cluster.binaries import binaries
from tests.cluster.build import COMMANDS, MODULES, build, cached, full_version, module_file, pinned_versions


def say(line: str) -> None:
    raise AssertionError(f"nothing is to be built here, but: {line}")


@pytest.fixture
def without_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that has never built anything, and cannot."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)


@pytest.fixture
def assets(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with all binaries, as KUBEBUILDER_ASSETS."""
    _, paths = binaries(cluster.version, say)
    folder = tmp_path / "assets"
    folder.mkdir()
    for command, path in paths.items():
        (folder / command).symlink_to(path)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    return folder


@pytest.mark.usefixtures("without_go")
def test_without_go_and_binaries_it_says_how_to_get_them() -> None:
    with pytest.raises(Unavailable, match=r"Go is not installed: install Go .*, or set KUBEBUILDER_ASSETS to"):
        binaries(None, say)


@pytest.mark.parametrize(("ci", "wanted"), [("", 0), ("true", 1)])
@pytest.mark.usefixtures("without_go")
def test_tests_are_skipped_in_one_line_then_and_fail_in_ci(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: str, wanted: int
) -> None:
    monkeypatch.setenv("CI", ci)
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text("def test_a(cluster): ...\ndef test_b(own_cluster): ...\ndef test_c(namespace): ...\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.cluster.fixtures", "-ra", "--color=no", "."]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == wanted, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "NO TEST CLUSTER" in line]
    if ci:
        assert "6 errors" in done.stdout
        assert all("CI is set" in line for line in lines)
    else:
        (line,) = lines
        assert line.startswith("SKIPPED [6]")
        assert "https://go.dev/dl" in line


@pytest.mark.parametrize("processes", ["0", "1"])
def test_what_takes_minutes_is_said_at_once(repository: Path, tmp_path: Path, processes: str) -> None:
    (tmp_path / "test_it.py").write_text(
        "from tests.cluster.fixtures import _say\ndef test_it(request): _say(request.config)('it takes minutes')\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "tests.cluster.fixtures", "-n", processes, "test_it.py"]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, (done.stdout + done.stderr).count("\nit takes minutes\n")) == (0, 1)


def test_assets_are_used_and_nothing_is_built(assets: Path, without_go: None, monkeypatch: pytest.MonkeyPatch, cluster: Cluster) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    with start(crd=False, say=say) as other:
        assert other.version == cluster.version
        commands = [Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0] for pid in other.pids.values()]
        assert commands == [str(assets / name) for name in ("etcd", "kube-apiserver", "kube-controller-manager")]
        assert other.environment["PATH"].startswith(str(assets))


def test_what_assets_lack_comes_from_the_cache(assets: Path, cluster: Cluster) -> None:
    (assets / "kube-controller-manager").unlink()
    version, paths = binaries(None, say)
    assert version == cluster.version
    assert paths["kube-controller-manager"] == cached("kube-controller-manager", version)
    assert {path.parent for command, path in paths.items() if command != "kube-controller-manager"} == {assets}


def test_what_assets_lack_is_named(assets: Path, without_go: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    (assets / "kube-controller-manager").unlink()
    with pytest.raises(Unavailable, match=r"^KUBEBUILDER_ASSETS \(.*\) lacks kube-controller-manager; .*Go is not installed"):
        binaries(None, say)


@pytest.mark.usefixtures("assets")
def test_assets_of_another_version_than_the_wanted() -> None:
    with pytest.raises(ClusterError, match=r"KUBEBUILDER_ASSETS has Kubernetes .*, but 1\.9\.0 is wanted"):
        binaries("1.9.0", say)


def test_assets_without_an_api_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    with pytest.raises(ClusterError, match="where no kube-apiserver is"):
        binaries(None, say)


def test_a_server_that_does_not_start_says_why(assets: Path) -> None:
    (assets / "etcd").unlink()
    (assets / "etcd").write_text("#!/bin/sh\necho the disk is on fire\nexit 7\n")
    (assets / "etcd").chmod(0o755)
    with pytest.raises(ClusterError, match=r"etcd ended with exit code 7; it wrote:\nthe disk is on fire"), start(say=say):
        raise AssertionError


def test_versions() -> None:
    assert {"1.25.16", "1.36.3"} <= set(pinned_versions())
    assert [full_version(text) for text in ("1.36.3", "v1.36.3", "1.36", "1.25", "1.30.1")] == [
        "1.36.3",
        "1.36.3",
        "1.36.3",
        "1.25.16",
        "1.30.1",
    ]
    for text in ("1", "1.2.3.4", "1.35", "latest", ""):
        with pytest.raises(ClusterError, match=r"pinned one: 1\.25\.16"):
            full_version(text)


@pytest.mark.network
@pytest.mark.skipif(shutil.which("go") is None, reason="runs Go")
def test_the_pinned_modules_are_those_that_are_made_for_other_versions(tmp_path: Path) -> None:
    assert (MODULES / "1.36.3" / "go.mod").read_text() == module_file("1.36.3", tmp_path)


@pytest.mark.skipif(shutil.which("go") is None, reason="runs Go")
def test_go_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    with pytest.raises(ClusterError, match="module lookup disabled by GOPROXY=off"):
        build(["kubectl"], "1.36.3", lambda _: None)
    assert not any(cached(command, "1.36.3").exists() for command in COMMANDS)


SLOW_GO = """#!/bin/sh
# Stands for a Go that takes its time: what it is asked to build, it makes a file of.
PATH=/usr/bin:/bin
echo begin >>"$0.log"
sleep 0.3
while [ "$1" != -o ]; do shift; done
echo "$3" >"$2"
echo end >>"$0.log"
"""


def test_two_runs_at_once_build_everything_once(without_go: None, tmp_path: Path, repository: Path) -> None:
    go = tmp_path / "bin" / "go"
    go.write_text(SLOW_GO)
    go.chmod(0o755)
    left = cached("kubectl", "1.36.3").parent.parent / "building-killed"
    left.mkdir(parents=True)
    runs = [subprocess.Popen([sys.executable, "-m", "tests.cluster", "build"], cwd=repository, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [run.wait(60) for run in runs] == [0, 0]
    assert Path(f"{go}.log").read_text() == "begin\nend\n" * len(COMMANDS)
    assert cached("kubectl", "1.36.3").read_text() == "k8s.io/kubernetes/cmd/kubectl\n"
    assert not left.exists()
