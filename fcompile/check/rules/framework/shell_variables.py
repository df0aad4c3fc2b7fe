"""Variables of a shell that no shell reads, references to no variable, and options that no shell divides from their values."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import islice
from typing import Any

from fcompile.check.context import FrameworkContext, containers, words
from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Finding, Path, warning_rule
from fcompile.diagnostics.suggestions import closest
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

UNDEFINED_REFERENCE = warning_rule(
    code="FC428",
    name="undefined-reference",
    summary="`$(NAME)` refers to no variable of the container, or is a command for a shell that is not there.",
    why=(
        "Kubernetes replaces `$(NAME)` by a variable of `env` or `envFrom`, and leaves all else as it is written. It knows none of "
        "the image's variables, as `PATH`, and none that Kubeflow sets, as `RANK`. A program gets the text itself; a shell takes it for a "
        "command."
    ),
    remedy=(
        "Define the variable in `env`, or have the command run by a shell: `[sh, -c, …]`. If kustomize's `vars` replace it, check what "
        "`kustomize build` prints."
    ),
)
TWO_WORDS = warning_rule(
    code="FC429",
    name="option-and-value-in-one-word",
    summary="An item of a command is an option with its value after a space.",
    why="No shell divides it: the program gets `--lr 0.1` as one argument, which is none of its options.",
    remedy="Write the option and its value as two items, or with `=` between them.",
)

_OF_SHELL = re.compile(r"(?<!\$)\$(?:(FC_[A-Z_]+)|\{(FC_[A-Z_]+)\})")
_OF_KUBERNETES = re.compile(r"(?<!\$)\$\((FC_[A-Z_]+)\)")
_SHELL_NAME = re.compile(r"(?<!\$)\$(?:([A-Za-z_]\w{0,99})|\{([A-Za-z_]\w{0,99})\})")
_IN_PARENTHESES = re.compile(r"(?<!\$)\$\((\([^()]{1,100}\)|[^()$]{1,200})\)")
_NAME = re.compile(r"[A-Z_][A-Z0-9_]{1,99}")
"""Names of variables; no command has such a name."""
_OF_AWK = frozenset({"NF", "NR"})
_OF_SERVICES = re.compile(r"_SERVICE_(?:HOST|PORT)|_PORT(?:_|$)")
"""Names of variables that the kubelet makes of Services."""
_SHELL = r"(?:^|/)[a-z]*sh$|^-[a-z]*c$"
_MAY_BE_SHELL = re.compile(rf"\s|{_SHELL}|\.sh$")
"""A word of a command that is a shell or a script, or that may be one's text: something may read what stands in the others."""
_OPTION_NAME = r"[A-Za-z][\w.-]{0,99}"
_OPTION, _TAKES_VALUE = re.compile(f"--{_OPTION_NAME}"), re.compile(f"--?{_OPTION_NAME}")
_NO_SPACE = re.compile(r"[^\s'\"`]{1,200}")
_READS_LINES = re.compile(rf"{_SHELL}|(?:^|/)(?:sshpass|watch|xargs|parallel|[^ ]*\.sh)$")
"""A word of a command that is a shell or a script, or gives words to one."""
_SHOWN_WORDS = 6
_FEW = 200
"""References of one text that are looked at; and with more variables than this, no similar name is searched for."""


def shell_variable_rules(context: FrameworkContext) -> Iterator[Finding]:
    """Yield the variables of a shell in variables, commands without a shell, and paths of mounts, and references to no variable."""
    for role in context.roles:
        for container, path in containers(role.template, role.template_path):
            yield from _in_container(container, path)


def _in_container(container: Any, path: Path) -> Iterator[Finding]:
    # Variables from a ConfigMap or Secret are not known here: say nothing of what they might define.
    has_others = bool(sequence(container, "envFrom"))
    variables = entries(container, path, "env")
    defined = {text(variable, "name") or "" for variable, _ in variables}
    known = set(names.POD_ENV)
    for variable, place in variables:
        value, name = text(variable, "value") or "", text(variable, "name") or ""
        # With spaces it may be a script, which a shell is given later.
        if not re.search(r"\s", value):
            yield from _unread(value, (*place, "value"), _OF_SHELL)
            yield from _itself(value, (*place, "value"), name, may_be_set=has_others or name in known)
            if not has_others and f"$({name})" not in value:
                yield from _undefined(value, (*place, "value"), known, defined, shell=False)
        known.add(name)
    line = list(words(container, path))
    # Without `command` the image says what runs, which may be a shell.
    shell = not sequence(container, "command") or any(_may_be_shell(word) for word, _ in line if not word.startswith("--"))
    for word, place in line:
        # An option may hold a script, as `--wrap`: then no other word is one.
        read = shell or (word.startswith("--") and _may_be_shell(word))
        if not read:
            yield from _unread(word, place, _OF_SHELL) or _unread(word, place, _SHELL_NAME, defined)
        if not has_others:
            yield from _undefined(word, place, known, known, shell=read)
    if sequence(container, "command") and not any(_READS_LINES.search(word) for word, _ in line):
        yield from _two_words(line)
    for mount, place in entries(container, path, "volumeMounts"):
        yield from _unread(text(mount, "subPathExpr") or "", (*place, "subPathExpr"), _OF_SHELL)
        for pattern in (_OF_SHELL, _OF_KUBERNETES):
            yield from _unread(text(mount, "subPath") or "", (*place, "subPath"), pattern)


