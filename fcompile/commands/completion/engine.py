"""Answers `fcompile __complete WORD…`: what can stand in the place of the last word, which may be empty.

One engine for every shell, and for kubectl, whose protocol it speaks: a candidate per line, with a tab before its description, and at
the end a colon and the sum of the directives below; of `--option=value`, only the value is offered. Nothing else is ever printed, whatever
is wrong, and no file or process is waited for.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, NoReturn

from fcompile.commands.completion.line import Candidate, Line

NO_SPACE, NO_FILES, FILES_ENDING, ONLY_FOLDERS = 2, 4, 8, 16
"""The candidate is not the whole word; no files instead of candidates; the candidates are endings of files; folders."""
SECONDS = 0.1
"""For what is read from files or git. A Python that starts takes half of the time that nobody notices."""
_MOST = 500
_LONGEST = 100

_HARMLESS = re.compile(r'[\w ./:@%+,=\[\]"^~-]+')
"""What may be offered. Anybody can name roles and branches, and not every shell quotes what it inserts: `$(…)` would be run."""

Tree = Callable[[str], argparse.ArgumentParser]
"""The parser of a program. Only the command that is named needs its arguments."""


class Answer(NamedTuple):
    """What is offered."""

    candidates: list[Candidate]
    directive: int = NO_FILES


class _TooLate(BaseException):
    pass


def run(arguments: Sequence[str], tree: Tree) -> int:
    """Answer `__complete WORD…`, or bash's `__complete_line LINE WORD`, in which WORD is the part of LINE that will be replaced."""
    kept = ""
    try:
        words = list(arguments[1:]) or [""]
        if arguments[0] == "__complete_line":
            from fcompile.commands.completion.words import split

            line, replaced = words
            words, kept = split(line)[1:], split(line.removesuffix(replaced))[-1]
        elif words[-1].startswith("-") and "=" in words[-1]:
            kept = "".join(words[-1].partition("=")[:2])
        answer = complete(words, tree)
    except (Exception, KeyboardInterrupt):
        answer = Answer([])
    for word, about in answer.candidates:
        rest = word.removeprefix(kept)
        print(f"{rest}\t{about}" if about else rest)
    print(f":{answer.directive}")
    sys.stdout.flush()
    return 0


def complete(words: Sequence[str], tree: Tree, seconds: float = SECONDS) -> Answer:
    """What can stand in the place of the last of the words."""
    *before, current = words
    line = Line(tree(before[0] if before else ""), before)
    action, prefix = line.waiting or line.argument(), ""
    if line.waiting is None and not line.only_arguments and current.startswith("-"):
        option, prefix, value = line.option(current)
        if value is None or option is None or option.nargs == 0:
            return _answer(((string, _about(action)) for action in line.options() for string in action.option_strings), current)
        action, current = option, value
    if action is None:
        return Answer([])
    return _values(action, line, prefix, current, seconds)


def _values(action: argparse.Action, line: Line, prefix: str, current: str, seconds: float) -> Answer:
    if isinstance(action, argparse._SubParsersAction):
        return _answer(((one.dest, one.help or "") for one in action._choices_actions), current)
    if action.choices is not None:
        return _answer(((prefix + str(choice), "") for choice in action.choices), prefix + current)
    from fcompile.commands.completion import values

    kind = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if kind in values.FOLDERS:
        return Answer([], ONLY_FOLDERS)
    if kind in values.FILES:
        return Answer([(ending.removeprefix("."), "") for ending in values.ENDINGS], FILES_ENDING)
    if kind not in values.WORDS:
        return Answer([])
    offered = values.WORDS[kind](values.Asked(line, current))
    return _answer(_in_time(((prefix + word, about) for word, about in offered), seconds), prefix + current)


def _answer(offered: Iterable[Candidate], current: str) -> Answer:
    """What fits, cut down to what a shell can show."""
    found: dict[str, str] = {}
    for word, about in offered:
        if word.startswith(current) and _HARMLESS.fullmatch(word) and len(found) < _MOST:
            found.setdefault(word, _short(about))
    unfinished = bool(found) and all(word.endswith(("=", "/", ".")) for word in found)
    return Answer(list(found.items()), NO_FILES | (NO_SPACE if unfinished else 0))


def _short(about: str) -> str:
    line = " ".join(about.split())
    line = "".join(letter for letter in line if letter.isprintable())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _about(action: argparse.Action) -> str:
    return (action.help or "") % {"prog": "", **vars(action)}


def _in_time(offered: Iterable[Candidate], seconds: float) -> list[Candidate]:
    """Those that are found in time. What takes longer, or goes wrong, is given up without a word."""
    found: list[Candidate] = []
    try:
        signal.signal(signal.SIGALRM, _too_late)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            found.extend(offered)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except (_TooLate, Exception):
        pass
    return found


def _too_late(*_: object) -> NoReturn:
    raise _TooLate
