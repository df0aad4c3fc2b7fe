"""Waivers: problems that somebody decided to live with, and said why.

Either a comment in the Framework's file (`waiver_comments`):

    pod:
      # fcompile: waive FC307: it serves until it is stopped by hand
      spec: ...

    # fcompile: waive FC307 spec.taskRoles[*].task.pod.spec: every role serves until it is stopped by hand

or an entry of the file `.fcompile-waivers.yaml` (`waivers_file`). Errors of reading a file cannot be waived, nor wrong types and
missing fields, nor problems of waivers themselves. A waiver that covers nothing is reported, so that waivers do not outlive their
reasons.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol

from fcompile.check.wildcards import fits
from fcompile.diagnostics.problem import RULES, Edit, Problem, Rule, Severity, Span, rule
from fcompile.diagnostics.writer import Waived

MALFORMED = rule(
    "FC901",
    "waiver-malformed",
    Severity.ERROR,
    "A waiver cannot be understood.",
    "Write `# fcompile: waive CODE: reason` at the field, or `# fcompile: waive CODE FIELD: reason` anywhere in the document, with `*` in "
    "FIELD for any text. An entry of the waivers file has `code` and `reason`, and may have `path`, `framework` and `field`.",
)
UNKNOWN_CODE = rule(
    "FC902",
    "waiver-of-unknown-code",
    Severity.ERROR,
    "A waiver names a code that does not exist.",
    "`fcompile rule --all` lists the codes.",
)
NO_REASON = rule(
    "FC903",
    "waiver-without-reason",
    Severity.ERROR,
    "A waiver gives no reason.",
    "Whoever reads it later must be able to judge whether it still holds: say why after a colon.",
)
NOT_WAIVABLE = rule(
    "FC904",
    "waiver-impossible",
    Severity.ERROR,
    "A waiver names a problem that cannot be waived.",
    "What cannot be read cannot be run, and a waiver's own problems are mended at the waiver. Correct what is reported instead.",
)
UNUSED = rule(
    "FC905",
    "waiver-unused",
    Severity.WARNING,
    "A waiver covers no problem.",
    "The problem is gone, or the waiver stands at the wrong place or has a field pattern that fits nothing. Remove or correct it.",
)

MAX_IN_DOCUMENT = 250
MAX_IN_FILE = 10_000
"""Waivers that are read, in comments of one document and of one file: each problem is held against those in its document."""
MAX_ENTRIES = 1_000
"""Entries of the waivers file that are read: each problem of every file is held against them."""
MARK = "fcompile:"
"""What a comment that is meant for us begins with."""
CODE = re.compile(r"FC[0-9]{3}")
_NO_FRAMEWORK = frozenset({"FC111", "FC112", "FC114", "FC121"})
"""With a value of a wrong type, or a field missing, there is nothing to build: no waiver changes that."""


class Scope(Protocol):
    """Which problems of its code a waiver covers."""

    def covers(self, problem: Problem) -> bool: ...

    def covers_file(self, file: str) -> bool:
        """Whether it can cover a problem in the file."""


class Waiver(NamedTuple):
    """One code waived at one place."""

    code: str
    reason: str
    kind: Literal["comment", "file"]
    file: str
    """The file that the waiver itself stands in."""
    span: Span
    source_line: str
    scope: Scope
    removal: Span | None
    """What to delete to be rid of it, when nothing else depends on that."""
    document: int = 0
    """The first line of the document that a comment stands in; it covers nothing in another one."""


class Waivers:
    """The waivers of one file, or of several after `extend`; small and picklable, so that they can be collected from workers.

    Apply them when all problems are known: some are found only across files.
    """

    def __init__(self) -> None:
        self._waivers: dict[tuple[str, str, int], list[Waiver]] = {}
        """By code, and for comments by file and document; those of the waivers file are under an empty name."""
        self._documents: dict[str, list[int]] = {}
        """Of each file the documents with comments, by their first lines, in their order."""
        self._used: set[Waiver] = set()
        self._unread: set[str] = set()
        self.problems: list[Problem] = []
        """What is wrong with the waivers themselves."""

    @classmethod
    def from_text(cls, text: str, file: str) -> Waivers:
        """The waivers in the comments of a YAML text (without byte order mark). Never raises."""
        waivers = cls()
        if MARK in text:
            from fcompile.check.waiver_comments import read_comments

            read_comments(waivers, text, file)
        return waivers

    @classmethod
    def from_file(cls, path: str) -> Waivers:
        """The waivers of a waivers file. Raises OSError when it cannot be read; what is wrong in it is in `problems`."""
        from fcompile.check.waivers_file import read_waivers

        waivers = cls()
        read_waivers(waivers, path)
        return waivers

    def __bool__(self) -> bool:
        return bool(self._waivers or self.problems)

    def add(self, waiver: Waiver) -> None:
        if waiver.kind == "comment":
            documents = self._documents.setdefault(waiver.file, [])
            if not documents or documents[-1] < waiver.document:
                documents.append(waiver.document)
        key = waiver.code, waiver.file if waiver.kind == "comment" else "", waiver.document
        self._waivers.setdefault(key, []).append(waiver)

    def extend(self, other: Waivers) -> None:
        """Take over the waivers of `other` and their problems."""
        for key, waivers in other._waivers.items():
            self._waivers.setdefault(key, []).extend(waivers)
        self._documents |= other._documents
        self._used |= other._used
        self._unread |= other._unread
        self.problems += other.problems

    def apply(self, problems: Iterable[Problem]) -> tuple[list[Problem], list[Waived]]:
        """Part problems into those that stay and those that a waiver covers. Can be called again with further problems."""
        kept, waived = [], []
        for problem in problems:
            code = problem.rule.code
            if problem.severity is Severity.ERROR and code.startswith("FC0"):
                self._unread.add(problem.file)
            covering = [waiver for waiver in self._candidates(problem) if waiver.scope.covers(problem)]
            # All that cover it are of use: which one is taken must not make another one look unused.
            self._used.update(covering)
            if covering:
                waived.append(Waived(problem, covering[0].reason, covering[0].kind, covering[0].file, covering[0].span))
            else:
                kept.append(problem)
        return kept, waived

    def _candidates(self, problem: Problem) -> Iterable[Waiver]:
        """The waivers of a problem's code, of comments only those in its document: there can be thousands of both."""
        code, documents = problem.rule.code, self._documents.get(problem.file, [])
        document = documents[max(bisect_right(documents, problem.span.line) - 1, 0)] if documents else 0
        return (*self._waivers.get((code, problem.file, document), ()), *self._waivers.get((code, "", 0), ()))

    def unused(self, checked: Iterable[str] | None = None) -> list[Problem]:
        """A problem for each waiver that covered nothing so far, in the order of files and lines.

        `checked` holds the files of a run that saw only some of the project's, as under pre-commit: an entry of the waivers file is
        then reported only if it could have covered something in one of them. Comments in a file that could not be read whole are
        left in peace.
        """
        files = None if checked is None else tuple(checked)

        def idle(waiver: Waiver) -> bool:
            if waiver in self._used:
                return False
            if waiver.kind == "comment":
                return waiver.file not in self._unread
            return files is None or any(map(waiver.scope.covers_file, files))

        found = [waiver for waivers in self._waivers.values() for waiver in waivers if idle(waiver)]
        return [_unused(waiver) for waiver in sorted(found, key=lambda waiver: (waiver.file, waiver.span.start))]


