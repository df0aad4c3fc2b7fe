"""What is published: the archives, what is in them, and that they work where nothing else is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import fcompile


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints on stdout; fails the test, with what it printed, when it does not exit with 0."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=kept, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a release is, made as .github/workflows/release.yml makes it: the sdist, and the wheel from it."""
    folder = tmp_path_factory.mktemp("release")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, cwd=repository)
    return folder


@pytest.fixture(scope="module")
def sdist(archives: Path) -> Path:
    (archive,) = archives.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    """Built from the unpacked sdist, as pip does: so what the sdist lacks is missed."""
    (archive,) = archives.glob("*.whl")
    return archive


def install(folder: Path, *arguments: str | Path) -> Path:
    """Install into a fresh environment, with the pip of this one: to give each its own takes longer. Returns its scripts' folder."""
    venv.create(folder / "venv")
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python", "--disable-pip-version-check")
    run(*pip, "install", "-q", *arguments, cwd=folder)
    return scripts


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' folder of a fresh environment that holds the wheel and what it depends on."""
    return install(tmp_path_factory.mktemp("installed"), wheel)


def source_files(repository: Path, folder: str) -> set[str]:
    """The files of a folder that belong in the wheel, relative to it."""
    paths = (repository / folder).rglob("*")
    return {path.relative_to(repository / folder).as_posix() for path in paths if path.is_file() and "__pycache__" not in path.parts}


def test_the_wheel_holds_every_file_of_both_packages_and_nothing_else(repository: Path, wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"fcompile/{name}" for name in source_files(repository, "fcompile")}
    wanted |= {f"fcontroller/{name}" for name in source_files(repository, "controller/fcontroller")}
    assert {name for name in names if ".dist-info/" not in name} == wanted
    assert {"fcompile/py.typed", "fcontroller/py.typed", "fcontroller/__init__.py"} <= wanted


def test_the_sdist_holds_what_is_committed_and_nothing_that_lies_beside_it(repository: Path, tmp_path: Path) -> None:
    if not (repository / ".git").exists():
        pytest.skip("no git repository")
    committed = set(run("git", "ls-files", "-z", cwd=repository).split("\0")) - {""}
    for name in committed:
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, tmp_path / "copy" / name, follow_symlinks=False)
    for name in ("kubeconfig", ".env", "notes/todo.txt"):
        (tmp_path / "copy" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "copy" / name).touch()
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path / "dist", cwd=tmp_path / "copy")
    (archive,) = (tmp_path / "dist").iterdir()
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    assert held == committed | {"PKG-INFO"}


def test_no_package_is_called_controller(wheel: Path) -> None:
    assert {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()} == {
        "fcompile",
        "fcontroller",
        f"fcompile-{fcompile.__version__}.dist-info",
    }


def test_the_wheel_is_for_every_platform_and_carries_the_licence(wheel: Path) -> None:
    assert wheel.name == f"fcompile-{fcompile.__version__}-py3-none-any.whl"
    archive = zipfile.ZipFile(wheel)
    about = f"fcompile-{fcompile.__version__}.dist-info"
    metadata = archive.read(f"{about}/METADATA").decode()
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata
    required = re.findall(r"^Requires-Dist: ([^;\n]*)$", metadata, re.MULTILINE)
    assert [re.split(r"[<>=]", name)[0] for name in required] == ["click", "jinja2", "pyyaml"], "the compiler depends on nothing else"
    assert "The fcompile authors" in archive.read(f"{about}/licenses/LICENSE").decode()


@pytest.mark.network
def test_the_installed_scripts_work(repository: Path, installed: Path, tmp_path: Path) -> None:
    for script in ("fcompile", "kubectl-fcompile"):
        assert run(installed / script, "--version", cwd=tmp_path) == f"fcompile {fcompile.__version__}\n"
    assert run(installed / "python", "-m", "fcompile", "--version", cwd=tmp_path) == f"fcompile {fcompile.__version__}\n"
    assert run(installed / "fcontroller", "--version", cwd=tmp_path) == f"fcontroller {fcompile.__version__}\n"
    assert run(installed / "kubectl_complete-fcompile", "rul", cwd=tmp_path) == "rule\texplain a diagnostic\n:4\n"
    assert run(installed / "fcompile", "completion", "bash", cwd=tmp_path).startswith("# Completion")
    # Without the extras there are commands that say what they need.
    for script, command, extra in (("fcontroller", "run", "controller"), ("fcompile", "convert .", "convert")):
        line = [str(installed / script), *command.split()]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        told = rf"{script}: [\w.]+ is not installed: it comes with the extra `{extra}`: in a clone `pip install .*`, else see .*\n"
        assert re.fullmatch(told, done.stderr)
    # Exercises the data that the package carries: the Pod's fields for each version of Kubernetes.
    run(installed / "fcompile", "validate", "--strict", repository / "tests/data/mixture/frameworks/train.yaml", cwd=tmp_path)


