"""The two sides of `diff --git`: files of revisions, read from git's objects; no checkout is touched.

Only files that differ are read. Links are followed within the tree, submodules are no files, and hidden folders and what
`.fcompileignore` names are left out as in a folder.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from fcompile.check.tool_files import CHART, KUSTOMIZATIONS, decides, named_in, rendered
from fcompile.commands.comparison_input import RawFile
from fcompile.commands.git_process import COMMAND, ask, environment, top_of_working_tree
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load import rules
from fcompile.load.files import (
    IGNORE_FILE,
    MAX_LEVELS,
    MAX_PATTERNS,
    PIECE,
    SUFFIXES,
    TOO_DEEP,
    FileEntry,
    ignore_patterns,
    is_outside,
    is_within,
    may_hold_framework_in,
    open_regular,
)
from fcompile.load.source import file_too_large
from fcompile.pipeline.file import why_skipped

if TYPE_CHECKING:
    from subprocess import CompletedProcess

_REGULAR = (b"100644", b"100755")
_MODULE = b"160000"
_SUFFIXES = tuple(map(os.fsencode, SUFFIXES))
_MOST_HOPS, _LONGEST_LINK = 40, 4096
"""What Linux follows: so many links after another, and so many bytes of where one leads."""
_KUSTOMIZATIONS = tuple(map(str.encode, KUSTOMIZATIONS))
_UNNAMED = b"?"
"""In place of an object's name: of a file of the working tree, or a link to be followed."""
_HIDING = (b"\\", b"!", b"generators", b"transformers", b"validators")
"""What can hold a name otherwise than in its letters, or leads to files that hold it."""
_MOST_NAMES = 40
"""Of a file, by links to folders that it is in. With more it is shown without a look at each."""


class _Changed(NamedTuple):
    """A file that differs, by its path from the top, with its object on each side (empty: it is not there, or is no file)."""

    path: bytes
    before: bytes
    after: bytes
    is_module: bool = False
    """It is a submodule: the objects are commits of another repository."""


class _Tree(NamedTuple):
    """What a side has besides what differs."""

    links: dict[bytes, bytes]
    """Where each leads that leads to something within the tree."""
    led: dict[bytes, bytes]
    """The files that count only since links lead to them, with their objects."""
    folders: dict[bytes, list[bytes]]
    """Folders that links lead to, with these."""
    kinds: dict[bytes, str]
    """What others take files for that find them by links, or from other folders."""


@contextmanager
def changed(written: str, paths: Sequence[str]) -> Iterator[tuple[list[RawFile], list[RawFile]]]:
    """Give the files that differ between the two sides of `REV`, `A..B` or `A...B`, as they are on each."""
    old, new = _sides(written)
    top = _top(new is None)
    with _Objects() as objects:
        reader = _Reader(top, objects)
        # In a merge that is not done, git names a file more than once.
        differing = {one.path: one for one in sorted(_differing(old, new, paths, top))}
        trees = [_tree(commit, top, objects, reader, differing) for commit in (old, new)]
        before_led, after_led = (tree.led for tree in trees)
        led_to = (_Changed(path, before_led.get(path, b""), after_led.get(path, b"")) for path in before_led.keys() ^ after_led.keys())
        turned = {one.path: one for one in (*led_to, *_turned(old, new, paths, top, reader, differing)) if one.path not in differing}
        either = [*differing.values(), *sorted(turned.values())]
        own = {one.path for one in either if one.is_module or reader.is_of_interest((old, new), one.path)}
        for commit, tree in zip((old, new), trees, strict=True):
            tree.kinds.update(
                (one.path, kind) for one in either if one.path not in own and (kind := _behind(commit, one.path, tree, reader))
            )
        found = [one for one in either if one.path in own or any(one.path in tree.led or one.path in tree.kinds for tree in trees)]
        in_old, in_new = (
            [
                one
                for one in found
                if one.path in tree.led or one.path in tree.kinds or (one.path in own and not reader.ignored(side, one.path))
            ]
            for side, tree in zip((old, new), trees, strict=True)
        )
        before = [reader.at(old, one, one.before, trees[0].kinds.get(one.path, "")) for one in in_old if one.before]
        if new is not None:
            after = [reader.at(new, one, one.after, trees[1].kinds.get(one.path, "")) for one in in_new if one.after]
        else:
            after = [file for one in in_new if (file := reader.in_tree(one.path, trees[1].kinds.get(one.path, ""))) is not None]
        links = [path for path in differing if trees[0].links.get(path) != trees[1].links.get(path)]
        for commit, tree, side in (old, trees[0], before), (new, trees[1], after):
            side += [reader.link(commit, path, tree.links[path]) for path in links if path in tree.links]
        found += [differing[path] for path in links]
        if not found:
            for path in paths:
                if not os.path.lexists(path):
                    two = new is None and len(paths) == 1 and ".." not in path and is_revision(path)
                    hint = f"; two revisions are compared with --git {visible(written)}..{visible(path)}" if two else " in what is compared"
                    raise UsageError(f"--git: there is no file or folder `{path}`{hint}")
        contents = {(file.entry.path, file.kind): file.data for file in before}
        same = {file.entry.path for file in after if contents.get((file.entry.path, file.kind)) == file.data}
        same -= {reader.entry(path).path for path in turned}
        yield [file for file in before if file.entry.path not in same], [file for file in after if file.entry.path not in same]


