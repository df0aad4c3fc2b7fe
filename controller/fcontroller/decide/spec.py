"""The part of a Framework's spec that decisions need. Templates and Services are in the intent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fcompile.model import names
from fcompile.model.framework import KEEPS_PODS, MAX_TASKS
from fcompile.model.values import mapping, sequence, text

CREATE = "Create"
STOP = "Stop"
_ARGO_CD = "argocd.argoproj.io/tracking-id"
_FLUX = ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name")


class RetryPolicy(NamedTuple):
    fancy: bool
    max_retry_count: int


class RoleSpec(NamedTuple):
    name: str
    task_number: int
    min_failed: int
    """`frameworkAttemptCompletionPolicy.minFailedTaskCount`: nothing below 1 is ever reached."""
    min_succeeded: int
    retry: RetryPolicy
    graceful_deletion_timeout: int | None
    """Seconds; None: a Pod is never deleted by force."""
    owners: int = 1
    """How many owners its Pods have: the ConfigMap, and those of the Framework's own text."""
    known: bool = True
    """Whether its policies are known. Otherwise none of its tasks is retried, or completes, before they are."""


class Spec(NamedTuple):
    execution_type: str
    retry: RetryPolicy
    roles: Mapping[str, RoleSpec]
    """By name, in the order of the Framework."""
    active_deadline: int | None = None
    """Seconds from the creation of the first ConfigMap, after which the Framework ends; None: never."""
    keeps_pods: bool = False
    """Whether finished Pods of tasks that are not retried stay (`cleanPodPolicy`)."""
    awaited: int = 0
    """How many tasks the Framework wants that are not in force yet: they are neither made nor completed."""

    @property
    def stops(self) -> bool:
        """Return whether the Framework is to be stopped."""
        return self.execution_type == STOP

    @property
    def task_number(self) -> int:
        """Return the number of tasks of all roles."""
        return sum(role.task_number for role in self.roles.values())

    def may_have_all(self, before: int) -> bool:
        """Return whether all these tasks are allowed for a Framework that had `before`: one that is too large may stay so, or shrink."""
        return self.task_number <= max(MAX_TASKS, before)


def read_spec(framework: Mapping[str, Any]) -> Spec:
    """Read the spec of a stored Framework, all of whose defaults are filled in (`fcompile.default`)."""
    spec = framework["spec"]
    roles = [read_role(role) for role in spec.get("taskRoles") or ()]
    return Spec(
        execution_type=spec.get("executionType") or "Start",
        retry=_retry(spec["retryPolicy"]),
        roles={role.name: role for role in roles},
        active_deadline=spec.get("activeDeadlineSeconds"),
        keeps_pods=spec.get("cleanPodPolicy") in KEEPS_PODS,
    )


def read_role(role: Mapping[str, Any]) -> RoleSpec:
    """Read one role of such a spec."""
    policy, task = role["frameworkAttemptCompletionPolicy"], role["task"]
    return RoleSpec(
        name=role["name"],
        task_number=role["taskNumber"],
        min_failed=policy["minFailedTaskCount"],
        min_succeeded=policy["minSucceededTaskCount"],
        retry=_retry(task["retryPolicy"]),
        graceful_deletion_timeout=task.get("podGracefulDeletionTimeoutSec"),
        owners=owners_of_pods(mapping(task, "pod")),
    )


def owners_of_pods(template: Mapping[str, Any]) -> int:
    """Return how many owners the Pods of a template have."""
    return 1 + len(sequence(mapping(template, "metadata"), "ownerReferences"))


def is_paused(asked: bool, spec: Spec) -> bool:
    """Return whether nothing of a Framework may be created, retried, ended or deleted. Stop works all the same.

    :param asked: it is annotated so (`asks_for_pause`).
    """
    return asked and not spec.stops


def tracker_of(framework: Mapping[str, Any], label: str = "") -> str:
    """Return which GitOps tool tracks a Framework, and would create it again after a deletion; the empty string: none.

    :param label: another label that means tracking. Argo CD's annotation counts only if it names this object: copies keep the annotation.
    """
    metadata = framework["metadata"]
    labels, own = metadata.get("labels") or {}, f"{names.GROUP}/{names.KIND}:{metadata['namespace']}/{metadata['name']}"
    if (text(mapping(metadata, "annotations"), _ARGO_CD) or "").partition(":")[2] == own:
        return "Argo CD"
    return "Flux" if any(name in labels for name in _FLUX) else f"the label {label}" if label and label in labels else ""


def _retry(policy: Mapping[str, Any]) -> RetryPolicy:
    return RetryPolicy(policy["fancyRetryPolicy"], policy["maxRetryCount"])
