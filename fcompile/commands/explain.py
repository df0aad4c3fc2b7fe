"""`fcompile explain`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import click

from fcompile.commands.group import argument, command, completed
from fcompile.commands.option_values import check_paths, checked_with, option_of, parsed
from fcompile.commands.options import kubernetes_version, namespace, reporting, set_
from fcompile.commands.report import WriterListener, fails, open_errors, text_style, waivers_file
from fcompile.diagnostics.problem import Path, Span
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import ColorChoice, counted
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, UsageError
from fcompile.explain.fields import select
from fcompile.explain.origins import Explained, Task
from fcompile.explain.origins import explain as trace
from fcompile.model.steps import steps
from fcompile.model.values import mapping, name_of, sequence, text
from fcompile.pipeline.compilation import Compilation, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File
from fcompile.pipeline.inputs import Inputs


@command(
    page="explain.md",
    examples={
        "fcompile explain train-worker-0": "where every value of the Pod comes from",
        "fcompile explain 'train-worker-0.spec.containers[main].env' k8s": "one field, of a Framework in another folder",
    },
)
@argument("pod", metavar="POD[.FIELD]", shell_complete=completed("pod"), help="[namespace/]name of the Pod, and a field of it")
@argument(
    "paths",
    nargs=-1,
    metavar="[PATH]...",
    shell_complete=completed("file"),
    help="where the Framework is: files, folders or - for stdin  [default: .]",
)
@click.option("--format", type=click.Choice(("text", "json")), default="text", show_default=True, help="how it is printed")
@set_
@namespace
@kubernetes_version
@reporting
def explain(
    *,
    pod: str,
    paths: tuple[str, ...],
    format: str,
    overrides: tuple[str, ...],
    namespace: str | None,
    kubernetes_version: str,
    strict: bool,
    waivers: str | None,
    color: ColorChoice,
) -> int:
    """Show where each value of a Pod comes from: a line of the source, a default, a placeholder, --set, or the controller.

    POD is the Pod's name, as in `kubectl get pods`, and may go on with a field: train-worker-3.spec.containers[0].env
    """
    if "." in pod and os.path.isfile(pod):
        swapped = (paths[0], pod, *paths[1:]) if paths else ("POD", pod)
        raise UsageError(f"{visible(pod)} is a file: the Pod comes first: `fcompile explain {visible(' '.join(swapped))}`")
    paths = paths or (".",)
    of_namespace, name, field = _parsed(pod)
    framework, role, index = _task_of(name, paths)
    checked = checked_with(kubernetes_version, namespace)
    # A role without a Framework's name is one of this Framework's, whatever others its file has.
    asked = [override._replace(framework=override.framework or framework) for override in parsed(overrides)]
    waived = waivers_file(waivers)
    check_paths(paths)
    compilation = Compilation(_files_with(framework, Inputs(paths)), checked, asked, waived, whole=None)
    listener = WriterListener(open_errors(color, strict))
    if fails(compilation.report(listener), strict):
        return EXIT_ERRORS
    unit, compiled = _only(compilation, of_namespace, framework)
    position = _role(compiled, role, index, name)

    def locate(path: Path) -> Span:
        return unit.document.locate((*unit.path, *path))

    explained = trace(
        Task(compiled, unit.value, position, index, compilation.version, tuple(compilation.applied), locate, option_of("namespace"))
    )
    path, value = select(explained.pod, field)
    write(_formatted(explained, path, value, unit.document.source.name.removeprefix("./"), format, color))
    return 0


def _parsed(written: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the namespace, name and field of `[namespace/]name.field`, or of `pod/name.field` as kubectl writes it."""
    written = re.sub("^(?:po|pods?)/", "", written)  # a Pod of a namespace `pod` is `pod/pod/NAME`
    head = written.partition("[")[0].partition(".")[0]
    namespace, slash, name = head.rpartition("/")
    try:
        return namespace if slash else "", name, steps(written[len(head) :])
    except ValueError as error:
        raise UsageError(f"{written}: {error}") from None


