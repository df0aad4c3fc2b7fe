"""How Pods ended: as FrameworkController says, word for word."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fcontroller.decide import codes
from fcontroller.decide.failures.classify import Classifier
from fcontroller.decide.failures.creation import creation_code, creation_failure, ends_batch
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC
from fcontroller.decide.failures.spec import read_failures
from fcontroller.decide.observed import read_end, read_pod
from tests.decide.test_codes import PREDEFINED

DATA = Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "finished_pods.json").read_text("utf-8"))
"""A `podFailureSpec` (null: the default one), and Pods with the completion status that upstream's own functions give them."""
CREATION = [case for case in json.loads((DATA / "creation_errors.json").read_text("utf-8")) if case[1] is not None]
"""HTTP status, reason, message, and upstream's code. Answers without a Status are none to the client, so that no code follows."""


def classifier(spec: Any = DEFAULT_POD_FAILURE_SPEC) -> Callable[[Any], dict[str, Any]]:
    """Return what classifies a Pod as the API server has it, by the text that is kept of it."""
    failures, mistakes = read_failures(spec)
    assert not mistakes
    classify = Classifier(failures)
    return lambda pod: classify(read_end(msgspec.json.encode(read_pod(pod))))


def failed(*containers: dict[str, Any], **status: Any) -> dict[str, Any]:
    statuses = [{"name": f"c{index}", "state": {"terminated": item}} for index, item in enumerate(containers)]
    return {"metadata": {"name": "p"}, "status": {"phase": "Failed", "containerStatuses": statuses, **status}}


@pytest.mark.parametrize("group", RECORDED, ids=[f"spec-{index}" for index in range(len(RECORDED))])
def test_as_recorded(group: Any) -> None:
    classify = classifier(DEFAULT_POD_FAILURE_SPEC if group["podFailureSpec"] is None else group["podFailureSpec"])
    for case in group["cases"]:
        assert json.dumps(classify(case["pod"])) == json.dumps(case["status"])


def test_the_recorded_pods_fail_in_every_way() -> None:
    seen = {case["status"]["code"] for case in RECORDED[0]["cases"]}
    wanted = {entry["code"] for entry in DEFAULT_POD_FAILURE_SPEC} | {0, 200, 201, 210, -300}
    assert not wanted - seen


@pytest.mark.parametrize(
    ("reason", "exit_code", "message", "code", "phrase", "attributes"),
    [
        ("OOMKilled", 137, "", -1200, "ContainerDockerOOMKilled", ["Permanent"]),
        ("oomkilled", 1, "", -1200, "ContainerDockerOOMKilled", ["Permanent"]),
        ("OOMKilled", 0, "", -300, "PodFailedWithoutFailedContainer", []),
        ("OOMKilledX", 137, "", 137, "ContainerSigKillReceived", ["Transient"]),
        ("OOMKilled", 200, "", 200, "ContainerTransientFailed", ["Transient"]),
        ("ContainerCannotRun", 125, "", -1201, "ContainerDockerCreationError", None),
        ("ContainerCannotRun", 126, "", -1202, "ContainerDockerStartCmdPermissionDenied", ["Permanent"]),
        ("ContainerCannotRun", 127, "", -1203, "ContainerDockerStartCmdNotFound", ["Permanent"]),
        ("ContainerCannotRun", 128, 'exec: "x": not found', -1203, "ContainerDockerStartCmdNotFound", ["Permanent"]),
        ("ContainerCannotRun", 128, "No such\nfile", -1203, "ContainerDockerStartCmdNotFound", ["Permanent"]),
        ("ContainerCannotRun", 128, "denied", -1204, "ContainerDockerStartUnknownError", None),
        ("ContainerCannotRun", 129, "not found", 129, "ContainerUnrecognizedFailed", []),
        ("StartError", 128, "not found", 128, "ContainerUnrecognizedFailed", []),
        ("Error", 134, "", 134, "ContainerSigAbrtReceived", None),
        ("Error", 133, "", 133, "ContainerUnrecognizedFailed", []),
        ("Error", 255, "", 255, "ContainerUnrecognizedFailed", []),
    ],
)
def test_containers_by_the_default_spec(
    reason: str, exit_code: int, message: str, code: int, phrase: str, attributes: list[str] | None
) -> None:
    status = classifier()(failed({"exitCode": exit_code, "reason": reason, "message": message}))
    assert (status["code"], status["phrase"], status["type"]["attributes"]) == (code, phrase, attributes)