def _top(needed: bool) -> bytes:
    """Return the path to the top of the working tree. Raises UsageError if that, or the repository, is elsewhere than it seems."""
    bare, _, up = _one("rev-parse", "--is-bare-repository", "--show-cdup").partition(b"\n")
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

    Whoever hands out a folder can put a `.git` into it that leads to any repository of its reader's.
    """
    own = os.path.join(folder, ".git")
    found, common = (os.path.realpath(os.fsdecode(path)) for path in _one("rev-parse", "--git-dir", "--git-common-dir").splitlines())
    if common == own:
        return True
    if found == common:  # where `core.worktree` leads is where git has found the files
        return _run("config", "--get", "core.worktree").returncode == 0
    try:
        with open(os.path.join(found, "gitdir"), encoding="utf-8", errors="surrogateescape") as back:
            leads_back = os.path.join(found, back.readline().rstrip("\n")) == own
    except OSError:
        return False
    return leads_back and os.path.dirname(found) == os.path.join(common, "worktrees")


def _sides(written: str) -> tuple[str, str | None]:
    """Return the commits to compare; None: the working tree."""
    first, dots, second = _divided(written)
    if not dots:
        return _commit(first), None
    old, new = _commit(first), _commit(second)
    if dots == "...":
        done = _run("merge-base", old, new)
        if done.returncode == 1:
            raise UsageError(f"--git: `{visible(first)}` and `{visible(second)}` have no commit in common{_shallow()}")
        old = _output(done).decode().strip()
    return old, new


def _shallow() -> str:
    """Return what to do where the clone has not all commits, as in CI; else the empty string."""
    if _run("rev-parse", "--is-shallow-repository").stdout.strip() != b"true":
        return ""
    return "; this clone lacks older commits: fetch them, with `git fetch --unshallow` or the `fetch-depth: 0` of actions/checkout"


def called(written: str) -> tuple[str, str]:
    """Return what to call the two sides of `REV`, `A..B` or `A...B`."""
    first, dots, second = map(visible, _divided(written))
    if not dots:
        return first, "the working tree"
    return f"the merge base of {first} and {second}" if dots == "..." else first, second


def _divided(written: str) -> tuple[str, str, str]:
    """Return the first revision, the dots and the second one; both are empty where one is named alone."""
    for dots in ("...", ".."):
        old, found, new = written.partition(dots)
        if found:
            return old or "HEAD", dots, new or "HEAD"
    return written, "", ""


def _commit(written: str) -> str:
    done = _run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{written}^{{commit}}")
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").partition("\n")[0]
        if message:
            raise UsageError(f"--git: {message}")
        if not written:
            raise UsageError("--git: name a revision, for example HEAD")
        path = f"; it is a path: the revision comes first: `--git HEAD {written}`" if os.path.lexists(written) else ""
        raise UsageError(f"--git: there is no revision `{written}` here{path or _shallow()}")
    return done.stdout.decode().strip().rpartition("\n")[2]


def is_revision(written: str) -> bool:
    """Return whether this is what `diff --git` takes here: `REV`, `A..B` or `A...B`."""
    try:
        return bool(_sides(written))
    except UsageError:
        return False


def _differing(old: str, new: str | None, paths: Sequence[str], top: bytes, suffix: bytes | tuple[bytes, ...] = b"") -> Iterable[_Changed]:
    """Return what differs below some paths, or everywhere if there are none; of the working tree, of files whose path ends so."""
    limits = ["--", *paths]
    return _between(old, new, limits) if new is not None else _in_working_tree(old, limits, top, suffix)


def _turned(
    old: str, new: str | None, paths: Sequence[str], top: bytes, reader: _Reader, differing: Container[bytes]
) -> Iterator[_Changed]:
    """Yield files that are the same on both sides, and that others, perhaps above, leave out or make a patch or template on one."""
    names = tuple(map(str.encode, (IGNORE_FILE, CHART, *KUSTOMIZATIONS)))
    if any(one.path.endswith(names) for one in _differing(old, new, (), top, names)):
        for one in _between(_nothing(), old, ["--", *paths]):
            if one.is_module or one.path in differing or not reader.is_of_interest((old, new), one.path):
                continue
            if reader.counts(old, one.path) != reader.counts(new, one.path):
                yield one._replace(before=one.after)


def _nothing() -> str:
    """Return what git calls an empty tree."""
    return _one("hash-object", "-t", "tree", "--stdin").decode().strip()


def _tree(commit: str | None, top: bytes, objects: _Objects, reader: _Reader, differing: Iterable[bytes]) -> _Tree:
    """Return where links lead: those that have the name of a file, or that Helm or kustomize read, are followed."""
    links: dict[bytes, bytes] = {}
    files: dict[bytes, bytes] = {}
    if commit is None:
        for path in filter(None, _listed(["--"], top).split(b"\0")):
            full = os.path.join(top, path)
            if os.path.islink(full):
                links[path] = os.readlink(full)
            else:
                files[path] = _UNNAMED
    else:
        for entry in filter(None, _one("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")):
            head, _, path = entry.partition(b"\t")
            mode, _, name = head.split(b" ")
            if mode == b"120000":
                links[path] = objects.read(name, os.fsdecode(path)) or b""
            elif mode in _REGULAR:
                files[path] = name
                reader.know(commit, path, name)
    made = _Tree({}, {}, {}, reader.named_from_afar(commit, files | dict.fromkeys(links, _UNNAMED), differing))
    if not links:
        return made
    above = set[bytes]()
    for path in files:
        while (path := path.rpartition(b"/")[0]) and path not in above:
            above.add(path)
    for path, target in links.items():
        end, kind = _end_of(path, links), "" if reader.ignored(commit, path) else reader.rendered(commit, path)
        if end in above:
            made.links[path] = target
            made.folders.setdefault(end, []).append(path)
        elif end in files and not reader.ignored(commit, path) and (kind or path.endswith(_SUFFIXES)):
            made.links[path] = target
            if not end.endswith(_SUFFIXES) or reader.ignored(commit, end):
                made.led[end] = files[end]
                if kind:
                    made.kinds[end] = kind
    return made


def _behind(commit: str | None, path: bytes, tree: _Tree, reader: _Reader) -> str:
    """Return what Helm or kustomize takes a file for that they find through links to folders; empty: they find none."""
    names = (
        b"%b%b" % (link, path[at:]) for at, letter in enumerate(path) if letter == ord("/") for link in tree.folders.get(path[:at], ())
    )
    some = list(islice(names, _MOST_NAMES + 1))
    return "source" if len(some) > _MOST_NAMES else next((kind for name in some if (kind := reader.rendered(commit, name))), "")


def _end_of(path: bytes, links: Mapping[bytes, bytes]) -> bytes:
    """Return where a path leads within the tree; empty: out of it, or nowhere."""
    done: list[bytes] = []
    left, hops = path.split(b"/")[::-1], 0
    while left:
        step = left.pop()
        if step == b"..":
            if not done:
                return b""
            done.pop()
        elif step not in (b"", b"."):
            done.append(step)
            target = links.get(b"/".join(done))
            if target is not None:
                hops += 1
                if hops > _MOST_HOPS or target.startswith(b"/") or len(target) > _LONGEST_LINK:
                    return b""
                done.pop()
                left += target.split(b"/")[::-1]
    return b"/".join(done)


def _between(old: str, new: str, limits: Sequence[str]) -> list[_Changed]:
    fields = _one("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--end-of-options", old, new, *limits).split(b"\0")
    return [_raw(head, path) for head, path in zip(fields[::2], fields[1::2], strict=False)]


def _in_working_tree(old: str, limits: Sequence[str], top: bytes, suffix: bytes | tuple[bytes, ...] = b"") -> Iterator[_Changed]:
    """Yield what differs in the working tree, of files whose path ends so.

    Files are compared here: git would compare what filters make of them, which are programs that its configuration names.
    """
    committed = {one.path: one.after for one in _between(_nothing(), old, limits) if not one.is_module}
    for path in committed.keys() | set(filter(None, _listed(limits, top).split(b"\0"))):
        name = committed.get(path, b"")
        if path.endswith(suffix) and (not name or not _holds(top, path, name)):
            yield _Changed(path, name, _UNNAMED)


def _listed(limits: Sequence[str], top: bytes) -> bytes:
    """Return the paths of the working tree, without those that are ignored."""
    # Without a path `ls-files` lists what is below the current folder.
    where = [] if len(limits) > 1 else ["-C", os.fsdecode(top)]
    return _one(*where, "ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "-z", *limits)


def _holds(top: bytes, path: bytes, name: bytes) -> bool:
    """Return whether a file of the working tree is a blob, as it is or, as on Windows, with another end of each line."""
    full = _regular(top, path)
    file = None if full is None else open_regular(os.fsdecode(full))
    if file is None:
        return False
    digest = "sha256" if len(name) == 64 else "sha1"
    with file:
        size = os.fstat(file.fileno()).st_size
        if _name(digest, size, iter(lambda: file.read(PIECE), b"")) == name:
            return True
        if size > rules.MAX_FILE_BYTES:
            return False
        file.seek(0)
        data = file.read().replace(b"\r\n", b"\n")
    return len(data) < size and _name(digest, len(data), [data]) == name


def _name(digest: str, size: int, pieces: Iterable[bytes]) -> bytes:
    """Return what git calls a blob."""
    import hashlib

    found = hashlib.new(digest, b"blob %d\0" % size, usedforsecurity=False)
    for piece in pieces:
        found.update(piece)
    return found.hexdigest().encode()


def _regular(top: bytes, path: bytes) -> bytes | None:
    """Return the path of a file in the working tree; None if it is none there, or only behind a link."""
    full = os.path.join(os.path.realpath(top), path)
    if path.count(b"/") > MAX_LEVELS:
        return None
    try:
        linked = os.path.realpath(os.path.dirname(full)) != os.path.dirname(full)
        return full if not linked and stat.S_ISREG(os.lstat(full).st_mode) else None
    except OSError:
        return None


def _raw(head: bytes, path: bytes) -> _Changed:
    """Return one record of git's raw format: `:mode mode object object status`."""
    old_mode, new_mode, old, new, _ = head[1:].split(b" ")
    is_module = _MODULE in (old_mode, new_mode)
    kept = (*_REGULAR, _MODULE) if is_module else _REGULAR
    return _Changed(path, old if old_mode in kept else b"", new if new_mode in kept else b"", is_module)


