"""The report for programs, as `fcompile.declare.convert` declares it. What is there stays as it is, more may come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fcompile.convert.conversion import Account, Conversion
from fcompile.diagnostics.problem import Part, Path, field_path
from fcompile.diagnostics.visible import without_commands

VERSION = 1


def write(conversion: Conversion, _verbose: bool) -> Iterator[str]:
    """Yield the report as one document."""
    document = {
        "version": VERSION,
        "objects": [_account(account) for account in conversion.accounts],
        "unreadable": [
            {"file": error.file, "line": error.span.line, "column": error.span.column, "message": error.message}
            for error in conversion.unreadable
        ],
    }
    yield without_commands(json.dumps(document, indent=2)) + "\n"


def _account(account: Account) -> dict[str, Any]:
    made = account.made
    return {
        "file": account.file,
        "line": account.span().line,
        "kind": account.kind,
        "name": account.name,
        "namespace": account.namespace,
        "framework": None if made is None else made.name,
        "refused": [{**_place(account, reason.path, reason.part), "reason": reason.text} for reason in account.reasons],
        "fields": [
            {
                **_place(account, entry.path),
                "outcome": entry.outcome.name.lower(),
                "what": entry.what,
                "why": entry.why,
                "remedy": entry.remedy,
            }
            for entry in account.entries
        ],
        "notes": [] if made is None else made.notes,
    }


def _place(account: Account, path: Path, part: Part = "value") -> dict[str, Any]:
    span = account.span(path, part)
    return {"field": field_path(path), "line": span.line, "column": span.column}
