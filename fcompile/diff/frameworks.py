"""Two compiled Frameworks of one name compared. The work does not grow with the number of tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from fcompile.check.amounts import Amounts, add
from fcompile.diff import effects, tasks
from fcompile.diff.compare import ABSENT, ANY, Difference, differences, join
from fcompile.diff.defaults import as_the_server_reads
from fcompile.diff.effects import ORDER, Effect, State, Verdict
from fcompile.diff.held import Held
from fcompile.diff.resources import role_requests
from fcompile.lower.digest import document_digest
from fcompile.lower.environment import ENV_BEFORE_INSTANCE, TERMINATION_MESSAGE_POLICY, with_containers
from fcompile.lower.intent import Intent, Role, at_once, is_digest_of
from fcompile.lower.placeholders import index_values, substitute
from fcompile.model import names
from fcompile.model.fields import Field
from fcompile.model.framework import LIFETIME, asks_for_pause
from fcompile.model.values import mapping, text
from fcompile.pipeline.compiled import Compiled
from fcompile.schema.types import FRAMEWORK_TYPES

_IGNORED_METADATA = frozenset({"name", "namespace"})
_PAUSE, _RESTART, _DIGEST = (
    join("metadata.annotations", name) for name in (names.PAUSE_ANNOTATION, names.RESTART_ANNOTATION, names.DIGEST_ANNOTATION)
)
_POLICIES = {"frameworkAttemptCompletionPolicy": "CompletionPolicy", "retryPolicy": "RetryPolicy", "podGracefulDeletionTimeoutSec": ""}
"""Of a role, with the type of each that is an object."""


class Side(NamedTuple):
    """A Framework on one side of the comparison."""

    compiled: Compiled
    place: Callable[[], tuple[str, int]]
    """File and line; it takes time to find them."""
    status: Any = None
    """As the API server has it, where that is known."""
    digest: str | None = None
    """The digest in its annotation, if it has one, as compiled output has."""
    applied: Mapping[str, Any] = MappingProxyType({})
    """The metadata that kubectl applied last, as the cluster has it: kubectl removes what is not in the new version."""
    applied_spec: frozenset[str] = frozenset()
    """The fields of the spec that kubectl applied last."""
    stays: frozenset[str] = frozenset()
    """Fields of the spec that the new version lacks, and that stay when it is applied, since kubectl has not set them."""
    in_git: bool = False
    """It is a file of a commit: who applies it, and to which namespace where it gives none, is not known."""

    @property
    def says_namespace(self) -> bool:
        """Return whether the Framework itself gives its namespace."""
        return ("metadata", "namespace") not in self.compiled.filled

    @property
    def is_held(self) -> bool:
        """Return whether the digest is not that of the spec, by the rules that it names, so that the controller makes nothing from it."""
        if not self.digest or self.digest == self.compiled.intent.digest:
            return False
        return not is_digest_of(self.digest, self.compiled.framework)


class Change(NamedTuple):
    """A field that differs, and what that does."""

    role: str
    """Empty: the Framework's own field."""
    part: str
    """`framework`, `role`, `pod` or `service`: what the field is in."""
    field: str
    before: Any
    after: Any
    effect: Effect
    reason: str
    ends_pods: bool = False
    """Pods may be ended before their own completion."""
    pods: tuple[Pods, ...] = ()
    note: str = ""


class Pods(NamedTuple):
    """Pods of a role that a change affects, and how."""

    names: str
    """`train-worker-{0..3}`, as a shell expands it."""
    number: int
    what: str
    """`created`, `deleted`, `kept` (they stay as they are until their next attempt)."""


class RoleSize(NamedTuple):
    """A role and how many tasks it has, before and after. None: it is not there."""

    name: str
    before: int | None
    after: int | None


