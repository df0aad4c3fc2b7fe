"""A conversion: files in, documents out, and an account of every job. Nothing is printed here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from fcompile.check.document import Options
from fcompile.check.objects import is_framework, objects_in
from fcompile.check.tool_files import KUSTOMIZATIONS
from fcompile.convert.comment_lines import tell_comments
from fcompile.convert.comments import comment_differences
from fcompile.convert.draft import Draft
from fcompile.convert.ledger import Elsewhere, Entry, Outcome, Refusal, shown
from fcompile.convert.made import Made
from fcompile.convert.references import Jobs, references, references_in_job
from fcompile.convert.registry import convert_job, is_job, is_unknown_job
from fcompile.convert.repair import filled, repaired
from fcompile.convert.runtimes import Runtimes
from fcompile.convert.texts import tell_placeholders
from fcompile.convert.write import write_framework
from fcompile.diagnostics.problem import Part, Path, Problem, Severity, Span, cut, field_path
from fcompile.emit import yaml as plain_yaml
from fcompile.load import Document
from fcompile.load.files import FileEntry
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation
from fcompile.pipeline.file import File, open_file
from fcompile.pipeline.passthrough import PassedThrough, own_text

MAX_OUTPUT = 32 * 1024 * 1024
"""Characters of Frameworks that are made at once: a job of a hundred bytes can name thousands of tasks in its variables."""
_LONGEST_REASON = 2_000
"""Characters. A reason can quote a value."""
_SHOWN = 3
"""Of others of the same name."""
_BY_HAND = {"batch": "Kubernetes", "batch.volcano.sh": "Volcano"}
"""Groups with a kind Job that docs/faq.md says how to move, and whose it is."""
_MISTAKES = 20
"""Of one job that are looked for, each in what is left without the others."""


class Reason(NamedTuple):
    """Why a job is refused."""

    path: Path
    text: str
    elsewhere: Elsewhere | None = None
    """Where in another object it lies."""
    part: Part = "value"
    """What of the field is shown."""


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

    def span(self, path: Path = (), part: Part = "value") -> Span:
        """Return where a field of the source is, or the nearest one above it."""
        return self.document.locate((*self.item, *path), part)


class Converted(NamedTuple):
    """What came of one file."""

    name: str
    texts: list[str]
    """Documents of a stream."""


class _Mistakes:
    """Why a job is refused: each reason is looked for in what is left without the ones before it."""

    def __init__(self) -> None:
        self.reasons: list[Reason] = []
        self._renamed: dict[Path, Path] = {}
        """The fields that were given the names that were meant: their names in the source, by their new ones."""
        self._missing: list[Refusal] = []
        """Of fields that were taken out, and can be filled where a job cannot be without them."""

    def convert(self, source: dict[str, Any] | None, runtimes: Runtimes) -> Made | None:
        """Return what is made of a job, without what is wrong with it; None: too much is."""
        while source is not None:
            try:
                return convert_job(source, runtimes)
            except Refusal as refusal:
                path = self._as_written(refusal.path)
                if any(reason.path[: len(path)] == path for reason in self.reasons):
                    source = self._filled(source, refusal.path)  # That comes of the repair.
                    continue
                self.reasons.append(Reason(path, refusal.reason, refusal.elsewhere, refusal.part))
                if refusal.meant is not None:
                    self._renamed[(*refusal.path[:-1], refusal.meant)] = refusal.path
                if refusal.instead is not None:
                    self._missing.append(refusal)
                source = repaired(source, refusal) if len(self.reasons) < _MISTAKES else None
        return None

    def _filled(self, source: dict[str, Any], path: Path) -> dict[str, Any] | None:
        """Return a job with the field that it cannot be without; None: there is none to fill."""
        found = next((one for one in self._missing if one.path[: len(path)] == path), None)
        if found is None:
            return None
        self._missing.remove(found)
        return filled(source, found)

    def note(self, reason: Reason) -> None:
        """Take in a reason that was found in what was made."""
        self.reasons.append(reason._replace(path=self._as_written(reason.path)))

    def _as_written(self, path: Path) -> Path:
        """Return the path of a field as it is in the source."""
        for new, old in reversed(self._renamed.items()):
            if path[: len(new)] == new:
                path = (*old, *path[len(new) :])
        return path


class _Object:
    """An object of the input on its way: what it is, what comes of it, and the text of that."""

    def __init__(self, document: Document, item: Path, value: Any) -> None:
        self.document = document
        self.item = item
        self.value = value
        self.is_job = is_job(value) or is_unknown_job(value)
        self.made: Made | None = None
        self.reasons: tuple[Reason, ...] = ()
        """Why it is refused."""
        self.text = ""

    @property
    def location(self) -> str:
        """Return where it is, for people."""
        return f"{self.document.source.name}:{self.document.locate(self.item).line}"

    def convert(self, runtimes: Runtimes, options: Options, namespace: str | None, room: int) -> int:
        """Make a Framework of a job and write it, or refuse it. Return how many characters of the room are left.

        :param namespace: of a job that gives none.
        """
        if room <= 0:
            self.refuse(Reason((), f"the Frameworks of this run have more than {MAX_OUTPUT >> 20} MiB: convert fewer files at once"))
            return room
        mistakes = _Mistakes()
        made = mistakes.convert(self._in_namespace(namespace), runtimes)
        text = "" if made is None else write_framework(made.draft)
        if made is not None and not mistakes.reasons:
            self.made, self.text = made, text
            tell_placeholders(mapping(self.value, "spec"), ("spec",), made.ledger)
        else:
            for error in () if made is None else _errors(text, made.draft, options):
                mistakes.note(error)
            found = list({(reason.path, reason.text): reason for reason in mistakes.reasons}.values())
            if len(found) > 1:
                found.sort(key=lambda reason: self.document.locate((*self.item, *reason.path)).start)
            self.refuse(*found)
        return room - len(text)

    def _in_namespace(self, namespace: str | None) -> dict[str, Any]:
        source: dict[str, Any] = self.value
        metadata = source.get("metadata")
        if namespace and isinstance(metadata, dict) and not metadata.get("namespace"):
            source = {**source, "metadata": {**metadata, "namespace": namespace}}
        return source

    def refuse(self, *reasons: Reason) -> None:
        """Refuse it, whatever was made of it."""
        self.made, self.text = None, ""
        self.reasons = tuple(reason._replace(text=cut(reason.text, _LONGEST_REASON)) for reason in reasons)

    def name_here(self, default: str) -> tuple[str, str] | None:
        """Return the namespace and name of the Framework that it becomes, or is."""
        if self.made is not None:
            return self.made.draft.namespace or default, self.made.draft.name
        if is_framework(self.value):
            metadata = mapping(self.value, "metadata")
            return text(metadata, "namespace") or default, text(metadata, "name") or ""
        return None

    def check(self, options: Options) -> None:
        """Refuse a job of which a Framework with an error was made, which is told of in the source."""
        if self.made is None:
            return
        errors = _errors(self.text, self.made.draft, options)
        if errors:
            self.refuse(*errors)

    def tell_references(self, jobs: Jobs) -> None:
        """Take down what in a job refers to other jobs, and write its Framework anew where that is anything."""
        found = [] if self.made is None else list(references_in_job(self.value, self.made, jobs))
        if self.made is not None and found:
            for entry in found:
                self.made.ledger.different(entry.path, entry.what, entry.why, entry.remedy)
            comment_differences(self.made.draft, found)
            self.text = write_framework(self.made.draft)

    def account(self, entries: tuple[Entry, ...], reasons: tuple[Reason, ...] = ()) -> Account:
        """Return the account of it."""
        metadata = mapping(self.value, "metadata")
        kind, name, generated = (cut(text(*of) or "") for of in ((self.value, "kind"), (metadata, "name"), (metadata, "generateName")))
        name = name or (f"{generated}…" if generated else "")
        namespace = cut(text(metadata, "namespace") or "") or None
        return Account(self.document, self.item, kind, name, namespace, None if self.made is None else self.made.draft, entries, reasons)


class Conversion:
    """Files, and what they come to."""

    def __init__(self, files: Iterable[File], options: Options, namespace: str | None = None) -> None:
        """:param namespace: of jobs that give none; None: their Frameworks give none either."""
        self._options = options
        self._namespace = namespace
        self.files: list[Converted] = []
        self.accounts: list[Account] = []
        self.unreadable: list[Problem] = []
        self.frameworks = 0
        """How many are Frameworks already, and pass through."""
        self.skipped: list[tuple[str, str]] = []
        """The files that another tool has to read first, each with the reason."""
        self.left_out: list[tuple[str, str]] = []
        """Where documents are that no cluster takes, each with the reason."""
        self._others: list[_Object] = []
        self._by_identity: dict[int, _Object] = {}
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
    def differences(self) -> int:
        """Return how many differences there are in all."""
        return sum(len(account.different) for account in self.accounts)

    def found(self) -> str:
        """Return what the input has in place of jobs, as the end of a message; empty when it has nothing."""
        kinds: dict[str, str] = {}
        for one in self._others:
            kind, version = text(one.value, "kind"), text(one.value, "apiVersion")
            if kind:
                kinds.setdefault(f"{kind} of {version}" if version else f"{kind} without an apiVersion", one.location)
        shown = [f"{kind} ({location})" for kind, location in list(kinds.items())[:_SHOWN]]
        by_hand = next((f"; {reason}" for _, reason in self.by_hand), "")
        return f", but {', '.join(shown)}{', …' if len(kinds) > _SHOWN else ''}{by_hand}" if shown else ""

    @property
    def by_hand(self) -> list[tuple[str, str]]:
        """Return where Jobs are that pass through and that docs/faq.md says how to move, each with that."""
        kinds = [(one.location, text(one.value, "kind"), (text(one.value, "apiVersion") or "").split("/")[0]) for one in self._others]
        found = [(place, _BY_HAND[group]) for place, kind, group in kinds if kind == "Job" and group in _BY_HAND]
        return [(place, f"a Job of {whose} is moved by hand: see docs/faq.md") for place, whose in found]

    def texts(self) -> Iterator[str]:
        """Yield the documents of one stream."""
        for file in self.files:
            yield from file.texts

    def text(self) -> str:
        """Return one stream of all documents."""
        return "".join(self.texts())

    def _run(self, files: list[File]) -> None:
        options = self._options
        self.skipped = [(file.name, file.skipped) for file in files if file.skipped]
        streams = [(file, [(item, _objects(item)) for item in file.read]) for file in files if not file.skipped]
        objects = [one for _, stream in streams for _, found in stream for one in found]
        self.frameworks = sum(is_framework(one.value) for one in objects)
        self._by_identity = {id(one.value): one for one in objects if isinstance(one.value, dict)}
        runtimes = Runtimes(one.value for one in objects)
        jobs = [one for one in objects if one.is_job]
        self._others = [one for one in objects if not one.is_job]
        room = MAX_OUTPUT
        for one in jobs:
            room = one.convert(runtimes, options, self._namespace, room)
        self._refuse_collisions(objects)
        self._refuse_collisions_beside(objects)
        for one in jobs:
            one.check(options)
        made = Jobs([(one.value, one.made) for one in jobs if one.made is not None])
        for one in jobs:
            one.tell_references(made)
        for file, stream in streams:
            texts = [one for item, found in stream for one in self._texts(item, found, made)]
            self.files.append(Converted(file.name, texts))

    def _texts(self, item: Document | Problem, objects: list[_Object], made: Jobs) -> Iterator[str]:
        """Yield what comes of a document, and take down the accounts of what is in it."""
        if isinstance(item, Problem):
            if item.rule.severity is Severity.ERROR:
                self.unreadable.append(item)
        elif not any(one.is_job for one in objects):
            if not PassedThrough(item.value, item).is_object and item.value is not None:
                self.left_out.append((f"{item.source.name}:{item.locate(()).line}", _not_an_object(item)))
                return
            for one in objects:
                self._tell_references(one, made)
            yield own_text(item) or plain_yaml.document(item.value)
        else:
            for one in objects:
                yield from self._text(one, made)

    def _text(self, one: _Object, made: Jobs) -> Iterator[str]:
        """Yield what comes of an object that stands beside a job in a list, or is one."""
        if not isinstance(one.value, dict):
            self.accounts.append(one.account((), (Reason((), "it is no object"),)))
        elif not one.is_job:
            self._tell_references(one, made)
            yield plain_yaml.document(one.value)
        elif one.made is None:
            self.accounts.append(one.account((), tuple(self._placed(reason) for reason in one.reasons)))
        else:
            comments = tell_comments(one.document, one.item)
            one.made.draft.remarks += [comments] if comments else []
            self.accounts.append(one.account(tuple(one.made.ledger.entries(one.value))))
            yield one.text

    def _placed(self, reason: Reason) -> Reason:
        """Return a reason with the place in another document, where it lies in one."""
        other = None if reason.elsewhere is None else self._by_identity.get(id(reason.elsewhere.value))
        if reason.elsewhere is None or other is None:
            return reason
        span = other.document.locate((*other.item, *reason.elsewhere.path))
        return reason._replace(text=f"{reason.text} ({other.document.source.name}:{span.line}:{span.column})")

    def _tell_references(self, one: _Object, made: Jobs) -> None:
        found = tuple(shown(references(one.value, made)))
        if found:
            self.accounts.append(one.account(found))

    def _refuse_collisions(self, objects: list[_Object]) -> None:
        names: dict[tuple[str, str], list[_Object]] = {}
        for one in objects:
            key = one.name_here(self._options.namespace)
            if key is not None:
                names.setdefault(key, []).append(one)
        for (_, name), same in names.items():
            for one in same if len(same) > 1 else ():
                if one.is_job:
                    others = [other for other in same[: _SHOWN + 1] if other is not one][:_SHOWN]
                    places = ", ".join(other.location for other in others)
                    why = f"its Framework would be named `{name}`, as that of {places}: rename one of them"
                    one.refuse(Reason(("metadata", "name"), why))

    def _refuse_collisions_beside(self, objects: list[_Object]) -> None:
        """Refuse each job that comes with an object, such as a ConfigMap, of which the input has another of the same name."""
        there = {self._key(one.value): one for one in reversed(objects)}
        for one in objects:
            for beside in one.made.draft.beside if one.made is not None else ():
                other = there.get(self._key(beside))
                if other is not None:
                    kind, name = text(beside, "kind") or "", text(mapping(beside, "metadata"), "name") or ""
                    why = f"with its Framework comes a {kind} `{name}`, and {other.location} is one of that name: rename one of them"
                    one.refuse(Reason(("metadata", "name"), why))

    def _key(self, value: Any) -> tuple[str, str, str]:
        metadata = mapping(value, "metadata")
        return text(value, "kind") or "", text(metadata, "namespace") or self._options.namespace, text(metadata, "name") or ""


def _not_an_object(document: Document) -> str:
    what, (folder, name) = "not an object for a cluster", os.path.split(document.source.name)
    return f"{what}; convert what it makes: `kubectl kustomize {folder or '.'} | fcompile convert -`" if name in KUSTOMIZATIONS else what


def _errors(written: str, draft: Draft, options: Options) -> list[Reason]:
    """Return the errors of a Framework as it is written, each with the field of the source that it comes from."""
    compilation = Compilation([open_file(FileEntry("-", "-"), written.encode("utf-8", "surrogatepass"))], options)
    return [_in_source(problem, draft) for problem in compilation.problems if problem.severity is Severity.ERROR]


def _objects(item: Document | Problem) -> list[_Object]:
    return [] if isinstance(item, Problem) else [_Object(item, path, value) for path, value in objects_in(item.value)]


def _in_source(problem: Problem, draft: Draft) -> Reason:
    """Return an error of the Framework as a reason, with the field of the source that it comes from."""
    path, elsewhere = problem.path, None
    if path[:2] == ("spec", "taskRoles") and len(path) > 2 and isinstance(path[2], int) and path[2] < len(draft.roles):
        role = draft.roles[path[2]]
        inside = path[3:5] == ("task", "pod")
        path, steps = role.in_source(path[5:]) if inside else role.source, path[5:]
        if inside and path == role.template_source and role.elsewhere is not None:
            elsewhere = role.elsewhere(steps)
    text = f"the Framework would have an error, {problem.rule.code} at {field_path(problem.path)}: {problem.message}"
    return Reason(path, text, elsewhere, problem.part if path[-1:] == problem.path[-1:] else "value")
