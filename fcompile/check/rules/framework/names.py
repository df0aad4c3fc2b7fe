"""Names of objects that are built from the Framework's name and its roles', and users' names that FrameworkController reserves."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile.check.context import FrameworkContext, RoleContext, containers
from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Finding, Path, error_rule, warning_rule
from fcompile.model import gates, names
from fcompile.model.formats import accepts
from fcompile.model.values import mapping, text

MAX_LABEL = 63

HOSTNAME_CUT = warning_rule(
    code="FC401",
    name="pod-hostname-cut",
    summary="A Pod name is longer than a host name may be.",
    why="The kubelet cuts the host name to 63 characters, so that every task of the role sees the same one.",
    remedy="Shorten the Framework's or the role's name, or set `hostname` in the template.",
)
SERVICE_HOSTNAME_TOO_LONG = error_rule(
    code="FC402",
    name="hostname-too-long",
    summary="The host name `{role}-{index}` of a role with a service is longer than 63 characters.",
    why="The API server refuses such a Pod.",
    remedy="Shorten the role's name, or set `hostname` in the template.",
)
SERVICE_NAME_INVALID = error_rule(
    code="FC403",
    name="service-name-invalid",
    summary="The Service `{framework}-{role}` that a role asks for cannot have that name.",
    why="A Service's name has at most 63 characters and, before Kubernetes 1.36, begins with a letter.",
    remedy="Change the Framework's or the role's name.",
)
RESERVED_METADATA = warning_rule(
    code="FC411",
    name="reserved-metadata-overwritten",
    summary="The Pod template has a label or annotation that FrameworkController sets itself.",
    why="It is overwritten in every Pod.",
    remedy="Remove it, or choose another name.",
)
RESERVED_ENV = warning_rule(
    code="FC412",
    name="reserved-env-repeated",
    summary="A container's environment variable has a name that FrameworkController injects as well.",
    why=(
        "The container sees your value in place of FrameworkController's, and `kubectl diff` cannot compare a variable that is given twice."
    ),
    remedy="Choose another name.",
)
POD_NAME_IGNORED = warning_rule(
    code="FC413",
    name="pod-name-ignored",
    summary="The Pod template gives a name or namespace, which is not used.",
    why="A task's Pod is always called `{framework}-{role}-{index}`, in the Framework's namespace.",
    remedy="Remove the field.",
)


def name_rules(context: FrameworkContext) -> Iterator[Finding]:
    """Yield the problems of one Framework's names."""
    for role in context.roles:
        # An invalid name has been reported, and problems of names built from it would only repeat that.
        if all(map(accepts("framework-name"), (context.name, role.name))):
            yield from _built_names(context, role)
        yield from _reserved(role)


def _built_names(context: FrameworkContext, role: RoleContext) -> Iterator[Finding]:
    spec = mapping(role.template, "spec")
    path: Path = (*role.path, "name")
    if role.serves:
        yield from _service_names(context, role, path)
    pod = names.pod_name(context.name, role.name, role.last_index)
    if len(pod) > MAX_LABEL and not role.serves and not text(spec, "hostname"):
        message = (
            f"the Pod name `{pod}` has {len(pod)} characters, and a host name only {MAX_LABEL}: all tasks of the role would see the same "
            "host name; shorten the names or set `hostname`"
        )
        yield Finding(HOSTNAME_CUT, path, message)


def _service_names(context: FrameworkContext, role: RoleContext, path: Path) -> Iterator[Finding]:
    service = names.service_name(context.name, role.name)
    host = names.hostname(role.name, role.last_index)
    if len(service) > MAX_LABEL:
        message = (
            f"the Service `{service}` would have {len(service)} characters, and {MAX_LABEL} are allowed: shorten the Framework's name or "
            f"the role's by {len(service) - MAX_LABEL}"
        )
        yield Finding(SERVICE_NAME_INVALID, path, message)
    elif not service[0].isalpha() and context.version < gates.SERVICE_NAMES_WITH_DIGIT_FIRST:
        message = (
            f"the Service `{service}` would begin with a digit, and before Kubernetes 1.{gates.SERVICE_NAMES_WITH_DIGIT_FIRST} a Service's "
            "name begins with a letter: let the Framework's name begin with one"
        )
        yield Finding(SERVICE_NAME_INVALID, ("metadata", "name"), message)
    if len(host) > MAX_LABEL and not text(mapping(role.template, "spec"), "hostname"):
        message = (
            f"the host name `{host}` of the last task has {len(host)} characters, and {MAX_LABEL} are allowed: shorten the role's name by "
            f"{len(host) - MAX_LABEL}, or set `hostname`"
        )
        yield Finding(SERVICE_HOSTNAME_TOO_LONG, path, message)


def _reserved(role: RoleContext) -> Iterator[Finding]:
    metadata = mapping(role.template, "metadata")
    for kind, reserved in (("labels", names.POD_LABELS), ("annotations", names.POD_ANNOTATIONS)):
        given = mapping(metadata, kind)
        for name in reserved:
            if name in given and given[name] != names.placeholder(name):
                message = (
                    f"`{name}` is set by FrameworkController in every Pod, so this value is overwritten: remove it or choose another name"
                )
                yield Finding(RESERVED_METADATA, (*role.template_path, "metadata", kind, name), message, part="key")
    for name in ("name", "namespace"):
        if text(metadata, name):
            message = (
                f"`{name}` of a Pod template is not used: a task's Pod is called {{framework}}-{{role}}-{{index}}, in the Framework's "
                "namespace; remove it"
            )
            yield Finding(POD_NAME_IGNORED, (*role.template_path, "metadata", name), message, part="key")
    for container, path in containers(role.template, role.template_path):
        for variable, place in entries(container, path, "env"):
            variable_name = text(variable, "name")
            if variable_name in names.POD_ENV:
                message = (
                    f"`{variable_name}` is injected by FrameworkController; given again it hides that value from the container, and "
                    "`kubectl diff` cannot compare it: choose another name"
                )
                yield Finding(RESERVED_ENV, (*place, "name"), message)
