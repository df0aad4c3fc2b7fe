"""One text of an application → its part of the manifests, and everything that is to be said of it. Runs in any process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from fcompile.check.document import Checked, check_read, empty
from fcompile.check.ours import frameworks_in, is_framework, looks_like_template, objects_in, skip_reason
from fcompile.check.values import mapping
from fcompile.commands.argocd.discreet import without_lines_of_secrets, without_secrets
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.commands.argocd.sources import Source
from fcompile.commands.overridden import name_overrides
from fcompile.diagnostics.problem import Path, Severity, field_path
from fcompile.diagnostics.visible import visible
from fcompile.emit import yaml
from fcompile.emit.order import ordered
from fcompile.errors import UsageError
from fcompile.load import Document, LoadError, read
from fcompile.load.files import may_hold_framework
from fcompile.pipeline import overrides
from fcompile.pipeline import selection as expected
from fcompile.pipeline.compiled import Compiled, compile_framework, lacking
from fcompile.pipeline.passthrough import is_object, raw_text
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types

MAX_OUTPUT = 100 * 1024 * 1024
"""Characters. The repo-server takes so many bytes as an answer, unless it is told otherwise."""
SKIP_HOOK = "argocd.argoproj.io/hook"
"""With the value `Skip`, Argo CD compares an object and never applies or deletes it."""


class Job(NamedTuple):
    """What compiling a text depends on besides the text."""

    repository: Repository
    settings: Settings
    waivers: bool
    """There is a file of waivers: an error may turn out to be waived."""


class Made(NamedTuple):
    """What a text came to; picklable."""

    checked: Checked
    text: str = ""
    """Its manifests; empty if there are errors that nothing can waive."""
    roles: tuple[tuple[str, str], ...] = ()
    """Each role with its Framework's name."""
    frameworks: int = 0
    left_out: tuple[str, ...] = ()
    """Documents that are no objects."""
    pods_left_out: tuple[str, ...] = ()
    refused: str = ""
    """Why there can be no output at all, unless the check says so already."""


def compile_source(source: Source, job: Job) -> Made:
    """Compile one text. What is wrong with the text is in the result."""
    try:
        data = job.repository.read(source.path) if source.path else source.data
        return _compiled(source, data, job)
    except UsageError as error:
        return Made(empty(source.name), refused=str(error))


def _compiled(source: Source, data: bytes, job: Job) -> Made:
    found = list(read(data, source.name))
    if source.path and may_hold_framework(data):
        reason = skip_reason(source.path, os.getcwd())
        if reason or (any(isinstance(item, LoadError) for item in found) and looks_like_template(data.decode("utf-8", "replace"))):
            raise UsageError(f"{visible(source.name)}: {reason or 'a template, not YAML'}; or list it in .fcompileignore")
    found = [without_secrets(item, data) if isinstance(item, LoadError) else item for item in found]
    documents = [item for item in found if isinstance(item, Document)]
    frameworks = [value for document in documents for _, value in frameworks_in(document.value)]
    roles = tuple((framework, role) for framework, role, _ in overrides.roles(frameworks))
    applied = _override(frameworks, roles, job.settings)
    checked = name_overrides(check_read(source.name, found, job.settings.checked), documents, applied, "parameter")
    checked = checked._replace(problems=without_lines_of_secrets(checked.problems, documents))
    made = Made(checked, roles=roles, frameworks=len(frameworks))
    if any(problem.severity is Severity.ERROR for problem in made.checked.problems) and not (job.waivers or made.checked.waivers):
        return made
    try:
        return _with_text(made, documents, job.settings)
    except UsageError:
        raise
    except Exception:
        if any(problem.severity is Severity.ERROR for problem in made.checked.problems):
            return made._replace(refused=f"{visible(source.name)}: cannot be compiled with the errors that were waived")
        raise


def _override(frameworks: list[dict[str, Any]], roles: tuple[tuple[str, str], ...], settings: Settings) -> list[overrides.Applied]:
    """Carry out the overrides that mean one role here; whether each means one role of the whole application is seen later."""
    applied = []
    for override in settings.overrides:
        if overrides.refusal(override, roles) is None:
            try:
                applied += overrides.apply([override], frameworks, types(NEWEST))
            except overrides.OverrideError as error:
                raise UsageError(visible(str(error))) from None
    return applied


def _with_text(made: Made, documents: list[Document], settings: Settings) -> Made:
    left_out: list[str] = []
    pods_left_out: list[str] = []
    size, texts = 0, []
    for text in _texts(documents, settings, left_out, pods_left_out):
        size += len(text)
        if size > MAX_OUTPUT:
            raise UsageError(f"{visible(made.checked.file)}: comes to more than {MAX_OUTPUT:,} bytes: divide it, or show fewer Pods")
        texts.append(text)
    return made._replace(text="".join(texts), left_out=tuple(left_out), pods_left_out=tuple(pods_left_out))


def _texts(documents: list[Document], settings: Settings, left_out: list[str], pods_left_out: list[str]) -> Iterator[str]:
    """The manifests, one after the other; what is not among them is noted."""
    for document in documents:
        for path, value in objects_in(document.value):
            if is_framework(value):
                missing = lacking(value)
                if missing is not None:
                    raise UsageError(
                        f"{_place(document, path)}: without `{field_path((*path, *missing))}` nothing can be built; no waiver helps"
                    )
                compiled = compile_framework(value, settings.checked.namespace)
                yield yaml.document(ordered(compiled.framework))
                yield from _pods(compiled, settings.pods_per_role, pods_left_out)
            elif is_object(value):
                yield ("" if path else raw_text(document)) or yaml.document(value)
            elif _seems_an_object(value):
                place = _place(document, path)
                raise UsageError(f"{place}: an object needs both `apiVersion` and `kind`: add what is missing, or Argo CD would delete it")
            else:
                left_out.append(_place(document, path))


def _place(document: Document, path: Path) -> str:
    return f"{visible(document.source.name)}:{document.locate(path).line}"


def _seems_an_object(value: Any) -> bool:
    """Whether a document that is no object was meant to be one; a kustomization, a chart and values were not."""
    if not isinstance(value, dict) or str(value.get("apiVersion", "")).startswith("kustomize.config.k8s.io/"):
        return False
    return "kind" in value or (bool(mapping(value, "metadata").get("name")) and ("apiVersion" in value or "spec" in value))


def _pods(compiled: Compiled, most: int, left_out: list[str]) -> Iterator[str]:
    """The expected Pods, as something that Argo CD compares and never applies."""
    if not most or compiled.intent.execution_type != "Start":
        return
    for role in compiled.intent.roles:
        yield from expected.role_pod_texts(compiled, role, range(min(role.task_number, most)), partial(_skipped))
        if role.task_number > most:
            left_out.append(f"{compiled.intent.framework}/{role.name}[{most}..{role.task_number - 1}]")


def _skipped(pod: dict[str, Any]) -> str:
    annotations = dict(sorted({**pod["metadata"]["annotations"], SKIP_HOOK: "Skip"}.items()))
    return yaml.document({**pod, "metadata": {**pod["metadata"], "annotations": annotations}})
