"""Names from the Frameworks that a command line names: roles, tasks, Pods and their fields."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from fcompile.check.context import DEFAULT_NAMESPACE, task_number
from fcompile.check.objects import frameworks_in
from fcompile.commands.completion.words import Candidate
from fcompile.diagnostics.problem import field_path
from fcompile.load import Document, read
from fcompile.load.files import find, may_hold_framework, open_regular
from fcompile.model.names import pod_name
from fcompile.model.steps import steps
from fcompile.model.values import mapping, sequence, text
from fcompile.pipeline.overrides import roles

_MOST_FILES = 100
_MOST_BYTES = 1 << 20
_MOST_TASKS = 50
_FIELD = re.compile(r"(?P<pod>(?:[^./\[]*/)?(?P<framework>[^-./\[]+)-(?P<role>[^-./\[]+)-(?P<index>\d{1,6}))(?P<field>[.\[].*)")
_LAST_STEP = re.compile(r"(?:\.[^.\[\]]*|\[[^\]]*)\Z")


def frameworks_of(paths: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the Frameworks in the first files behind the paths; what is large, or waits for somebody, is not read."""
    left = _MOST_BYTES
    # The shell would have replaced ~ and variables; while a line is being typed it has not.
    named = [os.path.expandvars(os.path.expanduser(path)) for path in paths if path != "-"]
    for count, entry in enumerate(find(named)):
        if count == _MOST_FILES:
            return
        data = b"" if entry.error else _content(entry.path, left)
        left -= len(data)
        if may_hold_framework(data):
            for document in read(data, entry.name):
                if isinstance(document, Document):
                    yield from (value for _, value in frameworks_in(document.value))


def _content(path: str, most: int) -> bytes:
    """Return the bytes of a file that has no more than `most`; of anything else, nothing."""
    file = open_regular(path)
    if file is None:
        return b""
    with file:
        return file.read(most) if os.fstat(file.fileno()).st_size <= most else b""


def only(frameworks: Iterator[dict[str, Any]], current: str) -> Iterator[Candidate]:
    """Yield what `--only` can be: roles, and tasks once a role is written."""
    for framework, name, role in roles(frameworks):
        for written in (name, f"{framework}/{name}") if "/" in current else (name,):
            number = task_number(role)
            yield written, f"{number} tasks of {framework}"
            if current.startswith(written):
                yield from ((f"{written}[{index}]", "") for index in _some(number, current[len(written) + 1 :]))


def fields_to_set(frameworks: Iterator[dict[str, Any]], current: str) -> Iterator[Candidate]:
    """Yield what `--set` sets most, each with its value."""
    for framework, name, role in roles(frameworks):
        for written in (name, f"{framework}/{name}") if "/" in current else (name,):
            yield f"{written}.taskNumber=", str(role.get("taskNumber", 1))
            for container in sequence(mapping(mapping(mapping(role, "task"), "pod"), "spec"), "containers"):
                if label := text(container, "name"):
                    yield f"{written}.task.pod.spec.containers[{label}].image=", str(container.get("image", ""))


def pods(frameworks: Iterator[dict[str, Any]], current: str) -> Iterator[Candidate]:
    """Yield what `explain` explains: Pods, or the next step of a field."""
    asked = _FIELD.fullmatch(current)
    before = current.rpartition("/")[0] + "/" if "/" in current and not asked else ""
    for framework in frameworks:
        for name, role, value in roles([framework]):
            number = task_number(value)
            if asked and (asked["framework"], asked["role"]) == (name, role) and int(asked["index"]) < number:
                pod = _pod(framework, role, int(asked["index"]))
                yield from ((word, "") for word in _fields(pod, asked["pod"], asked["field"]))
            elif not asked:
                start = before + pod_name(name, role, "")
                begun = current.removeprefix(start) if current.startswith(start) else ""
                yield from ((f"{start}{index}", f"role {role}") for index in _some(number, begun))


def _some(number: int, begun: str) -> Iterator[int]:
    """Return the first indices of `number` tasks that begin with what is typed."""
    digits = begun.rstrip("]")
    found = (index for index in range(number) if str(index).startswith(digits))
    return (index for index, _ in zip(found, range(_MOST_TASKS), strict=False))


def _pod(framework: dict[str, Any], role: str, index: int) -> dict[str, Any]:
    from fcompile.pipeline.comparable import expected_pod
    from fcompile.pipeline.compiled import compile_framework
    from fcompile.schema.pod_schemas import DEFAULT_VERSION

    compiled = compile_framework(framework, DEFAULT_NAMESPACE)
    (one,) = (one for one in compiled.intent.roles if one.name == role)
    return expected_pod(one, compiled.namespace, index, DEFAULT_VERSION)


def _fields(pod: dict[str, Any], name: str, written: str) -> Iterator[str]:
    """Yield what the last step of a written field can be; if that is one thing only, the steps after it too: it need not be the last."""
    from fcompile.explain.fields import select

    head = _LAST_STEP.sub("", written)
    inside = select(pod, steps(head))[1]
    fitting = [(head + step, value) for step, value in _steps(inside) if (head + step).startswith(written)]
    yield from (name + field for field, _ in fitting)
    if len(fitting) == 1:
        (field, value) = fitting[0]
        yield from (name + field + step for step, _ in _steps(value))


def _steps(value: Any) -> Iterator[tuple[str, Any]]:
    from fcompile.explain.fields import names_of

    if isinstance(value, dict):
        for key, item in value.items():
            step = field_path((key,))
            yield step if step.startswith("[") else f".{step}", item
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield f"[{(isinstance(item, dict) and names_of(item)) or index}]", item
