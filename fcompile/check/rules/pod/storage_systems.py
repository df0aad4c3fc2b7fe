"""Conditions between the fields of the older storage systems' volumes.

A check yields pairs of a field and what is wrong with it; `volumes` makes findings of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fcompile.check.pod_values import choice, empty_list, flag, given, size
from fcompile.model.formats import accepts
from fcompile.model.values import integer, mapping, text

Problems = Iterator[tuple[str, str]]

_MAX_ISCSI_NAME = 64
_RESERVED_SUFFIXES = (".kubernetes.io", ".k8s.io")


def _iscsi(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    if (flag(source, "chapAuthDiscovery") or flag(source, "chapAuthSession")) and not given(source, "secretRef"):
        yield "secretRef", "CHAP authentication needs a `secretRef`; add it"
    length = size(f"{text(volume, 'name') or ''}:{text(source, 'targetPortal') or ''}")
    if given(source, "initiatorName") and length > _MAX_ISCSI_NAME:
        limit = _MAX_ISCSI_NAME - 1
        yield (
            "initiatorName",
            f"with it the volume's name and `targetPortal` may have {limit} characters, not {length - 1}; shorten the name",
        )


def _fibre_channel(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    has_targets = not empty_list(source, "targetWWNs")
    if has_targets == (not empty_list(source, "wwids")):
        yield "targetWWNs", "`fc` needs either `targetWWNs` or `wwids`; give one of the two"
    if has_targets:
        lun = integer(source, "lun")
        if not given(source, "lun"):
            yield "lun", "`targetWWNs` need a `lun`; add it"
        elif lun is not None and not 0 <= lun <= 255:
            yield "lun", f"`lun` {lun} must be between 0 and 255; change it"


def _flex(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    for key in mapping(source, "options"):
        namespace = str(key).partition("/")[0].lower()
        if f".{namespace}".endswith(_RESERVED_SUFFIXES):
            yield "options", f'the option "{key}" is in a reserved namespace; use another one than kubernetes.io and k8s.io'


def _flocker(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    name = text(source, "datasetName")
    if bool(name) == bool(text(source, "datasetUUID")):
        yield "datasetName", "`flocker` needs either `datasetName` or `datasetUUID`; give one of the two"
    if name and "/" in name:
        yield "datasetName", f'`datasetName` "{name}" must not contain `/`; take it out'


def _quobyte(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    registry, tenant = text(source, "registry"), text(source, "tenant")
    if not registry:
        return
    if tenant and size(tenant) > 64:
        yield "tenant", f"`tenant` has {len(tenant)} characters, more than 64; shorten it"
    elif not all(_is_host_and_port(pair) for pair in registry.split(",")):
        yield "registry", f'`registry` "{registry}" must be HOST:PORT, several of them separated by commas; correct it'


def _is_host_and_port(pair: str) -> bool:
    """Return whether Go's net.SplitHostPort accepts the pair: an IPv6 address needs brackets, host and port may be empty."""
    host, colon, port = pair.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1].replace(":", "")
    return bool(colon) and not any(mark in host or mark in port for mark in ":[]")


def _named_secret(key: str) -> Callable[[dict[str, Any], dict[str, Any]], Problems]:
    """Return a check that a reference to a Secret, where there is one, has its name."""

    def check(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
        reference = source.get(key)
        if isinstance(reference, dict) and reference.get("name") in (None, ""):
            yield key, f"`{key}` has no `name`; name the Secret, or remove it"

    return check


def _csi(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    yield from _named_secret("nodePublishSecretRef")(source, volume)
    name = text(mapping(source, "nodePublishSecretRef"), "name")
    if name and not accepts("dns-subdomain")(name):
        yield "nodePublishSecretRef", f'"{name}" cannot be the name of a Secret; correct it'


def _azure_disk(source: dict[str, Any], volume: dict[str, Any]) -> Problems:
    kind, uri = choice(source, "kind", "Shared"), text(source, "diskURI")
    start = "/subscriptions/" if kind == "Managed" else "https://"
    if uri and not uri.startswith(start):
        yield "diskURI", f'`diskURI` "{uri}" of a {kind} disk must begin with {start}; correct it or `kind`'


STORAGE_SYSTEMS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Problems]] = {
    "azureDisk": _azure_disk,
    "cinder": _named_secret("secretRef"),
    "csi": _csi,
    "fc": _fibre_channel,
    "flexVolume": _flex,
    "flocker": _flocker,
    "iscsi": _iscsi,
    "quobyte": _quobyte,
    "storageos": _named_secret("secretRef"),
}
