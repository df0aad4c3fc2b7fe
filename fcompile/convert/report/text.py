"""The report for people: what is different, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.convert.conversion import Account, Conversion
from fcompile.convert.ledger import Entry, Outcome
from fcompile.convert.report.common import Common, common, named
from fcompile.diagnostics.problem import Part, Path, field_path
from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.diagnostics.writer import counted


def write(conversion: Conversion, verbose: bool) -> Iterator[str]:
    """Yield the report in lines."""
    shared = common(conversion.accounts)
    for account in conversion.accounts:
        yield from _account(account, verbose, shared)
    for entry, accounts in shared.differences.items():
        yield f"in {len(accounts):,} jobs: {visible(field_path(entry.path)) or 'the object'}: different: {visible(entry.what)}\n"
        yield from _remedy(entry)
        yield f"    in:  {visible(named(accounts))}\n"
    for note, accounts in shared.notes.items():
        yield f"in {len(accounts):,} jobs: note: {visible(note)}.\n"
    jobs, refused = conversion.jobs, conversion.refused
    passed = f"; {counted(conversion.frameworks, 'Framework')} passed through" if conversion.frameworks else ""
    yield f"Converted {len(jobs) - len(refused)} of {counted(len(jobs), 'job')}; {counted(conversion.differences, 'difference')}{passed}.\n"


def title(account: Account) -> str:
    """Return what an account is of, and what was made of it."""
    separator = ": " if account.reasons else " " if account.made is None else " → "
    return f"{subject(account)}{separator}{outcome(account)}"


def subject(account: Account) -> str:
    """Return what an account is of."""
    name = visible(f"{account.namespace}/{account.name}" if account.namespace else account.name)
    return f"{visible(account.kind)} {name}"


def outcome(account: Account) -> str:
    """Return what was made of it."""
    if account.reasons:
        return "refused"
    if account.made is None:
        return "passes through"
    roles = ", ".join(f"{role.name} ×{role.task_number}" for role in account.made.roles)
    return f"Framework {account.made.name} ({roles})"


def _account(account: Account, verbose: bool, shared: Common) -> Iterator[str]:
    yield f"{_place(account, ())}: {title(account)}\n"
    for reason in account.reasons:
        place = _place(account, reason.path, reason.part)
        yield f"  {place}: {visible(field_path(reason.path)) or 'the object'}: {visible(reason.text)}\n"
    for entry in account.entries:
        if entry.outcome is Outcome.DIFFERENT:
            if entry in shared.differences:
                continue
            yield from _different(account, entry)
        elif verbose:
            yield f"  {_place(account, entry.path)}: {visible(field_path(entry.path))}: {entry.outcome}: {visible(entry.what)}\n"
    if account.made is not None:
        for remark in shared.own_notes(account):
            yield f"  note: {visible(remark)}.\n"
        counts = account.counts
        yield "  " + ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome) + "\n"


def _different(account: Account, entry: Entry) -> Iterator[str]:
    yield f"  {_place(account, entry.path)}: {visible(field_path(entry.path))}: different: {visible(entry.what)}\n"
    yield from _remedy(entry)


def _remedy(entry: Entry) -> Iterator[str]:
    yield f"    why: {visible(entry.why)}\n    do:  {visible(entry.remedy)}\n"


def _place(account: Account, path: Path, part: Part = "value") -> str:
    span = account.span(path, part)
    return f"{at_line_start(visible(account.file))}:{span.line}:{span.column}"
