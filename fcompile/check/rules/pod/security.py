"""Security contexts: settings that contradict each other, and what the host's namespaces rule out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import entries, flag, size, texts
from fcompile.check.seen import repeated
from fcompile.diagnostics.problem import Finding, Fix, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.formats import SPACE, accepts
from fcompile.model.values import mapping, text

PRIVILEGE_ESCALATION = error_rule(
    code="FC265",
    name="privilege-escalation",
    summary="A container forbids privilege escalation, and another of its settings allows it.",
    why="`allowPrivilegeEscalation: false` does not go with `privileged: true` or the capability CAP_SYS_ADMIN.",
    remedy="Drop one of the two.",
)
LOCAL_PROFILE = error_rule(
    code="FC266",
    name="local-profile",
    summary="A seccomp or AppArmor profile of type Localhost has no valid name, or a profile of another type has a name.",
    why="`localhostProfile` goes with `type: Localhost`, and only with that; for seccomp it is a relative path without `..`.",
    remedy="Correct the type or the name.",
)
HOST_NAMESPACES = error_rule(
    code="FC267",
    name="host-namespaces",
    summary="Settings of the Pod's namespaces exclude each other.",
    why=(
        "`shareProcessNamespace` does not go with `hostPID`; `hostUsers: false` does not go with hostNetwork, hostPID and "
        "hostIPC; `procMount: Unmasked` needs `hostUsers: false`."
    ),
    remedy="Drop one of the two.",
)
SYSCTL = error_rule(
    code="FC268",
    name="sysctl",
    summary="A sysctl is set twice, or belongs to a namespace that the Pod shares with the host.",
    why="On the host network net.* cannot be set, with `hostIPC` neither kernel.shm*, kernel.msg*, kernel.sem nor fs.mqueue.*.",
    remedy="Remove the sysctl, or the sharing of the namespace.",
)

_IPC_SYSCTLS = frozenset(
    f"kernel.{name}" for name in ("sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "shm", "msgmax", "msgmnb", "msgmni", "msg")
)
CAPABILITY_PREFIX = warning_rule(
    code="FC269",
    name="capability-prefix",
    summary="A capability is written with `CAP_`.",
    why="Kubernetes' names have no prefix, and containerd puts one before them: a container does not get `CAP_CAP_IPC_LOCK`.",
    remedy="Leave `CAP_` out.",
)
_SWAP_SEPARATORS = str.maketrans("./", "/.")
_MAX_PROFILE = 4095


def security_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the security contexts of the Pod and its containers."""
    if pod.security:
        yield from _profiles(pod.security, (*pod.path, "securityContext"), pod.version)
        yield from _sysctls(pod)
    yield from _namespaces(pod)
    for container in pod.containers:
        if context := mapping(container.fields, "securityContext"):
            yield from _container(context, (*container.path, "securityContext"), pod)
            yield from _capabilities(context, (*container.path, "securityContext"))


def _capabilities(context: dict[str, Any], path: Path) -> Iterator[Finding]:
    for key in ("add", "drop"):
        for capability, here in texts(mapping(context, "capabilities"), (*path, "capabilities"), key):
            name = capability.upper().removeprefix("CAP_")
            if name != capability.upper() and name:
                fix = Fix("leave `CAP_` out", here, "value", name) if name.replace("_", "").isalpha() else None
                yield Finding(CAPABILITY_PREFIX, here, f"`{capability}` is `{name}` in Kubernetes: leave `CAP_` out", fix=fix)


