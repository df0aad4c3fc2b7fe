"""The Framework's own types as tables. Written by tools/framework_types.py from fcompile/declare/framework.py."""

from __future__ import annotations

from fcompile.model.fields import Field, Type

FRAMEWORK_TYPES: dict[str, Type] = {
    "Framework": {
        "apiVersion": Field(
            "string", required=True, enum=("frameworkcontroller.microsoft.com/v1",), description="The API group and version of Frameworks."
        ),
        "kind": Field("string", required=True, enum=("Framework",), description="The kind of object."),
        "metadata": Field("object", ref="FrameworkMetadata", required=True, description="Name, namespace, labels and annotations."),
        "spec": Field("object", ref="FrameworkSpec", required=True, description="What is to run."),
        "status": Field("any", description="What the controller knows of the Framework. Only the controller writes it; ignored here."),
    },
    "FrameworkMetadata": {
        "name": Field(
            "string",
            required=True,
            description="The Framework's name: 1 to 63 lower-case letters and digits. Tasks' Pods are called `{framework}-{role}-{index}`.",
            format="framework-name",
        ),
        "namespace": Field("string", description="Where the Framework is, and everything that is made for it.", format="dns-label"),
        "labels": Field("map", items="string", description="Labels of the Framework itself.", format="label-value", keys="label-key"),
        "annotations": Field("map", items="string", description="Annotations of the Framework itself.", keys="annotation-key"),
        "finalizers": Field("list", items="string", description="What must be done before the Framework is gone.", format="label-key"),
        "ownerReferences": Field("list", items="object", ref="OwnerReference", description="Objects that the Framework is deleted with."),
        "generateName": Field(
            "string",
            description="Not usable: the Pods' names are built from `name`, which has to be known beforehand.",
            forbidden="the Pods' names are built from the Framework's, so it has to be known beforehand: write `name`",
        ),
        "creationTimestamp": Field("string", description="Set by the API server; ignored here.", format="date-time"),
        "deletionGracePeriodSeconds": Field("integer", description="Set by the API server; ignored here.", format="int64"),
        "deletionTimestamp": Field("string", description="Set by the API server; ignored here.", format="date-time"),
        "generation": Field("integer", description="Set by the API server; ignored here.", format="int64"),
        "managedFields": Field("list", items="object", ref="ManagedFieldsEntry", description="Set by the API server; ignored here."),
        "resourceVersion": Field("string", description="Set by the API server; ignored here."),
        "selfLink": Field("string", description="Set by the API server; ignored here."),
        "uid": Field("string", description="Set by the API server; ignored here."),
    },
    "FrameworkSpec": {
        "description": Field("string", description="Free text for people; nothing depends on it."),
        "executionType": Field(
            "string",
            enum=("Create", "Start", "Stop"),
            default="Start",
            description="Create: the Framework is stored and waits. Start: it runs. Stop: it is ended, with code -210. It can go from Create to Start or Stop and from Start to Stop, and not back.",
        ),
        "retryPolicy": Field(
            "object",
            ref="RetryPolicy",
            default={},
            description="Whether all tasks are run again, in a new attempt of the Framework, after an attempt has completed.",
        ),
        "activeDeadlineSeconds": Field(
            "integer",
            minimum=1,
            maximum=2147483647,
            description="The Framework ends so many seconds after its first attempt began, with code -240 and without a retry. All attempts count together, and the delays between them. Left out: there is no deadline.",
            format="int64",
        ),
        "cleanPodPolicy": Field(
            "string",
            enum=("All", "Running", "None"),
            description="Which Pods are deleted at the end of the Framework. All, or left out: every Pod. Running: those that run; Pods that have finished stay, with their logs, until the Framework is deleted. None: as Running, since no Pod runs on after the end.",
        ),
        "ttlSecondsAfterFinished": Field(
            "integer",
            minimum=0,
            maximum=2147483647,
            description="The Framework is deleted so many seconds after its end, with all that is left of it. The object itself stays where Argo CD or Flux tracks it: they would create it anew. Left out: the controller's setting `frameworkCompletedRetainSec`.",
            format="int32",
        ),
        "managedBy": Field(
            "string",
            enum=("frameworkcontroller.microsoft.com/frameworkcontroller", "kueue.x-k8s.io/multikueue"),
            description="Who reconciles the Framework, when that is not simply FrameworkController. It cannot be changed later.",
            nonempty=True,
        ),
        "taskRoles": Field(
            "list",
            items="object",
            ref="TaskRole",
            map_keys=("name",),
            description="The groups of equal tasks that make up the Framework, such as one of workers and one of parameter servers.",
            max_items=500,
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
            minimum=-2,
            maximum=2147483647,
            default=0,
            description="How many failures are followed by another try. -1: every failure. -2: every completion, success included.",
            format="int32",
        ),
    },
    "TaskRole": {
        "name": Field(
            "string",
            required=True,
            description="The role's name, unique in the Framework: 1 to 63 lower-case letters and digits.",
            format="framework-name",
        ),
        "taskNumber": Field(
            "integer",
            minimum=0,
            maximum=10000,
            default=1,
            description="How many tasks the role has; each gets one Pod. It can be changed while the Framework runs.",
            format="int32",
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
            minimum=-1,
            maximum=2147483647,
            default=1,
            description="The attempt fails as soon as so many tasks of the role have failed for good. -1: however many fail.",
            format="int32",
        ),
        "minSucceededTaskCount": Field(
            "integer",
            minimum=-1,
            maximum=2147483647,
            default=-1,
            description="The attempt succeeds as soon as so many tasks of the role have succeeded. -1: not before all tasks are done.",
            format="int32",
        ),
    },
    "TaskRoleService": {
        "ports": Field(
            "list",
            items="object",
            ref="TaskRoleServicePort",
            map_keys=("port", "protocol"),
            description="The Service's ports. Tasks can be reached by DNS name on every port; these are for tools that list them.",
            max_items=20,
        ),
        "publishNotReadyAddresses": Field(
            "boolean",
            default=True,
            description="Whether tasks have their DNS names before they are ready, as tasks that wait for each other need.",
        ),
    },
    "TaskRoleServicePort": {
        "name": Field("string", description="The port's name; needed when there are several.", format="dns-label"),
        "port": Field("integer", required=True, minimum=1, maximum=65535, description="The number of the port.", format="int32"),
        "targetPort": Field(
            "int-or-string",
            minimum=1,
            maximum=65535,
            description="The port of the Pods, by number or by a container port's name. Left out: the same as `port`.",
            format="port-name",
        ),
        "protocol": Field("string", enum=("TCP", "UDP", "SCTP"), default="TCP", description="The port's transport protocol."),
        "appProtocol": Field("string", description="A hint at the protocol that is spoken on the port.", format="label-key", nonempty=True),
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
            nullable=True,
            description="After how many seconds a Pod that is still being deleted is deleted by force, so that the task goes on; the old Pod may then still run. null: never, so that no task ever runs twice at once.",
            format="int64",
        ),
        "pod": Field("object", ref="PodTemplateSpec", required=True, description="The template of the tasks' Pods, as in a Deployment."),
    },
}
"""By type name; a `ref` that is not here names a Pod type."""
