"""Commands and arguments of containers: signs of typography in the place of those that programs know, and a whole line as one word."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from fcompile.check.context import words
from fcompile.check.pod_context import ContainerRef, Pod, handlers
from fcompile.check.pod_values import texts
from fcompile.diagnostics.problem import Finding, Path, warning_rule
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping

TYPOGRAPHIC_SIGN = warning_rule(
    code="FC218",
    name="typographic-sign-in-command",
    summary="A command has a dash or a quote of typography where a program wants `-`, `\"` or `'`.",
    why="To a program `—lr` is no option, and `“` is no quote. They come in with what is copied from a page, a chat or a document.",
    remedy="Write the sign that is on the keyboard.",
)
ONE_WORD = warning_rule(
    code="FC219",
    name="command-is-one-word",
    summary="The first word of a command is a whole command line.",
    why=(
        "No shell divides it: a program of that name is looked for, spaces included. There is none, and the container never starts; "
        "an `exec` probe never succeeds."
    ),
    remedy="Write each word as an item of its own. What needs a shell (`&&`, `|`, `$NAME`) is the third item, after `sh` and `-c`.",
)

_SIGN = lazy("(?:^|(?<=[\\s=]))(?:[\u2010-\u2015\u2212]+(?=[A-Za-z])|[\u2018\u201a\u201c\u201e](?=\\S))")
_FOR_A_SHELL = lazy(r"[\n|&;<>$`*'\"(]")
_FEW_WORDS = 8
_FEW = 20
"""Signs of one text that are looked at."""


def command_rules(pod: Pod) -> Iterator[Finding]:
    """Yield commands of one word, and commands and arguments in which a typographic sign begins an option or a quoted text."""
    for container in pod.containers:
        for owner, path in _with_command(container):
            yield from _one_word(owner, path)
        for word, path in words(container.fields, container.path):
            if not word.isascii() and (sign := _sign(word)):
                ascii_sign = {"\u2018": "'", "\u201a": "'", "\u201c": '"', "\u201e": '"'}.get(sign, "--")
                message = f"`{sign}` (U+{ord(sign[0]):04X}) is not what a program or a shell takes for `{ascii_sign}`: write that"
                yield Finding(TYPOGRAPHIC_SIGN, path, message)


def _with_command(container: ContainerRef) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yield what has a `command` in a container: itself, its probes and its hooks."""
    yield container.fields, container.path
    for _, handler, path in handlers(container):
        yield mapping(handler, "exec"), (*path, "exec")


def _one_word(owner: dict[str, Any], path: Path) -> Iterator[Finding]:
    first = next(iter(texts(owner, path, "command")[:1]), None)
    words = first[0].split() if first else []
    # A path may hold spaces.
    if first is None or len(words) < 2 or "\\" in first[0] or (first[0].startswith("/") and "/" in words[-1] and " -" not in first[0]):
        return
    if _FOR_A_SHELL.search(first[0]) or len(words) > _FEW_WORDS:
        message = "no shell divides this into words, and no program is called so: write `sh`, `-c` and this as three items of `command`"
    else:
        quoted = ", ".join(f'"{word}"' for word in words)
        message = f"no shell divides this into words, and no program is called so: write `[{quoted}]`"
    yield Finding(ONE_WORD, first[1], message)


def _sign(written: str) -> str:
    """Return the first such sign that stands neither in a quoted text nor in a comment of a script, where it is a part of prose."""
    for match in islice(_SIGN.finditer(written), _FEW):
        before = written[: match.start()]
        line = before[before.rfind("\n") + 1 :]
        if "#" not in line and before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return match[0]
    return ""
