"""The replicas of a job of training-operator: how many, what ends a try, and the template of their Pods."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from fcompile.convert.draft import RoleDraft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.metadata import tell_acted_upon
from fcompile.convert.run_policy import RUN_POLICY
from fcompile.convert.shape import refuse_misspelt, require_containers, require_shape
from fcompile.diagnostics.problem import Path
from fcompile.diagnostics.suggestions import closest
from fcompile.model.framework import MAX_TASKS

POLICIES = ("Always", "OnFailure", "Never", "ExitCode")
LABELS_OF_OPERATOR = ("job-name", "replica-index", "replica-type", "job-role", "operator-name")
"""Without their domain."""
_ELSEWHERE = {
    **dict.fromkeys(("taskNumber", "count", "instances", "parallelism", "size"), "replicas"),
    **{key: f"spec.runPolicy.{key}" for key in RUN_POLICY},
    **{key: f"template.{key}" for key in ("metadata", "spec")},
}
_DOMAIN = "training.kubeflow.org/"


@dataclass
class Replica:
    """The replicas of one type."""

    type: str
    """`Worker`, written as the operator writes it."""
    path: Path
    count: int
    policy: str
    says_policy: bool
    """The source has it; it is no default."""
    template: dict[str, Any]
    """A copy, to be changed."""

    @property
    def role(self) -> str:
        """Return the type as it stands in names."""
        return self.type.lower()

    @property
    def template_path(self) -> Path:
        return (*self.path, "template")

    @property
    def containers(self) -> list[dict[str, Any]]:
        """Return the containers of its Pods, without init containers."""
        found: list[dict[str, Any]] = self.template["spec"]["containers"]
        return found

    def draft(self, name: str | None = None, count: int | None = None) -> RoleDraft:
        """Return the role of these replicas, or of some of them, with a template of its own."""
        number = self.count if count is None else count
        return RoleDraft(name or self.role, number, deepcopy(self.template), self.path, self.template_path)


def read_replicas(
    specs: Fields, types: tuple[str, ...], ledger: Ledger, default_policy: str, default_count: int | dict[str, int] = 1
) -> dict[str, Replica]:
    """Return the replicas by type. Raises Refusal for types that the operator does not have, and for templates without containers."""
    found: dict[str, Replica] = {}
    for key in specs.each():
        kind = next((one for one in types if one.lower() == key.lower()), None)
        if kind is None:
            near = closest(key, types)
            meant = f": did you mean `{near.word}`?" if near else f": it has {', '.join(types)}"
            raise Refusal(specs.at(key), f"the operator has no such type of replicas{meant}", near.word if near else None, part="key")
        if kind in found:
            raise Refusal(specs.at(key), f"there are two of the type {kind}")
        count = default_count if isinstance(default_count, int) else default_count[kind]
        found[kind] = _replica(kind, specs.below(key), ledger, default_policy, count)
    if not found:
        raise Refusal(specs.path, "there are no replicas")
    return found


def _replica(kind: str, spec: Fields, ledger: Ledger, default_policy: str, default_count: int) -> Replica:
    refuse_misspelt(spec, ("replicas", "restartPolicy", "template"), _ELSEWHERE)
    count = spec.count("replicas", 0, MAX_TASKS)
    if "replicas" in spec:
        ledger.converted(spec.at("replicas"), "taskNumber")
    policy = spec.text("restartPolicy") or default_policy
    if policy not in POLICIES:
        near = closest(policy, POLICIES)
        raise Refusal(spec.at("restartPolicy"), f"did you mean `{near.word}`?" if near else f"it must be one of {', '.join(POLICIES)}")
    return Replica(kind, spec.path, default_count if count is None else count, policy, "restartPolicy" in spec, _template(spec, ledger))


def _is_overwritten(label: str) -> bool:
    return label.startswith(_DOMAIN) and label.removeprefix(_DOMAIN) in LABELS_OF_OPERATOR


def _template(replica: Fields, ledger: Ledger) -> dict[str, Any]:
    template = replica.below("template")
    require_containers(template)
    spec = template.below("spec")
    made: dict[str, Any] = {}
    metadata = template.below("metadata")
    for key in metadata.value:
        if key in ("labels", "annotations"):
            found = metadata.below(key)
            kept = {name: value for name, value in found.value.items() if key != "labels" or not _is_overwritten(name)}
            if kept:
                made.setdefault("metadata", {})[key] = kept
            for name, value in kept.items():
                tell_acted_upon(name, str(value), found.at(name), ledger, of_pods=True)
            for name in found.value.keys() - kept.keys():
                ledger.dropped(found.at(name), "the operator overwrites it, and Pods of a Framework have no such label")
        else:
            ledger.dropped(metadata.at(key), "the operator does not take it over")
    ledger.converted(template.path, "task.pod")
    made["spec"] = deepcopy(spec.value)
    require_shape(spec)
    if "restartPolicy" in made["spec"]:
        ledger.dropped(spec.at("restartPolicy"), "the operator overwrites it with the one of the replicas")
    return made
