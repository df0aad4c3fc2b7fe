"""Commands and arguments of containers: signs that a word processor or a chat has put in the place of those that programs know."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import texts
from fcompile.diagnostics.problem import Finding, warning_rule
from fcompile.model.patterns import lazy

TYPOGRAPHIC_SIGN = warning_rule(
    code="FC218",
    name="typographic-sign-in-command",
    summary="A command has a dash or a quote of typography where a program wants `-`, `\"` or `'`.",
    why="To a program `—lr` is no option, and `“` is no quote. They come in with what is copied from a page, a chat or a document.",
    remedy="Write the sign that is on the keyboard.",
)

_SIGN = lazy("(?:^|(?<=[\\s=]))(?:[\u2010-\u2015\u2212]+(?=[A-Za-z])|[\u2018\u201a\u201c\u201e](?=\\S))")
_FEW = 20
"""Signs of one text that are looked at."""


def command_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the commands and arguments with an option or a quoted text that begins with a typographic sign, one each."""
    for container in pod.containers:
        for field in ("command", "args"):
            for written, path in texts(container.fields, container.path, field):
                if not written.isascii() and (sign := _sign(written)):
                    ascii_sign = {"\u2018": "'", "\u201a": "'", "\u201c": '"', "\u201e": '"'}.get(sign, "--")
                    message = f"`{sign}` (U+{ord(sign[0]):04X}) is not what a program or a shell takes for `{ascii_sign}`: write that"
                    yield Finding(TYPOGRAPHIC_SIGN, path, message)


def _sign(written: str) -> str:
    """Return the first such sign that stands neither in a quoted text nor in a comment of a script, where it is a part of prose."""
    for match in islice(_SIGN.finditer(written), _FEW):
        before = written[: match.start()]
        line = before[before.rfind("\n") + 1 :]
        if "#" not in line and before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return match[0]
    return ""
