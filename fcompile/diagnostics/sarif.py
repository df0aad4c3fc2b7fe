"""Problems as SARIF 2.1.0, which GitHub code scanning and editors read."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TextIO
from urllib.parse import quote

from fcompile._version import __version__
from fcompile.diagnostics.checkout import from_root
from fcompile.diagnostics.json import LONGEST_LINE, to_json
from fcompile.diagnostics.problem import Edit, Problem, Related, Rule, Span, field_path
from fcompile.diagnostics.visible import clean
from fcompile.diagnostics.writer import Style, Summary, Waived, Writer

Json = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_SUPPRESSION = {"comment": "inSource", "file": "external"}
_LINK = re.compile(r"\[[^\[\]]*\]\(")


class SarifWriter(Writer):
    """Collects everything, and writes at the end, since rules and files come before results."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream
        self._files: dict[str, None] = {}
        self._found: list[tuple[Problem, Waived | None]] = []

    def problem(self, problem: Problem) -> None:
        self._found.append((problem, None))

    def waived(self, waived: Waived) -> None:
        self._found.append((waived.problem, waived))

    def file(self, name: str, frameworks: Sequence[str]) -> None:
        self._files[name] = None

    def finish(self, summary: Summary) -> None:
        self._stream.write(to_json(log(self._found, list(self._files))) + "\n")


def log(found: list[tuple[Problem, Waived | None]], files: list[str]) -> Json:
    """Return the whole document."""
    rules = sorted({problem.rule.code: problem.rule for problem, _ in found}.values())
    indices = {rule.code: index for index, rule in enumerate(rules)}
    any_waived = any(waived for _, waived in found)
    seen: Counter[tuple[str, str]] = Counter()
    results = []
    for problem, waived in found:
        result = _result(problem, indices[problem.rule.code], seen)
        if any_waived:  # readers take a missing list for "not known"
            result["suppressions"] = [_suppression(waived)] if waived else []
        results.append(result)
    run = {
        "tool": {"driver": {"name": "fcompile", "version": __version__, "rules": [_rule(rule) for rule in rules]}},
        "invocations": [{"executionSuccessful": True}],
        "originalUriBaseIds": {_ROOT: {"description": {"text": _what_root_is()}}},
        "artifacts": [{"location": artifact(file), "roles": ["analysisTarget"]} for file in files],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> Json:
    level = rule.severity.value
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": _message(rule.summary),
        "fullDescription": _message(f"{rule.summary} {rule.help}".strip()),
        "help": _message(rule.help or rule.summary),
        "defaultConfiguration": {"level": level},
        # The name that GitHub reads, and its words.
        "properties": {"problem.severity": "recommendation" if level == "note" else level, "tags": ["frameworkcontroller"]},
    }


def _result(problem: Problem, index: int, seen: Counter[tuple[str, str]]) -> Json:
    location: Json = {"physicalLocation": _physical(problem.file, problem.span, problem.source_line)}
    if problem.field:
        name = "/".join(part for part in (problem.framework, problem.field) if part)
        location["logicalLocations"] = [{"name": problem.field, "fullyQualifiedName": name, "kind": "member"}]
    result = {
        "ruleId": problem.rule.code,
        "ruleIndex": index,
        "level": problem.severity.value,
        "message": _message(problem.message),
        "locations": [location],
        "partialFingerprints": {"fcompileProblem/v1": _fingerprint(problem, seen)},
    }
    if problem.fix:
        result["fixes"] = [_fix(problem.file, problem.fix)]
    if problem.related:
        result["relatedLocations"] = [_related(problem, number, related) for number, related in enumerate(problem.related, 1)]
    return result


def _message(text: str) -> Json:
    """Return a plain text message: braces are doubled, as SARIF asks (3.11.5), and nothing in it is taken for a link (3.11.6)."""
    if _LINK.search(text):
        text = re.sub(r"[\\\[\]]", r"\\\g<0>", text)
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _what_root_is() -> str:
    return "The folder that fcompile was run in." if from_root(os.curdir) == os.curdir else "The root of the git repository."


def artifact(file: str) -> Json:
    """Return where a file is: from the root of the repository, or as a `file:` URI when it was named by an absolute path."""
    path = from_root(file).replace(os.sep, "/")
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = clean(path).encode()
    if os.path.isabs(file):
        return {"uri": "file://" + ("" if path.startswith("/") else "/") + quote(raw, safe="/")}
    return {"uri": quote(raw, safe="/"), "uriBaseId": _ROOT}


def _physical(file: str, span: Span, source_line: str | None = None) -> Json:
    location = {"artifactLocation": artifact(file), "region": _region(span)}
    if source_line is not None and span.line == span.end_line:
        snippet = source_line[span.column - 1 : span.end_column - 1]
        if 0 < len(snippet) <= LONGEST_LINE:
            location["region"]["snippet"] = {"text": snippet}
        if len(snippet) < len(source_line) <= LONGEST_LINE:
            location["contextRegion"] = {"startLine": span.line, "snippet": {"text": source_line}}
    return location


def _region(span: Span) -> Json:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _fix(file: str, fix: Edit) -> Json:
    replacement = {"deletedRegion": _region(fix.span), "insertedContent": {"text": fix.text}}
    return {"description": _message(fix.title), "artifactChanges": [{"artifactLocation": artifact(file), "replacements": [replacement]}]}


def _related(problem: Problem, number: int, related: Related) -> Json:
    location: Json = {"id": number, "message": _message(related.message)}
    if related.span is not None:
        location["physicalLocation"] = _physical(related.file or problem.file, related.span)
    elif related.file is not None:
        location["physicalLocation"] = {"artifactLocation": artifact(related.file)}
    if related.path:
        location["logicalLocations"] = [{"fullyQualifiedName": field_path(related.path), "kind": "member"}]
    return location


def _suppression(waived: Waived) -> Json:
    return {
        "kind": _SUPPRESSION[waived.kind],
        "status": "accepted",
        "justification": waived.reason,
        "location": {"physicalLocation": _physical(waived.file, waived.span)},
    }


def _fingerprint(problem: Problem, seen: Counter[tuple[str, str]]) -> str:
    """Return a fingerprint that stays the same when lines, list items or files move: it contains no numbers and no file name.

    Problems in one file with the same fingerprint are numbered in their order.
    """
    field = re.sub(r"\[\d+\]", "[]", problem.field)
    parts = (problem.rule.code, problem.framework, field, problem.source_line.strip()[:LONGEST_LINE])
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    seen[problem.file, digest] += 1
    return f"{digest}:{seen[problem.file, digest]}"