def field_fits(pattern: str, field: str) -> bool:
    """Whether a field path fits a pattern, with or without the `items[3].` of a list of objects before it."""
    return fits(pattern, field) or (field.startswith("items[") and fits(pattern, re.sub(r"^items\[\d+\]\.?", "", field)))


def waiver_problem(rule: Rule, message: str, file: str, span: Span, source_line: str, fix: Edit | None = None) -> Problem:
    """A problem of a waiver itself."""
    return Problem(rule, rule.severity, message, file, span, source_line, "", "", fix)


def code_problem(code: str) -> tuple[Rule, str] | None:
    """Why `code` cannot be waived, or None."""
    known = _known_rule(code)
    if known is None:
        return UNKNOWN_CODE, f"there is no code `{code}`{_meant(code)}"
    if code.startswith("FC9"):
        return NOT_WAIVABLE, f"{code} is about waivers and cannot be waived: correct the waiver that it reports"
    if code.startswith("FC0") and known.severity is Severity.ERROR:
        return NOT_WAIVABLE, f"{code} means that the file cannot be read and cannot be waived: correct the file"
    if code in _NO_FRAMEWORK:
        return NOT_WAIVABLE, f"{code} means that no API server can read the Framework and cannot be waived: correct the field"
    return None


def _known_rule(code: str) -> Rule | None:
    if code not in RULES and CODE.fullmatch(code):
        from fcompile.check.catalog import all_rules

        all_rules()  # modules of rules that this run had no need of yet
    return RULES.get(code)


def _meant(code: str) -> str:
    from fcompile.check.catalog import all_rules

    by_name = {rule.name: rule.code for rule in all_rules()}
    meant = code.upper() if code.upper() in RULES else by_name.get(code.lower())
    return f"; did you mean `{meant}`?" if meant else ": `fcompile rule --all` lists all codes"


def _unused(waiver: Waiver) -> Problem:
    fix = Edit("remove the waiver", waiver.removal, "") if waiver.removal else None
    message = f"this waiver of {waiver.code} covers no problem: remove it or correct where it applies"
    return waiver_problem(UNUSED, message, waiver.file, waiver.span, waiver.source_line, fix)
