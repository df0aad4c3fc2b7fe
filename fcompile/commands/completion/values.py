"""What the values of arguments and options can be, beyond what click knows itself."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from fcompile.commands.completion.words import Candidate
from fcompile.load.files import SUFFIXES

Candidates = Callable[[click.Context, str], Iterator[Candidate]]
ENDINGS = SUFFIXES
SECONDS = 0.1
"""For what is read from files or git. A Python that starts takes half of the time that nobody notices."""


class _TooLate(BaseException):
    pass


def offered(kind: str, context: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the candidates for a value: `file` and `folder`, which shells find themselves, or one of `KINDS`."""
    if kind in ("file", "folder"):
        return [CompletionItem(incomplete, type="dir" if kind == "folder" else "file")]
    found = _in_time(KINDS[kind](context, incomplete))  # Modules are imported before the time begins.
    return [CompletionItem(word, help=about) for word, about in found if word.startswith(incomplete)]


def _in_time(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return those that are found in time. What takes longer, or goes wrong, is given up without a word."""
    found: list[Candidate] = []
    with suppress(_TooLate, Exception):
        if sys.platform == "win32":  # No signal wakes a program there.
            found.extend(candidates)
        else:
            signal.signal(signal.SIGALRM, _too_late)
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
            try:
                found.extend(candidates)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def _too_late(*_: object) -> NoReturn:
    raise _TooLate


def _frameworks(context: click.Context) -> Iterator[dict[str, Any]]:
    """Yield the Frameworks in the files that the line names, or in those of the current folder where it need not name any."""
    from fcompile.commands.completion.frameworks import frameworks_of

    (paths,) = (param for param in context.command.params if param.name == "paths")
    return frameworks_of(context.params.get("paths") or ([] if paths.required else ["."]))


def _from_frameworks(name: str, ending: str = "") -> Candidates:
    """Return what offers names from Frameworks: a function of `completion.frameworks`, which is imported when it is called."""

    def candidates(context: click.Context, current: str) -> Iterator[Candidate]:
        from fcompile.commands.completion import frameworks

        return ((word + ending, about) for word, about in getattr(frameworks, name)(_frameworks(context), current))

    return candidates


def _kinds(_: click.Context, current: str) -> Iterator[Candidate]:
    from fcompile.pipeline.selection import WRITTEN

    before = current.rpartition(",")[0]
    there = before.split(",") if before else []
    return ((",".join([*there, kind]), "") for kind in WRITTEN if kind not in there)


def _output(_: click.Context, current: str) -> Iterator[Candidate]:
    kind, equals, path = current.partition("=")
    if kind != "dir" or not equals:
        yield from (("yaml", ""), ("json", ""), ("name", ""), ("dir=", "a file per object, in this folder"))
        return
    folder = os.path.dirname(path)
    with os.scandir(folder or ".") as found:
        # Hidden ones only for somebody who has begun to write one.
        names = sorted(entry.name for entry in found if entry.is_dir() and (entry.name[0] != "." or os.path.basename(path)[:1] == "."))
    yield from ((f"dir={os.path.join(folder, name)}/", "") for name in names)


def _versions(_: click.Context, __: str) -> Iterator[Candidate]:
    from fcompile.schema.pod_schemas import VERSIONS

    return ((f"1.{minor}", "") for minor in reversed(VERSIONS))


def _rules(context: click.Context, current: str) -> Iterator[Candidate]:
    from fcompile.diagnostics.catalog import all_rules

    there = {word.lower() for word in context.params.get("rules") or ()}
    rules = [rule for rule in all_rules() if rule.code.lower() not in there and rule.name not in there]
    # The name does as well; it is offered to somebody who has begun to write one.
    by_name = current[:1].islower()
    return ((rule.name, rule.summary) if by_name else (rule.code, f"{rule.name}: {rule.summary}") for rule in rules)


def _revisions(_: click.Context, current: str) -> Iterator[Candidate]:
    from fcompile.commands.git.process import ask

    dots = next((dots for dots in ("...", "..") if dots in current), "")
    before = current.rpartition(dots)[0] + dots if dots else ""

    def listed() -> Iterator[Candidate]:
        yield f"{before}HEAD", "what is checked out"
        done = ask("for-each-ref", "--count=400", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes")
        for name in done.stdout.decode("utf-8", "replace").splitlines():
            what, short = name.removeprefix("refs/").split("/", 1)
            yield before + short, {"heads": "branch", "tags": "tag"}.get(what, "remote branch")

    return listed()


KINDS: dict[str, Candidates] = {
    "exit": _from_frameworks("pods", "="),
    "kinds": _kinds,
    "output": _output,
    "override": _from_frameworks("fields_to_set"),
    "pod": _from_frameworks("pods"),
    "revision": _revisions,
    "rule": _rules,
    "task": _from_frameworks("only"),
    "version": _versions,
}
"""By what the options call them (`group.completed`)."""
