"""What FrameworkController adds to the containers and the metadata of a task's Pod.

Added first to `env`, so that the user's own variables can refer to them as `$(FC_…)`. The values that only the cluster
knows are not in an intent: `expand.pod` puts them in when it is given them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fcompile.model import names

ENV_BEFORE_CLUSTER = len(names.KNOWN_NAMES)
"""Where the variables that only the cluster knows go in a lowered container's `env`: after those known at compile time…"""
ENV_BEFORE_INSTANCE = ENV_BEFORE_CLUSTER + 1
"""… and, in the lowered list, FC_TASK_ATTEMPT_INSTANCE_UID goes after FC_POD_UID, which stands alone between the two."""


TERMINATION_MESSAGE_POLICY = "FallbackToLogsOnError"
"""Of containers that set none."""


class ClusterValues(NamedTuple):
    """What only the cluster knows of one task attempt: uids as the API server gave them, attempt ids counted from 0."""

    framework_uid: str
    framework_attempt_id: int
    config_map_uid: str
    task_role_uid: str
    task_uid: str
    task_attempt_id: int | str
    """A text stands for an id that is filled in later."""

    def annotations(self) -> dict[str, str]:
        """Return the values of `names.CLUSTER_NAMES`, in their order."""
        return {
            names.FRAMEWORK_UID: self.framework_uid,
            names.FRAMEWORK_ATTEMPT_ID: str(self.framework_attempt_id),
            names.FRAMEWORK_ATTEMPT_INSTANCE_UID: f"{self.framework_attempt_id}_{self.config_map_uid}",
            names.CONFIGMAP_UID: self.config_map_uid,
            names.TASKROLE_UID: self.task_role_uid,
            names.TASK_UID: self.task_uid,
            names.TASK_ATTEMPT_ID: str(self.task_attempt_id),
        }


def known_env(known: dict[str, str]) -> list[dict[str, Any]]:
    """Return the variables that do not depend on the cluster, in FrameworkController's order."""
    literal = [{"name": name, "value": known[name]} for name in names.KNOWN_NAMES]
    return [*literal, {"name": names.POD_UID, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.uid"}}}]


def add_cluster_env(env: list[dict[str, Any]], cluster: ClusterValues) -> list[dict[str, Any]]:
    """Return a lowered container's `env` with the cluster's values at their places."""
    uids = [{"name": name, "value": value} for name, value in cluster.annotations().items()]
    instance = {"name": names.TASK_ATTEMPT_INSTANCE_UID, "value": f"{cluster.task_attempt_id}_$({names.POD_UID})"}
    return [
        *env[:ENV_BEFORE_CLUSTER],
        *uids,
        *env[ENV_BEFORE_CLUSTER:ENV_BEFORE_INSTANCE],
        instance,
        *env[ENV_BEFORE_INSTANCE:],
    ]


def with_containers(spec: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return a Pod spec with each container and each init container as `change` makes it."""
    changed = {kind: list(map(change, spec[kind])) for kind in ("initContainers", "containers") if spec.get(kind)}
    return {**spec, **changed}


def lower_container(container: dict[str, Any], env: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the container with `env`, from `known_env`, before its own variables, and a termination message policy where it has none.

    The containers of a role share the variables: for 30,000 containers, 1 MB of YAML, copies took 60 MB.
    """
    lowered = dict(container)
    lowered["env"] = [*env, *(container.get("env") or [])]
    if not container.get("terminationMessagePolicy"):
        lowered["terminationMessagePolicy"] = TERMINATION_MESSAGE_POLICY
    return lowered
