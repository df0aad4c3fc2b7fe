"""Fields that stand in the wrong place, and words that other tools have for a field. Only looked at once a field is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import accumulate, islice
from typing import Any, Final, NamedTuple

from fcompile.diagnostics.problem import Path
from fcompile.diagnostics.suggestions import closest
from fcompile.model.fields import Type
from fcompile.schema.types import types

_COUNT: Final = ("replicas", "parallelism", "completions", "count", "instances", "taskCount", "numTasks", "size")
_RETRIES: Final = ("backoffLimit", "retries", "retryLimit", "maxRetries", "maxRetry", "maxRestarts")
_TTL: Final = ("ttl", "ttlSeconds", "ttlAfterFinished")
_TIMEOUT: Final = ("timeout", "timeoutSeconds", "deadline", "deadlineSeconds", "maxRuntime", "maxRuntimeSeconds")
_TEMPLATE: Final = ("template", "podTemplate", "podSpec")
_ENV: Final = ("envs", "environment", "envVars", "variables")
_OF_CONTAINER: Final = ("image", "command", "args", "ports", "volumeMounts")
_OF_POD: Final = (
    *("containers", "initContainers", "nodeSelector", "priorityClassName", "schedulerName"),
    *("serviceAccountName", "terminationGracePeriodSeconds", "tolerations", "volumes"),
)
_OF_METADATA: Final = ("annotations", "labels")


def _in_containers(way: str, words: Iterable[str]) -> dict[str, str]:
    """Return words that stand too far up, each with the field that it is, by the way from there to a container."""
    return {**{word: f"{way}.{word}" for word in words}, **dict.fromkeys(_ENV, f"{way}.env")}


def _in_pod(way: str) -> dict[str, str]:
    """Return likewise words of a Pod and its containers, by the way to the Pod template."""
    of_pod = {word: f"{way}.spec.{word}" for word in (*_OF_POD, "restartPolicy")}
    return of_pod | _in_containers(f"{way}.spec.containers[]", (*_OF_CONTAINER, "env", "resources"))


_ROLES: Final = ("roles", "tasks", "groups", "workers", "replicaSpecs", "replicatedJobs")
_SYNONYMS: Final[dict[str, dict[str, str]]] = {
    "FrameworkSpec": {
        **dict.fromkeys(_COUNT, "taskRoles[].taskNumber"),
        **dict.fromkeys(_TTL, "ttlSecondsAfterFinished"),
        **dict.fromkeys(_TIMEOUT, "activeDeadlineSeconds"),
        **dict.fromkeys(_TEMPLATE, "taskRoles[].task.pod"),
        **dict.fromkeys(_ROLES, "taskRoles"),
        **_in_pod("taskRoles[].task.pod"),
        "completionPolicy": "taskRoles[].frameworkAttemptCompletionPolicy",
        "pod": "taskRoles[].task.pod",
        "task": "taskRoles[].task",
    },
    "TaskRole": {
        **dict.fromkeys(_COUNT, "taskNumber"),
        **dict.fromkeys(_TEMPLATE, "task.pod"),
        **dict.fromkeys(_RETRIES, "task.retryPolicy.maxRetryCount"),
        **_in_pod("task.pod"),
        **{word: f"task.pod.metadata.{word}" for word in _OF_METADATA},
        **{word: f"task.retryPolicy.{word}" for word in ("fancyRetryPolicy", "maxRetryCount")},
        "metadata": "task.pod.metadata",
        "retryPolicy": "task.retryPolicy",
        "spec": "task.pod.spec",
    },
    "TaskSpec": {
        **dict.fromkeys(_TEMPLATE, "pod"),
        **dict.fromkeys(_RETRIES, "retryPolicy.maxRetryCount"),
        **_in_pod("pod"),
        **{word: f"pod.metadata.{word}" for word in _OF_METADATA},
        "metadata": "pod.metadata",
    },
    "RetryPolicy": {**dict.fromkeys(_RETRIES, "maxRetryCount"), "limit": "maxRetryCount"},
    "PodTemplateSpec": _in_containers("spec.containers[]", _OF_CONTAINER),
    "PodSpec": _in_containers("containers[]", _OF_CONTAINER),
    "Container": {
        **dict.fromkeys(_ENV, "env"),
        **dict.fromkeys(("cmd", "entrypoint"), "command"),
        **dict.fromkeys(("mounts", "volumes"), "volumeMounts"),
        "arguments": "args",
        "limits": "resources.limits",
        "requests": "resources.requests",
    },
    "Volume": {
        **dict.fromkeys(("pvc", "persistentVolume", "volumeClaim", "claim"), "persistentVolumeClaim"),
        **dict.fromkeys(("claimName", "pvcName"), "persistentVolumeClaim.claimName"),
    },
    # A Secret is `secretName` in a volume and `name` elsewhere.
    "SecretVolumeSource": {"name": "secretName"},
    **{f"Secret{kind}": {"secretName": "name"} for kind in ("Projection", "KeySelector", "EnvSource")},
    **{f"ConfigMap{kind}": {"configMapName": "name"} for kind in ("VolumeSource", "Projection", "KeySelector", "EnvSource")},
    "PersistentVolumeClaimVolumeSource": {"name": "claimName"},
    **{kind: {"http": "httpGet", "tcp": "tcpSocket", "command": "exec.command"} for kind in ("Probe", "LifecycleHandler")},
    "TaskRoleServicePort": {"containerPort": "port"},
    "ContainerPort": dict.fromkeys(("port", "targetPort"), "containerPort"),
}
"""By type: the field's name here, as a path from the same object; `[]` stands for the items of a list."""
_GPU: Final = "a container asks for GPUs, with `resources: {limits: {nvidia.com/gpu: 1}}`"
_ENDS: Final = (
    "which tasks end the attempt is said by each role's `frameworkAttemptCompletionPolicy`: `minSucceededTaskCount`, `minFailedTaskCount`"
)
_GANG: Final = "all Pods are always created, and a scheduler that knows gangs places them together: `schedulerName` in the Pod's `spec`"
_QUEUE: Final = (
    "a queue is named in the `metadata` of the Pods, as its scheduler reads it: the label `kueue.x-k8s.io/queue-name`, or the annotation"
    " `scheduling.volcano.sh/queue-name`"
)
_PROCESSES: Final = "how many processes a Pod starts is said to its program, as `torchrun --nproc-per-node=8`"
_NETWORK: Final = "a Pod that uses the network of its node has `hostNetwork: true` in its `spec`"
_JOBS: Final = {
    "jaxReplicaSpecs": "JAXJob",
    "mpiReplicaSpecs": "MPIJob",
    "paddleReplicaSpecs": "PaddleJob",
    "pytorchReplicaSpecs": "PyTorchJob",
    "runtimeRef": "TrainJob",
    "tfReplicaSpecs": "TFJob",
    "trainer": "TrainJob",
    "xgbReplicaSpecs": "XGBoostJob",
}
"""Fields of Kubeflow's jobs, with the kind that has them."""
_COUNTED: Final = dict.fromkeys(_COUNT, "how many tasks there are is the role's `taskNumber`")
_TRIED_AGAIN: Final = dict.fromkeys(
    _RETRIES,
    "how often each task is tried again is `taskRoles[].task.retryPolicy.maxRetryCount`, and how often all together"
    " `retryPolicy.maxRetryCount`",
)
_NOT_OF_A_POD: Final = _COUNTED | dict.fromkeys(
    _RETRIES, "how often a task is tried again is `retryPolicy.maxRetryCount` in `task`, beside `pod`"
)
_SUSPENDED: Final = (
    "`executionType: Create` in `spec` lets it wait until that is set to Start; the annotation"
    ' `frameworkcontroller.microsoft.com/pause: "true"` freezes one that runs: its Pods go on, and keep their GPUs'
)
_ELASTIC: Final = "no tasks are added or removed by themselves; to scale, change the `taskNumber` of a role"
_ELSEWHERE: Final = {
    "podFailurePolicy": "`fancyRetryPolicy: true` in `retryPolicy` retries what another try may get over; which exit codes those are"
    " is a setting of the controller, `podFailureSpec`",
    "backoffLimitPerIndex": "each task has retries of its own: `retryPolicy.maxRetryCount` in `task`",
    "completionMode": "each task has an index, `{{FC_TASK_INDEX}}`; remove the field",
    "selector": "the controller knows the Pods that it made; remove the field",
    "runPolicy": "its `activeDeadlineSeconds`, `cleanPodPolicy` and `ttlSecondsAfterFinished` are in the Framework's `spec` itself here,"
    " and its `backoffLimit` is `retryPolicy.maxRetryCount`",
    "dependsOn": "all roles begin together; `fcontroller barrier`, as an init container, waits until the Pods of all tasks are there",
    "slotsPerWorker": f"slots are told to `mpirun`, in its host file; {_GPU}",
    **dict.fromkeys(("suspend", "suspended", "paused", "pause"), _SUSPENDED),
    **dict.fromkeys(("minReplicas", "maxReplicas", "elasticPolicy"), _ELASTIC),
    **dict.fromkeys(("successPolicy", "failurePolicy", "policies"), _ENDS),
    **dict.fromkeys(("minAvailable", "minMember"), _GANG),
    **dict.fromkeys(("gpu", "gpus", "gpuCount", "numGpus"), _GPU),
    **dict.fromkeys(("queue", "queueName"), _QUEUE),
    **dict.fromkeys(("nprocPerNode", "nproc_per_node", "numProcPerNode"), _PROCESSES),
    **dict.fromkeys(("network", "networkMode"), _NETWORK),
    **_COUNTED,
    **{field: f"it is a {kind}'s; `fcompile convert` makes a Framework of one" for field, kind in _JOBS.items()},
}
"""Fields of other tools without an equivalent here, and what to do instead."""
_ALL_END: Final = dict.fromkeys(
    ("cleanPodPolicy", "ttlSecondsAfterFinished", *_TTL), "all tasks end together, so it is in the Framework's `spec`, beside `taskRoles`"
)
_DEADLINE: Final = dict.fromkeys(
    ("activeDeadlineSeconds", *_TIMEOUT),
    "a Framework's deadline, over all of its attempts, is `activeDeadlineSeconds` in its `spec`, beside `taskRoles`; that of each Pod"
    " is in the Pod's own `spec`",
)
_NONE_IN_A_TEMPLATE: Final = dict.fromkeys(("apiVersion", "kind", "status"), "a Pod template has none; remove it")
_IN_RESOURCES: Final = "write it in `requests` or `limits`, one level down"
_FOR_A_POD: Final[dict[str, str]] = {word: advice for word, advice in _ELSEWHERE.items() if advice in (_GPU, _QUEUE, _PROCESSES, _NETWORK)}
_AT_ONCE: Final = dict.fromkeys(
    ("backoff", "backoffSeconds", "backoffPeriodSeconds", "delay", "delaySeconds", "interval", "retryDelaySec"),
    "a retry begins at once, or, after a conflict over resources, when the settings of the controller say; remove it",
)
_LACKING: Final[dict[str, dict[str, str]]] = {
    "FrameworkSpec": _ELSEWHERE | _TRIED_AGAIN,
    "TaskRole": _ELSEWHERE | _ALL_END | _DEADLINE,
    "TaskSpec": _ELSEWHERE | _ALL_END | _DEADLINE,
    "PodTemplateSpec": _FOR_A_POD | _ALL_END | _DEADLINE | _NONE_IN_A_TEMPLATE | _NOT_OF_A_POD,
    "PodSpec": _FOR_A_POD | _ALL_END | _NOT_OF_A_POD,
    "Container": _FOR_A_POD,
    "RetryPolicy": _AT_ONCE,
    "ResourceRequirements": dict.fromkeys(("cpu", "memory", "ephemeral-storage"), _IN_RESOURCES),
}
"""By type: the fields that are looked for there and are not its own, each with what to do instead."""


