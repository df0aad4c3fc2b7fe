"""All rules, wherever they are declared."""

from __future__ import annotations

from functools import cache

from fcompile.diagnostics.problem import RULES, Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule, ordered by code. Imports every module that can declare one, which a check of a file need not do."""
    from importlib import import_module
    from pkgutil import walk_packages

    for package in ("fcompile.load", "fcompile.check", "fcompile.waivers"):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    return tuple(sorted(RULES.values()))
