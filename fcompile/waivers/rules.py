"""The rules for waivers themselves, FC901 to FC905, and which codes a waiver can name."""

from __future__ import annotations

import re

from fcompile.diagnostics.problem import RULES, Edit, Problem, Rule, Severity, Span, error_rule, warning_rule

MALFORMED = error_rule(
    code="FC901",
    name="waiver-malformed",
    summary="A waiver cannot be understood.",
    why="It would cover nothing.",
    remedy=(
        "Write `# fcompile: waive CODE: reason` at the field, or `# fcompile: waive CODE FIELD: reason` anywhere in the "
        "document, with `*` in FIELD for any text. An entry of the waivers file has `code` and `reason`, and may have `path`, "
        "`framework` and `field`."
    ),
)
UNKNOWN_CODE = error_rule(
    code="FC902",
    name="waiver-of-unknown-code",
    summary="A waiver names a code that does not exist.",
    why="It would cover nothing.",
    remedy="Correct the code; `fcompile rule --all` lists all codes.",
)
NO_REASON = error_rule(
    code="FC903",
    name="waiver-without-reason",
    summary="A waiver gives no reason.",
    why="Whoever reads it later must be able to judge whether it still holds.",
    remedy="Say why after a colon.",
)
NOT_WAIVABLE = error_rule(
    code="FC904",
    name="waiver-impossible",
    summary="A waiver names a problem that cannot be waived.",
    why="What cannot be read cannot run, and a problem of a waiver is corrected in the waiver.",
    remedy="Correct what is reported instead.",
)
UNUSED = warning_rule(
    code="FC905",
    name="waiver-unused",
    summary="A waiver covers no problem.",
    why="The problem is gone, or the waiver stands at the wrong place or has a field pattern that fits nothing.",
    remedy="Remove or correct it.",
)

CODE = re.compile(r"FC[0-9]{3}")
_NO_FRAMEWORK = frozenset({"FC111", "FC112", "FC114", "FC121"})
"""With a value of a wrong type, or a field missing, there is nothing to build: no waiver changes that."""


def waiver_problem(rule: Rule, message: str, file: str, span: Span, source_line: str, fix: Edit | None = None) -> Problem:
    """Return a problem of a waiver itself."""
    return Problem(rule, rule.severity, message, file, span, source_line, fix=fix)


def code_problem(code: str) -> tuple[Rule, str] | None:
    """Return why `code` cannot be waived, or None."""
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
        from fcompile.diagnostics.catalog import all_rules

        all_rules()  # rules in modules that were not imported so far
    return RULES.get(code)


def _meant(code: str) -> str:
    from fcompile.diagnostics.catalog import all_rules

    by_name = {rule.name: rule.code for rule in all_rules()}
    meant = code.upper() if code.upper() in RULES else by_name.get(code.lower())
    return f"; did you mean `{meant}`?" if meant else ": `fcompile rule --all` lists all codes"
