"""Conditions of a Framework (`status.conditions`): what people and tools should know beside the state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from fcompile.diagnostics.visible import first_of, visible
from fcompile.model import names
from fcontroller.decide.codes import Json, ending, policy_met
from fcontroller.decide.review import Verdict
from fcontroller.decide.states import CREATED
from fcontroller.decide.status import Status, from_time, to_time

_REASON: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?")
"""What Kubernetes takes for the reason of a condition; phrases come from the configuration."""

INTENT_REVIEWED = "IntentReviewed"
"""Whether the attempt runs what the digest annotation says was reviewed. Unknown: the Framework has no such annotation."""

INTENT_STORED = "IntentStored"
"""Whether the attempt's ConfigMap holds the intent that it should. Only said once it did not."""

PODS_CREATED = "PodsCreated"
"""Whether the API server takes the Pods that are asked for. Only said once it did not."""

PODS_STARTED = "PodsStarted"
"""Whether the Pods that were made have started. Only said once one has waited for some time."""

OBJECTS_DELETED = "ObjectsDeleted"
"""Whether Pods and the ConfigMap go when they are deleted. Only said once one did not."""

SCALE_ACCEPTED = "ScaleAccepted"
"""Whether the Framework may have as many tasks as it wants. Only said of one that has wanted too many."""

MESSAGES_KEPT = "MessagesKept"
"""Whether the messages of failures are in the status as a whole. Only said once some were cut, so that the status fits into etcd."""

PAUSED = "Paused"
"""Whether the Framework is held as it is. Only said of one that was paused at some time."""

SERVICES_MADE = "ServicesMade"
"""Whether the Services of the roles are there. Only said once one of them could not be made."""

ADOPTED = "Adopted"
"""That an attempt was begun by FrameworkController, and whether its Pods are what the intent says. Only said of such attempts."""

PODS_UP_TO_DATE = "PodsUpToDate"
"""Whether all Pods were made from the spec as it is since the last edit that is in force. Only said once some were not."""
PROBLEMS: Final = (INTENT_STORED, PODS_CREATED, PODS_STARTED, OBJECTS_DELETED, SCALE_ACCEPTED, SERVICES_MADE)
"""Those that are False while something that the Framework needs waits."""
_WAITS_FOR_TURN: Final = "WaitsForTurn"
"""The reason while Pods, or a ConfigMap, are not requested yet since many others are. That is no problem."""
_CREATED_AGAIN: Final = "Created", "The API server takes the Pods again"
_NOT_NEEDED = "NotNeeded"
_BEFORE_EDIT: Final = "BeforeEdit"
_FORGOTTEN: Final = "Forgotten"
"""The reason where it is not known any more which Pods are from before an edit."""
_IS_PAUSED = f"Nothing is created, retried or deleted while the annotation {names.PAUSE_ANNOTATION} is true; Stop works"
_IS_STOPPED = f"It was told to stop. After its end it is not deleted while the annotation {names.PAUSE_ANNOTATION} is true"
_LONGEST: Final = 4096
"""Characters of a message: whoever refuses something may say as much as he likes."""
_NAMED = 3
"""How many Pods are named in a message, and how many fields of each."""


def set_adopted(status: Status, differing: Mapping[str, Sequence[str]], generation: int, now: float) -> tuple[str, str] | None:
    """Set the condition of an adopted attempt; returns the reason and message of what there is to warn of since it was last set.

    :param differing: the fields in which Pods differ from the intent, by Pod.
    """
    begun = f"Attempt {status.attempt.id} began before this controller knew it"
    reason, message = "PodsMatch", f"{begun}; its Pods are what the intent says"
    if differing:
        shown = "; ".join(
            f"`{name}` in {first_of([f'`{field}`' for field in fields], _NAMED)}" for name, fields in sorted(differing.items())[:_NAMED]
        )
        more = f" and {len(differing) - _NAMED} more" if len(differing) > _NAMED else ""
        reason = "PodsDiffer"
        message = f"{begun}; Pods that differ from the intent run on until their tasks are retried: {shown}{more}"
    changed = set_condition(status, ADOPTED, True, reason, message, generation, now)
    return (f"Adopted{reason}", message) if changed and differing else None


