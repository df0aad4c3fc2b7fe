"""`fcompile krm`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from fcompile.check.document import Checked
from fcompile.check.objects import frameworks_in, is_framework
from fcompile.commands.group import command
from fcompile.commands.krm.config import Settings, message, of_key, refused, settings
from fcompile.commands.krm.listed import ResourceList, read_list
from fcompile.commands.krm.source_mapper import PREFIXES, SourceMapper
from fcompile.commands.report import OnlyWhenFound, WriterListener, fails, open_report, say_namespace, waivers_file
from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.writer import Summary
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, InputError, SettingError
from fcompile.load.files import STDIN
from fcompile.model.values import text
from fcompile.pipeline.compilation import Compilation
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import File
from fcompile.pipeline.reporting import report
from fcompile.program import say


@command(
    page="krm.md",
    examples={
        "kpt fn eval k8s --exec 'fcompile krm' -- strict=true": "compile the files of a folder in place",
        "fcompile krm < resource-list.yaml": "what kustomize and kpt call",
    },
)
def krm() -> int:
    """Be a KRM function: kustomize and kpt send a ResourceList on stdin, and get it back on stdout with its Frameworks compiled.

    Settings come in its functionConfig, a ConfigMap: strict, kubernetes-version, namespace, set, and fields of roles such as
    worker.taskNumber. Problems are listed under `results` and on stderr. If one is an error, the items come back unchanged and the
    exit code is 1.
    """
    # There are no arguments: not all that call functions can give them any.
    listed = read_list()
    results: list[dict[str, Any]] = []
    try:
        asked = settings(listed.config)
        compilation = _compilation(listed, asked)
        failed = fails(_report(compilation, listed, results), asked.strict, "strict")
        compiled = {} if failed else dict(_compiled(compilation))
        if not failed:
            _tell(listed, compiled, asked)
    except (SettingError, InputError) as error:
        failed, compiled = True, {}
        say(message(error))
        results.append(refused(error, listed.config))
    write([listed.written(compiled, results)])
    return EXIT_ERRORS if failed else 0


def _compilation(listed: ResourceList, asked: Settings) -> Compilation:
    """Return the compilation of the list; its items stay as they were. Raises SettingError and InputError."""
    for index, item in enumerate(listed.items):
        if not is_framework(item) and any(path for path, _ in frameworks_in(item)):
            kind = text(item, "kind")
            raise InputError(f"items[{index}] is a {kind} with Frameworks in it: write each as a document of its own")
    if asked.overrides:
        items = [deepcopy(item) if is_framework(item) else item for item in listed.items]
        listed.document.value = {**listed.document.value, "items": items}
    try:
        return Compilation([File(STDIN, listed.read)], asked.checked, [override for override, _ in asked.overrides])
    except SettingError as error:
        raise of_key(error, next(key for override, key in asked.overrides if override.written == error.value)) from None


def _report(compilation: Compilation, listed: ResourceList, results: list[dict[str, Any]]) -> Summary:
    """Report all problems."""
    listener = WriterListener(SourceMapper(OnlyWhenFound(open_report("text", sys.stderr)), listed, results))
    return report(map(_without_internal, compilation.checked()), compilation.look_up, listener, waivers_file())


def _without_internal(checked: Checked) -> Checked:
    """Return the result without what is said of the caller's own annotations: they are removed again, and may be numbers."""

    def internal(problem: Problem) -> bool:
        return problem.path[2:4] == ("metadata", "annotations") and str(problem.path[-1]).startswith(PREFIXES)

    return checked._replace(problems=[problem for problem in checked.problems if not internal(problem)])


def _compiled(compilation: Compilation) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the Frameworks, compiled, each with the index of its item. Raises InputError."""
    for unit in compilation.units():
        compiled = unit.compiled()
        if isinstance(compiled, Compiled):
            yield int(unit.path[1]), compiled.framework


def _tell(listed: ResourceList, compiled: dict[int, dict[str, Any]], asked: Settings) -> None:
    """Say on stderr what may not be what was meant."""
    if not compiled:
        say(f"no Framework among the {len(listed.items)} items")
    without = [value["metadata"]["name"] for index, value in compiled.items() if not listed.items[index]["metadata"].get("namespace")]
    if without and not asked.namespace_given:
        say_namespace(without, asked.checked.namespace, "`namespace`")
