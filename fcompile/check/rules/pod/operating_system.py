"""`os.name`, and the fields that only Linux or only Windows has; users and host processes of Windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import flag, given, size
from fcompile.diagnostics.problem import Finding, Path, error_rule
from fcompile.model import gates
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, sequence, text

WRONG_SYSTEM = error_rule(
    code="FC270",
    name="wrong-operating-system",
    summary="A field is not for the operating system in `os.name`.",
    why="Windows has no Linux security settings, and Linux no `windowsOptions`.",
    remedy="Remove the field, or correct `os.name`.",
)
HOST_PROCESS = error_rule(
    code="FC271",
    name="windows-host-process",
    summary="A Pod mixes Windows host process containers with others, or lacks a setting that they need.",
    why="All its containers are host processes, the Pod's own setting agrees, and `hostNetwork` is true.",
    remedy="Make all containers the same, and set what is missing.",
)
WINDOWS_USER = error_rule(
    code="FC272",
    name="windows-user",
    summary="A Windows user or credential in windowsOptions is not valid.",
    why="`runAsUserName` is USER or DOMAIN\\USER; `gmsaCredentialSpec` is not empty and at most 64 KiB.",
    remedy="Correct what the message names.",
)

# Each with the version from which the API server looks at it; before, it takes it out or does not know it.
_POD_FIELDS = {"hostUsers": gates.HOST_USERS, "shareProcessNamespace": 0}
_OF_LINUX = ("runAsGroup", "runAsUser", "seLinuxOptions", "seccompProfile")
"""Of both security contexts."""
_POD_CONTEXT = {
    **dict.fromkeys((*_OF_LINUX, "fsGroup", "fsGroupChangePolicy", "supplementalGroups"), 0),
    "appArmorProfile": gates.APP_ARMOR_PROFILE,
    "seLinuxChangePolicy": gates.SELINUX_CHANGE_POLICY,
    "supplementalGroupsPolicy": gates.SUPPLEMENTAL_GROUPS_POLICY,
}
_CONTAINER_CONTEXT = {
    **dict.fromkeys((*_OF_LINUX, "allowPrivilegeEscalation", "capabilities", "privileged", "procMount", "readOnlyRootFilesystem"), 0),
    "appArmorProfile": gates.APP_ARMOR_PROFILE,
}
_NETBIOS = lazy(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS = lazy(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*")
_NOT_IN_USER = lazy(r'["/\\:;|=,+*?<>@\[\]]')
_CONTROL = lazy(r"[\x00-\x1f\x7f]")
_MAX_SPEC = 64 * 1024


def operating_system_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of Linux and Windows settings of the Pod and its containers."""
    if pod.os_name == "windows":
        yield from _linux_fields(pod)
    yield from _windows_options(pod)


def _linux_fields(pod: Pod) -> Iterator[Finding]:
    context_path = (*pod.path, "securityContext")
    yield from _found(pod.spec, pod.path, _POD_FIELDS, pod.version)
    for key in ("hostPID", "hostIPC"):
        if flag(pod.spec, key):
            yield _not_for_windows(key, pod.path)
    yield from _found(pod.security, context_path, _POD_CONTEXT, pod.version)
    if sequence(pod.security, "sysctls"):
        yield _not_for_windows("sysctls", context_path)
    for container in pod.containers:
        context = mapping(container.fields, "securityContext")
        yield from _found(context, (*container.path, "securityContext"), _CONTAINER_CONTEXT, pod.version)


def _found(fields: dict[str, Any], path: Path, since: dict[str, int], version: int) -> Iterator[Finding]:
    for key in fields:
        if key in since and version >= since[key] and given(fields, key):
            yield _not_for_windows(key, path)


def _not_for_windows(key: str, path: Path) -> Finding:
    return Finding(WRONG_SYSTEM, (*path, key), f"`{key}` is not for Windows; remove it, or correct `os.name`", part="key")


def _windows_options(pod: Pod) -> Iterator[Finding]:
    owners = [(pod.spec, pod.path), *((container.fields, container.path) for container in pod.containers)]
    contexts = [(context, path) for fields, path in owners if "windowsOptions" in (context := mapping(fields, "securityContext"))]
    for context, owner in contexts:
        path = (*owner, "securityContext", "windowsOptions")
        if pod.os_name == "linux" and given(context, "windowsOptions"):
            yield Finding(WRONG_SYSTEM, path, "`windowsOptions` are not for Linux; remove them, or correct `os.name`", part="key")
        yield from _user(mapping(context, "windowsOptions"), path)
    if contexts:
        yield from _host_process(pod)


def _host_process(pod: Pod) -> Iterator[Finding]:
    for_all = flag(mapping(pod.security, "windowsOptions"), "hostProcess")
    count = 0
    for container in pod.containers:
        own = flag(mapping(mapping(container.fields, "securityContext"), "windowsOptions"), "hostProcess")
        count += bool(for_all if own is None else own)
        if for_all is not None and own is not None and own != for_all:
            path = (*container.path, "securityContext", "windowsOptions", "hostProcess")
            yield Finding(HOST_PROCESS, path, "`hostProcess` is not what the Pod's own setting says; make the two equal")
    if count and count != len(pod.containers):
        message = "some containers are host processes and some are not; make all of them so, or none"
        yield Finding(HOST_PROCESS, (*pod.path, "containers"), message, part="key")
    if count and not pod.host_network:
        path = (*pod.path, "hostNetwork") if "hostNetwork" in pod.spec else pod.path
        yield Finding(HOST_PROCESS, path, "host process containers need `hostNetwork: true`; add it")


def _user(options: dict[str, Any], path: Path) -> Iterator[Finding]:
    credentials, user = text(options, "gmsaCredentialSpec"), text(options, "runAsUserName")
    length = 1 if credentials is None else size(credentials)
    if not 0 < length <= _MAX_SPEC:
        message = f"`gmsaCredentialSpec` has {length} bytes; it must have 1 to {_MAX_SPEC}"
        yield Finding(WINDOWS_USER, (*path, "gmsaCredentialSpec"), message)
    problem = None if user is None else _user_problem(user)
    if problem is not None:
        yield Finding(WINDOWS_USER, (*path, "runAsUserName"), f'`runAsUserName` "{user}" {problem}')


def _user_problem(name: str) -> str | None:
    domain, backslash, user = name.partition("\\")
    if not backslash:
        domain, user = "", name
    if not user or _CONTROL.search(name):
        return "is empty or has control characters; write USER or DOMAIN\\USER"
    if backslash and not (size(domain) < 256 and (_NETBIOS.fullmatch(domain) or _DNS.fullmatch(domain))):
        return "has no valid domain; write DOMAIN\\USER with a NetBIOS or DNS name"
    if size(user) > 104:
        return "has a user of more than 104 characters; shorten it"
    if not user.strip(". ") or _NOT_IN_USER.search(user):
        return 'has only dots and blanks, or one of " / \\ : ; | = , + * ? < > @ [ ], in the user; change it'
    return None