def _may_be_shell(word: str) -> bool:
    return bool(_MAY_BE_SHELL.search(_IN_PARENTHESES.sub("", word)))


def _two_words(line: list[tuple[str, Path]]) -> Iterator[Finding]:
    before = ""
    for written, path in line:
        option, _, value = written.partition(" ")
        # After an option it may be a value: `--mpi-args`, `--oversubscribe true`.
        if value.strip() and _OPTION.fullmatch(option) and not _TAKES_VALUE.fullmatch(before):
            parts = written.split()
            plain = len(parts) <= _SHOWN_WORDS and all(map(_NO_SPACE.fullmatch, parts))
            right = f"write {', '.join(f'`{part}`' for part in parts)}, each" if plain else "write each word"
            shown = f"`{' '.join(parts)}`" if len(parts) <= _SHOWN_WORDS and len(written) <= _FEW else f"`{option} …`"
            message = f"{shown} is one argument, and no program takes it for the option `{option}`: {right} as an item of its own"
            yield Finding(TWO_WORDS, path, message)
        before = written


def _itself(written: str, path: Path, name: str, *, may_be_set: bool) -> list[Finding]:
    """Return what is wrong with the value of a variable that is to have its own name replaced, as `PATH: /opt/bin:$PATH`."""
    for rule, pattern in ((UNREAD_VARIABLE, _SHELL_NAME), (UNDEFINED_REFERENCE, _IN_PARENTHESES)):
        for match in pattern.finditer(written):
            if name in match.groups() and not name.startswith("FC_") and not (rule is UNDEFINED_REFERENCE and may_be_set):
                if match[0] == written:
                    return [Finding(rule, path, f"`{written}` stays as it is: fill it in before, for example with `envsubst`")]
                why = f"is not what the image has in `{name}`, and stays as it is"
                return [Finding(rule, path, f"`{match[0]}` {why}: write that value out, or set the variable in a shell")]
    return []


def _undefined(written: str, path: Path, known: set[str], defined: set[str], *, shell: bool) -> Iterator[Finding]:
    """Yield the first `$(…)` that Kubernetes does not replace.

    :param known: the variables that it replaces here; `defined` are those that stand below too.
    :param shell: whether a shell may read the text, to which it is a command.
    """
    for match in islice(_IN_PARENTHESES.finditer(written), _FEW):
        name = match[1]
        if name in known or name.startswith("FC_") or "{{" in name or _OF_SERVICES.search(name):
            continue
        if name in defined:
            why = "stays as it is, since Kubernetes only replaces variables that are set before"
            message = f"`{match[0]}` {why}: move `{name}` up"
        elif _NAME.fullmatch(name):
            if shell and (name in _OF_AWK or f"{name}()" in written):
                continue  # A field of awk's, or a function of the script.
            near = closest(name, sorted(known)) if len(known) <= _FEW else None
            hint = f"did you mean $({near.word})?" if near else "define the variable, or write `$$(` for the text itself"
            message = f"`{match[0]}` refers to no variable of this container, and stays as it is: {hint}"
        elif shell:
            continue
        else:
            of_variable = path[-1] == "value"
            right = "set the variable in a shell" if of_variable else "write `sh`, `-c` and the whole line as three items of `command`"
            message = f"`{match[0]}` runs nothing, since no shell reads it: {right}"
        yield Finding(UNDEFINED_REFERENCE, path, message)
        return


def _unread(written: str, path: Path, pattern: re.Pattern[str], of: Container[str] | None = None) -> list[Finding]:
    """Return the first variable that the pattern finds, of these names."""
    found = (match for match in pattern.finditer(written) if of is None or (match[1] or match[pattern.groups]) in of)
    match = next(found, None)
    if match is None:
        return []
    name = match[1] or match[pattern.groups]
    who = "Kubernetes does not replace it here" if pattern is _OF_KUBERNETES else "no shell reads it"
    if name in names.PLACEHOLDERS:
        instead = f"write {names.placeholder(name)}"
    elif pattern is not _OF_KUBERNETES and path[-1] != "subPath":
        instead = f"write $({name})"
    else:
        instead = f"write $({name}) in `subPathExpr`"
    return [Finding(UNREAD_VARIABLE, path, f"`{match[0]}` stays as it is, since {who}: {instead}")]
