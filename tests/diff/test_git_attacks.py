"""`diff --git` in a repository of somebody else's: nothing that its configuration names is run, and nothing outside of it is read."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.diff.test_git import Diff, Repository, diff, images, kinds, repository_here

__all__ = ["diff", "repository_here"]

RUN = "touch {}/ran; cat"
"""Leaves a trace, and passes on what it gets, as a filter does."""


@pytest.fixture
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is there once something has run."""
    return tmp_path_factory.mktemp("trace") / "ran"


def changed(repository: Repository) -> None:
    """A commit, and a change of it in the working tree whose size and time say nothing."""
    repository.write("train.yaml")
    repository.put(".gitattributes", "*.yaml filter=evil diff=evil merge=evil\n")
    repository.commit()
    repository.write("train.yaml", "a:2")


@pytest.mark.parametrize(
    "key",
    [
        "filter.evil.clean",
        "filter.evil.process",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "merge.evil.driver",
        "core.fsmonitor",
        "core.pager",
        "pager.diff-tree",
        "core.editor",
        "core.askPass",
        "core.sshCommand",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "alias.diff-tree",
        "alias.ls-files",
        "alias.rev-parse",
        "interactive.diffFilter",
        "sequence.editor",
    ],
)
@pytest.mark.parametrize("included", [False, True])
def test_no_program_of_the_configuration_is_run(
    repository_here: Repository, diff: Diff, ran: Path, tmp_path_factory: pytest.TempPathFactory, key: str, included: bool
) -> None:
    changed(repository_here)
    program = ("!" if key.startswith("alias") else "") + RUN.format(ran.parent)
    if included:
        repository_here.git("config", "--file", ".git/more", key, program)
        repository_here.git("config", "includeIf.gitdir:/.path", "more")
        repository_here.git("config", "include.path", "more")
    else:
        repository_here.git("config", key, program)
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]
    assert not ran.exists()


def test_attributes_outside_of_the_tree_run_nothing(repository_here: Repository, diff: Diff, ran: Path) -> None:
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.put(".git/info/attributes", "*.yaml filter=e=vil\n*.yaml filter=evil\n")
    for name in ("evil", "e=vil"):
        repository_here.put(
            ".git/config", (repository_here.folder / ".git/config").read_text() + f'[filter "{name}"]\nclean = "{RUN.format(ran.parent)}"\n'
        )
    repository_here.write("train.yaml", "a:2")
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]
    assert not ran.exists()


def test_no_hook_is_run(repository_here: Repository, diff: Diff, ran: Path) -> None:
    changed(repository_here)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout", "pre-auto-gc", "proc-receive"):
        hook = repository_here.folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{RUN.format(ran.parent)}\n")
        hook.chmod(0o755)
    assert diff("--git", "HEAD")[0] == 1
    assert not ran.exists()


@pytest.mark.parametrize("protocol", ["file", "ext", "ssh"])
def test_what_a_partial_clone_lacks_is_not_fetched(
    repository_here: Repository,
    diff: Diff,
    ran: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    protocol: str,
) -> None:
    """To fetch it, git runs what `remote.*.uploadpack` or the address names. A file that lacks its content is not one that was removed."""
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.write("train.yaml", "a:2")
    repository_here.commit()
    repository_here.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path_factory.mktemp("partial") / "clone"
    repository_here.git(
        "-c",
        "protocol.file.allow=always",
        "clone",
        "-q",
        "--filter=blob:none",
        "--no-checkout",
        f"file://{repository_here.folder}",
        str(partial),
    )
    clone = Repository.__new__(Repository)
    clone.folder = partial
    clone.git("config", "remote.origin.uploadpack", f"touch {ran}; git-upload-pack")
    clone.git("config", "core.sshCommand", f"touch {ran};")
    if protocol == "ext":
        clone.git("config", "remote.origin.url", f"ext::sh -c touch% {ran}")
        clone.git("config", "protocol.ext.allow", "always")
    elif protocol == "ssh":
        clone.git("config", "remote.origin.url", "ssh://example.com/x")
    monkeypatch.chdir(partial)
    code, message = diff("--git", "HEAD~..HEAD")
    assert (code, "partial clone" in message) == (2, True)
    assert not ran.exists()


def test_objects_are_what_they_are(repository_here: Repository, diff: Diff) -> None:
    """A replacement shows another content for a commit that was reviewed."""
    repository_here.write("train.yaml")
    first = repository_here.commit()
    repository_here.write("train.yaml", "a:2")
    second = repository_here.commit()
    repository_here.git("replace", second, first)
    assert images(diff("--git", f"{first}..{second}")[1]) == [("train", "image", "a:1", "a:2")]


