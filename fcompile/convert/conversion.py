"""A conversion: files in, documents out, and an account of every job. Nothing is printed here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from fcompile.check.document import Options
from fcompile.check.selection import is_framework, objects_in
from fcompile.convert.draft import Draft
from fcompile.convert.ledger import Entry, Outcome, Refusal, shown
from fcompile.convert.made import Made
from fcompile.convert.references import references
from fcompile.convert.registry import convert_job, is_job, is_unknown_job
from fcompile.convert.texts import tell_placeholders
from fcompile.convert.write import write_framework
from fcompile.diagnostics.problem import Path, Problem, Severity, Span, field_path
from fcompile.emit import yaml as plain_yaml
from fcompile.load import Document, LoadError
from fcompile.load.files import FileEntry
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation
from fcompile.pipeline.file import File, open_file
from fcompile.pipeline.passthrough import own_text

_SHOWN = 3
"""Of others of the same name."""


class Reason(NamedTuple):
    """Why a job is refused."""

    path: Path
    text: str


class Account(NamedTuple):
    """What became of one job, or of another document that refers to one."""

    document: Document
    item: Path
    """Where the object is in the document."""
    kind: str
    name: str
    namespace: str | None
    made: Draft | None
    """None: it was refused, or passed through."""
    entries: tuple[Entry, ...] = ()
    reasons: tuple[Reason, ...] = ()
    """Why it was refused."""

    @property
    def file(self) -> str:
        """Return the file that it is in."""
        return self.document.source.name

    @property
    def different(self) -> list[Entry]:
        """Return what will be different."""
        return [entry for entry in self.entries if entry.outcome is Outcome.DIFFERENT]

    @property
    def counts(self) -> Counter[Outcome]:
        """Return how many entries of each outcome there are."""
        return Counter(entry.outcome for entry in self.entries)

    def span(self, path: Path = ()) -> Span:
        """Return where a field of the source is, or the nearest one above it."""
        return self.document.locate((*self.item, *path))


class Converted(NamedTuple):
    """What came of one file."""

    name: str
    texts: list[str]
    """Documents of a stream."""


class _Object(NamedTuple):
    document: Document
    item: Path
    value: Any


class Conversion:
    """Files, and what they come to."""

    def __init__(self, files: Iterable[File], options: Options) -> None:
        self._options = options
        self._written: dict[int, str] = {}
        """By the source of each, so that none is written twice: that takes most of the time."""
        self.files: list[Converted] = []
        self.accounts: list[Account] = []
        self.unreadable: list[LoadError] = []
        self.frameworks = 0
        """How many are Frameworks already, and pass through."""
        self._run(list(files))

    @property
    def jobs(self) -> list[Account]:
        """Return the accounts of jobs."""
        return [account for account in self.accounts if account.made is not None or account.reasons]

    @property
    def refused(self) -> list[Account]:
        """Return the accounts of jobs that were refused."""
        return [account for account in self.accounts if account.reasons]

    @property
    def different(self) -> bool:
        """Return whether anything will be different."""
        return any(account.different for account in self.accounts)

    def text(self) -> str:
        """Return one stream of all documents."""
        return "".join(text for file in self.files for text in file.texts)

    def _run(self, files: list[File]) -> None:
        objects = [one for file in files for document in file.documents() for one in _objects(document)]
        self.frameworks = sum(is_framework(one.value) for one in objects)
        values = [one.value for one in objects]
        results = {id(one.value): _converted(one, values) for one in objects if is_job(one.value) or is_unknown_job(one.value)}
        self._refuse_collisions(objects, results)
        self._refuse_collisions_beside(objects, results)
        for one in objects:
            result = results.get(id(one.value))
            if isinstance(result, Made):
                results[id(one.value)] = self._checked(one, result)
        made = [(one, result) for one in objects if isinstance(result := results.get(id(one.value)), Made)]
        for file in files:
            self._file(file, results, [(one.value, result) for one, result in made])

    def _file(self, file: File, results: dict[int, Made | tuple[Reason, ...]], made: list[tuple[Any, Made]]) -> None:
        texts: list[str] = []
        for item in file.read:
            if isinstance(item, LoadError):
                if item.rule.severity is Severity.ERROR:
                    self.unreadable.append(item)
                continue
            objects = list(_objects(item))
            if not any(id(one.value) in results for one in objects):
                for one in objects:
                    self._tell_references(one, made)
                texts.append(own_text(item) or plain_yaml.document(item.value))
                continue
            for one in objects:
                result = results.get(id(one.value))
                if not isinstance(one.value, dict):
                    self.accounts.append(_account(one, (Reason((), "it is no object"),)))
                elif result is None:
                    self._tell_references(one, made)
                    texts.append(plain_yaml.document(one.value))
                else:
                    self.accounts.append(_account(one, result))
                    if isinstance(result, Made):
                        texts.append(self._written[id(one.value)])
        self.files.append(Converted(file.name, texts))

    def _tell_references(self, one: _Object, made: list[tuple[Any, Made]]) -> None:
        found = tuple(shown(references(one.value, made)))
        if found:
            metadata = mapping(one.value, "metadata")
            name, namespace = text(metadata, "name") or "", text(metadata, "namespace")
            self.accounts.append(Account(one.document, one.item, text(one.value, "kind") or "", name, namespace, None, found))

    def _refuse_collisions(self, objects: list[_Object], results: dict[int, Made | tuple[Reason, ...]]) -> None:
        names: dict[tuple[str, str], list[_Object]] = {}
        for one in objects:
            result = results.get(id(one.value))
            if isinstance(result, Made):
                names.setdefault((result.draft.namespace or self._options.namespace, result.draft.name), []).append(one)
            elif is_framework(one.value):
                metadata = mapping(one.value, "metadata")
                key = text(metadata, "namespace") or self._options.namespace, text(metadata, "name") or ""
                names.setdefault(key, []).append(one)
        for (_, name), same in names.items():
            for one in same if len(same) > 1 else ():
                if id(one.value) in results:
                    others = [other for other in same[: _SHOWN + 1] if other is not one][:_SHOWN]
                    places = ", ".join(f"{other.document.source.name}:{other.document.locate(other.item).line}" for other in others)
                    why = f"its Framework would be named `{name}`, as that of {places}: rename one of them"
                    results[id(one.value)] = (Reason(("metadata", "name"), why),)

    def _refuse_collisions_beside(self, objects: list[_Object], results: dict[int, Made | tuple[Reason, ...]]) -> None:
        """Refuse each job that comes with an object, such as a ConfigMap, of which the input has another of the same name."""
        there = {self._key(one.value): one for one in reversed(objects)}
        for one in objects:
            result = results.get(id(one.value))
            for beside in result.draft.beside if isinstance(result, Made) else ():
                other = there.get(self._key(beside))
                if other is not None:
                    kind, name = text(beside, "kind") or "", text(mapping(beside, "metadata"), "name") or ""
                    place = f"{other.document.source.name}:{other.document.locate(other.item).line}"
                    why = f"with its Framework comes a {kind} `{name}`, and {place} is one of that name: rename one of them"
                    results[id(one.value)] = (Reason(("metadata", "name"), why),)

    def _key(self, value: Any) -> tuple[str, str, str]:
        metadata = mapping(value, "metadata")
        return text(value, "kind") or "", text(metadata, "namespace") or self._options.namespace, text(metadata, "name") or ""

    def _checked(self, one: _Object, made: Made) -> Made | tuple[Reason, ...]:
        """Return what was made if it has no error, else what is wrong with it, in the source."""
        written = self._written[id(one.value)] = write_framework(made.draft)
        compilation = Compilation([open_file(FileEntry("-", "-"), written.encode("utf-8", "surrogatepass"))], self._options)
        errors = [problem for problem in compilation.problems if problem.severity is Severity.ERROR]
        return tuple(_in_source(problem, made.draft) for problem in errors) or made


def _objects(document: Document) -> Iterator[_Object]:
    for path, value in objects_in(document.value):
        yield _Object(document, path, value)


def _converted(one: _Object, others: list[Any]) -> Made | tuple[Reason, ...]:
    try:
        made = convert_job(one.value, others)
    except Refusal as refusal:
        return (Reason(refusal.path, refusal.reason),)
    tell_placeholders(mapping(one.value, "spec"), ("spec",), made.ledger)
    return made


def _account(one: _Object, result: Made | tuple[Reason, ...]) -> Account:
    metadata = mapping(one.value, "metadata")
    kind, name, namespace = text(one.value, "kind") or "", text(metadata, "name") or "", text(metadata, "namespace")
    if isinstance(result, Made):
        return Account(one.document, one.item, kind, name, namespace, result.draft, tuple(result.ledger.entries(one.value)))
    return Account(one.document, one.item, kind, name, namespace, None, (), result)


def _in_source(problem: Problem, draft: Draft) -> Reason:
    """Return an error of the Framework as a reason, with the field of the source that it comes from."""
    path = problem.path
    if path[:2] == ("spec", "taskRoles") and len(path) > 2 and isinstance(path[2], int) and path[2] < len(draft.roles):
        role = draft.roles[path[2]]
        inside = path[3:5] == ("task", "pod")
        path = (*role.template_source, *path[5:]) if inside else role.source
    return Reason(path, f"the Framework would have an error, {problem.rule.code} at {field_path(problem.path)}: {problem.message}")
