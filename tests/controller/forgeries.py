"""What somebody who may only write ConfigMaps can make of the one that holds an attempt's intent, whose last role is to change."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from functools import cache

from fcompile.emit.json import canonical
from fcompile.expand import INTENT_KEY
from fcontroller.api import Json
from fcontroller.intent import COMPRESSED_KEY

Forge = Callable[[Json], object]
"""Changes a ConfigMap."""


def forge_document(change: Callable[[Json], object]) -> Forge:
    def forge(config_map: Json) -> None:
        document = json.loads(config_map["data"][INTENT_KEY])
        change(document["roles"][-1]["pod"]["spec"])
        config_map["data"][INTENT_KEY] = canonical(document).decode()

    return forge


@cache
def bomb() -> str:
    """Return a small text that unpacks to 200 MB."""
    return base64.b64encode(gzip.compress(b" " * 200_000_000)).decode()


def forge_bomb(config_map: Json) -> None:
    config_map["binaryData"] = {COMPRESSED_KEY: bomb()}


def forge_binary(config_map: Json) -> None:
    """The plain document stays as it is; the packed one comes first."""
    document = json.loads(config_map["data"][INTENT_KEY])
    document["roles"][-1]["pod"]["spec"]["containers"][0]["image"] = "forged"
    config_map["binaryData"] = {COMPRESSED_KEY: base64.b64encode(gzip.compress(canonical(document))).decode()}


FORGERIES: dict[str, Forge] = {
    "another image": forge_document(lambda spec: spec["containers"][0].update(image="forged")),
    "another service account": forge_document(lambda spec: spec.update(serviceAccountName="forged")),
    "the node's processes": forge_document(lambda spec: spec.update(hostPID=True)),
    "no intent": lambda config_map: config_map.pop("data"),
    "no document": lambda config_map: config_map["data"].update({INTENT_KEY: "forged"}),
    "a bomb": forge_bomb,
    "another document beside": forge_binary,
    "other annotations": lambda config_map: config_map["metadata"]["annotations"].update(
        {"frameworkcontroller.microsoft.com/framework-generation": "99", "frameworkcontroller.microsoft.com/adopted": "true"}
    ),
}
