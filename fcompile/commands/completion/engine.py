"""Answers `fcompile __complete WORD…`: what can stand in the place of the last word, which may be empty.

click says which command or parameter that word belongs to and asks it what it can be. One protocol for every shell, and for kubectl,
whose it is: a candidate per line, with a tab before its description, and at the end a colon and the sum of the directives below; of
`--option=value`, only the value is offered. Nothing else is ever printed, whatever is wrong, and no file or process is waited for.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete, _resolve_context

from fcompile.commands.completion.values import ENDINGS, offered
from fcompile.commands.completion.words import Candidate
from fcompile.commands.group import UNKNOWN, Command, Group
from fcompile.commands.parsing import WAITING

NO_SPACE, NO_FILES, FILES_ENDING, ONLY_FOLDERS = 2, 4, 8, 16
"""The candidate is not the whole word; no files instead of candidates; the candidates are endings of files; folders."""
_MOST = 500
_LONGEST = 100

_HARMLESS = re.compile(r'[\w ./:@%+,=\[\]"^~-]+')
"""What may be offered. Anybody can name roles and branches, and not every shell quotes what it inserts: `$(…)` would be run."""


class Answer(NamedTuple):
    """What is offered."""

    candidates: list[Candidate]
    directive: int = NO_FILES
    before: str = ""
    """What of the last word comes before what is offered."""


class _Completion(ShellComplete):
    """Takes an option apart that has its value in the same word, by all its spellings; click only knows `--option=` in full."""

    name = "fcompile"
    source_template = ""
    before = ""
    """What of the word comes before the value, as `--option=` or `-o`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        context = _resolve_context(self.cli, self.ctx_args, self.prog_name, args)
        command = context.command
        assert isinstance(command, Command)
        if context.meta.get(UNKNOWN):
            return []
        if WAITING in context.meta:
            waiting: click.Option = context.meta[WAITING]
            return waiting.shell_complete(context, incomplete)
        if incomplete.startswith("-") and "--" not in args:
            parser = command.make_parser(context)
            name, equals, value = incomplete.partition("=")
            if not incomplete.startswith("--"):
                name, equals, value = incomplete[:2], "", incomplete[2:]
            option = parser.option(name)
            if option is None or option.is_flag or not (equals or value):
                return command.shell_complete(context, parser.whole(incomplete))
            self.before = name + equals
            return option.shell_complete(context, value)
        for param in command.params:
            given = context.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE
            if isinstance(param, click.Argument) and (param.nargs == -1 or not given):
                return param.shell_complete(context, incomplete)
        return command.shell_complete(context, incomplete)


def run(arguments: Sequence[str], group: Group) -> int:
    """Answer `__complete WORD…`, or bash's `__complete_line LINE WORD`, in which WORD is the part of LINE that will be replaced."""
    kept = ""
    try:
        words = list(arguments[1:]) or [""]
        if arguments[0] == "__complete_line":
            from fcompile.commands.completion.words import split

            line, replaced = words
            words, kept = split(line)[1:], split(line.removesuffix(replaced))[-1]
        answer = complete(words, group)
        kept = kept.removeprefix(answer.before) if kept.startswith(answer.before) else ""
    except (Exception, KeyboardInterrupt):
        answer = Answer([])
    for word, about in answer.candidates:
        rest = word.removeprefix(kept)
        print(f"{rest}\t{about}" if about else rest)
    print(f":{answer.directive}")
    sys.stdout.flush()
    return 0


def complete(words: Sequence[str], group: Group) -> Answer:
    """Return what can stand in the place of the last of the words; of `--option=value`, only the value."""
    *before, current = words
    completion = _Completion(group, {"obj": offered}, group.name or "", "")
    items = completion.get_completions(before, current)
    start = completion.before
    # Shells take the letter of an option and its value for one word.
    attached = "" if start.startswith("--") else start
    for item in items:
        if item.type == "dir":
            return Answer([], ONLY_FOLDERS, start)
        if item.type == "file":
            return Answer([(ending.removeprefix("."), "") for ending in ENDINGS], FILES_ENDING, start)
    found: dict[str, str] = {}
    for item in items:
        word = attached + item.value
        if _HARMLESS.fullmatch(word) and len(found) < _MOST:
            found.setdefault(word, _short(item.help or ""))
    unfinished = bool(found) and all(word.endswith(("=", "/", ".")) for word in found)
    return Answer(list(found.items()), NO_FILES | (NO_SPACE if unfinished else 0), start.removeprefix(attached))


def _short(about: str) -> str:
    line = " ".join(about.split())
    line = "".join(letter for letter in line if letter.isprintable())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
