"""Be a KRM function: kustomize and kpt send a ResourceList on stdin, and get it back on stdout with its Frameworks compiled.

Settings come in its functionConfig, a ConfigMap: strict, kubernetes-version, namespace, set, and fields of roles such as
worker.taskNumber. Problems are listed under `results` and on stderr. If one is an error, the items come back unchanged and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import sys
from copy import deepcopy
from typing import Any

from fcompile.check.across import Place, Where
from fcompile.check.document import Checked, check_read, look_up
from fcompile.check.ours import frameworks_in, is_framework
from fcompile.check.values import text
from fcompile.commands.arguments import say_namespace
from fcompile.commands.krm.config import ConfigError, Settings, refused, settings
from fcompile.commands.krm.listed import ResourceList, read_list
from fcompile.commands.krm.placing import Placing
from fcompile.commands.krm.results import Results
from fcompile.commands.overridden import name_overrides
from fcompile.commands.report import OnlyWhenFound, Reporting, fails, open_report
from fcompile.diagnostics.problem import Problem, field_path
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS
from fcompile.pipeline import overrides
from fcompile.pipeline.compiled import compile_framework, lacking
from fcompile.program import say
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

_INTERNAL = ("config.kubernetes.io/", "internal.config.kubernetes.io/")


def configure(parser: argparse.ArgumentParser) -> None:
    """It takes no arguments: not all that call functions can give them any."""


def run(arguments: argparse.Namespace) -> int:
    """Check and compile; results in any case, compiled Frameworks when there is no error."""
    listed = read_list()
    found = Results(listed)
    try:
        asked = settings(listed.config)
        frameworks, applied = _frameworks(listed, asked)
        failed = not _check(listed, asked, applied, found)
        compiled = {} if failed else {index: _compiled(index, value, asked) for index, value in frameworks.items()}
        if not failed:
            _tell(listed, compiled, asked)
    except ConfigError as error:
        failed, compiled = True, {}
        say(str(error))
        found.results.append(refused(error, listed.config))
    write([listed.written(compiled, found.results)])
    return EXIT_ERRORS if failed else 0


def _frameworks(listed: ResourceList, asked: Settings) -> tuple[dict[int, dict[str, Any]], list[overrides.Applied]]:
    """The Frameworks by their index, set as the settings say, and what was set. Raises ConfigError."""
    for index, item in enumerate(listed.items):
        if not is_framework(item) and any(path for path, _ in frameworks_in(item)):
            kind = text(item, "kind")
            raise ConfigError(f"items[{index}] is a {kind} with Frameworks in it: write each as a document of its own")
    found = {index: deepcopy(item) if asked.overrides else item for index, item in enumerate(listed.items) if is_framework(item)}
    try:
        applied = overrides.apply(asked.overrides, list(found.values()), types(NEWEST))
    except overrides.OverrideError as error:
        raise ConfigError(str(error).removeprefix("--set ")) from None
    listed.document.value = {**listed.document.value, "items": [found.get(index, item) for index, item in enumerate(listed.items)]}
    return found, applied


def _check(listed: ResourceList, asked: Settings, applied: list[overrides.Applied], found: Results) -> bool:
    """Report all problems; whether the Frameworks can be compiled."""
    arguments = argparse.Namespace(color="auto", waivers=None, paths=[])
    writer = Placing(OnlyWhenFound(open_report("text", sys.stderr, arguments)), listed, found)
    checked = check_read(listed.document.source.name, listed.read, asked.checked)
    checked = name_overrides(checked, [listed.document], applied, "set")

    def place(where: Where) -> Place:
        return look_up({listed.document.start: listed.document}, where)

    reporting = Reporting(writer, arguments, place)
    reporting.checked(_without_internal(checked))
    return not fails(reporting.finish(), asked.strict)


def _without_internal(checked: Checked) -> Checked:
    """Without what is said of the caller's own annotations: they are removed again, and may be numbers."""

    def internal(problem: Problem) -> bool:
        return problem.path[2:4] == ("metadata", "annotations") and str(problem.path[-1]).startswith(_INTERNAL)

    return checked._replace(problems=[problem for problem in checked.problems if not internal(problem)])


def _compiled(index: int, value: dict[str, Any], asked: Settings) -> dict[str, Any]:
    missing = lacking(value)
    if missing is not None:
        raise ConfigError(f"items[{index}]: without `{field_path(missing)}` nothing can be built; no waiver helps")
    return compile_framework(value, asked.checked.namespace).framework


def _tell(listed: ResourceList, compiled: dict[int, dict[str, Any]], asked: Settings) -> None:
    """On stderr: what may not be what was meant."""
    if not compiled:
        say(f"no Framework among the {len(listed.items)} items")
    without = [value["metadata"]["name"] for index, value in compiled.items() if not listed.items[index]["metadata"].get("namespace")]
    if without and not asked.namespace_given:
        say_namespace(without, asked.checked.namespace, "`namespace`")
