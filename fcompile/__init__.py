"""fcompile: a compiler for Framework resources (frameworkcontroller.microsoft.com/v1), for Python: `compile` (docs/python.md)."""

from __future__ import annotations

TYPE_CHECKING = False  # Whoever imports this package alone waits for nothing else, not even for `typing`.
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fcompile._version import __version__
    from fcompile.declare.framework import (
        CompletionPolicy,
        Framework,
        FrameworkMetadata,
        FrameworkSpec,
        RetryPolicy,
        TaskRole,
        TaskRoleService,
        TaskRoleServicePort,
        TaskSpec,
    )
    from fcompile.diagnostics.problem import Edit, Problem, Related, Rule, Severity, Span
    from fcompile.diagnostics.writer import Waived
    from fcompile.errors import SettingError
    from fcompile.pipeline.compilation import Compilation, CompileError
    from fcompile.pipeline.compiled import Compiled

    __all__ = [
        "Compilation",
        "CompileError",
        "Compiled",
        "CompletionPolicy",
        "Edit",
        "Framework",
        "FrameworkMetadata",
        "FrameworkSpec",
        "Problem",
        "Related",
        "RetryPolicy",
        "Rule",
        "SettingError",
        "Severity",
        "Span",
        "TaskRole",
        "TaskRoleService",
        "TaskRoleServicePort",
        "TaskSpec",
        "Waived",
        "__version__",
        "compile",
    ]

_MODELS = "declare.framework"
_MODULES = {
    "_version": ("__version__",),
    _MODELS: (
        "CompletionPolicy",
        "Framework",
        "FrameworkMetadata",
        "FrameworkSpec",
        "RetryPolicy",
        "TaskRole",
        "TaskRoleService",
        "TaskRoleServicePort",
        "TaskSpec",
    ),
    "diagnostics.problem": ("Edit", "Problem", "Related", "Rule", "Severity", "Span"),
    "diagnostics.writer": ("Waived",),
    "errors": ("SettingError",),
    "pipeline.compilation": ("Compilation", "CompileError"),
    "pipeline.compiled": ("Compiled",),
}


def compile(
    *paths: str | os.PathLike[str],
    text: str | bytes | None = None,
    frameworks: Iterable[Mapping[str, Any] | Framework] | None = None,
    namespace: str = "default",
    kubernetes_version: str | None = None,
    overrides: Iterable[str] = (),
    waivers: str | os.PathLike[str] | None = None,
) -> Compilation:
    """Read and check Frameworks, and compile those without errors. What is wrong with them is in the result.

    Raises TypeError unless exactly one of paths, `text` and `frameworks` is given, SettingError for a setting that cannot be meant, and
    OSError for waivers that cannot be read.

    :param paths: files, and folders with all folders below them; `-` is the standard input.
    :param text: YAML or JSON, of any number of documents.
    :param frameworks: Frameworks as mappings, or as `Framework`s.
    :param namespace: that of Frameworks that give none.
    :param kubernetes_version: of the cluster, such as `1.36`; by default the newest that Frameworks are tested with.
    :param overrides: fields of roles, as `[framework/]role.field=value`.
    :param waivers: the path of a waivers file. None is looked for.
    """
    if bool(paths) + (text is not None) + (frameworks is not None) != 1:
        raise TypeError("compile() takes paths, or text=, or frameworks=: exactly one of them")
    if any(isinstance(path, list | tuple) for path in paths):
        raise TypeError("compile() takes paths one by one: write `compile(*paths)`")
    if any(isinstance(path, dict) or hasattr(path, "manifest") for path in paths):
        raise TypeError("compile() takes Frameworks by name: write `compile(frameworks=[…])`")
    if any(isinstance(path, str) and "apiVersion" in path and ("\n" in path or path.startswith("{")) for path in paths):
        raise TypeError("compile() takes the paths of files: write `compile(text=…)` for what is in one")
    from fcompile.pipeline import python

    return python.compilation(paths, text, frameworks, python.options(kubernetes_version, namespace), overrides, waivers)


if not TYPE_CHECKING:  # Whoever checks types has the names above, and no others.

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return _all()
        module = next((module for module, names in _MODULES.items() if name in names), None)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        try:
            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
        except ModuleNotFoundError as error:
            if error.name != "pydantic":
                raise
            raise ImportError(f"fcompile.{name} needs pydantic: install fcompile with its extra `models`") from None
        return value


def _all() -> list[str]:
    """Return the public names, and of the models none without pydantic: `from fcompile import *` and `help(fcompile)` ask for each."""
    from importlib.util import find_spec

    has_pydantic = find_spec("pydantic") is not None
    return sorted(["compile", *(name for module, names in _MODULES.items() if has_pydantic or module != _MODELS for name in names)])


def __dir__() -> list[str]:
    return sorted({*globals(), "__all__", *_all()})
