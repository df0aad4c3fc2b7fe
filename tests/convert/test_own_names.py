"""Names of Pods that a script compares with its host name, or gives to kubectl: an address is wrong there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.convert.ledger import Entry
from fcompile.convert.names import Hosts, Task
from fcompile.convert.own_names import cuts_own_name, reads_own_name
from tests.convert.operator import convert
from tests.reading import documents

HOSTS = Hosts("ptddp", None, {"pt-ddp-worker-": lambda index: Task("worker", index)}, job="pt-ddp")
NAME = "pt-ddp-worker-0"


@pytest.mark.parametrize(
    "text",
    [
        'if [ "$(hostname)" = "{}" ]; then',
        '[ "{}" = "$(hostname)" ]',
        "[[ $HOSTNAME == {} ]]",
        '[[ "$HOSTNAME" =~ ^{}$ ]]',
        "test $(hostname) = {}",
        "[ $HOSTNAME != {} ]",
        "case $HOSTNAME in {}) x;; esac",
        'case $HOSTNAME in\n  "a"|"{}") x;;\nesac',
        'case "$(hostname)" in\n a) b ;;\n {} | c) x;; esac',
        "hostname | grep -q {}",
        'socket.gethostname() == "{}"',
        'if "{}" == socket.gethostname():',
        'os.environ["HOSTNAME"] in ("a", "{}")',
        'name.startswith("{}")',
        're.match(r"{}", name)',
        "kubectl logs {}",
        "kubectl logs pod/{}",
        "kubectl -n a exec -it {} -- ls",
        "kubectl cp {}:/a b",
        "kubectl logs \\\n  {}",
    ],
)
def test_what_is_compared_or_given_to_kubectl_stays(text: str) -> None:
    written = text.replace("{}", NAME)
    assert HOSTS.rewrite(written) == written
    assert HOSTS.compared(written) == {NAME: Task("worker", 0)}


@pytest.mark.parametrize(
    "text",
    [
        "--master={}:80",
        'MASTER = "{}"',
        "ping {}",
        "http://{}/x",
        'for h in ["a", "{}"]: connect(h); gethostname()',
        "for h in a {}; do ssh $h; done",
        "(ssh {})",
        "case x in a) ssh {};; esac",
        "$(getent hosts {})",
        "kubectl exec a -- curl http://{}/",
        "kubectl get po; ping {}",
        "x == y; ssh {}",
        'init_process_group("tcp://{}:80")',
        'export MASTER_ADDR={}\nif [ "$RANK" = 0 ]; then',
        "grep {} /etc/hosts",
    ],
)
def test_an_address_is_rewritten(text: str) -> None:
    assert HOSTS.rewrite(text.replace("{}", NAME)) == text.replace("{}", "worker-0.ptddp-worker")
    assert HOSTS.compared(text.replace("{}", NAME)) == {}


@pytest.mark.parametrize(
    "text", ["echo $(hostname)", "echo $HOSTNAME", "${HOSTNAME%-*}", "gethostname()", "os.environ['POD_NAME']", "uname -n"]
)
def test_a_script_that_reads_its_host_name(text: str) -> None:
    assert reads_own_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "${HOSTNAME##*-}",
        "${HOSTNAME: -1}",
        "--hostname=x",
        "hostname: x",
        "hostname -i",
        "hostname | awk -F- '{print $NF}'",
        "$(hostname | grep -o '[0-9]*$')",
        'gethostname().split("-")[-1]',
        "echo ${HOSTNAME} | sed 's/.*-//'",
    ],
)
def test_the_index_at_the_end_is_the_same_here(text: str) -> None:
    assert not reads_own_name(text)


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("hostname | cut -d- -f4", True),
        ("echo $HOSTNAME | cut -f 4 -d -", True),
        ("socket.gethostname().split('-')[3]", True),
        ("hostname | awk -F- '{print $4}'", True),
        ("hostname | cut -c1", False),
        ("gethostname().split('-')[-1]", False),
    ],
)
def test_a_part_of_the_host_name_by_its_place(text: str, cuts: bool) -> None:
    assert cuts_own_name(text) == cuts


def made_of(*containers: dict[str, Any]) -> tuple[list[dict[str, Any]], list[Entry], list[str]]:
    """Return the containers of the worker of a job, what is told of their texts, and the notes."""
    first = {"name": "pytorch", "image": "a"}
    spec = {"containers": [first, *({"name": f"c{number}", "image": "a", **one} for number, one in enumerate(containers))]}
    specs = {kind: {"template": {"spec": spec if kind == "Worker" else {"containers": [first]}}} for kind in ("Master", "Worker")}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "pt-ddp"}, "spec": {"pytorchReplicaSpecs": specs}}
    conversion = convert(json.dumps(job))
    (account,) = conversion.jobs
    assert account.made is not None
    (made,) = [document.value for document in documents(conversion.text().encode(), "a")]
    told = [entry for entry in account.different if "containers" in entry.path]
    return made["spec"]["taskRoles"][1]["task"]["pod"]["spec"]["containers"][1:], told, account.made.remarks


def test_a_script_that_compares_is_told_with_what_to_write() -> None:
    script = 'if [ "$(hostname)" = "pt-ddp-master-0" ]; then ping pt-ddp-worker-0; fi'
    (container,), (entry,), remarks = made_of({"command": ["sh", "-c", script]})
    assert container["command"][2] == script.replace("pt-ddp-worker-0", "worker-0.ptddp-worker")
    assert entry.what.startswith("`pt-ddp-master-0`: ")
    assert entry.remedy == "write the host name (`master-0`) or the name of the Pod (`ptddp-master-0`), whichever is meant"
    (note,) = [
        remark for remark in remarks if remark.startswith("The script at spec.pytorchReplicaSpecs.Worker.template.spec.containers[1]")
    ]
    assert note.endswith("look whether each is one")


def test_each_place_has_a_comment() -> None:
    script = {"command": ["sh", "-c", "kubectl logs pt-ddp-worker-0"]}
    first = {"name": "pytorch", "image": "a"}
    spec = {"containers": [first, {"name": "b", "image": "a", **script}, {"name": "c", "image": "a", **script}]}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "pt-ddp"}}
    text = convert(json.dumps({**job, "spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": spec}}}}})).text()
    assert [f"containers[{number}].command[2]: `{NAME}`" in text for number in (1, 2)] == [True, True]


def test_arguments_of_kubectl_stay() -> None:
    (container,), (entry,), _ = made_of({"command": ["/usr/bin/kubectl"], "args": ["logs", NAME]})
    assert container["args"] == ["logs", NAME]
    assert entry.path[-2:] == ("args", 1)


def test_a_host_name_that_is_compared_with_a_variable() -> None:
    script = {"command": ["sh", "-c", '[ "$HOSTNAME" = "$FIRST" ] && prepare'], "env": [{"name": "FIRST", "value": "pt-ddp-master-0"}]}
    (container,), (entry,), _ = made_of(script)
    assert container["env"][0]["value"] == "master-0.ptddp-master"
    assert entry.path[-2:] == ("command", 2)
    assert "reads its own name" in entry.what


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("[[ $HOSTNAME == *-worker-0 ]]", True),
        ("case $HOSTNAME in pt-ddp-m*) x;; esac", True),
        ("echo ${HOSTNAME#pt-ddp-}", True),
        ("[[ $HOSTNAME == worker-* ]]", True),
        ("cp x s3://b/pt-ddp-data/; echo $HOSTNAME", False),
    ],
)
def test_a_pattern_of_host_names(script: str, told: bool) -> None:
    _, entries, _ = made_of({"command": ["sh", "-c", script]})
    assert bool(entries) == told


POD_NAME = {"name": "SELF", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}


@pytest.mark.parametrize(
    "script",
    [
        "if [[ $(hostname) =~ -master-0$ ]]; then x; fi",
        "hostname | grep -q -- -master- && x",
        'hostname | grep -q "^pt-ddp"',
        """python -c 'print("-master-" in socket.gethostname()) or x'\ny = socket.gethostname()""",
        'if os.environ["HOSTNAME"].endswith("-master-0"): x()',
        "RANK=${HOSTNAME:14}",
        "MASTER=${HOSTNAME%-worker-*}-master-0",
        'MASTER=$(hostname | sed "s/worker-.*/master-0/")',
        'os.environ["HOSTNAME"].rsplit("-",2)[0]',
        "echo $(hostname) slots=8 >> /shared/hostfile",
        "echo $(hostname) | tee /shared/a",
        "torchrun --rdzv_endpoint=$POD_NAME:29500",
        "ray start --node-ip-address=$SELF",
        "ray start --node-ip-address=$(SELF)",
        "python -c 'import os; start(os.environ[\"SELF\"])'",
    ],
)
def test_what_is_done_with_its_own_name_is_told(script: str) -> None:
    _, entries, _ = made_of({"command": ["bash", "-c", script], "env": [POD_NAME]})
    assert [entry for entry in entries if "own name" in entry.what or "host name" in entry.what]


@pytest.mark.parametrize(
    "script",
    [
        'echo "this is $(hostname)"; train',
        "set -e\necho $POD_NAME >&2\ntrain",
        "if true; then echo $(hostname); fi",
        'logging.info("on %s", socket.gethostname())',
        'print(f"{socket.gethostname()} begins")',
        "echo ${SELF}",
        "RANK=${HOSTNAME##*-} train",
        "--rank=${SELF##*-}",
        "getent hosts $(hostname -i)",
    ],
)
def test_what_is_only_printed_or_an_index_is_the_same(script: str) -> None:
    _, entries, _ = made_of({"command": ["bash", "-c", script], "env": [POD_NAME]})
    assert entries == []


def test_its_own_name_in_another_variable_is_told() -> None:
    _, (entry,), _ = made_of({"env": [POD_NAME, {"name": "RDZV_ENDPOINT", "value": "$(SELF):29500"}]})
    assert entry.path[-3:] == ("env", 1, "value")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("--master_addr=${JOB_NAME}-master-0", True),
        ("--master_addr=$(JOB_NAME)-master-0", True),
        ("kubectl logs $JOB_NAME-worker-0", True),
        ('host = f"{job}-worker-{rank}"', True),
        ('host = job + "-worker-" + str(rank)', True),
        ("--run=${JOB_NAME}-workers-0", False),
        ("tar -xf $DATA-master.tar", False),
    ],
)
def test_a_name_that_begins_with_a_variable_is_told(script: str, told: bool) -> None:
    _, entries, _ = made_of({"args": [script]})
    assert ["put together" in entry.what for entry in entries] == [True] * told


def test_a_name_below_the_subdomain_of_a_job_set_is_told() -> None:
    container = {"name": "a", "image": "a", "command": ["sh", "-c", "ping $JOB-0.pre-io"]}
    jobs = [{"name": "work", "template": {"spec": {"parallelism": 2, "completions": 2, "template": {"spec": {"containers": [container]}}}}}]
    source = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "pre-io"}, "spec": {"replicatedJobs": jobs}}
    (account,) = convert(json.dumps(source)).jobs
    assert [entry for entry in account.different if "put together" in entry.what]


def test_an_index_that_is_another_in_a_role_of_its_own_is_told() -> None:
    container = {"name": "tensorflow", "image": "a", "command": ["sh", "-c", "train --shard ${HOSTNAME##*-}"]}
    replicas = {"Worker": {"replicas": 3, "template": {"spec": {"containers": [container]}}}}
    source = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "tf"}, "spec": {"tfReplicaSpecs": replicas}}
    (account,) = convert(json.dumps(source)).jobs
    (entry,) = [entry for entry in account.different if entry.path[-2:] == ("command", 2)]
    assert "`{{FC_TASK_INDEX+1}}`" in entry.remedy


@pytest.mark.parametrize(
    ("variable", "value", "asked"),
    [("WANDB_NAME", NAME, True), ("MASTER_ADDR", NAME, False), ("A", f"{NAME}:80", False), ("A", f"http://{NAME}/x", False)],
)
def test_a_variable_that_may_be_no_address_is_to_be_looked_at(variable: str, value: str, asked: bool) -> None:
    _, _, remarks = made_of({"env": [{"name": variable, "value": value}]})
    assert bool([remark for remark in remarks if f"variable `{variable}`" in remark]) == asked


def test_a_part_of_the_host_name_is_told() -> None:
    _, (entry,), _ = made_of({"command": ["sh", "-c", "RANK=$(hostname | cut -d- -f4)"]})
    assert "by its place" in entry.what


def test_an_argument_that_is_rewritten_needs_no_look() -> None:
    _, entries, remarks = made_of({"args": ["--master=pt-ddp-master-0:80"]})
    assert entries == []
    assert not [remark for remark in remarks if "script" in remark]


def test_what_another_document_compares_is_told() -> None:
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "JAXJob",
        "metadata": {"name": "a-b"},
        "spec": {"jaxReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "jax", "image": "a"}]}}}}},
    }
    script = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"run.sh": "kubectl logs a-b-worker-0"}}
    (_, account) = convert(f"{json.dumps(job)}\n---\n{json.dumps(script)}").accounts
    (entry,) = account.different
    assert "`ab-worker-0`" in entry.remedy


def test_a_runtime_that_compares_is_told_at_its_reference() -> None:
    container = {"name": "node", "image": "a", "command": ["sh", "-c", "kubectl logs run-a-node-0-0"]}
    template = {
        "spec": {"template": {"spec": {"containers": [container]}}},
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
    }
    runtime = {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [{"name": "node", "template": template}]}}}
    group = "trainer.kubeflow.org/v1alpha1"
    items = [
        {"apiVersion": group, "kind": "TrainJob", "metadata": {"name": "run-a"}, "spec": {"runtimeRef": {"name": "r"}}},
        {"apiVersion": group, "kind": "ClusterTrainingRuntime", "metadata": {"name": "r"}, "spec": runtime},
    ]
    (account,) = convert(json.dumps({"apiVersion": "v1", "kind": "List", "items": items})).jobs
    (entry,) = [one for one in account.different if "kubectl" in one.what]
    assert entry.path == ("spec", "runtimeRef")