class _Reader:
    """Reads files of either side by their path from the top."""

    def __init__(self, top: bytes, objects: _Objects) -> None:
        self._top, self._objects = top, objects
        self._patterns: dict[tuple[str | None, bytes], list[str]] = {}
        self._odd: dict[tuple[str, bytes], bytes] = {}
        """The objects of files that git cannot be asked for by their paths."""
        self._near: set[bytes] = set()
        """Kustomizations that name nothing in other folders that differs."""
        self._around = cache(partial(partial, self._read_around))

    def know(self, commit: str, path: bytes, name: bytes) -> None:
        """Take the name of a file's object."""
        if b"\n" in path:
            self._odd[commit, path] = name

    def at(self, commit: str | None, one: _Changed, name: bytes, taken_for: str = "") -> RawFile:
        """Return the file as git has it, and of a submodule its commit."""
        entry = self.entry(one.path)
        if one.is_module:
            return RawFile(entry, name, self._around(commit), "submodule")
        data = self._objects.read(name, entry.name)
        if data is None:
            # A file of which nothing is known must not look like one that is not there.
            raise UsageError(
                f"--git: {visible(entry.name)} is not in this repository, only its name. Nothing is fetched: in a partial clone "
                "`git fetch --refetch --no-filter` brings what is missing, else `git fsck` says what is damaged"
            )
        return RawFile(entry, data, self._around(commit), taken_for=taken_for)

    def link(self, commit: str | None, path: bytes, target: bytes) -> RawFile:
        """Return a link as a file in which stands where it leads."""
        return RawFile(self.entry(path), target, self._around(commit), "link")

    def in_tree(self, path: bytes, taken_for: str = "") -> RawFile | None:
        """Return the file in the working tree; None if it is none there."""
        entry, full = self.entry(path), _regular(self._top, path)
        return (
            None
            if full is None
            else RawFile(entry, entry._replace(real=os.fsdecode(full)).content(), self._around(None), taken_for=taken_for)
        )

    def is_of_interest(self, commits: tuple[str | None, ...], path: bytes) -> bool:
        """Return whether Frameworks, or what they are built of, can be in the file."""
        if path.endswith(_SUFFIXES):
            return True
        return any(self.rendered(commit, path) for commit in commits)

    def rendered(self, commit: str | None, path: bytes) -> str:
        """Return what the file is of which others make what runs; empty: it says itself what runs."""
        return rendered(self.entry(path).path, os.path.abspath(os.fsdecode(self._top)), self._around(commit))

    def named_from_afar(self, commit: str | None, files: Mapping[bytes, bytes], differing: Iterable[bytes]) -> dict[bytes, str]:
        """Return what the kustomizations among some files name that is not below them, as kustomize may be allowed to read it.

        :param differing: only these count: most kustomizations name none, and need not be read as YAML.
        """
        found: dict[bytes, str] = {}
        names = {path.rpartition(b"/")[2].lower() for path in differing}
        hints = () if len(names) > _MOST_NAMES else (*names, *_HIDING)
        for path, blob in files.items():
            folder, _, name = path.rpartition(b"/")
            if name not in _KUSTOMIZATIONS or blob in self._near:
                continue
            data = (self._objects.read(blob, os.fsdecode(path)) if blob != _UNNAMED else self._content(commit, path)) or b""
            data = data.translate(None, b"\0").lower()
            leads_out = any(hint in data for hint in (b"..", *_HIDING))
            if not leads_out or (hints and not any(hint in data for hint in hints)):
                self._near |= {blob} - {_UNNAMED}
                continue
            top = os.path.abspath(os.fsdecode(self._top))
            inside = os.path.join(top, os.fsdecode(folder)) if folder else top
            named = named_in(inside, top, self._around(commit)) or ()
            far = (one for one in named if is_within(one, top) and not is_within(one, inside))
            found |= {os.fsencode(os.path.relpath(one, top)): "source" for one in far}
        return found

    def counts(self, commit: str | None, path: bytes) -> tuple[bool, str]:
        """Return whether a walk through the folders would leave the file out, and why else no Framework is looked for in it."""
        ignored = self.ignored(commit, path)
        return ignored, "" if ignored else why_skipped(self.entry(path), around=self._around(commit))

    def ignored(self, commit: str | None, path: bytes) -> bool:
        """Return whether a walk through the folders would leave it out."""
        steps = path.split(b"/")
        if any(step.startswith(b".") for step in steps[:-1]) and not self.rendered(commit, path):
            return True
        return any(
            fnmatchcase(os.fsdecode(steps[depth]), pattern)
            for depth in range(len(steps) - decides(os.fsdecode(steps[-1])))
            for pattern in self._ignore_file(commit, b"/".join(steps[:depth]))
        )

    def _ignore_file(self, commit: str | None, folder: bytes) -> list[str]:
        if (commit, folder) not in self._patterns:
            path = b"/".join(filter(None, (folder, IGNORE_FILE.encode())))
            patterns = ignore_patterns((self._content(commit, path) or b"").decode("utf-8", "replace").splitlines())
            if len(patterns) > MAX_PATTERNS:  # as in a folder that is read: each name is held against them all
                raise UsageError(f"--git: {visible(os.fsdecode(path))} holds more than {MAX_PATTERNS:,} patterns: write fewer")
            self._patterns[commit, folder] = patterns
        return self._patterns[commit, folder]

    def _content(self, commit: str | None, path: bytes) -> bytes | None:
        """Return what is in a file of a side; None if there is none. A link is followed within the tree."""
        if commit is None:
            top = os.path.realpath(self._top)
            real = os.path.realpath(os.path.join(top, path))
            if is_outside(os.fsdecode(real), {os.fsdecode(top)}):
                return None
            file = self.in_tree(os.path.relpath(real, top))
            return file.data if file is not None and isinstance(file.data, bytes) else None
        name = commit.encode() + b":" + path if b"\n" not in path else self._odd.get((commit, path))
        return None if name is None else self._objects.read(name, os.fsdecode(path))

    def _read_around(self, commit: str | None, path: str) -> bytes | None:
        return self._content(commit, os.path.relpath(os.fsencode(path), os.path.abspath(self._top)))

    def entry(self, path: bytes) -> FileEntry:
        full = os.path.join(self._top, path)
        if path.count(b"/") > MAX_LEVELS:
            raise UsageError(f"--git: {visible(os.path.dirname(os.fsdecode(path)))} {TOO_DEEP}, or list one above it in {IGNORE_FILE}")
        name = os.path.relpath(full).decode("utf-8", "backslashreplace")
        return FileEntry(name, os.fsdecode(full), within=os.fsdecode(self._top))


