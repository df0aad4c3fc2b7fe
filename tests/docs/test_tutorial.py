"""docs/tutorial.md: everything that it says to type is typed, in its order, and prints what it shows."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fcontroller.api import collection
from tests import test_pre_commit
from tests.argocd.tools import tool
from tests.cluster import Cluster
from tests.cluster.kubelet import Kubelet
from tests.deploy.test_rights import until
from tests.docs.blocks import Block, blocks, file
from tests.docs.console import Reader, agree, commands

hooks = test_pre_commit.hooks
ON_A_CLUSTER = "7. On a cluster"
BESIDE = "In a second terminal, with .venv activated"
NEEDS_ARGOCD = "Where argocd is installed"


@pytest.fixture
def page(repository: Path) -> list[Block]:
    return list(blocks(repository / "docs" / "tutorial.md"))


def parts(page: list[Block]) -> tuple[list[Block], list[Block], list[Block]]:
    """Installing, what needs no cluster, and the rest."""
    sections = list(dict.fromkeys(block.section for block in page))
    first, cluster = sections[0], sections.index(ON_A_CLUSTER)
    local = [block for block in page if block.section != first and sections.index(block.section) < cluster]
    return [block for block in page if block.section == first], local, [block for block in page if sections.index(block.section) >= cluster]


@contextlib.contextmanager
def reading(folder: Path, **environment: str) -> Iterator[Reader]:
    reader = Reader(folder, test_pre_commit.environment(**environment))
    try:
        yield reader
    finally:
        reader.leave()


@pytest.mark.network
def test_installing(page: list[Block], repository: Path, hooks: tuple[Path, str], tmp_path: Path) -> None:
    """From a git repository at a tag; the recipes for CI do it so, too."""
    location, _ = hooks
    test_pre_commit.git(location, "tag", "v0.1.0")
    instead = {"KEY": f"url.{location.as_uri()}.insteadOf", "VALUE": "https://git.example.com/platform/fcompile"}
    variables = {"GIT_CONFIG_COUNT": "1", **{f"GIT_CONFIG_{what}_0": value for what, value in instead.items()}}
    install, _, _ = parts(page)
    with reading(tmp_path, PIP_NO_COMPILE="0", **variables) as reader:  # Which is pip's way to have no bytecode made.
        for block in install:
            reader.follow(block)
        for address, line in recipes(repository):
            _, code = reader.type(f"pip uninstall -qy fcompile && export FCOMPILE={address} && {line}")
            assert code == 0
            assert reader.type("command -v fcompile")[0] == "/home/me/.venv/bin/fcompile\n"


def recipes(repository: Path) -> set[tuple[str, str]]:
    """The address that those for CI have, and the line that installs from there."""
    ci = repository / "docs" / "ci.md"
    workflow = yaml.safe_load(file(ci, ".github/workflows/frameworks.yaml"))
    found = {
        (workflow["env"]["FCOMPILE"], step["run"])
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "pip" in step.get("run", "")
    }
    job = yaml.safe_load(file(ci, ".gitlab-ci.yml"))[".fcompile"]
    return found | {(job["variables"]["FCOMPILE"], line) for line in job["before_script"]}


def test_without_a_cluster(page: list[Block], tmp_path: Path) -> None:
    _, local, _ = parts(page)
    with reading(tmp_path) as reader:
        for block in local:
            reader.follow(block)
        assert reader.type("git status --short")[0] == ""


def test_on_a_cluster(page: list[Block], own_cluster: Cluster, tmp_path: Path) -> None:
    """Argo CD's command line is asked where it is; the rest of its section needs no more than fcompile."""
    _, local, cluster = parts(page)
    programs = tmp_path / "programs"
    programs.mkdir()
    argocd = None
    with contextlib.suppress(pytest.skip.Exception):
        argocd = tool("argocd")
        (programs / "argocd").symlink_to(argocd)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), own_cluster.environment["PATH"]])
    environment = {**own_cluster.environment, "PATH": path}
    with reading(tmp_path, **environment) as reader, Kubelet(own_cluster.api, "default") as kubelet, contextlib.ExitStack() as beside:
        catch_up(reader, local)
        reader.before = lambda command: end_the_workers(kubelet) if "condition=Completed" in command else None
        for block in cluster:
            if block.title == BESIDE:
                # Nobody types so fast that this would matter.
                until(lambda: own_cluster.api.request("GET", collection("frameworks"))[0] == 200, "the definition is not in force")
                beside.enter_context(reader.beside(block))
            elif block.title != NEEDS_ARGOCD or argocd:
                reader.follow(block)
    tool("argocd")  # says what was left out


def catch_up(reader: Reader, page: list[Block]) -> None:
    """Have the files and commits that somebody has who has come so far."""
    for block in page:
        if block.language != "console":
            reader.follow(block)
        for command in commands(block):
            if command.text.startswith(("git ", "mkdir ")):
                assert reader.type(command.text) == ("", 0)


def end_the_workers(kubelet: Kubelet) -> None:
    """The two minutes are over."""
    for index in range(4):
        kubelet.finish(f"train-worker-{index}")


def test_what_is_not_run(page: list[Block]) -> None:
    """All that needs an Argo CD server, and nothing else; its Application has the parameter that is tried."""
    others = [block for block in page if block.language not in ("console", "yaml", "diff")]
    assert {block.section for block in others} == {"8. Under Argo CD"}
    assert all(re.match(r"kubectl .*\b(argocd|application)\b", line) for block in others for line in block.text.splitlines())
    (application,) = [yaml.safe_load(block.text) for block in page if block.title == "../application.yaml"]
    (parameter,) = application["spec"]["source"]["plugin"]["parameters"]
    assert f"-p {parameter['name']}={parameter['string']}\n" in "".join(block.text for block in page)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nb\nc\n", False),
        ("a\n", "", False),
        ("", "a\n", False),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nb\nc\n", False),
        ("a…\n", "ab\n", False),
        ("took 0.5 s\n", "took 12.0 s\n", True),
        ("took 0.5 s\n", "took 12.0 ms\n", False),
        ("3 tasks\n", "4 tasks\n", False),
        ("train   3   6s\n", "train   3   2m9s\n", True),
        ("train   3   6s\n", "train   4   6s\n", False),
    ],
)
def test_how_output_is_compared(shown: str, printed: str, same: bool) -> None:
    assert agree(shown, printed) is same


def test_what_differs_is_found(page: list[Block], tmp_path: Path) -> None:
    """A page that says something else is noticed."""
    block = Block("", "console", "", "$ echo a\n> echo b\na\n> c\n", 1)
    with reading(tmp_path) as reader, pytest.raises(AssertionError, match=r"line 1: \$ echo a"):
        reader.follow(block)
