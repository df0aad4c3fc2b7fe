"""What the value of an argument can be, by what the help calls it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from fcompile.commands.completion.line import Candidate, Line
from fcompile.load.files import SUFFIXES

FILES = ("PATH", "FILE")
FOLDERS = ("FOLDER",)
ENDINGS = SUFFIXES


class Asked(NamedTuple):
    """A value that is being typed."""

    line: Line
    current: str

    def frameworks(self) -> Iterator[dict[str, Any]]:
        """The Frameworks in the files that the line names, or that are read when it names none."""
        from fcompile.commands.completion.frameworks import frameworks_of

        paths = [word for action, word in self.line.given if action.metavar == "PATH"]
        return frameworks_of(paths or self.line.default("PATH"))


def _only(asked: Asked) -> Iterable[Candidate]:
    from fcompile.commands.completion.frameworks import only

    return only(asked.frameworks(), asked.current)


def _fields_to_set(asked: Asked) -> Iterable[Candidate]:
    from fcompile.commands.completion.frameworks import fields_to_set

    return fields_to_set(asked.frameworks(), asked.current)


def _pods(asked: Asked) -> Iterable[Candidate]:
    from fcompile.commands.completion.frameworks import pods

    return pods(asked.frameworks(), asked.current)


def _pods_that_exit(asked: Asked) -> Iterable[Candidate]:
    return ((f"{pod}=", about) for pod, about in _pods(asked))


def _kinds(asked: Asked) -> Iterable[Candidate]:
    from fcompile.pipeline.selection import KINDS

    before = asked.current.rpartition(",")[0]
    there = before.split(",") if before else []
    return ((",".join([*there, kind]), "") for kind in ("expected", *KINDS) if kind not in there)


def _output(asked: Asked) -> Iterator[Candidate]:
    kind, equals, path = asked.current.partition("=")
    if kind != "dir" or not equals:
        yield from (("yaml", ""), ("json", ""), ("name", ""), ("dir=", "a file per object, in this folder"))
        return
    folder = os.path.dirname(path)
    with os.scandir(folder or ".") as found:
        # Hidden ones only for somebody who has begun to write one.
        names = sorted(entry.name for entry in found if entry.is_dir() and (entry.name[0] != "." or os.path.basename(path)[:1] == "."))
    yield from ((f"dir={os.path.join(folder, name)}/", "") for name in names)


def _versions(_: Asked) -> Iterable[Candidate]:
    from fcompile.schema.pod_schemas import VERSIONS

    return ((f"1.{minor}", "") for minor in reversed(VERSIONS))


def _rules(asked: Asked) -> Iterable[Candidate]:
    from fcompile.diagnostics.catalog import all_rules

    there = {word.lower() for _, word in asked.line.given}
    rules = [rule for rule in all_rules() if rule.code.lower() not in there and rule.name not in there]
    # The name does as well; it is offered to somebody who has begun to write one.
    by_name = asked.current[:1].islower()
    return [(rule.name, rule.summary) if by_name else (rule.code, f"{rule.name}: {rule.summary}") for rule in rules]


def _revisions(asked: Asked) -> Iterable[Candidate]:
    import subprocess

    from fcompile.commands.git_process import COMMAND, environment

    dots = next((dots for dots in ("...", "..") if dots in asked.current), "")
    before = asked.current.rpartition(dots)[0] + dots if dots else ""

    def listed() -> Iterator[Candidate]:
        yield f"{before}HEAD", "what is checked out"
        command = [*COMMAND, "for-each-ref", "--count=400", "--format=%(refname)", "refs/heads", "refs/tags", "refs/remotes"]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, env=environment()
        )
        for name in done.stdout.splitlines():
            _, kind, short = name.split("/", 2)
            yield before + short, {"heads": "branch", "tags": "tag"}.get(kind, "remote branch")

    return listed()


WORDS: dict[str, Callable[[Asked], Iterable[Candidate]]] = {
    "CODE": _rules,
    "FORMAT": _output,
    "LIST": _kinds,
    "POD=CODES": _pods_that_exit,
    "POD[.FIELD]": _pods,
    "REV[..REV]": _revisions,
    "ROLE.FIELD=VALUE": _fields_to_set,
    "ROLE[INDEX]": _only,
    "VERSION": _versions,
}
