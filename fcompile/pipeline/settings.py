"""What a compilation is told besides its files. Callers know their settings by other names: an option, a parameter, a key."""

from __future__ import annotations

import re

from fcompile.check.context import DEFAULT_NAMESPACE
from fcompile.check.document import Options
from fcompile.diagnostics.visible import visible
from fcompile.errors import SettingError
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST, OLDEST

DEFAULT_KUBERNETES = f"1.{DEFAULT_VERSION}"
_VERSION = r"v?1\.(\d{1,3})(?:[.+-][\w.+-]*)?"
_NAMESPACE = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


def options(kubernetes_version: str = DEFAULT_KUBERNETES, namespace: str = DEFAULT_NAMESPACE) -> Options:
    """Return what a check depends on besides its input. Raises SettingError."""
    return Options(kubernetes_minor(kubernetes_version), checked_namespace(namespace))


def kubernetes_minor(written: str) -> int:
    """Return the minor version of `1.36`, `v1.36` or `1.36.3`. Raises SettingError for anything that we do not know."""
    match = re.fullmatch(_VERSION, written)
    if match is None or not OLDEST <= int(match[1]) <= NEWEST:
        raise SettingError("kubernetes-version", written, f"known are 1.{OLDEST} to 1.{NEWEST}")
    return int(match[1])


def checked_namespace(name: str) -> str:
    """Return a name that a namespace can have. Raises SettingError for any other."""
    if not re.fullmatch(_NAMESPACE, name):
        reason = "a namespace has up to 63 lower-case letters, digits and dashes, and no dash at its ends"
        raise SettingError("namespace", visible(name), reason)
    return name
