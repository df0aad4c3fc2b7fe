"""What is known of the Framework that is changed decides what a change does: the rows that need no controller to try."""

from __future__ import annotations

import pytest

from fcompile.diff.compare import ABSENT
from fcompile.diff.frameworks import compare
from fcompile.model.names import PAUSE_ANNOTATION, RESTART_ANNOTATION
from tests.diff.frameworks import Json, annotated, diff, effects, framework, role, side, spec

IMAGE = "worker: spec.containers[main].image"
OLD, NEW = role(retry=1), role(retry=1, pod={"containers": [{"name": "main", "image": "a:2"}]})


def test_nothing() -> None:
    assert diff(spec(), spec()) is None
    assert diff(spec(), {**spec(), "executionType": "Start", "retryPolicy": {"maxRetryCount": 0}}) is None, "defaults are no difference"


@pytest.mark.parametrize(
    ("state", "effect"),
    [
        (None, "next-retry"),
        ("AttemptPreparing", "next-retry"),
        ("AttemptRunning", "next-retry"),
        ("AttemptCreationRequested", "next-retry"),
        ("AttemptCreationPending", "on-the-fly"),
        ("AttemptDeletionPending", "new-attempt"),
        ("AttemptDeletionRequested", "new-attempt"),
        ("AttemptDeleting", "new-attempt"),
        ("AttemptCompleted", "new-attempt"),
        ("Completed", "nothing"),
    ],
)
def test_a_template_by_state(state: str | None, effect: str) -> None:
    assert effects(spec(OLD), spec(NEW), state and {"state": state}) == {IMAGE: effect}


@pytest.mark.parametrize("status", [None, {}, [], "x", {"state": 5}, {"state": "?", "retryPolicyStatus": 3}])
def test_a_status_that_says_nothing(status: object) -> None:
    assert effects(spec(OLD), spec(NEW), status) == {IMAGE: "next-retry"}


@pytest.mark.parametrize(
    ("fancy", "most", "effect"),
    [(False, 0, "new-attempt"), (True, 0, "next-retry"), (False, 1, "next-retry"), (False, -1, "next-retry"), (False, -2, "next-retry")],
)
def test_a_template_by_retry_policy(fancy: bool, most: int, effect: str) -> None:
    policy = {"task": {**OLD["task"], "retryPolicy": {"fancyRetryPolicy": fancy, "maxRetryCount": most}}}
    new = {**policy["task"], "pod": NEW["task"]["pod"]}
    assert effects(spec({**OLD, **policy}), spec({**OLD, "task": new})) == {IMAGE: effect}


def test_the_new_retry_policy_counts() -> None:
    found = effects(spec(role(retry=0)), spec(NEW))
    assert found == {"worker: task.retryPolicy.maxRetryCount": "on-the-fly", IMAGE: "next-retry"}


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("Create", "Start", "on-the-fly"),
        ("Create", "Stop", "on-the-fly"),
        ("Start", "Stop", "on-the-fly"),
        ("Start", "Create", "refused"),
        ("Stop", "Start", "refused"),
        ("Stop", "Create", "refused"),
    ],
)
def test_execution_types(before: str, after: str, effect: str) -> None:
    found = diff(spec(executionType=before), spec(executionType=after))
    assert found is not None
    assert found.effect == effect
    assert effects(spec(executionType=before), spec(executionType=after))["spec.executionType"] == effect


def test_an_empty_execution_type_is_start() -> None:
    """It was reported as a Stop, which ends all Pods."""
    assert diff(spec(), spec(executionType="")) is None
    assert effects(spec(executionType=""), spec(executionType="Stop"))["spec.executionType"] == "on-the-fly"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "kueue.x-k8s.io/multikueue"),
        ("kueue.x-k8s.io/multikueue", None),
        ("kueue.x-k8s.io/multikueue", "frameworkcontroller.microsoft.com/frameworkcontroller"),
    ],
)
def test_managed_by_is_refused_and_with_it_the_whole_edit(before: str | None, after: str | None) -> None:
    found = diff(spec(OLD, managedBy=before), spec(NEW, managedBy=after))
    assert found is not None
    assert found.effect == "refused"


KEPT = "Pods that finish stay for their logs until the Framework is deleted"
GONE = "every Pod is deleted when its attempt ends"
LEFT = "with its status and what is left of its Pods"
HOUR, TWO_HOURS = (f"{seconds} seconds after its first attempt began" for seconds in ("3,600", "7,200"))
ENDED = "every task is ended, with code -240, and the Framework completes"


