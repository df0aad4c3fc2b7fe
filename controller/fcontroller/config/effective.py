"""The settings in force, and where each comes from: flags win over the environment, that over the config file, the file over defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.suggestions import closest
from fcompile.emit import yaml
from fcompile.errors import UsageError
from fcompile.load.rules import MAX_BYTES
from fcompile.model.values import at
from fcontroller.config.file import DELAYS, File, read_file
from fcontroller.config.settings import FAILURES, SETTINGS, Config, Value
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC

CONFIG_VARIABLE: Final = "FCONTROLLER_CONFIG"
_VARIABLES: Final = {CONFIG_VARIABLE, *(setting.variable for setting in SETTINGS if setting.variable)}
_OF_A_SERVICE: Final = re.compile("FCONTROLLER_(.*_)?(SERVICE_HOST|SERVICE_PORT|PORT)(_.*)?")
"""Variables that Kubernetes sets in all containers of a namespace for a Service whose name is fcontroller, or begins with it."""
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


class ConfigError(UsageError):
    """The settings are wrong, and why."""


class EffectiveSettings(NamedTuple):
    """All settings, each with where it comes from, by its key."""

    config: Config
    sources: Mapping[str, str]
    problems: list[Problem]
    """Those of the file. With an error among them nothing else is of use."""

    @property
    def failures(self) -> list[Any]:
        """Return the `podFailureSpec` in force."""
        given: list[Any] | None = self.config.pod_failure_spec
        return list(DEFAULT_POD_FAILURE_SPEC) if given is None else given

    def as_file(self) -> str:
        """Return the settings as a config file, with where each comes from."""
        lines: list[str] = []
        above: tuple[str, ...] = ()
        values = self.config.model_dump(by_alias=True)
        for setting in (setting for setting in SETTINGS if not setting.field.deprecated):
            *way, key = setting.path
            lines += [f"{'  ' * depth}{step}:" for depth, step in enumerate(way) if way[: depth + 1] != list(above[: depth + 1])]
            above = tuple(way)
            text = yaml.dump({key: at(values, setting.path)}).rstrip()
            lines.append(f"{'  ' * len(way)}{text}  # {self.sources[setting.key]}")
        return "\n".join([*lines, f"# {self.sources[FAILURES]}", yaml.dump({FAILURES: self.failures})])


def effective_settings(flags: Mapping[str, Any], environment: Mapping[str, str]) -> EffectiveSettings:
    """Return the settings of a command line and an environment, and of the file that they name. Raises ConfigError.

    :param flags: by the key of the setting; `config` names the file. None is not given.
    """
    for variable in environment:
        if variable.startswith("FCONTROLLER_") and variable not in _VARIABLES and not _OF_A_SERVICE.fullmatch(variable):
            near = closest(variable, _VARIABLES)
            raise ConfigError(f"{variable} is not a setting{f': did you mean {near.word}?' if near else ''}")
    name = flags.get("config") or environment.get(CONFIG_VARIABLE)
    file = _file(name) if name else File({}, {}, [])
    readable = not any(problem.severity == Severity.ERROR for problem in file.problems)
    content = file.content if readable else {}
    values, sources = dict(content), {FAILURES: "default" if content.get(FAILURES) is None else str(name)}
    for setting in SETTINGS:
        given = (
            (setting.flag, flags.get(setting.key)),
            (setting.variable, environment.get(setting.variable)),
            (f"{name}:{file.lines.get(setting.key)}", at(content, setting.path)),
            (setting.option.customary, environment.get(setting.option.customary)),
        )
        sources[setting.key], value = next((pair for pair in given if pair[1] is not None), ("default", None))
        if setting.flag and value is not None:  # A setting without a flag is in the file, or not set.
            values[setting.key] = _parsed(value, type(setting.default))
    config = _valid(values, sources)
    least, most = (at(config.model_dump(by_alias=True), (key,)) for key in DELAYS)
    if least > most and readable:
        raise ConfigError(f"the shortest delay after a transient conflict, {least} s, is longer than the longest, {most} s")
    if config.require_digest and not config.enforce_intent:
        off, on = sources["enforceIntent"], sources["requireDigest"]
        raise ConfigError(f"enforceIntent is false ({off}), but requireDigest enforces what it requires ({on}): take one of them away")
    return EffectiveSettings(config, sources, file.problems)


def _file(name: str) -> File:
    try:
        with open(name, "rb") as file:
            return read_file(file.read(MAX_BYTES + 1), name)
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror}") from None


def _parsed(given: Value, kind: type[Value]) -> Value:
    """Return the text parsed to the setting's type, or unchanged when that is impossible."""
    try:
        return _BOOLEANS[given.lower()] if kind is bool and isinstance(given, str) else kind(given)
    except (KeyError, ValueError):
        return given


def _valid(values: Mapping[str, Any], sources: Mapping[str, str]) -> Config:
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    (setting,) = (setting for setting in SETTINGS if setting.path == wrong["loc"])
    raise ConfigError(f"{sources[setting.key]}: {setting.mistake(wrong)}")
