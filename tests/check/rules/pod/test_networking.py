"""DNS, host aliases, host names, service accounts and pull secrets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, pod


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["10.0.0.1"]}}, []),
        ({"dnsPolicy": "None"}, ["FC285 spec.dnsPolicy"]),
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": []}}, ["FC285 spec.dnsPolicy"]),
        ({"dnsPolicy": "None", "dnsConfig": None}, ["FC285 spec.dnsPolicy"]),
        ({"dnsPolicy": "Default", "dnsConfig": {}}, []),
        ({"dnsConfig": {"searches": ["a"] * 32}}, []),
        ({"dnsConfig": {"searches": ["a" * 63] * 32}}, []),
        ({"dnsConfig": {"searches": [f"{'a' * 60}.abc"] * 32}}, ["FC285 spec.dnsConfig.searches"]),
    ],
)
def test_dns(spec: dict[str, Any], expected: list[str]) -> None:
    assert check(pod(**spec)) == expected


def test_search_domains_of_the_oldest_version() -> None:
    assert check(pod(dnsConfig={"searches": ["a"] * 6}), 25) == []
    assert check(pod(dnsConfig={"searches": ["a"] * 7}), 25) == ["FC285 spec.dnsConfig.searches"]
    assert check(pod(dnsConfig={"searches": ["a" * 60] * 5}), 25) == ["FC285 spec.dnsConfig.searches"]


def test_host_names() -> None:
    assert check(pod(hostnameOverride="h", setHostnameAsFQDN=False)) == []
    assert check(pod(hostnameOverride="h", setHostnameAsFQDN=True)) == ["FC286 spec.hostnameOverride"]
    assert check(pod(hostnameOverride="h", hostNetwork=True)) == ["FC286 spec.hostnameOverride"]
    assert check(pod(hostnameOverride="h", hostNetwork=True), 34) == ["FC200 spec.hostnameOverride"]
    assert check(pod(hostnameOverride=None, hostNetwork=True)) == []


def test_host_aliases() -> None:
    one, two = {"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.2", "hostnames": ["a"]}
    assert check(pod(hostAliases=[one, two])) == []
    assert check(pod(hostAliases=[one, two, one, None])) == ["FC287 spec.hostAliases[2].ip"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"serviceAccountName": "a", "serviceAccount": "a"}, []),
        ({"serviceAccount": "a"}, []),
        ({"serviceAccountName": "a", "serviceAccount": "b"}, ["FC297 spec.serviceAccount"]),
        ({"serviceAccountName": "a", "serviceAccount": "B_"}, ["FC297 spec.serviceAccount"]),
        ({"serviceAccount": "B_"}, ["FC299 spec.serviceAccount"]),
        ({"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}, []),
        ({"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}, ["FC298 spec.imagePullSecrets[1]"]),
        ({"imagePullSecrets": [{}, {"name": ""}, None]}, [f"FC298 spec.imagePullSecrets[{index}]" for index in range(3)]),
    ],
)
def test_accounts_and_pull_secrets(spec: dict[str, Any], expected: list[str]) -> None:
    assert check(pod(**spec)) == expected