class FrameworkDiff(NamedTuple):
    """What differs in a Framework."""

    namespace: str
    name: str
    kind: str
    """`added`, `removed` or `changed`."""
    effect: Effect
    """The strongest effect of its changes."""
    changes: tuple[Change, ...]
    """Of one that is added, all that it says; of one that is removed, none."""
    roles: tuple[RoleSize, ...]
    resources: dict[str, tuple[int, int]]
    """What all Pods request, before and after, in billionths."""
    before: tuple[str, int] | None
    """File and line."""
    after: tuple[str, int] | None
    ends_pods: bool = False
    """Pods may be ended before their own completion. An edit that is refused ends none."""

    @property
    def may_move(self) -> bool:
        """Return whether the Framework becomes one of another namespace, where it is not applied to the default one."""
        return any((change.part, change.field) == ("framework", "metadata.namespace") for change in self.changes)

    @property
    def refused_but_ends_pods(self) -> bool:
        """Return whether the edit would end Pods under a definition that does not refuse it."""
        return self.effect is Effect.REFUSED and not self.ends_pods and any(change.ends_pods for change in self.changes)


def compare(before: Side | None, after: Side | None) -> FrameworkDiff | None:
    """Return what differs between a Framework and its later version, or None when nothing does. At least one of the two must be given."""
    side = after or before
    assert side is not None
    kind = "added" if before is None else "removed" if after is None else "changed"
    changes: tuple[Change, ...] = ()
    made_anew: tuple[Change, ...] = ()
    if before is not None and after is not None:
        changes = tuple(_changes(before, after))
        if not changes:
            return None
        made_anew = tuple(_made_anew(before, after, changes))
        changes += made_anew
    elif after is not None:
        changes = tuple(_contents(after))
    effect = max((change.effect for change in changes), key=ORDER.index, default=Effect.ON_THE_FLY)
    ends_pods = any(change.ends_pods for change in (made_anew if effect is Effect.REFUSED else changes))
    if before is not None and after is None:
        ends_pods = effects.removal_ends_pods(before.compiled.framework["spec"], before.status)
    return FrameworkDiff(
        namespace=side.compiled.namespace,
        name=side.compiled.intent.framework,
        kind=kind,
        effect=effect,
        changes=changes,
        roles=_sizes(before, after),
        resources=_resources(before, after),
        before=before and before.place(),
        after=after and after.place(),
        ends_pods=ends_pods,
    )


def _contents(side: Side) -> Iterator[Change]:
    """Yield all that a new Framework says but for defaults: under a new name, whatever else is new of it would not be seen."""
    framework, intent = side.compiled.framework, side.compiled.intent
    own = {f"metadata.{key}": value for key, value in _metadata(framework).items() if value}
    defaults = {**_default("FrameworkSpec"), "retryPolicy": _default("RetryPolicy")}
    set_fields = {field: framework["spec"].get(field) for field in defaults if field != "taskRoles"}
    own |= {f"spec.{field}": value for field, value in set_fields.items() if value not in (None, "", defaults[field])}
    for field, value in own.items():
        yield Change("", "framework", field, ABSENT, value, Effect.ON_THE_FLY, "")
    context = _Context(intent, side, State.WAITS, None, {}, side.compiled.namespace)
    for role in intent.roles:
        for change in context.role(role.name, None, role):
            if change.field != "role":  # Their numbers of tasks are in `roles`.
                yield change._replace(effect=Effect.ON_THE_FLY, reason="")