def some(messages: Sequence[str], between: str = "; ") -> str:
    """Return the first messages, and how many more there are."""
    return between.join(messages[:_NAMED]) + (f"{between}and {len(messages) - _NAMED} more" if len(messages) > _NAMED else "")


def set_reviewed(status: Status, verdict: Verdict, generation: int, now: float) -> tuple[str, str] | None:
    """Set the condition of the review. Return the reason and message of what there is to warn of since it was last set."""
    before = _found(status.others, INTENT_REVIEWED).get("status", "Unknown")
    if not set_condition(status, INTENT_REVIEWED, verdict.reviewed, verdict.reason, verdict.message, generation, now):
        return None
    if verdict.reviewed is None and before != "Unknown":
        return verdict.reason, f"{verdict.message} any more: somebody has removed it, and nothing is enforced without it"
    return (verdict.reason, verdict.message) if verdict.reviewed is False else None


def set_problem(status: Status, kind: str, reason: str, message: str, fine: tuple[str, str], generation: int, now: float) -> bool:
    """Set a condition that exists only after a problem. Return whether there is something new to warn of.

    :param reason: of the problem; empty: there is none. :param fine: the reason and message once there is no problem any more.
    """
    if reason:
        return set_condition(status, kind, False, reason, message, generation, now)
    before = _found(status.others, kind)
    if before and (before["status"] != "True" or (before["reason"] == _NOT_NEEDED != fine[0])):
        set_condition(status, kind, True, *fine, generation, now)
    return False


def set_not_needed(status: Status, kind: str, generation: int, now: float, why: str = "No attempt runs") -> None:
    """Set a condition that is False, as nothing is asked for any more that could have its problem. It still says which one that was."""
    if is_false(status, kind):
        message = f"{why}. Before: {_found(status.others, kind).get('message')}"
        set_condition(status, kind, True, _NOT_NEEDED, message, generation, now)


def set_pods_created(status: Status, refused: Sequence[str], queued: Sequence[str], some_wait: bool, generation: int, now: float) -> None:
    """Set the condition about Pods that are asked for.

    :param refused: why Pods are not created. :param queued: which ones have waited long until it is their turn. :param some_wait: whether
        any waits for it: while that is so, what was said stays, since each change is a write of the status.
    """
    if some_wait and not refused and is_said(status, PODS_CREATED, _WAITS_FOR_TURN):
        return
    reason = "Refused" if refused else _WAITS_FOR_TURN if queued else ""
    fine = _unless_over(status, PODS_CREATED, _CREATED_AGAIN, "No Pod is to be made any more")
    set_problem(status, PODS_CREATED, reason, some(refused or queued), fine, generation, now)


def set_waits_to_begin(status: Status, generation: int, now: float) -> None:
    """Say that the attempt has waited long for its turn to begin."""
    why = "its requests wait for their turn, since many others of this namespace are under way"
    set_condition(status, INTENT_STORED, False, _WAITS_FOR_TURN, f"The attempt cannot begin yet: {why}", generation, now)


def waits_to_begin(status: Status) -> bool:
    """Return whether that is said."""
    return is_said(status, INTENT_STORED, _WAITS_FOR_TURN)


def set_paused(status: Status, paused: bool, generation: int, now: float, *, stops: bool = False, is_late: bool = False) -> None:
    """Set the condition of a pause. It counts as a change of state, so actions that have not begun are decided anew.

    :param stops: whether the Framework is told to stop, so that a pause is over whatever the annotation says.
    :param is_late: whether its deadline has passed.
    """
    said = _found(status.others, PAUSED)
    is_other = paused != (said.get("status") == "True")
    if is_other or (paused and is_late is not (said.get("reason") == "DeadlineExceeded")):
        late = ("DeadlineExceeded", f"{_IS_PAUSED}. Its deadline has passed: it ends once it goes on")
        over = ("Stopped", _IS_STOPPED) if stops else ("Resumed", "The Framework goes on")
        wanted = over if not paused else late if is_late else ("Annotated", _IS_PAUSED)
        set_condition(status, PAUSED, paused, *wanted, generation, now)
        status.changed = status.revision if is_other else status.changed