def test_the_working_tree_is_where_the_repository_is(
    repository_here: Repository, diff: Diff, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    Repository(elsewhere).write("secret.yaml", "hunter:2", "secret")
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.git("config", "core.worktree", str(elsewhere))
    code, message = diff("--git", "HEAD")
    assert (code, "core.worktree" in message) == (2, True)
    assert "hunter" not in message


def test_a_linked_folder_is_not_followed(repository_here: Repository, diff: Diff, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What a commit has as a folder can be a link in the working tree."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    Repository(elsewhere).write("train.yaml", "hunter:2", "secret")
    repository_here.write("folder/train.yaml")
    repository_here.commit()
    (repository_here.folder / "folder" / "train.yaml").unlink()
    (repository_here.folder / "folder").rmdir()
    (repository_here.folder / "folder").symlink_to(elsewhere)
    code, document = diff("--git", "HEAD")
    assert (code, kinds(document)) == (1, {"train": "removed"})


def test_a_repository_among_the_files_is_not_asked(
    repository_here: Repository, diff: Diff, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit can hold all that makes a bare repository, its configuration included."""
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.git("clone", "-q", "--bare", ".", "inner")
    repository_here.git("-C", "inner", "config", "core.fsmonitor", RUN.format(ran.parent))
    monkeypatch.chdir(repository_here.folder / "inner")
    code, message = diff("--git", "HEAD..HEAD")
    assert (code, "not trusted: call it in" in message) == (2, True)
    assert not ran.exists()


@pytest.mark.parametrize(
    "way", ["file", "worktree", "link", "commondir", "objects and refs", "refs/heads", "refs/heads/main", "packed-refs", "logs", "reftable"]
)
def test_another_repository_is_not_shown(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, diff: Diff, way: str
) -> None:
    """A folder that was received can lead git to a repository of the reader's, and so its history into a report of the folder."""
    other, received = Repository(tmp_path_factory.mktemp("other")), tmp_path_factory.mktemp("received")
    other.write("train.yaml")
    other.commit()
    other.write("train.yaml", "a:2")
    other.commit()
    other.git("worktree", "add", "-q", str(tmp_path_factory.mktemp("linked") / "linked"))
    git, theirs = received / ".git", other.folder / ".git"
    if way == "link":
        git.symlink_to(theirs)
    elif way == "commondir":
        git.mkdir()
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "commondir").write_text(f"{theirs}\n")
    elif way not in ("file", "worktree"):
        _link_within(git, other, way)
    else:
        git.write_text(f"gitdir: {theirs / 'worktrees' / 'linked' if way == 'worktree' else theirs}\n")
    monkeypatch.chdir(received)
    for revisions in ("HEAD~1..HEAD", "HEAD"):
        code, message = diff("--git", revisions)
        assert (code, "leads to a repository elsewhere" in message) == (2, True)


def _link_within(git: Path, other: Repository, way: str) -> None:
    """Make a repository in which links lead to names of another one, and a link or a file to its objects."""
    theirs = other.folder / ".git"
    if way == "packed-refs":
        other.git("pack-refs", "--all")
    elif way == "reftable":  # which newer versions of git make in place of the files
        (theirs / "reftable").mkdir()
    Repository(git.parent)
    for name in ["objects", "refs"] if way == "objects and refs" else [way]:
        mine = git / name
        if mine.is_dir():
            shutil.rmtree(mine)
        mine.symlink_to(theirs / name)
    if way in ("logs", "reftable"):
        (git / "refs" / "heads" / "main").write_text(other.git("rev-parse", "HEAD") + "\n")
    if way != "objects and refs":
        (git / "objects" / "info" / "alternates").write_text(f"{theirs / 'objects'}\n")


def test_objects_of_another_repository_and_links_within_are_read(
    repository_here: Repository, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, diff: Diff
) -> None:
    """As in a clone that shares objects, and where an older git has made links of symbolic names. Hooks are often shared."""
    repository_here.write("train.yaml")
    repository_here.commit()
    clone = tmp_path_factory.mktemp("clones") / "clone"
    repository_here.git("clone", "-q", "--shared", ".", str(clone))
    (clone / ".git" / "refs" / "heads" / "other").symlink_to("main")
    shutil.rmtree(clone / ".git" / "hooks", ignore_errors=True)
    (clone / ".git" / "hooks").symlink_to(tmp_path_factory.mktemp("hooks"))
    (clone / "train.yaml").write_text((clone / "train.yaml").read_text().replace("a:1", "a:2"))
    monkeypatch.chdir(clone)
    assert images(diff("--git", "other")[1]) == [("train", "image", "a:1", "a:2")]


@pytest.mark.parametrize("way", ["worktree", "submodule", "separate", "linked folder"])
def test_a_repository_that_lies_elsewhere_and_is_of_these_files_is_asked(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, diff: Diff, way: str
) -> None:
    folder = tmp_path_factory.mktemp("folder")
    other = Repository(tmp_path_factory.mktemp("other"))
    other.write("train.yaml")
    other.commit()
    here = folder / "here"
    if way == "worktree":
        other.git("worktree", "add", "-q", str(here))
    elif way == "submodule":
        above = Repository(folder)
        above.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.folder), "here")
    elif way == "separate":
        other.git("clone", "-q", "--separate-git-dir", str(folder / "apart"), ".", str(here))
        other.git("-C", str(here), "config", "core.worktree", str(here))  # git itself does not
    else:
        here.symlink_to(other.folder)
    (here / "train.yaml").write_text((here / "train.yaml").read_text().replace("a:1", "a:2"))
    monkeypatch.chdir(here)
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_is_the_same_whatever_ends_its_lines(repository_here: Repository, diff: Diff, line_end: str) -> None:
    """As git checks it out on Windows; an invalid file that nobody touched does not stand in the way."""
    broken = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n"
    repository_here.put("broken.yaml", broken)
    repository_here.write("train.yaml")
    repository_here.commit()
    (repository_here.folder / "broken.yaml").write_bytes(broken.replace("\n", line_end).encode())
    repository_here.write("train.yaml", "a:2")
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]


