"""Problems as `results` of a ResourceList."""

from __future__ import annotations

from typing import Any

from fcompile.commands.krm.listed import ResourceList, SourceFile
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.text import related_text
from fcompile.load import LoadError, values
from fcompile.model.values import at, mapping, text

_LONGEST = 1_000
"""Characters of a name or value. An object of megabytes can have thousands of problems, and its name stands at each of them."""
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "info"}


def result_of(problem: Problem, listed: ResourceList, index: int | None, file: SourceFile | None, located: bool) -> dict[str, Any]:
    """Return a problem of the item of that index as a result. `located` tells whether its line is one of `file`."""
    result: dict[str, Any] = {"message": problem.message, "severity": _SEVERITIES[problem.severity]}
    if index is not None:
        result["resourceRef"] = reference(listed.items[index])
        if problem.field:
            result["field"] = _field(problem, listed.document.value)
    if file is not None:
        result["file"] = {"path": file.path} | ({} if file.number is None else {"index": file.number})
    return {**result, "tags": _tags(problem, located)}


def reference(item: Any) -> dict[str, str]:
    """Return what names an object in a result."""
    metadata = mapping(item, "metadata")
    named = {"apiVersion": text(item, "apiVersion"), "kind": text(item, "kind"), "name": text(metadata, "name")}
    namespace = text(metadata, "namespace")
    found = named | ({"namespace": namespace} if namespace else {})
    return {key: (name or "")[:_LONGEST] for key, name in found.items()}


def _field(problem: Problem, value: Any) -> dict[str, Any]:
    field: dict[str, Any] = {"path": problem.field}
    current = at(value, problem.path)
    if isinstance(current, str | int | float) and len(str(current)) <= _LONGEST:
        field["currentValue"] = current
    fix = problem.fix
    if fix and fix.part == "value" and fix.path == problem.path and fix.text:
        try:
            (field["proposedValue"],) = values(fix.text.encode())
        except (LoadError, ValueError):  # a fix that is more than a value
            return field
    return field


def _tags(problem: Problem, located: bool) -> dict[str, str]:
    """Return the tags of a problem. They name a line only if it is one of the user's file: nobody can look up a line of the list."""
    tags = {"code": problem.rule.code, "rule": problem.rule.name}
    if located:
        tags |= {"line": str(problem.span.line), "column": str(problem.span.column)}
    if problem.fix:
        tags["fix"] = problem.fix.title
    if problem.related:
        tags["see"] = related_text(problem, problem.related[0])
    return tags
