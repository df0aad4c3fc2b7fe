"""What a writer is told of in a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.writer import Summary, Waived, Writer


def tell(writer: Writer, problems: list[Problem], waived: list[Waived], files: Sequence[tuple[str, list[str]]], skipped: int = 0) -> None:
    """Tell a writer of everything, the counts last."""
    for problem in problems:
        writer.problem(problem)
    for one in waived:
        writer.waived(one)
    for file, frameworks in files:
        writer.file(file, frameworks)
    found = Counter(problem.severity for problem in problems)
    writer.finish(
        Summary(
            files=len(files),
            frameworks=sum(len(frameworks) for _, frameworks in files),
            skipped=skipped,
            errors=found[Severity.ERROR],
            warnings=found[Severity.WARNING],
            notes=found[Severity.NOTE],
            waived=len(waived),
            affected=len({problem.file for problem in problems}),
        )
    )
