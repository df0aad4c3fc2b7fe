"""The classes of values between which Kubernetes' validation tells: for each class what is just inside and just outside.

They are those of apimachinery's validation (names, labels, ports, addresses, quantities, paths) and of the kinds of fields. Which of them
holds for a field is not said here: every class is tried on every field of its kind, and the servers say what they make of it.
"""

from __future__ import annotations

from random import Random
from typing import Any

from fcompile.model import names
from fcompile.model.fields import Field
from tests.agreement.openapi import hints

_LABEL, _PART = "a" * 63, "a" * 61
TEXTS: dict[str, tuple[str, ...]] = {
    "empty or blank": ("", " ", " a", "a ", "\t", "a\nb"),
    "DNS label": ("a", _LABEL, _LABEL + "a", "a-b", "-a", "a-", "A", "a_b", "1", "a--b"),
    "DNS subdomain": (
        "a.b",
        ".a",
        "a.",
        "a..b",
        f"{_LABEL}.b",
        f"{_LABEL}a.b",
        ".".join([_PART] * 4) + ".aaaaa",
        ".".join([_PART] * 4) + ".aaaaaa",
    ),
    "DNS name of a search list": ("a_b.c", "_a.b", "a.b.", ".", "a.-b", "A.b"),
    "qualified name": (
        "a.b/c",
        "a.b/C_d",
        "A.b/c",
        "/c",
        "a.b/",
        "a/b/c",
        "a b/c",
        f"a.b/{_LABEL}",
        f"a.b/{_LABEL}a",
        f"{'a' * 253}/c",
        f"{'a' * 254}/c",
    ),
    "qualified name of Kubernetes": ("kubernetes.io/a", "a.kubernetes.io/b", "k8s.io/a", "requests.a.b/c", "node.kubernetes.io/not-ready"),
    "environment variable": ("A", "1A", "a.b", "a=b", "a-b", ".", "..", "..a", "é", "$(A)", "$(POD_NAME)/a"),
    "whole number": ("0", "1", "-1", "+1", "01", "1.5", "1e3", "0x10", "2147483647", "2147483648", "x"),
    "port": ("80", "http", "a-b", "HTTP", "a" * 15, "a" * 16, "1234", "a--b", "-http"),
    "address": (
        "10.0.0.1",
        "010.0.0.1",
        "1.2.3",
        "1.2.3.4.5",
        "256.0.0.1",
        "::1",
        "2001:db8::1",
        "::ffff:1.2.3.4",
        "fe80::1%eth0",
        "[::1]:80",
        "a:80",
    ),
    "path": ("/", "/a", "a", "a/b", "a/", "../a", "..", "a/../b", "..a", "a/..b", "/a/../b", "/a:b", "a:b", "C:\\a", "./a", "a//b"),
    "resource": (
        "cpu",
        "memory",
        "storage",
        "pods",
        "hugepages-2Mi",
        "hugepages-3Mi",
        "hugepages-",
        "limits.cpu",
        "requests.memory",
        "nvidia.com/gpu",
    ),
    "field of the Pod": (
        "metadata.name",
        "metadata.labels",
        "metadata.labels['a']",
        "metadata.labels['a b']",
        "metadata.annotations['a/b']",
        "spec.nodeName",
        "spec.host",
        "status.podIP",
        "status.phase",
        "status.hostIPs",
    ),
    "kind of Kubernetes": ("v1", "apps/v1", "a/b/c", "Event", "PersistentVolumeClaim", "VolumeSnapshot"),
    "signer or driver": (
        "a.b/c",
        "kubernetes.io/kube-apiserver-client",
        "csi.example.com",
        "iqn.2001-04.com.example:a",
        "eui.0123456789abcdef",
        "naa.1",
    ),
    "long": ("a" * 1024, "a" * 1025, "a" * 4096, "a" * 4097, "é" * 40),
    "Windows user": ("DOM\\user", "\\u", "a\\b\\c", "u@v", "...", "u" * 105),
    "control character": ("\x00", "\x01", "\x7f", "\ufeff", "a\u2028b"),
    "time": ("2024-05-01T12:00:00Z", "2024-05-01T12:00:00.5+02:00", "2024-05-01", "2024-13-01T12:00:00Z"),
    "JSON": ("[]", "{}", "null", '[{"key":"a","operator":"Exists"}]', '[{"operator":"Equal"}]', "{"),
    "profile": ("runtime/default", "unconfined", "localhost/a", "localhost/", "docker/default"),
}
INTEGERS: dict[str, tuple[Any, ...]] = {
    "near zero": (-3, -2, -1, 0, 1, 2),
    "port number": (80, 65535, 65536),
    "percent, byte and mode": (99, 100, 101, 255, 256, 511, 512, 600, 3600),
    "width of an integer": (2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**63 - 1, 2**63, -(2**64)),
    "fraction": (1.0, 1.5, -0.0, 1e3, 1e20),
    "number of tasks": (9, 10, 11, 9999, 10_000, 10_001),
}
QUANTITIES: dict[str, tuple[Any, ...]] = {
    "quantity": (
        "1",
        "500m",
        "1Gi",
        "0",
        "-1",
        "1.5",
        "100u",
        "1n",
        "0.1n",
        "1e3",
        "1E",
        "1Ei",
        "9223372036854775807",
        "1e30",
        "2Mi",
        "3Mi",
        1,
        0.5,
        2,
        -1,
    ),
    "no quantity": ("", " 1", "1 ", "+1", "1e", "1KiB", "500mi", "x", "1,5", ".5", "5.", "--1", True, "0x1", "１"),
}
KEYS = ("DNS label", "qualified name", "qualified name of Kubernetes", "resource", "empty or blank", "long")
PLACEHOLDERS = ("FC_TASK_INDX", "FC_POD_UID", *names.PLACEHOLDERS, "FC_TASK_INDEX+1", "FC_TASK_INDEX+99999", "FC_POD_NAME+1")
"""No sum below zero: that Frameworks have none (FC425) is a rule of ours, which a waiver can lift: the servers take `-1` in most places."""
WRONG_TYPES: tuple[Any, ...] = (True, False, 0, 1, -1, 1.5, "x", "", "1", "true", [], {}, ["x"], {"a": "b"}, [{}], [None], {"a": None})


def value(random: Random, field: Field) -> tuple[str, Any]:
    """A value for a scalar field, and the class that it is of."""
    hinted = hints(field)
    if hinted and random.random() < 0.3:
        return "named in the API's description", random.choice(hinted)
    if field.kind == "boolean":
        return "truth value", random.choice((True, False))
    table: dict[str, tuple[Any, ...]] = {"integer": INTEGERS, "number": INTEGERS, "quantity": QUANTITIES}.get(field.kind, {**TEXTS})
    if field.kind == "int-or-string" and random.random() < 0.5:
        table = INTEGERS
    if field.kind == "string" and random.random() < 0.1:
        return "with a placeholder", _with_placeholder(random)
    name = random.choice(list(table))
    return name, random.choice(table[name])


def key(random: Random) -> tuple[str, str]:
    """A key of a map, and the class that it is of."""
    if random.random() < 0.1:
        return "with a placeholder", _with_placeholder(random)
    name = random.choice(KEYS)
    return name, random.choice(TEXTS[name])


def _with_placeholder(random: Random) -> str:
    written = names.placeholder(random.choice(PLACEHOLDERS))
    return random.choice(("", "a-", "/", "x")) + written + random.choice(("", "", ".b", "-" + names.placeholder(names.TASK_INDEX)))
