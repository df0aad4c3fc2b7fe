"""The report for a pull request: a table for each job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fcompile.convert.conversion import Account, Conversion
from fcompile.convert.ledger import Entry, Outcome
from fcompile.convert.report.text import title
from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import visible

_HARMFUL = str.maketrans({"|": "\\|", "<": "&lt;", ">": "&gt;", "[": "\\[", "]": "\\]", "*": "\\*", "_": "\\_", "@": "&#64;", "\\": "\\\\"})

_ADDRESS = re.compile(r"(?i)(www)\.|:(?=//)")
"""Where GitHub begins a link by itself."""


def write(conversion: Conversion, _verbose: bool) -> Iterator[str]:
    """Yield the report."""
    yield "# Conversion to Frameworks\n"
    for account in conversion.accounts:
        yield f"\n## {_text(title(account))}\n\n"
        if account.reasons:
            yield "| line | field | refused because |\n| --- | --- | --- |\n"
            for reason in account.reasons:
                yield f"| {account.span(reason.path).line} | {_code(field_path(reason.path))} | {_text(reason.text)} |\n"
        if account.entries:
            yield "| line | field | | what | why | to do |\n| --- | --- | --- | --- | --- | --- |\n"
            for entry in sorted(account.entries, key=lambda entry: entry.outcome is not Outcome.DIFFERENT):
                yield _row(account, entry)
        if account.made is not None and account.made.remarks:
            yield "\n" + "".join(f"- {_text(remark)}.\n" for remark in account.made.remarks)


def _row(account: Account, entry: Entry) -> str:
    cells = [str(account.span(entry.path).line), _code(field_path(entry.path)), entry.outcome.value]
    return f"| {' | '.join([*cells, *map(_text, (entry.what, entry.why, entry.remedy))])} |\n"


def _text(text: str) -> str:
    return _ADDRESS.sub(lambda found: f"{found[1]}&#46;" if found[1] else "&#58;", visible(text).translate(_HARMFUL))


def _code(text: str) -> str:
    return f"`{visible(text).replace('`', '').replace('|', chr(92) + '|')}`" if text else ""
