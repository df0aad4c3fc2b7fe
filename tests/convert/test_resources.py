"""What other documents and other jobs ask of converted jobs by their kind: rights, kubectl, the API, quotas, labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.convert.ledger import Entry
from tests.convert.operator import convert

GROUP = "frameworkcontroller.microsoft.com"
ALL = f"ask for `frameworks.{GROUP}`"
ONE = f"ask for `frameworks.{GROUP}/ptrun`"


def pytorch(*command: str) -> dict[str, Any]:
    container = {"name": "pytorch", "image": "h:1", "command": list(command)}
    spec = {
        "runPolicy": {"cleanPodPolicy": "Running"},
        "pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}},
    }
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "pt-run"}, "spec": spec}


def told(*objects: dict[str, Any]) -> list[Entry]:
    """Return what is told of a PyTorchJob `pt-run` and of objects beside it."""
    conversion = convert("---\n".join(f"{json.dumps(one)}\n" for one in (pytorch("true"), *objects)))
    assert conversion.jobs[0].made is not None
    return [entry for account in conversion.accounts for entry in account.different]


def script(text: str) -> list[Entry]:
    return told({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"run.sh": text}})


def rules(*found: dict[str, Any]) -> list[Entry]:
    return told({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}, "rules": list(found)})


OLD = {"apiGroups": ["kubeflow.org"], "resources": ["tfjobs", "pytorchjobs"], "verbs": ["get", "create"]}
NEW = {"apiGroups": [GROUP], "resources": ["frameworks"], "verbs": ["get", "create", "list"]}


def test_rights_on_a_kind_are_none_on_frameworks() -> None:
    (entry,) = rules(OLD)
    assert entry.path == ("rules", 0, "resources", 1)
    assert entry.what == "it is about `pytorchjobs` of kubeflow.org, and converted jobs are none"
    assert entry.remedy == f"write such a rule for `frameworks` of `{GROUP}`"
    (entry,) = rules({**OLD, "resourceNames": ["pt-run"]})
    assert entry.remedy.endswith("with resourceNames `ptrun`")


@pytest.mark.parametrize(
    "rule",
    [
        {**OLD, "resources": ["pytorchjobs/status"]},
        {**OLD, "resources": ["*"]},
        {**OLD, "apiGroups": ["*"]},
    ],
)
def test_such_a_rule_is_told_too(rule: dict[str, Any]) -> None:
    assert len(rules(rule)) == 1


@pytest.mark.parametrize(
    "rule",
    [
        {**OLD, "resources": ["tfjobs", "notebooks"]},
        {**OLD, "apiGroups": ["batch", "example-kubeflow.org"]},
        {**OLD, "apiGroups": ["*"], "resources": ["*"]},
        {**OLD, "resourceNames": ["pt-other"]},
    ],
)
def test_a_rule_about_something_else_is_not_told(rule: dict[str, Any]) -> None:
    assert rules(rule) == []


def test_who_has_the_rights_on_frameworks_already_needs_nothing() -> None:
    assert rules(OLD, NEW) == []
    assert len(rules({**OLD, "verbs": ["delete"]}, NEW)) == 1


def test_rules_of_webhooks_are_told() -> None:
    rule = {"apiGroups": ["kubeflow.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pytorchjobs"]}
    webhook = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"}}
    (entry,) = told({**webhook, "webhooks": [{"name": "a.b.c", "rules": [rule]}]})
    assert entry.path == ("webhooks", 0, "rules", 0, "resources", 0)


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        ("kubectl wait --for=condition=Succeeded pytorchjob/pt-run", [f"{ONE}; its conditions are `Completed` and `Succeeded`"]),
        ("kubectl -n x delete pytorchjob pt-run", [ONE]),
        ("kubectl delete pytorchjobs.kubeflow.org pt-run --wait=false", [ONE]),
        ("oc get PyTorchJob/pt-run -o yaml | grep a", [ONE]),
        ("kubectl get -n ml \\\n  pytorchjobs.v1.kubeflow.org/pt-run", [ONE]),
        ("phase=$(kubectl get pods,pytorchjobs -o name)", [ALL]),
        ('kubectl get pytorchjob "$1"', [ALL]),
        ('kubectl delete "pytorchjob/$NAME"', [ALL]),
        ("curl https://k/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs/pt-run", [ONE]),
        ("curl $API/apis/kubeflow.org/v1/pytorchjobs?watch=1", [ALL]),
        ('api.list_namespaced_custom_object("kubeflow.org", "v1", "ml", plural="pytorchjobs")', [ALL]),
        ("kubectl get pytorchjob/pt-run; kubectl delete pytorchjob pt-run", [ONE]),
    ],
)
def test_a_script_that_asks_for_a_job_is_told(text: str, remedies: list[str]) -> None:
    assert [entry.remedy for entry in script(text)] == remedies


@pytest.mark.parametrize(
    "text",
    [
        "kubectl get tfjob/pt-run",
        "kubectl get pytorchjob/pt-other",
        "kubectl get pods -l app=pytorchjob",
        "kubectl get pods | grep pytorchjob",
        "kubectl exec x -- pytorchjob",
        "kubectl get crd pytorchjobs.kubeflow.org",
        "ls /data/pytorchjobs/pt-run",
        "one pytorchjob a day",
        "curl https://k/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs/pt-other",
    ],
)
def test_a_script_that_asks_for_something_else_is_not(text: str) -> None:
    assert script(text) == []


def test_arguments_of_kubectl_in_a_list() -> None:
    container = {
        "name": "k",
        "image": "k",
        "command": ["/bin/kubectl"],
        "args": ["wait", "--for", "condition=Succeeded", "pytorchjob/pt-run"],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    (entry,) = told(pod)
    assert (entry.path, entry.remedy) == (("spec", "containers", 0, "args"), f"{ONE}; its conditions are `Completed` and `Succeeded`")
    container |= {"args": ["logs", "pt-run-worker-0"]}
    (entry,) = told(pod)
    assert entry.path == ("spec", "containers", 0, "args", 1)
    assert "the name of the Pod (`ptrun-worker-0`)" in entry.remedy


def test_a_quota_counts_no_converted_job() -> None:
    (entry,) = told(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"count/pytorchjobs.kubeflow.org": 3}}}
    )
    assert entry.path == ("spec", "hard", "count/pytorchjobs.kubeflow.org")


def test_the_definition_of_a_kind_stays() -> None:
    spec = {"group": "kubeflow.org", "names": {"kind": "PyTorchJob", "plural": "pytorchjobs"}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "pytorchjobs.kubeflow.org"},
        "spec": spec,
    }
    assert told(definition) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("kubectl get pods -l training.kubeflow.org/job-name=pt-run", 1),
        ('kubectl logs --selector "training.kubeflow.org/job-name in (pt-run)"', 1),
        ("kubectl get pods -l training.kubeflow.org/job-name=$JOB", 1),
        ("kubectl get pods -l training.kubeflow.org/job-name=pt-other", 0),
        ("kubectl get pods -l app=training", 0),
    ],
)
def test_a_selector_in_a_script(text: str, count: int) -> None:
    assert len(script(text)) == count


def test_a_variable_that_reads_a_label_selects_nothing() -> None:
    job = pytorch("true")
    field = {"fieldRef": {"fieldPath": "metadata.labels['training.kubeflow.org/job-name']"}}
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["env"] = [{"name": "J", "valueFrom": field}]
    assert told_of(job) == []


def test_a_reference_to_a_job_is_told_and_is_no_job() -> None:
    reference = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "pt-run"}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": reference},
    }
    assert [entry.what for entry in told(scaler)] == ["it scales a job that is no more"]
    owned = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "ownerReferences": [{**reference, "uid": "1"}]}}
    (entry,) = told(owned)
    assert entry.remedy == f"refer to the Framework `ptrun` of `{GROUP}/v1`"
    owned["metadata"] = {"name": "c", "ownerReferences": [{**reference, "name": "pt-other"}]}
    assert told(owned) == []


def test_a_job_that_asks_for_jobs_is_told() -> None:
    (entry,) = told_of(pytorch("sh", "-c", "kubectl delete pytorchjob/pt-run"))
    assert entry.remedy == ONE
    (entry,) = told_of(pytorch("kubectl", "delete", "pytorchjob", "pt-run"))
    assert (entry.path[-1], entry.remedy) == ("command", ONE)
    (entry,) = told_of(pytorch("sh", "-c", "kubectl get pods -l training.kubeflow.org/job-name=pt-run"))
    assert "FC_FRAMEWORK_NAME" in entry.remedy


def told_of(job: dict[str, Any]) -> list[Entry]:
    (account,) = convert(json.dumps(job)).jobs
    return account.different
