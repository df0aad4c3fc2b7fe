"""The functionConfig: a ConfigMap whose `data` says how to compile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.commands.krm.results import reference
from fcompile.commands.option_values import meant
from fcompile.diagnostics.problem import field_path
from fcompile.diagnostics.visible import visible
from fcompile.errors import InputError, SettingError
from fcompile.pipeline.overrides import Override, parse
from fcompile.pipeline.settings import DEFAULT_KUBERNETES, options

SETTINGS = ("kubernetes-version", "namespace", "set", "strict")


class Settings(NamedTuple):
    """How the Frameworks of a list are compiled."""

    checked: Options
    overrides: tuple[tuple[Override, str], ...]
    """Each with its key in `data`."""
    strict: bool
    namespace_given: bool


def settings(config: Any) -> Settings:
    """Return the settings in a functionConfig, which may be None. Raises SettingError, of a key in `data`."""
    data = _data(config)
    for key, value in data.items():
        if "." not in key and key not in SETTINGS:
            raise SettingError(key, "", f"`{key}` is unknown: {meant(key, SETTINGS)}")
        if not isinstance(value, str):
            raise SettingError(key, "", f"`{key}` is not a string: write its value in quotes")
    try:
        checked = options(data.get("kubernetes-version", DEFAULT_KUBERNETES), data.get("namespace", DEFAULT_NAMESPACE))
    except SettingError as error:
        raise SettingError(error.setting, "", str(error)) from None
    return Settings(checked, tuple(_overrides(data)), _flag(data, "strict"), "namespace" in data)


def of_key(error: SettingError, key: str) -> SettingError:
    """Return the error of an override as that of the key that it stands under."""
    return SettingError(key, "", f"{error.value}: {error.reason}")


def message(error: SettingError | InputError) -> str:
    """Return what is said to people."""
    return visible(f"functionConfig: {error.reason}" if isinstance(error, SettingError) else str(error))


def refused(error: SettingError | InputError, config: Any) -> dict[str, Any]:
    """Return the error as a result."""
    result: dict[str, Any] = {"message": message(error), "severity": "error"}
    if isinstance(error, SettingError) and error.setting and isinstance(config, dict):
        result["resourceRef"] = reference(config)
        result["field"] = {"path": field_path(("data", error.setting))}
    return result


def _data(config: Any) -> dict[str, Any]:
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise SettingError("", "", "not an object: write a ConfigMap")
    for key in config:
        if key not in ("apiVersion", "kind", "metadata", "data"):
            raise SettingError("", "", f"`{key}` is unknown: write a ConfigMap with the settings in its `data`")
    data = config.get("data")
    if data is not None and not isinstance(data, dict):
        raise SettingError("", "", "`data` is not a mapping")
    return data or {}


def _overrides(data: dict[str, str]) -> Iterator[tuple[Override, str]]:
    """Yield those of `set`, one a line, then the keys that are fields of roles."""
    written = [("set", line.strip()) for line in data.get("set", "").splitlines() if line.strip()]
    written += [(key, f"{key}={value}") for key, value in data.items() if "." in key]
    for key, one in written:
        try:
            yield parse(one, "set"), key
        except SettingError as error:
            raise of_key(error, key) from None


def _flag(data: dict[str, str], key: str) -> bool:
    value = data.get(key, "false")
    if value not in ("true", "false"):
        raise SettingError(key, "", f'`{key}` is `{value}`: write "true" or "false"')
    return value == "true"
