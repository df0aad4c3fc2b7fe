"""Files in, documents out: what passes through, what collides, what refers to a job, and the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fcompile.cli import main
from fcompile.convert import conversion as conversion_module
from fcompile.convert.draft import Draft
from fcompile.convert.report import report
from fcompile.convert.write import write_framework
from fcompile.diagnostics.problem import Path as FieldPath
from tests.convert.operator import DATA, convert
from tests.reading import documents

JOB = (DATA / "jobs" / "jax.yaml").read_text("utf-8")
NAMED = """\
apiVersion: v1
kind: ConfigMap   # its comment stays
metadata: {name: peers}
data:
  peer: pax-lm-worker-1.research.svc:7000
"""
POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: peers}
spec:
  podSelector:
    matchLabels: {training.kubeflow.org/job-name: pax-lm}
"""


def test_others_pass_through_and_what_they_say_of_a_job_is_told() -> None:
    conversion = convert(f"{NAMED}---\n{JOB}---\n{POLICY}")
    assert conversion.text().startswith(f"---\n{NAMED}---\n")
    assert conversion.text().endswith(f"---\n{POLICY}")
    found = [
        (account.kind, entry.path, entry.remedy) for account in conversion.accounts if account.made is None for entry in account.different
    ]
    assert found == [
        ("ConfigMap", ("data", "peer"), "write `worker-1.paxlm-worker` for `pax-lm-worker-1`"),
        (
            "NetworkPolicy",
            ("spec", "podSelector", "matchLabels", "training.kubeflow.org/job-name"),
            "select by FC_FRAMEWORK_NAME, FC_TASKROLE_NAME and FC_TASK_INDEX",
        ),
    ]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_no_report_has_the_text_of_a_secret(form: str) -> None:
    secret = """\
apiVersion: v1
kind: Secret
metadata: {name: s}
stringData:
  url: postgres://admin:hunter2@pax-lm-worker-0:5432/db
  label: training.kubeflow.org/hunter2
"""
    conversion = convert(f"{JOB}---\n{secret}")
    said = "".join(report(conversion, form, verbose=True))
    assert "hunter2" not in said
    (entry,) = conversion.accounts[1].different
    assert entry.remedy == "write `worker-0.paxlm-worker` for `pax-lm-worker-0`"


def test_of_many_names_in_a_text_three_are_shown() -> None:
    other = NAMED.replace("pax-lm-worker-1.research.svc:7000", " ".join(f"pax-lm-worker-{index}" for index in range(4)))
    (entry,) = convert(f"{JOB}---\n{other}").accounts[1].different
    assert entry.remedy.endswith("for `pax-lm-worker-2` and so on for 1 more")


def test_a_job_within_another_object_is_told() -> None:
    inner = "\n".join(f"    {line}" for line in JOB.splitlines())
    wrapped = f"apiVersion: example.com/v1\nkind: AppWrapper\nmetadata: {{name: w}}\nspec:\n  job:\n{inner}\n"
    (account,) = convert(wrapped).accounts
    assert [(entry.path, entry.what) for entry in account.different] == [(("spec", "job"), "the job within it is not converted")]


