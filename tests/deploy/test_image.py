"""The image's steps, done by hand: there is no container engine here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest

from fcompile import __version__
from fcompile.load import values

CONTROLLER, PLUGIN = "deploy/Dockerfile", "plugins/argocd/Dockerfile"


def instructions(repository: Path, dockerfile: str) -> list[tuple[str, str]]:
    """Of a Dockerfile, with continued lines joined, without what is copied from one stage to the next."""
    text = (repository / dockerfile).read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [(instruction, rest.strip()) for instruction, _, rest in (line.partition(" ") for line in lines)]
    return [(instruction, rest) for instruction, rest in pairs if not rest.startswith("--from=")]


@pytest.mark.parametrize("dockerfile", [CONTROLLER, PLUGIN])
def test_what_is_copied_is_sent_to_the_builder(repository: Path, dockerfile: str) -> None:
    sent = [line[1:] for line in (repository / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    copies = [rest for instruction, rest in instructions(repository, dockerfile) if instruction == "COPY"]
    sources = [source for rest in copies for source in rest.split()[:-1]]
    assert [source for source in sources if not any(fnmatch(source, pattern) for pattern in sent)] == []
    assert all((repository / source).exists() for source in sources)


@pytest.mark.parametrize("dockerfile", [CONTROLLER, PLUGIN])
def test_images_are_named_by_their_digest(repository: Path, dockerfile: str) -> None:
    """Those that are built on: the digest has no default, and where it should stand nothing else can be written."""
    before = list(takewhile(lambda step: step[0] != "FROM", instructions(repository, dockerfile)))
    given = {rest for instruction, rest in before if instruction == "ARG"}
    images = [rest.split()[0] for instruction, rest in instructions(repository, dockerfile) if instruction == "FROM"]
    assert images
    for image in images:
        digest = re.fullmatch(r"[a-z0-9./]+:[a-z0-9.-]+@\$\{(\w+_DIGEST)\}", image)
        assert digest is not None, image
        assert digest[1] in given


@pytest.mark.parametrize("folder", ["deploy", "docs", "examples", "fcompile", "plugins", "schemas"])
def test_no_image_is_the_latest(repository: Path, folder: str) -> None:
    for path in (repository / folder).rglob("*"):
        if path.suffix in (".yaml", ".md", ".py", "") and path.is_file() and "diagnostics" not in path.parts:
            for line in path.read_text("utf-8", "replace").splitlines():
                image = re.search(r"""(?:\bimage["']?:\s*|^FROM\s+|newTag:\s*|-t\s+)["']?([^\s"',}]+)""", line)
                assert image is None or not image[1].rpartition(":")[2].startswith("latest"), f"{path}: {line}"


def test_the_folder_of_the_sidecar_has_a_limit(repository: Path) -> None:
    (patch,) = values((repository / "plugins" / "argocd" / "repo-server-patch.yaml").read_bytes())
    assert all("sizeLimit" in volume["emptyDir"] for volume in patch["spec"]["template"]["spec"]["volumes"])


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with pip, as the image has that is built on. Both builds install the same tools into it."""
    folder = tmp_path_factory.mktemp("system")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
    return folder


def carry_out(repository: Path, dockerfile: str, target: str, system: Path, tmp_path: Path) -> dict[str, str]:
    """The steps of the stage `build`, which install into `target`; returns an environment that has nothing but what they made."""
    source, made = tmp_path / "src", tmp_path / "made"
    # Bytecode of a thousand modules takes longer than all else, and few of them are imported here. For pip, 0 is what makes it so.
    environment = {**os.environ, "PATH": f"{system / 'bin'}:{os.environ['PATH']}", "PIP_NO_COMPILE": "0"}
    source.mkdir()
    _, *steps = dropwhile(lambda step: step[0] != "FROM", instructions(repository, dockerfile))
    stage = takewhile(lambda step: step[0] != "FROM", steps)
    for instruction, rest in stage:
        if instruction == "COPY":
            *sources, place = rest.split()
            for name in sources:
                copy(repository / name, source / place)
        elif instruction == "RUN":
            done = subprocess.run(
                ["sh", "-c", rest.replace(target, str(made))], cwd=source, env=environment, capture_output=True, text=True, timeout=600
            )
            assert done.returncode == 0, done.stdout + done.stderr
    return {"PATH": f"{made / 'bin'}:/nowhere", "HOME": "/"}


@pytest.mark.network
def test_the_steps_make_a_controller_that_works(repository: Path, system: Path, tmp_path: Path) -> None:
    clean = carry_out(repository, CONTROLLER, "/opt/fcontroller", system, tmp_path)
    printed = subprocess.run(["fcontroller", "--version"], env=clean, cwd="/", capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout == f"fcontroller {__version__}\n"
    failed = subprocess.run(["fcontroller", "run"], env=clean, cwd="/", capture_output=True, text=True, check=False, timeout=60)
    assert "no kubeconfig, and no cluster around this process" in failed.stderr  # It has come as far as to ask for one.
    about = {"FC_FRAMEWORK_NAMESPACE": "ml", "FC_FRAMEWORK_NAME": "train"}
    waited = subprocess.run(["fcontroller", "barrier"], env=clean | about, cwd="/", capture_output=True, text=True, check=False, timeout=60)
    assert (waited.returncode, waited.stderr.count("\n")) == (1, 1), waited.stderr
    assert "Traceback" not in waited.stderr
    checked = subprocess.run(["fcontroller", "run", "--check"], env=clean, cwd="/", capture_output=True, text=True, check=True, timeout=60)
    assert "leaseName: fcontroller  # default" in checked.stdout


@pytest.mark.network
def test_the_steps_make_a_plugin_that_works(repository: Path, system: Path, tmp_path: Path) -> None:
    """Each command of plugin.yaml, with nothing else installed."""
    clean = carry_out(repository, PLUGIN, "/opt/fcompile", system, tmp_path)
    (tmp_path / "app").mkdir()
    shutil.copy(repository / "examples" / "pytorch-ddp.yaml", tmp_path / "app")
    (plugin,) = values((repository / "plugins" / "argocd" / "plugin.yaml").read_bytes())
    spec = plugin["spec"]
    for command, found in (
        (spec["discover"]["find"], "pytorch"),
        (spec["generate"], "Framework"),
        (spec["parameters"]["dynamic"], "worker"),
    ):
        done = subprocess.run(command["command"], env=clean, cwd=tmp_path / "app", capture_output=True, text=True, check=False, timeout=60)
        assert found in done.stdout, done.stderr


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.mkdir(exist_ok=True)
        shutil.copy(source, target)
