"""The old annotations for seccomp and AppArmor profiles, which the API server still holds against the fields of the same meaning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.formats import accepts
from fcompile.model.values import mapping

PROFILE_ANNOTATION = error_rule(
    code="FC294",
    name="profile-annotation",
    summary="A seccomp or AppArmor annotation names no profile, no container, or another profile than the field.",
    why="The annotations are replaced by `securityContext.seccompProfile` and `securityContext.appArmorProfile`.",
    remedy="Remove the annotation.",
)
PROFILE_ANNOTATION_IGNORED = warning_rule(
    code="FC295",
    name="seccomp-annotation-ignored",
    summary="A seccomp annotation does nothing since Kubernetes 1.27.",
    why="The API server no longer copies it to the field.",
    remedy="Use the field `securityContext.seccompProfile`.",
)
DEPRECATED_ANNOTATION = warning_rule(
    code="FC293",
    name="deprecated-annotation",
    summary="An annotation is deprecated, or no longer does anything.",
    why="Kubernetes has replaced it by a field.",
    remedy="Use the field that the message names.",
)

_POD = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
_SECCOMP_TYPES = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault", "docker/default": "RuntimeDefault"}
_APP_ARMOR_TYPES = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}


def annotated_profile(value: str, types: dict[str, str] = _APP_ARMOR_TYPES) -> dict[str, str | None]:
    """Return the profile that an annotation names, as the field has it."""
    if value.startswith(_LOCAL):
        return {"type": "Localhost", "localhostProfile": value.removeprefix(_LOCAL)}
    return {"type": types.get(value)}


def profile_annotation(key: str, value: str, path: Path, pod: Pod) -> Iterator[Finding]:
    """Yield the problems of the annotation for a profile; nothing when `key` is another one."""
    if key == _POD:
        yield from _seccomp(key, value, path, pod, pod.spec)
    elif key.startswith(_CONTAINER):
        yield from _seccomp(key, value, path, pod, _named(pod, key.removeprefix(_CONTAINER)))
    elif key.startswith(APP_ARMOR):
        yield from _app_armor(key, value, path, pod)


def _seccomp(key: str, value: str, path: Path, pod: Pod, owner: dict[str, Any] | None) -> Iterator[Finding]:
    """Yield the problems of a seccomp annotation; `owner` is the Pod's spec, or the container that is named, if there is one."""
    is_local = value.startswith(_LOCAL) and accepts("relative-path")(value.removeprefix(_LOCAL))
    if not is_local and value not in _SECCOMP_TYPES:
        yield Finding(PROFILE_ANNOTATION, path, f'"{value}" is not a seccomp profile; use the field `seccompProfile` instead')
        return
    profile = mapping(owner, "securityContext").get("seccompProfile")
    if isinstance(profile, dict):
        yield from _compare(value, profile, _SECCOMP_TYPES, "seccompProfile", path)
    elif pod.version < 27:
        if pod.os_name == "windows" and owner is not None:
            yield Finding(PROFILE_ANNOTATION, path, "a seccomp profile is not for Windows; remove the annotation", part="key")
    else:
        yield Finding(PROFILE_ANNOTATION_IGNORED, path, f'the annotation "{key}" does nothing; use `seccompProfile`', part="key")


def _app_armor(key: str, value: str, path: Path, pod: Pod) -> Iterator[Finding]:
    name = key.removeprefix(APP_ARMOR)
    container = _named(pod, name)
    if container is None:
        message = f'the annotation is for a container "{name}", which the Pod does not have; correct it'
        yield Finding(PROFILE_ANNOTATION, path, message, part="key")
    if value and value not in _APP_ARMOR_TYPES and not value.startswith(_LOCAL):
        yield Finding(PROFILE_ANNOTATION, path, f'"{value}" is not an AppArmor profile; use the field `appArmorProfile` instead')
        return
    own = mapping(container, "securityContext").get("appArmorProfile")
    if pod.version < gates.APP_ARMOR_PROFILE or pod.os_name == "windows":
        return
    if isinstance(own, dict):
        yield from _compare(value, own, _APP_ARMOR_TYPES, "appArmorProfile", path)
    elif container is not None and value in ("", _LOCAL) and isinstance(pod.security.get("appArmorProfile"), dict):
        # An annotation that names a profile becomes the container's field. One without a name does not, so the Pod's field is compared.
        yield from _compare(value, pod.security["appArmorProfile"], _APP_ARMOR_TYPES, "appArmorProfile", path)
    elif container is not None:
        message = f'the annotation "{key}" is deprecated since Kubernetes 1.30; use `appArmorProfile` of the container instead'
        yield Finding(DEPRECATED_ANNOTATION, path, message, part="key")


def _named(pod: Pod, name: str) -> dict[str, Any] | None:
    found = pod.named.get(name)
    return None if found is None else found.fields


def _compare(value: str, profile: dict[str, Any], types: dict[str, str], field: str, path: Path) -> Iterator[Finding]:
    if any(profile.get(name) != item for name, item in annotated_profile(value, types).items()):
        yield Finding(PROFILE_ANNOTATION, path, f'"{value}" is not what the field `{field}` says; remove the annotation')
