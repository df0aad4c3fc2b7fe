"""The headless Service of a role that asks for one."""

from __future__ import annotations

from typing import Any

from fcompile.model import names


def lower_service(framework: str, role: dict[str, Any]) -> dict[str, Any] | None:
    """Return the Service `{framework}-{role}` of a defaulted role, its namespace a placeholder; None when the role has no `service`."""
    service = role.get("service")
    if service is None:
        return None
    identity = {names.FRAMEWORK_NAME: framework, names.TASKROLE_NAME: role["name"]}
    spec: dict[str, Any] = {
        "clusterIP": "None",
        "publishNotReadyAddresses": service["publishNotReadyAddresses"],
        "selector": identity,
    }
    if service.get("ports"):
        spec["ports"] = service["ports"]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": names.service_name(framework, role["name"]),
            "namespace": names.placeholder(names.FRAMEWORK_NAMESPACE),
            "labels": dict(identity),
        },
        "spec": spec,
    }


def add_host_names(spec: dict[str, Any], framework: str, role: str) -> dict[str, Any]:
    """Return the Pod spec with the host name and the subdomain under which the role's Service makes it known, where these are not set."""
    lowered = dict(spec)
    if not spec.get("hostname"):
        lowered["hostname"] = names.hostname(role, names.placeholder(names.TASK_INDEX))
    if not spec.get("subdomain"):
        lowered["subdomain"] = names.service_name(framework, role)
    return lowered