def test_the_whole_message_is_in_the_diagnostics() -> None:
    text = 'OCI runtime create failed:\nexec: "x": not found\nin $PATH'
    status = classifier()(failed({"exitCode": 128, "reason": "ContainerCannotRun", "message": text}))
    matched = {"containers": [{"name": "c0", "reason": "ContainerCannotRun", "message": text, "code": 128}]}
    assert status["diagnostics"] == f"Pod failed: PodPattern matched: {json.dumps(matched, separators=(',', ':'))}"


def test_exit_codes_without_any_spec() -> None:
    classify = classifier(None)
    phrases = {code: classify(failed({"exitCode": code}))["phrase"] for code in (137, 200, 201, 202, 210)}
    assert phrases == {
        137: "ContainerUnrecognizedFailed",
        200: "ContainerTransientFailed",
        201: "ContainerTransientConflictFailed",
        202: "ContainerUnrecognizedFailed",
        210: "ContainerPermanentFailed",
    }


def test_the_failure_that_came_last_counts_and_of_equals_the_first() -> None:
    def times(*finished: str | None) -> Any:
        pod = failed(*({"exitCode": 11 + index, "finishedAt": time} for index, time in enumerate(finished)))
        return classifier(None)(pod)["code"]

    early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
    assert times(early, late) == 12
    assert times(late, early) == 11
    assert times(late, late) == 11
    assert times(None, late) == 12
    assert times(None, None) == 11
    assert times("2026-01-01T02:00:00+02:00", early) == 11
    assert times("2026-01-01T02:00:01+02:00", early) == 11
    assert times("2026-01-02", early) == 12


def test_a_range_of_signals() -> None:
    classify = classifier([{"code": 1, "phrase": "Killed", "podPatterns": [{"containers": [{"signalRange": {"min": 9, "max": 15}}]}]}])
    assert [classify(failed({"exitCode": 137, "signal": signal}))["code"] for signal in (8, 9, 15, 16)] == [137, 1, 1, 137]
    assert classify(failed({"exitCode": 137}))["code"] == 137
    assert '"signal":9' in classify(failed({"exitCode": 137, "signal": 9}))["diagnostics"]


def test_init_containers_come_first() -> None:
    pod = failed({"exitCode": 1}, initContainerStatuses=[{"name": "i", "state": {"terminated": {"exitCode": 2}}}])
    status = classifier(None)(pod)
    assert status["code"] == 2
    assert [container["name"] for container in status["pod"]["containers"]] == ["i", "c0"]


def test_a_container_that_runs_has_only_a_name() -> None:
    pod = failed(reason="Evicted", containerStatuses=[{"name": "main", "state": {"running": {}}}])
    assert classifier([{"code": 1, "podPatterns": [{"containers": [{"nameRegex": "main"}]}]}])(pod)["code"] == 1
    for field in ("reasonRegex", "messageRegex"):
        assert classifier([{"code": 1, "podPatterns": [{"containers": [{field: ""}]}]}])(pod)["code"] == -300
    for field in ("signalRange", "codeRange"):
        assert classifier([{"code": 1, "podPatterns": [{"containers": [{field: {"min": 0}}]}]}])(pod)["code"] == -300
    assert classifier()(pod)["pod"] == {"reason": "Evicted", "containers": [{"name": "main", "code": 0}]}


def test_attributes_as_they_were_given() -> None:
    pattern = [{"containers": [{"codeRange": {"min": 7}}]}]
    for kind, attributes in (({}, None), ({"attributes": None}, None), ({"attributes": []}, []), ({"attributes": ["Own"]}, ["Own"])):
        status = classifier([{"code": 7, "type": kind, "podPatterns": pattern}])(failed({"exitCode": 7}))
        assert status["type"] == {"name": "Failed", "attributes": attributes}


def test_statuses_share_nothing() -> None:
    classify = classifier()
    first, second = classify(failed({"exitCode": 137})), classify(failed({"exitCode": 137}))
    kept = copy.deepcopy(second)
    first["type"]["attributes"].append("x")
    first["pod"]["containers"].clear()
    assert second == kept


