"""Whole Frameworks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from fcompile.model.framework import INT32_MAX, MANAGED_BY, MAX_TASKS
from tests.strategies.basics import Strategy, annotation_maps, distinct, framework_names, label_maps, some, texts, words
from tests.strategies.templates import templates

RETRY = some(
    {"fancyRetryPolicy": st.booleans(), "maxRetryCount": st.sampled_from([-2, -1, 0, 3, INT32_MAX])},
)
few_tasks = st.sampled_from([0, 1, 1, 2, 3])
many_tasks = st.one_of(few_tasks, st.sampled_from([10, 101, MAX_TASKS]))


@st.composite
def _service(draw: st.DrawFn) -> dict[str, Any]:
    numbers = draw(distinct(st.sampled_from([1, 80, 443, 65535]), most=3))
    named = draw(st.booleans())
    ports: list[dict[str, Any]] = []
    for number in numbers:
        name = {"name": f"p{number}"} if len(numbers) > 1 or named else {}
        more: dict[str, Strategy] = {
            "targetPort": st.sampled_from([1, 8080, "http", "p80"]),
            "protocol": words("TCP", "UDP", "SCTP"),
            "appProtocol": words("kubernetes.io/h2c", "http"),
        }
        ports.append({"port": number, **name, **draw(some(more))})
    made: dict[str, Any] = draw(some({"publishNotReadyAddresses": st.booleans()}))
    return {**made, "ports": ports} if ports or named else made


@st.composite
def _role(draw: st.DrawFn, framework: str, name: str, counts: Strategy) -> dict[str, Any]:
    task = draw(some({"retryPolicy": RETRY, "podGracefulDeletionTimeoutSec": st.sampled_from([None, 0, 1800])}, pod=templates()))
    made: dict[str, Any] = {"name": name, "task": task}
    if draw(st.integers(0, 3)):
        made["taskNumber"] = draw(counts)
    if draw(st.booleans()):
        limits = st.sampled_from([-1, 0, 1, 3])
        made["frameworkAttemptCompletionPolicy"] = draw(some({"minFailedTaskCount": limits, "minSucceededTaskCount": limits}))
    # A Service's name and the tasks' host names end at 63 characters. (Some are left for another name.)
    if len(framework) + len(name) < 59 and len(name) < 58 and draw(st.booleans()):
        made["service"] = draw(_service())
    return made


_MANAGED_BY = st.sampled_from(MANAGED_BY)


@st.composite
def frameworks(draw: st.DrawFn, counts: Strategy = few_tasks) -> dict[str, Any]:
    """A Framework without an error, some of whose fields are left to their defaults, in `metadata.namespace` or in none."""
    name = draw(framework_names)
    roles = [draw(_role(name, role, counts)) for role in draw(distinct(framework_names, least=1))]
    for role in roles:
        if sum(role.get("taskNumber", 1) for role in roles) > MAX_TASKS:
            role["taskNumber"] = 1
    fields = {
        "description": texts,
        "executionType": words("Create", "Start", "Stop"),
        "retryPolicy": RETRY,
        "activeDeadlineSeconds": st.sampled_from([1, 3600, INT32_MAX]),
        "cleanPodPolicy": words("All", "Running", "None"),
        "ttlSecondsAfterFinished": st.sampled_from([0, 600, INT32_MAX]),
        "managedBy": _MANAGED_BY,
    }
    metadata = {
        "labels": label_maps.map(_literal),
        "annotations": annotation_maps.map(_literal),
        "namespace": words("default", "on", "1e3"),
    }
    return {
        "apiVersion": "frameworkcontroller.microsoft.com/v1",
        "kind": "Framework",
        "metadata": {"name": name, **draw(some(metadata))},
        "spec": {**draw(some(fields)), "taskRoles": roles},
    }


def _literal(held: dict[str, str]) -> dict[str, str]:
    """Without placeholders, which mean nothing outside a Pod template."""
    return {key: value for key, value in held.items() if "{{FC_" not in key and "{{FC_" not in value}


_OF_SPEC = ("description", "retryPolicy", "executionType", "activeDeadlineSeconds", "cleanPodPolicy", "ttlSecondsAfterFinished")
_NULLABLE = (
    *_OF_SPEC,
    "taskNumber",
    "frameworkAttemptCompletionPolicy",
    "service",
    "labels",
    "annotations",
)


@st.composite
def with_nulls(draw: st.DrawFn, made: Strategy) -> dict[str, Any]:
    """A Framework of `made` in which some fields that it lacks are an explicit null, which means the same."""
    framework: dict[str, Any] = draw(made)
    spec = framework["spec"]
    for value in (framework["metadata"], spec, *spec["taskRoles"], *(role["task"] for role in spec["taskRoles"])):
        for name in draw(distinct(st.sampled_from(_NULLABLE), most=2)):
            if _has(value, name, framework):
                value.setdefault(name, None)
    return framework


def _has(value: dict[str, Any], name: str, framework: dict[str, Any]) -> bool:
    """Whether the type of a part of the Framework has the field."""
    if value is framework["metadata"]:
        return name in ("labels", "annotations")
    if value is framework["spec"]:
        return name in _OF_SPEC
    if "pod" in value:
        return name == "retryPolicy"
    return name in ("taskNumber", "frameworkAttemptCompletionPolicy", "service")
