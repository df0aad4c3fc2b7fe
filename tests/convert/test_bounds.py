"""What a small input may cost: counted, not timed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ruamel.yaml.emitter import Emitter

from fcompile.convert.draft import Draft
from fcompile.convert.ledger import MAX_ENTRIES
from fcompile.convert.names import Hosts, Task
from fcompile.convert.report import FORMATS, report
from fcompile.convert.write import write_framework
from fcompile.diagnostics.problem import Path, Span
from fcompile.load import Document
from tests.convert.operator import DATA, convert
from tests.reading import documents

JOB = (DATA / "jobs" / "jax.yaml").read_text("utf-8")


class Counted(str):
    """A text that counts the characters that are copied out of it."""

    copied = 0

    def __getitem__(self, key: Any) -> str:
        found = super().__getitem__(key)
        Counted.copied += len(found)
        return found


def test_each_name_in_a_text_is_rewritten_without_a_copy_of_the_text() -> None:
    hosts = Hosts("pt", None, {"pt-worker-": lambda index: Task("worker", index)})
    text = Counted("pt-worker-0 " * 1_000)
    assert hosts.rewrite(text) == "worker-0.pt-worker " * 1_000
    assert Counted.copied < 10 * len(text)


def test_of_many_jobs_of_one_name_three_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []
    locate = Document.locate

    def counted(self: Document, path: Path) -> Span:
        calls.append(path)
        return locate(self, path)

    monkeypatch.setattr(Document, "locate", counted)
    refused = convert("---\n".join([JOB] * 30)).refused
    assert len(refused) == 30
    assert "as that of job.yaml:1, job.yaml:" in refused[-1].reasons[0].text
    assert len(calls) <= 3 * 30


def _change(**spec: Any) -> str:
    return json.dumps({**(job := _jax()), "spec": {**job["spec"], **spec}})


def _jax() -> dict[str, Any]:
    (document,) = documents(JOB.encode(), "jax.yaml")
    found: dict[str, Any] = document.value
    return found


@pytest.mark.parametrize("form", FORMATS)
def test_of_very_many_fields_that_are_left_out_a_thousand_are_shown(form: str) -> None:
    conversion = convert(_change(foo=[1] * 5_000))
    (account,) = conversion.jobs
    counted = [entry.what for entry in account.different if entry.path == ()]
    assert len(account.different) == MAX_ENTRIES + 1
    assert counted == [f"{5_000 + len(convert(JOB).jobs[0].different) - MAX_ENTRIES:,} more of these are not shown"]
    assert sum(map(len, report(conversion, form, verbose=True))) < 500 * MAX_ENTRIES


def test_of_very_many_texts_that_name_a_job_a_thousand_are_shown() -> None:
    other = json.dumps({"apiVersion": "v1", "kind": "Peers", "peers": ["pax-lm-worker-1"] * 3_000})
    account = convert(f"{JOB}---\n{other}").accounts[1]
    assert [entry.what for entry in account.different][-1] == "2,000 more of these are not shown"


def _dumped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is written from now on."""
    written: list[str] = []

    def counted(draft: Draft) -> str:
        text = write_framework(draft)
        written.append(text)
        return text

    monkeypatch.setattr("fcompile.convert.conversion.write_framework", counted)
    return written


def test_variables_that_name_all_workers_in_many_containers_are_refused_before_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def job(containers: int) -> str:
        named = [{"name": name, "image": "x"} for name in ("xgboost", *map("c{}".format, range(containers - 1)))]
        replica = {"template": {"spec": {"containers": named}}}
        specs = {"Master": replica, "Worker": {"replicas": 9_000, **replica}}
        return json.dumps(
            {"apiVersion": "kubeflow.org/v1", "kind": "XGBoostJob", "metadata": {"name": "a"}, "spec": {"xgbReplicaSpecs": specs}}
        )

    written = _dumped(monkeypatch)
    for containers in (11, 401):
        (account,) = convert(job(containers)).refused
        assert "which is all that etcd takes" in account.reasons[0].text
    assert not written
    assert convert(job(1).replace("9000", "90")).jobs[0].made is not None


@pytest.mark.parametrize(
    ("parts", "containers", "said"),
    [(20, 3_000, "its Framework would have more"), (300, 1_000, "as init containers, `first`"), (2, 2, "")],
)
def test_many_jobs_that_wait_for_one_of_many_containers_are_refused(
    parts: int, containers: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replicated(name: str, count: int, **more: Any) -> dict[str, Any]:
        mounts = [{"name": "data", "mountPath": "/data"}]
        made = [{"name": f"{name}{number}", "image": "x", **({} if number else {"volumeMounts": mounts})} for number in range(count)]
        pod = {"restartPolicy": "Never", "volumes": [{"name": "data", "emptyDir": {}}], "containers": made}
        return {"name": name, "template": {"spec": {"template": {"spec": pod}}}, **more}

    needs = [{"name": "first", "status": "Complete"}]
    jobs = [replicated("first", containers), *(replicated(f"p{number}", 1, dependsOn=needs) for number in range(parts))]
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"}}
    text = json.dumps({**head, "spec": {"replicatedJobs": jobs}})
    written = _dumped(monkeypatch)
    reasons = [account.reasons[0].text for account in convert(text).refused]
    assert len(reasons) == bool(said)
    assert all(said in one for one in reasons)
    assert bool(written) is not bool(said)


def test_a_framework_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written = _dumped(monkeypatch)
    assert convert(JOB).text() == "".join(written)


def _with_workers(count: int) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "tensorflow", "image": "a"}]}}
    specs = {"PS": {"template": template}, "Worker": {"replicas": count, "template": template}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "a"}, "spec": {"tfReplicaSpecs": specs}}


def test_the_names_of_many_workers_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Hosts] = []
    init = Hosts.__init__

    def counted(hosts: Hosts, *args: Any, **more: Any) -> None:
        made.append(hosts)
        init(hosts, *args, **more)

    monkeypatch.setattr(Hosts, "__init__", counted)
    for count in (2, 200):
        made.clear()
        assert convert(json.dumps(_with_workers(count))).jobs[0].made is not None
        assert len(made) == 1


def test_long_strings_are_kept_from_the_writer_of_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    analyze = Emitter.analyze_scalar

    def noted(emitter: Emitter, text: str) -> Any:
        read.append(text)
        return analyze(emitter, text)

    monkeypatch.setattr(Emitter, "analyze_scalar", noted)
    text = convert(json.dumps(_with_workers(200))).text()
    assert max(map(len, read)) < 300
    assert text.count("worker-198.a-worker.{{FC_FRAMEWORK_NAMESPACE}}.svc:2222") == 3


@pytest.mark.parametrize("own", ["long0", "longx1 long0", "x" * 300 + "long1", "'\"" * 300 + ": #", "a\n" * 200, " " * 201, "y" * 1100])
def test_what_stands_for_a_long_string_is_no_text_of_the_users(own: str) -> None:
    job = _with_workers(200)
    container = job["spec"]["tfReplicaSpecs"]["PS"]["template"]["spec"]["containers"][0]
    container["args"] = [own, own]
    job["metadata"]["annotations"] = {"example.com/a": own}
    (made,) = [document.value for document in documents(convert(json.dumps(job)).text().encode(), "a")]
    assert made["spec"]["taskRoles"][0]["task"]["pod"]["spec"]["containers"][0]["args"] == [own, own]
    assert made["metadata"]["annotations"]["example.com/a"] == own