def test_half_a_surrogate_pair_is_replaced() -> None:
    status = classifier()(failed({"exitCode": 137, "message": "a\ud800b"}))
    assert status["pod"]["containers"][0]["message"] == "a\ufffdb"
    json.dumps(status, ensure_ascii=False).encode()


@pytest.mark.parametrize(("status", "reason", "message", "code"), CREATION)
def test_creation_errors_as_recorded(status: int, reason: str, message: str, code: int) -> None:
    assert creation_code(status, reason, message).code == code
    completion = creation_failure(status, reason, message)
    assert (completion is None) == (code == -120)
    assert completion is None or completion["code"] == code


def test_diagnostics_of_a_pod_that_cannot_be_created() -> None:
    completion = creation_failure(422, "Invalid", 'Pod "a" is invalid: <x>')
    assert completion is not None
    assert completion["phrase"] == "PodCreationPermanentError"
    assert completion["diagnostics"].endswith('{"message":"Pod \\"a\\" is invalid: \\u003cx\\u003e","reason":"Invalid","code":422}')


def test_every_code_known_in_advance_is_reserved_and_no_other_of_the_default_spec() -> None:
    assert all([codes.is_reserved(code) for code in PREDEFINED])
    assert not any([codes.is_reserved(entry["code"]) for entry in DEFAULT_POD_FAILURE_SPEC])


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
statuses = st.fixed_dictionaries(
    {},
    optional={
        "name": anything,
        "state": anything
        | st.fixed_dictionaries(
            {
                "terminated": anything
                | st.fixed_dictionaries({}, optional=dict.fromkeys(("exitCode", "reason", "message", "finishedAt", "signal"), anything))
            }
        ),
    },
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "metadata": anything,
            "status": anything
            | st.fixed_dictionaries({"phase": st.just("Failed"), "containerStatuses": anything | st.lists(anything | statuses)}),
        },
    )
)
def test_whatever_a_pod_is_it_ended_somehow(pod: dict[str, Any]) -> None:
    status = CLASSIFY(pod)
    assert set(status) == {"code", "phrase", "type", "diagnostics", "pod"}
    json.dumps(status).encode()


CLASSIFY = classifier()


@pytest.mark.parametrize("code", [True, False, "1", 1.0, None])
def test_a_code_that_is_no_whole_number_counts_as_none(code: Any) -> None:
    classify = classifier()
    assert classify(failed({"exitCode": code, "reason": "Error"})) == classify(failed({"reason": "Error"}))


@pytest.mark.parametrize(
    ("status", "message", "others_too"),
    [
        (429, "", True),
        (500, "", True),
        (503, "", True),
        (403, "pods is forbidden: exceeded quota: small", True),
        (403, 'pods "f-a-0" is forbidden: error looking up service account n/default: serviceaccount "default" not found', True),
        (403, "pods is forbidden", False),
        (409, "", False),
        (422, "", False),
        (499, "", False),
    ],
)
def test_what_would_refuse_the_other_pods_of_a_role_too(status: int, message: str, others_too: bool) -> None:
    assert ends_batch(status, message) is others_too


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('pods "f-a-0" is forbidden: error looking up service account n/default: serviceaccount "default" not found', -120),
        ('pods "f-a-0" is forbidden: status unknown for quota: team, resources: pods', -120),
        ('pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in API group "" in the namespace "n"', -120),
        ('pods "f-a-0" is forbidden: error looking up service account n/typo: serviceaccount "typo" not found', -310),
        ('pods "f-a-0" is forbidden: violates PodSecurity "restricted:latest": privileged', -310),
    ],
)
def test_what_comes_by_itself_fails_no_task(message: str, code: int) -> None:
    """While Kubernetes' controller manager is away, a new namespace has no service account; our own rights are no user's mistake."""
    assert creation_code(403, "Forbidden", message).code == code


def sidecar_pod(main: int, sidecar: int) -> dict[str, Any]:
    """A Pod whose main container has ended first: the kubelet ends sidecars after it."""
    ends = [("mesh", sidecar, "2027-01-15T08:00:09Z"), ("main", main, "2027-01-15T08:00:00Z")]
    statuses = [{"name": name, "state": {"terminated": {"exitCode": code, "finishedAt": at}}} for name, code, at in ends]
    return {
        "metadata": {"name": "p"},
        "spec": {"initContainers": [{"name": "mesh", "restartPolicy": "Always"}], "containers": [{"name": "main"}]},
        "status": {"phase": "Failed", "initContainerStatuses": statuses[:1], "containerStatuses": statuses[1:]},
    }


