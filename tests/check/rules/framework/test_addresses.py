"""Variables that name hosts which will not be there."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.check.rules.framework.addresses import address_rules
from tests.check.frameworks import context_of, framework, role


def found(value: str, **fields: Any) -> list[str]:
    """Return the codes of what is told of a variable of the Framework `train`, whose role `worker` has three tasks."""
    container = {"name": "c", "image": "a", "env": [{"name": "ADDRESS", "value": value}]}
    fields = {"service": {}, **fields}
    written = framework(role("worker", 3, spec={"containers": [container]}, **fields), name="ptddp")
    return [finding.rule.code for finding in address_rules(context_of(written), repr(written))]


@pytest.mark.parametrize(
    "value",
    [
        "worker-0.ptddp-worker",
        "worker-{{FC_TASK_INDEX}}.ptddp-worker:80",
        "worker-2.ptddp-worker.default.svc",
        "worker-{{FC_TASK_INDEX-0}}.ptddp-worker",
        "other-worker-0",
        "pt-ddp-ps-0",
        "/data/pt-ddp-worker-0/x",
        "pt-ddp-worker-0/x",
        "pt-ddp-worker-0/",
        "/data/pt-ddp-worker-0",
        "s3://b/pt-ddp-worker-0/",
        "s3://pt-ddp-worker-0/x",
        "gs://pt-ddp-worker-0",
        "pt-ddp-worker-0.elsewhere.com",
        "pt-ddp-worker",
        "",
    ],
)
def test_fine(value: str) -> None:
    assert found(value) == []


@pytest.mark.parametrize(
    "value",
    [
        "pt-ddp-worker-0",
        "ptddp-worker-0:2222",
        "tcp://pt-ddp-worker-1.default.svc:80",
        "http://pt-ddp-worker-1/x",
        "pt-ddp-worker-{{FC_TASK_INDEX}}",
        "worker-3.ptddp-worker",
        "worker-{{FC_TASK_INDEX+3}}.ptddp-worker",
        "pt-ddp-worker-{{FC_TASK_INDEX+1}}",
        "a,pt-ddp-worker-0,pt-ddp-worker-0",
    ],
)
def test_told(value: str) -> None:
    assert found(value) == ["FC514"]


@pytest.mark.parametrize("value", ["worker-{{FC_TASK_INDEX+1}}.ptddp-worker", "worker-1{{FC_TASK_INDEX}}.ptddp-worker"])
def test_a_host_is_told_once(value: str) -> None:
    assert found(value) == ["FC514"]


def test_a_host_that_only_the_last_task_lacks() -> None:
    container = {"name": "c", "image": "a", "env": [{"name": "NEXT", "value": "worker-{{FC_TASK_INDEX+1}}.ptddp-worker"}]}
    written = framework(role("worker", 3, spec={"containers": [container]}, service={}), name="ptddp")
    (finding,) = address_rules(context_of(written), repr(written))
    assert finding.message == "`worker-3.ptddp-worker` will not resolve: name one of the role `worker`, whose last index is 2"


@pytest.mark.parametrize(
    "value",
    [
        "ptddp-worker-0.ptddp-worker:80",
        "worker-0.ptddp:80",
        "worker-0.ptddp.default.svc",
        "worker-0.worker:80",
        "worker-1.worker.default.svc",
    ],
)
def test_forms_of_other_kinds(value: str) -> None:
    assert found(value) == ["FC514"]


def test_a_service_of_the_role_that_somebody_makes() -> None:
    container = {"name": "c", "image": "a", "env": [{"name": "ADDRESS", "value": "worker-0.worker:80"}]}
    written = framework(role("worker", 3, spec={"containers": [container], "subdomain": "worker"}), name="ptddp")
    assert list(address_rules(context_of(written), repr(written))) == []


def test_a_namespace_called_as_the_framework_or_the_role() -> None:
    for name, called in (("default", "worker"), ("ptddp", "default")):
        container = {"name": "c", "image": "a", "env": [{"name": "ADDRESS", "value": f"{called}-0.default"}]}
        written = framework(role(called, 3, spec={"containers": [container]}), name=name)
        assert list(address_rules(context_of(written), repr(written))) == []


@pytest.mark.parametrize(
    ("namespace", "rest", "expected"),
    [
        ("prod", "", []),
        ("prod", ".prod", []),
        ("prod", ".prod.svc:80", []),
        ("prod", ".example.com", []),
        ("prod", ".test", ["`worker-0.ptddp-worker.test` will not resolve: the Framework is in the namespace `prod`: leave `.test` out"]),
        (
            "prod",
            ".test.svc.cluster.local:80",
            [
                "`worker-0.ptddp-worker.test.svc.cluster.local` will not resolve: "
                "the Framework is in the namespace `prod`: leave `.test.svc.cluster.local` out"
            ],
        ),
        (None, ".test.svc", []),  # It may be applied anywhere.
    ],
)
def test_another_namespace(namespace: str | None, rest: str, expected: list[str]) -> None:
    container = {"name": "c", "image": "a", "env": [{"name": "ADDRESS", "value": f"worker-0.ptddp-worker{rest}"}]}
    written = framework(role("worker", 3, spec={"containers": [container]}, service={}), name="ptddp")
    written["metadata"]["namespace"] = namespace
    assert [finding.message for finding in address_rules(context_of(written), repr(written))] == expected


def in_command(written: str, **fields: Any) -> list[str]:
    container = {"name": "c", "image": "a", "command": ["torchrun", written]}
    fields = {"service": {}, **fields}
    value = framework(role("worker", 3, spec={"containers": [container]}, **fields), name="ddp")
    return [finding.rule.code for finding in address_rules(context_of(value), repr(value))]


@pytest.mark.parametrize(
    "written",
    [
        "--rdzv-endpoint=ddp-worker-0:29400",
        "--rdzv-endpoint=ddp-worker-0.ddp-worker:29400",
        "--rdzv-endpoint=worker-0.ddp:29400",
        "--rdzv-endpoint=worker-3.ddp-worker:29400",
        "--master-addr=ddp-worker-0",
        "export MASTER_ADDR=ddp-worker-0; python train.py",
        "until nc -z worker-3.ddp-worker 22; do sleep 1; done",
        "tcp://{{FC_FRAMEWORK_NAME}}-worker-0:29400",
        "curl http://ddp-worker-0/x",
    ],
)
def test_in_a_command(written: str) -> None:
    assert in_command(written) == ["FC514"]


@pytest.mark.parametrize(
    "written",
    [
        "--rdzv-endpoint=worker-0.ddp-worker:29400",
        "--run-name=ddp-worker-0",
        "kubectl logs ddp-worker-0",
        "tee worker-0.ddp",
        "--out=/data/ddp-worker-0",
        "echo ddp-worker-0: done",
    ],
)
def test_no_host_in_a_command(written: str) -> None:
    assert in_command(written) == []


def test_a_command_of_a_role_without_a_service() -> None:
    assert in_command("--rdzv-endpoint=worker-0.ddp-worker:29400", service=None) == ["FC514"]


def test_a_service_that_somebody_else_makes() -> None:
    container = {"name": "c", "image": "a", "args": ["worker-0.ddp-worker:80"]}
    spec = {"containers": [container], "subdomain": "ddp-worker", "hostname": "worker-{{FC_TASK_INDEX}}"}
    written = framework(role("worker", 3, spec=spec), name="ddp")
    assert list(address_rules(context_of(written), repr(written))) == []


def test_a_role_without_a_service() -> None:
    assert found("worker-0.ptddp-worker", service=None) == ["FC514"]