_MOST_LOOKED_AT = 100
"""Unknown fields of one object that are looked at: more of them are no mere slips."""


class Home(NamedTuple):
    """The field of the same object that an unknown one belongs into, and the unknown ones that belong there with it."""

    field: str
    names: tuple[str, ...]
    empty: bool
    """The field is there and has no value: only the indentation is wrong."""
    is_list: bool


def synonym(type_name: str, name: str, fields: Type) -> str | None:
    """Return what a word of other tools is called here; None when it is no such word."""
    known = _SYNONYMS.get(type_name, {})
    meant = known.get(name) or known.get(name[:1].lower() + name[1:])
    return meant if meant and meant.partition(".")[0].removesuffix("[]") in fields else None


def first_alike(type_name: str, meant: str, siblings: Mapping[str, Any], fields: Type) -> str | None:
    """Return the first of the fields that are all called the same here: no two can both be renamed."""
    alike = (other for other in islice(siblings, _MOST_LOOKED_AT) if other not in fields and synonym(type_name, other, fields) == meant)
    return next(alike, None)


def instead(type_name: str, name: str, siblings: Mapping[str, Any], fields: Type) -> str | None:
    """Return what to do about a field that other tools have there, in whatever case; None when it is no such field."""
    if type_name == "ResourceRequirements" and "/" in name:
        return _IN_RESOURCES
    if _is_name_of_variable(type_name, name, siblings, fields):
        return f"write `- {{name: {name}, value: …}}`"
    return next((advice for field, advice in _LACKING.get(type_name, {}).items() if field.lower() == name.lower()), None)


