"""What an Application says to the plugin: its parameters, its environment, and what Argo CD adds.

A parameter whose name is a field of a role (`worker.taskNumber`) is an override, as `build --set` has them. Every other one is in
`_SETTINGS`; the same can come from the environment, as `FCOMPILE_PODS_PER_ROLE` in the Application or, for all of them, as
`ARGOCD_ENV_FCOMPILE_PODS_PER_ROLE` in the sidecar. The parameter wins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.commands.option_values import meant
from fcompile.diagnostics.visible import visible
from fcompile.errors import SettingError, UsageError
from fcompile.model.values import whole_number
from fcompile.pipeline.overrides import Override, parse
from fcompile.pipeline.settings import checked_namespace, kubernetes_minor
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST

PARAMETERS = "ARGOCD_APP_PARAMETERS"
PREFIX = "ARGOCD_ENV_FCOMPILE_"
_SETTINGS = ("allow-empty", "helm-parameters", "kubernetes-version", "pods", "pods-per-role", "set", "strict", "values-files")
_MOST_PODS = 10_000
OVERRIDE = "parameter"
"""What an override is called here."""


class Settings(NamedTuple):
    """How an application is compiled."""

    checked: Options
    overrides: tuple[Override, ...] = ()
    strict: bool = False
    allow_empty: bool = False
    """Whether an application without any Framework is no error."""
    pods_per_role: int = 0
    """So many of the expected Pods are printed for each role, to be compared and never applied; 0: none."""
    release: str = "release"
    values_files: tuple[str, ...] = ()
    helm_parameters: tuple[tuple[str, str], ...] = ()
    api_versions: tuple[str, ...] = ()


def settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings of one call. Raises UsageError for whatever is not understood."""
    given, overrides = _given(environment)
    minor = _minor(str(given.pop("kubernetes-version", "")), environment.get("KUBE_VERSION", ""))
    try:
        namespace = checked_namespace(environment.get("ARGOCD_APP_NAMESPACE") or DEFAULT_NAMESPACE)
    except SettingError as error:
        raise UsageError(error.called("ARGOCD_APP_NAMESPACE")) from None
    overrides = [*_listed("set", given.get("set", ())), *overrides]
    most = _number("pods-per-role", given.get("pods-per-role", "50"))
    try:
        parsed = tuple(parse(written, OVERRIDE) for written in overrides)
    except SettingError as error:
        raise UsageError(error.called(OVERRIDE)) from None
    return Settings(
        Options(minor, namespace),
        parsed,
        _flag("strict", given.get("strict", "false")),
        _flag("allow-empty", given.get("allow-empty", "false")),
        most if _flag("pods", given.get("pods", "false")) else 0,
        (environment.get("ARGOCD_APP_NAME") or "release").rpartition("/")[2],
        tuple(_texts("values-files", given.get("values-files", ()))),
        _pairs("helm-parameters", given.get("helm-parameters", {})),
        tuple(filter(None, environment.get("KUBE_API_VERSIONS", "").split(","))),
    )


def asks_for_empty(environment: Mapping[str, str]) -> bool:
    """Return whether a parameter of the Application says that no Framework at all is fine.

    A variable does not count: it may be the sidecar's, and be there for Applications of other plugins.
    """
    try:
        return dict(_parameters(environment.get(PARAMETERS, ""))).get("allow-empty") == "true"
    except UsageError:
        return False


def _given(environment: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings by name, and the overrides among the parameters."""
    given: dict[str, Any] = {}
    overrides = []
    for variable, value in sorted(environment.items()):
        if variable.startswith(PREFIX):
            given[_known(variable.removeprefix(PREFIX).lower().replace("_", "-"), variable.removeprefix("ARGOCD_ENV_"))] = value
    for name, value in _parameters(environment.get(PARAMETERS, "")):
        if "." not in name:
            given[_known(name, f"parameter `{visible(name)}`")] = value
        elif not isinstance(value, str):
            raise UsageError(f"parameter `{visible(name)}`: write its value as a string, a list or mapping as YAML in it")
        else:
            overrides.append(f"{name}={value}")
    return given, overrides


def _parameters(written: str) -> list[tuple[str, Any]]:
    """Return the parameters with their values. Those that Argo CD has also put into `PARAM_…` variables have lost their names there."""
    try:
        items = json.loads(written or "null")
    except (ValueError, RecursionError):
        raise UsageError(f"{PARAMETERS} is not JSON") from None
    if not isinstance(items, list | None):
        raise UsageError(f"{PARAMETERS} is not a list")
    found: dict[str, Any] = {}
    for item in items or ():
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name or visible(name) != name:
            raise UsageError(f"{PARAMETERS}: a parameter needs a name without control characters")
        if name in found:
            raise UsageError(f"parameter `{name}` is given twice")
        values = [item[kind] for kind in ("string", "array", "map") if item.get(kind) is not None]
        if len(values) != 1:
            raise UsageError(f"parameter `{name}`: give it one of string, array and map")
        found[name] = values[0]
    return list(found.items())


def _known(name: str, shown: str) -> str:
    if name in _SETTINGS:
        return name
    raise UsageError(f"{shown}: unknown: {meant(name, _SETTINGS)}")


def _minor(asked: str, of_cluster: str) -> int:
    """Return the version that is checked for: what was asked for, else that of the cluster, or the newest that is known if it is newer."""
    try:
        return kubernetes_minor(asked) if asked else _minor_of_cluster(of_cluster)
    except SettingError as error:
        raise UsageError(error.called("kubernetes-version" if asked else "KUBE_VERSION")) from None


def _minor_of_cluster(of_cluster: str) -> int:
    major, _, rest = of_cluster.removeprefix("v").partition(".")
    minor = whole_number(rest.partition(".")[0].rstrip("+"))
    if major == "1" and minor is not None and minor > NEWEST:
        return NEWEST
    return kubernetes_minor(of_cluster) if of_cluster else DEFAULT_VERSION


def _flag(name: str, value: Any) -> bool:
    if value in ("true", "false"):
        return bool(value == "true")
    raise UsageError(f"`{name}`: write true or false")


def _number(name: str, value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6 and int(value) <= _MOST_PODS:
        return int(value)
    raise UsageError(f"`{name}`: write a number from 0 to {_MOST_PODS}")


def _listed(name: str, value: Any) -> list[str]:
    """Return overrides, which are a map, an array or, in an environment variable, one a line."""
    if isinstance(value, dict):
        return [f"{field}={item}" for field, item in _pairs(name, value)]
    return _texts(name, value)


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return list(value)
    raise UsageError(f"`{name}`: write an array of strings")


def _pairs(name: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Return a map, which in an environment variable is one name=value a line."""
    if isinstance(value, str):
        entries = [line.partition("=") for line in _texts(name, value)]
        value = {key: item for key, _, item in entries} if all(key and equals for key, equals, _ in entries) else None
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return tuple(sorted(value.items()))
    raise UsageError(f"`{name}`: write a map of strings, or in a text one name=value a line")
