"""Requests and limits of containers, and of Pods as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.check.rules.pod.pods import check, container, findings, of_main, pod

MAIN = "spec.containers[0].resources"


def resources(limits: Any = None, requests: Any = None, version: int = 36) -> list[str]:
    found = check(of_main(resources={"limits": limits, "requests": requests}), version)
    return [line.replace(f" {MAIN}.", " ").replace(f" {MAIN}", " ") for line in found]


@pytest.mark.parametrize(
    ("limits", "requests", "expected"),
    [
        (None, None, []),
        ({"cpu": "1"}, {"cpu": "1"}, []),
        ({"cpu": "1"}, {"cpu": "1001m"}, ["FC255 requests.cpu"]),
        ({"cpu": "1"}, {"cpu": "1000.1m"}, ["FC255 requests.cpu"]),
        ({"cpu": "1.0001m"}, {"cpu": "2m"}, []),  # Stored in thousandths, rounded up.
        ({"memory": "1Gi"}, {"memory": "1073741824"}, []),
        ({"memory": "1G"}, {"memory": "1Gi"}, ["FC255 requests.memory"]),
        ({"cpu": "0"}, {"cpu": 0}, []),
        ({"cpu": None}, {"cpu": 1}, ["FC255 requests.cpu"]),
        ({"cpu": "nonsense"}, {"cpu": 1}, []),  # For the structure check.
        ({"memory": "1"}, {"cpu": "2"}, ["FC254 limits.memory"]),
        ({"memory": "1Mi", "ephemeral-storage": "0"}, {"cpu": "999"}, []),
        ({"ephemeral-storage": "16k"}, None, ["FC254 limits.ephemeral-storage"]),
        ({"memory": "1048575"}, {"memory": 512}, ["FC254 limits.memory"]),
        ({"cpu": "4Gi"}, {"cpu": "500Mi"}, ["FC254 limits.cpu", "FC254 requests.cpu"]),
        (None, {"cpu": "1000"}, ["FC254 requests.cpu"]),
        (
            None,
            {"example.com/cpu": "1000", "hugepages-2Mi": "2Mi", "cpu": "1"},
            ['FC256 requests["example.com/cpu"]', "FC256 requests.hugepages-2Mi"],
        ),
        ({"cpu": "-1"}, None, ["FC258 limits.cpu"]),
        (None, {"cpu": "-1"}, ["FC258 requests.cpu"]),
        ({"memory": "512m"}, None, ["FC261 limits.memory"]),
        (None, {"ephemeral-storage": "0.5"}, ["FC261 requests.ephemeral-storage"]),
        ({"memory": "1500m"}, {"memory": "1"}, ["FC261 limits.memory"]),
    ],
)
def test_amounts(limits: Any, requests: Any, expected: list[str]) -> None:
    assert resources(limits, requests) == expected


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cpu", "4Gi", '"4Gi" of cpu is 4,294,967,296 cores: did you mean 4?'),
        ("cpu", 2000, '"2000" of cpu is 2,000 cores: did you mean 2000m?'),
        ("cpu", "1e3", '"1e3" of cpu is 1,000 cores: did you mean 1000m?'),
        ("cpu", "500Mi", '"500Mi" of cpu is 524,288,000 cores: did you mean 500m?'),
        ("memory", "1e2", '"1e2" of memory is 100 bytes, in which nothing runs: did you mean `Mi` or `Gi`?'),
        ("memory", "+16", '"+16" of memory is 16 bytes, in which nothing runs: did you mean `Mi` or `Gi`?'),
        ("cpu", "2k", '"2k" of cpu is 2,000 cores: did you mean 2000m?'),
        ("memory", 512, '"512" of memory is 512 bytes, in which nothing runs: did you mean 512Mi?'),
        ("memory", "16", '"16" of memory is 16 bytes, in which nothing runs: did you mean 16Gi?'),
        ("memory", "16k", '"16k" of memory is 16,000 bytes, in which nothing runs: did you mean `Mi` or `Gi`?'),
    ],
)
def test_unlikely_amounts(name: str, value: Any, said: str) -> None:
    assert [found.message for found in findings(of_main(resources={"limits": {name: value}}))] == [said]


GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("limits", "requests", "expected"),
    [
        ({GPU: 1}, None, []),
        ({GPU: 1}, {GPU: "1"}, []),
        ({GPU: 2}, {GPU: 1}, ['FC256 requests["nvidia.com/gpu"]']),
        (None, {GPU: 1}, ['FC256 requests["nvidia.com/gpu"]']),
        ({GPU: "500m"}, None, ['FC258 limits["nvidia.com/gpu"]']),
        ({GPU: 1.5}, None, ['FC258 limits["nvidia.com/gpu"]']),
        ({GPU: "1000m"}, None, []),
        ({GPU: -1}, None, ['FC258 limits["nvidia.com/gpu"]']),
        ({"example.com/a b": 1}, None, ['FC260 limits["example.com/a b"]']),
        ({"requests.example.com/a": 1}, None, ['FC260 limits["requests.example.com/a"]']),
        ({"gpu": 1}, None, ["FC260 limits.gpu"]),
        ({"pods": 1}, None, ["FC260 limits.pods"]),
        ({"kubernetes.io/batch-cpu": 1}, None, []),
        ({"kubernetes.io/batch-cpu": 2}, {"kubernetes.io/batch-cpu": 1}, []),
        ({"": 1}, None, ['FC260 limits[""]']),
    ],
)
def test_extended_resources(limits: Any, requests: Any, expected: list[str]) -> None:
    assert resources(limits, requests) == expected


HUGE = "hugepages-2Mi"


@pytest.mark.parametrize(
    ("limits", "requests", "expected"),
    [
        ({HUGE: "4Mi", "cpu": 1}, None, []),
        ({HUGE: "4Mi"}, {"memory": 1}, []),
        ({HUGE: "4Mi", "cpu": 1}, {HUGE: "4Mi"}, []),
        ({HUGE: "4Mi"}, None, ["FC257"]),
        ({HUGE: "4Mi", "cpu": 1}, {HUGE: "2Mi"}, ["FC256"]),
        ({"cpu": 1}, {HUGE: "2Mi"}, ["FC256"]),
        ({HUGE: "3Mi", "cpu": 1}, None, ["FC257"]),
        ({HUGE: "0", "cpu": 1}, None, []),
        ({"hugepages-": "2Mi", "cpu": 1}, None, ["FC260", "FC257"]),
        ({"hugepages-0": "2Mi", "cpu": 1}, None, ["FC257"]),
        ({"hugepages-x": "2Mi", "cpu": 1}, None, ["FC257"]),
    ],
)
def test_huge_pages(limits: Any, requests: Any, expected: list[str]) -> None:
    assert [line.partition(" ")[0] for line in resources(limits, requests)] == expected


@pytest.mark.parametrize(
    ("name", "right"), [("cpus", "cpu"), ("Memory", "memory"), ("storage", "ephemeral-storage"), ("gpu", "nvidia.com/gpu")]
)
def test_words_for_resources(name: str, right: str) -> None:
    (finding,) = findings(of_main(resources={"limits": {name: 1}}))
    assert finding.message.endswith(right)


@pytest.mark.parametrize("name", ["nvidia.com/gpus", "nvidia.com/GPU", "nvida.com/gpu", "nvdiia.com/gpu", "google.com/tpus"])
def test_a_device_misspelt(name: str) -> None:
    assert resources({name: 1}) == [f'FC264 limits["{name}"]']


@pytest.mark.parametrize(
    "name", ["nvidia.com/gpu", "nvidia.com/vgpu", "nvidia.com/gpumem", "nvidia.com/gpu.shared", "amd.com/gpu", "x.y/gpu"]
)
def test_other_devices(name: str) -> None:
    assert resources({name: 1}) == []


def test_overhead_is_a_set_of_amounts_too() -> None:
    assert check(pod(overhead={"cpu": "100m"}, runtimeClassName="kata")) == []
    assert check(pod(overhead={"cpu": "-1"}, runtimeClassName="kata")) == ["FC258 spec.overhead.cpu"]
    assert check(pod(overhead={"gpu": "1"}, runtimeClassName="kata")) == ["FC260 spec.overhead.gpu"]


CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "t"}]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([{"name": "gpu"}], []),
        ([{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "b"}], []),
        ([{"name": "cpu"}], ["FC259 [0].name"]),
        ([{"name": "gpu"}, {"name": "gpu"}], ["FC259 [1]"]),
        ([{"name": "gpu"}, {"name": "gpu", "request": "a"}], ["FC259 [1]"]),
        ([{"name": "gpu", "request": "a"}, {"name": "gpu", "request": "a"}], ["FC259 [1]"]),
        ([{"name": "gpu", "request": "A"}], ["FC259 [0].request"]),
        ([None, {}], []),
    ],
)
def test_claims(claims: list[Any], expected: list[str]) -> None:
    template = pod(container(resources={"claims": claims}), resourceClaims=CLAIMS)
    assert check(template) == [line.replace(" ", f" {MAIN}.claims") for line in expected]
    assert {line.partition(" ")[0] for line in check(template, 33)} == {"FC200"}


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (CLAIMS, []),
        ([{"name": "a", "resourceClaimName": "x"}, {"name": "a", "resourceClaimName": "y"}], ["FC263 spec.resourceClaims[1].name"]),
        ([{"name": "a"}], ["FC263 spec.resourceClaims[0]"]),
        ([{"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}], ["FC263 spec.resourceClaims[0]"]),
    ],
)
def test_claims_of_a_pod(claims: list[Any], expected: list[str]) -> None:
    assert check(pod(resourceClaims=claims)) == expected
    assert check(pod(resourceClaims=claims), 33) == ["FC200 spec.resourceClaims"]


def whole(level: dict[str, Any], *needs: dict[str, Any], init: Any = (), version: int = 36, **spec: Any) -> list[str]:
    """A Pod with resources of its own, and containers with theirs."""
    containers = [container(f"c{index}", resources=each) for index, each in enumerate(needs)]
    return check(pod(*containers, resources=level, initContainers=[container(**each) for each in init], **spec), version)


@pytest.mark.parametrize(
    ("level", "needs", "expected"),
    [
        ({"limits": {"cpu": 1}}, [], []),
        ({"limits": {"cpu": 1}, "requests": {"cpu": 2}}, [], ["FC255 spec.resources.requests.cpu"]),
        ({"requests": {"cpu": 1}}, [{"requests": {"cpu": "500m"}}, {"limits": {"cpu": "500m"}}], []),
        ({"requests": {"cpu": 1}}, [{"requests": {"cpu": "600m"}}, {"limits": {"cpu": "500m"}}], ["FC262 spec.resources.requests.cpu"]),
        ({"limits": {"cpu": 1}}, [{"requests": {"cpu": "600m"}}, {"requests": {"cpu": "500m"}}], ["FC262 spec.resources.limits.cpu"]),
        (
            {"limits": {"cpu": 1}, "requests": {"cpu": 1}},
            [{"limits": {"cpu": 2}, "requests": {}}],
            ["FC262 spec.resources.requests.cpu", "FC262 spec.containers[0].resources.limits.cpu"],
        ),
        ({"limits": {"memory": 1}}, [{"requests": {"cpu": 600}}], []),
        ({"limits": {GPU: 1}}, [], ['FC260 spec.resources.limits["nvidia.com/gpu"]']),
        ({"limits": {"ephemeral-storage": 1}}, [], ["FC260 spec.resources.limits.ephemeral-storage"]),
        ({"claims": []}, [], ["FC262 spec.resources.claims"]),
        ({"limits": {HUGE: "4Mi", "cpu": 1}}, [{"limits": {HUGE: "4Mi", "cpu": 1}}], []),
        (
            {"limits": {HUGE: "2Mi", "cpu": 1}},
            [{"limits": {HUGE: "4Mi", "cpu": 1}}],
            ["FC262 spec.resources.limits.hugepages-2Mi", "FC262 spec.containers[0].resources.limits.hugepages-2Mi"],
        ),
        ({"limits": {HUGE: "4Mi"}}, [{"requests": {"cpu": 1}}], []),
        ({"limits": {HUGE: "4Mi"}}, [], ["FC257 spec.resources.limits.hugepages-2Mi"]),
    ],
)
def test_pod_level_resources(level: dict[str, Any], needs: list[Any], expected: list[str]) -> None:
    assert whole(level, *(needs or [{}])) == expected


def test_a_limit_of_a_container_is_within_that_of_the_pod() -> None:
    assert whole({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "2Gi"}, "requests": {"memory": 1}}) == [
        "FC262 spec.containers[0].resources.limits.memory"
    ]


def test_init_containers_run_before_the_others() -> None:
    one = {"resources": {"requests": {"cpu": 1}}}
    assert whole({"requests": {"cpu": 1}}, {"requests": {"cpu": 1}}, init=[{"name": "i", **one}, {"name": "j", **one}]) == []
    sidecar = {"name": "i", "restartPolicy": "Always", **one}
    assert whole({"requests": {"cpu": 1}}, {"requests": {"cpu": 1}}, init=[sidecar]) == ["FC262 spec.resources.requests.cpu"]
    assert whole({"requests": {"cpu": 1}}, {}, init=[sidecar, {"name": "j", **one}]) == ["FC262 spec.resources.requests.cpu"]
    assert whole({"requests": {"cpu": 1}}, {}, init=[{"name": "j", **one}, sidecar]) == []
    assert whole({"requests": {"cpu": 2}}, {"requests": {"cpu": 1}}, init=[sidecar, {"name": "j", **one}]) == []


def test_limits_that_the_server_fills_in() -> None:
    level, need = {"requests": {HUGE: "4Mi"}}, {"limits": {HUGE: "4Mi", "cpu": 1}}
    assert "FC256 spec.resources.requests.hugepages-2Mi" in whole(level, need)
    assert whole(level, need, version=37) == []
    assert "FC256 spec.resources.requests.hugepages-2Mi" in whole(level, need, {"limits": {"cpu": 1}}, version=37)


def test_pod_level_resources_by_version_and_system() -> None:
    assert whole({"limits": {GPU: 1}}, {}, version=33) == ["FC200 spec.resources"]
    assert whole({"limits": {GPU: 1}}, {}, version=31) == []
    assert whole({"limits": {"cpu": 1}}, {}, os={"name": "windows"}) == ["FC262 spec.resources"]