def _is_name_of_variable(type_name: str, name: str, siblings: Mapping[str, Any], fields: Type) -> bool:
    """Return whether a variable is written as in Compose, `{RATE: "1"}`."""
    return type_name == "EnvVar" and siblings.keys() == {name} and closest(name, fields) is None


def home_below(name: str, siblings: Mapping[str, Any], fields: Type, version: int) -> Home | None:
    """Return the field that an unknown one belongs into, if that field is empty, or needed and left out."""
    for field, form in fields.items():
        empty = field in siblings and siblings[field] is None
        if not form.ref or not (empty or (form.required and field not in siblings)):
            continue
        inside = types(version)[form.ref]
        is_list = form.kind == "list"
        if name in inside and form.kind in ("object", "list") and (empty or not is_list):
            names = tuple(other for other in siblings if other not in fields and other in inside)
            return Home(field, names, empty, is_list)
    return None


def explained(type_name: str, siblings: Mapping[str, Any], fields: Type, version: int) -> set[str]:
    """Return the fields that are missing only because something unknown was meant to be them, or to be in them."""
    unknown = islice((name for name in siblings if name not in fields), _MOST_LOOKED_AT)
    return {field for name in unknown for field in _meant(type_name, name, siblings, fields, version)}


def _meant(type_name: str, name: str, siblings: Mapping[str, Any], fields: Type, version: int) -> Iterable[str]:
    word = synonym(type_name, name, fields)
    if type_name == "FrameworkSpec" and name in _JOBS:
        yield "taskRoles"
    if word is not None:
        yield word.partition(".")[0].removesuffix("[]")
    near = closest(name, fields)
    if near is not None:
        yield near.word
    if _is_name_of_variable(type_name, name, siblings, fields):
        yield "name"
    home = home_below(name, siblings, fields, version)
    if home is not None:
        yield home.field


