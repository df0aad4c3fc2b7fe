"""Putting a finished folder in the place of another, so that nobody ever sees half of it.

A folder in the making is called `.NAME.fcompile-new-…`, one on its way out `.NAME.fcompile-old-…`, beside NAME. Both are locked by
the process that works on them, so that the next run can tell a leftover from work in progress. What changes them goes by their
descriptors, where the system has these: whoever may write beside them could put a link to another folder in their place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_AT_FDCWD = -100
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


@contextlib.contextmanager
def beside(target: str) -> Iterator[tuple[str, int | None]]:
    """Make a new, empty folder beside `target`; yield its path and descriptor. It is removed at the end, unless it is in its place."""
    with contextlib.ExitStack() as stack:
        while True:
            new = _sibling(target, "new")
            os.mkdir(new)
            with contextlib.suppress(FileNotFoundError):  # another run was quicker, and took it for a leftover
                opened = stack.enter_context(locked(new))
                break
        try:
            yield new, opened
        finally:
            _remove(new, opened)


if sys.platform == "win32":

    @contextlib.contextmanager
    def locked(folder: str, wait: bool = True) -> Iterator[int | None]:
        """Lock nothing: folders have no locks here, and two runs at once may disturb each other. Without `wait`, raises OSError."""
        if not wait:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), folder)
        yield None

else:

    @contextlib.contextmanager
    def locked(folder: str, wait: bool = True) -> Iterator[int | None]:
        """Hold the lock of the folder that has this name once the lock is held, and yield its descriptor.

        Without `wait`, raises OSError when another has it.
        """
        import fcntl

        while True:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                except OSError:
                    if not wait:
                        raise
                    # A file system without locks for folders.
                if os.path.samestat(os.fstat(descriptor), os.lstat(folder)):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)


def into_place(new: str, opened: int | None, target: str, check: Callable[[str], None]) -> None:
    """Put the folder `new` where `target` is, and remove what was there.

    `check` is called with the old folder, which nobody can reach by its name any more: if it raises, all is put back.
    """
    if not os.path.lexists(target):
        try:
            os.rename(new, target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another run was quicker
                raise
    with locked(target) as replaced:
        os.chmod(new if opened is None else opened, stat.S_IMODE(os.lstat(target).st_mode))
        old = _exchange(new, target)
        try:
            check(old)
        except BaseException:
            _put_back(old, new, target)
            raise
        _remove(old, replaced)


def recover(target: str, check: Callable[[str], None]) -> None:
    """Clear up after runs that were killed.

    An old folder goes back to its place if that is empty. Other leftovers are removed, except those that `check` raises for.
    """
    parent = os.path.dirname(target)
    for kind in ("old", "new"):
        for entry in sorted(os.listdir(parent)):
            path = os.path.join(parent, entry)
            if path.startswith(_siblings(target, kind)):
                _recover(path, target if kind == "old" else None, check)


def _recover(leftover: str, goes_back_to: str | None, check: Callable[[str], None]) -> None:
    with contextlib.suppress(Exception), locked(leftover, wait=False) as opened:
        if goes_back_to is not None and not os.path.lexists(goes_back_to):
            os.rename(leftover, goes_back_to)
        else:
            check(leftover)
            _remove(leftover, opened)


def _exchange(new: str, target: str) -> str:
    """Swap two folders in one step where the system can, else in two. Return where the old one is now."""
    if _exchange_names(new, target):
        return new
    old = _sibling(target, "old")
    os.rename(target, old)
    try:
        os.rename(new, target)
    except BaseException:
        os.rename(old, target)
        raise
    return old


def _put_back(old: str, new: str, target: str) -> None:
    if old == new:
        _exchange_names(new, target)
    else:
        os.rename(target, new)
        os.rename(old, target)


def _exchange_names(one: str, other: str) -> bool:
    """Swap what two names stand for, atomically. Return False where the system or the file system cannot."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NO_EXCHANGE:
        return False
    raise OSError(code, os.strerror(code), other)


def is_in_sibling(path: str, target: str) -> bool:
    """Return whether a path is of a folder in the making, or on its way out, that stands beside its place."""
    return path.startswith(tuple(_siblings(target, kind) for kind in ("new", "old")))


def _sibling(target: str, kind: str) -> str:
    return f"{_siblings(target, kind)}{os.urandom(6).hex()}"


def _siblings(target: str, kind: str) -> str:
    """Return how the paths begin of folders of a kind beside a place."""
    parent, name = os.path.split(target)
    return os.path.join(parent, f".{name}.fcompile-{kind}-")


def _remove(folder: str, opened: int | None) -> None:
    """Remove a folder of files, unless its name stands for another by now. If there is a folder in it, which is never ours, both stay."""
    with contextlib.suppress(FileNotFoundError):
        if opened is not None and not os.path.samestat(os.fstat(opened), os.lstat(folder)):
            return
        for name in os.listdir(folder if opened is None else opened):
            with contextlib.suppress(OSError):
                os.unlink(inside(folder, opened, name), dir_fd=opened)
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def inside(folder: str, opened: int | None, name: str) -> str:
    """Return what to call a file of a folder, beside `dir_fd=opened`."""
    return os.path.join(folder, name) if opened is None else name