def set_started(status: Status, reason: str, message: str, generation: int, now: float) -> None:
    """Set the condition of Pods that do not start. It still says what they waited for when the attempt ends before they have started.

    :param reason: whatever a node or a scheduler says; empty: none waits for long.
    """
    reason = reason if not reason or _REASON.fullmatch(reason) else "Waiting"
    fine = _unless_over(status, PODS_STARTED, ("Started", "No Pod waits to start"), "No Pod is to start any more")
    set_problem(status, PODS_STARTED, reason, message, fine, generation, now)


def set_up_to_date(status: Status, generation: int, now: float) -> None:
    """Set the condition of Pods that were made before an edit. After the attempt it still says how many there were."""
    if status.state in CREATED and is_said(status, PODS_UP_TO_DATE, _FORGOTTEN):
        return
    outdated = {role.name: role.outdated for role in status.roles if role.outdated}
    reason, message = "", ""
    if outdated and status.state in CREATED:
        wanted = sum(len(role.tasks) - role.deletion_pending for role in status.roles)
        which = some([f"{count:,} of role {name}" for name, count in outdated.items()], ", ")
        are = f"{sum(outdated.values()):,} of {wanted:,} tasks have Pods from before the last edit ({which})"
        reason = _BEFORE_EDIT
        message = f"{are}. A task gets a new one when it is retried, and all do when the annotation {names.RESTART_ANNOTATION} changes"
    fine = _unless_over(status, PODS_UP_TO_DATE, ("UpToDate", "No Pod is from before the last edit"), "No Pod is to be made any more")
    set_problem(status, PODS_UP_TO_DATE, reason, message, fine, generation, now)


def note_forgotten(status: Status, generation: int, now: float) -> None:
    """Say of a status as it was read that another controller has left out which Pods were made before an edit."""
    is_forgotten = not any([role.pod_template_hash for role in status.roles])
    if is_forgotten and status.state in CREATED and is_said(status, PODS_UP_TO_DATE, _BEFORE_EDIT):
        by = "since a controller of another version wrote the status"
        before = _found(status.others, PODS_UP_TO_DATE).get("message")
        message = f"It is not known any more which Pods are from before the last edit, {by}. Before: {before}"
        set_condition(status, PODS_UP_TO_DATE, None, _FORGOTTEN, message, generation, now)


def _unless_over(status: Status, kind: str, fine: tuple[str, str], over: str) -> tuple[str, str]:
    """Return the reason and message of a condition about Pods without a problem: at the end, what the problem was that is over with them.

    :param fine: what is said while an attempt runs.
    """
    if status.state in CREATED:
        return fine
    return _NOT_NEEDED, f"{over}. Before: {_found(status.others, kind).get('message')}"


def set_services(status: Status, taken: Sequence[str], refused: str, generation: int, now: float) -> tuple[str, str] | None:
    """Set the condition of the Services; returns the reason and message of what has gone wrong since it was last set.

    :param taken: the names that others' Services have. :param refused: why ours cannot be made, changed or deleted.
    """
    if taken:
        listed = ", ".join(f"`{name}`" for name in taken)
        reason, message = "NameTaken", f"Not this Framework's, and left alone: Service {listed}. Delete it, or rename the role"
    else:
        reason, message = ("Refused", f"A Service cannot be made or changed: {refused}") if refused else ("", "")
    new = set_problem(status, SERVICES_MADE, reason, message, ("Made", "All Services are there"), generation, now)
    return (f"Service{reason}", message) if new else None


PODS_KEPT = "PodsKept"
"""That Pods which were to stay did not. Only said then."""


def set_not_kept(status: Status, count: int, why: str, generation: int, now: float) -> None:
    """Set the condition that Pods which were to stay for their logs went with the ConfigMap, and what was in the way, if that is known.

    :param why: why the ConfigMap went without them.
    """
    in_the_way = f": {_found(status.others, OBJECTS_DELETED)['message']}" if is_false(status, OBJECTS_DELETED) else ""
    which = "1 Pod that was" if count == 1 else f"{count:,} Pods that were"
    message = f"{which} to stay went with the ConfigMap, {why}{in_the_way}"
    set_condition(status, PODS_KEPT, False, "NotMoved", message, generation, now)


RETAINED = "Retained"
"""That a Framework that is over is not deleted although it is time, and why. Not said before."""
_RETAINED = {
    "Tracked": "It is over and would have been deleted by now, but {} tracks it, and would make it and run it again. Remove it there",
    "NotDue": "It is over, and its time is not: it was given more",
    "Paused": "It is over, and is not deleted while it is paused",
    "NotTracked": "It is over, and no GitOps tool tracks it any more: it is deleted",
}


