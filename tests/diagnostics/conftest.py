"""A file with problems of every kind, at real places in its text."""

from __future__ import annotations

import pytest

from fcompile.diagnostics.problem import Edit, Problem, Related, Rule, Severity, Span
from fcompile.diagnostics.writer import Waived

FILE = "jobs/训练 100%.yaml"
TEXT = (
    "kind: Framework\n"
    "metadata:\n"
    "  name: ddp\n"
    "spec:\n"
    "\ttaskRols: []  # a tab\n"
    "  description: 训练任务 de\u0301mo {{FC_TASK}} no\n"
    "  command: [\u001b[31mred, '" + "x" * 300 + "', wanted, '" + "y" * 300 + "']\n"
    "  retryPolicy:\n"
    "    maxRetryCount: -3\n"
)
UNKNOWN = Rule(
    "FC901", "sample-unknown", Severity.ERROR, "A field is unknown.", "Kubernetes drops it without a word.", "Correct or remove it."
)
ODD = Rule("FC902", "sample-odd", Severity.WARNING, "A value is odd: {this}.", "Nobody can want it.")
NEWS = Rule("FC903", "sample-news", Severity.NOTE, "Something is good to know.")


def span_of(text: str, start: int, end: int) -> Span:
    """The region of `text` between two offsets."""

    def place(offset: int) -> tuple[int, int]:
        return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1

    return Span(*place(start), *place(end), start, end)


def found(rule: Rule, message: str, words: str, field: str = "", fix: Edit | None = None, related: tuple[Related, ...] = ()) -> Problem:
    """A problem at the first place of `words` in `TEXT`."""
    start = TEXT.index(words)
    span = span_of(TEXT, start, start + len(words))
    line = TEXT.split("\n")[span.line - 1]
    return Problem(rule, rule.severity, message, FILE, span, line, field, "default/ddp", fix, related)


def samples() -> list[Problem]:
    rename = span_of(TEXT, TEXT.index("taskRols"), TEXT.index("taskRols") + 8)
    first = Related("the first one", ("metadata", "name"), file="other.yaml", span=Span(3, 9, 3, 12, 40, 43))
    return [
        found(
            UNKNOWN,
            "unknown field `taskRols`; did you mean `taskRoles`?",
            "taskRols",
            "spec.taskRols",
            Edit("rename it", rename, "taskRoles"),
            (first,),
        ),
        found(ODD, "`{{FC_TASK}}` is odd, see [here](x): drop it", "{{FC_TASK}}", "spec.description"),
        found(NEWS, "good to know: 100%, a\nb \u001b[2J\u202e", "wanted", "spec.command[2]"),
        found(UNKNOWN, "`spec` lasts for many lines", "spec:\n\ttaskRols: []"),
        found(ODD, "the Framework has no end", "-3\n"),
    ]


def waived_samples() -> list[Waived]:
    problem = found(UNKNOWN, "`maxRetryCount` -3 is below -2", "-3", "spec.retryPolicy.maxRetryCount")
    return [
        Waived(problem, "agreed with the \u001b[1mowner", "comment", FILE, problem.span),
        Waived(problem, "old", "file", ".fcompile-waivers.yaml", Span(1, 3, 1, 8, 2, 7)),
    ]


@pytest.fixture
def problems() -> list[Problem]:
    return samples()


@pytest.fixture
def waived() -> list[Waived]:
    return waived_samples()


@pytest.fixture
def text() -> str:
    return TEXT
