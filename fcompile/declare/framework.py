"""The Framework's own types: the one declaration of their fields, types, bounds, defaults and meaning.

The meaning is FrameworkController's. From here `fcompile/schema/framework_types.json` is generated, by which Frameworks are checked and
defaulted, and the tables of docs/framework.md, which explains more. A Pod template is a plain mapping: its types are Kubernetes' own.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from fcompile.declare.fields import Also, Annotations, Int32, Int64, Labels, Manifest
from fcompile.model.framework import INT32_MAX, MANAGED_BY, MAX_ROLES, MAX_SERVICE_PORTS, MAX_TASKS
from fcompile.model.names import API_VERSION, KIND

_BY_THE_SERVER = Field(description="Set by the API server; ignored here.")
_Set = Annotated[str | None, _BY_THE_SERVER]
_SetTime = Annotated[str | None, Also(format="date-time"), _BY_THE_SERVER]
_SetNumber = Annotated[Int64 | None, _BY_THE_SERVER]


class RetryPolicy(Manifest):
    """What is tried again after it has completed, and how often."""

    fancyRetryPolicy: bool | None = False
    """Also go by the kind of a failure: a transient one is always retried and not counted, a permanent one never."""
    maxRetryCount: Annotated[Int32 | None, Field(ge=-2)] = 0
    """How many failures are followed by another try. -1: every failure. -2: every completion, success included."""


class CompletionPolicy(Manifest):
    """When tasks of one role complete the attempt of the whole Framework."""

    minFailedTaskCount: Annotated[Int32 | None, Field(ge=-1)] = 1
    """The attempt fails as soon as so many tasks of the role have failed for good. -1: however many fail."""
    minSucceededTaskCount: Annotated[Int32 | None, Field(ge=-1)] = -1
    """The attempt succeeds as soon as so many tasks of the role have succeeded. -1: not before all tasks are done."""


class TaskRoleServicePort(Manifest):
    """One port of a role's Service."""

    name: Annotated[str | None, Also(format="dns-label")] = None
    """The port's name; needed when there are several."""
    port: Annotated[Int32, Field(ge=1, le=65535)]
    """The number of the port."""
    targetPort: Annotated[int, Field(ge=1, le=65535)] | Annotated[str, Also(format="port-name")] | None = None
    """The port of the Pods, by number or by a container port's name. Left out: the same as `port`."""
    protocol: Literal["TCP", "UDP", "SCTP"] | None = "TCP"
    """The port's transport protocol."""
    appProtocol: Annotated[str | None, Also(format="label-key", nonempty=True)] = None
    """A hint at the protocol that is spoken on the port."""


class TaskRoleService(Manifest):
    """The headless Service of a role."""

    ports: Annotated[list[TaskRoleServicePort] | None, Field(max_length=MAX_SERVICE_PORTS), Also(map_keys=("port", "protocol"))] = None
    """The Service's ports. Tasks can be reached by DNS name on every port; these are for tools that list them."""
    publishNotReadyAddresses: bool | None = True
    """Whether tasks have their DNS names before they are ready, as tasks that wait for each other need."""


class TaskSpec(Manifest):
    """What each task of a role is."""

    retryPolicy: Annotated[RetryPolicy | None, Also(default={})] = None
    """Whether a task is run again, with a new Pod in the same attempt of the Framework, after its Pod has completed."""
    podGracefulDeletionTimeoutSec: Annotated[Int64 | None, Also(nullable=True)] = None
    """After how many seconds a Pod that is still being deleted is deleted by force, so that the task goes on; the old Pod may then still
    run. null: never, so that no task ever runs twice at once."""
    pod: Annotated[dict[str, Any], Also(ref="PodTemplateSpec")]
    """The template of the tasks' Pods, as in a Deployment."""


class TaskRole(Manifest):
    """A group of equal tasks."""

    name: Annotated[str, Also(format="framework-name")]
    """The role's name, unique in the Framework: 1 to 63 lower-case letters and digits."""
    taskNumber: Annotated[Int32 | None, Field(ge=0, le=MAX_TASKS)] = 1
    """How many tasks the role has; each gets one Pod. It can be changed while the Framework runs."""
    frameworkAttemptCompletionPolicy: Annotated[CompletionPolicy | None, Also(default={})] = None
    """When completed tasks of this role complete the attempt of the whole Framework, before all of its tasks are done."""
    service: TaskRoleService | None = None
    """Give the role a headless Service `{framework}-{role}`, so that its tasks find each other by DNS name."""
    task: TaskSpec
    """What each task of the role is."""


