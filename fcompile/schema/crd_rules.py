"""The CRD's rules between several fields, by type; they hold wherever the type is used.

Mostly rules in CEL, with messages of their own. The API server adds up what all rules may cost, from how many items a list can have: so
`taskRoles`, `containers`, `volumes`, … have bounds that nobody meets, and what is in lists inside those is said without CEL.
Problems that are too costly for both (a mount without a volume, a request above its limit) are refused when the Pod is created.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fcompile.model import gates
from fcompile.model.fields import Type
from fcompile.model.framework import MAX_TASKS


class Rule(NamedTuple):
    """A rule in CEL, for Kubernetes 1.`since` and newer, and for versions before 1.`before`."""

    expression: str
    message: str
    since: int = 0
    before: int = gates.NEVER
    optional_old: bool = False
    """Whether it is asked of new objects too, and `oldSelf` is optional."""


def rules(type_name: str, fields: Type, version: int) -> dict[str, Any]:
    """Return the rules and formats to add to the schema of an object type."""
    found = [*RULES.get(type_name, ()), *_one_of(type_name, fields, version)]
    listed = [
        {"rule": rule.expression, "message": rule.message, **({"optionalOldSelf": True} if rule.optional_old else {})}
        for rule in found
        if rule.since <= version < rule.before
    ]
    return {**FORMS.get(type_name, {}), **({"x-kubernetes-validations": listed} if listed else {})}


def _one_of(type_name: str, fields: Type, version: int) -> list[Rule]:
    """Return the rule of a type that must be exactly one of several things."""
    if type_name == "Volume":
        kinds = [name for name in fields if name != "name" and (name != "image" or version >= gates.IMAGE_VOLUMES)]
        return [Rule(f"{_count(kinds)} <= 1", "a volume has one source: make two volumes of it")]
    if type_name not in HANDLERS:
        return []
    what, kinds = HANDLERS[type_name], [name for name in ("exec", "httpGet", "tcpSocket", "grpc", "sleep") if name in fields]
    if version < gates.SLEEP and "sleep" in kinds:
        kinds.remove("sleep")
    return [Rule(f"{_count(kinds)} == 1", f"{what} does one thing: give it exactly one of {', '.join(kinds)}")]


def _count(fields: list[str]) -> str:
    return " + ".join(f"(has(self.{field}) ? 1 : 0)" for field in fields)


HANDLERS = {"Probe": "a probe", "LifecycleHandler": "a lifecycle hook"}

_NOT_BOTH_VALUES = {"not": {"required": ["value", "valueFrom"], "properties": {"value": {"minLength": 1}}}}
_NOT_BOTH_PATHS = {
    "not": {"required": ["subPath", "subPathExpr"], "properties": {"subPath": {"minLength": 1}, "subPathExpr": {"minLength": 1}}}
}
FORMS: dict[str, dict[str, Any]] = {
    "EnvVar": _NOT_BOTH_VALUES,
    "EnvVarSource": {"minProperties": 1},
    "DownwardAPIVolumeFile": {"oneOf": [{"required": ["fieldRef"]}, {"required": ["resourceFieldRef"]}]},
    "EnvFromSource": {"oneOf": [{"required": ["configMapRef"]}, {"required": ["secretRef"]}]},
    "VolumeMount": _NOT_BOTH_PATHS,
}
"""What is asked without CEL."""

_PROFILE = Rule("(self.type == 'Localhost') == has(self.localhostProfile)", "localhostProfile goes with type Localhost, and only with that")

_OPTIONAL_OLD_SELF = 30
"""The Kubernetes 1.x from which on a rule can be about new objects and look at the old one too."""
_TASKS = "{}.taskRoles.map(r, has(r.taskNumber) ? r.taskNumber : 1).sum()"

RULES: dict[str, tuple[Rule, ...]] = {
    "Framework": (
        Rule(
            "!has(self.spec.taskRoles) || self.spec.taskRoles.all(r, !has(r.service) || size(self.metadata.name) + size(r.name) + 1 <= 63)",
            "the Service {framework}-{role} of a role with a service has at most 63 characters: shorten the Framework's or the role's name",
        ),
        Rule(
            "!has(self.spec.taskRoles) || !self.spec.taskRoles.exists(r, has(r.service)) || self.metadata.name.matches('^[a-z]')",
            "the Service {framework}-{role} of a role with a service begins with a letter: let the Framework's name begin with one",
            before=gates.SERVICE_NAMES_WITH_DIGIT_FIRST,
        ),
    ),
    "FrameworkSpec": (
        Rule(
            f"!has(self.taskRoles) || {_TASKS.format('self')} <= {MAX_TASKS} || (oldSelf.hasValue() && has(oldSelf.value().taskRoles) && "
            f"{_TASKS.format('self')} <= {_TASKS.format('oldSelf.value()')})",
            f"all roles together have at most {MAX_TASKS} tasks; what has more already may only shrink: make several Frameworks of it",
            since=_OPTIONAL_OLD_SELF,
            optional_old=True,
        ),
        Rule(
            "!(has(oldSelf.executionType) && oldSelf.executionType == 'Stop') || (has(self.executionType) && self.executionType == 'Stop')",
            "executionType stays Stop: a stopped Framework cannot be started again; delete it and create it anew",
        ),
        Rule(
            "!(has(self.executionType) && self.executionType == 'Create') || "
            "(has(oldSelf.executionType) && oldSelf.executionType == 'Create')",
            "executionType goes from Create to Start or Stop and from Start to Stop, and not back",
        ),
        Rule(
            "has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)",
            "managedBy cannot be changed: delete the Framework and create it anew",
        ),
    ),
    "TaskRole": (
        Rule(
            "!has(self.service) || (has(self.task.pod.spec.hostname) && self.task.pod.spec.hostname != '') || "
            "size(self.name) + 1 + size(string(has(self.taskNumber) && self.taskNumber > 0 ? self.taskNumber - 1 : 0)) <= 63",
            "the host name {role}-{index} of a role with a service has at most 63 characters: shorten the role's name, or set hostname",
        ),
    ),
    "TaskRoleService": (
        Rule(
            "!has(self.ports) || self.ports.size() <= 1 || self.ports.all(p, has(p.name) && p.name != '')",
            "a service of several ports needs a name for each",
        ),
        Rule(
            "!has(self.ports) || self.ports.all(p, !has(p.name) || p.name == '' || "
            "self.ports.exists_one(q, has(q.name) && q.name == p.name))",
            "two ports of a service have the same name",
        ),
    ),
    "PodSpec": (
        Rule(
            "!has(self.initContainers) || self.initContainers.all(c, (has(c.restartPolicy) && c.restartPolicy == 'Always') || "
            "!(has(c.livenessProbe) || has(c.readinessProbe) || has(c.startupProbe) || "
            "(has(c.lifecycle) && (has(c.lifecycle.postStart) || has(c.lifecycle.preStop)))))",
            "an init container that is no sidecar (restartPolicy: Always) has no probes and no lifecycle hooks: it runs to its end",
            since=gates.SIDECARS,
        ),
        Rule(
            "!has(self.shareProcessNamespace) || !self.shareProcessNamespace || !has(self.hostPID) || !self.hostPID",
            "shareProcessNamespace does not go with hostPID",
        ),
        Rule(
            "!has(self.hostUsers) || self.hostUsers || !((has(self.hostNetwork) && self.hostNetwork) || "
            "(has(self.hostPID) && self.hostPID) || (has(self.hostIPC) && self.hostIPC))",
            "hostUsers: false does not go with hostNetwork, hostPID and hostIPC",
            since=gates.HOST_USERS,
        ),
        Rule(
            "!has(self.hostnameOverride) || !((has(self.hostNetwork) && self.hostNetwork) || "
            "(has(self.setHostnameAsFQDN) && self.setHostnameAsFQDN))",
            "hostnameOverride does not go with hostNetwork and setHostnameAsFQDN",
            since=gates.HOSTNAME_OVERRIDE,
        ),
        Rule(
            "!has(self.dnsPolicy) || self.dnsPolicy != 'None' || "
            "(has(self.dnsConfig) && has(self.dnsConfig.nameservers) && size(self.dnsConfig.nameservers) > 0)",
            "dnsPolicy None needs at least one nameserver in dnsConfig",
        ),
        Rule(
            "!has(self.schedulingGates) || size(self.schedulingGates) == 0 || !has(self.nodeName) || self.nodeName == ''",
            "nodeName cannot be set while there are schedulingGates",
            since=gates.SCHEDULING_GATES,
        ),
    ),
    "Container": (
        *(
            Rule(
                f"!has(self.{probe}) || !has(self.{probe}.successThreshold) || self.{probe}.successThreshold <= 1",
                f"successThreshold of a {probe} must be 1",
            )
            for probe in ("livenessProbe", "startupProbe")
        ),
        Rule(
            "!has(self.readinessProbe) || !has(self.readinessProbe.terminationGracePeriodSeconds)",
            "terminationGracePeriodSeconds is not for a readinessProbe",
        ),
        Rule(
            "!has(self.restartPolicyRules) || size(self.restartPolicyRules) == 0 || has(self.restartPolicy)",
            "restartPolicyRules need the container's own restartPolicy",
            since=gates.CONTAINER_RESTART_RULES,
        ),
    ),
    "SecurityContext": (
        Rule(
            "!has(self.privileged) || !self.privileged || !has(self.allowPrivilegeEscalation) || self.allowPrivilegeEscalation",
            "allowPrivilegeEscalation: false does not go with privileged: true",
        ),
    ),
    "SeccompProfile": (_PROFILE,),
    "AppArmorProfile": (_PROFILE,),
    "Toleration": (
        Rule(
            "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
            "a toleration with operator Exists takes no value",
        ),
        Rule(
            "(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')",
            "a toleration without a key needs operator Exists",
        ),
        Rule(
            "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
            "tolerationSeconds needs the effect NoExecute",
        ),
    ),
}
