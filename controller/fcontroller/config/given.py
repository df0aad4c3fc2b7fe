"""What is set, and by what: flags win over the environment, the environment over the config file, the file over the defaults."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Problem
from fcompile.emit import yaml
from fcontroller.config.file import FAILURES, File, read_file
from fcontroller.config.settings import SETTINGS, Config, Setting, Value, wrong
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC

CONFIG_VARIABLE = "FCONTROLLER_CONFIG"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Mistaken(Exception):
    """The settings are wrong, and why."""


class Given(NamedTuple):
    """All settings, each with where it comes from, by its key."""

    config: Config
    sources: Mapping[str, str]
    failures: list[Any]
    """The `podFailureSpec` in force."""
    problems: list[Problem]
    """Those of the file. With an error among them nothing else is of use."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of all settings, and `--config`."""
    about = f"settings as YAML, in the form of upstream's frameworkcontroller.yaml (default: ${CONFIG_VARIABLE}, or none)"
    parser.add_argument("--config", metavar="FILE", help=about)
    for setting in SETTINGS:
        if not setting.option:
            continue
        about = (
            setting.about
            if setting.default in ("", False) or "default:" in setting.about
            else f"{setting.about} (default: {setting.default})"
        )
        if isinstance(setting.default, bool):
            parser.add_argument(setting.option, dest=setting.key, action=argparse.BooleanOptionalAction, default=None, help=about)
        else:
            parser.add_argument(
                setting.option, dest=setting.key, metavar=setting.metavar or None, choices=setting.choices or None, help=about
            )


def given(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Given:
    """The settings of a command line and an environment, and of the file that they name. Raises Mistaken."""
    name = arguments.config or environment.get(CONFIG_VARIABLE)
    file = _file(name) if name else File({}, {}, None, [])
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    for setting in SETTINGS:
        if not setting.unused:
            values[setting.name], sources[setting.key] = _one(setting, arguments, environment, file, name or "")
    sources[FAILURES] = "default" if file.failures is None else str(name)
    failures = list(DEFAULT_POD_FAILURE_SPEC) if file.failures is None else file.failures
    if not any(problem.severity == "error" for problem in file.problems):
        _delays(values)
    return Given(Config(**values), sources, failures, file.problems)  # type: ignore[arg-type]


def _file(name: str) -> File:
    try:
        return read_file(Path(name).read_bytes(), name)
    except OSError as error:
        raise Mistaken(f"{name}: {error.strerror}") from None


def _one(setting: Setting, arguments: argparse.Namespace, environment: Mapping[str, str], file: File, name: str) -> tuple[Value, str]:
    """A setting, and where it comes from."""
    flag = getattr(arguments, setting.key, None) if setting.option else None
    if flag is not None:
        return _parsed(setting, flag, setting.option), setting.option
    text = environment.get(setting.variable) if setting.variable else None
    if text is not None:
        return _parsed(setting, text, setting.variable), setting.variable
    if setting.key in file.values:
        return file.values[setting.key], f"{name}:{file.lines[setting.key]}"
    if setting.customary in environment:
        return environment[setting.customary], setting.customary
    return setting.default, "default"


def _parsed(setting: Setting, text: Value, source: str) -> Value:
    value: Value = text
    if isinstance(text, str) and not isinstance(setting.default, str):
        try:
            value = _BOOLEANS[text.lower()] if isinstance(setting.default, bool) else type(setting.default)(text)
        except (KeyError, ValueError):
            value = text
    message = wrong(setting, value)
    if message:
        raise Mistaken(f"{source}: {message}")
    return value


def _delays(values: Mapping[str, Value]) -> None:
    least, most = (values[f"framework_{end}_retry_delay_sec_for_transient_conflict_failed"] for end in ("min", "max"))
    if least > most:  # type: ignore[operator]
        raise Mistaken(f"the shortest delay after a transient conflict, {least} s, is longer than the longest, {most} s")


def as_file(given: Given) -> str:
    """The settings in force as a config file, each with where it comes from."""
    lines: list[str] = []
    above: tuple[str, ...] = ()
    values: Mapping[str, Value] = given.config._asdict()
    for setting in (setting for setting in SETTINGS if not setting.unused):
        *way, key = setting.path
        lines += [f"{'  ' * depth}{step}:" for depth, step in enumerate(way) if way[: depth + 1] != list(above[: depth + 1])]
        above = tuple(way)
        text = yaml.dump({key: values[setting.name]}).rstrip()
        lines.append(f"{'  ' * len(way)}{text}  # {given.sources[setting.key]}")
    failures = yaml.dump({FAILURES: given.failures})
    return "\n".join([*lines, f"# {given.sources[FAILURES]}", failures])