@pytest.mark.parametrize("sidecar", [0, 1, 137, 143, 210])
@pytest.mark.parametrize(("main", "attributes"), [(1, []), (139, ["Permanent"]), (210, ["Permanent"]), (200, ["Transient"])])
def test_the_end_of_a_sidecar_says_nothing(main: int, attributes: list[str], sidecar: int) -> None:
    """143 counts as transient: a task that can never succeed would be tried again for ever, and no retry counted."""
    status = classifier()(sidecar_pod(main, sidecar))
    assert (status["code"], status["type"]["attributes"]) == (main, attributes)
    assert [container["name"] for container in status["pod"]["containers"]] == ["mesh", "main"]


def test_an_init_container_that_is_no_sidecar_counts() -> None:
    pod = sidecar_pod(0, 143)
    del pod["spec"]["initContainers"][0]["restartPolicy"]
    assert classifier()(pod)["code"] == 143


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ({"reason": "DeletionByPodGC", "status": "True"}, -101),
        ({"reason": "DeletionByPodGC", "status": "False"}, -300),
        ({"reason": "TerminationByKubelet", "status": "True"}, -300),
    ],
)
def test_a_pod_whose_node_is_gone_was_deleted_by_others(condition: dict[str, str], code: int) -> None:
    """Kubernetes 1.26 and newer lets it fail first. Nothing in it has ended then, so that it would not be tried again."""
    said = {"type": "DisruptionTarget", "message": "PodGC: node no longer exists", **condition}
    running = [{"name": "main", "state": {"running": {}}}]
    status = classifier()({"metadata": {"name": "p"}, "status": {"phase": "Failed", "conditions": [said], "containerStatuses": running}})
    assert status["code"] == code
    assert (status["diagnostics"].endswith(": DeletionByPodGC: PodGC: node no longer exists")) is (code == -101)
    assert ("pod" in status) is (code != -101)


SHUTS_DOWN = "Pod was terminated in response to imminent node shutdown."
REJECTED = "Pod was rejected: Pod was rejected as the node is shutting down."


def shut_down(code: int | None, reason: str, message: str, phase: str = "Failed") -> dict[str, Any]:
    """A Pod as a node leaves it that shuts down in order."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": SHUTS_DOWN}
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "finishedAt": "2027-01-15T08:00:00Z"}
    containers = [] if code is None else [{"name": "main", "state": {"terminated": ended}}]
    about = {"reason": reason, "message": message, "conditions": [condition] if code is not None else [], "containerStatuses": containers}
    return {"metadata": {"name": "p"}, "status": {"phase": phase, **about}}


@pytest.mark.parametrize(
    ("pod", "code", "transient", "with_entry"),
    [
        (shut_down(143, "Terminated", SHUTS_DOWN), 143, True, -1007),
        (shut_down(137, "Terminated", SHUTS_DOWN), 137, True, -1007),
        (shut_down(200, "Terminated", SHUTS_DOWN), 200, True, 200),
        (shut_down(1, "Terminated", SHUTS_DOWN), 1, False, -1007),
        (shut_down(0, "Terminated", SHUTS_DOWN), -300, False, -1007),
        (shut_down(None, "NodeShutdown", REJECTED), -300, False, -1007),
        (shut_down(None, "Shutdown", "Node is shutting, evicting pods"), -300, False, -1007),
        (shut_down(0, "", "", "Succeeded"), 0, False, 0),
    ],
)
def test_a_node_that_shuts_down(repository: Path, pod: dict[str, Any], code: int, transient: bool, with_entry: int) -> None:
    """As upstream has it; docs/operations.md says what follows, and has the entry. The last one is Kubernetes 1.27's."""
    status = classifier()(pod)
    assert (status["code"], "Transient" in status["type"]["attributes"]) == (code, transient)
    page = (repository / "docs" / "operations.md").read_text("utf-8")
    (block,) = [block for block in page.split("```yaml\n")[1:] if block.startswith("podFailureSpec:")]
    spec = yaml.safe_load(block.partition("```")[0])["podFailureSpec"]
    status = classifier([*spec, *DEFAULT_POD_FAILURE_SPEC])(pod)
    assert (status["code"], "Transient" in status["type"]["attributes"]) == (with_entry, with_entry != 0)
