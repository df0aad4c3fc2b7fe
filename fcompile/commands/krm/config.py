"""The functionConfig: a ConfigMap whose `data` says how to compile."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, NamedTuple

from fcompile.check.document import Options
from fcompile.check.subject import DEFAULT_NAMESPACE
from fcompile.check.values import mapping, text
from fcompile.commands.arguments import checked_namespace, kubernetes_minor
from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import visible
from fcompile.errors import UsageError
from fcompile.pipeline.overrides import Override, OverrideError, parse
from fcompile.schema.pod_schemas import DEFAULT_VERSION

SETTINGS = ("kubernetes-version", "namespace", "set", "strict")


class Settings(NamedTuple):
    """How the Frameworks of a list are compiled."""

    checked: Options
    overrides: tuple[Override, ...]
    strict: bool
    namespace_given: bool


class ConfigError(Exception):
    """What was asked for cannot be done; `key` is that of `data`, when it is one."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(visible(message))
        self.key = key


def settings(config: Any) -> Settings:
    """The settings in a functionConfig, which may be None. Raises ConfigError for whatever is not understood."""
    data = _data(config)
    for key, value in data.items():
        if "." not in key and key not in SETTINGS:
            near = get_close_matches(key, SETTINGS, 1)
            hint = (
                f"did you mean `{near[0]}`?" if near else f"there are {', '.join(SETTINGS)}, and fields of roles, such as worker.taskNumber"
            )
            raise ConfigError(f"functionConfig: `{key}` is unknown: {hint}", key)
        if not isinstance(value, str):
            raise ConfigError(f"functionConfig: `{key}` is no string: write its value in quotes", key)
    version, namespace = data.get("kubernetes-version", f"1.{DEFAULT_VERSION}"), data.get("namespace", DEFAULT_NAMESPACE)
    try:
        checked = Options(kubernetes_minor(version), checked_namespace("--namespace", namespace))
    except UsageError as error:
        key = "namespace" if str(error).startswith("--namespace") else "kubernetes-version"
        raise ConfigError(f"functionConfig: {str(error).removeprefix('--')}", key) from None
    return Settings(checked, tuple(_overrides(data)), _flag(data, "strict"), "namespace" in data)


def refused(error: ConfigError, config: Any) -> dict[str, Any]:
    """The error as a result."""
    result: dict[str, Any] = {"message": str(error), "severity": "error"}
    if error.key and isinstance(config, dict):
        name = text(mapping(config, "metadata"), "name") or ""
        result["resourceRef"] = {"apiVersion": text(config, "apiVersion") or "", "kind": text(config, "kind") or "", "name": name}
        result["field"] = {"path": field_path(("data", error.key))}
    return result


def _data(config: Any) -> dict[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise ConfigError("functionConfig: not an object: write a ConfigMap")
    for key in config:
        if key not in ("apiVersion", "kind", "metadata", "data"):
            raise ConfigError(f"functionConfig: `{key}` is unknown: write a ConfigMap with the settings in its `data`")
    data = config.get("data")
    if data is not None and not isinstance(data, dict):
        raise ConfigError("functionConfig: `data` is no mapping")
    return data or {}


def _overrides(data: dict[str, str]) -> list[Override]:
    """Those of `set`, one a line, then the keys that are fields of roles."""
    written = [("set", line.strip()) for line in data.get("set", "").splitlines() if line.strip()]
    written += [(key, f"{key}={value}") for key, value in data.items() if "." in key]
    found = []
    for key, one in written:
        try:
            found.append(parse(one))
        except OverrideError as error:
            raise ConfigError(f"functionConfig: {str(error).removeprefix('--set ')}", key) from None
    return found


def _flag(data: dict[str, str], key: str) -> bool:
    value = data.get(key, "false")
    if value not in ("true", "false"):
        raise ConfigError(f'functionConfig: `{key}` is `{value}`: write "true" or "false"', key)
    return value == "true"
