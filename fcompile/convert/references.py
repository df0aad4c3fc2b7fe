"""What other documents say of a job that is converted: its Pods' names, its labels, the job itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fcompile.convert.ledger import Entry, Outcome
from fcompile.convert.made import Made
from fcompile.convert.registry import is_job, is_kubeflow
from fcompile.convert.texts import is_label_of_operator, said_of_compared
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping, strings, text

_LABEL_REMEDY = "select by FC_FRAMEWORK_NAME, FC_TASKROLE_NAME and FC_TASK_INDEX"

_LONGEST_LABEL = 317
"""Characters of the key of a label."""
_SHOWN = 3
_MOST_JOBS = 10
"""Whose names are looked for in one text."""
_LONGEST_NAME = 253
"""Characters of the name of a job."""
_WORD = re.compile(r"(?<![A-Za-z0-9_.-])[A-Za-z0-9_.]*-[A-Za-z0-9_.-]*")
"""What a name of a Pod may be in."""


class Jobs:
    """The converted jobs, by their names."""

    def __init__(self, made: list[tuple[Any, Made]]) -> None:
        self._made = made
        self._by_name: dict[str, list[int]] = {}
        self._by_kind: dict[tuple[str, str], list[int]] = {}
        for number, (source, _) in enumerate(made):
            name = text(mapping(source, "metadata"), "name") or ""
            self._by_name.setdefault(name, []).append(number)
            self._by_kind.setdefault((text(source, "kind") or "", name), []).append(number)

    def __bool__(self) -> bool:
        return bool(self._made)

    def of_kind(self, kind: str, name: str) -> list[Made]:
        """Return the jobs of a kind and name, in whatever namespace."""
        return [self._made[number][1] for number in self._by_kind.get((kind, name), ())]

    def in_text(self, written: str) -> tuple[list[tuple[Any, Made]], bool]:
        """Return the jobs with whose name a word of a text begins, and whether there may be more of them than are looked at."""
        found: set[int] = set()
        for match in _WORD.finditer(written):
            word = match[0][: _LONGEST_NAME + 1]
            end = word.find("-")
            while end >= 0:
                found.update(self._by_name.get(word[:end], ())[: _MOST_JOBS + 1])
                end = word.find("-", end + 1)
            if len(found) > _MOST_JOBS:
                break
        return [self._made[number] for number in sorted(found)[:_MOST_JOBS]], len(found) > _MOST_JOBS


def references(value: Any, jobs: Jobs) -> Iterator[Entry]:
    """Yield what in another document refers to converted jobs, and will find nothing."""
    if not isinstance(value, dict):
        return
    for path in _jobs_within(value, ()):
        why = "`convert` makes Frameworks of jobs that are documents of their own, or items of a list"
        yield Entry(
            path, Outcome.DIFFERENT, "the job within it is not converted", why, "convert the job alone, and put the Framework in its place"
        )
    if not jobs:
        return
    if is_kubeflow(text(value, "apiVersion") or ""):
        return  # a runtime, or what somebody else makes of one
    secret = text(value, "kind") == "Secret"  # what is in one is never shown, and selects nothing
    for path, _, written in strings(value, ()):
        if not secret and is_label_of_operator(written) and path[-2:-1] not in (("labels",), ("annotations",)):
            why = "Pods of a Framework have no labels of Kubeflow's"
            yield Entry(path, Outcome.DIFFERENT, f"`{written[:_LONGEST_LABEL]}` will select no Pod of a converted job", why, _LABEL_REMEDY)
        named, more = jobs.in_text(written)
        if more:
            why = f"of one text, the names of {_MOST_JOBS} jobs are looked for"
            yield Entry(path, Outcome.DIFFERENT, "it may name Pods of more jobs", why, "look which of their Pods it names")
        for source, one in named:
            renamed = one.hosts.renamed(written)
            if renamed:
                name = text(mapping(source, "metadata"), "name")
                why = f"it names a Pod of the job `{name}`"
                yield Entry(path, Outcome.DIFFERENT, "it names a Pod that will have another name", why, _write(renamed))
            compared = one.hosts.compared(written)
            if compared:
                yield Entry(path, Outcome.DIFFERENT, *said_of_compared(compared, one.hosts.framework))
    target = mapping(mapping(value, "spec"), "scaleTargetRef")
    for one in jobs.of_kind(text(target, "kind") or "", text(target, "name") or "")[:_SHOWN]:
        why = "a Framework has no scale subresource"
        remedy = f"change `taskNumber` of the Framework `{one.draft.name}`"
        yield Entry(("spec", "scaleTargetRef"), Outcome.DIFFERENT, "it scales a job that is no more", why, remedy)


def _write(renamed: dict[str, str]) -> str:
    """Return what to write for names of Pods, and nothing of what stands around them: that may be a password."""
    shown = [f"`{new}` for `{old}`" for old, new in list(renamed.items())[:_SHOWN]]
    more = len(renamed) - len(shown)
    return f"write {', '.join(shown)}{f' and so on for {more} more' if more else ''}"


def _jobs_within(value: Any, path: Path) -> Iterator[Path]:
    """Yield where jobs stand in an object of another kind, such as an AppWrapper or a Workflow."""
    steps: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        if path and is_job(value):
            yield path
            return
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    for step, item in steps:
        yield from _jobs_within(item, (*path, step))