class _Objects:
    """git's objects, by id or `commit:path`, through one process."""

    def __enter__(self) -> _Objects:
        import subprocess

        self._process = subprocess.Popen(
            [*COMMAND, "cat-file", "--batch", "--follow-symlinks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        return self

    def __exit__(self, *error: Any) -> None:
        with suppress(BrokenPipeError):  # git has ended before
            self._process.__exit__(*error)

    def read(self, name: bytes, shown: str) -> bytes | None:
        """Return the content of a blob, also behind a link, or None; nothing of one that is too large and holds no Framework.

        Raises UsageError if one that is too large may hold a Framework.
        """
        ask: IO[bytes] | None = self._process.stdin
        answer: IO[bytes] | None = self._process.stdout
        assert ask is not None
        assert answer is not None
        try:
            ask.write(name + b"\n")
            ask.flush()
        except BrokenPipeError:  # which would be taken for that of our own output
            raise _ended(shown) from None
        line = answer.readline()
        if not line and b":" in name:
            raise _ended(shown)
        head, _, size = line.rstrip(b"\n").rpartition(b" ")
        if not size.isdigit():  # the name, with all the spaces that are in it, and `missing`; or nothing, of what cannot be fetched
            return None
        is_blob, left = head.endswith(b" blob"), int(size) + 1
        if is_blob and left <= rules.MAX_FILE_BYTES + 1:
            data = answer.read(left)
            if len(data) < left:
                raise _ended(shown)
            return data[:-1]
        pieces = _pieces(answer, left, shown)
        if not is_blob:  # a folder, or a link that leads nowhere
            deque(pieces, maxlen=0)
            return None
        if may_hold_framework_in(pieces):
            raise UsageError(f"--git: {visible(shown)}: {file_too_large(shown).message}")
        return b""


def _pieces(file: IO[bytes], left: int, shown: str) -> Iterator[bytes]:
    """Yield the next bytes of a file, so many in all."""
    while left:
        piece = file.read(min(left, PIECE))
        if not piece:
            raise _ended(shown)
        yield piece
        left -= len(piece)


def _ended(shown: str) -> UsageError:
    """Return the error for a file in the middle of which git has ended. The half of it must not be compared."""
    return UsageError(f"--git: git has ended while it read {visible(shown)}: `git fsck` says whether the repository is damaged")


def _one(*arguments: str) -> bytes:
    return _output(_run(*arguments))


def _output(done: CompletedProcess[bytes]) -> bytes:
    """Return what git printed. Raises UsageError with what it said if it failed."""
    if done.returncode:
        raise UsageError(f"--git: {done.stderr.decode('utf-8', 'replace').strip().removeprefix('fatal: ')}")
    return done.stdout


def _run(*arguments: str) -> CompletedProcess[bytes]:
    try:
        return ask(*arguments)
    except FileNotFoundError:
        raise UsageError("--git needs the program git, which is not in the PATH: install it") from None