@pytest.mark.parametrize(
    ("field", "before", "after", "state", "verdict"),
    [
        ("activeDeadlineSeconds", None, 3600, "AttemptRunning", f"on-the-fly: {HOUR}, {ENDED}; if that time has already passed, at once"),
        ("activeDeadlineSeconds", 3600, 7200, "AttemptRunning", f"on-the-fly: {TWO_HOURS}, {ENDED}"),
        ("activeDeadlineSeconds", 3600, None, "AttemptRunning", "on-the-fly: there is no deadline any more"),
        (
            "activeDeadlineSeconds",
            7200,
            3600,
            "AttemptCreationPending",
            f"on-the-fly: from {HOUR}, no other one begins, and the Framework completes with code -240",
        ),
        (
            "activeDeadlineSeconds",
            7200,
            3600,
            "AttemptDeleting",
            f"on-the-fly: the attempt that ends keeps its code, and from {HOUR} no other one follows",
        ),
        ("cleanPodPolicy", None, "None", "AttemptRunning", f"on-the-fly: {KEPT}"),
        ("cleanPodPolicy", "Running", "All", "AttemptCreationPending", f"on-the-fly: {GONE}"),
        ("cleanPodPolicy", "All", "", "AttemptRunning", "nothing: left out, it is All"),
        ("cleanPodPolicy", "None", "Running", "AttemptRunning", "nothing: None is the same as Running: no Pod runs on after the end"),
        ("ttlSecondsAfterFinished", None, 0, "AttemptRunning", f"on-the-fly: the Framework is deleted 0 seconds after its end, {LEFT}"),
        (
            "ttlSecondsAfterFinished",
            1,
            None,
            "Completed",
            "on-the-fly: the controller's `frameworkCompletedRetainSec` says when the Framework is deleted after its end",
        ),
        (
            "ttlSecondsAfterFinished",
            600,
            60,
            "Completed",
            f"on-the-fly: the Framework is deleted 60 seconds after its end, {LEFT}; if that time has already passed, at once",
        ),
    ],
)
def test_a_lifetime(field: str, before: object, after: object, state: str, verdict: str) -> None:
    found = diff(spec(**{field: before}), spec(**{field: after}), {"state": state})
    assert found is not None
    assert [f"{change.effect.value}: {change.reason}" for change in found.changes] == [verdict]


@pytest.mark.parametrize(
    ("field", "value", "effect"),
    [("activeDeadlineSeconds", 9, "nothing"), ("cleanPodPolicy", "None", "on-the-fly"), ("ttlSecondsAfterFinished", 9, "on-the-fly")],
)
def test_a_lifetime_in_an_edit_that_stops(field: str, value: object, effect: str) -> None:
    """What the tasks that are ended leave still depends on it."""
    assert effects(spec(), spec(executionType="Stop", **{field: value}))[f"spec.{field}"] == effect


@pytest.mark.parametrize(("field", "value"), [("activeDeadlineSeconds", 9), ("cleanPodPolicy", "None"), ("ttlSecondsAfterFinished", 9)])
def test_a_lifetime_is_not_in_the_digest(field: str, value: object) -> None:
    before, after = (side(framework(one)).compiled for one in (spec(), spec(**{field: value})))
    assert before.intent.digest == after.intent.digest


def test_a_role_without_tasks() -> None:
    assert effects(spec(role(count=0, retry=1)), spec({**NEW, "taskNumber": 0})) == {IMAGE: "on-the-fly"}
    assert effects(spec(role(count=0, retry=1)), spec({**NEW, "taskNumber": 2})) == {
        "worker: taskNumber": "on-the-fly",
        IMAGE: "on-the-fly",
    }
    assert effects(spec(role("a"), role("b", 0)), spec(role("a"))) == {"b: role": "nothing", "b: spec": "nothing"}


def test_a_stopped_framework() -> None:
    assert effects(spec(OLD, executionType="Stop"), spec(NEW, executionType="Stop")) == {IMAGE: "nothing"}


def test_the_order_of_roles_is_no_difference() -> None:
    assert diff(spec(role("a"), role("b")), spec(role("b"), role("a"))) is None