def home(name: str, root: str, path: Path, version: int) -> str | None:
    """Return in words where a field belongs that is not one of the object at `path` (seen from an object of type `root`), or None.

    Fields are often indented one step too far or too little, so the objects around and below are looked at first.
    """
    steps = [step for step in path if isinstance(step, str)]
    chain = list(accumulate(steps, lambda owner, step: types(version)[owner][step].ref, initial=root))
    for depth in range(len(chain) - 2, -1, -1):
        if name in types(version)[chain[depth]]:
            up = len(chain) - 1 - depth
            owner = f"`{steps[depth - 1]}`" if depth else f"the {root}"
            return f"it is a field of {owner}, {f'{up} levels' if up > 1 else 'one level'} up"
    for field, below in types(version)[chain[-1]].items():
        if below.ref and name in types(version)[below.ref]:
            return f"it belongs in `{field}`, one level down"
    place = _places(root, version).get(name)
    return None if place is None else f"it is a field of `{place}`"


@cache
def _places(root: str, version: int) -> dict[str, str]:
    """Map each field that only one type has to the shortest way from the root: `mountPath` → `spec.containers[].volumeMounts[]`."""
    ways: dict[str, str] = {root: ""}
    owners: dict[str, list[str]] = {}
    order = [root]  # breadth first, so that the first way is the shortest
    for name in order:
        for field, form in types(version)[name].items():
            owners.setdefault(field, []).append(name)
            if form.ref and form.ref not in ways:
                step = field + ("[]" if form.kind == "list" else "")
                ways[form.ref] = f"{ways[name]}.{step}" if ways[name] else step
                order.append(form.ref)
    return {field: ways[names[0]] for field, names in owners.items() if len(names) == 1 and ways[names[0]]}
