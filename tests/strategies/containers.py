"""Containers, init containers and sidecars."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.strategies.basics import Strategy, distinct, dns_labels, few, object_names, references, requirements, some, texts, words
from tests.strategies.volumes import files, mounts

_ENV_NAMES = words(
    "A", "PATH", "on", "y", "a.b-c_D", "HTTP_PROXY", "_", "I{{FC_TASK_INDEX}}", "I{{FC_TASK_INDEX+2}}", "null", "E-1", "a b", "1:30"
)
_ENV_FIELDS = words(
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.labels['FC_TASK_INDEX']",
    "metadata.annotations['example.com/{{FC_TASK_INDEX}}']",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_KEYS = words("a", "on", "x_{{FC_TASK_INDEX}}", "1e3")
_KEY_OF = some({"optional": st.booleans()}, name=object_names, key=_KEYS)


def _env_sources(held: list[dict[str, Any]]) -> Strategy:
    kinds: dict[str, Strategy] = {
        "fieldRef": some({"apiVersion": st.just("v1")}, fieldPath=_ENV_FIELDS),
        "resourceFieldRef": some({"divisor": words("1", "1m", "0", "1000m", "1.0")}, resource=words("limits.cpu", "requests.cpu")),
        "configMapKeyRef": _KEY_OF,
        "secretKeyRef": _KEY_OF,
    }
    if files(held):
        kinds["fileKeyRef"] = some(
            {"optional": st.booleans()},
            volumeName=st.sampled_from(files(held)),
            path=words("a.env", "i{{FC_TASK_INDEX}}/e"),
            key=words("A", "on"),
        )
    return st.sampled_from(sorted(kinds)).flatmap(lambda kind: st.fixed_dictionaries({kind: kinds[kind]}))


@st.composite
def _env(draw: st.DrawFn, held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for name in draw(distinct(_ENV_NAMES, most=4)):
        how = draw(st.integers(0, 5))
        if how == 0:
            found.append({"name": name})
        elif how < 4:
            found.append({"name": name, "value": draw(st.one_of(texts, references))})
        else:
            found.append({"name": name, "valueFrom": draw(_env_sources(held))})
    return found


_ENV_FROM = st.lists(
    st.sampled_from(("configMapRef", "secretRef")).flatmap(
        lambda kind: some({"prefix": words("", "P_", "i{{FC_TASK_INDEX}}")}, **{kind: some({"optional": st.booleans()}, name=object_names)})
    ),
    max_size=2,
)

_HEADERS = st.lists(st.fixed_dictionaries({"name": words("Host", "X-On"), "value": texts}), max_size=2)
_HTTP = some(
    {
        "path": words("/", "healthz?a=b&c=d#e", "/{{FC_TASK_INDEX}}"),
        "scheme": words("HTTP", "HTTPS"),
        "host": words("h"),
        "httpHeaders": _HEADERS,
    },
    port=st.sampled_from([80, "http", "8080x", "i{{FC_TASK_INDEX}}", "i{{FC_TASK_INDEX+1}}"]),
)
_EXEC = st.fixed_dictionaries({"command": st.lists(texts, min_size=1, max_size=3)})
_TCP = some({"host": words("127.0.0.1")}, port=st.sampled_from([1, 65535, "http"]))
_GRPC = some({"service": words("", "s", "{{FC_TASKROLE_NAME}}")}, port=st.sampled_from([1, 50051]))
_PROBED = {"exec": _EXEC, "httpGet": _HTTP, "tcpSocket": _TCP, "grpc": _GRPC}


def _handler(kinds: dict[str, Strategy]) -> Strategy:
    return st.sampled_from(sorted(kinds)).flatmap(lambda kind: st.fixed_dictionaries({kind: kinds[kind]}))


def _probe(*, once: bool, grace: bool) -> Strategy:
    """A probe; `once` says that one success must do, `grace` that it may have a grace period."""
    seconds = st.sampled_from([1, 10, 3600])
    timing = {
        "initialDelaySeconds": st.sampled_from([0, 1, 600]),
        "timeoutSeconds": seconds,
        "periodSeconds": seconds,
        "failureThreshold": seconds,
        "successThreshold": st.just(1) if once else st.sampled_from([1, 3]),
    }
    if grace:
        timing["terminationGracePeriodSeconds"] = seconds
    return _handler(_PROBED).flatmap(lambda handler: some(timing).map(lambda held: {**handler, **held}))


PROBES = {
    "livenessProbe": _probe(once=True, grace=True),
    "readinessProbe": _probe(once=False, grace=False),
    "startupProbe": _probe(once=True, grace=True),
}
_HOOK = _handler({"exec": _EXEC, "httpGet": _HTTP, "sleep": st.just({"seconds": 1})})
LIFECYCLE = some({"postStart": _HOOK, "preStop": _HOOK})

_CAPABILITIES = st.lists(words("NET_ADMIN", "ALL", "SYS_PTRACE"), unique=True, max_size=2)
SECURITY = some(
    {
        "runAsUser": st.sampled_from([0, 1000, 2**31 - 1]),
        "runAsGroup": st.sampled_from([0, 1000]),
        "runAsNonRoot": st.booleans(),
        "readOnlyRootFilesystem": st.booleans(),
        "capabilities": some({"add": _CAPABILITIES, "drop": _CAPABILITIES}),
        "seLinuxOptions": some({"level": words("s0:c123,c456"), "type": words("t")}),
        "seccompProfile": st.sampled_from(
            [{"type": "RuntimeDefault"}, {"type": "Localhost", "localhostProfile": "p/{{FC_TASK_INDEX}}.json"}]
        ),
        "appArmorProfile": st.sampled_from([{"type": "Unconfined"}, {"type": "Localhost", "localhostProfile": "no"}]),
        "procMount": st.just("Default"),
    }
).flatmap(lambda held: st.sampled_from(({}, {"allowPrivilegeEscalation": False}, {"privileged": True})).map(lambda more: {**held, **more}))

_IMAGES = words(
    "busybox",
    f"registry.example.com:5000/a/b@sha256:{64 * '0'}",
    "a:{{FC_TASK_INDEX}}",
    "a:{{FC_TASK_INDEX+1}}",
    "nginx:1.25",
    "no",
    "a__b",
)
_PLAIN: dict[str, Strategy] = {
    "command": st.lists(st.one_of(texts, references), max_size=4),
    "args": st.lists(st.one_of(texts, references), max_size=4),
    "workingDir": st.one_of(texts, words("/work/{{FC_TASK_INDEX}}")),
    "envFrom": _ENV_FROM,
    "imagePullPolicy": words("Always", "IfNotPresent", "Never"),
    "terminationMessagePath": words("/dev/termination-log", "/x/{{FC_TASK_INDEX}}", "on"),
    "terminationMessagePolicy": words("File", "FallbackToLogsOnError"),
    "stdin": st.booleans(),
    "stdinOnce": st.booleans(),
    "tty": st.booleans(),
    "securityContext": SECURITY,
    "resources": requirements(),
}


@st.composite
def container(draw: st.DrawFn, name: str, held: list[dict[str, Any]], *, init: str = "") -> dict[str, Any]:
    """One container that mounts some of these volumes. `init`: empty for an app container, else `once` or `sidecar`."""
    fields: dict[str, Strategy] = {**_PLAIN, "env": _env(held), "volumeMounts": mounts(held)}
    if init != "once":
        fields |= {**PROBES, "lifecycle": LIFECYCLE}
    if init == "":
        fields["resizePolicy"] = st.sampled_from(
            [[{"resourceName": "cpu", "restartPolicy": "NotRequired"}], [{"resourceName": "memory", "restartPolicy": "NotRequired"}]]
        )
    made: dict[str, Any] = draw(few(fields, 6))
    if init == "sidecar":
        made["restartPolicy"] = "Always"
    return {"name": name, "image": draw(_IMAGES), **made}


def port_lists(taken: set[int]) -> Strategy:
    """Ports of one container, none of them `taken`, which is added to."""

    @st.composite
    def ports(draw: st.DrawFn) -> list[dict[str, Any]]:
        found = []
        for number in draw(distinct(st.sampled_from([1, 80, 443, 8080, 65535]), most=3)):
            if number in taken:
                continue
            taken.add(number)
            name = {"name": draw(words(f"p{number}", f"n{number}-x"))} if draw(st.booleans()) else {}
            found.append({"containerPort": number, **name, **draw(some({"protocol": words("TCP", "UDP", "SCTP"), "hostIP": st.just("")}))})
        return found

    return ports()


names = st.one_of(dns_labels, words("main", "i{{FC_TASK_INDEX}}", "c{{FC_TASK_INDEX+1}}", "on"))