def set_retained(status: Json, reason: str, tracker: str, generation: int, now: float) -> Json | None:
    """Return the status, as JSON, that says whether a Framework is kept because a GitOps tool tracks it; None: it needs no change.

    :param reason: Tracked; or why it is not kept for that any more, which is only said of one that was: NotDue, Paused or NotTracked.
    """
    if reason != "Tracked" and not is_retained(status):
        return None
    value, message = str(reason == "Tracked"), _RETAINED[reason].format(tracker)
    said = {"type": RETAINED, "status": value, "reason": reason, "message": message, "observedGeneration": generation}
    return _with(status, said, now)


def is_retained(status: Mapping[str, Any]) -> bool:
    """Return whether the status of a Framework, as JSON, says that it is kept because a GitOps tool tracks it."""
    return bool(_found(status, RETAINED).get("status") == "True")


COMPLETED = "Completed"
"""The Framework has ended, in whatever way: `kubectl wait` can wait for this."""
SUCCEEDED = "Succeeded"
"""Whether it has ended successfully. Only said at the end."""


def set_completed(status: Status, generation: int, now: float) -> None:
    """Set the condition that the Framework has ended, and how."""
    completion = status.attempt.completion
    assert completion is not None
    phrase, why = str(completion["phrase"]), policy_met(completion) or completion.get("diagnostics")
    message = ending(completion) + (f": {why}" if why else "")
    reason = phrase if _REASON.fullmatch(phrase) else completion["type"]["name"]
    set_condition(status, COMPLETED, True, reason, message, generation, now)
    set_condition(status, SUCCEEDED, completion["type"]["name"] == "Succeeded", reason, message, generation, now)


_visible: Final = lru_cache(100)(visible)  # Most conditions are set again and again to what they are.


def is_false(status: Status, kind: str) -> bool:
    """Return whether a condition is False."""
    return bool(_found(status.others, kind).get("status") == "False")


def is_said(status: Status, kind: str, reason: str) -> bool:
    """Return whether a condition has this reason."""
    return bool(_found(status.others, kind).get("reason") == reason)


def set_condition(status: Status, kind: str, value: bool | None, reason: str, message: str, generation: int, now: float) -> bool:
    """Set a condition (None: Unknown). Return whether it says something new."""
    wanted = {None: "Unknown", True: "True", False: "False"}[value]
    message = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"
    said = {"type": kind, "status": wanted, "reason": reason, "message": _visible(message), "observedGeneration": generation}
    others = _with(status.others, said, now)
    if others is None:
        return False
    status.others, status.conditioned = others, status.touch()
    return True


def _with(status: Json, said: Json, now: float) -> Json | None:
    """Return a status, as JSON, with a condition in place of the one of its type; None: the status says that already.

    :param said: the condition but for its `lastTransitionTime`.
    """
    old = _found(status, said["type"])
    if all(old.get(key) == item for key, item in said.items()):
        return None
    since = old.get("lastTransitionTime") if old.get("status") == said["status"] else None
    new = {**said, "lastTransitionTime": since or to_time(now)}
    return {**status, "conditions": [*(one for one in status.get("conditions") or () if one is not old), new]}


def problems(status: Status) -> dict[str, float]:
    """Return the problems, and since when each lasts, in seconds since 1970; none if somebody has written nonsense into the conditions."""
    try:
        said = status.others.get("conditions") or ()
        false = [condition for condition in said if condition["status"] == "False" and condition["reason"] != _WAITS_FOR_TURN]
        lasting = {condition["type"]: from_time(condition["lastTransitionTime"]) for condition in false if condition["type"] in PROBLEMS}
    except (LookupError, TypeError, ValueError, AttributeError):
        return {}
    return {kind: since for kind, since in lasting.items() if since is not None}


def has_had_problems(status: Status) -> bool:
    """Return whether anything that the Framework needs waits, or has waited at some time."""
    return any([_found(status.others, kind) for kind in PROBLEMS])


def _found(status: Mapping[str, Any], kind: str) -> Json:
    """Return the condition of a type in a status, as JSON; an empty one: it was never said."""
    return next((condition for condition in status.get("conditions") or () if condition["type"] == kind), {})
