"""What ends Pods before their own completion is said first, in every format, and fails a pipeline that asks for that."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.diff import words
from fcompile.diff.frameworks import compare
from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from tests.diff.frameworks import Json, annotated, diff, framework, role, side, spec
from tests.diff.test_command import config, put

Capture = pytest.CaptureFixture[str]
TWO = spec(role("ps"), role("worker", 4))


def policy(failed: int = 1, succeeded: int = -1) -> Json:
    wanted = {"minFailedTaskCount": failed, "minSucceededTaskCount": succeeded}
    return spec(role("ps"), role("worker", 4, frameworkAttemptCompletionPolicy=wanted))


def task(state: str, type_: str = "Failed") -> Json:
    return {"state": state, "attemptStatus": {"completionStatus": {"type": {"name": type_}}}}


def of_role(name: str, *tasks: Json) -> Json:
    return {"name": name, "taskStatuses": list(tasks)}


def status(state: str = "AttemptRunning", *tasks: Json) -> Json:
    return {"state": state, "attemptStatus": {"taskRoleStatuses": [of_role("worker", *tasks)]}}


RUNS: Json = {"state": "AttemptRunning", "attemptStatus": {"completionStatus": None}}
DONE, FAILED = task("Completed", "Succeeded"), task("Completed", "Failed")
FEWER, RENAMED = spec(role("ps"), role("worker", 2)), spec(role("server"), role("worker", 4))
RESTARTED = annotated(TWO, RESTART_ANNOTATION, "now")
STOP = {**TWO, "executionType": "Stop"}
DEADLINE = {**TWO, "activeDeadlineSeconds": 60}
LATER = {**TWO, "activeDeadlineSeconds": 61}
OWNED = {**TWO, "metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}]}}

HELD = annotated(TWO, PAUSE_ANNOTATION, "true")
ENDED = task("AttemptDeletionPending")


def held(value: Json, **of_status: Any) -> tuple[Json, Json, Json]:
    """A Framework that is paused, the same without the pause, and a status in which two tasks have ended and two run."""
    annotations = value.get("metadata", {}).get("annotations", {})
    paused = {**value, "metadata": {"annotations": {**annotations, PAUSE_ANNOTATION: "true"}}}
    return paused, value, {**status("AttemptRunning", ENDED, DONE, RUNS, RUNS), **of_status}


@pytest.mark.parametrize(
    ("before", "after", "status", "ends"),
    [
        (TWO, STOP, None, True),
        (TWO, STOP, status(), True),
        (TWO, STOP, {"state": "?"}, True),
        (TWO, STOP, {"state": "AttemptCreationPending"}, False),
        (TWO, STOP, {"state": "AttemptDeleting"}, False),
        (TWO, STOP, {"state": "Completed"}, False),
        ({**TWO, "executionType": "Create"}, STOP, None, False),
        (TWO, RENAMED, None, True),
        (TWO, spec(role("worker", 4)), None, True),
        (TWO, spec(role("worker", 4)), {"state": "Completed"}, False),
        (spec(role("ps", 0), role()), spec(role()), None, False),
        (TWO, FEWER, None, True),
        (TWO, FEWER, status("AttemptRunning", RUNS, RUNS, DONE, RUNS), True),
        (TWO, FEWER, status("AttemptRunning", RUNS, RUNS, DONE, FAILED), False),
        (TWO, FEWER, status("AttemptRunning", RUNS, RUNS, DONE), True),
        (FEWER, TWO, None, False),
        (policy(3), policy(2), None, True),
        (policy(-1), policy(2), None, True),
        (policy(0), policy(1), None, True),
        (policy(2), policy(3), None, False),
        (policy(2), policy(-1), None, False),
        (policy(2), policy(0), None, False),
        (policy(1, -1), policy(1, 2), None, True),
        (policy(3), policy(2), status("AttemptRunning", FAILED, DONE, RUNS, RUNS), False),
        (policy(3), policy(2), status("AttemptRunning", FAILED, FAILED, RUNS, RUNS), True),
        (policy(1, -1), policy(1, 2), status("AttemptRunning", FAILED, DONE, RUNS, RUNS), False),
        (policy(3), policy(2), {"state": "AttemptCreationPending"}, False),
        (TWO, {**TWO, "description": "x"}, None, False),
        (spec(role(retry=3)), spec(role(retry=0)), None, False),
        (spec(role()), spec(role(pod={"containers": [{"name": "main", "image": "a:2"}]})), None, False),
        (TWO, {**FEWER, "managedBy": "kueue.x-k8s.io/multikueue"}, None, False),
        ({**STOP}, {**FEWER, "executionType": "Start"}, None, False),
        (TWO, RESTARTED, None, True),
        (RESTARTED, TWO, None, False),
        (TWO, RESTARTED, {"state": "AttemptCreationPending"}, False),
        (TWO, HELD, None, False),
        (HELD, TWO, None, True),
        (HELD, TWO, status("AttemptRunning", RUNS, RUNS, DONE, RUNS), False),
        (HELD, TWO, status("AttemptDeletionPending", RUNS, RUNS, DONE, FAILED), True),
        (HELD, TWO, status("AttemptDeletionPending", DONE, DONE, DONE, FAILED), False),
        (HELD, TWO, {"state": "AttemptCreationPending"}, False),
        (HELD, TWO, {"state": "Completed"}, False),
        (*held(policy(2)), False),
        (*held(policy(1)), True),
        (*held(policy(-1, 1)), True),
        (*held(policy(-1, 2)), False),
        (*held({**policy(2), "activeDeadlineSeconds": 60}), True),
        (*held(annotated(policy(2), RESTART_ANNOTATION, "now")), True),
        (*held(annotated(policy(2), RESTART_ANNOTATION, "now"), observedRestart="now"), False),
        (*held(spec(role("ps"), role("worker", 3, frameworkAttemptCompletionPolicy={"minFailedTaskCount": 2}))), True),
        (*held(spec(role("ps"))), True),
        (
            annotated(spec(role("worker", 1)), PAUSE_ANNOTATION, "true"),
            spec(role("worker", 1)),
            {"state": "AttemptRunning", "attemptStatus": {"taskRoleStatuses": [of_role("worker", RUNS), of_role("ps", RUNS)]}},
            True,
        ),
        (TWO, OWNED, None, True),
        (TWO, OWNED, {"state": "Completed"}, False),
        (OWNED, TWO, None, False),
        (OWNED, {**TWO, "metadata": {"ownerReferences": [{**OWNED["metadata"]["ownerReferences"][0], "uid": "2"}]}}, None, True),
        (TWO, annotated(TWO, "argocd.argoproj.io/hook", "PreSync"), None, True),
        (annotated(TWO, "helm.sh/hook", "pre-upgrade"), TWO, None, False),
        (TWO, annotated(TWO, "argocd.argoproj.io/sync-options", "Prune=false, Replace=true,Force=true"), None, True),
        (TWO, annotated(TWO, "argocd.argoproj.io/sync-options", "Prune=false"), None, False),
        (TWO, annotated(TWO, "config.kubernetes.io/local-config", "true"), None, True),
        (TWO, annotated(TWO, "config.kubernetes.io/local-config", "yes"), None, True),
        (TWO, annotated(TWO, "config.kubernetes.io/local-config", ""), None, True),
        (TWO, annotated(TWO, "config.kubernetes.io/local-config", "false"), None, False),
        (annotated(TWO, "config.kubernetes.io/local-config", "true"), TWO, None, False),
        (TWO, annotated(TWO, "kustomize.toolkit.fluxcd.io/force", "Enabled"), None, True),
        (TWO, annotated(TWO, "kustomize.toolkit.fluxcd.io/force", "disabled"), None, False),
        (TWO, annotated(TWO, "internal.config.kubernetes.io/needsHashSuffix", "enabled"), None, True),
        (annotated(TWO, "internal.config.kubernetes.io/needsHashSuffix", "enabled"), TWO, None, True),
        (TWO, annotated(TWO, "internal.config.kubernetes.io/previousNames", "other"), None, True),
        (TWO, annotated(TWO, "kapp.k14s.io/update-strategy", "always-replace"), None, True),
        (TWO, annotated(TWO, "kapp.k14s.io/update-strategy", "skip"), None, False),
        (TWO, annotated(TWO, "kapp.k14s.io/versioned", ""), None, True),
        (TWO, annotated(TWO, "janitor/ttl", "1h"), None, True),
        (TWO, annotated(TWO, "janitor/ttl", "forever"), None, False),
        (TWO, annotated(TWO, "janitor/expires", "2020-01-01"), None, True),
        (TWO, {**TWO, "metadata": {"labels": {"cleanup.kyverno.io/ttl": "1h"}}}, None, True),
        ({**TWO, "metadata": {"labels": {"cleanup.kyverno.io/ttl": "1h"}}}, TWO, None, False),
        (TWO, DEADLINE, None, True),
        (TWO, DEADLINE, status(), True),
        (LATER, DEADLINE, None, True),
        (DEADLINE, LATER, None, False),
        (DEADLINE, TWO, None, False),
        (LATER, DEADLINE, {"state": "AttemptCreationPending"}, False),
        (LATER, DEADLINE, {"state": "AttemptDeleting"}, False),
        (LATER, DEADLINE, {"state": "Completed"}, False),
        ({**LATER, "executionType": "Create"}, {**DEADLINE, "executionType": "Create"}, None, False),
        ({**LATER, "managedBy": "kueue.x-k8s.io/multikueue"}, {**DEADLINE, "managedBy": "kueue.x-k8s.io/multikueue"}, None, False),
        (TWO, {**TWO, "cleanPodPolicy": "Running"}, None, False),
        ({**TWO, "cleanPodPolicy": "Running"}, TWO, None, False),
        (TWO, {**TWO, "ttlSecondsAfterFinished": 0}, None, False),
        (TWO, {**TWO, "ttlSecondsAfterFinished": 0}, {"state": "Completed"}, False),
    ],
)
def test_an_edit(before: Json, after: Json, status: Json | None, ends: bool) -> None:
    found = diff(before, after, status)
    assert found is not None
    assert found.ends_pods is ends


@pytest.mark.parametrize(
    ("annotation", "value", "ends", "ends_if_refused"),
    [
        ("argocd.argoproj.io/hook", "Sync", True, True),
        ("argocd.argoproj.io/hook", "Skip", False, False),
        ("helm.sh/hook", "pre-upgrade", True, True),
        ("argocd.argoproj.io/sync-options", "Replace=true,Force=true", True, True),
        ("argocd.argoproj.io/sync-options", "Force=true,\n Prune=false,\n Replace=true", True, True),
        ("argocd.argoproj.io/sync-options", "Force=true", False, True),
        ("argocd.argoproj.io/sync-options", "Replace=true", False, False),
        ("kapp.k14s.io/update-strategy", "always-replace", True, True),
        ("kapp.k14s.io/update-strategy", "fallback-on-replace", False, True),
        ("kapp.k14s.io/versioned", "", True, True),
        ("kustomize.toolkit.fluxcd.io/force", "enabled", False, True),
        ("internal.config.kubernetes.io/needsHashSuffix", "enabled", True, True),
        ("internal.config.kubernetes.io/needsHashSuffix", "disabled", False, False),
        ("config.kubernetes.io/local-config", "true", False, False),
    ],
)
def test_an_edit_of_what_others_make_anew(annotation: str, value: str, ends: bool, ends_if_refused: bool) -> None:
    """Its Pods were said to stay as they are, though Argo CD, kapp or kustomize lead to the end of all of them."""
    described, refused = {**TWO, "description": "x"}, {**TWO, "executionType": "Create"}
    also = f"{words.ENDS_PODS}, and refused by the API server"
    for changed, expected, headline in (described, ends, words.ENDS_PODS), (refused, ends_if_refused, also):
        found = diff(*(annotated(one, annotation, value) for one in (TWO, changed)))
        assert found is not None
        assert found.ends_pods is expected
        assert (words.headline(found) == headline) is expected
        assert any(change.field.startswith("metadata.annotations") for change in found.changes) is expected
    assert diff(annotated(TWO, annotation, value), annotated(TWO, annotation, value)) is None
    gone = diff(annotated(TWO, annotation, value), annotated(described, annotation, value), {"state": "Completed"})
    assert gone is not None
    assert not gone.ends_pods


WITH_RESTART = annotated(policy(2), RESTART_ANNOTATION, "now")


@pytest.mark.parametrize(
    ("before", "after", "status", "ends"),
    [
        (policy(2), policy(2), None, True),
        (policy(2), policy(2), status("AttemptRunning", ENDED, DONE, RUNS, RUNS), False),
        (WITH_RESTART, WITH_RESTART, status("AttemptRunning", ENDED, DONE, RUNS, RUNS), True),
        (spec(role("ps")), spec(role("ps")), status("AttemptRunning", ENDED, DONE, RUNS, RUNS), True),
        (spec(role("ps")), spec(role("ps")), status("AttemptRunning", DONE, DONE), False),
    ],
)
def test_a_digest_that_is_right_again(before: Json, after: Json, status: Json | None, ends: bool) -> None:
    """A restart waits for a review, and so does the end of roles that are removed."""
    stale, right = (side(framework(value), status) for value in (before, after))
    found = compare(stale._replace(digest="v1:sha256:" + "0" * 64), right._replace(digest=right.compiled.intent.digest))
    assert found is not None
    assert found.ends_pods is ends


@pytest.mark.parametrize(
    ("before", "status", "ends"),
    [
        (TWO, None, True),
        (TWO, {"state": "AttemptRunning"}, True),
        (TWO, {"state": "Completed"}, False),
        (TWO, {"state": "AttemptCreationPending"}, False),
        (STOP, None, False),
        ({**TWO, "executionType": "Create"}, None, False),
        ({**TWO, "managedBy": "kueue.x-k8s.io/multikueue"}, None, True),
        ({**TWO, "managedBy": "kueue.x-k8s.io/multikueue"}, {"state": "Completed"}, False),
    ],
)
def test_a_removal(before: Json, status: Json | None, ends: bool) -> None:
    found = compare(side(framework(before), status), None)
    assert found is not None
    assert found.ends_pods is ends


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three Frameworks, of which one is stopped and one removed, and a Job that is removed."""
    monkeypatch.chdir(tmp_path)
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {}}
    put("old.yaml", framework(TWO, "a"), framework(TWO, "b"), framework(TWO, "c"), job, config())
    put("new.yaml", framework(STOP, "a"), framework({**TWO, "description": "x"}, "b"))


