"""What the API server asks of a Pod beyond its single fields: the families of rules FC2xx in `rules.pod`, one after the other.

The facts are those of Kubernetes' own validation of a Pod that is created, with the defaults that it fills in first, for each minor
version from 1.25 on. Formats and bounds of single values are the structure check's; a wrong type reads as absent here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fcompile.check.pod_context import containers_of, read_pod
from fcompile.check.rules.pod.accounts import account_rules
from fcompile.check.rules.pod.affinity import affinity_rules
from fcompile.check.rules.pod.commands import command_rules
from fcompile.check.rules.pod.containers import container_rules
from fcompile.check.rules.pod.dropped import DROPPED, dropped_fields
from fcompile.check.rules.pod.env import env_rules
from fcompile.check.rules.pod.images import image_rules
from fcompile.check.rules.pod.metadata import metadata_rules
from fcompile.check.rules.pod.mounts import mount_rules
from fcompile.check.rules.pod.networking import networking_rules
from fcompile.check.rules.pod.operating_system import operating_system_rules
from fcompile.check.rules.pod.pod_resources import pod_resource_rules
from fcompile.check.rules.pod.ports import port_rules
from fcompile.check.rules.pod.probes import probe_rules
from fcompile.check.rules.pod.resources import resource_rules
from fcompile.check.rules.pod.scheduling import scheduling_rules
from fcompile.check.rules.pod.security import security_rules
from fcompile.check.rules.pod.volumes import volume_rules
from fcompile.diagnostics.problem import Finding, Path, Severity
from fcompile.diagnostics.suggestions import closest
from fcompile.model import gates
from fcompile.model.values import mapping

_FAMILIES = (
    metadata_rules,
    container_rules,
    image_rules,
    port_rules,
    env_rules,
    mount_rules,
    resource_rules,
    probe_rules,
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
# A value of a wrong type is refused even in a field that is taken out.
_UNREADABLE = frozenset(("FC101", "FC102", "FC111", "FC112", "FC113"))
_MISSING = frozenset(("FC211", "FC221", "FC222"))
"""Rules that find a source or a handler missing."""
# Every quantity is parsed, even in a field that is taken out.
_QUANTITIES = (("limits",), ("requests",))


def pod_rules(template: dict[str, Any], path: Path, *, version: int, written: dict[str, Any] | None = None) -> Iterator[Finding]:
    """Yield every problem between the fields of a Pod template (`metadata` and `spec`) for a Kubernetes 1.x minor version.

    `path` is the template's place in its document. Placeholders must be filled in already. Findings of the structure check and these
    must go through `in_force` together: the API server does not look at what it takes out of a Pod.

    :param written: the template as it is in the source, with placeholders.
    """
    pod = read_pod(template, path, version)
    of_written = pod.containers if written is None or written is template else containers_of(mapping(written, "spec"), pod.path, version)
    for rules in _FAMILIES:
        yield from rules(pod)
    yield from command_rules(of_written)  # What these say to write is for all tasks, not for the first one.


def without_followers(findings: Iterable[Finding]) -> list[Finding]:
    """Return all findings but those that only say what an unknown field was meant to be: a source or a handler, or a volume."""
    all_findings = list(findings)
    unknown = {finding.path for finding in all_findings if finding.rule.code == "FC101"}
    if not unknown:
        return all_findings
    owners = {path[:-1] for path in unknown}
    volumes = {_pod_of(path) for path in unknown if _is_of_volumes(path)}
    return [
        finding
        for finding in all_findings
        if not (finding.rule.code in _MISSING and finding.path in owners)
        and not (finding.rule.code == "FC230" and _pod_of(finding.path) in volumes)
    ]


def _pod_of(path: Path) -> Path:
    """Return the part of a path that leads to the Pod's `spec`."""
    return path[: path.index("spec", 1) + 1] if "spec" in path[1:] else ()


def _is_of_volumes(path: Path) -> bool:
    """Return whether an unknown field was meant to be `volumes`, or the name of one."""
    inside = path[len(_pod_of(path)) :]
    first = str(inside[0]) if inside else ""
    return closest(first, ("volumes",)) is not None and (len(inside) == 1 or len(inside) == 3)


def in_force(findings: Iterable[Finding], version: int) -> list[Finding]:
    """Return all findings but the structure check's errors in values that are not looked at.

    Those are the contents of fields that the API server takes out (there is a finding that says so), and the label selectors of topology
    spread constraints in versions that do not look at them yet.
    """
    all_findings = list(findings)
    dropped = {_taken_out(finding.path) for finding in all_findings if finding.rule is DROPPED}
    if not dropped and version >= gates.SPREAD_SELECTORS:
        return all_findings
    return [finding for finding in all_findings if not (_is_of_values(finding) and _unseen(finding.path, dropped, version))]


def _taken_out(path: Path) -> Path:
    """Return the path to remove for a dropped field: without its image, an image volume goes as a whole."""
    return path[:-1] if path[-1] == "image" and path[-3:-2] == ("volumes",) else path


def _is_of_values(finding: Finding) -> bool:
    code = finding.rule.code
    return finding.rule.severity is Severity.ERROR and code.startswith("FC1") and code not in _UNREADABLE and not finding.is_beyond_type


def _unseen(path: Path, dropped: set[Path], version: int) -> bool:
    is_volume, is_name_of_volume = path[-2:-1] == ("volumes",), path[-3:-2] == ("volumes",) and path[-1] == "name"
    if is_volume or is_name_of_volume:
        return False  # The definition of Framework looks at these names, whatever is taken out of Pods later.
    if path[-2:-1] not in _QUANTITIES and any(path[:length] in dropped for length in range(1, len(path) + 1)):
        return True
    return version < gates.SPREAD_SELECTORS and "topologySpreadConstraints" in path and "labelSelector" in path
