"""The two revisions that are compared, and the repository that they are in."""

from __future__ import annotations

import os
from contextlib import suppress

from fcompile.commands.git.answers import answer, output, run
from fcompile.commands.git.process import top_of_working_tree
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load.files import is_within

_OBJECTS = "objects"
_NAMED = ("logs", _OBJECTS, "packed-refs", "refs", "reftable")
"""Where in a repository its objects and their names are, besides files such as HEAD."""


def revisions(written: str) -> tuple[str, str | None]:
    """Return the commits to compare; None: the working tree."""
    first, dots, second = _divided(written)
    if not dots:
        return _commit(first), None
    old, new = _commit(first), _commit(second)
    if dots == "...":
        done = run("merge-base", old, new)
        if done.returncode == 1:
            raise UsageError(f"--git: `{visible(first)}` and `{visible(second)}` have no commit in common{_shallow()}")
        old = output(done).decode().strip()
    return old, new


def called(written: str) -> tuple[str, str]:
    """Return what to call the two sides of `REV`, `A..B` or `A...B`."""
    first, dots, second = map(visible, _divided(written))
    if not dots:
        return first, "the working tree"
    return f"the merge base of {first} and {second}" if dots == "..." else first, second


def is_revision(written: str) -> bool:
    """Return whether this is what `diff --git` takes here: `REV`, `A..B` or `A...B`."""
    try:
        return bool(revisions(written))
    except UsageError:
        return False


def _divided(written: str) -> tuple[str, str, str]:
    """Return the first revision, the dots and the second one; both are empty where one is named alone."""
    for dots in ("...", ".."):
        old, found, new = written.partition(dots)
        if found:
            return old or "HEAD", dots, new or "HEAD"
    return written, "", ""


def _commit(written: str) -> str:
    done = run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{written}^{{commit}}")
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").partition("\n")[0]
        if message:
            raise UsageError(f"--git: {message}")
        if not written:
            raise UsageError("--git: name a revision, for example HEAD")
        path = f"; it is a path: the revision comes first: `--git HEAD {written}`" if os.path.lexists(written) else ""
        raise UsageError(f"--git: there is no revision `{written}` here{path or _shallow()}")
    return done.stdout.decode().strip().rpartition("\n")[2]


def _shallow() -> str:
    """Return what to do where the clone has not all commits, as in CI; else the empty string."""
    if run("rev-parse", "--is-shallow-repository").stdout.strip() != b"true":
        return ""
    return "; this clone lacks older commits: fetch them, with `git fetch --unshallow` or the `fetch-depth: 0` of actions/checkout"


def top_of_repository(needed: bool) -> bytes:
    """Return the path to the top of the working tree. Raises UsageError if that, or the repository, is elsewhere than it seems."""
    bare, _, up = answer("rev-parse", "--is-bare-repository", "--show-cdup").partition(b"\n")
    here = top_of_working_tree(bare != b"false")
    if here and bare != b"false":
        raise UsageError(f"--git: this is a bare repository among the files of the one at {here}, and not trusted: call it in {here}")
    if needed and bare != b"false":
        raise UsageError("--git: a bare repository has no working tree: name two revisions, such as main..feature")
    top = up.rstrip(b"\n") or b"."
    if here and bare == b"false" and os.path.realpath(os.fsdecode(top)) != here:
        raise UsageError(
            "--git: the configuration of the repository says that its files are elsewhere (core.worktree): nothing is read there"
        )
    if here and not _is_of(here):
        raise UsageError(
            f"--git: the `.git` in {here} leads to a repository elsewhere that knows nothing of these files: its history is not shown; if "
            "it is theirs, `git config core.worktree` tells it so, or `git worktree repair` where they were moved"
        )
    return top


def _is_of(folder: str) -> bool:
    """Return whether git's repository is in the folder, or says that its files are there: of a submodule, or of a linked working tree.

    Whoever hands out a folder can put a `.git` into it that leads to any repository of its reader's, or links into one.
    """
    own = os.path.join(folder, ".git")
    found, common = (os.path.realpath(os.fsdecode(path)) for path in answer("rev-parse", "--git-dir", "--git-common-dir").splitlines())
    if common == own:
        return not _leads_out(own)
    if found == common:  # where `core.worktree` leads is where git has found the files
        return run("config", "--get", "core.worktree").returncode == 0
    try:
        with open(os.path.join(found, "gitdir"), encoding="utf-8", errors="surrogateescape") as back:
            leads_back = os.path.join(found, back.readline().rstrip("\n")) == own
    except OSError:
        return False
    return leads_back and os.path.dirname(found) == os.path.join(common, "worktrees")


def _leads_out(repository: str) -> bool:
    """Return whether a link in a repository leads out of it where git looks for names of commits, or for objects."""
    waiting = [repository]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError), os.scandir(folder) as entries:  # What we may not read, git may not.
            for entry in entries:
                if folder == repository and not (entry.name in _NAMED or entry.name.isupper()):
                    continue
                if entry.is_symlink():
                    if not is_within(os.path.realpath(entry.path), repository):
                        return True
                elif entry.name != _OBJECTS and entry.is_dir():
                    waiting.append(entry.path)
    return False
