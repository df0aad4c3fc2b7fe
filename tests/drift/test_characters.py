"""FC116 warns of exactly those characters that a server-side apply and `kubectl diff` cannot carry."""

from __future__ import annotations

from typing import Any

from fcompile.check.rules.framework.characters import character_rules
from fcompile.emit import yaml
from tests.cluster import Cluster
from tests.drift.objects import diff, listed

CHARACTERS = [*map(chr, range(0xA2)), *"\u2028\u2029\u200b\u202e\ufeff\ufffc\ufffd\ufffe\uffff\ue000\U0001f600\U0001fffe\U0010ffff"]


def warned_of(character: str) -> bool:
    """Whether the rule finds it."""
    return bool(list(character_rules({"spec": character}, character)))


def test_every_character(cluster: Cluster, namespace: str) -> None:
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    sent: dict[str, Any] = {
        f"c{ord(character):x}": {
            **head,
            "metadata": {"name": f"c{ord(character):x}", "namespace": namespace},
            "data": {"k": f"a{character} b"},
        }
        for character in CHARACTERS
    }
    cluster.kubectl("apply", "--server-side", "-f", "-", input="".join(map(yaml.document, list(sent.values()))), check=False)
    stored = listed(cluster, next(iter(sent.values())))
    kept = {name for name, value in stored.items() if value["data"] == sent[name]["data"]}
    assert kept == {f"c{ord(character):x}" for character in CHARACTERS if not warned_of(character)}

    cluster.kubectl("delete", "configmap", "--all", "-n", namespace)
    cluster.kubectl("create", "-f", "-", input="".join(map(yaml.document, list(sent.values()))))
    stored = listed(cluster, next(iter(sent.values())))
    assert {name: value["data"] for name, value in stored.items()} == {name: value["data"] for name, value in sent.items()}
    code, _, said = diff(cluster, yaml.dump(sent["c7f"]))
    assert (code, "control characters" in said) == (2, True)
    # All of them in one object: kubectl takes 0.1 s of each. It prints keys with hexadecimal numbers in an order that changes.
    texts = [sent[name]["data"]["k"] for name in sorted(kept)]
    data = {f"k{number:03}": text for number, text in enumerate(texts)}
    whole = {**head, "metadata": {"name": "whole", "namespace": namespace}, "data": data}
    cluster.kubectl("create", "-f", "-", input=yaml.dump(whole))
    assert listed(cluster, whole)["whole"]["data"] == data
    assert diff(cluster, yaml.dump(whole)) == (0, "", "")
