"""Owners, finalizers, and annotations that the API server looks at."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.rules.pod.metadata import own_metadata_rules
from fcompile.diagnostics.problem import field_path
from tests.check.rules.pod.pods import check, container, pod

OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}


def metadata(version: int = 36, /, **fields: Any) -> list[str]:
    return [line.replace("metadata.", "") for line in check(pod(metadata=fields), version)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"controller": False}, []),
        ({"controller": True}, ["controller"]),
        ({"apiVersion": "apps/v1"}, []),
        ({"apiVersion": "a/b/c"}, ["apiVersion"]),
        ({"apiVersion": "a/"}, ["apiVersion"]),
        ({"kind": "Event"}, ["kind"]),
        ({"kind": "Event", "apiVersion": "events.k8s.io/v1"}, []),
    ],
)
def test_owners(change: dict[str, Any], expected: list[str]) -> None:
    assert metadata(ownerReferences=[{**OWNER, **change}]) == [f"FC290 ownerReferences[0].{field}" for field in expected]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"ownerReferences": [{**OWNER, "controller": True}]}, []),
        (
            {"ownerReferences": [{**OWNER, "controller": True}, OWNER, {**OWNER, "controller": True}]},
            ["FC290 ownerReferences[2].controller"],
        ),
        ({"ownerReferences": [{**OWNER, "apiVersion": "a/b/c"}]}, ["FC290 ownerReferences[0].apiVersion"]),
        ({"ownerReferences": [{**OWNER, "kind": "Event"}]}, ["FC290 ownerReferences[0].kind"]),
        ({"ownerReferences": "x", "finalizers": [1]}, []),
        ({"finalizers": ["mine", "orphan"]}, []),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, ["FC291 finalizers"]),
    ],
)
def test_the_frameworks_own(own: dict[str, Any], expected: list[str]) -> None:
    found = own_metadata_rules({"metadata": own})
    assert [f"{finding.rule.code} {field_path(finding.path[1:])}" for finding in found] == expected


@pytest.mark.parametrize(
    ("finalizers", "expected"),
    [
        (["example.com/a", "orphan", "kubernetes"], []),
        (["foregroundDeletion"], []),
        (["mine"], ["FC291 finalizers[0]"]),
        (["orphan", "foregroundDeletion"], ["FC291 finalizers"]),
        ([""], []),
    ],
)
def test_finalizers(finalizers: list[str], expected: list[str]) -> None:
    assert metadata(finalizers=finalizers) == expected


@pytest.mark.parametrize(("prefix", "good"), [("a-", True), ("a", True), ("", True), ("A", False), ("-", False), ("a.b-", True)])
def test_generated_names(prefix: str, good: bool) -> None:
    assert metadata(generateName=prefix) == ([] if good else ["FC296 generateName"])


def annotated(key: str, value: Any, version: int = 36, /, *, main: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    """The rules that find something in an annotation."""
    template = pod(container(**main) if main else container(), metadata={"annotations": {key: value}}, **spec)
    found = check(template, version)
    assert all(line.endswith(f'metadata.annotations["{key}"]') for line in found)
    return [line.partition(" ")[0] for line in found]


@pytest.mark.parametrize(
    ("cost", "good"),
    [
        ("5", True),
        ("-5", True),
        ("0", True),
        ("2147483647", True),
        ("2147483648", False),
        ("+5", False),
        ("05", False),
        ("", False),
        (None, False),
        ("x", False),
        ("-", False),
        ("9" * 5_000, False),
    ],
)
def test_deletion_costs(cost: Any, good: bool) -> None:
    assert annotated("controller.kubernetes.io/pod-deletion-cost", cost) == ([] if good else ["FC292"])


def test_mirror_pods() -> None:
    assert annotated("kubernetes.io/config.mirror", "x") == ["FC292"]
    assert annotated("kubernetes.io/config.mirror", "x", nodeName="n") == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        ("null", []),
        ("[]", []),
        ('[{"key": "a", "operator": "Exists"}]', []),
        ('[{"key": "a", "tolerationSeconds": 5, "effect": "NoExecute"}]', []),
        ("{}", ["FC292"]),
        ("x", ["FC292"]),
        ("[1]", ["FC292"]),
        ('[{"key": 1}]', ["FC292"]),
        ('[{"key": "a b"}]', ["FC292"]),
        ("[null]", ["FC279"]),
        ('["None", null]', ["FC292"]),
        ('[{"key": "a", "tolerationSeconds": 5}]', ["FC279"]),
        ("[" * 100_000, ["FC292"]),
    ],
)
def test_tolerations_as_an_annotation(value: str, expected: list[str]) -> None:
    assert annotated("scheduler.alpha.kubernetes.io/tolerations", value) == expected


@pytest.mark.parametrize("key", ["scheduler.alpha.kubernetes.io/critical-pod", "security.alpha.kubernetes.io/sysctls"])
def test_annotations_that_do_nothing(key: str) -> None:
    assert annotated(key, "") == ["FC293"]


def test_other_annotations() -> None:
    assert annotated("example.com/x", "anything") == []
    assert annotated("kubernetes.io/x", "anything") == []


SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
OF_MAIN = "container.seccomp.security.alpha.kubernetes.io/main"


@pytest.mark.parametrize(
    ("value", "profile", "expected"),
    [
        ("runtime/default", None, ["FC295"]),
        ("docker/default", None, ["FC295"]),
        ("localhost/p", None, ["FC295"]),
        ("localhost/../p", None, ["FC294"]),
        ("x", None, ["FC294"]),
        ("runtime/default", {"type": "RuntimeDefault"}, []),
        ("unconfined", {"type": "RuntimeDefault"}, ["FC294"]),
        ("localhost/p", {"type": "Localhost", "localhostProfile": "p"}, []),
        ("localhost/p", {"type": "Localhost", "localhostProfile": "q"}, ["FC294"]),
    ],
)
def test_seccomp_annotations(value: str, profile: dict[str, Any] | None, expected: list[str]) -> None:
    context: dict[str, Any] = {"securityContext": {"seccompProfile": profile}} if profile else {}
    assert annotated(SECCOMP, value, **context) == expected
    assert annotated(OF_MAIN, value, main=context) == expected
    assert annotated(SECCOMP, value, 26, **context) == [code for code in expected if code != "FC295"]


def test_seccomp_annotations_for_windows() -> None:
    windows = {"os": {"name": "windows"}}
    for key in (SECCOMP, OF_MAIN):
        assert annotated(key, "runtime/default", 26, **windows) == ["FC294"]
        assert annotated(key, "runtime/default", 27, **windows) == ["FC295"]
    assert annotated(OF_MAIN.replace("main", "other"), "runtime/default", 26, **windows) == []


APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/main"


@pytest.mark.parametrize(
    ("value", "profile", "expected"),
    [
        ("runtime/default", None, ["FC293"]),
        ("localhost/p", None, ["FC293"]),
        ("x", None, ["FC294"]),
        ("runtime/default", {"type": "RuntimeDefault"}, []),
        ("unconfined", {"type": "RuntimeDefault"}, ["FC294"]),
        ("localhost/p", {"type": "Localhost", "localhostProfile": "p"}, []),
    ],
)
def test_app_armor_annotations(value: str, profile: dict[str, Any] | None, expected: list[str]) -> None:
    context = {"securityContext": {"appArmorProfile": profile}} if profile else {}
    assert annotated(APP_ARMOR, value, main=context) == expected
    assert annotated(APP_ARMOR, value, 29, main=context) == (expected if value == "x" else [])


def test_app_armor_annotations_of_nobody() -> None:
    assert annotated(APP_ARMOR.replace("main", "other"), "runtime/default") == ["FC294"]


def test_an_empty_app_armor_annotation_is_held_against_the_pod() -> None:
    whole: dict[str, Any] = {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}
    assert annotated(APP_ARMOR, "", **whole) == ["FC294"]
    assert annotated(APP_ARMOR, "runtime/default", **whole) == ["FC293"]
