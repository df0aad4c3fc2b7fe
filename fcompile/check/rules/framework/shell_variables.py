"""Variables of a shell in the places that no shell reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fcompile.check.context import FrameworkContext, containers, words
from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Finding, Path, warning_rule
from fcompile.model import names
from fcompile.model.values import sequence, text

UNREAD_VARIABLE = warning_rule(
    code="FC427",
    name="shell-variable-unread",
    summary="A variable of a shell, such as `$FC_TASK_INDEX`, stands where no shell reads it.",
    why=(
        "Kubernetes replaces only `$(NAME)`, and only in `command`, `args`, `env` and `subPathExpr`. `$NAME` and `${NAME}` stay as they "
        "are written, so that all tasks get the same text."
    ),
    remedy="Write the placeholder, as `{{FC_TASK_INDEX}}`, or have the command run by a shell: `[sh, -c, …]`.",
)

_OF_SHELL = re.compile(r"(?<!\$)\$(?:(FC_[A-Z_]+)|\{(FC_[A-Z_]+)\})")
_OF_KUBERNETES = re.compile(r"(?<!\$)\$\((FC_[A-Z_]+)\)")
_MAY_BE_SHELL = re.compile(r"\s|(?:^|/)[a-z]*sh$|\.sh$|^-[a-z]*c$")
"""A word of a command that is a shell or a script, or that may be one's text: something may read what stands in the others."""


def shell_variable_rules(context: FrameworkContext) -> Iterator[Finding]:
    """Yield the variables of a shell in variables, commands without a shell, and paths of mounts."""
    for role in context.roles:
        for container, path in containers(role.template, role.template_path):
            yield from _in_container(container, path)


def _in_container(container: Any, path: Path) -> Iterator[Finding]:
    for variable, place in entries(container, path, "env"):
        value = text(variable, "value") or ""
        # With spaces it may be a script, which a shell is given later.
        if not re.search(r"\s", value):
            yield from _unread(value, (*place, "value"), _OF_SHELL)
    line = list(words(container, path))
    # Without `command` the image says what runs, which may be a shell.
    if sequence(container, "command") and not any(_MAY_BE_SHELL.search(word) for word, _ in line):
        for word, place in line:
            yield from _unread(word, place, _OF_SHELL)
    for mount, place in entries(container, path, "volumeMounts"):
        yield from _unread(text(mount, "subPathExpr") or "", (*place, "subPathExpr"), _OF_SHELL)
        for pattern in (_OF_SHELL, _OF_KUBERNETES):
            yield from _unread(text(mount, "subPath") or "", (*place, "subPath"), pattern)


def _unread(written: str, path: Path, pattern: re.Pattern[str]) -> Iterator[Finding]:
    match = pattern.search(written)
    if match is None:
        return
    name = match[1] or match[pattern.groups]
    who = "Kubernetes does not replace it here" if pattern is _OF_KUBERNETES else "no shell reads it"
    if name in names.PLACEHOLDERS:
        instead = f"write {names.placeholder(name)}"
    elif pattern is _OF_SHELL and path[-1] != "subPath":
        instead = f"write $({name})"
    else:
        instead = f"write $({name}) in `subPathExpr`"
    yield Finding(UNREAD_VARIABLE, path, f"`{match[0]}` stays as it is, since {who}: {instead}")
