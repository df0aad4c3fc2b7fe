"""The completion status of a finished Pod, by the first failure of the `podFailureSpec` that matches it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from fcontroller.decide import codes
from fcontroller.decide.codes import Code, Json
from fcontroller.decide.failures.spec import ContainerPattern, Failure, PodPattern, Range
from fcontroller.decide.go_json import go_json
from fcontroller.decide.observed import Container, FinishedPod
from fcontroller.decide.regex import Regex

_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_ANYTHING: Final = Regex("(?s).*")

AGREED: Final = tuple(
    Failure(code, (PodPattern(containers=(ContainerPattern(name=_ANYTHING, message=_ANYTHING, codes=Range(code.code, code.code)),)),))
    for code in (codes.CONTAINER_TRANSIENT, codes.CONTAINER_CONFLICT, codes.CONTAINER_PERMANENT)
)
"""Exit codes by which a container tells the controller what to do. They come before those of any `podFailureSpec`."""


class Classifier:
    """Knows the failures of a `podFailureSpec` and says how Pods ended."""

    def __init__(self, failures: Sequence[Failure] = ()) -> None:
        self._failures = (*AGREED, *failures)

    def __call__(self, pod: FinishedPod) -> Json:
        """Return the completion status of a Pod."""
        if pod.succeeded:
            status = codes.SUCCEEDED.ended("Pod succeeded")
        elif pod.disruption[:1] == ("DeletionByPodGC",):
            # Since Kubernetes 1.26 its collector lets a Pod fail whose node is gone, right before it deletes the Pod.
            return codes.deleted_by_others(": ".join(pod.disruption))
        else:
            code, diagnostics = self._failure(pod)
            status = code.ended(f"Pod failed: {diagnostics}")
        return {**status, "pod": _to_json(pod)}

    def _failure(self, pod: FinishedPod) -> tuple[Code, str]:
        for failure in self._failures:
            for pattern in failure.patterns:
                matched = _match_pod(pattern, pod)
                if matched is not None:
                    return failure.code, f"PodPattern matched: {go_json(matched)}"
        return _last_failed(pod.containers), f"PodPattern unmatched: {go_json(_to_json(pod))}"


def _to_json(pod: FinishedPod) -> Json:
    """Return a Pod as a completion status has it: without its name and without empty fields (a container keeps its name and code)."""
    containers = [
        {"name": item.name, **_given(reason=item.reason, message=item.message, signal=item.signal), "code": item.code}
        for item in pod.containers
    ]
    return _given(reason=pod.reason, message=pod.message, containers=containers)


def _last_failed(containers: Sequence[Container]) -> Code:
    failed = [container for container in containers if container.judged and container.code != 0]
    # Of several that finished at the same time, the first one.
    return codes.unrecognized(max(failed, key=_finished).code) if failed else codes.NO_FAILED_CONTAINER


def _match_pod(pattern: PodPattern, pod: FinishedPod) -> Json | None:
    """Return the non-empty parts that the pattern asks for, or None where the pattern does not match."""
    containers, judged = list[Json](), [container for container in pod.containers if container.judged]
    for wanted in pattern.containers:
        matched = next((found for item in judged if (found := _match_container(wanted, item)) is not None), None)
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


def _given(**parts: Any) -> Json:
    return {key: value for key, value in parts.items() if value}


def _finished(container: Container) -> datetime:
    try:
        time = datetime.fromisoformat(container.finished_at)
    except ValueError:
        return _NEVER
    return time if time.tzinfo else _NEVER  # Not a time as Kubernetes writes it.
