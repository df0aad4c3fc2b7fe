"""The kinds that there are, and in what they differ."""

from __future__ import annotations

from typing import NamedTuple

from fcompile.model import names


class Kind(NamedTuple):
    """A kind of object, and what its storage allows."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    custom: bool = False
    """Whether it is a custom resource: with other words in some errors, and a status subresource that keeps metadata as it is."""
    status: bool = False
    """Whether the status is written through a subresource only."""
    generation: bool = False
    """Whether `metadata.generation` counts the changes of the spec."""
    created_by_put: bool = False
    """Whether PUT creates what is not there."""
    deleted_is_shown: bool = False
    """Whether DELETE answers with the object, not with a Status."""
    collected: bool = True
    """Whether the garbage collector follows it."""
    omitted: tuple[str, ...] = ()
    """Fields of the object that are left out when they are empty."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """Return the plural with its group, as messages have it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


FRAMEWORKS = Kind(names.GROUP, "v1", names.KIND, "frameworks", custom=True, status=True, generation=True)
PODS = Kind("", "v1", "Pod", "pods", status=True, generation=True, deleted_is_shown=True)
CONFIG_MAPS = Kind("", "v1", "ConfigMap", "configmaps", omitted=("data", "binaryData"))
SERVICES = Kind("", "v1", "Service", "services", status=True, created_by_put=True, deleted_is_shown=True)
EVENTS = Kind("", "v1", "Event", "events", collected=False, created_by_put=True)
NODES = Kind("", "v1", "Node", "nodes", namespaced=False, status=True)
NAMESPACES = Kind("", "v1", "Namespace", "namespaces", namespaced=False, status=True)
LEASES = Kind("coordination.k8s.io", "v1", "Lease", "leases", created_by_put=True)

KINDS = (FRAMEWORKS, PODS, CONFIG_MAPS, SERVICES, EVENTS, NODES, NAMESPACES, LEASES)
