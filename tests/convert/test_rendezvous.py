"""torch hosts the store of a c10d rendezvous in the Pod whose host name the endpoint names: here that is an address, and no host name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.convert.conversion import Account
from tests.convert.operator import convert

C10D = ["torchrun", "--rdzv_backend=c10d"]
FOUND = "which Pod hosts the c10d store"


def _account(job: dict[str, Any]) -> Account:
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    return account


def _job(command: list[str], *, kinds: tuple[str, ...] = ("Master", "Worker"), pod: Any = None, **container: Any) -> dict[str, Any]:
    main = {"name": "pytorch", "image": "a", "command": command, **container}
    template = {"spec": {"containers": [main], **(pod or {})}}
    replicas = {kind: {"replicas": 1 if kind == "Master" else 2, "template": template} for kind in kinds}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "pt-run"},
        "spec": {"pytorchReplicaSpecs": replicas},
    }


def _told(account: Account) -> list[str]:
    return [".".join(map(str, entry.path)).removeprefix("spec.") for entry in account.different if FOUND in entry.what]


def _said(account: Account) -> dict[str, str]:
    """Return by role what PET_RDZV_CONF says."""
    assert account.made is not None
    containers = {role.name: role.template["spec"]["containers"][0] for role in account.made.roles}
    return {role: one["value"] for role, main in containers.items() for one in main["env"] if one["name"] == "PET_RDZV_CONF"}


@pytest.mark.parametrize(
    "command",
    [
        [*C10D, "--rdzv_endpoint=$(MASTER_ADDR):29400", "t.py"],
        ["torchrun", "--rdzv-backend", "c10d", "--rdzv-endpoint", "pt-run-master-0:29400", "t.py"],
        ["bash", "-c", 'exec torchrun --rdzv_backend \\\n  c10d --rdzv_endpoint="${MASTER_ADDR}:$MASTER_PORT" t.py'],
        ["python", "-m", "torch.distributed.run", "--rdzv_backend=c10d", "--rdzv_endpoint=$(PET_MASTER_ADDR)", "t.py"],
    ],
)
def test_a_master_of_which_the_endpoint_has_the_name_is_said_to_be_the_host(command: list[str]) -> None:
    account = _account(_job(command))
    assert (_said(account), _told(account)) == ({"master": "is_host=true"}, [])
    assert account.made is not None
    assert any("PET_RDZV_CONF" in remark for remark in account.made.remarks)


def test_the_variables_of_torch_count_as_its_options_do() -> None:
    variables = {"PET_RDZV_BACKEND": "c10d", "MEETING": "$(MASTER_ADDR):29400", "PET_RDZV_ENDPOINT": "$(MEETING)"}
    env = [{"name": name, "value": value} for name, value in variables.items()]
    account = _account(_job(["torchrun", "t.py"], env=env))
    assert (_said(account), _told(account)) == ({"master": "is_host=true"}, [])
    account = _account(_job(["python", "t.py"], env=env))
    assert (_said(account), _told(account)) == ({}, ["pytorchReplicaSpecs.Master.template.spec.containers.0.env.0"])


MASTER = "pytorchReplicaSpecs.Master.template.spec.containers.0"
ENDPOINT = "--rdzv_endpoint=$(MASTER_ADDR):29400"


@pytest.mark.parametrize(
    ("command", "container", "told"),
    [
        ([*C10D, ENDPOINT, "--rdzv_conf=timeout=9", "t.py"], {}, "command.1"),
        ([*C10D, ENDPOINT, "t.py"], {"env": [{"name": "PET_RDZV_CONF", "value": "timeout=9"}]}, "command.1"),
        ([*C10D, ENDPOINT, "t.py"], {"envFrom": [{"configMapRef": {"name": "a"}}]}, "command.1"),
        (["accelerate", "launch", "--rdzv_backend=c10d", ENDPOINT, "t.py"], {}, "command.2"),
        (["sh", "-c", "torchrun --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR a& torchrun --rdzv_backend=c10d b"], {}, "command.2"),
        (["sh", "-c"], {"args": ["torchrun --standalone a; torchrun --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR b"]}, "args.0"),
    ],
)
def test_what_is_not_certain_is_told_where_the_backend_is_said(command: list[str], container: dict[str, Any], told: str) -> None:
    account = _account(_job(command, **container))
    assert _told(account) == [f"{MASTER}.{told}"]
    assert "is_host=true" not in _said(account).values()
    (entry,) = [entry for entry in account.different if FOUND in entry.what]
    assert "`master-0.ptrun-master`" in entry.why
    assert "is_host=true" in entry.remedy


def test_each_meeting_of_a_script_is_looked_at() -> None:
    script = "torchrun --rdzv_backend=c10d --rdzv_endpoint=localhost:0 a; torchrun --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR b"
    account = _account(_job(["sh", "-c", script]))
    assert (_said(account), _told(account)) == ({}, [f"{MASTER}.command.2"])


@pytest.mark.parametrize("name", ["BACKEND", "OTHER"])
def test_a_backend_that_is_known_only_when_it_runs_may_be_c10d(name: str) -> None:
    account = _account(_job(["torchrun", f"--rdzv_backend=$({name})", ENDPOINT, "t.py"], env=[{"name": "BACKEND", "value": "c10d"}]))
    assert (_said(account), _told(account)) == ({"master": "is_host=true"}, []), "other backends do not read it"


def test_an_option_counts_more_than_an_elastic_policy() -> None:
    job = _job(["torchrun", "--rdzv_backend=static", "t.py"], kinds=("Worker",))
    job["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 2}
    assert _told(_account(job)) == []


def test_values_that_name_each_other_again_and_again_are_not_written_out() -> None:
    env = [{"name": "A", "value": "$(B)" * 70}, {"name": "B", "value": "$(A)" * 70}, {"name": "C", "value": "$(A)" * 100_000}]
    for endpoint in ("$(A)", "$(C)", "$(A)" * 1_000):
        account = _account(_job([*C10D, f"--rdzv_endpoint={endpoint}", "t.py"], env=env))
        assert len(_told(account)) == 2


def test_an_endpoint_that_is_not_known_is_told_in_each_role() -> None:
    for endpoint in ("$RDZV_HOST:29400", "$(hostname):29400", "$MASTER_ADDR:29400"):
        account = _account(_job(["sh", "-c", f"MASTER_ADDR=$(cat /a); torchrun --rdzv_backend=c10d --rdzv_endpoint={endpoint} t.py"]))
        assert (_said(account), _told(account)) == ({}, [f"{MASTER}.command.2", f"{MASTER.replace('Master', 'Worker')}.command.2"])


def test_a_master_whose_program_is_not_seen_is_told_at_the_workers() -> None:
    job = _job([*C10D, ENDPOINT, "t.py"])
    replicas = json.loads(json.dumps(job["spec"]["pytorchReplicaSpecs"]))
    replicas["Master"]["template"]["spec"]["containers"][0]["command"] = ["/run.sh"]
    job["spec"]["pytorchReplicaSpecs"] = replicas
    account = _account(job)
    assert (_said(account), _told(account)) == ({}, [f"{MASTER.replace('Master', 'Worker')}.command.1"])
    replicas["Master"]["template"]["spec"]["hostNetwork"] = True
    assert _told(_account(job)) == [], "there too its host name is the node's"


@pytest.mark.parametrize(
    ("command", "pod"),
    [
        (["torchrun", "--rdzv_backend=static", ENDPOINT, "t.py"], {}),
        (["torchrun", "--rdzv_backend=etcd-v2", ENDPOINT, "t.py"], {}),
        (["torchrun", "--standalone", "t.py"], {}),
        (["sh", "-c", "BACKEND=static; torchrun --rdzv_backend=static --rdzv_endpoint=$MASTER_ADDR t.py"], {}),
        ([*C10D, "t.py"], {}),
        ([*C10D, "--rdzv_endpoint=localhost:0", "t.py"], {}),
        ([*C10D, "--rdzv_endpoint=[::1]:29400", "t.py"], {}),
        ([*C10D, "--rdzv_endpoint=meeting.example.com:29400", "t.py"], {}),
        ([*C10D, "--rdzv_endpoint=pt-run-master-0.ml.svc.cluster.local:29400", "t.py"], {}),
        ([*C10D, ENDPOINT, "--rdzv_conf", "timeout=9,is_host=$IS_HOST", "t.py"], {}),
        ([*C10D, ENDPOINT, "t.py"], {"hostNetwork": True}),
    ],
)
def test_what_torch_sees_there_as_here_stays_as_it_is(command: list[str], pod: dict[str, Any]) -> None:
    account = _account(_job(command, pod=pod))
    assert (_said(account), _told(account)) == ({}, [])


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({}, "elasticPolicy"),
        ({"rdzvBackend": "c10d", "rdzvHost": "pt-run-worker-0"}, "elasticPolicy.rdzvBackend"),
        ({"rdzvBackend": "etcd-v2", "rdzvHost": "etcd"}, None),
        ({"rdzvHost": "pt-run-worker-0.ml.svc.cluster.local"}, None),
        ({"rdzvConf": [{"key": "timeout", "value": "900"}]}, "elasticPolicy"),
        ({"rdzvConf": [{"key": "is_host", "value": "true"}]}, None),
    ],
)
def test_the_first_worker_of_an_elastic_job_is_told_to_be_no_host(policy: dict[str, Any], told: str | None) -> None:
    job = _job(["torchrun", "t.py"], kinds=("Worker",))
    job["spec"]["elasticPolicy"] = {"minReplicas": 1, "maxReplicas": 2, **policy}
    account = _account(job)
    assert _told(account) == ([told] if told else [])
    if told:
        (entry,) = [entry for entry in account.different if FOUND in entry.what]
        assert "`worker-0.ptrun-worker.NAMESPACE.svc.cluster.local`" in entry.remedy
        assert f"# Different: spec.{told}: {entry.what}" in convert(json.dumps(job)).text()