@pytest.mark.network
def test_the_readmes_first_command_works_in_a_copy_of_what_is_published(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    text = (source / "README.md").read_text("utf-8")
    command, after = re.findall(r"^(?:python3 -m venv .*)?\.venv/bin/fcompile .*$", text, re.MULTILINE)
    command = command.replace("python3 ", f"'{sys.executable}' ", 1)
    printed = run("sh", "-c", f"{command}; [ $? -eq 1 ]", cwd=source)
    assert "error[FC101]" in printed
    assert printed.count("\n") < 12, "a person can take it in"
    printed = run("sh", "-c", after, cwd=source)
    assert "kind: Pod" in printed
    assert printed.count("\n") < 40


def test_extras_are_in_one_place(repository: Path) -> None:
    """And nowhere is one asked of an index, where nothing is."""
    extras = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    page = (repository / "docs" / "install.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(extras)
    texts = [repository / "README.md", *(repository / "docs").rglob("*.md"), *(repository / "fcompile").rglob("*.py")]
    for path in texts:
        assert not re.search(r"install '?fcompile(?:\[\w+\])?'?[^-\w @\[]", path.read_text("utf-8")), path


def test_the_locks_agree(repository: Path) -> None:
    """`uv sync` and `pip install -r requirements-dev.txt` give the same versions of the same files, and both give all that is asked for."""
    lock = tomllib.loads((repository / "uv.lock").read_text("utf-8"))
    locked = [package for package in lock["package"] if package["name"] != "fcompile"]
    text = (repository / "requirements-dev.txt").read_text("utf-8")
    # One package may be there in two versions, for different Pythons.
    pinned = set(re.findall(r"^([a-z0-9-]+)==([^ ]+)", text, re.MULTILINE))
    assert pinned == {(package["name"], package["version"]) for package in locked}
    archives = [archive for package in locked for archive in package.get("wheels", [])]
    archives += [package["sdist"] for package in locked if "sdist" in package]
    assert set(re.findall(r"sha256:[0-9a-f]{64}", text)) == {archive["hash"] for archive in archives}
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"], *project["optional-dependencies"]["controller"]]
    assert {re.split(r"[<>=[]", name)[0].lower().replace(".", "-").replace("_", "-") for name in asked} <= {"fcompile", *dict(pinned)}


def test_the_lock_names_only_the_public_index(repository: Path) -> None:
    hosts = set(re.findall(r"https?://([^/\"]+)", (repository / "uv.lock").read_text("utf-8")))
    assert hosts == {"pypi.org", "files.pythonhosted.org"}
    assert "://" not in (repository / "requirements-dev.txt").read_text("utf-8")


def test_the_same_commit_makes_the_same_bytes(archives: Path, repository: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, cwd=repository)
    names = sorted(path.name for path in archives.iterdir())
    assert names == [f"fcompile-{fcompile.__version__}-py3-none-any.whl", f"fcompile-{fcompile.__version__}.tar.gz"]
    assert [(tmp_path / name).read_bytes() for name in names] == [(archives / name).read_bytes() for name in names]


@pytest.fixture(scope="module")
def wheelhouse(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that docs/install.md has one fill where there is a network."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    pins = re.findall(r"^([a-z0-9-]+==\S+)(.*?) \\$", (repository / "requirements-dev.txt").read_text("utf-8"), re.MULTILINE)
    (folder / "pins.txt").write_text("".join(f"{pin}{marker}\n" for pin, marker in pins))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    options = ("-q", "--only-binary", ":all:", "-d", folder, "-c", folder / "pins.txt")
    run(*pip, "download", *options, "PyYAML", "Jinja2", "click", "hatchling", cwd=folder)
    return folder


@pytest.mark.network
@pytest.mark.parametrize("suffix", [".whl", ".tar.gz"])
def test_it_installs_where_there_is_no_index(suffix: str, archives: Path, wheelhouse: Path, repository: Path, tmp_path: Path) -> None:
    """As docs/install.md says: nothing but the folder is asked."""
    (archive,) = archives.glob(f"*{suffix}")
    scripts = install(tmp_path, "--no-index", "--find-links", wheelhouse, archive)
    assert run(scripts / "fcompile", "--version", cwd=tmp_path) == f"fcompile {fcompile.__version__}\n"
    run(scripts / "fcompile", "validate", "--require", repository / "examples" / "hello.yaml", cwd=tmp_path)
