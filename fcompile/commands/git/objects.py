"""Blobs by their ids or paths, through one process of git that answers one question after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from fcompile.commands.git.process import COMMAND, environment
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.load import rules
from fcompile.load.files import PIECE, may_hold_framework_in
from fcompile.load.source import file_too_large


class Objects:
    """git's objects, by id or `commit:path`, through one process."""

    def __enter__(self) -> Objects:
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

    def read(self, name: bytes, shown: str, is_there: bool = False) -> bytes | None:
        """Return the content of a blob, also behind a link, or None; an empty one for what is too large and holds no Framework.

        Raises UsageError if one that is too large may hold a Framework.

        :param is_there: it must not be lacking unnoticed, as what a partial clone would have to fetch.
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
        if not line and is_there:
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