def test_names_by_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, diff: Diff) -> None:
    make: Callable[..., str] = Repository(tmp_path).git
    (tmp_path / ".git").rename(tmp_path / "sha1")
    make("init", "-q", "-b", "main", "--object-format=sha256")
    os.rename(tmp_path / "sha1", tmp_path / ".git" / "sha1")
    repository = Repository.__new__(Repository)
    repository.folder = tmp_path
    monkeypatch.chdir(tmp_path)
    repository.write("train.yaml")
    repository.write("same.yaml", framework_name="same")
    repository.commit()
    repository.write("train.yaml", "a:2")
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]


def test_the_half_of_a_file_is_not_compared(repository_here: Repository, diff: Diff) -> None:
    """In the middle of an object that is damaged, git ends."""
    noise = "".join(random.Random(1).choices("abcdefghij\n", k=2_000_000)).replace("\n", "\n# ")
    repository_here.write("train.yaml")
    train = (repository_here.folder / "train.yaml").read_text()
    repository_here.put("train.yaml", f"{train}# {noise}\n---\n{train.replace('train', 'second')}")
    repository_here.commit()
    name = repository_here.git("rev-parse", "HEAD:train.yaml")
    repository_here.put("train.yaml", f"{train}# {noise}\n---\n{train.replace('train', 'second')}---\n{train.replace('train', 'third')}")
    repository_here.commit()
    damaged = repository_here.folder / ".git" / "objects" / name[:2] / name[2:]
    data = bytearray(damaged.read_bytes())
    data[-1000:] = b"\xff" * 1000
    damaged.chmod(0o644)
    damaged.write_bytes(data)
    assert diff("--git", "HEAD~..HEAD") == (
        2,
        "fcompile: --git: git has ended while it read train.yaml: `git fsck` says whether the repository is damaged\n",
    )


def test_an_end_of_git_is_not_taken_for_that_of_the_reader(repository_here: Repository, diff: Diff, tmp_path: Path) -> None:
    """A tree can hold what no checkout has, as an absolute path: of a file beside it, git only says that it is outside, and ends."""
    repository_here.write("train.yaml")
    repository_here.commit()
    blob = bytes.fromhex(repository_here.git("rev-parse", "HEAD:train.yaml"))
    (tmp_path / "tree").write_bytes(b"100644 " + os.fsencode(tmp_path.parent / "train.yaml") + b"\0" + blob)
    odd = repository_here.git("commit-tree", "-m", "odd", repository_here.git("hash-object", "-w", "-t", "tree", "--literally", "tree"))
    code, message = diff("--git", f"HEAD..{odd}")
    assert (code, "git has ended" in message) == (2, True)
