"""Putting a finished folder in the place of another, so that nobody ever sees half of it.

A folder in the making is called `.NAME.fcompile-new-…`, one on its way out `.NAME.fcompile-old-…`, beside NAME. Both are locked by
the process that works on them, so that the next run can tell a leftover from work in progress.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_AT_FDCWD = -100
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


@contextlib.contextmanager
def beside(target: str) -> Iterator[str]:
    """Make a new, empty folder beside `target` and yield its path. Whatever has that name at the end is removed."""
    with contextlib.ExitStack() as stack:
        while True:
            new = _sibling(target, "new")
            os.mkdir(new)
            with contextlib.suppress(FileNotFoundError):  # another run was quicker, and took it for a leftover
                stack.enter_context(locked(new))
                break
        try:
            yield new
        finally:
            _remove(new)


@contextlib.contextmanager
def locked(folder: str, wait: bool = True) -> Iterator[None]:
    """Hold the lock of the folder that has this name once the lock is held. Without `wait`, raises OSError when another has it."""
    try:
        import fcntl
    except ImportError:
        if wait:
            yield  # a platform without locks: two runs at once may disturb each other
            return
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), folder) from None
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
                yield
                return
        finally:
            os.close(descriptor)


def into_place(new: str, target: str, check: Callable[[str], None]) -> None:
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
    with locked(target):
        os.chmod(new, stat.S_IMODE(os.lstat(target).st_mode))
        old = _exchange(new, target)
        try:
            check(old)
        except BaseException:
            _put_back(old, new, target)
            raise
        _remove(old)


def recover(target: str, check: Callable[[str], None]) -> None:
    """Clear up after runs that were killed.

    An old folder goes back to its place if that is empty. Other leftovers are removed, except those that `check` raises for.
    """
    parent, name = os.path.split(target)
    for kind in ("old", "new"):
        for entry in sorted(os.listdir(parent)):
            if entry.startswith(f".{name}.fcompile-{kind}-"):
                _recover(os.path.join(parent, entry), target if kind == "old" else None, check)


def _recover(leftover: str, goes_back_to: str | None, check: Callable[[str], None]) -> None:
    with contextlib.suppress(Exception), locked(leftover, wait=False):
        if goes_back_to is not None and not os.path.lexists(goes_back_to):
            os.rename(leftover, goes_back_to)
        else:
            check(leftover)
            _remove(leftover)


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


def _sibling(target: str, kind: str) -> str:
    parent, name = os.path.split(target)
    return os.path.join(parent, f".{name}.fcompile-{kind}-{os.urandom(6).hex()}")


def _remove(folder: str) -> None:
    """Remove a folder of files. If there is a folder in it, which is never ours, that one and `folder` stay."""
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
        with contextlib.suppress(OSError):
            os.rmdir(folder)
