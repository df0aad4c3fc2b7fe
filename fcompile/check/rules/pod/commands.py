"""Commands of containers: typographic dashes and quotes, a whole line as one word, and words that no shell reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from fcompile.check.context import words
from fcompile.check.pod_context import ContainerRef, handlers
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
AFTER_SCRIPT = warning_rule(
    code="FC228",
    name="words-after-script",
    summary="Words follow the script of a shell, and it reads none of them.",
    why=(
        "After `-c` a shell takes one item as its script. Those after it are `$0`, `$1`, … there: `[sh, -c, python, train.py]` runs "
        "`python` alone, which finds nothing to do and succeeds."
    ),
    remedy="Write the whole script as one item, or leave out the shell.",
)
SHELL_WORDS = warning_rule(
    code="FC229",
    name="shell-words-without-shell",
    summary="A command has words that only a shell understands, and no shell reads it.",
    why=(
        "Kubernetes runs a command as it is written: `&&`, `|` and `>` are arguments of its first word, and `cd` and `A=1` are no programs."
    ),
    remedy="Write `sh`, `-c` and the whole line as three items of `command`.",
)

_SIGN = lazy("(?:^|(?<=[\\s=]))(?:[\u2010-\u2015\u2212]+(?=[A-Za-z])|[\u2018\u201a\u201c\u201e](?=\\S))")
_FOR_A_SHELL = lazy(r"[\n|&;<>$`*'\"(]")
_SHELLS = frozenset({"sh", "ash", "bash", "dash", "ksh", "zsh"})
_OPERATORS = frozenset({"&&", "||", "|", ">", ">>", "<", "&>", "2>", "2>&1"})
_TAKE_OPERATORS = frozenset({"[", "expr", "find", "horovodrun", "parallel", "ssh", "sshpass", "test", "watch", "xargs"})
"""Programs to which such words mean something, or that give them to a shell."""
_BUILT_IN = frozenset({"cd", "export", "set", "source", "unset", "."})
_ASSIGNMENT = lazy(r"[A-Za-z_]\w{0,99}=\S{0,100}")
_IN_A_SHELL = "write `sh`, `-c` and the whole line as three items of `command`"
_READS_WORDS = lazy(r"\$\{?[#!]?[0-9@*#]|\b(?:shift|getopts|eval|source|BASH_ARG[CV])\b|(?:^|[\s;&|(])\.\s|\bfor\s+\w+\s*(?:;\s*)?do\b")
"""What a script has that reads the words after it, or runs what may do so."""
_END_OF_OPTIONS = frozenset({"--", "-"})
_LONG_WITH_FILE = frozenset({"--rcfile", "--init-file"})
_NAMES_OF_SCRIPT = frozenset({*_SHELLS, "--", "-", "_"})
"""What is often given as `$0`, and is in no script."""
_PLAIN = lazy(r"[\w./=:,@%+{}-]{1,100}")
_FEW_WORDS = 8
_FEW = 20
"""Typographic signs of one text that are looked at."""


def command_rules(containers: Iterable[ContainerRef]) -> Iterator[Finding]:
    """Yield commands of one word, words that no shell reads, and typographic dashes and quotes that begin an option or a quoted text."""
    for container in containers:
        for owner, path in _with_command(container):
            command = texts(owner, path, "command")
            items = [*command, *texts(owner, path, "args")]
            if command:
                yield from _one_word(*command[0])
                yield from _without_shell(items)
            yield from _after_script(items)
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


def _one_word(first: str, path: Path) -> Iterator[Finding]:
    words = first.split()
    # A path may hold spaces.
    if len(words) < 2 or "\\" in first or (first.startswith("/") and "/" in words[-1] and " -" not in first):
        return
    if _FOR_A_SHELL.search(first) or len(words) > _FEW_WORDS:
        right = "`sh`, `-c` and this as three items of `command`"
    else:
        quoted = ", ".join(f'"{word}"' for word in words)
        right = f"`[{quoted}]`"
    yield Finding(ONE_WORD, path, f"no shell divides this into words, and no program is called so: write {right}")


def _after_script(items: list[tuple[str, Path]]) -> Iterator[Finding]:
    words = [word for word, _ in items]
    shell = words[0].rpartition("/")[2] if words else ""
    script = _script_at(words) if shell in _SHELLS else len(words)
    after = words[script + 1 :]
    if not after or _READS_WORDS.search(words[script]) or (len(after) == 1 and _is_name(after[0], words[script])):
        return
    line = " ".join(words[script:])
    together = f", `{line}`" if len(after) <= _FEW_WORDS and all(map(_PLAIN.fullmatch, line.split(" "))) else ""
    shown = f"`{words[script]}`" if _PLAIN.fullmatch(words[script]) else "the item before"
    message = f"`{shell} -c` runs only {shown}, and what follows is `$0`, `$1`, … there: write it as one item{together}"
    yield Finding(AFTER_SCRIPT, items[script + 1][1], message)


def _is_name(word: str, script: str) -> bool:
    """Return whether the only word after a script is its name, for messages."""
    return word in _NAMES_OF_SCRIPT or (len(script.split()) > 1 and not word.startswith("-"))


def _without_shell(items: list[tuple[str, Path]]) -> Iterator[Finding]:
    (first, path), *others = items
    if first not in _BUILT_IN and "=" not in first and _OPERATORS.isdisjoint(word for word, _ in others):
        return
    if not _SHELLS.isdisjoint(word.rpartition("/")[2] for word, _ in items) or first.rpartition("/")[2] in _TAKE_OPERATORS:
        return
    if first in _BUILT_IN:
        yield Finding(SHELL_WORDS, path, f"`{first}` is the shell's, and no program is called so: {_IN_A_SHELL}")
    elif _ASSIGNMENT.fullmatch(first):
        yield Finding(SHELL_WORDS, path, f"`{first}` sets a variable in a shell alone, and no program is called so: set it in `env`")
    elif found := next(((word, place) for word, place in others if word in _OPERATORS), None):
        program = f"`{first}`" if _PLAIN.fullmatch(first) else "the program"
        message = f"no shell reads `{found[0]}`, and {program} gets it as an argument: {_IN_A_SHELL}"
        yield Finding(SHELL_WORDS, found[1], message)


def _script_at(words: list[str]) -> int:
    """Return where the script of a shell is in its command, the first word that is no option; the number of words: it has none."""
    at, runs_script = 1, False
    while at < len(words) and words[at].startswith(("-", "+")):
        option = words[at]
        at += 1
        if option in _END_OF_OPTIONS:
            break
        if option.startswith("--"):
            at += option in _LONG_WITH_FILE
        else:
            runs_script |= "c" in option
            at += option.count("o") + option.count("O")  # each with its name, as in `-eo pipefail`
    return at if runs_script else len(words)


def _sign(written: str) -> str:
    """Return the first such sign that stands neither in a quoted text nor in a comment of a script, where it is a part of prose."""
    for match in islice(_SIGN.finditer(written), _FEW):
        before = written[: match.start()]
        line = before[before.rfind("\n") + 1 :]
        if "#" not in line and before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return match[0]
    return ""