def test_the_pods_concerned() -> None:
    found = diff(spec({**OLD, "taskNumber": 9000}), spec({**NEW, "taskNumber": 10_000}))
    assert found is not None
    assert [tuple(one) for change in found.changes for one in change.pods] == [
        ("train-worker-{9000..9999}", 1000, "created"),
        ("train-worker-{0..8999}", 9000, "kept"),
        ("train-worker-{9000..9999}", 1000, "created"),
    ]


def test_zeros_that_upstream_stored() -> None:
    """FrameworkController stores zeros for what is left out; a compiled Framework has the manual's defaults, and changes them."""
    stored = role(frameworkAttemptCompletionPolicy={"minFailedTaskCount": 0, "minSucceededTaskCount": 0})
    found = diff(spec(stored), spec(role()))
    assert found is not None
    assert [(change.before, change.after, "upstream" in change.note) for change in found.changes] == [(0, 1, True), (0, -1, True)]
    written = role(frameworkAttemptCompletionPolicy={"minFailedTaskCount": 2})
    assert [bool(change.note) for change in (diff(spec(stored), spec(written)) or found).changes] == [False, True]


GOES_ON = "it goes on where it was paused, with what the spec says then"


@pytest.mark.parametrize(
    ("before", "after", "effect", "reason"),
    [
        (None, "true", "on-the-fly", "nothing is created, retried or deleted until the annotation goes"),
        ("true", "false", "on-the-fly", f"{GOES_ON}; what was held meanwhile may end Pods"),
        (None, "false", "nothing", "for people and tools; nothing that runs depends on it"),
    ],
)
def test_a_pause(before: str | None, after: str, effect: str, reason: str) -> None:
    old = spec() if before is None else annotated(spec(), PAUSE_ANNOTATION, before)
    found = diff(old, annotated(spec(), PAUSE_ANNOTATION, after))
    assert found is not None
    assert [(change.effect.value, change.reason) for change in found.changes] == [(effect, reason)]


def test_a_restart_by_what_else_the_edit_says() -> None:
    now = annotated(spec(), RESTART_ANNOTATION, "now")
    label = f'metadata.annotations["{RESTART_ANNOTATION}"]'
    assert effects(now, spec()) == {label: "nothing"}
    assert effects(spec(), {**now, "executionType": "Stop"})[label] == "nothing"
    paused = {**now, "metadata": {"annotations": {RESTART_ANNOTATION: "now", PAUSE_ANNOTATION: "true"}}}
    found = diff(spec(), paused)
    assert found is not None
    (reason,) = [change.reason for change in found.changes if change.field == label]
    assert reason == "every task is ended once the pause is over, with code -130 of the attempt, and the next attempt begins"


@pytest.mark.parametrize("annotation", [PAUSE_ANNOTATION, RESTART_ANNOTATION])
def test_they_are_not_in_the_digest(annotation: str) -> None:
    before, after = (side(framework(value)).compiled for value in (spec(), annotated(spec(), annotation, "true")))
    assert before.intent.digest == after.intent.digest
    assert after.framework["metadata"]["annotations"][annotation] == "true"


def test_finalizers_keep_pods() -> None:
    """Whoever adds one keeps the Pods of a Framework that others delete: nothing was said to depend on it."""
    for before, after in ([], ["a.example.com/b"]), (["a.example.com/b"], []):
        found = compare(*(side(framework(spec(), finalizers=some)) for some in (before, after)))
        assert found is not None
        assert (found.effect.value, "run on until all finalizers are gone" in found.changes[0].reason) == ("nothing", True)


def test_a_namespace_that_is_written_out() -> None:
    """Argo CD and `kubectl -n` put a Framework that gives none into another one."""
    unsaid, said = (side(one)._replace(in_git=True) for one in (framework(spec()), framework(spec(), namespace="default")))
    compiled = said._replace(digest=said.compiled.intent.digest)  # anybody can write a digest, and so hide that the Framework moves
    for before, after, values in (
        (unsaid, said, (ABSENT, "default")),
        (said, unsaid, ("default", ABSENT)),
        (unsaid, compiled, (ABSENT, "default")),
        (compiled, unsaid, ("default", ABSENT)),
    ):
        found = compare(before, after)
        assert found is not None
        (change,) = found.changes
        assert (change.field, change.before, change.after, change.effect.value) == ("metadata.namespace", *values, "nothing")
        assert "another Framework" in change.reason
    assert compare(said, compiled) is None, "both give it"
    assert compare(said._replace(in_git=False), unsaid) is None, "the cluster always has it"


