"""Lowering: a defaulted Framework in, the intent out: everything that an attempt will run, in a size that does not grow with its tasks."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from fcompile.lower.atomic import as_stored
from fcompile.lower.digest import KNOWN, V1, V2, digest, version_of
from fcompile.lower.environment import known_env, lower_container, with_containers
from fcompile.lower.placeholders import role_values, substitute, sums_in
from fcompile.lower.quantities import canonical_quantities, has_symbolic_quantity
from fcompile.lower.services import add_host_names, lower_service
from fcompile.model import names
from fcompile.model.framework import LIFETIME, SERVER_SET
from fcompile.model.values import mappings
from fcompile.schema.pod_schemas import POD_TEMPLATE

T = TypeVar("T")


class Role(NamedTuple):
    """What runs for a role.

    `pod` is a whole Pod with two placeholders left in its strings, the namespace and the task's index, and without what only
    the cluster knows. `service` is the role's headless Service, its namespace a placeholder, or None.
    """

    name: str
    task_number: int
    policies: dict[str, Any]
    pod: dict[str, Any]
    service: dict[str, Any] | None
    sums: tuple[str, ...]
    """The sums in the Pod that are replaced, as `FC_TASK_INDEX+1`. They follow from the Pod and the rules that it was lowered by."""

    @property
    def one_text_serves_all(self) -> bool:
        """Return whether its Pods differ only in strings that hold the index as it is, so that one text, filled in, serves for all."""
        if self.sums or has_symbolic_quantity(self.pod, POD_TEMPLATE):
            return False
        index = names.placeholder(names.TASK_INDEX)
        return not any(index in key for value in mappings(self.pod) for key in value)

    def document(self) -> dict[str, Any]:
        """Return the role as plain JSON values."""
        return {
            "name": self.name,
            "taskNumber": self.task_number,
            "policies": self.policies,
            "pod": self.pod,
            "service": self.service,
        }


class Intent(NamedTuple):
    """Everything that the attempts of a Framework will run. The namespace stays a placeholder."""

    framework: str
    execution_type: str
    retry_policy: dict[str, Any]
    roles: tuple[Role, ...]
    digest: str
    lowering: str
    """The version of the rules that it was lowered by."""
    lifetime: Mapping[str, Any] = MappingProxyType({})
    """Those of the fields `LIFETIME` that the Framework has."""

    def document(self) -> dict[str, Any]:
        """Return the intent as plain JSON values, as the attempt's ConfigMap holds it."""
        return {
            "lowering": self.lowering,
            "digest": self.digest,
            "framework": self.framework,
            "executionType": self.execution_type,
            "retryPolicy": self.retry_policy,
            **self.lifetime,
            "roles": [role.document() for role in self.roles],
        }

    def with_settings_of(self, other: Intent) -> Intent:
        """Return the intent with the counts, the policies and all else of another one that no digest covers."""
        others = {role.name: role for role in other.roles}

        def with_settings(role: Role) -> Role:
            its = others.get(role.name, role)
            return role._replace(task_number=its.task_number, policies=its.policies)

        return self._replace(
            execution_type=other.execution_type,
            retry_policy=other.retry_policy,
            roles=tuple(map(with_settings, self.roles)),
            lifetime=other.lifetime,
        )


def at_once(steps: Generator[None, None, T]) -> T:
    """Return what a generator returns, without a pause between its steps."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value


def lower(framework: dict[str, Any], version: str | None = None) -> Intent:
    """Return the intent of a defaulted Framework without errors. Pure: the same Framework gives the same intent everywhere.

    :param version: of the rules; by default the oldest that can do what the Framework asks for.

    Raises ValueError for a version of the rules that is not among `digest.KNOWN`.
    """
    return at_once(lower_in_steps(framework, version))


def lower_in_steps(framework: dict[str, Any], version: str | None = None) -> Generator[None, None, Intent]:
    """Do the same as `lower`, in steps: some for each role."""
    version = version or version_for(framework)
    if version not in KNOWN:
        raise ValueError(f"lowering rules {version} are not known")
    name, spec = framework["metadata"]["name"], framework["spec"]
    roles = []
    for role in spec.get("taskRoles") or ():
        lowered = yield from lower_role(name, role, version)
        roles.append(lowered)
    hashed = yield from digest([{"name": role.name, "pod": role.pod, "service": role.service} for role in roles], version)
    return Intent(
        framework=name,
        execution_type=spec["executionType"],
        retry_policy=spec["retryPolicy"],
        roles=tuple(roles),
        digest=hashed,
        lowering=version,
        lifetime={field: spec[field] for field in LIFETIME if field in spec},
    )


def is_digest_of(said: str, framework: dict[str, Any]) -> bool:
    """Return whether a digest is that of a defaulted Framework without errors, by the rules that the digest names."""
    version = version_of(said)
    return version in KNOWN and lower(framework, version).digest == said


def version_for(framework: dict[str, Any]) -> str:
    """Return the version of the rules that a Framework asks for."""
    templates = (role["task"]["pod"] for role in framework["spec"].get("taskRoles") or ())
    return V2 if any(sums_in(template) for template in templates) else V1


def sums_of(pod: dict[str, Any], version: str) -> tuple[str, ...]:
    """Return the sums with the index that the rules replace in a lowered Pod."""
    return () if version == V1 else sums_in(pod)


def lower_role(framework: str, role: dict[str, Any], version: str) -> Generator[None, None, Role]:
    """Lower, in steps, one role of a Framework whose defaults are filled in."""
    task = role["task"]
    pod = yield from _lower_pod(framework, role)
    yield
    return Role(
        name=role["name"],
        task_number=role["taskNumber"],
        policies={
            "frameworkAttemptCompletionPolicy": role["frameworkAttemptCompletionPolicy"],
            "podGracefulDeletionTimeoutSec": task.get("podGracefulDeletionTimeoutSec"),
            "retryPolicy": task["retryPolicy"],
        },
        pod=pod,
        service=lower_service(framework, role),
        sums=sums_of(pod, version),
    )


def _lower_pod(framework: str, role: dict[str, Any]) -> Generator[None, None, dict[str, Any]]:
    # A template may have a megabyte: then each of these goes through it for a tenth of a second.
    known = role_values(framework, role["name"])
    template = substitute(role["task"]["pod"], known)
    yield
    template = canonical_quantities(template, POD_TEMPLATE)
    yield
    template = as_stored(template, POD_TEMPLATE)
    yield
    spec = template.get("spec") or {}
    if role.get("service") is not None:
        spec = add_host_names(spec, framework, role["name"])
    env = known_env(known)
    spec = with_containers(spec, lambda container: lower_container(container, env))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _lower_metadata(template, known), "spec": spec}


def _lower_metadata(template: dict[str, Any], known: dict[str, str]) -> dict[str, Any]:
    own = template.get("metadata") or {}
    metadata = {key: value for key, value in own.items() if key not in SERVER_SET}
    metadata["name"] = known[names.POD_NAME]
    metadata["namespace"] = known[names.FRAMEWORK_NAMESPACE]
    # A user's label or annotation with a reserved name is overwritten; `check` has warned of it.
    metadata["labels"] = {**(own.get("labels") or {}), **{name: known[name] for name in names.POD_LABELS}}
    cluster_only = frozenset(names.CLUSTER_NAMES)
    kept = {key: value for key, value in (own.get("annotations") or {}).items() if key not in cluster_only}
    metadata["annotations"] = {**kept, **{name: known[name] for name in names.KNOWN_NAMES}}
    return metadata
