"""The names that a Framework's objects get, and the words that FrameworkController reserves.

Source of the words: FrameworkController's `constants.go`; they are part of the interface that users' containers see.
"""

from __future__ import annotations

GROUP = "frameworkcontroller.microsoft.com"
API_VERSION = f"{GROUP}/v1"
KIND = "Framework"
PLURAL = "frameworks"
RESOURCE = f"{PLURAL}.{GROUP}"
"""What kubectl and roles call the kind; its definition has this name."""
NO_DEFINITION = "the definition of Framework is missing: `fcompile crd` prints it"
"""What is said where an API server does not know the kind."""
DIGEST_ANNOTATION = f"{GROUP}/intent-digest"
"""On a compiled Framework: the digest of the intent that was reviewed, `v1:sha256:…`."""
PAUSE_ANNOTATION = f"{GROUP}/pause"
"""On a Framework: `true` holds it as it is."""
RESTART_ANNOTATION = f"{GROUP}/restart"
"""On a Framework: each new value ends the attempt that runs, and the next one begins."""
RUNS_ANNOTATION = f"{GROUP}/runs-namespace"
"""On the controller's Lease: of which namespace its holder runs the Frameworks; empty: of all."""

FRAMEWORK_NAMESPACE = "FC_FRAMEWORK_NAMESPACE"
FRAMEWORK_NAME = "FC_FRAMEWORK_NAME"
TASKROLE_NAME = "FC_TASKROLE_NAME"
TASK_INDEX = "FC_TASK_INDEX"
CONFIGMAP_NAME = "FC_CONFIGMAP_NAME"
POD_NAME = "FC_POD_NAME"
FRAMEWORK_UID = "FC_FRAMEWORK_UID"
FRAMEWORK_ATTEMPT_ID = "FC_FRAMEWORK_ATTEMPT_ID"
FRAMEWORK_ATTEMPT_INSTANCE_UID = "FC_FRAMEWORK_ATTEMPT_INSTANCE_UID"
CONFIGMAP_UID = "FC_CONFIGMAP_UID"
TASKROLE_UID = "FC_TASKROLE_UID"
TASK_UID = "FC_TASK_UID"
TASK_ATTEMPT_ID = "FC_TASK_ATTEMPT_ID"
POD_UID = "FC_POD_UID"
TASK_ATTEMPT_INSTANCE_UID = "FC_TASK_ATTEMPT_INSTANCE_UID"

KNOWN_NAMES = (FRAMEWORK_NAMESPACE, FRAMEWORK_NAME, TASKROLE_NAME, TASK_INDEX, CONFIGMAP_NAME, POD_NAME)
"""Known before anything runs: annotations, the first environment variables, and the placeholders."""
CLUSTER_NAMES = (
    FRAMEWORK_UID,
    FRAMEWORK_ATTEMPT_ID,
    FRAMEWORK_ATTEMPT_INSTANCE_UID,
    CONFIGMAP_UID,
    TASKROLE_UID,
    TASK_UID,
    TASK_ATTEMPT_ID,
)
"""Only the cluster knows their values: annotations and environment variables, in this order, after the known ones."""
POD_ANNOTATIONS = (*KNOWN_NAMES, *CLUSTER_NAMES)
POD_LABELS = (FRAMEWORK_NAME, TASKROLE_NAME, TASK_INDEX)
POD_ENV = (*POD_ANNOTATIONS, POD_UID, TASK_ATTEMPT_INSTANCE_UID)
CLUSTER_ENV = frozenset({*CLUSTER_NAMES, TASK_ATTEMPT_INSTANCE_UID})
"""The environment variables whose values only the cluster knows."""
PLACEHOLDERS = KNOWN_NAMES

_DIGITS = 5
SUM = rf"{TASK_INDEX}[+-][0-9]{{1,{_DIGITS}}}"
"""A pattern for a sum with the index, without its braces."""
MAX_ADDEND = 10**_DIGITS - 1
"""The largest number in a sum."""


def placeholder(name: str) -> str:
    """Return `{{NAME}}`, as it stands in a Pod template, of one of `PLACEHOLDERS` or of a sum such as `FC_TASK_INDEX+1`."""
    return "{{" + name + "}}"


def config_map_name(framework: str) -> str:
    """Return the name of the ConfigMap that stands for an attempt of the Framework."""
    return f"{framework}-attempt"


def pod_name(framework: str, role: str, index: int | str) -> str:
    """Return the name of a task's Pod; it is the same in every attempt."""
    return f"{framework}-{role}-{index}"


def service_name(framework: str, role: str) -> str:
    """Return the name of a role's headless Service, which is the subdomain of its Pods too."""
    return f"{framework}-{role}"


def hostname(role: str, index: int | str) -> str:
    """Return the host name of a task of a role with a Service."""
    return f"{role}-{index}"