def _task_of(name: str, paths: Sequence[str]) -> tuple[str, str, int]:
    parts = name.split("-")
    if len(parts) != 3 or not (parts[2].isascii() and parts[2].isdigit()) or str(int(parts[2][:9])) != parts[2]:
        meant = f"{''.join(parts[:-2])}-{'-'.join(parts[-2:])}" if len(parts) > 3 and parts[-1].isascii() and parts[-1].isdigit() else ""
        if re.fullmatch("(?i:fc)[0-9]{3}", name):
            raise UsageError(f"{name} is not a Pod: `fcompile rule {name.upper()}` explains a diagnostic")
        example = f": did you mean {meant}?" if meant else f", for example {_pod_of(name, paths) or 'train-worker-0'}"
        raise UsageError(f"{name or '``'}: write the name of a task's Pod, {{framework}}-{{role}}-{{index}}{example}")
    return parts[0], parts[1], int(parts[2])


def _pod_of(name: str, paths: Sequence[str]) -> str:
    """Return a Pod of the Framework or of the role whose name comes first in this one; empty if there is none."""
    check_paths(paths)
    first, *others = name.split("-")
    for file in Inputs(paths).files():
        for value in file.for_frameworks().frameworks():
            framework, roles = name_of(value), [text(role, "name") for role in sequence(mapping(value, "spec"), "taskRoles")]
            if framework and first in roles:
                return f"{framework}-{first}-0"
            role = next((one for one in (*others, *roles) if one in roles), None)
            if framework == first and role:
                return f"{framework}-{role}-0"
    return ""


def _files_with(framework: str, inputs: Inputs) -> list[File]:
    """Return the files with Frameworks of that name; if there are none, those that cannot be read: it may be in one of them."""
    found, unreadable = [], []
    for file in inputs.files():
        file = file.for_frameworks()
        if any(name_of(value) == framework for value in file.frameworks()):
            found.append(file)
        elif file.unreadable():
            unreadable.append(file)
    return found or unreadable


def _only(compilation: Compilation, namespace: str, name: str) -> tuple[Unit, Compiled]:
    """Return the one Framework that is meant, compiled."""
    found = []
    for unit in compilation.units():
        if name_of(unit.value) == name:
            compiled = unit.compiled()
            if isinstance(compiled, Compiled) and namespace in ("", compiled.namespace):
                found.append((unit, compiled))
    if not found:
        raise UsageError(
            f"there is no Framework `{name}`"
            + (f" in the namespace `{namespace}`" if namespace else "")
            + " in the input: name the file or folder that has it"
        )
    if len(found) > 1:
        listed = ", ".join(sorted(compiled.namespace for _, compiled in found))
        raise UsageError(f"there are Frameworks `{name}` in several namespaces ({listed}): write NAMESPACE/POD")
    return found[0]


def _role(compiled: Compiled, role: str, index: int, name: str) -> int:
    """Return the position of a role in its Framework. Raises UsageError if it, or its task of that index, is not there."""
    for position, one in enumerate(compiled.intent.roles):
        if one.name == role:
            if index >= one.task_number:
                last = f"; the last is `{name.rpartition('-')[0]}-{one.task_number - 1}`" if one.task_number else ""
                raise UsageError(f"there is no Pod `{name}`: role `{role}` has {counted(one.task_number, 'task')}{last}")
            return position
    known = ", ".join(one.name for one in compiled.intent.roles)
    has = f"its roles are: {known}" if known else "it has none"
    raise UsageError(f"Framework `{compiled.intent.framework}` has no role `{role}`; {has}")


def _formatted(explained: Explained, path: Path, value: Any, file: str, format: str, color: ColorChoice) -> Iterator[str]:
    leaves = [leaf for leaf in explained.leaves if leaf.path[: len(path)] == path]
    lifetime = () if path else explained.lifetime
    if format == "json":
        from fcompile.explain.json import write as write_json

        return write_json(explained.pod["metadata"], leaves, lifetime, file)
    from fcompile.explain.text import write as write_text
    from fcompile.explain.text import write_lifetime

    style = text_style(color, sys.stdout)
    text = write_text(value, path, {leaf.path: leaf.origin for leaf in leaves}, file, style, fold=not path)
    return chain(text, write_lifetime(lifetime, file, style))