def test_a_list_of_kubectl() -> None:
    items = [json.loads((DATA / "kubeflow.json").read_text("utf-8"))["cases"][index]["job"] for index in (0, 4)]
    conversion = convert(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert [account.made and account.made.name for account in conversion.jobs] == ["ptddp", "xgthree"]
    assert conversion.jobs[1].entries[0].path == ("apiVersion",)


def test_each_framework_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def counted(draft: Draft) -> str:
        written.append(draft.name)
        return write_framework(draft)

    monkeypatch.setattr(conversion_module, "write_framework", counted)
    assert len(convert("---\n".join(JOB.replace("pax-lm", f"pax-{name}") for name in "abc")).jobs) == 3
    assert written == ["paxa", "paxb", "paxc"]


@pytest.mark.parametrize(
    "other",
    [
        JOB.replace("pax-lm", "paxlm"),
        "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {name: paxlm, namespace: research}\n",
    ],
)
def test_two_of_one_name_are_refused(other: str) -> None:
    conversion = convert(f"{JOB}---\n{other}")
    assert conversion.refused
    assert "would be named `paxlm`" in conversion.refused[0].reasons[0].text


@pytest.mark.parametrize(("name", "namespace", "refused"), [("same", "", True), ("other", "", False), ("same", "elsewhere", False)])
def test_a_config_map_that_comes_with_a_framework_is_there_once(name: str, namespace: str, refused: bool) -> None:
    job = (DATA / "jobs" / "mpi-gpu.yaml").read_text("utf-8")
    (config,) = [document for document in convert(job).text().split("---\n") if "kind: ConfigMap" in document]
    own = config.split("\ndata:")[0]
    (made,) = [line.split()[-1] for line in own.splitlines() if line.startswith("  name: ")]
    if name == "other":
        own = own.replace(f"name: {made}", "name: other")
    if namespace:
        own = "\n".join(line for line in own.splitlines() if "namespace:" not in line) + f"\n  namespace: {namespace}"
    conversion = convert(f"{job}---\n{own}\n")
    found = [account.reasons[0].text for account in conversion.refused]
    assert bool(found) == refused
    assert all(f"comes a ConfigMap `{made}`, and job.yaml:" in text for text in found)


def test_other_versions_are_refused() -> None:
    (account,) = convert(JOB.replace("kubeflow.org/v1", "kubeflow.org/v1beta1")).refused
    assert "kubeflow.org/v1" in account.reasons[0].text


@pytest.mark.parametrize(
    "version", ["notkubeflow.org/v1", "kubeflow.org.example.com/v1", "my-kubeflow.org/v1", "notjobset.x-k8s.io/v1alpha2"]
)
def test_a_group_that_only_ends_like_kubeflows_is_somebody_elses(version: str) -> None:
    job = JOB.replace("kubeflow.org/v1", version)
    conversion = convert(job)
    assert conversion.accounts == []
    assert conversion.text() == f"---\n{job}"


def test_what_such_a_group_says_of_a_job_is_told() -> None:
    other = "apiVersion: notkubeflow.org/v1\nkind: Peers\nmetadata: {name: a}\nspec: {peer: pax-lm-worker-1.research}\n"
    assert [account.kind for account in convert(f"{JOB}---\n{other}").accounts] == ["JAXJob", "Peers"]
    own = other.replace("notkubeflow.org", "trainer.kubeflow.org")
    assert [account.kind for account in convert(f"{JOB}---\n{own}").accounts] == ["JAXJob"]


@pytest.mark.parametrize(
    ("written", "misspelt", "line", "reason"),
    [
        ("jaxReplicaSpecs", "jaxReplicaSpec", 7, "the operator has no field `jaxReplicaSpec`: did you mean `jaxReplicaSpecs`?"),
        ("kind: JAXJob", "kind: JaxJob", 2, "there is no such kind: did you mean `JAXJob`?"),
        ("kind: JAXJob", "kind: JAXJbo", 2, "there is no such kind: did you mean `JAXJob`?"),
        ("kind: JAXJob", "kind: MXNetJob", 2, "`convert` does not know MXNetJob"),
        ("kubeflow.org/v1", "kubeflow/v1", 1, "there is no API `kubeflow/v1`: write `kubeflow.org/v1`"),
        ("kubeflow.org/v1", "kubeflow.og/v1", 1, "there is no API `kubeflow.og/v1`: write `kubeflow.org/v1`"),
        ("apiVersion: kubeflow.org/v1\n", "", 1, "it has no apiVersion: write `kubeflow.org/v1`"),
        ("kubeflow.org/v1", "kubeflow.org/v1beta2", 1, "this is kubeflow.org/v1beta2: rewrite the job for kubeflow.org/v1, then convert"),
        ("replicas: 4", "replica: 4", 9, "the operator has no field `replica`: did you mean `replicas`?"),
        ("replicas: 4", "taskNumber: 4", 9, "the operator has no field `taskNumber` here: it is `replicas`"),
        ("replicas: 4", "backoffLimit: 4", 9, "the operator has no field `backoffLimit` here: it is `spec.runPolicy.backoffLimit`"),
        ("restartPolicy: OnFailure", "restartPolicy: onFailure", 10, "did you mean `OnFailure`?"),
        ("containers:", "contaners:", 13, "the operator has no field `contaners`: did you mean `containers`?"),
        ("        spec:", "        sepc:", 12, "the operator has no field `sepc`: did you mean `spec`?"),
        ("spec:", "sepc:", 6, "the operator has no field `sepc`: did you mean `spec`?"),
        ("metadata:", "metdata:", 3, "the operator has no field `metdata`: did you mean `metadata`?"),
        ("  name: pax-lm", "  nam: pax-lm", 4, "the operator has no field `nam`: did you mean `name`?"),
        ("Worker:", "Workers:", 8, "the operator has no such type of replicas: did you mean `Worker`?"),
        (
            "spec:",
            "spec:\n  cleanPodPolicy: All",
            7,
            "the operator has no field `cleanPodPolicy` here: it is `spec.runPolicy.cleanPodPolicy`",
        ),
        (
            "spec:",
            "spec:\n  runPolicy: {ttlSecondsAfterFinish: 3}",
            7,
            "the operator has no field `ttlSecondsAfterFinish`: did you mean `ttlSecondsAfterFinished`?",
        ),
        (
            "containers:",
            "volums:\n          - {name: a}\n          containers:",
            13,
            "the Framework would have an error, FC101 at spec.taskRoles[0].task.pod.spec.volums: `spec` has no field `volums`:"
            " did you mean `volumes`?",
        ),
        ("name: pax-lm", "name: YES", 4, "it must be a string, and without quotes YAML reads this one as true"),
        ("name: pax-lm", "name: 8", 4, 'it must be a string: write "8"'),
    ],
)
def test_what_is_misspelt_is_named(written: str, misspelt: str, line: int, reason: str) -> None:
    conversion = convert(JOB.replace(written, misspelt, 1))
    (account,) = conversion.refused
    assert [(account.span(one.path, one.part).line, one.text) for one in account.reasons] == [(line, reason)]


def test_all_mistakes_of_a_job_are_told_at_once() -> None:
    job = JOB.replace("name: pax-lm", "name: Pax").replace("Worker:", "Workers:").replace("replicas: 4", "replica: 4")
    job = job.replace("imagePullPolicy: Always", "imagePullPolicy: Sometimes").replace("spec:", "spec:\n  runPolicy: {backoffLimit: a}", 1)
    (account,) = convert(job).refused
    found = [(account.span(reason.path, reason.part).line, reason.path[-1]) for reason in account.reasons]
    assert found == [(4, "name"), (7, "backoffLimit"), (9, "Workers"), (10, "replica"), (18, "imagePullPolicy")]


@pytest.mark.parametrize(
    ("name", "number"), [("mpi-operator", "replicas: 2"), ("pytorch-elastic", "containerPort: 29500"), ("jax", "replicas: 4")]
)
def test_a_wrong_number_hides_no_mistake_beside_it(name: str, number: str) -> None:
    text, (key, _, count) = (DATA / "jobs" / f"{name}.yaml").read_text("utf-8"), number.partition(": ")
    text = text.replace(number, f'{key}: "{count}"', 1).replace("  image:", "  imagePullpolicy: Always\n            image:", 1)
    (account,) = convert(text).refused
    assert {reason.path[-1] for reason in account.reasons} == {key, "imagePullpolicy"}


def test_a_number_in_quotes_counts_when_other_mistakes_are_looked_for() -> None:
    text = (DATA / "jobs" / "jobset.yaml").read_text("utf-8")
    (account,) = convert(text.replace("parallelism: 3", 'parallelism: "3"')).refused
    assert [reason.path[-1] for reason in account.reasons] == ["parallelism"]


def test_more_completions_than_run_at_once_are_told_alone() -> None:
    text = (DATA / "jobs" / "jobset.yaml").read_text("utf-8")
    (account,) = convert(
        text.replace("completions: 3", "completions: 10").replace("image:", "imagePullpolicy: Always\n              image:", 1)
    ).refused
    assert [reason.path[-1] for reason in account.reasons] == ["imagePullpolicy", "completions"]
    assert "10 of which 3 run" in account.reasons[1].text


def test_what_follows_from_a_mistake_is_not_told() -> None:
    (account,) = convert(JOB.replace("jaxReplicaSpecs", "jaxReplicas").replace("name: jax", "name: other")).refused
    assert [reason.path for reason in account.reasons] == [
        ("spec", "jaxReplicas"),
        ("spec", "jaxReplicas", "Worker", "template", "spec", "containers"),
    ]


@pytest.mark.parametrize(("group", "kind"), [("kubeflow.org", "Notebook"), ("trainer.kubeflow.org", "TrainingRuntime"), ("batch", "Job")])
def test_what_is_no_job_of_kubeflow_passes_through(group: str, kind: str) -> None:
    assert not convert(JOB.replace("kubeflow.org/v1", f"{group}/v1").replace("kind: JAXJob", f"kind: {kind}")).jobs


@pytest.mark.parametrize(
    ("written", "template"),
    [
        ("name: pax-lm", 'name: "{{ .Release.Name }}-train"'),
        ("imagePullPolicy: Always", 'imagePullPolicy: Always\n            workingDir: "{{- include \\"a\\" . }}"'),
        ("imagePullPolicy: Always", "imagePullPolicy: Always\n            workingDir: '{{ default 1 .Values.lr }}'"),
    ],
)
def test_a_template_of_helm_is_refused(written: str, template: str) -> None:
    (account,) = convert(JOB.replace(written, template, 1)).refused
    assert "is a template: render it first" in account.reasons[0].text
    other = JOB.replace("imagePullPolicy: Always", "imagePullPolicy: Always\n            workingDir: '{{ .State }} {{ .ValuesOf }}'")
    assert not convert(other).refused, "a program may print such a text"


def test_what_is_wrong_is_shown_in_the_source() -> None:
    (account,) = convert(JOB.replace("imagePullPolicy: Always", "imagePullPolicy: Sometimes")).refused
    (reason,) = account.reasons
    assert account.span(reason.path).line == 17
    assert "imagePullPolicy" in reason.text


def test_a_field_that_nobody_knows_is_told() -> None:
    (account,) = convert(JOB.replace("spec:\n", "spec:\n  frobnicate: 1\n", 1)).jobs
    assert [entry.path for entry in account.different if entry.what == "it is left out"] == [("spec", "frobnicate")]


class TestCommand:
    def test_stdout_has_the_frameworks_and_stderr_the_report(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        assert main(["convert", str(tmp_path)]) == 0
        streams = capsys.readouterr()
        assert "\napiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n" in streams.out
        assert "JAXJob research/pax-lm → Framework paxlm (worker ×4)" in streams.err

    def test_strict(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        assert main(["convert", "--strict", "--format", "json", str(tmp_path)]) == 1
        found = json.loads(capsys.readouterr().err)["objects"][0]
        assert main(["convert", "--strict", str(tmp_path)]) == 1
        assert capsys.readouterr().err.endswith("fcompile: --strict: what is different makes the exit code 1\n")
        different = [field for field in found["fields"] if field["outcome"] == "different"]
        assert [(field["line"], field["field"].rpartition(".")[2]) for field in different] == [
            (16, "command[3]"),
            (6, "cleanPodPolicy"),
        ]

    def test_verbose_adds_nothing_to_json(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        assert main(["convert", "--verbose", "--format", "json", str(tmp_path)]) == 2
        assert "--verbose: JSON has every field already" in capsys.readouterr().err
        assert main(["convert", "--verbose", "--format", "markdown", str(tmp_path)]) == 0
        assert "<details>" in capsys.readouterr().err

    def test_a_folder(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "job.yaml").write_text(JOB.replace("pax-lm", f"pax-{name}"), "utf-8")
        out = tmp_path / "out"
        assert main(["convert", "--to", str(out), str(tmp_path / "a"), str(tmp_path / "b")]) == 0
        assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.yaml")) == ["a/job.yaml", "b/job.yaml"]
        assert main(["convert", "--to", str(out), str(tmp_path / "a"), str(tmp_path / "b")]) == 0, "the same again is fine"
        (out / "a" / "job.yaml").write_text("mine", "utf-8")
        assert main(["convert", "--to", str(out), str(tmp_path / "a"), str(tmp_path / "b")]) == 2
        assert (out / "a" / "job.yaml").read_text("utf-8") == "mine"

    def test_a_link_in_the_folder_is_not_followed(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name in ("a", "b", "out", "outside"):
            (tmp_path / name).mkdir()
        for name in ("a", "b"):
            (tmp_path / name / "job.yaml").write_text(JOB.replace("pax-lm", f"pax-{name}"), "utf-8")
        precious = tmp_path / "outside" / "job.yaml"
        precious.write_text("mine", "utf-8")
        convert_to = ["convert", "--to", str(tmp_path / "out"), str(tmp_path / "a"), str(tmp_path / "b")]
        (tmp_path / "out" / "b").symlink_to(tmp_path / "outside")
        assert main([*convert_to, "--force"]) == 2
        assert "leads: remove the link" in capsys.readouterr().err
        assert not (tmp_path / "out" / "a").exists(), "nothing is written before that"
        (tmp_path / "out" / "b").unlink()
        assert main(convert_to) == 0
        written = tmp_path / "out" / "a" / "job.yaml"
        precious.write_text(written.read_text("utf-8"), "utf-8")
        written.unlink()
        written.symlink_to(precious)
        assert main(convert_to) == 2
        assert written.is_symlink(), "not even where it leads to the same text"
        precious.write_text("mine", "utf-8")
        assert main([*convert_to, "--force"]) == 0
        assert not written.is_symlink()
        assert precious.read_text("utf-8") == "mine"

    def test_a_fifo_in_the_folder_is_not_waited_for(self, tmp_path: Path) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        (tmp_path / "out").mkdir()
        os.mkfifo(tmp_path / "out" / "job.yaml")
        command = [sys.executable, "-m", "fcompile", "convert", "--to", "out", "job.yaml"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert "out/job.yaml is there and differs" in done.stderr

    def test_a_folder_without_a_name(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """As from a variable that is not set."""
        (tmp_path / "k8s").mkdir()
        (tmp_path / "k8s" / "job.yaml").write_text(JOB, "utf-8")
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        assert main(["convert", "--to", "", "../k8s"]) == 2
        assert capsys.readouterr().err == "fcompile: --to: name a folder\n"
        assert not list((tmp_path / "here").iterdir())

    def test_refused(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB.replace("name: pax-lm", "generateName: pax-lm-"), "utf-8")
        assert main(["convert", str(tmp_path / "job.yaml")]) == 1
        assert "generateName" in capsys.readouterr().err

    def test_what_cannot_be_read(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text("a: [", "utf-8")
        assert main(["convert", str(tmp_path / "job.yaml")]) == 1
        assert "job.yaml:1:" in capsys.readouterr().err

    def test_no_job_at_all(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "empty.yaml").write_text("", "utf-8")
        (tmp_path / "map.yaml").write_text(NAMED, "utf-8")
        for name in ("empty.yaml", "map.yaml"):
            assert main(["convert", str(tmp_path / name)]) == 2
            streams = capsys.readouterr()
            assert streams.out == ""
            assert "there is no job of Kubeflow in the input" in streams.err

    @pytest.mark.parametrize(("version", "whose"), [("batch/v1", "Kubernetes"), ("batch.volcano.sh/v1alpha1", "Volcano")])
    def test_where_a_job_of_others_is_told_of(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], version: str, whose: str) -> None:
        (tmp_path / "job.yaml").write_text(f"apiVersion: {version}\nkind: Job\nmetadata: {{name: a}}\n", "utf-8")
        assert main(["convert", str(tmp_path)]) == 2
        says = f"but Job of {version} ({tmp_path}/job.yaml:1); a Job of {whose} is moved by hand: see docs/faq.md\n"
        assert capsys.readouterr().err.endswith(says)
        (tmp_path / "train.yaml").write_text(JOB, "utf-8")
        assert main(["convert", str(tmp_path)]) == 0
        says = f"fcompile: passed through {tmp_path}/job.yaml:1: a Job of {whose} is moved by hand: see docs/faq.md\n"
        assert says in capsys.readouterr().err

    def test_what_is_there_in_place_of_a_job_is_named(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "ray.yaml").write_text("apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: a}\n", "utf-8")
        assert main(["convert", str(tmp_path)]) == 2
        assert f"there is no job of Kubeflow in the input, but RayJob of ray.io/v1 ({tmp_path}/ray.yaml:1)" in capsys.readouterr().err

    def test_a_chart_is_to_be_rendered_first(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        templates = tmp_path / "chart" / "templates"
        templates.mkdir(parents=True)
        (tmp_path / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: x\n", "utf-8")
        (tmp_path / "chart" / "values.yaml").write_text("a: 1\n", "utf-8")
        (templates / "job.yaml").write_text(JOB.replace("name: pax-lm", 'name: "{{ .Release.Name }}"'), "utf-8")
        (templates / "other.yaml").write_text("a: {{ .Values.a }}\n{{ if }}\n", "utf-8")
        assert main(["convert", str(tmp_path)]) == 2
        streams = capsys.readouterr()
        assert streams.out == ""
        assert "templates/job.yaml: a template of a Helm chart: render it first, with `helm template`" in streams.err
        assert "templates/other.yaml: a template, not YAML: render it first" in streams.err

    def test_a_kustomization_is_to_be_built_first(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        (tmp_path / "kustomization.yaml").write_text("resources: [job.yaml]\npatches:\n- path: patch.yaml\n", "utf-8")
        patch = "apiVersion: kubeflow.org/v1\nkind: JAXJob\nmetadata: {name: pax-lm}\nspec: {runPolicy: {suspend: true}}\n"
        (tmp_path / "patch.yaml").write_text(patch, "utf-8")
        (tmp_path / "values.yaml").write_text("a: 1\n", "utf-8")
        assert main(["convert", str(tmp_path)]) == 0
        streams = capsys.readouterr()
        assert "resources:" not in streams.out
        assert "a: 1" not in streams.out
        assert f"skipped {tmp_path}/patch.yaml: a kustomize patch" in streams.err
        assert f"`kubectl kustomize {tmp_path} | fcompile convert -`" in streams.err
        assert f"left out {tmp_path}/values.yaml:1: not an object for a cluster\n" in streams.err
        assert main(["convert", "--format", "json", str(tmp_path)]) == 0
        assert json.loads(capsys.readouterr().err)["version"] == 1, "nothing else is on stderr"

    def test_of_many_that_are_left_out_ten_are_named(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        for number in range(13):
            (tmp_path / f"values{number}.yaml").write_text("a: 1\n", "utf-8")
        assert main(["convert", str(tmp_path)]) == 0
        lines = [line for line in capsys.readouterr().err.splitlines() if ": left out" in line]
        assert len(lines) == 11
        assert lines[-1] == "fcompile: left out 3 more"

    def test_the_standard_input_becomes_a_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        command = [sys.executable, "-m", "fcompile", "convert", "--to", "out", "-"]
        done = subprocess.run(command, input=JOB, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, [path.name for path in (tmp_path / "out").iterdir()]) == (0, ["stdin.yaml"])

    def test_json_becomes_yaml(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        source, out = tmp_path / "k8s", tmp_path / "out"
        source.mkdir()
        (value,) = [document.value for document in documents(JOB.encode(), "job.yaml")]
        (source / "job.json").write_text(json.dumps(value), "utf-8")
        assert main(["convert", "--to", str(out), str(source)]) == 0
        assert [path.name for path in out.iterdir()] == ["job.yaml"]
        (source / "job.yaml").write_text(JOB.replace("pax-lm", "other"), "utf-8")
        capsys.readouterr()
        assert main(["convert", "--to", str(out), "--force", str(source)]) == 2
        said = f"fcompile: {source}/job.json and {source}/job.yaml would both be written as job.yaml: convert them into two folders\n"
        assert capsys.readouterr().err == said

    def test_files_on_different_drives(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        def other_drives(_: object) -> str:
            raise ValueError("Paths don't have the same drive")

        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        monkeypatch.setattr("os.path.commonpath", other_drives)  # As on Windows.
        assert main(["convert", "--to", str(tmp_path / "out"), str(tmp_path / "job.yaml")]) == 2
        assert "the files are on different drives" in capsys.readouterr().err

    def test_a_wrong_target_is_told_before_the_report(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        (tmp_path / "file").write_text("", "utf-8")
        assert main(["convert", "--to", str(tmp_path / "file"), str(tmp_path / "job.yaml")]) == 2
        assert capsys.readouterr().err == f"fcompile: --to {tmp_path}/file: it is not a folder\n"

    def test_a_namespace_for_jobs_that_give_none(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        job = JOB.replace("  namespace: research\n", "")
        (tmp_path / "job.yaml").write_text(f"{job}---\n{JOB.replace('pax-lm', 'other')}", "utf-8")
        assert main(["convert", "-n", "team-a", str(tmp_path)]) == 0
        found = [document.value["metadata"].get("namespace") for document in documents(capsys.readouterr().out.encode(), "a")]
        assert found == ["team-a", "research"]
        assert main(["convert", str(tmp_path)]) == 0
        found = [document.value["metadata"].get("namespace") for document in documents(capsys.readouterr().out.encode(), "a")]
        assert found == [None, "research"]

    def test_another_ending_is_suggested(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "job.yaml").write_text(JOB, "utf-8")
        assert main(["convert", str(tmp_path / "job.yml")]) == 2
        assert capsys.readouterr().err == f"fcompile: {tmp_path}/job.yml: no such file: there is {tmp_path}/job.yaml\n"
        assert main(["convert", str(tmp_path / "other.yml")]) == 2
        assert "no such file or folder" in capsys.readouterr().err

    def test_frameworks_pass_through(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "framework.yaml").write_text(convert(JOB).text(), "utf-8")
        assert main(["convert", str(tmp_path / "framework.yaml")]) == 0
        assert capsys.readouterr().err == "Converted 0 of 0 jobs; 0 differences; 1 Framework passed through.\n"

    @pytest.mark.parametrize("force", [[], ["--force"]])
    def test_the_folder_that_is_read(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], force: list[str]) -> None:
        (tmp_path / "k8s" / "more").mkdir(parents=True)
        for name in ("k8s/a.yaml", "k8s/more/a.yaml"):
            (tmp_path / name).write_text(JOB.replace("pax-lm", f"pax-{len(name)}"), "utf-8")
        for to in ("k8s", "k8s/more"):
            assert main(["convert", *force, "--to", str(tmp_path / to), str(tmp_path / "k8s")]) == 2
            assert f"{to} holds files that are read: name another folder" in capsys.readouterr().err
        assert "JAXJob" in (tmp_path / "k8s" / "more" / "a.yaml").read_text("utf-8")

    def test_a_file_of_a_job_that_is_refused_now(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        source, out = tmp_path / "k8s", tmp_path / "out"
        source.mkdir()
        for name in ("a", "b"):
            (source / f"{name}.yaml").write_text(JOB.replace("pax-lm", f"pax-{name}"), "utf-8")
        assert main(["convert", "--to", str(out), str(source)]) == 0
        assert "earlier run" not in capsys.readouterr().err
        (source / "a.yaml").write_text(JOB.replace("kind: JAXJob", "kind: MXJob"), "utf-8")
        assert main(["convert", "--to", str(out), str(source)]) == 1
        assert f"{out / 'a.yaml'} is from an earlier run: its job is refused now" in capsys.readouterr().err


def both(first: str, second: str, *, namespaces: tuple[str, str] = ("a", "a")) -> list[list[tuple[FieldPath, str, str]]]:
    """Return what is told of names in two jobs, `first-job` and `second-job`, that run a script each."""
    scripts = zip(("first-job", "second-job"), namespaces, (first, second), strict=True)
    conversion = convert("---\n".join(pytorch(name, script, namespace) for name, namespace, script in scripts))
    assert all(job.made is not None for job in conversion.jobs)
    return [[(one.path, one.what, one.remedy) for one in job.different] for job in conversion.jobs]


def pytorch(name: str, script: str, namespace: str = "a") -> str:
    container = {"name": "pytorch", "image": "h:1", "command": ["sh", "-c", script]}
    worker = {"replicas": 2, "template": {"spec": {"containers": [container]}}}
    spec = {"runPolicy": {"cleanPodPolicy": "Running"}, "pytorchReplicaSpecs": {"Worker": worker}}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name, "namespace": namespace}, "spec": spec}
    return f"{json.dumps(job)}\n"


SCRIPT = ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "containers", 0, "command", 2)


def test_jobs_that_name_each_others_pods_are_told() -> None:
    named, compared, own = (
        "it names a Pod that will have another name",
        "left unchanged where a script compares it, or passes it to kubectl",
        "first-job-worker-0",
    )
    first, second = both(f"curl second-job-worker-0:80 {own}", "exec t --ps=first-job-worker-1:1")
    assert first == [(SCRIPT, named, "write `worker-0.secondjob-worker` for `second-job-worker-0`")]
    assert second == [(SCRIPT, named, "write `worker-1.firstjob-worker` for `first-job-worker-1`")]
    first, second = both("kubectl logs second-job-worker-0", "for i in 0 1; do ping first-job-worker-$i; done")
    assert [what.endswith(compared) for _, what, _ in first] == [True]
    assert [what for _, what, _ in second] == ["the name of a Pod is put together when it runs, and will be none"]


def test_a_comment_tells_it_in_the_framework() -> None:
    text = convert(pytorch("first-job", "curl second-job-worker-0:80") + "---\n" + pytorch("second-job", "true")).text()
    assert text.count("# Different: spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].command[2]: it names a Pod") == 1


def test_of_names_in_jobs_only_those_of_other_jobs_are_told() -> None:
    assert both("curl first-job-worker-1", "curl second-job-worker-1") == [[], []]
    same = convert("---\n".join(pytorch("first-job", "curl first-job-worker-1", f"n{number}") for number in range(15)))
    assert not same.differences


def test_a_name_in_another_namespace_is_told_where_it_is_meant() -> None:
    assert both("curl second-job-worker-1", "true", namespaces=("a", "b")) == [[], []]
    (first, _) = both("curl second-job-worker-1.b", "true", namespaces=("a", "b"))
    assert [remedy for _, _, remedy in first] == ["write `worker-1.secondjob-worker` for `second-job-worker-1`"]


def test_a_runtime_that_names_a_pod_of_another_job_is_told_at_its_reference() -> None:
    image = "image: registry.example.com/nlp/base:1\n"
    runtime = (DATA / "jobs" / "trainjob-torch.yaml").read_text("utf-8")
    runtime = runtime.replace(image, f"{image}                  env: [{{name: PEER, value: first-job-worker-0}}]\n")
    account = next(job for job in convert(f"{runtime}---\n{pytorch('first-job', 'true', 'research')}").jobs if job.kind == "TrainJob")
    assert [one.path for one in account.different if "worker-0.firstjob-worker" in one.remedy] == [("spec", "runtimeRef")]
