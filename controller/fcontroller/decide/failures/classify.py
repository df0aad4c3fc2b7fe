"""The completion status of a finished Pod, by the first failure of the `podFailureSpec` that matches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeVar

from fcontroller.decide import codes
from fcontroller.decide.codes import Code, Json
from fcontroller.decide.failures.go_json import go_json, valid
from fcontroller.decide.failures.spec import ContainerPattern, Failure, PodPattern, Range
from fcontroller.decide.observed import disruption
from fcontroller.decide.regex import Regex

T = TypeVar("T")
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_ANYTHING: Final = Regex("(?s).*")

AGREED: Final = tuple(
    Failure(code, (PodPattern(containers=(ContainerPattern(name=_ANYTHING, message=_ANYTHING, codes=Range(code.code, code.code)),)),))
    for code in (codes.CONTAINER_TRANSIENT, codes.CONTAINER_CONFLICT, codes.CONTAINER_PERMANENT)
)
"""Exit codes by which a container tells the controller what to do. They come before those of any `podFailureSpec`."""


class Container(NamedTuple):
    """What is known of a container. For one that has not terminated this is only the name."""

    name: str
    terminated: bool
    reason: str
    message: str
    signal: int
    code: int
    finished: datetime


class FinishedPod(NamedTuple):
    name: str
    reason: str
    message: str
    containers: tuple[Container, ...]
    """Init containers first."""
    judged: tuple[Container, ...]
    """Those by which it has ended: not sidecars, which the kubelet ends after the others, so that their exit codes say nothing."""

    def to_json(self) -> Json:
        """Return the Pod as a completion status has it: without its name and without empty fields (a container keeps its name and code)."""
        containers = [
            {"name": item.name, **_given(reason=item.reason, message=item.message, signal=item.signal), "code": item.code}
            for item in self.containers
        ]
        return _given(reason=self.reason, message=self.message, containers=containers)


class Classifier:
    """Knows the failures of a `podFailureSpec` and says how Pods ended."""

    def __init__(self, failures: Sequence[Failure] = ()) -> None:
        self._failures = (*AGREED, *failures)

    def __call__(self, pod: Mapping[str, Any]) -> Json:
        """Return the completion status of a Pod whose phase is Succeeded or Failed; `pod` is as the API server has it."""
        finished = read_pod(pod)
        if _field(pod, "status", dict, {}).get("phase") == "Succeeded":
            status = codes.SUCCEEDED.ended("Pod succeeded")
        elif (why := disruption(_field(pod, "status", dict, {}))) and why[0] == "DeletionByPodGC":
            # Since Kubernetes 1.26 its collector lets a Pod fail whose node is gone, right before it deletes the Pod.
            return codes.deleted_by_others(valid(": ".join(why)))
        else:
            code, diagnostics = self._failure(finished)
            status = code.ended(f"Pod failed: {diagnostics}")
        return {**status, "pod": finished.to_json()}

    def _failure(self, pod: FinishedPod) -> tuple[Code, str]:
        for failure in self._failures:
            for pattern in failure.patterns:
                matched = _match_pod(pattern, pod)
                if matched is not None:
                    return failure.code, f"PodPattern matched: {go_json(matched)}"
        return _last_failed(pod.judged), f"PodPattern unmatched: {go_json(pod.to_json())}"


def _last_failed(containers: Sequence[Container]) -> Code:
    failed = [container for container in containers if container.code != 0]
    # Of several that finished at the same time, the first one.
    return codes.unrecognized(max(failed, key=lambda container: container.finished).code) if failed else codes.NO_FAILED_CONTAINER


def _match_pod(pattern: PodPattern, pod: FinishedPod) -> Json | None:
    """Return the non-empty parts that the pattern asks for, or None where the pattern does not match."""
    containers: list[Json] = []
    for wanted in pattern.containers:
        matched = next((found for item in pod.judged if (found := _match_container(wanted, item)) is not None), None)
        if matched is None:
            return None
        if matched:
            containers.append(matched)
    parts = _match_texts(pattern, pod)
    return None if parts is None else {**parts, **_given(containers=containers)}


def _match_container(pattern: ContainerPattern, container: Container) -> Json | None:
    # Numbers are compared first: they rule out most containers, and cost nothing.
    if not container.terminated and pattern[1:] != (None, None, None, None):
        return None
    if pattern.codes is not None and not pattern.codes.holds(container.code):
        return None
    if pattern.signals is not None and not pattern.signals.holds(container.signal):
        return None
    parts = _match_texts(pattern, container)
    if parts is None:
        return None
    signal = {} if pattern.signals is None else _given(signal=container.signal)
    return {**parts, **signal, **({} if pattern.codes is None else {"code": container.code})}


def _match_texts(pattern: PodPattern | ContainerPattern, of: FinishedPod | Container) -> Json | None:
    parts: Json = {}
    for key, regex, text in (
        ("name", pattern.name, of.name),
        ("reason", pattern.reason, of.reason),
        ("message", pattern.message, of.message),
    ):
        if regex is None:
            continue
        found = regex.find(text)
        if found is None:
            return None
        if found or key == "name":
            parts[key] = found
    return parts


def read_pod(pod: Mapping[str, Any]) -> FinishedPod:
    """Read the fields of a finished Pod that classify its end. A field that is missing or null is read as empty, as Go does."""
    status, init_containers = _field(pod, "status", dict, {}), _field(_field(pod, "spec", dict, {}), "initContainers", list, [])
    sidecars = {_text(item, "name") for item in init_containers if _text(item, "restartPolicy") == "Always"}
    statuses = [*_field(status, "initContainerStatuses", list, []), *_field(status, "containerStatuses", list, [])]
    containers = tuple([_read_container(item) for item in statuses])
    return FinishedPod(
        name=_text(_field(pod, "metadata", dict, {}), "name"),
        reason=_text(status, "reason"),
        message=_text(status, "message"),
        containers=containers,
        judged=tuple([item for item in containers if item.name not in sidecars]),
    )


def _read_container(status: Any) -> Container:
    terminated = _field(status, "state", dict, {}).get("terminated")
    return Container(
        name=_text(status, "name"),
        terminated=isinstance(terminated, dict),
        reason=_text(terminated, "reason"),
        message=_text(terminated, "message"),
        signal=_field(terminated, "signal", int, 0),
        code=_field(terminated, "exitCode", int, 0),
        finished=_time(_text(terminated, "finishedAt")),
    )


def _given(**parts: Any) -> Json:
    return {key: value for key, value in parts.items() if value}


def _field(value: Any, key: str, kind: type[T], missing: T) -> T:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, kind) and not isinstance(found, bool) else missing


def _text(value: Any, key: str) -> str:
    return valid(_field(value, key, str, ""))


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return _NEVER
    return time if time.tzinfo else _NEVER  # Not a time as Kubernetes writes it.
