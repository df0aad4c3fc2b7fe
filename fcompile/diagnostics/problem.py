"""What a check finds, and what a reader is told.

A check yields `Finding`s: they name a field by its path and know nothing of files. Only when a document has
findings is it read again with positions, and each `Finding` becomes a `Problem`, which every output format prints.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Literal, NamedTuple

Path = tuple[str | int, ...]
"""A field, as the keys and list indices that lead to it from the root of its document."""

Part = Literal["key", "value"]
"""Which half of `key: value` a position means. A list item has only a value."""


class Severity(StrEnum):
    """ERROR: it will be refused, or will not run as written. WARNING: it runs, but hardly as meant. NOTE: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(NamedTuple):
    """One kind of problem, under a code that never changes its meaning."""

    code: str
    """`FC` and three digits."""
    name: str
    """The same in words, `kebab-case`."""
    severity: Severity
    summary: str
    """One sentence for the reference page: what is wrong."""
    why: str = ""
    """Why it matters: one or two sentences."""
    remedy: str = ""
    """What to do: one or two sentences."""

    @property
    def help(self) -> str:
        """Return why it matters and what to do."""
        return " ".join(filter(None, (self.why, self.remedy)))


class Span(NamedTuple):
    """A region of a file. Lines and columns count from 1, columns in Unicode code points; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    """Offset of the first code point in the decoded text of the whole file (a byte order mark not counted)."""
    end: int


NOWHERE = Span(1, 1, 1, 1, 0, 0)
"""The beginning of a file, for what has no place in it."""


class Fix(NamedTuple):
    """A change that is certain to be right, as an edit of the text of one key or value (`text` is YAML source)."""

    title: str
    path: Path
    part: Part
    text: str


class Related(NamedTuple):
    """Another place that a finding speaks of: in the same document (`file` is None, `path` tells where) or in another file."""

    message: str
    path: Path = ()
    part: Part = "value"
    file: str | None = None
    span: Span | None = None


class Finding(NamedTuple):
    rule: Rule
    path: Path
    message: str
    part: Part = "value"
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    is_beyond_type: bool = False
    """The value is a number that the field's type cannot hold: the API server refuses it even in a field that it drops."""


class Edit(NamedTuple):
    """A `Fix` with its region of the file."""

    title: str
    span: Span
    text: str
    path: Path = ()
    """From the root of the document; empty when it is no field that is changed."""
    part: Part = "value"


class Problem(NamedTuple):
    """A finding at its place in a file."""

    rule: Rule
    severity: Severity
    message: str
    file: str
    span: Span
    source_line: str
    """The whole line that the span begins in, without its line end."""
    field: str = ""
    """The path as people write it: `spec.taskRoles[0].name`."""
    framework: str = ""
    """`namespace/name` (or only `name`) of the Framework, or the empty string."""
    fix: Edit | None = None
    related: tuple[Related, ...] = ()
    path: Path = ()
    """The field from the root of its document; empty when the problem is with the text."""
    part: Part = "value"

    def __str__(self) -> str:
        from fcompile.diagnostics.visible import visible  # imported late: output formats escape text in ways of their own

        return visible(f"{self.file}:{self.span.line}:{self.span.column}: {self.severity.value}[{self.rule.code}] {self.message}")


RULES: dict[str, Rule] = {}
"""Every rule by its code; filled as the modules that declare rules are imported."""
_NAMES: set[str] = set()


def rule(*, code: str, name: str, severity: Severity, summary: str, why: str, remedy: str) -> Rule:
    """Declare a rule. A code or name that is taken is a programming error."""
    if code in RULES or name in _NAMES:
        raise ValueError(f"rule {code} ({name}) is declared twice")
    _NAMES.add(name)
    RULES[code] = declared = Rule(code, name, severity, summary, why, remedy)
    return declared


error_rule = partial(rule, severity=Severity.ERROR)
warning_rule = partial(rule, severity=Severity.WARNING)
note_rule = partial(rule, severity=Severity.NOTE)
"""Declare a rule of that severity."""


_LONGEST_NAME = 500
"""Characters of a name or key. A thousand problems may each speak of the same, which can be as long as its file."""


def framework_label(namespace: str, name: str) -> str:
    """Return `ml/train`, as problems and reports name a Framework."""
    return f"{cut(namespace)}/{cut(name)}"


def cut(text: str, most: int = _LONGEST_NAME) -> str:
    """Return a text of somebody else's in a length that can be shown."""
    return text if len(text) <= most else text[:most] + "…"


def field_path(path: Path) -> str:
    """Return a path as people write it, with keys quoted that are no plain words: `spec.taskRoles[0].task.pod.metadata.labels["a.b/c"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        step = cut(step)
        if step.replace("_", "").replace("-", "").isalnum() and step.isascii():
            text += f".{step}" if text else step
        else:
            quoted = step.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{quoted}"]'
    return text