class FrameworkSpec(Manifest):
    """What is to run."""

    description: str | None = None
    """Free text for people; nothing depends on it."""
    executionType: Literal["Create", "Start", "Stop"] | None = "Start"
    """Create: the Framework is stored and waits. Start: it runs. Stop: it is ended, with code -210. It can go from Create to Start or Stop
    and from Start to Stop, and not back."""
    retryPolicy: Annotated[RetryPolicy | None, Also(default={})] = None
    """Whether all tasks are run again, in a new attempt of the Framework, after an attempt has completed."""
    activeDeadlineSeconds: Annotated[Int64 | None, Field(ge=1, le=INT32_MAX)] = None
    """The Framework ends so many seconds after its first attempt began, with code -240 and without a retry. All attempts count together,
    and the delays between them. Left out: there is no deadline."""
    cleanPodPolicy: Literal["All", "Running", "None"] | None = None
    """Which Pods are deleted at the end of the Framework. All, or left out: every Pod. Running: those that run; Pods that have finished
    stay, with their logs, until the Framework is deleted. None: the same as Running, since Pods that run always end."""
    ttlSecondsAfterFinished: Annotated[Int32 | None, Field(ge=0)] = None
    """The Framework is deleted so many seconds after its end, with all that is left of it. The object itself stays where Argo CD or Flux
    tracks it: they would create it anew. Left out: the controller's setting `frameworkCompletedRetainSec`."""
    managedBy: Annotated[str | None, Also(enum=MANAGED_BY, nonempty=True)] = None
    """Who reconciles the Framework, when that is not simply FrameworkController. It cannot be changed later."""
    taskRoles: Annotated[list[TaskRole] | None, Field(max_length=MAX_ROLES), Also(map_keys=("name",))] = None
    """The groups of equal tasks that make up the Framework, such as one of workers and one of parameter servers."""


class FrameworkMetadata(Manifest):
    """What names and marks a Framework."""

    name: Annotated[str, Also(format="framework-name")]
    """The Framework's name: 1 to 63 lower-case letters and digits. Tasks' Pods are called `{framework}-{role}-{index}`."""
    namespace: Annotated[str | None, Also(format="dns-label")] = None
    """Where the Framework is, and everything that is made for it."""
    labels: Labels = None
    """Labels of the Framework itself."""
    annotations: Annotations = None
    """Annotations of the Framework itself."""
    finalizers: Annotated[list[str] | None, Also(format="label-key")] = None
    """What must be done before the Framework is gone."""
    ownerReferences: Annotated[list[dict[str, Any]] | None, Also(ref="OwnerReference")] = None
    """Objects that the Framework is deleted with."""
    generateName: Annotated[
        str | None, Also(forbidden="the Pods' names are built from the Framework's, so it has to be known beforehand: write `name`")
    ] = None
    """Not usable: the Pods' names are built from `name`, which has to be known beforehand."""
    creationTimestamp: _SetTime = None
    deletionGracePeriodSeconds: _SetNumber = None
    deletionTimestamp: _SetTime = None
    generation: _SetNumber = None
    managedFields: Annotated[list[dict[str, Any]] | None, Also(ref="ManagedFieldsEntry"), _BY_THE_SERVER] = None
    resourceVersion: _Set = None
    selfLink: _Set = None
    uid: _Set = None


class Framework(Manifest):
    """A distributed job or service: roles of equal tasks, each of which runs one Pod.

    Fields of `metadata` and `spec` can be given directly: `Framework(name="train", taskRoles=[TaskRole(…)])`.
    """

    apiVersion: Annotated[str, Also(enum=(API_VERSION,))]
    """The API group and version of Frameworks."""
    kind: Annotated[str, Also(enum=(KIND,))]
    """The kind of object."""
    metadata: FrameworkMetadata
    """Name, namespace, labels and annotations."""
    spec: FrameworkSpec
    """What is to run."""
    status: Any = None
    """What the controller knows of the Framework. Only the controller writes it; ignored here."""

    if TYPE_CHECKING:  # The signature for type checkers. `_in_their_places` moves these fields into `metadata` and `spec`.

        def __init__(
            self,
            *,
            name: str = ...,
            namespace: str | None = ...,
            labels: dict[str, str] | None = ...,
            annotations: dict[str, str] | None = ...,
            description: str | None = ...,
            executionType: Literal["Create", "Start", "Stop"] | None = ...,
            retryPolicy: RetryPolicy | None = ...,
            activeDeadlineSeconds: int | None = ...,
            cleanPodPolicy: Literal["All", "Running", "None"] | None = ...,
            ttlSecondsAfterFinished: int | None = ...,
            managedBy: str | None = ...,
            taskRoles: list[TaskRole] | None = ...,
            metadata: FrameworkMetadata = ...,
            spec: FrameworkSpec = ...,
            **others: Any,
        ) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _in_their_places(cls, value: Any) -> Any:
        """Move fields that are given directly to their places in the manifest. A manifest itself is not changed, even where it is wrong."""
        if not isinstance(value, dict) or not value.keys().isdisjoint(("apiVersion", "kind")):
            return value
        head = {"apiVersion": API_VERSION, "kind": KIND}
        direct = [name for name in value if name in ("name", "namespace", "labels", "annotations") or name in FrameworkSpec.model_fields]
        if not value.keys().isdisjoint(("metadata", "spec")):
            if direct:
                raise ValueError(f"give `metadata` and `spec`, or their fields ({', '.join(direct)}), not both")
            return head | value
        metadata = {name: value[name] for name in value if _is_meant(name, ("name", "namespace", "labels", "annotations"))}
        spec = {name: value[name] for name in value if name not in metadata and _is_meant(name, FrameworkSpec.model_fields)}
        others = {name: value[name] for name in value.keys() - metadata.keys() - spec.keys()}
        return {**head, "metadata": metadata, "spec": spec, **others}


def _is_meant(name: str, fields: Iterable[str]) -> bool:
    """Return whether a name is that of a field, perhaps misspelt: it is put beside that, where the check says what was meant."""
    return bool(get_close_matches(name.lower(), map(str.lower, fields), 1, 0.85))