@pytest.mark.usefixtures("sides")
def test_text(capsys: Capture) -> None:
    assert main(["diff", "--color", "always", "old.yaml", "new.yaml"]) == 1
    out = capsys.readouterr().out
    red = re.findall("\x1b\\[1;31m([^\x1b]*)\x1b", out)
    assert red == [
        "ends Pods",
        "ends Pods",
        "gone: deleting it ends all of its Pods",
        "removed: it ends Pods",
        "3 Frameworks differ, 2 end Pods: 1 on the fly, 1 without effect, 1 gone; 2 other objects differ, 1 ends Pods.",
    ]


@pytest.mark.usefixtures("sides")
def test_markdown(capsys: Capture) -> None:
    assert main(["diff", "--format", "markdown", "old.yaml", "new.yaml"]) == 1
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("#", "🔴"))]
    assert heads == [
        "### 🔴 3 Frameworks differ, 2 end Pods: 1 on the fly, 1 without effect, 1 gone; 2 other objects differ, 1 ends Pods.",
        "#### 🔴 <b>default/a</b>: ends Pods",
        "🔴 **Ends Pods**: every task is ended at once, with code -210, and the Framework completes.",
        "#### ⚪ <b>default/b</b>: changes nothing that runs",
        "#### 🔴 <b>default/c</b>: gone: deleting it ends all of its Pods",
        "#### 🔴 `Job j` removed: it ends Pods",
        "#### `ConfigMap c` removed",
    ]


