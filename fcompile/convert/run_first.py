"""Replicated jobs that run to their end before others begin: each becomes init containers of those that wait for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fcompile.check.rules.framework.sizes import ETCD_BYTES
from fcompile.convert.draft import Draft
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.replicated_jobs import LIMITS, ReplicatedJob, add_index, mounted, replace_index
from fcompile.convert.shape import NAMED_BYTES
from fcompile.diagnostics.problem import Path, cut
from fcompile.diagnostics.visible import listed
from fcompile.model.values import mapping

_SHOWN = 10
"""Fields that are lost: a Pod can have thousands that it has not."""
_OF_BOTH = {"containers", "initContainers", "volumes"}
"""Of a Pod that runs first: they go into the other one."""


def run_once_first(parts: list[ReplicatedJob], source: Path, draft: Draft, ledger: Ledger) -> list[ReplicatedJob]:
    """Return the parts without those that only run before others: these become init containers of the others. Raises Refusal."""
    by_name = {part.name: part for part in parts}
    left = ETCD_BYTES // NAMED_BYTES
    first = {name for part in parts for name, status in part.needs.items() if status == "Complete"}
    before: dict[str, _Before] = {}
    for part in parts:
        target = _Target(part)
        for name, status in reversed(list(part.needs.items())):
            if name not in by_name:
                raise Refusal(source, f"`{part.name}` waits for `{name}`, and there is no such job")
            if status == "Complete":
                if name not in before:
                    before[name] = _Before(by_name[name])  # only now: others may have been put before it
                other = before[name]
                left -= len(other.containers) + len(other.volumes)
                if left < 0:
                    raise Refusal(
                        source, f"as init containers, `{name}` and others would be more than {ETCD_BYTES:,} bytes: etcd takes no more"
                    )
                if target.put_before(other, source):
                    draft.remarks.append(
                        f"What `{name}` fetches is in an emptyDir: `{part.name}` finds it only here, where they are one Pod"
                    )
                draft.remarks.append(f"`{name}` runs as an init container of `{part.name}`, once more in each new Pod")
                _tell_pod(part, other.part, ledger, source)
                del part.needs[name]
        target.finish()
    return [part for part in parts if part.name not in first]


class _Before:
    """A job that runs first, and what becomes of it in the Pods of others."""

    def __init__(self, part: ReplicatedJob) -> None:
        self.part = part
        spec = part.role.template["spec"]
        if part.indexed:
            add_index(spec, "0")
            replace_index(part.role, "0")
        self.containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
        self.volumes: dict[Any, dict[str, Any]] = {one.get("name"): one for one in spec.get("volumes") or ()}
        self.mounted = mounted(spec)


class _Target:
    """A job before whose containers those of others run."""

    def __init__(self, part: ReplicatedJob) -> None:
        self._part = part
        self._spec = part.role.template["spec"]
        self._mounted = mounted(self._spec)
        self._volumes: dict[Any, dict[str, Any]] = {one.get("name"): one for one in self._spec.get("volumes") or ()}
        self._names = {one.get("name") for kind in ("initContainers", "containers") for one in self._spec.get(kind) or ()}
        self._earlier: list[tuple[list[dict[str, Any]], Iterable[Any]]] = []
        """The containers, and the names of the volumes, of each job that runs first; the last job first."""

    def put_before(self, other: _Before, source: Path) -> bool:
        """Make init containers of a job that runs first, where the result is the same: it needs a volume that the two share.

        Return whether the operator's Pods would each have such a volume of their own. Raises Refusal.
        """
        part, first = self._part, other.part
        said = f"`{first.name}` runs once before `{part.name}`"
        if first.role.task_number * first.copies != 1 or first.needs:
            raise Refusal(source, f"{said}, with more than one Pod or after others: that is no init container")
        shared = self._mounted & other.mounted
        if not shared:
            raise Refusal(source, f"{said} and shares no volume with it: as an init container it would do nothing")
        kinds = [other.volumes[name] for name in shared if name in other.volumes]
        pods = part.role.task_number * part.copies
        if pods > 1 and not all("emptyDir" in one or "ephemeral" in one for one in kinds):
            why = f"as an init container it would run in each of {pods} Pods, and write into one volume"
            raise Refusal(source, f"{said}: {why}. Use one node, or a volume of each Pod (emptyDir)")
        for name, volume in other.volumes.items():
            there = self._volumes.setdefault(name, volume)
            if there != volume and not ("emptyDir" in volume and "emptyDir" in there):
                raise Refusal(source, f"{said}, and the volumes `{name}` of the two are not the same: give one of them another name")
        containers = [dict(one) for one in other.containers]
        for container in containers:
            if container.get("name") in self._names:
                container["name"] = f"{first.role.name}-{container['name']}"
        self._names |= {one.get("name") for one in containers}
        self._mounted |= other.mounted
        self._earlier.append((containers, other.volumes))
        return any("emptyDir" in one for one in kinds)

    def finish(self) -> None:
        """Write what was put before it into its Pods."""
        if not self._earlier:
            return
        order = [name for _, volumes in reversed(self._earlier) for name in volumes]
        volumes = [self._volumes[name] for name in dict.fromkeys([*order, *self._volumes])]
        if volumes:
            self._spec["volumes"] = volumes
        containers = [one for earlier, _ in reversed(self._earlier) for one in earlier]
        self._spec["initContainers"] = [*containers, *(self._spec.get("initContainers") or ())]


def _tell_pod(part: ReplicatedJob, other: ReplicatedJob, ledger: Ledger, source: Path) -> None:
    """Take down what the Pod of a job that runs first has, and its containers will not find in the Pod that they are init containers of."""
    spec, before = part.role.template["spec"], other.role.template["spec"]
    metadata, kept = mapping(other.role.template, "metadata"), mapping(part.role.template, "metadata")
    lost = [key for key in before if key not in _OF_BOTH and before[key] != spec.get(key)]
    lost += [kind for kind in metadata if {**mapping(kept, kind), **metadata[kind]} != mapping(kept, kind)]
    lost += [limit for limit in LIMITS if limit in other.fields.below("template").below("spec")]
    if lost:
        shown = listed([cut(key) for key in lost], _SHOWN)
        what = f"{shown} of `{other.name}`: left out, since it is an init container of `{part.name}`"
        remedy = f"look whether `{part.name}` can have them, where `{other.name}` needs them"
        ledger.different(source, what, "the two are one Pod here", remedy)