def test_a_placeholder_of_a_namespace_that_is_not_known() -> None:
    """In a repository, `default` is only what is taken for it where nothing is said."""
    texts = [spec(role(pod={"containers": [{"name": "main", "image": f"a:{tag}"}]})) for tag in ("default", "{{FC_FRAMEWORK_NAMESPACE}}")]
    for metadata, in_git, differs in ({}, False, False), ({"namespace": "default"}, True, False), ({}, True, True):
        before, after = (side(framework(one, **metadata))._replace(in_git=in_git) for one in texts)
        assert (compare(before, after) is not None) is differs


def reasons(before: Json, after: Json, status: Json | None = None) -> list[str]:
    found = diff(before, after, status)
    return [change.reason for change in found.changes] if found else []


def test_an_edit_during_a_pause_takes_effect_after_it() -> None:
    policy = {"minFailedTaskCount": 2}
    before = annotated(spec(role(count=3, frameworkAttemptCompletionPolicy=policy), activeDeadlineSeconds=60), PAUSE_ANNOTATION, "true")
    service = {"ports": [{"port": 80}]}
    after = annotated(spec(role(), role("ps", service=service), activeDeadlineSeconds=30), PAUSE_ANNOTATION, "true")
    assert sorted({reason.partition("; ")[2] or reason for reason in reasons(before, after)}) == [
        "if that time has already passed, once the pause is over",
        "if the tasks that have completed meet it, all others are ended once the pause is over",
        "tasks that are removed are ended once the pause is over",
        "the Framework is rescaled once the pause is over",
        "the Service is created once the pause is over",
    ]


def test_an_edit_that_was_not_reviewed_changes_no_role_before_it_is() -> None:
    before, after = (side(framework(spec(*roles))) for roles in ((role(), role("ps", 3)), (role("worker", 1), role("main"))))
    found = compare(before, after._replace(digest="v1:sha256:" + "0" * 64))
    assert found is not None
    assert {change.role: change.reason for change in found.changes if change.role} == {
        "worker": "tasks that are removed are ended at once",
        "ps": "tasks that are removed are ended once it is compiled again",
        "main": "the Framework is rescaled once it is compiled again",
    }


@pytest.mark.parametrize(
    ("states", "completes"),
    [(("Completed", "AttemptRunning"), True), (("AttemptRunning", "Completed"), False), (("Completed",), True), ((), False)],
)
def test_a_smaller_scale_may_end_the_attempt(states: tuple[str, ...], completes: bool) -> None:
    """Once all tasks that stay have completed."""
    tasks = [{"state": state} for state in states]
    status = {"state": "AttemptRunning", "attemptStatus": {"taskRoleStatuses": [{"name": "worker", "taskStatuses": tasks}]}}
    (reason,) = reasons(spec(role()), spec(role(count=1)), status)
    assert reason.endswith(", and the attempt completes: all tasks that stay have completed") is completes


def test_all_tasks_that_stay_must_have_completed() -> None:
    tasks = [{"state": state} for state in ("Completed", "AttemptRunning", "AttemptRunning")]
    status = {"state": "AttemptRunning", "attemptStatus": {"taskRoleStatuses": [{"name": "worker", "taskStatuses": tasks}]}}
    assert reasons(spec(role(count=3)), spec(role(count=2)), status) == ["tasks that are removed are ended at once"]


def test_a_retry_policy_of_tasks() -> None:
    assert reasons(spec(role(retry=1)), spec(role(retry=2))) == ["the new policy decides when a task's attempt completes"]


@pytest.mark.parametrize("state", [None, "AttemptCreationPending"])
def test_a_stop_before_the_start(state: str | None) -> None:
    before = spec(executionType="Create")
    said = reasons(before, {**before, "executionType": "Stop"}, {"state": state} if state else None)
    assert said == ["the Framework completes without having run"]


def test_a_pod_that_has_its_index_differs_only_where_it_does() -> None:
    """With one task, the index is filled in; a role that had two has Pods of which no text is like that."""
    with_index, with_zero = ({"containers": [{"name": "main", "image": "a:1", "args": [arg]}]} for arg in ("{{FC_TASK_INDEX}}", "0"))
    assert effects(spec(role(pod=with_index, count=1)), spec(role(pod=with_zero, count=1))) == {}
    found = effects(spec(role(pod=with_index)), spec(role(pod=with_zero, count=1)))
    assert found.keys() == {"worker: spec.containers[main].args[0]", "worker: taskNumber"}