@pytest.mark.usefixtures("sides")
def test_html(capsys: Capture) -> None:
    assert main(["diff", "--format", "html", "old.yaml", "new.yaml"]) == 1
    out = capsys.readouterr().out
    assert '<h1 class="ends">3 Frameworks differ, 2 end Pods</h1>' in out
    assert re.findall(r'class="badge ends-pods">([^<]*)<', out) == [
        "ends Pods",
        "ends Pods",
        "gone: deleting it ends all of its Pods",
        "removed: it ends Pods",
    ]


@pytest.mark.usefixtures("sides")
def test_json(capsys: Capture) -> None:
    assert main(["diff", "--format", "json", "old.yaml", "new.yaml"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["endsPods"], document["effect"]) == (True, "on-the-fly")
    assert [(one["name"], one["effect"], one["endsPods"]) for one in document["frameworks"]] == [
        ("a", "on-the-fly", True),
        ("b", "nothing", False),
        ("c", "on-the-fly", True),
    ]
    assert [one["endsPods"] for one in document["frameworks"][0]["changes"]] == [True]
    assert [(one["name"], one["endsPods"]) for one in document["objects"]] == [("j", True), ("c", False)]


@pytest.mark.usefixtures("sides")
def test_exit_codes(capsys: Capture) -> None:
    put("said.yaml", framework({**TWO, "description": "x"}, "b"))
    put("b.yaml", framework(TWO, "b"))
    put("wrong.yaml", framework({"taskRoles": 5}, "b"))
    codes = [
        main(["diff", "--fail-on", "ends-pods", *sides.split()])
        for sides in ("old.yaml new.yaml", "b.yaml said.yaml", "b.yaml b.yaml", "b.yaml wrong.yaml", "b.yaml nowhere.yaml")
    ]
    assert codes == [1, 0, 0, 2, 2]
    assert main(["diff", "--fail-on", "difference", "b.yaml", "said.yaml"]) == 1
    capsys.readouterr()


def test_a_lower_deadline_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    put("old.yaml", framework(LATER))
    put("new.yaml", framework({**DEADLINE, "cleanPodPolicy": "None", "ttlSecondsAfterFinished": 0}))
    said = {}
    for form in ("text", "markdown", "html", "json"):
        assert main(["diff", "--fail-on", "ends-pods", "--format", form, "old.yaml", "new.yaml"]) == 1
        said[form] = capsys.readouterr().out
        for field in ("activeDeadlineSeconds", "cleanPodPolicy", "ttlSecondsAfterFinished"):
            assert field in said[form]
        for reason in (
            "60 seconds after its first attempt began, every task is ended, with code -240",
            "Pods that finish stay for their logs until the Framework is deleted",
            "the Framework is deleted 0 seconds after its end, with its status and what is left of its Pods",
        ):
            assert reason in said[form], form
    assert "🔴 **Ends Pods**: 60 seconds after its first attempt began" in said["markdown"]
    changes = json.loads(said["json"])["frameworks"][0]["changes"]
    assert [(one.get("before"), one["after"], one["endsPods"]) for one in changes] == [
        (61, 60, True),
        (None, "None", False),
        (None, 0, False),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "ends"),
    [
        ("Namespace", "ml", True),
        ("CustomResourceDefinition", "frameworks.frameworkcontroller.microsoft.com", True),
        ("CustomResourceDefinition", "others.example.com", False),
        ("Application", "lab", True),
        ("ApplicationSet", "lab", True),
        ("HelmRelease", "lab", True),
        ("Kustomization", "lab", True),
        ("JobSet", "j", True),
        ("LeaderWorkerSet", "j", True),
        ("PyTorchJob", "j", True),
        ("RayCluster", "j", True),
        ("RayJob", "j", True),
        ("RayService", "j", True),
        ("Rollout", "j", True),
        ("SparkApplication", "j", True),
        ("Workflow", "j", True),
        ("Service", "s", False),
    ],
)
def test_other_objects(kind: str, name: str, ends: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    put("old.yaml", {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}, config())
    put("new.yaml", config())
    assert main(["diff", "--fail-on", "ends-pods", "old.yaml", "new.yaml"]) == int(ends)
    capsys.readouterr()


def test_a_gate_says_what_it_cannot_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A Framework that a kustomization names no more is pruned, and the gate let it pass without a word."""
    monkeypatch.chdir(tmp_path)
    for folder, named in ("old", "[a.yaml]"), ("new", "[]"):
        Path(folder).mkdir()
        Path(folder, "kustomization.yaml").write_text(f"resources: {named}\n", encoding="utf-8")
        put(f"{folder}/a.yaml", framework(TWO))
    assert main(["diff", "--fail-on", "ends-pods", "old", "new"]) == 0
    said = "it is not known whether what is built with new/kustomization.yaml ends Pods: compare what it builds\n"
    assert capsys.readouterr().err == f"fcompile: --fail-on ends-pods: {said}"
    assert main(["diff", "old", "new"]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("kind", "name", "edit", "is_named"),
    [
        ("Application", "lab", {"spec": {"source": {"path": "empty"}}}, True),
        ("Kustomization", "lab", {"spec": {"suspend": True}}, True),
        ("Deployment", "lab", {"spec": {"replicas": 0}}, True),
        ("PyTorchJob", "lab", {"spec": {"runPolicy": {"suspend": True}}}, True),
        ("Job", "lab", {"metadata": {"name": "lab", "annotations": {"helm.sh/hook": "test"}}}, True),
        ("CustomResourceDefinition", "frameworks.frameworkcontroller.microsoft.com", {"spec": {}}, True),
        ("CustomResourceDefinition", "others.example.com", {"spec": {}}, False),
        ("Namespace", "ml", {"metadata": {"name": "ml", "labels": {"team": "a"}}}, False),
        ("Service", "lab", {"spec": {}}, False),
    ],
)
def test_a_gate_says_which_changed_objects_it_does_not_know(
    kind: str, name: str, edit: Json, is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """An Application that leads to another folder takes its Frameworks with it, and the gate let it pass without a word."""
    monkeypatch.chdir(tmp_path)
    before = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    put("old.yaml", before, framework(TWO))
    put("new.yaml", {**before, **edit}, framework(TWO))
    assert main(["diff", "--fail-on", "ends-pods", "old.yaml", "new.yaml"]) == 0
    said = f"fcompile: --fail-on ends-pods: it is not known whether the change of {kind} {name} ends Pods: look at it\n"
    assert capsys.readouterr().err == said * is_named


def test_a_gate_says_what_another_definition_would_let_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """FrameworkController's own refuses nothing: with a back step of `executionType`, any edit came through the gate in silence."""
    monkeypatch.chdir(tmp_path)
    put("old.yaml", framework(spec(role(count=3))))
    put("new.yaml", framework(spec(role(count=1), executionType="Create")))
    assert main(["diff", "--fail-on", "ends-pods", "old.yaml", "new.yaml"]) == 0
    said = "the definition of `fcompile crd` refuses the edit, and FrameworkController's own takes it: Pods end then\n"
    assert capsys.readouterr().err == f"fcompile: --fail-on ends-pods: default/train: {said}"
    put("new.yaml", framework(spec(role(count=3), executionType="Create")))
    assert main(["diff", "--fail-on", "ends-pods", "old.yaml", "new.yaml"]) == 0
    assert capsys.readouterr().err == ""
