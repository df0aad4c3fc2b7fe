"""Look through a chart before Helm reads it, and write down what Helm is told.

Helm reads the whole folder and cannot be made to leave it by a template, but a schema of values may refer to any file and address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from fcompile.commands.argocd.kustomization import MAX_BYTES
from fcompile.commands.argocd.repository import Repository
from fcompile.commands.argocd.settings import Settings
from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.visible import clean, visible
from fcompile.errors import InputError
from fcompile.load import LoadError, read, rules, values
from fcompile.load.files import MAX_LEVELS, TOO_DEEP
from fcompile.model.values import mappings, text

_PARSED: Final = ("Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock", "values.yaml")
_SCHEMA: Final = "values.schema.json"
_IGNORE_FILE: Final = ".helmignore"
_HISTORY: Final = ".git"
_LEFT_OUT: Final = frozenset((b".git", b".git/"))
"""Lines of that file with which Helm reads no `.git`, wherever it is: no other line takes that back."""
_STANDARD: Final = re.compile(r"https?://json-schema\.org/draft(-0[4-7]|/2019-09|/2020-12)/schema#?")
"""The versions that Helm has within itself. It would fetch every other one."""
_ADDRESS: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
"""What Helm may take for an address, even where there is a file of that name."""
_NOT_IN_NAMES: Final = re.compile(r"[=,{}\0-\x1f]")
"""What ends the name of a value for Helm, or begins another one."""
_LIMITS: Final = (
    rules.RECURSIVE_ALIAS,
    rules.TOO_MANY_NODES,
    rules.TOO_DEEP,
    rules.TOO_LARGE,
    rules.FILE_TOO_LARGE,
    rules.TOO_MANY_DOCUMENTS,
    rules.TOO_MANY_PROBLEMS,
)


def arguments(repository: Repository, settings: Settings) -> list[str]:
    """Return the arguments of Helm for the chart in the current folder. Raises InputError for what it must not read."""
    _check_chart(repository)
    found = ["template", f"--namespace={settings.checked.namespace}", "--include-crds", f"--kube-version=1.{settings.checked.version}.0"]
    found += [f"--api-versions={version}" for version in settings.api_versions]
    sizes: dict[str, int] = {}
    total = 0
    for path in settings.values_files:
        if path not in sizes:
            sizes[path] = _check_values(repository, path)
        total += sizes[path]
        if total > MAX_BYTES:
            raise InputError(f"values-files: Helm would read more than {MAX_BYTES:,} bytes: a file counts as often as it is named")
        # Helm reads a list separated by commas here: in quotes it is one, and after `./` neither an address nor an option.
        quoted = os.path.join(".", path).replace('"', '""')
        found.append(f'--values="{quoted}"')
    for name, value in settings.helm_parameters:
        found.append(f"--set={_parameter(name, value)}")
    return [*found, "--", settings.release[:53].strip("-."), "."]


def _parameter(name: str, value: str) -> str:
    if not name or _NOT_IN_NAMES.search(name):
        raise InputError(f"helm-parameters: `{visible(name)}` is not a name of a value: none of = , {{ }} can be in it; set a values file")
    if "\0" in value or clean(name + value) != name + value:
        raise InputError(f"helm-parameters: `{visible(name)}` or its value holds a NUL character or half a surrogate pair: take it out")
    escaped = value.replace("\\", "\\\\").replace(",", "\\,")
    if value.startswith("{"):
        escaped = f"\\{escaped}"  # or it begins a list
    return f"{name}={escaped}"


def _check_values(repository: Repository, path: str) -> int:
    """Look through a file of values. Return how large it is."""
    if why_not := repository.why_not(path, path, _ADDRESS):
        raise InputError(f"values-files: `{visible(path)}` {why_not}")
    data = repository.read(path)
    _check_limits(data, path)
    return len(data)


def _check_chart(repository: Repository) -> None:
    repository.vet(".", every=True)
    ignored = repository.read(_IGNORE_FILE).split(b"\n") if os.path.lexists(_IGNORE_FILE) else ()
    history = not any(line.strip(b" \t\r") in _LEFT_OUT for line in ignored)
    for path in _files(repository, history):
        name = os.path.basename(path)
        if name in _PARSED or name == _SCHEMA or "crds" in path.split(os.sep)[:-1]:
            data = repository.read(path)
            _check_limits(data, path)
            if name == _SCHEMA:
                _check_schema(data, path)


def _files(repository: Repository, history: bool) -> Iterator[str]:
    """Yield the files of the chart, each once: links lead to others in the repository, and perhaps in a circle.

    :param history: whether Helm would read a `.git`, in which there can be passwords: a template can show every file. Raises InputError.
    """
    seen: set[str] = set()
    for folder, folders, files in os.walk(".", followlinks=True):
        real = os.path.realpath(folder)
        if folder.count(os.sep) > MAX_LEVELS:  # through links: those without are known by now
            raise InputError(f"{visible(os.path.normpath(folder))} {TOO_DEEP}")
        if os.path.islink(folder) and real not in seen:
            repository.vet(folder, every=True)  # what it leads to can hold links, too
        if history and _HISTORY in folders:
            raise InputError(
                f"{visible(os.path.normpath(os.path.join(folder, _HISTORY)))}: Helm would read it with the chart, for templates to show: "
                f"write `.git/` into {_IGNORE_FILE}"
            )
        folders[:] = [] if real in seen else sorted(name for name in folders if name != _HISTORY)
        if real not in seen:
            yield from (os.path.normpath(path) for name in sorted(files) if os.path.isfile(path := os.path.join(folder, name)))
        seen.add(real)


def _check_limits(data: bytes, path: str) -> None:
    """Refuse what is too much of something. What else our reader refuses is for Helm to judge."""
    for item in read(data, path):
        if isinstance(item, Problem) and item.rule in _LIMITS:
            raise InputError(f"{visible(path)}:{LoadError(item)}")


def _check_schema(data: bytes, path: str) -> None:
    try:
        documents = values(data)
    except LoadError as error:
        # Helm would read some of that, as a key that is given twice, of which it takes the last one.
        raise InputError(f"{visible(path)}:{error}") from None
    for value in mappings(*documents):
        for key in ("$ref", "$dynamicRef", "$recursiveRef", "$schema"):
            target = text(value, key)
            if target is not None and not target.startswith("#") and not (key == "$schema" and _STANDARD.fullmatch(target)):
                raise InputError(f"{visible(path)}: `{key}: {visible(target)}` is not in this file: nothing else is read for it")
