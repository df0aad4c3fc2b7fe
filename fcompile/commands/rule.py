"""`fcompile rule`."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

import click

from fcompile.commands.group import argument, command, completed
from fcompile.commands.parsing import former
from fcompile.diagnostics.catalog import all_rules
from fcompile.diagnostics.problem import Rule
from fcompile.errors import UsageError
from fcompile.waivers.rules import code_problem

_WIDTH = 100
_FORMATS = ("text", "json")


@command(
    page="diagnostics.md",
    examples={
        "fcompile rule FC101": "what the code in a report means, and what to do",
        "fcompile rule --all --format json": "every rule, for a script",
    },
)
@argument("rules", nargs=-1, metavar="[CODE]...", shell_complete=completed("rule"), help="codes such as FC101, or names")
@click.option("--all", is_flag=True, help="every rule")
@click.option("--format", type=click.Choice(_FORMATS), default="text", show_default=True, help="how rules are printed")
@former("-o", "--output", type=click.Choice(_FORMATS), now=lambda value: {"format": value}, help="--format FORMAT")
def rule(*, rules: tuple[str, ...], all: bool, format: str) -> int:
    """Explain diagnostics: what a code means, why it matters and what to do.

    `fcompile rule FC101` explains one, `fcompile rule --all` lists all.
    """
    if rules and all:
        raise UsageError("a code or `--all`, not both")
    if not rules and not all:
        raise UsageError("name a code, for example `fcompile rule FC101`, or ask for `--all`")
    found = list(all_rules()) if all else [find(written) for written in rules]
    if format == "json":
        import json

        print(json.dumps([as_json(one) for one in found], indent=2))
    elif all:
        print("\n".join(f"{one.code}  {one.severity.value:<7}  {one.name}" for one in found))
    else:
        sys.stdout.write("\n\n".join(explanation(one) for one in found))
    return 0


def find(written: str) -> Rule:
    """Return the rule of a code or name, upper or lower case. Raises UsageError for one that does not exist, with the nearest that do."""
    codes = {rule.code: rule for rule in all_rules()}
    names = {rule.name: rule for rule in all_rules()}
    if not written:
        raise UsageError("a code is empty: is a variable not set?")
    found = codes.get(written.upper()) or names.get(written.lower())
    if found is None:
        from difflib import get_close_matches

        code = f"FC{written}" if written.isdecimal() else ""
        near = [code] if code in codes else get_close_matches(written.lower(), names)
        hint = f"; did you mean {' or '.join(near)}?" if near else ": `fcompile rule --all` lists all"
        raise UsageError(f"there is no rule `{written}`{hint}")
    return found


def explanation(rule: Rule) -> str:
    """Return a rule as text for people, in lines of at most 100 characters."""
    paragraphs = [rule.summary, rule.help]
    if code_problem(rule.code) is None:
        paragraphs.append(f"If it is meant, say so above the field: `# fcompile: waive {rule.code}: reason`.")
    filled = "\n\n".join(
        textwrap.fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False) for paragraph in paragraphs if paragraph
    )
    return f"{rule.code} {rule.name} ({rule.severity.value})\n\n{filled}\n"


def as_json(rule: Rule) -> dict[str, Any]:
    """Return a rule for machines, as `fcompile.declare.diagnostics.Rule` declares it."""
    return {"code": rule.code, "name": rule.name, "severity": rule.severity.value, "summary": rule.summary, "help": rule.help}
