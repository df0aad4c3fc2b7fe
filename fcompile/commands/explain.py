"""Show where each value of a Pod comes from: a line of the source, a default, a placeholder, --set, or the controller.

POD is the Pod's name, as in `kubectl get pods`, and may go on with a field: train-worker-3.spec.containers[0].env
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from fcompile.commands.arguments import add_report_arguments, add_version_argument, check_paths, option_of, options, overrides
from fcompile.commands.report import Telling, fails, holds_current_folder, open_errors, text_style, waivers_file
from fcompile.diagnostics.problem import Path, Span, field_path
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, InputError, UsageError
from fcompile.explain.origins import Explained, Task, explain
from fcompile.model.steps import steps
from fcompile.model.values import mapping, text
from fcompile.pipeline.compilation import Compilation, Refused, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.inputs import Inputs


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("pod", metavar="POD[.FIELD]", help="[namespace/]name of the Pod, and a field of it")
    parser.add_argument("paths", nargs="*", metavar="PATH", default=["."], help="where the Framework is: files, folders or - (default: .)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is printed (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="ROLE.FIELD=VALUE", help="as in `build`")
    parser.add_argument("-n", "--namespace", metavar="NAME", help="the namespace of Frameworks that give none (default: default)")
    add_version_argument(parser)
    add_report_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Find the Framework, compile it, and walk back from the Pod to the source."""
    namespace, name, field = _parsed(arguments.pod)
    framework, role, index = _task_of(name)
    checked = options(arguments)
    # A role without a Framework's name is one of this Framework's, whatever others its file has.
    asked = [override._replace(framework=override.framework or framework) for override in overrides(arguments)]
    waivers, whole = waivers_file(arguments.waivers), holds_current_folder(arguments.paths)
    check_paths(arguments.paths)
    files = (file for file in Inputs(arguments.paths).files() if any(_name(value) == framework for value in file.frameworks()))
    compilation = Compilation(files, checked, asked, waivers, whole)
    telling = Telling(open_errors(arguments.color, arguments.strict))
    if fails(compilation.report(telling), arguments.strict):
        return EXIT_ERRORS
    unit, compiled = _only(compilation, namespace, framework)
    place = _role(compiled, role, index, name)

    def locate(path: Path) -> Span:
        return unit.document.locate((*unit.path, *path))

    explained = explain(Task(compiled, unit.value, place, index, tuple(compilation.applied), locate, option_of("namespace")))
    path, value = select(explained.pod, field)
    write(_formatted(explained, path, value, unit.document.source.name.removeprefix("./"), arguments))
    return 0


def _parsed(written: str) -> tuple[str, str, tuple[str, ...]]:
    """The namespace, name and field of `[namespace/]name.field`."""
    head = written.partition("[")[0].partition(".")[0]
    namespace, slash, name = head.rpartition("/")
    try:
        return namespace if slash else "", name, steps(written[len(head) :])
    except ValueError as rest:
        raise UsageError(f'{written}: cannot read the field at `{rest}`; write names with dots, [index], [name] or ["key"]') from None


def _task_of(name: str) -> tuple[str, str, int]:
    parts = name.split("-")
    if len(parts) != 3 or not (parts[2].isascii() and parts[2].isdigit()) or str(int(parts[2][:9])) != parts[2]:
        raise UsageError(f"{name}: write the name of a task's Pod, {{framework}}-{{role}}-{{index}}, for example train-worker-0")
    return parts[0], parts[1], int(parts[2])


def _name(framework: Any) -> str | None:
    return text(mapping(framework, "metadata"), "name")


def _only(compilation: Compilation, namespace: str, name: str) -> tuple[Unit, Compiled]:
    """Return the one Framework that is meant, compiled."""
    found = []
    for unit in compilation.units():
        if _name(unit.value) == name:
            if isinstance(unit.result, Refused):
                raise InputError(unit.refusal(unit.result))
            if isinstance(unit.result, Compiled) and namespace in ("", unit.result.namespace):
                found.append((unit, unit.result))
    if not found:
        raise UsageError(f"there is no Framework `{name}`" + (f" in the namespace `{namespace}`" if namespace else "") + " in the input")
    if len(found) > 1:
        listed = ", ".join(sorted(compiled.namespace for _, compiled in found))
        raise UsageError(f"there are Frameworks `{name}` in several namespaces ({listed}): write NAMESPACE/POD")
    return found[0]


def _role(compiled: Compiled, role: str, index: int, name: str) -> int:
    for place, one in enumerate(compiled.intent.roles):
        if one.name == role:
            if index >= one.task_number:
                raise UsageError(f"there is no Pod `{name}`: role `{role}` has {one.task_number} tasks")
            return place
    known = ", ".join(one.name for one in compiled.intent.roles)
    raise UsageError(f"Framework `{compiled.intent.framework}` has no role `{role}`; its roles are: {known}")


def select(pod: dict[str, Any], field: tuple[str, ...]) -> tuple[Path, Any]:
    """The part of a Pod that steps lead to, and its path. Raises UsageError."""
    path: Path = ()
    value: Any = pod
    for step in field:
        found = _entered(value, step)
        if found is None:
            where = f"`{field_path(path)}`" if path else "the Pod"
            raise UsageError(f"{where} has no `{step}`; there is: {', '.join(_choices(value)) or 'nothing'}")
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
    """What an item of a list goes by."""
    return next((str(item[key]) for key in ("name", "mountPath", "devicePath", "containerPort", "key") if key in item), None)


def _choices(value: Any) -> list[str]:
    if isinstance(value, dict):
        return list(value)[:20]
    if isinstance(value, list):
        return [f"[{(isinstance(item, dict) and names_of(item)) or index}]" for index, item in enumerate(value)][:20]
    return []


def _formatted(explained: Explained, path: Path, value: Any, file: str, arguments: argparse.Namespace) -> Iterator[str]:
    leaves = [leaf for leaf in explained.leaves if leaf.path[: len(path)] == path]
    if arguments.format == "json":
        from fcompile.explain.json import write as write_json

        return write_json(explained.pod["metadata"], leaves, file)
    from fcompile.explain.text import write as write_text

    color = text_style(arguments.color, sys.stdout).color
    return write_text(value, path, {leaf.path: leaf.origin for leaf in leaves}, file, color, fold=not path)
