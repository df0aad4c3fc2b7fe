"""What other documents say of a job that is converted: its Pods' names, its labels, the job itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fcompile.convert.ledger import Entry, Outcome
from fcompile.convert.made import Made
from fcompile.convert.names import Hosts
from fcompile.convert.registry import is_job, is_kubeflow
from fcompile.convert.resources import Resources, commands_of_kubectl, jobs_that_are_referred_to
from fcompile.convert.texts import is_label_of_operator, said_of_compared
from fcompile.diagnostics.problem import Path
from fcompile.model import names
from fcompile.model.values import at, mapping, strings, text

_LABEL_REMEDY = "select by FC_FRAMEWORK_NAME, FC_TASKROLE_NAME and FC_TASK_INDEX"

_LONGEST_LABEL = 317
"""Characters of the key of a label."""
_SHOWN = 3
_MOST_JOBS = 10
"""Whose names are looked for in one text."""
_LONGEST_NAME = 253
"""Characters of the name of a job."""
_NAMESPACE = re.compile(r"[a-z0-9-]+")
_WORD = re.compile(r"(?<![A-Za-z0-9_.-])[A-Za-z0-9_.]*-[A-Za-z0-9_.-]*")
"""What a name of a Pod may be in."""


class Jobs:
    """The converted jobs, by their names."""

    def __init__(self, made: list[tuple[Any, Made]]) -> None:
        self._made = made
        self._by_name: dict[str, dict[str | None, list[int]]] = {}
        """And by their namespaces."""
        self._by_kind: dict[tuple[str, str], list[int]] = {}
        for number, (source, one) in enumerate(made):
            name = text(mapping(source, "metadata"), "name") or ""
            self._by_name.setdefault(name, {}).setdefault(one.draft.namespace, []).append(number)
            self._by_kind.setdefault((text(source, "kind") or "", name), []).append(number)
        self.resources = Resources(_known(source, one) for source, one in made)

    def __bool__(self) -> bool:
        return bool(self._made)

    def of_kind(self, kind: str, name: str) -> list[Made]:
        """Return the jobs of a kind and name, in whatever namespace."""
        return [self._made[number][1] for number in self._by_kind.get((kind, name), ())]

    def in_text(self, written: str, namespace: str | None) -> tuple[list[tuple[Any, Made]], bool]:
        """Return the jobs with whose name a word of a text begins, and whether there may be more of them than are looked at.

        :param namespace: that the text is in. Jobs of other namespaces are meant only where the text names these; None: any may be.
        """
        found: set[int] = set()
        others = None if namespace is None else {namespace, None, *_NAMESPACE.findall(written)}
        for match in _WORD.finditer(written):
            word = match[0][: _LONGEST_NAME + 1]
            end = word.find("-")
            while end >= 0:
                same = self._by_name.get(word[:end], {})
                for one in same if others is None else others & same.keys():
                    found.update(same[one][: _MOST_JOBS + 1])
                    if len(found) > _MOST_JOBS:
                        break
                end = word.find("-", end + 1)
            if len(found) > _MOST_JOBS:
                break
        return [self._made[number] for number in sorted(found)[:_MOST_JOBS]], len(found) > _MOST_JOBS


def _known(source: Any, made: Made) -> tuple[str, str, str, str]:
    group = (text(source, "apiVersion") or "").partition("/")[0]
    return text(source, "kind") or "", group, text(mapping(source, "metadata"), "name") or "", made.draft.name


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
    kind = text(value, "kind")
    secret = kind == "Secret"  # what is in one is never shown, and selects nothing
    for path, part, written in strings(value, ()):
        no_selector = _is_no_selector(path)
        if not secret and is_label_of_operator(written) and not no_selector:
            why = "Pods of a Framework have no labels of Kubeflow's"
            yield Entry(path, Outcome.DIFFERENT, f"`{written[:_LONGEST_LABEL]}` will select no Pod of a converted job", why, _LABEL_REMEDY)
        elif not secret and not no_selector:
            yield from jobs.resources.in_selector(written, path)
        if kind != "CustomResourceDefinition" and (part == "key" or path[-1:] != ("name",)):
            yield from jobs.resources.in_text(written, path)
    yield from _of_others(value, (), jobs, None)
    for path, one_kind, name in jobs_that_are_referred_to(value, is_job):
        for one in jobs.of_kind(one_kind, name)[:_SHOWN]:
            framework = one.draft.name
            if path == ("spec", "scaleTargetRef"):
                why, remedy = "a Framework has no scale subresource", f"change `taskNumber` of the Framework `{framework}`"
                yield Entry(path, Outcome.DIFFERENT, "it scales a job that is no more", why, remedy)
            else:
                what, why = f"it refers to the {one_kind} `{name}`, which is no more", f"it is the Framework `{framework}` now"
                remedy = f"refer to the Framework `{framework}` of `{names.API_VERSION}`"
                yield Entry(path, Outcome.DIFFERENT, what, why, remedy)


def references_in_job(source: Any, made: Made, jobs: Jobs) -> Iterator[Entry]:
    """Yield what in a job that is converted refers to other jobs that are."""
    spec = mapping(source, "spec")
    told = set()
    for entry in _in_job(spec, ("spec",), jobs, made):
        told.add(entry.what + entry.remedy)
        yield entry
    for role in made.draft.roles:
        # What is not in the job itself is in its runtime, another document.
        for entry in () if mapping(at(source, role.template_source), "spec") else _in_job(role.template, (), jobs, made):
            if entry.what + entry.remedy not in told:
                told.add(entry.what + entry.remedy)
                yield entry._replace(path=role.template_source)


def _is_no_selector(path: Path) -> bool:
    """Return whether what stands there is a label or annotation itself, or a field that a variable reads."""
    return path[-2:-1] in (("labels",), ("annotations",)) or path[-1:] == ("fieldPath",)


def _in_job(value: dict[str, Any], path: Path, jobs: Jobs, own: Made) -> Iterator[Entry]:
    for at_path, _, written in strings(value, path):
        yield from jobs.resources.in_text(written, at_path)
        if not is_label_of_operator(written) and not _is_no_selector(at_path):
            yield from jobs.resources.in_selector(written, at_path)
    yield from _of_others(value, path, jobs, own)


def _of_others(value: Any, path: Path, jobs: Jobs, own: Made | None) -> Iterator[Entry]:
    """Yield the names of Pods of other jobs.

    :param own: the job that the value is of: its own names are rewritten.
    """
    commands = commands_of_kubectl(value)
    for entry in jobs.resources.in_object(value, commands):
        yield entry._replace(path=(*path, *entry.path))
    containers = {found[:-1] for found in commands}
    for where, _, written in strings(value, ()):
        named, more = jobs.in_text(written, None if own is None else own.draft.namespace)
        if more:
            why = f"of one text, the names of {_MOST_JOBS} jobs are looked for"
            yield Entry((*path, *where), Outcome.DIFFERENT, "it may name Pods of more jobs", why, "look which of their Pods it names")
        all_names = where[-2:-1] in (("command",), ("args",)) and where[:-2] in containers
        for source, one in named:
            if one is not own:
                name = text(mapping(source, "metadata"), "name") or ""
                yield from _of_other(written, (*path, *where), name, one.hosts, None if own is None else own.hosts, all_names)


def _of_other(written: str, path: Path, job: str, hosts: Hosts, own: Hosts | None, all_names: bool) -> Iterator[Entry]:
    """Yield what a text says of the Pods of another job."""
    mine = {} if own is None else own.compared(written, all_names=True)
    compared = {name: task for name, task in hosts.compared(written, all_names=all_names).items() if name not in mine}
    renamed = {name: new for name, new in hosts.renamed(written).items() if name not in mine and not all_names}
    if renamed:
        why = f"it names a Pod of the job `{job}`"
        yield Entry(path, Outcome.DIFFERENT, "it names a Pod that will have another name", why, _write(renamed))
    if compared:
        yield Entry(path, Outcome.DIFFERENT, *said_of_compared(compared, hosts.framework))
    if hosts.has_unfinished_name(written) and not (own is not None and own.has_unfinished_name(written)):
        why = f"it is a Pod of the job `{job}`, whose tasks have other names here"
        remedy = f"write the form {{role}}-{{index}}.{hosts.framework}-{{role}} there"
        yield Entry(path, Outcome.DIFFERENT, "the name of a Pod is put together when it runs, and will be none", why, remedy)


def _write(renamed: dict[str, str]) -> str:
    """Return what to write for names of Pods, and nothing of what stands around them: that may be a password."""
    shown = [f"`{new}` for `{old}`" for old, new in list(renamed.items())[:_SHOWN]]
    more = len(renamed) - len(shown)
    return f"write {', '.join(shown)}{f' and so on for {more} more' if more else ''}"


def _jobs_within(value: Any, path: Path) -> Iterator[Path]:
    """Yield where jobs stand in an object of another kind, such as an AppWrapper or a Workflow."""
    steps: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        if path and is_job(value) and mapping(value, "spec"):
            yield path
            return
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    for step, item in steps:
        yield from _jobs_within(item, (*path, step))
