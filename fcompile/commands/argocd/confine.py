"""Confine a program before it starts: no network, no files but those it is given, bounded memory, no life without us.

Linux lets an ordinary process ask that for a child, in parts that are not all to be had everywhere: a container's profile may forbid
namespaces, and a kernel may lack Landlock. So the network is closed in two ways, and what could not be had is told to the caller.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from fcompile.commands.argocd import refuse_windows

refuse_windows()

NETWORK: Final = "network"
FILES: Final = "files"

_SYSTEM: Final = ("/bin", "/lib", "/lib32", "/lib64", "/usr", "/etc/ld.so.cache", "/dev/null", "/dev/zero", "/dev/urandom")
"""What a program needs to start: interpreters and libraries."""

_NAMESPACES: Final = 0x10000000 | 0x40000000
"""Of users, without which an ordinary process may not have the other, and of networks."""
_DIE_WITH_PARENT, _SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 1, 22, 38, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_FIRST_RIGHTS: Final = (1 << 13) - 1
_LATER_RIGHTS: Final = ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""Rights of Landlock, with the version that knows them first: moving, truncating, controlling devices."""
_SCOPES: Final = (6, 3)
"""The same for signals and abstract sockets."""

_ARCHITECTURES: Final = {"x86_64": (0xC000003E, (41, 101, 425, 438)), "aarch64": (0xC00000B7, (198, 117, 425, 438))}
"""Each with its numbers of socket, ptrace, io_uring_setup and pidfd_getfd: every way to come by a socket."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | 13, 0x80000000
_OTHER_ABI: Final = 0x40000000
"""System calls from here on are those of x32."""

Prepare = Callable[[int], None]
"""To be called in the child process. It writes what it cannot close to the descriptor, one name a line."""


@contextmanager
def confinement(readable: Iterable[str], memory: int, seconds: int) -> Iterator[Prepare | None]:
    """Yield what confines a child process; None where the system has no means for that.

    :param readable: files and folders that it may read, besides its interpreter and libraries.
    :param memory: bytes of data.
    :param seconds: of processor time.
    """
    if os.name != "posix":
        yield None
        return
    ruleset = _ruleset([*readable, *_SYSTEM]) if sys.platform == "linux" else -1
    try:
        yield _preparation(ruleset, memory, seconds)
    finally:
        if ruleset >= 0:
            os.close(ruleset)


def _preparation(ruleset: int, memory: int, seconds: int) -> Prepare:
    import resource

    linux = sys.platform == "linux"
    library = ctypes.CDLL(None, use_errno=True)
    program = _socket_filter() if linux else None

    def prepare(report: int) -> None:
        if linux:
            library.prctl(_DIE_WITH_PARENT, 9, 0, 0, 0)
            library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        alone = linux and library.unshare(_NAMESPACES) == 0
        if ruleset < 0 or library.syscall(_RESTRICT_SELF, ruleset, 0) != 0:
            os.write(report, f"{FILES}\n".encode())
        filtered = program is not None and library.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0
        if not alone and not filtered:
            os.write(report, f"{NETWORK}\n".encode())
        for kind, limit in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_DATA, memory),
        ):
            with suppress(ValueError, OSError):  # a lower limit is in force
                resource.setrlimit(kind, (limit, limit))

    return prepare


def _ruleset(readable: Iterable[str]) -> int:
    """Return a descriptor of rules for Landlock: reading what is given, and nothing else; -1 without Landlock."""
    library = ctypes.CDLL(None, use_errno=True)
    version = library.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return -1
    rights = _FIRST_RIGHTS | sum(right for since, right in _LATER_RIGHTS if version >= since)
    wanted = struct.pack("QQQ", rights, 0, _SCOPES[1] if version >= _SCOPES[0] else 0)
    ruleset: int = library.syscall(_CREATE_RULESET, wanted, len(wanted), 0)
    for path in readable if ruleset >= 0 else ():
        with suppress(OSError):
            _allow(library, ruleset, path)
    return ruleset


def _allow(library: ctypes.CDLL, ruleset: int, path: str) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = _EXECUTE | _READ_FILE | (_READ_FOLDER if os.path.isdir(path) else 0)
        library.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


class _Program(ctypes.Structure):
    """`struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _socket_filter() -> _Program | None:
    """Return a filter of system calls that gives no sockets; None for an architecture whose numbers are not known here."""
    known = _ARCHITECTURES.get(platform.machine())
    if known is None or sys.maxsize < 2**32:
        return None
    architecture, refused = known
    lines = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, len(refused) + 1, 0, _OTHER_ABI),
    ]
    lines += [(_EQUAL, len(refused) - index, 0, number) for index, number in enumerate(refused)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    return _Program(len(lines), b"".join(struct.pack("HBBI", *line) for line in lines))
