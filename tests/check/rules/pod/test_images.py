"""Names of images: what the kubelet can read passes, and what it cannot is an error with its reason."""

from __future__ import annotations

import json

import pytest

from fcompile.check.rules.pod.images import readable
from tests import laws

SHA = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    "image",
    [
        "b",
        "b:1",
        "busybox:1.37",
        "a/b/c:latest",
        "registry.example.com:5000/team/app_x/y-z:v1.0_RC-1",
        "localhost/a",
        "localhost:5000/a",
        "127.0.0.1:5000/a:b",
        "[2001:db8::1]:5000/a",
        "Registry.Example.COM/a/b",
        "MyHost/a",
        f"a@sha256:{SHA}",
        f"a:1@sha256:{SHA}",
        "a__b/c---d",
        "nvcr.io/nvidia/pytorch:24.05-py3",
        "123456789012.dkr.ecr.us-east-1.amazonaws.com/team/app:1",
    ],
)
def test_what_can_be_read(image: str) -> None:
    assert readable(image)


def found(image: str) -> list[dict[str, object]]:
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "x", "namespace": "d"}}
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": image}]}
    framework = {**head, "spec": {"taskRoles": [{"name": "w", "task": {"pod": {"spec": pod}}}]}}
    problems: list[dict[str, object]] = json.loads(laws.run(["validate", "--format", "json", "-"], json.dumps(framework).encode()).out)[
        "problems"
    ]
    return problems


@pytest.mark.parametrize(
    ("image", "why", "fix"),
    [
        ("b:${TAG}", "nothing fills in the variable", None),
        ("b:$TAG", "nothing fills in the variable", None),
        ("$(IMAGE)", "nothing fills in the variable", None),
        ("{{ .Values.image }}", "nothing fills in the variable", None),
        ("<your-image>", "nothing fills in the variable", None),
        ("MyRepo/Image:latest", "the path is in lower case: `myrepo/image:latest`", "myrepo/image:latest"),
        ("example.com/A:V1", "the path is in lower case: `example.com/a:V1`", "example.com/a:V1"),
        ("http://example.com/a", "leave `http://` out", "example.com/a"),
        ("docker://a:1", "leave `docker://` out", "a:1"),
        ("a b", "take the spaces out", None),
        ("a:1 2", "take the spaces out", None),
        ("b:", "leave out the `:` at its end", "b"),
        ("b/", "leave out the `/` at its end", "b"),
        ("a@sha256:abc", "after `@` write a digest", None),
        (f"a@md5:{SHA[:32]}", "after `@` write a digest", None),
        (SHA, "it is the id of an image", None),
        ("a//b", "write `registry/path:tag`", None),
        ("-a", "write `registry/path:tag`", None),
        ("a_-b", "write `registry/path:tag`", None),
        ("a:b:c", "write `registry/path:tag`", None),
        (f"a:{'x' * 129}", "write `registry/path:tag`", None),
        ("a/" * 130 + "b", "write `registry/path:tag`", None),
        ("bücher:1", "write `registry/path:tag`", None),
    ],
)
def test_what_cannot(image: str, why: str, fix: str | None) -> None:
    (problem,) = found(image)
    assert problem["code"] == "FC217"
    assert why in str(problem["message"])
    assert (problem["fix"] or {"text": None})["text"] == fix  # type: ignore[index]


@pytest.mark.parametrize("image", ["a:{{FC_TASK_INDEX}}", "registry.example.com/{{FC_FRAMEWORK_NAME}}/{{FC_TASKROLE_NAME}}"])
def test_placeholders_are_filled_in(image: str) -> None:
    assert found(image) == []


def test_other_rules_have_their_own_say() -> None:
    assert [problem["code"] for problem in found(" b")] == ["FC151"]
    assert [problem["code"] for problem in found("a:{{FC_TASKINDEX}}")] == ["FC421"]
    assert [problem["code"] for problem in found("")] == ["FC122"]
