"""The settings of a compilation. Callers know them by other names: an option, a parameter, a key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.errors import SettingError
from fcompile.model.formats import accepts
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST, OLDEST

DEFAULT_KUBERNETES = f"1.{DEFAULT_VERSION}"
_VERSION = r"v?1\.(\d{1,3})(?:[.+-][\w.+-]*)?"


def options(kubernetes_version: str = DEFAULT_KUBERNETES, namespace: str = DEFAULT_NAMESPACE) -> Options:
    """Return what a check depends on besides its input. Raises SettingError."""
    return Options(kubernetes_minor(kubernetes_version), checked_namespace(namespace))


def text(parameter: str, value: object) -> str:
    """Return a parameter that is a string. Raises TypeError for any other."""
    if not isinstance(value, str):
        raise TypeError(f"{parameter}= takes a string, not {type(value).__name__}")
    return value


def texts(parameter: str, values: object) -> list[str]:
    """Return a parameter that is several strings. Raises TypeError for anything else, a single string included."""
    found: list[Any] = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [None]
    if not all(isinstance(value, str) for value in found):
        raise TypeError(f"{parameter}= takes several strings: write one as a list of one")
    return found


def kubernetes_minor(written: str) -> int:
    """Return the minor version of `1.36`, `v1.36` or `1.36.3`. Raises SettingError for other texts and unknown versions."""
    match = re.fullmatch(_VERSION, written)
    if match is None or not OLDEST <= int(match[1]) <= NEWEST:
        raise SettingError("kubernetes-version", written, f"known are 1.{OLDEST} to 1.{NEWEST}")
    return int(match[1])


def checked_namespace(name: str) -> str:
    """Return the name of a namespace. Raises SettingError for a name that no namespace can have."""
    if not accepts("dns-label")(name):
        reason = "a namespace has up to 63 lower-case letters, digits and dashes, and no dash at its ends"
        raise SettingError("namespace", name, reason)
    return name
