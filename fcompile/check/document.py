"""From a file's bytes to its problems: read, check, place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from fcompile.check.context import framework_context
from fcompile.check.framework import check_framework
from fcompile.check.objects import frameworks_in, is_framework, objects_in
from fcompile.check.places import Where
from fcompile.check.rules.framework.cross_file import FrameworkFact, ServiceFact, own_services, user_services
from fcompile.check.rules.framework.generated_names import ObjectFact, objects_called, objects_made
from fcompile.check.rules.framework.misspelt_kind import misspelt_kind
from fcompile.check.rules.framework.placeholders import may_hold_placeholders, may_hold_sums
from fcompile.check.rules.framework.unread_lists import unread_lists
from fcompile.diagnostics.problem import Edit, Finding, Fix, Part, Path, Problem, Span, cut, field_path, framework_label
from fcompile.load import Document
from fcompile.load.rules import AMBIGUOUS_SCALAR, MAX_PROBLEMS, TOO_MANY_PROBLEMS
from fcompile.model.patterns import lazy
from fcompile.waivers import MARK
from fcompile.waivers.collection import Waivers

_LARGE = 64 * 1024
"""Size, in characters, from which each item of a list is checked with its own text: otherwise each would search the whole text."""
_ANCHOR = lazy(r"(?:^|[\s,\[{])&[^\s&,\[\]{}]", re.MULTILINE)
"""With anchors, an item may contain what is written in another one."""


class Options(NamedTuple):
    """What a check depends on besides the input."""

    version: int
    """Kubernetes 1.x minor."""
    namespace: str
    """For Frameworks that give none."""
    overrides: str = ""
    """The text of what was set from outside: the values are in the documents, and not in their texts."""
    digests: bool = False
    """Whether to check the digests in Frameworks: only where nothing compiles these again."""


class Located(NamedTuple):
    """An object, and where it is in its document. The paths of its methods begin at the object."""

    document: Document
    path: Path
    """Empty, or that of an item of a list."""

    def span(self, path: Path, part: Part) -> Span:
        return self.document.locate((*self.path, *path), part)

    def plain(self, path: Path, part: Part) -> str | None:
        return self.document.plain((*self.path, *path), part)

    def where(self, path: Path, part: Part) -> Where:
        return Where(self.document.source.name, self.document.start, (*self.path, *path), part)

    def problem(self, finding: Finding, framework: str = "") -> Problem:
        """Return a finding in the object as a problem."""
        document, span = self.document, self.span(finding.path, finding.part)
        fix = finding.fix
        return Problem(
            rule=finding.rule,
            severity=finding.rule.severity,
            message=finding.message,
            file=document.source.name,
            span=span,
            source_line=document.source_line(span.line),
            field=field_path((*self.path, *finding.path)),
            framework=framework,
            fix=fix and Edit(fix.title, self.span(fix.path, fix.part), fix.text, (*self.path, *fix.path), fix.part),
            related=tuple(
                near._replace(path=(), file=document.source.name, span=self.span(near.path, near.part)) for near in finding.related
            ),
            path=(*self.path, *finding.path),
            part=finding.part,
        )


class Checked(NamedTuple):
    """The result of checking one file. Small and picklable: no values, no text."""

    file: str
    problems: list[Problem]
    frameworks: list[FrameworkFact]
    services: list[ServiceFact]
    objects: list[ObjectFact]
    waivers: Waivers | None
    """Those in the file's comments, if it has any."""
    skipped: str
    """Why the file was passed over although it seems to hold a Framework; empty when it was not."""


def empty(file: str) -> Checked:
    """Return the result for a file without Frameworks."""
    return Checked(file, [], [], [], [], None, "")


Read = list[Document | Problem]
"""A file's documents, and the reasons for those that cannot be read."""


def check_read(file: str, read: Read, options: Options) -> Checked:
    """Check everything about one file that can be known without the others."""
    checked = empty(file)
    for document in read:
        if isinstance(document, Problem):
            checked.problems.append(document)
        else:
            check_document(document, options, checked)
            if len(checked.problems) > MAX_PROBLEMS:
                checked.problems[MAX_PROBLEMS:] = [_too_many(checked.problems[MAX_PROBLEMS])]
                break
    source = next((document.source.text for document in read if isinstance(document, Document)), "")
    return checked._replace(waivers=Waivers.from_text(source, file)) if MARK in source else checked


def _too_many(first: Problem) -> Problem:
    """Return the problem that takes the place of this one and all later ones."""
    message = f"the file has more than {MAX_PROBLEMS:,} problems: from here on it is not checked"
    return Problem(TOO_MANY_PROBLEMS, TOO_MANY_PROBLEMS.severity, message, first.file, first.span, first.source_line)


def check_document(document: Document, options: Options, checked: Checked) -> None:
    """Check the document's Frameworks. Problems, and facts for the rules across documents, are added to `checked`."""
    frameworks = list(frameworks_in(document.value))
    unlike = list(document.ambiguous()) if frameworks else []
    shared = len(document.text) < _LARGE or _ANCHOR.search(document.text) is not None
    for path, value in frameworks:
        here = Located(document, path)
        written = document.text if shared or not path else document.source.text[slice(*document.extent(path))]
        written += options.overrides
        holds, sums = may_hold_placeholders(written), may_hold_sums(written)
        context = framework_context(value, options.namespace, options.version, here.plain, holds=holds, sums=sums)
        label = framework_label(context.namespace, context.name) if context.name else ""
        found = chain(check_framework(context, written, options.digests), _ambiguous(unlike, path))
        findings = islice(found, MAX_PROBLEMS + 1 - len(checked.problems))
        checked.problems.extend(sorted((here.problem(finding, label) for finding in findings), key=lambda problem: problem.span.start))
        if context.name:
            checked.frameworks.append(FrameworkFact(context.namespace, context.name, here.where(("metadata", "name"), "value")))
        checked.services.extend(own_services(context, here.where))
        checked.objects.extend(objects_called(context, here.where))
    for path, value in objects_in(document.value):
        if not is_framework(value):
            here = Located(document, path)
            checked.problems.extend(map(here.problem, misspelt_kind(value)))
            checked.services.extend(user_services(value, options.namespace, here.where))
            checked.objects.extend(objects_made(value, options.namespace, here.where))
    checked.problems.extend(map(Located(document, ()).problem, unread_lists(document.value)))


def _ambiguous(found: Iterable[tuple[Path, Part, str]], prefix: Path) -> Iterator[Finding]:
    """Yield the ambiguous scalars of a document that are below `prefix`; their paths start there."""
    for path, part, written in found:
        if path[: len(prefix)] == prefix:
            inner = path[len(prefix) :]
            quoted = json.dumps(written, ensure_ascii=False)
            message = f"`{cut(written)}` is a string to kubectl, but a number or a date to other YAML readers: write {cut(quoted)}"
            # A fix is written into a report as often as its problem, and nobody writes such a number.
            fix = Fix(f"write {quoted}", inner, part, quoted) if cut(quoted) == quoted else None
            yield Finding(AMBIGUOUS_SCALAR, inner, message, part=part, fix=fix)
