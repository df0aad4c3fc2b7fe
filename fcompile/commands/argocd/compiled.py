"""One text of an application → its part of the manifests, and everything that is to be said of it. Runs in any process."""

from __future__ import annotations

import os
from itertools import chain
from typing import Any, NamedTuple

from fcompile.check.document import Checked, empty
from fcompile.commands.argocd.discreet import Hidden, hidden_lines, without_secrets
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import OVERRIDE, Settings
from fcompile.commands.argocd.sources import Source
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.visible import visible
from fcompile.emit import yaml
from fcompile.errors import SettingError, UsageError
from fcompile.load.files import FileEntry
from fcompile.model.values import mapping
from fcompile.pipeline.compilation import Compilation, Unit
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.file import open_file
from fcompile.pipeline.overrides import refusal, roles
from fcompile.pipeline.selection import Selection

MAX_OUTPUT = 100 * 1024 * 1024
"""Bytes. The repo-server takes so many as an answer, unless it is told otherwise."""
TIME_TO_LIVE = "ttlSecondsAfterFinished"
_FRAMEWORKS = Selection(("framework",))
SKIP_HOOK = "argocd.argoproj.io/hook"
"""With the value `Skip`, Argo CD compares an object and never applies or deletes it."""


class Job(NamedTuple):
    """What compiling a text depends on besides the text."""

    repository: Repository
    settings: Settings
    waivers: bool
    """Whether there is a waivers file: it may waive an error."""


class Made(NamedTuple):
    """What was made of a text; picklable."""

    checked: Checked
    text: bytes = b""
    """Its manifests, in UTF-8: in a `str`, one wide character makes all others as wide. Empty with errors that nothing can waive."""
    roles: tuple[tuple[str, str], ...] = ()
    """Each role with its Framework's name."""
    frameworks: int = 0
    left_out: tuple[str, ...] = ()
    """Documents that are no objects."""
    pods_left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    hidden: Hidden = Hidden()
    refused: str = ""
    """Why there can be no output at all; empty if nothing but what the check has found is in the way."""


def compile_source(source: Source, job: Job) -> Made:
    """Compile one text. What is wrong with the text is in the result."""
    try:
        return _compiled(source, source.content(job.repository), job)
    except UsageError as error:
        return Made(empty(source.name), refused=str(error))


def _compiled(source: Source, data: bytes, job: Job) -> Made:
    file = open_file(FileEntry(source.name, source.path or "-"), data, os.getcwd())
    if file.skipped and source.path:
        raise UsageError(f"{visible(source.name)}: {file.skipped}; or list it in .fcompileignore")
    file = file._replace(skipped="")
    if file.unreadable():
        discreet = without_secrets(data, file.name)
        file = file._replace(read=[discreet(item) if isinstance(item, Problem) else item for item in file.read])
    frameworks = file.frameworks()
    known = tuple((framework, role) for framework, role, _ in roles(frameworks))
    # Whether each override means one role of the whole application is seen later.
    overrides = [override for override in job.settings.overrides if refusal(override, known) is None]
    try:
        compilation = Compilation([file], job.settings.checked, overrides)
    except SettingError as error:
        raise UsageError(error.called(OVERRIDE)) from None
    (checked,) = compilation.checked()
    made = Made(checked, roles=known, frameworks=len(frameworks), hidden=hidden_lines(file.read))
    failed = any(problem.severity is Severity.ERROR for problem in checked.problems)
    if failed and not (job.waivers or checked.waivers):
        return made
    try:
        return _with_text(made, compilation, job.settings)
    except UsageError:
        raise
    except Exception:
        if failed:
            return made._replace(refused=f"{visible(source.name)}: cannot be compiled with the errors that were waived")
        raise


def _with_text(made: Made, compilation: Compilation, settings: Settings) -> Made:
    """Return the same with the manifests, with what is not among them, and with what means something else under Argo CD."""
    pods = Selection(("pods",), most=settings.pods_per_role, version=compilation.version)
    size, texts = 0, list[bytes]()
    left_out, pods_left_out, warnings = list[str](), list[str](), list[str]()
    too_much = f"{visible(made.checked.file)}: comes to more than {MAX_OUTPUT:,} bytes: divide it, or show fewer Pods"
    for unit in compilation.units():
        result = unit.compiled()
        if isinstance(result, Compiled) or result.is_object:
            found = _FRAMEWORKS.texts(result, yaml.document, verbatim=True)
            if isinstance(result, Compiled) and TIME_TO_LIVE in result.intent.lifetime:
                warnings.append(_of_time_to_live(unit, result))
            if isinstance(result, Compiled) and settings.pods_per_role and result.intent.execution_type == "Start":
                # The expected Pods, as something that Argo CD compares and never applies.
                found = chain(found, pods.texts(result, _skipped))
                pods_left_out += _not_shown(result, settings.pods_per_role)
            for text in map(str.encode, found):
                size += len(text)
                if size > MAX_OUTPUT:
                    raise UsageError(too_much)
                texts.append(text)
        elif _seems_an_object(result.value):
            raise UsageError(
                f"{unit.location}: an object needs both `apiVersion` and `kind`: add what is missing, or Argo CD would delete it"
            )
        else:
            left_out.append(unit.location)
    return made._replace(text=b"".join(texts), left_out=tuple(left_out), pods_left_out=tuple(pods_left_out), warnings=tuple(warnings))


def _of_time_to_live(unit: Unit, compiled: Compiled) -> str:
    span = unit.document.locate((*unit.path, "spec", TIME_TO_LIVE))
    field = f"{TIME_TO_LIVE} {compiled.intent.lifetime[TIME_TO_LIVE]} of Framework {compiled.intent.framework}"
    return (
        f"{visible(unit.document.source.name)}:{span.line}:{span.column}: {field}: the controller deletes no Framework that Argo CD "
        "tracks, since it would be created anew and run once more; only what is left of its Pods goes then. To have the Framework deleted, "
        "take it out of Git"
    )


def _not_shown(compiled: Compiled, most: int) -> list[str]:
    """Return the tasks whose Pods are not shown."""
    return [
        f"{compiled.intent.framework}/{role.name}[{most}..{role.task_number - 1}]"
        for role in compiled.intent.roles
        if role.task_number > most
    ]


def _seems_an_object(value: Any) -> bool:
    """Return whether a document that is no object was meant to be one; a kustomization, a chart and values were not."""
    if not isinstance(value, dict) or str(value.get("apiVersion", "")).startswith("kustomize.config.k8s.io/"):
        return False
    return "kind" in value or (bool(mapping(value, "metadata").get("name")) and ("apiVersion" in value or "spec" in value))


def _skipped(pod: dict[str, Any]) -> str:
    annotations = dict(sorted({**pod["metadata"]["annotations"], SKIP_HOOK: "Skip"}.items()))
    return yaml.document({**pod, "metadata": {**pod["metadata"], "annotations": annotations}})
