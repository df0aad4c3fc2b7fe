"""A field of a Pod, by the steps that lead to it."""

from __future__ import annotations

from typing import Any

from fcompile.diagnostics.problem import Path, field_path
from fcompile.errors import UsageError


def select(pod: dict[str, Any], field: tuple[str, ...]) -> tuple[Path, Any]:
    """Return the part of a Pod that steps lead to, and its path. Raises UsageError."""
    path: Path = ()
    value: Any = pod
    for step in field:
        found = _entered(value, step)
        if found is None:
            where = f"`{field_path(path)}`" if path else "the Pod"
            raise UsageError(f"{where} has no `{step}`; it has {', '.join(_choices(value)) or 'no parts'}")
        path, value = (*path, found), value[found]
    return path, value


def _entered(value: Any, step: str) -> str | int | None:
    if isinstance(value, dict):
        return step if step in value else None
    if not isinstance(value, list):
        return None
    named = [index for index, item in enumerate(value) if isinstance(item, dict) and names_of(item) == step]
    if named:
        return named[0]
    return int(step) if step.isascii() and step.isdigit() and len(step) < 9 and int(step) < len(value) else None


def names_of(item: dict[str, Any]) -> str | None:
    """Return the name by which an item of a list is picked; None: it has none."""
    return next((str(item[key]) for key in ("name", "mountPath", "devicePath", "containerPort", "key") if key in item), None)


def _choices(value: Any) -> list[str]:
    if isinstance(value, dict):
        return list(value)[:20]
    if isinstance(value, list):
        return [f"[{(isinstance(item, dict) and names_of(item)) or index}]" for index, item in enumerate(value)][:20]
    return []
