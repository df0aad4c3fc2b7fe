"""`fcompile argocd doctor`: what Argo CD would do with a folder, without Argo CD."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from fcompile.cli import main
from fcompile.commands.argocd import checkout
from fcompile.commands.argocd import doctor as doctors
from fcompile.commands.argocd import sandbox as sandboxes
from fcompile.commands.argocd.checkout import common_root, leading_out, pack, unpack
from fcompile.commands.argocd.sandbox import Sandbox, sandbox
from tests.argocd.tools import tool
from tests.test_cli import SERVICE, good

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "repository" / "apps" / "lab"
    folder.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (folder / "train.yaml").write_text(good())
    (folder / "service.yaml").write_text(SERVICE)
    return folder


def doctor(app: Path, *more: str) -> int:
    return main(["argocd", "doctor", str(app), *more])


def test_an_application_that_is_well(app: Path, capsys: Capture) -> None:
    assert doctor(app, "-p", "train/worker.taskNumber=2", "-p", 'train/worker.task.pod.metadata.annotations["a/b"]=c=d') == 0
    out = capsys.readouterr().out
    assert "error" not in out
    assert "note     apps/lab in the repository" in out
    assert "discover: train.yaml holds a Framework" in out
    # Without that, Argo CD takes the folder for plain files while the sidecar starts anew.
    assert "note     discover: name the plugin in the Application: " in out
    assert "generate: 2 objects (1 Framework, 1 Service)" in out
    assert "the same twice at once" in out
    assert "announced" in out


def test_no_module_of_the_repository_is_imported(app: Path, tmp_path: Path, capsys: Capture) -> None:
    """Python looks into the current folder first, which is that of the application."""
    for name in ("argparse", "yaml", "fcompile", "json"):
        (app / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit\n")
    assert doctor(app) == 0, capsys.readouterr().out
    assert not (tmp_path / "ran").exists()


def test_what_would_go_wrong(app: Path, capsys: Capture) -> None:
    (app / "train.yaml").write_text(good().replace("busybox", "busybox\n            imago: b"))
    (app.parent / "elsewhere").symlink_to("/etc")
    assert doctor(app, "-p", "nonsense=1") == 1
    out = capsys.readouterr().out
    assert "error    links: apps/elsewhere leads out of the repository" in out
    assert "error    generate: exit code" in out
    assert "parameter `nonsense`: unknown" in out
    assert doctor(app) == 1
    assert "train.yaml:15:13: error[FC101]" in capsys.readouterr().out


def test_a_folder_without_files(app: Path, capsys: Capture) -> None:
    empty = app / "empty"
    (empty / "within").mkdir(parents=True)
    assert doctor(empty) == 1
    out = capsys.readouterr().out
    assert "holds no file: there is nothing that Argo CD could send" in out
    (empty / "README.md").write_text("# nothing\n")
    assert doctor(empty) == 1
    captured = capsys.readouterr()
    assert "error    generate: exit code 1\n         fcompile: no Framework found in this application" in captured.out
    assert "fcompile-doctor-" not in captured.out + captured.err


def test_no_framework(app: Path, capsys: Capture) -> None:
    """An Application that names the plugin fails as well: Argo CD asks `discover` first."""
    (app / "train.yaml").unlink()
    assert doctor(app) == 1
    assert "warning  discover: no Framework: " in (out := capsys.readouterr().out)
    assert "`could not find cmp-server plugin`" in out
    assert doctor(app, "-p", "allow-empty=true") == 0
    out = capsys.readouterr().out
    assert "ok       discover: no Framework, which is fine by the parameter allow-empty" in out
    assert "ok       generate: 1 object (1 Service)" in out


def test_many_links(app: Path, capsys: Capture) -> None:
    for number in range(30):
        (app / str(number)).symlink_to("/etc")
    assert doctor(app) == 1
    out = capsys.readouterr().out
    assert out.count("leads out of the repository") == 10
    assert "error    links: 20 more lead out of it\n" in out


@pytest.mark.parametrize(
    ("change", "twice"),
    [
        (("v1", "v1"), True),
        (("v1", "v1beta1"), True),  # Argo CD knows objects by their group, not by its version
        (("v1", "serving.example.com/v1"), False),
        (("  name: web", "  namespace: other\n  name: web"), False),
        (("name: web", "name: web-2"), False),
    ],
)
def test_objects_that_are_there_twice(app: Path, capsys: Capture, change: tuple[str, str], twice: bool) -> None:
    (app / "again.yaml").write_text(SERVICE.replace(*change, 1))
    assert doctor(app) == 0
    assert ("warning  generate: Service web is there more than once" in capsys.readouterr().out) is twice


@pytest.mark.parametrize(
    "metadata", ["", "metadata:\n", "metadata: web\n", "metadata: {generateName: web-}\n", "metadata: {name: [web]}\n"]
)
def test_objects_without_a_name(app: Path, capsys: Capture, metadata: str) -> None:
    for name in ("skaffold", "other"):
        (app / f"{name}.yaml").write_text(f"apiVersion: skaffold/v4beta6\nkind: Config\n{metadata}")
    assert doctor(app) == 0
    out = capsys.readouterr().out
    assert "generate: 4 objects (2 Config, 1 Framework, 1 Service)" in out
    assert "is there more than once" not in out
    assert ("warning  generate: a Config has no `metadata.name`: no API server takes it" in out) is ("generateName" not in metadata)


def test_a_time_to_live(app: Path, capsys: Capture) -> None:
    (app / "train.yaml").write_text(good().replace("spec:\n", "spec:\n  ttlSecondsAfterFinished: 60\n", 1))
    assert doctor(app) == 0
    out = capsys.readouterr().out
    assert "warning  generate: train.yaml:5:28: ttlSecondsAfterFinished 60 of Framework train: the controller deletes no" in out
    assert "generate says" not in out


@pytest.mark.parametrize(
    ("annotation", "app", "expected"),
    [
        # Those of Argo CD's own test, reposerver/repository/utils_test.go.
        (".", "services/helloworld", "services/helloworld"),
        ("../../overlays;.", "services/helloworld", ""),
        ("/services;.", "services/helloworld", "services"),
        ("../../;..;.", "services/team/helloworld", "services"),
        ("", "services/helloworld", "services/helloworld"),
        ("./manifests", "services/team/helloworld", "services/team/helloworld"),
        ("/services/shared/*-secret.yaml", "services/helloworld", "services"),
        ("../*", "services/helloworld", "services"),
        ("//services/shared/*-secret.yaml", "services/helloworld", "services"),
        # More than it has: out of the repository, and a path above that comes too late.
        ("../../../../etc", "services/helloworld", ""),
        ("../shared;/", "services/helloworld", "services"),
        ("/;../shared", "services/helloworld", ""),
    ],
)
def test_what_manifest_generate_paths_have_in_common(annotation: str, app: str, expected: str, tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    assert common_root(root, os.path.join(root, app), annotation) == os.path.normpath(os.path.join(root, expected))


def test_a_link_in_manifest_generate_paths_is_followed(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    (tmp_path / "teams" / "shared").mkdir(parents=True)
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "linked").symlink_to("../teams/shared")
    assert common_root(root, os.path.join(root, "apps", "lab"), "/apps/linked") == root


def test_what_manifest_generate_paths_send(app: Path, capsys: Capture) -> None:
    """Measured for this application, and `generate` is called with no more than that."""
    (app.parents[1] / "elsewhere.txt").write_text("x")
    (app.parent / "shared").mkdir()
    (app.parent / "shared" / "values.yaml").write_text("a: b\n")
    setting = "only with reposerver.plugin.use.manifest.generate.paths in argocd-cmd-params-cm"
    assert doctor(app, "--manifest-generate-paths", ".") == 0
    out = capsys.readouterr().out
    assert "ok       sending: 4 files" in out
    assert "ok       sending to generate: all below apps/lab, the common root of the paths: 2 files" in out
    assert setting in out
    assert doctor(app, "--manifest-generate-paths", ".;../shared") == 0
    assert "all below apps, the common root of the paths: 3 files" in capsys.readouterr().out
    assert doctor(app, "--manifest-generate-paths", "/elsewhere.txt; .") == 0
    out = capsys.readouterr().out
    assert "sending to generate: the whole repository: 4 files" in out
    assert "warning  sending: in manifest-generate-paths, the space in ' .' is taken for a part of the name" in out


def test_paths_that_leave_out_what_is_needed(app: Path, capsys: Capture) -> None:
    base = app.parent / "base"
    base.mkdir()
    (app / "train.yaml").rename(base / "train.yaml")
    (base / "kustomization.yaml").write_text("resources: [train.yaml]\n")
    (app / "kustomization.yaml").write_text("resources: [../base, service.yaml]\n")
    tool("kustomize")
    assert doctor(app, "--manifest-generate-paths", ".") == 1
    assert "error    generate: exit code 1" in capsys.readouterr().out
    assert doctor(app, "--manifest-generate-paths", ".;../base") == 0, capsys.readouterr().out


def test_paths_that_are_not_there(app: Path, capsys: Capture) -> None:
    assert doctor(app, "--manifest-generate-paths", ".,../bad;/nope;/apps/*/train.yaml;*.yaml") == 0
    out = capsys.readouterr().out
    assert "warning  sending: manifest-generate-paths has .,../bad, which is not there; paths are divided by `;`" in out
    assert "has /nope, which is not there" in out
    assert out.count("is not there") == 2


def test_what_git_ignores_is_in_no_checkout(app: Path, tmp_path: Path, capsys: Capture) -> None:
    """A virtual environment in the repository has thousands of files, and links that lead out."""
    root = app.parents[1]
    (root / ".git").rmdir()
    ran = tmp_path / "ran"
    for command in (["init", "-q"], ["config", "core.fsmonitor", f"touch {ran}"]):
        subprocess.run(["git", *command], cwd=root, check=True, timeout=60)
    (root / ".gitignore").write_text("/.venv/\n*.log\n")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    (app / "a.log").write_text("x")
    (app / "outside").symlink_to("/etc")
    assert doctor(app, "--manifest-generate-paths", ".") == 1
    out = capsys.readouterr().out
    assert "note     what git ignores is not in a checkout, and is left out: .venv, apps/lab/a.log\n" in out
    assert "error    links: apps/lab/outside leads out" in out
    assert "python" not in out
    (app / "outside").unlink()
    assert doctor(app, "--manifest-generate-paths", ".") == 0
    assert "all below apps/lab, the common root of the paths: 2 files" in capsys.readouterr().out
    assert not ran.exists(), "nothing that a repository's configuration names is run"


def test_git_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True, timeout=60)
    os.mkfifo(tmp_path / "excludes")
    subprocess.run(["git", "config", "core.excludesFile", str(tmp_path / "excludes")], cwd=tmp_path, check=True, timeout=60)
    monkeypatch.setattr(checkout, "GIT_SECONDS", 0.5)
    assert checkout.ignored(str(tmp_path)) == frozenset()


def test_without_git_everything_counts(app: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (app / "elsewhere").symlink_to("/etc")
    monkeypatch.setenv("PATH", str(app))
    assert doctor(app) == 1
    assert "error    links: apps/lab/elsewhere leads out" in capsys.readouterr().out


def test_a_large_repository(app: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctors, "LARGE", 1)
    assert doctor(app) == 0
    advice = "; try --manifest-generate-paths: with the annotation argocd.argoproj.io/manifest-generate-paths and reposerver.plugin"
    assert advice in capsys.readouterr().out
    assert doctor(app, "--manifest-generate-paths", ".") == 0
    out = capsys.readouterr().out
    assert "warning  sending: 2 files" in out
    assert "warning  sending to generate: all below apps/lab" in out
    assert "try --" not in out


def test_wrong_use(app: Path, capsys: Capture) -> None:
    assert doctor(app / "nowhere") == 2
    capsys.readouterr()
    assert doctor(app, "-p", "x") == 2
    assert capsys.readouterr() == ("", "fcompile: --parameter x: write NAME=VALUE\n")


def test_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole group is ended, and what does not heed SIGTERM is killed."""
    monkeypatch.setattr(sandboxes, "GRACE", 0.5)
    script = "trap '' TERM; (echo here; sleep 600) & echo here; wait"
    (ran,) = Sandbox().run([["/bin/sh", "-c", script]], str(tmp_path), {"PATH": os.environ["PATH"]}, 3)
    assert (ran.late, ran.code, ran.out) == (True, -9, b"here\nhere\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_what_is_ended_leaves_nothing(app: Path, tmp_path: Path, number: int, code: int) -> None:
    """The copy of the repository is gone, and so are the processes of the plugin."""
    copies = tmp_path / "copies"
    copies.mkdir()
    plugin = "import os, sys, time; open(sys.argv[-1], 'w').write(str(os.getpid())); time.sleep(600)"
    script = f"""
import sys
from fcompile.cli import main
from fcompile.commands.argocd import doctor
from fcompile.commands.argocd.sandbox import Sandbox
start = Sandbox._start
slow = [sys.executable, "-c", {plugin!r}, {str(tmp_path / "pid")!r}]
doctor.sandbox = Sandbox
Sandbox._start = lambda self, command, *rest: start(self, slow, *rest)
sys.exit(main(["argocd", "doctor", {str(app)!r}]))
"""
    ending = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(copies)}, stderr=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert ending.poll() is None
        time.sleep(0.05)
    assert [path.stat().st_mode & 0o777 for path in copies.iterdir()] == [0o700]
    ending.send_signal(number)
    assert ending.wait(30) == code
    assert list(copies.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_nobody_else_may_read_the_copy() -> None:
    """There are files in it that only their owner may read where they come from; the plugin's user must."""
    box = sandbox()
    if any("the user" in note for note in box.notes):
        pytest.skip("; ".join(box.notes))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a").write_text("here")
        box.let_in(folder)
        assert Path(folder).stat().st_mode & 0o777 == 0o710
        (ran,) = box.run([["/bin/cat", f"{folder}/a"]], "/", {}, 30)
    assert (ran.code, ran.out) == (0, b"here")


def test_nothing_but_temporary_files_can_be_written(tmp_path: Path, repository: Path) -> None:
    box = sandbox()
    if any("read-only" in note for note in box.notes):
        pytest.skip("; ".join(box.notes))
    names = [f"/{tmp_path.name}", f"/etc/{tmp_path.name}"]
    script = "import os, sys\nfor name in sys.argv[1:]: os.close(os.open(name, os.O_CREAT | os.O_WRONLY))"
    for name in names:
        (ran,) = box.run([[sys.executable, "-c", script, name]], "/", {}, 30)
        assert b"Read-only file system" in ran.said or b"Permission denied" in ran.said
        assert not Path(name).exists()
    (ran,) = box.run([[sys.executable, "-c", "import tempfile; tempfile.TemporaryFile()"]], "/", {}, 30)
    assert ran.code == 0


def test_a_repository_arrives_as_it_was_but_for_its_modes(app: Path, tmp_path: Path) -> None:
    (app / "tool").write_text("#!/bin/sh\n")
    (app / "tool").chmod(0o700)
    (app / "link.yaml").symlink_to("train.yaml")
    os.mkfifo(app / "pipe")
    root = app.parents[1]
    assert pack(str(root), str(tmp_path / "a.tgz")) == 4
    unpack(str(tmp_path / "a.tgz"), str(tmp_path / "there"))
    there = tmp_path / "there" / "apps" / "lab"
    assert sorted(path.name for path in there.iterdir()) == ["link.yaml", "service.yaml", "tool", "train.yaml"]
    assert (there / "tool").stat().st_mode & 0o777 == 0o644
    assert os.readlink(there / "link.yaml") == "train.yaml"


def test_unpacking_changes_no_mode_behind_a_link(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    root = tmp_path / "repository"
    root.mkdir()
    (root / "elsewhere").symlink_to(os.path.join("..", "private"))
    (tmp_path / "there").mkdir()
    pack(str(root), str(tmp_path / "a.tgz"))
    unpack(str(tmp_path / "a.tgz"), str(tmp_path / "there"))
    assert (tmp_path / "there" / "elsewhere").is_symlink()
    assert private.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("target", "out"), [("../../.git", False), ("../../..", True), ("../../../repository/apps", True), ("/etc", True), ("a", False)]
)
def test_which_links_argo_cd_refuses(app: Path, target: str, out: bool) -> None:
    (app / "link").symlink_to(target)
    assert list(leading_out(str(app.parents[1]))) == (["apps/lab/link"] if out else [])
