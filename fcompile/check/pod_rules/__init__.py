"""What the API server asks of a Pod beyond its single fields, as rules FC2xx: one module for each family.

The facts are those of Kubernetes' own validation of a Pod that is created, with the defaults that it fills in first, for each minor
version from 1.25 on. Formats and bounds of single values are the structure check's; a wrong type reads as absent here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_rules.accounts import account_rules
from fcompile.check.pod_rules.affinity import affinity_rules
from fcompile.check.pod_rules.containers import container_rules
from fcompile.check.pod_rules.dropped import dropped_fields
from fcompile.check.pod_rules.env import env_rules
from fcompile.check.pod_rules.images import image_rules
from fcompile.check.pod_rules.in_force import in_force
from fcompile.check.pod_rules.lifecycle import lifecycle_rules
from fcompile.check.pod_rules.metadata import metadata_rules, own_metadata_rules
from fcompile.check.pod_rules.mounts import mount_rules
from fcompile.check.pod_rules.networking import networking_rules
from fcompile.check.pod_rules.operating_system import operating_system_rules
from fcompile.check.pod_rules.pod import read_pod
from fcompile.check.pod_rules.pod_resources import pod_resource_rules
from fcompile.check.pod_rules.ports import port_rules
from fcompile.check.pod_rules.probes import probe_rules
from fcompile.check.pod_rules.resources import resource_rules
from fcompile.check.pod_rules.scheduling import scheduling_rules
from fcompile.check.pod_rules.security import security_rules
from fcompile.check.pod_rules.volumes import volume_rules
from fcompile.diagnostics.problem import Finding, Path

__all__ = ["in_force", "own_metadata_rules", "pod_rules"]

_FAMILIES = (
    metadata_rules,
    container_rules,
    image_rules,
    port_rules,
    env_rules,
    mount_rules,
    resource_rules,
    probe_rules,
    lifecycle_rules,
    volume_rules,
    pod_resource_rules,
    security_rules,
    operating_system_rules,
    scheduling_rules,
    affinity_rules,
    networking_rules,
    account_rules,
    dropped_fields,
)


def pod_rules(template: dict[str, Any], path: Path, *, version: int) -> Iterator[Finding]:
    """Every problem between the fields of a Pod template (`metadata` and `spec`) for a Kubernetes 1.x minor version.

    `path` is the template's place in its document. Placeholders must be filled in already. Findings of the structure check and these
    belong through `in_force` together: what the API server takes out of a Pod it does not look at.
    """
    pod = read_pod(template, path, version)
    for rules in _FAMILIES:
        yield from rules(pod)
