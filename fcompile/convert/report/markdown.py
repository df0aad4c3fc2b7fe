"""The report for a pull request: what somebody must look at, as a list to tick off; all else is folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fcompile.convert.conversion import Account, Conversion
from fcompile.convert.ledger import Entry, Outcome
from fcompile.convert.report.common import Common, common, named
from fcompile.convert.report.text import outcome, subject, title
from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import counted

_HARMFUL = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "\\`*_[]|~"},
        **{"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "@&#8203;", "#": "\\#&#8203;"},
    }
)
"""An escape is not enough where names of people and numbers of issues become links: these are looked for in the page that comes out."""

_ADDRESS = re.compile(r"(?i)(www)\.|:(?=//)")
"""Where GitHub begins a link by itself."""


def write(conversion: Conversion, verbose: bool) -> Iterator[str]:
    """Yield the report.

    :param verbose: fields that are converted, or change nothing, in tables that are folded.
    """
    yield "# Conversion to Frameworks\n"
    yield f"\n{_summary(conversion)}\n"
    if len(conversion.accounts) > 1:
        yield "\n| | becomes | different |\n| --- | --- | ---: |\n"
        for account in conversion.accounts:
            place = _code(_place(account), in_table=True)
            yield f"| {_text(subject(account))}<br>{place} | {_text(outcome(account))} | {len(account.different)} |\n"
    shared = common(conversion.accounts)
    if shared.differences or shared.notes:
        yield "\n## In several jobs\n\n"
        for entry, accounts in shared.differences.items():
            yield from _different(entry, f"in {len(accounts):,} jobs: {named(accounts)}")
        for note, accounts in shared.notes.items():
            yield f"\n> In {len(accounts):,} jobs: {_note(note)}"
    for account in conversion.accounts:
        yield from _account(account, verbose, shared)


def _summary(conversion: Conversion) -> str:
    jobs, refused = len(conversion.jobs), len(conversion.refused)
    converted = f"**{jobs - refused} of {counted(jobs, 'job')} converted**"
    return f"{converted}{f', {refused} refused' if refused else ''}; {counted(conversion.differences, 'difference')} to look at."


def _account(account: Account, verbose: bool, shared: Common) -> Iterator[str]:
    yield f"\n## {_text(title(account))}\n\n{_code(_place(account))}\n"
    if account.reasons:
        yield "\nRefused:\n\n"
        for reason in account.reasons:
            line = account.span(reason.path, reason.part).line
            yield f"- {_code(field_path(reason.path)) or 'the object'} (line {line}): {_text(reason.text)}\n"
    own = shared.own(account)
    if own:
        yield "\n"
        for entry in own:
            yield _different(entry, f"line {account.span(entry.path).line}")
    if account.made is not None:
        yield from (f"\n> {_note(remark)}" for remark in shared.own_notes(account))
        yield from _others(account, verbose)


def _note(remark: str) -> str:
    return f"{_text(remark)}{'' if remark.endswith('.') else '.'}\n"


def _different(entry: Entry, place: str) -> str:
    lines = [
        f"- [ ] {_code(field_path(entry.path)) or 'the object'} ({_text(place)}): **{_text(entry.what)}**",
        f"  <br>Why: {_text(entry.why)}.",
        f"  <br>To do: {_text(entry.remedy)}.",
    ]
    return "".join(f"{line}\n" for line in lines)


def _others(account: Account, verbose: bool) -> Iterator[str]:
    """Yield how many fields need no look, and with `verbose` which."""
    others = [entry for entry in account.entries if entry.outcome is not Outcome.DIFFERENT]
    counts = account.counts
    said = f"{counts[Outcome.CONVERTED]} converted, {counts[Outcome.DROPPED]} {Outcome.DROPPED}"
    if not verbose or not others:
        yield f"\nOther fields: {said}.\n"
        return
    yield f"\n<details><summary>Other fields: {said}</summary>\n\n| line | field | |\n| ---: | --- | --- |\n"
    for entry in others:
        said = _text(entry.what) if entry.outcome is Outcome.CONVERTED else f"dropped: {_text(entry.what)}"
        yield f"| {account.span(entry.path).line} | {_code(field_path(entry.path), in_table=True)} | {said} |\n"
    yield "\n</details>\n"


def _place(account: Account) -> str:
    return f"{account.file}:{account.span().line}"


def _text(text: str) -> str:
    """Return a text of which only code acts, if it holds any."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0 or not all(part.strip() for part in parts[1::2]):
        return _harmless(visible(text))
    return "".join(_code(part, in_table=True) if number % 2 else _harmless(part) for number, part in enumerate(parts))


def _harmless(text: str) -> str:
    return _ADDRESS.sub(lambda found: f"{found[1]}&#46;" if found[1] else "&#58;", text.translate(_HARMFUL))


def _code(text: str, *, in_table: bool = False) -> str:
    shown = visible(text).replace("`", "")
    return f"`{shown.replace('|', chr(92) + '|') if in_table else shown}`" if shown else ""