def _made_anew(before: Side, after: Side, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield what has not changed, and by which others delete the Framework, and create it anew, since something else has changed."""
    old, new = (mapping(side.compiled.framework["metadata"], "annotations") for side in (before, after))
    ends_pods = effects.removal_ends_pods(before.compiled.framework["spec"], before.status)
    for name, value in effects.made_anew(new, any(change.effect is Effect.REFUSED for change in changes)):
        field = join("metadata.annotations", name)
        if old.get(name) == value:
            yield Change("", "framework", field, value, value, *effects.of_metadata(field, value, ends_pods))


def _changes(before: Side, after: Side) -> Iterator[Change]:
    old, new = before.compiled.framework, after.compiled.framework
    state = effects.state(old["spec"], new["spec"], before.status)
    known = tasks.by_role(before.status)
    held = Held(old, new, before.status, known, state)
    is_held, right = after.is_held, after.compiled.intent.digest
    if before.is_held is not is_held or (is_held and (before.digest, before.compiled.intent.digest) != (after.digest, right)):
        was, now = (ABSENT if side.digest is None else side.digest for side in (before, after))
        was = was if was != now else right  # the spec has changed, and the digest has not
        yield Change("", "framework", _DIGEST, was, now, *effects.of_digest(is_held, held.by_digest(), state))
    if before.in_git and before.says_namespace is not after.says_namespace:
        was, now = (side.compiled.namespace if side.says_namespace else ABSENT for side in (before, after))
        yield Change("", "framework", "metadata.namespace", was, now, *effects.OF_NAMESPACE)
    yield from _of_the_framework(held, is_held, before.stays)
    old_roles = {role.name: role for role in before.compiled.intent.roles}
    new_roles = {role.name: role for role in after.compiled.intent.roles}
    is_known = not before.in_git or (before.says_namespace and after.says_namespace)
    context = _Context(before.compiled.intent, after, state, before.status, known, after.compiled.namespace if is_known else None)
    for name in old_roles | new_roles:
        yield from context.role(name, old_roles.get(name), new_roles.get(name))


def _of_the_framework(held: Held, is_held: bool, stays: frozenset[str]) -> Iterator[Change]:
    """Yield the changes of the Framework's own fields.

    :param is_held: by a digest that is not that of the spec. :param stays: fields of the spec that are as they were, though they are
        left out.
    """
    old, new, status, _, state = held
    removal_ends_pods = effects.removal_ends_pods(old["spec"], status)

    def changed(difference: Difference, verdict: Verdict) -> Change:
        return Change("", "framework", *difference, *verdict)

    paused = asks_for_pause(new)
    for difference in differences(_metadata(old), _metadata(new), ANY, "metadata"):
        if difference.field == _PAUSE and paused is not asks_for_pause(old):
            yield changed(difference, effects.of_pause(paused, held.by_pause(), state))
        elif difference.field == _RESTART:
            yield changed(
                difference, effects.of_restart(difference.after not in (ABSENT, ""), effects.takes_effect(paused, is_held), state)
            )
        else:
            after = None if difference.after in (ABSENT, []) else difference.after
            yield changed(difference, effects.of_metadata(difference.field, after, removal_ends_pods))
    verdicts: dict[str, Callable[[Any, Any], Verdict]] = {
        "description": lambda before, after: effects.OF_TEXT,
        "managedBy": lambda before, after: effects.OF_MANAGED_BY,
        "executionType": lambda before, after: effects.of_execution_type(before, after, state),
        "retryPolicy": lambda before, after: effects.of_retry_policy(state),
        "activeDeadlineSeconds": lambda before, after: effects.of_deadline(before, after, effects.takes_effect(paused), state),
        "cleanPodPolicy": lambda before, after: effects.of_clean_pod_policy(before, after, state),
        "ttlSecondsAfterFinished": lambda before, after: effects.of_time_to_live(after, state),
    }
    for field, verdict in verdicts.items():
        before, after = old["spec"].get(field), new["spec"].get(field)
        none = (None, "") if field in LIFETIME else (None,)
        left, right = (ABSENT if side in none else _known(side, "RetryPolicy") for side in (before, after))
        for difference in differences(left, right, ANY, f"spec.{field}"):
            yield changed(difference, effects.STAYS if field in stays else verdict(before, after))


def _known(value: Any, type_name: str) -> Any:
    """Return an object without fields that its type does not have, which are not stored; anything else as it is."""
    return {key: item for key, item in value.items() if key in FRAMEWORK_TYPES[type_name]} if isinstance(value, dict) else value


def _metadata(framework: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in framework["metadata"].items() if key not in _IGNORED_METADATA}
    annotations = {key: value for key, value in metadata["annotations"].items() if key != names.DIGEST_ANNOTATION}
    return {**metadata, "annotations": annotations, "labels": metadata.get("labels") or {}}


class _Context:
    """What the changes of all roles depend on."""

    def __init__(self, before: Intent, after: Side, state: State, status: Any, known: tasks.Known, namespace: str | None) -> None:
        self.state = state
        self.status = status
        self.tasks = known
        self.is_held, self.paused = after.is_held, asks_for_pause(after.compiled.framework)
        self.framework = after.compiled.intent.framework
        self.namespace = namespace
        self.retry_policy = after.compiled.intent.retry_policy
        self.filled = {path[2:] for path in after.compiled.filled if path[:1] == ("spec",) and len(path) > 2}
        self.places = {role.name: index for index, role in enumerate(after.compiled.intent.roles)}
        self._before, self._after = before, after.compiled.intent

    @cached_property
    def is_in_force(self) -> bool:
        """Return whether what runs is made from the later version already: then an edit in the cluster is not in force.

        Counts and policies need no review. So what is stored may have those of the cluster.
        """
        digest = text(mapping(self.status, "intent"), "digest") if self.state is State.RUNS else None
        possible = (self._after, self._after.with_settings_of(self._before)) if digest else ()
        return any(at_once(document_digest(one.document(), one.lowering))[0] == digest for one in possible)

    @cached_property
    def completes(self) -> bool:
        """Return whether all tasks of the later version have completed."""
        counts = {role.name: role.task_number for role in self._after.roles}
        return not any(count and tasks.may_run(self.tasks, name, 0, count) for name, count in counts.items())

    def role(self, name: str, old: Role | None, new: Role | None) -> Iterator[Change]:
        scaled = list(self._scale(name, old, new))
        yield from scaled
        if old is None or new is None:
            for part, field, value in self._whole(old or new):
                before, after = (ABSENT if role is None else value for role in (old, new))
                yield scaled[0]._replace(part=part, field=field, before=before, after=after)
            yield from self._service(name, old and old.service, new and new.service)
            return
        for policy, type_name in _POLICIES.items():
            yield from self._policy(name, policy, type_name, old, new)
        yield from self._pod(name, old, new)
        yield from self._service(name, old.service, new.service)

    def _whole(self, role: Role | None) -> Iterator[tuple[str, str, Any]]:
        """Yield part, field and value of all in a role: under a new name, whatever else is new of it would not be seen."""
        assert role is not None
        made = _comparable(role, self.namespace, role.task_number)
        for field, own in ("metadata", _own_metadata(made["metadata"])), ("spec", made["spec"]):
            if own:
                yield "pod", field, own
        for policy, type_name in _POLICIES.items():
            value = _known(role.policies[policy], type_name)
            if value != _default(type_name):
                yield "role", _policy_field(policy), value

    def _scale(self, name: str, old: Role | None, new: Role | None) -> Iterator[Change]:
        before, after = old.task_number if old else 0, new.task_number if new else 0
        if old is not None and new is not None and before == after:
            return
        is_held = self.is_held and (old is None or new is None)
        completes = not is_held and self.completes
        may_run = tasks.may_run(self.tasks, name, after, before)
        when = effects.takes_effect(self.paused, is_held)
        verdict = effects.of_scale(before, after, when, self.state, removed_may_run=may_run, completes=completes)
        pods: tuple[Pods, ...] = ()
        if verdict.effect is Effect.ON_THE_FLY and self.state is State.RUNS:
            pods = (self._pods(name, before, after, "created") if after > before else self._pods(name, after, before, "deleted"),)
        field = "role" if old is None or new is None else "taskNumber"
        yield Change(name, "role", field, before if old else ABSENT, after if new else ABSENT, *verdict, pods=pods)

    def _policy(self, name: str, policy: str, type_name: str, old: Role, new: Role) -> Iterator[Change]:
        left, right = (_known(role.policies[policy], type_name) for role in (old, new))
        for difference in differences(left, right, ANY, policy):
            field, before, after = difference
            if policy == "podGracefulDeletionTimeoutSec":
                verdict = effects.of_force(self.state)
            elif policy == "retryPolicy":
                verdict = effects.of_task_policy(self.state)
            else:
                completed = tasks.completed(self.tasks, name, failed=field.endswith("minFailedTaskCount"))
                verdict = effects.of_completion_policy(before, after, completed, effects.takes_effect(self.paused), self.state)
            yield Change(name, "role", _policy_field(field), before, after, *verdict, note=self._zero(name, difference))

    def _zero(self, name: str, difference: Difference) -> str:
        """Return a note on a 0 that upstream probably stored for a field left out, for which fcompile stores the default; else ""."""
        path = ("taskRoles", self.places[name], *difference.field.split("."))[1:]
        if difference.before == 0 and difference.before is not False and path in self.filled:
            return f"the 0 was probably stored by upstream for a field left out, and means no limit; its default is {difference.after}"
        return ""

    def _pod(self, name: str, old: Role, new: Role) -> Iterator[Change]:
        before, after = (_comparable(role, self.namespace, max(old.task_number, new.task_number)) for role in (old, new))
        differing = [*differences(before["metadata"], after["metadata"], Field("object", ref="ObjectMeta"), "metadata")]
        differing += differences(before["spec"], after["spec"], Field("object", ref="PodSpec"), "spec")
        if not differing:
            return
        stay, added = min(old.task_number, new.task_number), new.task_number - old.task_number
        verdict = effects.of_pod(stay, new.policies["retryPolicy"], self.retry_policy, self.state)
        if self.is_in_force:
            verdict = effects.IN_FORCE
        pods = []
        if self.state is State.RUNS and stay and not self.is_in_force:
            pods.append(self._pods(name, 0, stay, "kept"))
        if self.state is State.RUNS and added > 0:
            pods.append(self._pods(name, old.task_number, new.task_number, "created"))
        for difference in differing:
            yield Change(name, "pod", *difference, *verdict, pods=tuple(pods))

    def _service(self, name: str, old: Any, new: Any) -> Iterator[Change]:
        if old == new:
            return
        when = effects.takes_effect(self.paused, self.is_held)
        verdict = effects.IN_FORCE if self.is_in_force else effects.of_service(old, new, when, self.state)
        if old is None or new is None:
            before, after = (ABSENT if service is None else _ports(service) for service in (old, new))
            yield Change(name, "service", "service", before, after, *verdict)
            return
        for difference in differences(old["spec"], new["spec"], ANY, "service"):
            yield Change(name, "service", *difference, *verdict)

    def _pods(self, role: str, first: int, end: int, what: str) -> Pods:
        index = f"{{{first}..{end - 1}}}" if end - first > 1 else str(first)
        return Pods(names.pod_name(self.framework, role, index), end - first, what)


def _ports(service: Mapping[str, Any]) -> str:
    ports = ", ".join(f"{port['port']}/{port['protocol']}" for port in service["spec"].get("ports", ()))
    return f"{service['metadata']['name']}" + (f" ({ports})" if ports else "")


def _comparable(role: Role, namespace: str | None, most: int) -> dict[str, Any]:
    """Return the role's Pod for comparison, with the namespace filled in, and the index too where there was never more than one task.

    :param namespace: None: it is not known, so that its placeholder may be anything.
    """
    values = {} if namespace is None else {names.FRAMEWORK_NAMESPACE: namespace}
    if most <= 1:
        values |= index_values(0, role.sums)
    made: dict[str, Any] = substitute(role.pod, values)
    return as_the_server_reads({**made, "spec": with_containers(made["spec"], _own)})


def _default(type_name: str) -> Any:
    """Return a policy of which nothing is said."""
    return {name: field.default for name, field in FRAMEWORK_TYPES[type_name].items()} if type_name else None


def _policy_field(policy: str) -> str:
    return policy if policy.startswith("framework") else f"task.{policy}"


def _own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a Pod without what every Pod of a task gets."""
    own = {key: item for key, item in metadata.items() if key not in ("name", "namespace")}
    for kind, made in ("annotations", names.POD_ANNOTATIONS), ("labels", names.POD_LABELS):
        own[kind] = {key: item for key, item in mapping(metadata, kind).items() if key not in made}
    return {key: item for key, item in own.items() if item}


def _own(container: Mapping[str, Any]) -> dict[str, Any]:
    """Return a container without what every container of a task gets."""
    own = {**container, "env": container["env"][ENV_BEFORE_INSTANCE:]}
    if own.get("terminationMessagePolicy") == TERMINATION_MESSAGE_POLICY:
        del own["terminationMessagePolicy"]
    return own


def _sizes(before: Side | None, after: Side | None) -> tuple[RoleSize, ...]:
    old = {role.name: role.task_number for role in before.compiled.intent.roles} if before else {}
    new = {role.name: role.task_number for role in after.compiled.intent.roles} if after else {}
    return tuple(RoleSize(name, old.get(name), new.get(name)) for name in old | new)


def _resources(before: Side | None, after: Side | None) -> dict[str, tuple[int, int]]:
    old, new = _total(before), _total(after)
    return {name: (old.get(name, 0), new.get(name, 0)) for name in old | new}


def _total(side: Side | None) -> Amounts:
    total: Amounts = {}
    if side is None or side.compiled.intent.execution_type == "Stop":
        return total
    for role in side.compiled.intent.roles:
        add(total, role_requests(role.pod, role.task_number, role.sums))
    return total
