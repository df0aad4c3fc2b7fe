"""Explain diagnostics: what a code means, why it matters and what to do.

For example `fcompile rule FC101`, or `fcompile rule --all`.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from typing import Any

from fcompile.diagnostics.catalog import all_rules
from fcompile.diagnostics.problem import Rule
from fcompile.errors import UsageError
from fcompile.waivers.rules import code_problem

_WIDTH = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("rules", nargs="*", metavar="CODE", help="a code such as FC101, or its name")
    parser.add_argument("--all", action="store_true", help="every rule")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="the format (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Print the rules that were asked for."""
    if bool(arguments.rules) == arguments.all:
        raise UsageError("name a code, for example `fcompile rule FC101`, or ask for `--all`")
    rules = list(all_rules()) if arguments.all else [find(written) for written in arguments.rules]
    if arguments.output == "json":
        import json

        print(json.dumps([as_json(rule) for rule in rules], indent=2))
    elif arguments.all:
        print("\n".join(f"{rule.code}  {rule.severity.value:<7}  {rule.name}" for rule in rules))
    else:
        sys.stdout.write("\n\n".join(explanation(rule) for rule in rules))
    return 0


def find(written: str) -> Rule:
    """The rule of a code or name, upper or lower case. Raises UsageError for one that does not exist, with the nearest that do."""
    codes = {rule.code: rule for rule in all_rules()}
    names = {rule.name: rule for rule in all_rules()}
    found = codes.get(written.upper()) or names.get(written.lower())
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(written.lower(), names)
        hint = f"; did you mean {' or '.join(near)}?" if near else ": `fcompile rule --all` lists all"
        raise UsageError(f"there is no rule `{written}`{hint}")
    return found


def explanation(rule: Rule) -> str:
    """A rule as text for people, in lines of at most 100 characters."""
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
