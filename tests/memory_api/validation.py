"""What a real server refuses of what clients send, as far as the API server in memory knows the field."""

from __future__ import annotations

from typing import Any, NamedTuple

from fcontroller.decide.owners import FOREGROUND, ORPHAN
from fcontroller.testing.memory_api.answers import Refusal, bad_request, named
from fcontroller.testing.memory_api.kinds import EVENTS, FRAMEWORKS, LEASES, PODS, Kind
from fcontroller.testing.memory_api.store import Validation
from fcontroller.testing.memory_api.values import Object

_PLAIN_FINALIZERS = (FOREGROUND, ORPHAN, "kubernetes")
_ANY_FINALIZERS = (FRAMEWORKS, EVENTS, LEASES)
"""Kinds whose finalizers may have any name."""
_CONDITIONAL = (FRAMEWORKS, LEASES)
"""Kinds of which a PUT must have a resourceVersion."""
_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")
_CHANGEABLE = ("activeDeadlineSeconds", "schedulingGates", "tolerations")


class Problem(NamedTuple):
    """Something invalid in one field."""

    reason: str
    field: str
    message: str


class Validating(Validation):
    def check_body(self, kind: Kind, body: Object) -> None:
        # A built-in kind knows its own name; for a custom one the body has to say it.
        version, called = (
            body.get(name) or ("" if kind.custom else own) for name, own in (("apiVersion", kind.api_version), ("kind", kind.kind))
        )
        if not called:
            raise bad_request(f"the object provided is unrecognized (must be of type {kind.kind}): Object 'Kind' is missing")
        if version != kind.api_version:
            raise bad_request(f"the API version in the data ({version}) does not match the expected API version ({kind.api_version})")
        if called != kind.kind and kind.custom:
            problem = Problem("FieldValueInvalid", "kind", f'Invalid value: "{called}": must be {kind.kind}')
            raise invalid(kind.group, called, (body.get("metadata") or {}).get("name", ""), [problem])
        if called != kind.kind:
            raise bad_request(f'{called} in version "{kind.version}" cannot be handled as a {kind.kind}')

    def check(self, kind: Kind, part: str, new: Object, given: Object, old: Object | None = None) -> None:
        if old is not None and kind in _CONDITIONAL and given["metadata"].get("resourceVersion", "") in ("", "0"):
            problem = Problem("FieldValueInvalid", "metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
            raise invalid(kind.group, kind.plural, old["metadata"]["name"], [problem])
        if part and kind.custom:
            return  # The status is taken, and nothing else is even looked at.
        found = problems(new["metadata"], kind in _ANY_FINALIZERS) if old is None else _problems_of_change(kind, part, new, given, old)
        found += _event_problems(kind, new)
        if found:
            raise invalid(kind.group, kind.kind, new["metadata"]["name"], found)


def _problems_of_change(kind: Kind, part: str, new: Object, given: Object, old: Object) -> list[Problem]:
    before, after = old["metadata"], new["metadata"]
    found = change_problems(after, given["metadata"], before)
    if any([after.get(name) is not before.get(name) for name in ("ownerReferences", "finalizers")]):
        found += problems(after, kind in _ANY_FINALIZERS)
    if kind is PODS and not part:
        found += _pod_problems(new, old)
    return found


def invalid(group: str, called: str, name: str, problems: list[Problem]) -> Refusal:
    causes = [{"reason": reason, "message": message, "field": field} for reason, field, message in problems]
    texts = list(dict.fromkeys(f"{problem.field}: {problem.message}" for problem in problems))
    full = f"{called}.{group}" if group else called
    message = f'{full} "{name}" is invalid: {texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"}'
    return Refusal(422, "Invalid", message, {**named(name, group, called), "causes": causes})


def problems(new: Object, lax: bool) -> list[Problem]:
    """Return what is wrong with the metadata that a client gives, whatever was there before.

    :param lax: finalizers may have any name.
    """
    found = []
    if not new["name"]:
        found.append(Problem("FieldValueRequired", "metadata.name", "Required value: name or generateName is required"))
    if "ownerReferences" in new:
        found += _owner_problems(new["ownerReferences"])
    if "finalizers" in new:
        found += _finalizer_problems(new["finalizers"], lax)
    return found


def change_problems(new: Object, given: Object, old: Object) -> list[Problem]:
    """Return what is wrong with a change.

    :param new: what is to be stored.
    :param given: what the client sent.
    :param old: what is stored.
    """
    found = []
    if "deletionTimestamp" in old:
        extra = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
        if extra:
            listed = "[]string{" + ", ".join(f'"{name}"' for name in extra) + "}"
            message = f"Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {listed}"
            found.append(Problem("FieldValueForbidden", "metadata.finalizers", message))
    if given.get("uid") and given["uid"] != old["uid"]:
        found.append(_immutable("uid", given["uid"]))
    for name in _DELETION:
        # Once it is being deleted the time cannot be changed, and a client's is ignored.
        ignored = name == "deletionTimestamp" and name in old
        if given.get(name) is not None and given[name] != old.get(name) and not ignored:
            found.append(_immutable(name, given[name]))
    return found


def _immutable(name: str, value: Any) -> Problem:
    shown = f'"{value}"' if isinstance(value, str) else value
    return Problem("FieldValueInvalid", f"metadata.{name}", f"Invalid value: {shown}: field is immutable")


def _finalizer_problems(finalizers: list[str], lax: bool) -> list[Problem]:
    found = []
    for at, name in enumerate(finalizers):
        if not lax and "/" not in name and name not in _PLAIN_FINALIZERS:
            message = f'Invalid value: "{name}": name is neither a standard finalizer name nor is it fully qualified'
            found.append(Problem("FieldValueInvalid", f"metadata.finalizers[{at}]", message))
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        listed = "[" + ",".join(f'"{name}"' for name in finalizers) + "]"
        message = f"Invalid value: {listed}: finalizer {ORPHAN} and {FOREGROUND} cannot be both set"
        found.append(Problem("FieldValueInvalid", "metadata.finalizers", message))
    return found


def _owner_problems(owners: list[Object]) -> list[Problem]:
    found = []
    controllers: list[str] = []
    for at, owner in enumerate(owners):
        for name, message in (("apiVersion", "version must not be empty"), ("kind", _EMPTY), ("name", _EMPTY), ("uid", _EMPTY)):
            if not owner.get(name):
                found.append(Problem("FieldValueInvalid", f"metadata.ownerReferences[{at}].{name}", f'Invalid value: "": {message}'))
        if owner.get("controller"):
            controllers.append(f"{owner.get('kind')}/{owner.get('name')}")
    for other in controllers[1:]:
        message = (
            f"Invalid value: {len(owners)} owners: Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {other}'
        )
        found.append(Problem("FieldValueInvalid", "metadata.ownerReferences", message))
    return found


_EMPTY = "must not be empty"


def _pod_problems(new: Object, old: Object) -> list[Problem]:
    """Return what is wrong with a changed spec: hardly any field of it may change."""
    before, after = old.get("spec", {}), new.get("spec", {})
    if before is after:
        return []
    found = _deadline_problems(before, after)
    if _fixed(before) == _fixed(after):
        return found
    if any([len(after.get(name) or ()) != len(before.get(name) or ()) for name in ("containers", "initContainers")]):
        return [Problem("FieldValueForbidden", "spec.containers", "Forbidden: pod updates may not add or remove containers")]
    allowed = "images, activeDeadlineSeconds, tolerations and scheduling gates"
    return [*found, Problem("FieldValueForbidden", "spec", f"Forbidden: pod updates may not change fields other than {allowed}")]


def _deadline_problems(before: Object, after: Object) -> list[Problem]:
    """Return what is wrong with a changed deadline: it can only be set, or brought forward."""
    there, wanted = before.get("activeDeadlineSeconds"), after.get("activeDeadlineSeconds")
    if there is None or (wanted is not None and wanted <= there):
        return []
    why = "must not update from a positive integer to nil value" if wanted is None else "must be less than or equal to previous value"
    message = f"Invalid value: {'null' if wanted is None else wanted}: {why}"
    return [Problem("FieldValueInvalid", "spec.activeDeadlineSeconds", message)]


def _fixed(spec: Object) -> Object:
    """Return the part of a spec that must stay as it is."""
    result = {name: value for name, value in spec.items() if name not in _CHANGEABLE}
    for name in ("containers", "initContainers"):
        result[name] = [{**container, "image": ""} for container in spec.get(name) or ()]
    return result


def _event_problems(kind: Kind, new: Object) -> list[Problem]:
    """Return what is wrong with an Event's namespace: it must be that of its object, or `default` for cluster-wide objects."""
    about = (new.get("involvedObject") or {}).get("namespace", "")
    if kind is not EVENTS or new["metadata"]["namespace"] == (about or "default"):
        return []
    return [Problem("FieldValueInvalid", "involvedObject.namespace", f'Invalid value: "{about}": does not match event.namespace')]
