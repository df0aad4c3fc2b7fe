"""The Framework's own types: fields, bounds, defaults and what they mean.

The meaning is FrameworkController's. The types of the Pod template (`PodTemplateSpec` and below) are Kubernetes' own and come from
`schema.pod_schemas`. `status` belongs to the controller, and nothing checks it.
"""

from __future__ import annotations

from fcompile.model.fields import Field, Type
from fcompile.model.names import API_VERSION, GROUP, KIND

MANAGED_BY = (f"{GROUP}/frameworkcontroller", "kueue.x-k8s.io/multikueue")
MAX_TASKS = 10_000
"""Of one role, and of all roles of a Framework together."""
# What the rules of the CRD may cost in the API server depends on how many items a list can have. Nobody meets these bounds.
MAX_ROLES = 500
MAX_SERVICE_PORTS = 20
INT32_MAX = 2**31 - 1

SERVER_SET = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""Metadata that only the API server writes."""
_SERVER_SET: dict[str, Field] = {
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), Field("string", format="date-time")),
    **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), Field("integer", format="int64")),
    "managedFields": Field("list", items="object", ref="ManagedFieldsEntry"),
    **dict.fromkeys(("resourceVersion", "selfLink", "uid"), Field("string")),
}
"""Ignored, but the API server refuses what it cannot read."""

FRAMEWORK_TYPES: dict[str, Type] = {
    "Framework": {
        "apiVersion": Field("string", required=True, enum=(API_VERSION,), description="The API group and version of Frameworks."),
        "kind": Field("string", required=True, enum=(KIND,), description="The kind of object."),
        "metadata": Field("object", ref="FrameworkMetadata", required=True, description="Name, namespace, labels and annotations."),
        "spec": Field("object", ref="FrameworkSpec", required=True, description="What is to run."),
        "status": Field("any", description="What the controller knows of the Framework. Only the controller writes it; ignored here."),
    },
    "FrameworkMetadata": {
        "name": Field(
            "string",
            required=True,
            format="framework-name",
            description="The Framework's name: 1 to 63 lower-case letters and digits. Tasks' Pods are called `{framework}-{role}-{index}`.",
        ),
        "namespace": Field("string", format="dns-label", description="Where the Framework is, and everything that is made for it."),
        "labels": Field("map", items="string", keys="label-key", format="label-value", description="Labels of the Framework itself."),
        "annotations": Field("map", items="string", keys="annotation-key", description="Annotations of the Framework itself."),
        "finalizers": Field("list", items="string", format="label-key", description="What must be done before the Framework is gone."),
        "ownerReferences": Field("list", items="object", ref="OwnerReference", description="Objects that the Framework is deleted with."),
        "generateName": Field(
            "string",
            forbidden="the Pods' names are built from the Framework's, so it has to be known beforehand: write `name`",
            description="Not usable: the Pods' names are built from `name`, which has to be known beforehand.",
        ),
        **{name: _SERVER_SET[name]._replace(description="Set by the API server; ignored here.") for name in SERVER_SET},
    },
    "FrameworkSpec": {
        "description": Field("string", description="Free text for people; nothing depends on it."),
        "executionType": Field(
            "string",
            enum=("Create", "Start", "Stop"),
            default="Start",
            description="Create: the Framework is stored and waits. Start: it runs. Stop: it is ended, with code -210. "
            "It can go from Create to Start or Stop and from Start to Stop, and not back.",
        ),
        "retryPolicy": Field(
            "object",
            ref="RetryPolicy",
            default={},
            description="Whether all tasks are run again, in a new attempt of the Framework, after an attempt has completed.",
        ),
        "managedBy": Field(
            "string",
            enum=MANAGED_BY,
            nonempty=True,
            description="Who reconciles the Framework, when that is not simply FrameworkController. It cannot be changed later.",
        ),
        "taskRoles": Field(
            "list",
            items="object",
            ref="TaskRole",
            map_keys=("name",),
            max_items=MAX_ROLES,
            description="The groups of equal tasks that make up the Framework, such as one of workers and one of parameter servers.",
        ),
    },
    "RetryPolicy": {
        "fancyRetryPolicy": Field(
            "boolean",
            default=False,
            description="Also go by the kind of a failure: a transient one is always retried and not counted, a permanent one never.",
        ),
        "maxRetryCount": Field(
            "integer",
            format="int32",
            minimum=-2,
            maximum=INT32_MAX,
            default=0,
            description="How many failures are followed by another try. -1: every failure. -2: every completion, success included.",
        ),
    },
    "TaskRole": {
        "name": Field(
            "string",
            required=True,
            format="framework-name",
            description="The role's name, unique in the Framework: 1 to 63 lower-case letters and digits.",
        ),
        "taskNumber": Field(
            "integer",
            format="int32",
            minimum=0,
            maximum=MAX_TASKS,
            default=1,
            description="How many tasks the role has; each gets one Pod. It can be changed while the Framework runs.",
        ),
        "frameworkAttemptCompletionPolicy": Field(
            "object",
            ref="CompletionPolicy",
            default={},
            description="When completed tasks of this role complete the attempt of the whole Framework, before all of its tasks are done.",
        ),
        "service": Field(
            "object",
            ref="TaskRoleService",
            description="Give the role a headless Service `{framework}-{role}`, so that its tasks find each other by DNS name.",
        ),
        "task": Field("object", ref="TaskSpec", required=True, description="What each task of the role is."),
    },
    "CompletionPolicy": {
        "minFailedTaskCount": Field(
            "integer",
            format="int32",
            minimum=-1,
            maximum=INT32_MAX,
            default=1,
            description="The attempt fails as soon as so many tasks of the role have failed for good. -1: however many fail.",
        ),
        "minSucceededTaskCount": Field(
            "integer",
            format="int32",
            minimum=-1,
            maximum=INT32_MAX,
            default=-1,
            description="The attempt succeeds as soon as so many tasks of the role have succeeded. -1: not before all tasks are done.",
        ),
    },
    "TaskRoleService": {
        "ports": Field(
            "list",
            items="object",
            ref="TaskRoleServicePort",
            map_keys=("port", "protocol"),
            max_items=MAX_SERVICE_PORTS,
            description="The Service's ports. Tasks can be reached by DNS name on every port; these are for tools that list them.",
        ),
        "publishNotReadyAddresses": Field(
            "boolean",
            default=True,
            description="Whether tasks have their DNS names before they are ready, as tasks that wait for each other need.",
        ),
    },
    "TaskRoleServicePort": {
        "name": Field("string", format="dns-label", description="The port's name; needed when there are several."),
        "port": Field("integer", format="int32", required=True, minimum=1, maximum=65535, description="The number of the port."),
        "targetPort": Field(
            "int-or-string",
            format="port-name",
            minimum=1,
            maximum=65535,
            description="The port of the Pods, by number or by a container port's name. Left out: the same as `port`.",
        ),
        "protocol": Field("string", enum=("TCP", "UDP", "SCTP"), default="TCP", description="The port's transport protocol."),
        "appProtocol": Field("string", format="label-key", nonempty=True, description="A hint at the protocol that is spoken on the port."),
    },
    "TaskSpec": {
        "retryPolicy": Field(
            "object",
            ref="RetryPolicy",
            default={},
            description="Whether a task is run again, with a new Pod in the same attempt of the Framework, after its Pod has completed.",
        ),
        "podGracefulDeletionTimeoutSec": Field(
            "integer",
            format="int64",
            nullable=True,
            description="After how many seconds a Pod that is still being deleted is deleted by force, so that the task goes on; "
            "the old Pod may then still run. null: never, so that no task ever runs twice at once.",
        ),
        "pod": Field("object", ref="PodTemplateSpec", required=True, description="The template of the tasks' Pods, as in a Deployment."),
    },
}
"""By type name; a `ref` that is not here names a Pod type."""
