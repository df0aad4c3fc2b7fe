"""The options of the demo. What is wrong with one is said in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fcompile.diagnostics.suggestions import closest
from fcompile.errors import UsageError
from fcompile.model.values import sequence
from fcontroller.api import Json

_EXIT: Final = re.compile(r"(?P<pod>[^=]+)=(?P<codes>[0-9]+(?:,[0-9]+)*)")
_MOST_EXIT: Final = 255
_LISTED: Final = 8
"""How many roles a message lists."""


def exit_codes(words: Iterable[str]) -> dict[str, list[int]]:
    """Return the exit codes of each Pod, from words of the form `POD=CODE[,CODE…]`. Raises UsageError."""
    given: dict[str, list[int]] = {}
    for word in words:
        match = _EXIT.fullmatch(word)
        if match is None:
            raise UsageError(f"--exit: `{word}` is not of the form POD=CODE or POD=CODE,CODE…")
        if match["pod"] in given:
            raise UsageError(f"--exit: `{match['pod']}` is there twice; write all its codes into one, with commas between them")
        given[match["pod"]] = [int(code[:4]) for code in match["codes"].split(",")]
        if max(given[match["pod"]]) > _MOST_EXIT:
            raise UsageError(f"--exit: `{word}` has a code that no process can exit with; they are 0 to {_MOST_EXIT}")
    return given


def check_pods(given: Iterable[str], frameworks: Sequence[Json]) -> None:
    """Raise UsageError for a Pod that none of the Frameworks will have."""
    roles = {
        f"{framework['metadata']['name']}-{role['name']}": role["taskNumber"] for framework in frameworks for role in _roles(framework)
    }
    for pod in given:
        role, _, index = pod.rpartition("-")
        if not _is_index(index, roles.get(role, 0)):
            raise UsageError(f"--exit: no Framework has a Pod `{pod}`{_hint(pod, role, index, roles)}")


def _roles(framework: Json) -> list[Json]:
    return [role for role in sequence(framework["spec"], "taskRoles") if role["taskNumber"]]


def _is_index(text: str, tasks: int) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,8}", text) is not None and int(text) < tasks


def _hint(pod: str, role: str, index: str, roles: dict[str, int]) -> str:
    if role in roles:
        return f"; there are {_pods(role, roles[role])}"
    # The index may be missing.
    near = closest(role, roles) or closest(pod, roles)
    if near and _is_index(index, roles[near.word]):
        return f": did you mean `{near.word}-{index}`?"
    if not roles:
        return "; there are none"
    listed = [near.word] if near else list(roles)[:_LISTED]
    more = "" if near or len(roles) <= _LISTED else f" and those of {len(roles) - _LISTED} more roles"
    return f"; there are {', '.join([_pods(name, roles[name]) for name in listed])}{more}"


def _pods(role: str, tasks: int) -> str:
    return f"`{role}-0`" if tasks == 1 else f"`{role}-0` to `{role}-{tasks - 1}`"