def _container(context: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    if flag(context, "allowPrivilegeEscalation") is False:
        if flag(context, "privileged"):
            message = "`allowPrivilegeEscalation: false` does not go with `privileged: true`; drop one of the two"
            yield Finding(PRIVILEGE_ESCALATION, (*path, "allowPrivilegeEscalation"), message)
        for capability, capability_path in texts(mapping(context, "capabilities"), (*path, "capabilities"), "add"):
            if capability == "CAP_SYS_ADMIN":
                message = "the capability CAP_SYS_ADMIN does not go with `allowPrivilegeEscalation: false`; drop one of the two"
                yield Finding(PRIVILEGE_ESCALATION, capability_path, message)
    if context.get("procMount") == "Unmasked" and pod.host_users and pod.version >= gates.PROC_MOUNT:
        message = "`procMount: Unmasked` needs a user namespace; set `hostUsers: false` in the Pod"
        yield Finding(HOST_NAMESPACES, (*path, "procMount"), message)
    yield from _profiles(context, path, pod.version)


def _profiles(context: dict[str, Any], path: Path, version: int) -> Iterator[Finding]:
    for key in ("seccompProfile", "appArmorProfile"):
        profile = context.get(key)
        if isinstance(profile, dict) and (key == "seccompProfile" or version >= gates.APP_ARMOR_PROFILE):
            yield from _profile(profile, key, (*path, key))


def _profile(profile: dict[str, Any], key: str, path: Path) -> Iterator[Finding]:
    kind, name = text(profile, "type"), profile.get("localhostProfile")
    field_path = (*path, "localhostProfile")
    if kind != "Localhost":
        if kind and name is not None:
            message = f"`localhostProfile` does not go with `type: {kind}`; remove it, or write Localhost"
            yield Finding(LOCAL_PROFILE, field_path, message, part="key")
    elif name is None:
        yield Finding(LOCAL_PROFILE, path, "a profile of type Localhost needs `localhostProfile`; name it")
    elif isinstance(name, str):
        problem = _name_problem(key, name)
        if problem is not None:
            yield Finding(LOCAL_PROFILE, field_path, f'the profile "{name[:100]}" {problem}')


def _name_problem(key: str, name: str) -> str | None:
    """Return what is wrong with the name of a local profile, or None; `key` is the field of the profile."""
    if key == "seccompProfile":
        return None if accepts("relative-path")(name) else "must be a relative path without `..`; correct it"
    if not name:
        return "is empty; name it"
    if name.strip(SPACE) != name:
        return "has blanks around it; take them away"
    if size(name) > _MAX_PROFILE:
        return f"is longer than {_MAX_PROFILE} bytes; shorten it"
    return None


def _namespaces(pod: Pod) -> Iterator[Finding]:
    spec = pod.spec
    if flag(spec, "shareProcessNamespace") and flag(spec, "hostPID"):
        message = "`shareProcessNamespace` does not go with `hostPID`; drop one of the two"
        yield Finding(HOST_NAMESPACES, (*pod.path, "shareProcessNamespace"), message)
    if pod.host_users:
        return
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if flag(spec, key):
            yield Finding(HOST_NAMESPACES, (*pod.path, key), f"`{key}` does not go with `hostUsers: false`; drop one of the two")


def _sysctls(pod: Pod) -> Iterator[Finding]:
    context_path = (*pod.path, "securityContext")
    for name, path, first in repeated(pod.security, context_path, "sysctls", "name"):
        yield Finding(SYSCTL, path, f'the sysctl "{name}" is set twice; keep one', related=first)
    host_ipc = flag(pod.spec, "hostIPC") is True
    for entry, path in entries(pod.security, context_path, "sysctls") if pod.version >= 29 else ():
        yield from _host_sysctl(text(entry, "name") or "", (*path, "name"), pod.host_network, host_ipc)


def _host_sysctl(name: str, path: Path, host_network: bool, host_ipc: bool) -> Iterator[Finding]:
    separators = [character for character in name if character in "./"]
    dotted = name.translate(_SWAP_SEPARATORS) if separators[:1] == ["/"] else name
    if host_network and dotted.startswith("net."):
        yield Finding(SYSCTL, path, f'the sysctl "{name}" cannot be set on the host network; drop it or `hostNetwork`')
    if host_ipc and (dotted in _IPC_SYSCTLS or dotted.startswith("fs.mqueue.")):
        yield Finding(SYSCTL, path, f'the sysctl "{name}" cannot be set with `hostIPC`; drop one of the two')
