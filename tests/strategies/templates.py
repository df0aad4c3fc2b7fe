"""Pod templates."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.strategies import containers
from tests.strategies.basics import Strategy, annotation_maps, distinct, dns_labels, few, label_maps, object_names, some, words
from tests.strategies.scheduling import AFFINITY, TOLERATIONS, spread
from tests.strategies.volumes import volumes

PRIORITY_CLASS = "tests-high"
RUNTIME_CLASS = "tests-sandbox"
"""Names of classes that a cluster must have for the Pods to be accepted."""

_IPS = st.sampled_from(["127.0.0.1", "10.1.2.3", "fd00::1"])


@st.composite
def _host_aliases(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = st.lists(words("a.example.com", "on", "i{{FC_TASK_INDEX}}"), max_size=2)
    return [{"ip": ip, "hostnames": draw(names)} for ip in draw(distinct(_IPS))]


_SYSCTLS = distinct(words("kernel.shm_rmid_forced", "kernel/sem"), most=2).map(
    lambda names: [{"name": name, "value": "1"} for name in names]
)
_SECURITY = some(
    {
        "runAsUser": st.sampled_from([0, 1000]),
        "runAsGroup": st.sampled_from([0, 1000]),
        "runAsNonRoot": st.booleans(),
        "fsGroup": st.sampled_from([0, 2000]),
        "fsGroupChangePolicy": words("OnRootMismatch", "Always"),
        "supplementalGroups": st.lists(st.sampled_from([1, 2000, 2**31 - 1]), max_size=2, unique=True),
        "supplementalGroupsPolicy": words("Merge", "Strict"),
        "seLinuxOptions": st.just({"level": "s0:c1,c2", "role": "r", "user": "u", "type": "t"}),
        "seccompProfile": st.just({"type": "RuntimeDefault"}),
        "appArmorProfile": st.just({"type": "RuntimeDefault"}),
        "sysctls": _SYSCTLS,
    }
)
_DNS = some(
    {
        "nameservers": distinct(_IPS, most=2),
        "searches": distinct(words("a.example.com", "svc.{{FC_FRAMEWORK_NAMESPACE}}"), most=2),
        "options": st.lists(
            st.sampled_from([{"name": "ndots", "value": "2"}, {"name": "edns0"}]), max_size=2, unique_by=lambda one: one["name"]
        ),
    }
)

_FIELDS: dict[str, Strategy] = {
    "activeDeadlineSeconds": st.sampled_from([1, 2**31 - 1]),
    "affinity": AFFINITY,
    "automountServiceAccountToken": st.booleans(),
    "dnsConfig": _DNS,
    "dnsPolicy": words("ClusterFirst", "ClusterFirstWithHostNet", "Default"),
    "enableServiceLinks": st.booleans(),
    "hostAliases": _host_aliases(),
    "hostIPC": st.booleans(),
    "hostPID": st.booleans(),
    "hostUsers": st.just(True),
    "hostname": words("no", "h-{{FC_TASK_INDEX}}", "h-{{FC_TASK_INDEX+1}}"),
    "imagePullSecrets": distinct(object_names, most=2).map(lambda names: [{"name": name} for name in names]),
    "nodeSelector": st.dictionaries(
        words("a", "on", "example.com/{{FC_TASK_INDEX}}"), words("no", "1e3", "{{FC_TASK_INDEX}}", ""), max_size=2
    ),
    "os": st.just({"name": "linux"}),
    "preemptionPolicy": st.just("PreemptLowerPriority"),
    "priorityClassName": st.just(PRIORITY_CLASS),
    "readinessGates": distinct(words("example.com/ready", "on"), most=2).map(lambda kinds: [{"conditionType": kind} for kind in kinds]),
    "runtimeClassName": st.just(RUNTIME_CLASS),
    "schedulerName": words("default-scheduler", "kube-batch", "no"),
    "schedulingGates": distinct(words("example.com/wait", "on"), most=2).map(lambda names: [{"name": name} for name in names]),
    "resourceClaims": distinct(dns_labels, most=2).map(lambda names: [{"name": name, "resourceClaimTemplateName": "t"} for name in names]),
    "securityContext": _SECURITY,
    "serviceAccountName": object_names,
    "setHostnameAsFQDN": st.just(False),
    "subdomain": words("on", "s{{FC_TASK_INDEX}}"),
    "terminationGracePeriodSeconds": st.sampled_from([1, 2**31 - 1]),
    "tolerations": TOLERATIONS,
    "topologySpreadConstraints": spread(),
}


_METADATA: Strategy = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {
            "metadata": some(
                {
                    "labels": label_maps,
                    "annotations": annotation_maps,
                }
            )
        }
    ),
)


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    """A Pod template that an API server takes for every index, given the classes named above."""
    held = draw(volumes())
    names = draw(distinct(containers.names, least=1, most=4))
    spec: dict[str, Any] = draw(few(_FIELDS, 5))
    if draw(st.integers(0, 9)):
        spec["restartPolicy"] = draw(words("Never", "Never", "OnFailure", "Always"))
    once = draw(st.integers(0, len(names) - 1))
    spec["initContainers"] = [draw(containers.container(name, held, init=draw(words("once", "sidecar")))) for name in names[:once]]
    spec["containers"] = [draw(containers.container(name, held)) for name in names[once:]]
    _add_ports(draw, spec)
    if held:
        spec["volumes"] = held
        if "serviceAccountToken" in str(held):  # without admission nobody sets the default one
            spec.setdefault("serviceAccountName", "default")
    if not spec["initContainers"] and draw(st.booleans()):
        del spec["initContainers"]
    return {**draw(_METADATA), "spec": spec}


def _add_ports(draw: st.DrawFn, spec: dict[str, Any]) -> None:
    """Ports, none of them twice in a Pod; the host's own where the Pod shares its network."""
    taken: set[int] = set()
    host = draw(st.integers(0, 9)) == 0
    if host:
        spec["hostNetwork"] = True
    for container in spec["containers"]:
        if draw(st.booleans()):
            container["ports"] = draw(containers.port_lists(taken))
            for port in container["ports"]:
                if draw(st.integers(0, 3)) == 0:
                    port["hostPort"] = port["containerPort"]
