"""What a change of a Framework's spec does to the Framework that runs: the table that `docs/diff.md` shows.

It says what `fcontroller` does, and the definition of Framework in the API server; tests hold each row against both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from fcompile.diagnostics.writer import counted
from fcompile.model.framework import KEEPS_PODS, is_anothers


class Effect(StrEnum):
    """What an edit does, from the weakest to the strongest: of several changes the strongest one names the whole edit."""

    NOTHING = "nothing"
    """Nothing that runs changes."""
    ON_THE_FLY = "on-the-fly"
    """It takes effect in the running attempt as soon as the controller sees it."""
    NEXT_RETRY = "next-retry"
    """Running Pods stay as they are; a task's next attempt has the change."""
    NEW_ATTEMPT = "new-attempt"
    """Only the next attempt of the whole Framework has the change."""
    REFUSED = "refused"
    """The API server refuses the edit, all of it."""


ORDER = tuple(Effect)


class Verdict(NamedTuple):
    """What a change does, and why."""

    effect: Effect
    reason: str
    ends_pods: bool = False
    """Whether Pods are, or may be, ended before their own completion. Pods of unknown state count as running."""


class State(StrEnum):
    """What is known of the Framework that is changed."""

    RUNS = "runs"
    """An attempt is under way; assumed where the status is unknown."""
    WAITS = "waits"
    """No attempt is under way, and the next one begins with what the spec says then."""
    ENDS = "ends"
    """Its attempt is being ended; perhaps another follows."""
    STOPS = "stops"
    """It is told to stop by the same edit, and an attempt is under way."""
    STOPS_WAITING = "stops-waiting"
    """It is told to stop by the same edit, and no attempt is under way."""
    OVER = "over"
    """It has completed, or was stopped."""
    ELSEWHERE = "elsewhere"
    """Another controller runs it."""


_OVER = {
    State.OVER: Verdict(Effect.NOTHING, "the Framework is over: nothing of it runs again"),
    State.ELSEWHERE: Verdict(Effect.NOTHING, "another controller runs this Framework; what it does with the edit is not known here"),
}
ANEW = "nothing is ever retried here, neither tasks nor the whole Framework: to run the change, delete the Framework and create it anew"
"""The reason of a change that waits for an attempt that never comes."""
_STOPPED = (State.STOPS, State.STOPS_WAITING)


def state(before: Mapping[str, Any], after: Mapping[str, Any], status: Any) -> State:
    """Return the state that decides what an edit does. Both specs are defaulted; `status` is that before the edit, None when unknown."""
    known = status.get("state") if isinstance(status, dict) else None
    if is_anothers(before):
        return State.ELSEWHERE
    if known == "Completed" or before["executionType"] == "Stop":
        return State.OVER
    if known in ("AttemptDeletionPending", "AttemptDeletionRequested", "AttemptDeleting", "AttemptCompleted"):
        return State.ENDS
    waits = known == "AttemptCreationPending" or before["executionType"] == "Create"
    if after["executionType"] == "Stop":
        return State.STOPS_WAITING if waits else State.STOPS
    return State.WAITS if waits else State.RUNS


def removal_ends_pods(spec: Mapping[str, Any], status: Any) -> bool:
    """Return whether deleting the whole Framework ends Pods before their own completion."""
    known = state(spec, spec, status)
    if known is State.ELSEWHERE:  # deleting the Framework ends its Pods, whichever controller runs it
        return not (isinstance(status, dict) and status.get("state") == "Completed")
    return known is State.RUNS


OF_TEXT = Verdict(Effect.NOTHING, "for people and tools; nothing that runs depends on it")
"""On an edit of the description, labels and annotations of the Framework itself."""
_OF_FINALIZERS = Verdict(Effect.NOTHING, "when the Framework is deleted, its Pods run on until all finalizers are gone")
OF_NAMESPACE = Verdict(
    Effect.NOTHING,
    "the namespace is the same here; where Argo CD or `kubectl -n` applies the file to another one, it becomes another Framework",
)
"""On a namespace that is given on one side alone."""
_ANY_BUT_FALSE = "^(?!false$)"
_ACTED_ON = {
    'annotations["argocd.argoproj.io/hook"]': ("", "Argo CD takes it for a hook: it is deleted and made anew, or left out"),
    'annotations["helm.sh/hook"]': ("", "Helm and Argo CD take it for a hook: it is deleted and made anew, or left out"),
    'annotations["argocd.argoproj.io/sync-options"]': ("Force=true", "a sync of Argo CD may delete the Framework and create it anew"),
    'annotations["config.kubernetes.io/local-config"]': (_ANY_BUT_FALSE, "kustomize leaves the Framework out of what is applied"),
    'annotations["kustomize.toolkit.fluxcd.io/force"]': ("(?i)^enabled$", "Flux may delete the Framework and create it anew"),
    'annotations["kapp.k14s.io/update-strategy"]': ("-replace$", "kapp may delete the Framework and create it anew"),
    'annotations["kapp.k14s.io/versioned"]': ("", "kapp makes another Framework at each edit, and deletes old ones"),
    'labels["cleanup.kyverno.io/ttl"]': ("", "Kyverno deletes the Framework when this time is over"),
    'annotations["janitor/': ("^(?!forever$)", "kube-janitor deletes the Framework when this time is over"),
    "ownerReferences": ("", "an owner that is gone, or goes, takes the Framework and all of its Pods with it"),
}
"""Metadata by which others may end a Framework: a pattern that is found in the new value, and what they do."""
_NEVER = "(?!)"
_MADE_ANEW = {
    "argocd.argoproj.io/hook": ("^(?!Skip$)", _NEVER),
    "helm.sh/hook": ("", _NEVER),
    "argocd.argoproj.io/sync-options": ("(?s)Force=true.*Replace=true|Replace=true.*Force=true", "Force=true"),
    "kapp.k14s.io/update-strategy": ("^always-replace$", "^fallback-on-replace$"),
    "kapp.k14s.io/versioned": ("", _NEVER),
    "kustomize.toolkit.fluxcd.io/force": (_NEVER, "(?i)^enabled$"),
    "internal.config.kubernetes.io/needsHashSuffix": ("^enabled$", _NEVER),
}
"""Annotations by which others delete a Framework and create it anew at each edit: what is found in the value where they do so, and where
they do so only at an edit that the API server refuses."""
_KUSTOMIZE_OWN = 'annotations["internal.config.kubernetes.io/'
"""What kustomize writes for itself, acts on, and takes away: `needsHashSuffix` gives a new name at each edit, `previousNames` the patches
of another object."""
IN_FORCE = Verdict(Effect.NOTHING, "this is in force: the edit in the cluster is not, since it was not reviewed")
"""On going back to what Pods and Services are made from, after the cluster's spec was edited."""
STAYS = Verdict(Effect.NOTHING, "it is only in the cluster, and kubectl has not set it: it stays there when the file is applied")
"""On a field of the spec that somebody has set in the cluster, and that the file leaves out."""
OF_MANAGED_BY = Verdict(Effect.REFUSED, "managedBy cannot be changed: delete the Framework and create it anew")


AT_ONCE = "at once"


def takes_effect(paused: bool, is_held: bool = False) -> str:
    """Return when an edit takes effect where the Framework is paused, or has a digest that is not that of the spec."""
    return "once the pause is over" if paused else "once it is compiled again" if is_held else AT_ONCE


def of_pause(paused: bool, ends: str, state: State) -> Verdict:
    """Return the verdict on an edit of the annotation that pauses; `paused` is its new state.

    :param ends: what of that which was held ends Pods, or may; empty: nothing.
    """
    if ended := _ended(state):
        return ended
    if paused:
        return Verdict(Effect.ON_THE_FLY, "nothing is created, retried or deleted until the annotation goes")
    return _going_on("it goes on where it was paused, with what the spec says then", ends)


def _going_on(reason: str, ends: str) -> Verdict:
    return Verdict(Effect.ON_THE_FLY, f"{reason}; {ends}" if ends else reason, ends_pods=bool(ends))


def of_restart(wanted: bool, when: str, state: State) -> Verdict:
    """Return the verdict on an edit of the annotation that restarts; `wanted` tells whether it has a value now."""
    if ended := _ended(state):
        return ended
    if not wanted:
        return Verdict(Effect.NOTHING, "only a new value restarts")
    if state is State.WAITS:
        return Verdict(Effect.NOTHING, "no attempt has begun that could be ended")
    if state is State.ENDS:
        return Verdict(Effect.ON_THE_FLY, f"the attempt is ending already: if another one follows, it begins {when}")
    return Verdict(
        Effect.ON_THE_FLY, f"every task is ended {when}, with code -130 of the attempt, and the next attempt begins", ends_pods=True
    )


def of_metadata(field: str, after: Any, ends_pods: bool) -> Verdict:
    """Return the verdict on an edit of other metadata; `after` is None where it is gone, `ends_pods` whether the end of it ends Pods."""
    within = field.removeprefix("metadata.")
    if within.startswith("finalizers"):
        return _OF_FINALIZERS
    if within.startswith(_KUSTOMIZE_OWN):
        return Verdict(
            Effect.ON_THE_FLY, "kustomize takes it for its own note: it may rename the Framework, or patch it as another", ends_pods
        )
    for name, (pattern, reason) in _ACTED_ON.items():
        if after is not None and within.startswith(name) and re.search(pattern, str(after)):
            return Verdict(Effect.ON_THE_FLY, reason, ends_pods)
    return OF_TEXT


def made_anew(annotations: Mapping[str, Any], refused: bool) -> Iterator[tuple[str, str]]:
    """Yield the annotations by which others delete the Framework at the edit of something else, with their values.

    :param refused: whether the API server refuses the edit.
    """
    for name, (always, when_refused) in _MADE_ANEW.items():
        value = annotations.get(name)
        if isinstance(value, str) and (re.search(always, value) or (refused and re.search(when_refused, value))):
            yield name, value


def of_digest(is_held: bool, ends: str, state: State) -> Verdict:
    """Return the verdict on a digest that was that of the spec and is not any more, or the other way round.

    :param ends: as in `of_pause`.
    """
    if state in _OVER:
        return _OVER[state]
    if is_held:
        return Verdict(
            Effect.ON_THE_FLY, "the digest is not that of the spec: no attempt begins, and no Pod is made from the edit; compile it again"
        )
    return _going_on("no digest of another spec is in the way any more: an attempt may begin, and Pods are made from the spec", ends)


def of_execution_type(before: str, after: str, state: State) -> Verdict:
    """Return the verdict on an edit of `executionType`."""
    if before == "Stop":
        return Verdict(Effect.REFUSED, "a stopped Framework cannot be started again: delete it and create it anew")
    if after == "Create":
        return Verdict(Effect.REFUSED, "executionType can go from Create to Start or Stop, and from Start to Stop, but never back")
    if state in _OVER:
        return _OVER[state]
    if after == "Start":
        return Verdict(Effect.ON_THE_FLY, "the first attempt begins")
    if state is State.ENDS:
        return Verdict(Effect.ON_THE_FLY, "the attempt is ending already, and no other follows")
    if before == "Create":
        return Verdict(Effect.ON_THE_FLY, "the Framework completes without having run")
    if state is State.STOPS_WAITING:
        return Verdict(Effect.ON_THE_FLY, "the Framework completes; no attempt is under way")
    return Verdict(Effect.ON_THE_FLY, "every task is ended at once, with code -210, and the Framework completes", ends_pods=True)


def of_retry_policy(state: State) -> Verdict:
    """Return the verdict on an edit of the Framework's own retry policy."""
    stopped = "the Framework is told to stop, and a stop is never followed by a retry"
    return _ended(state, stopped) or Verdict(Effect.ON_THE_FLY, "the new policy decides when the attempt completes")


def of_deadline(before: int | None, after: int | None, when: str, state: State) -> Verdict:
    """Return the verdict on an edit of `activeDeadlineSeconds`. None: there is no deadline."""
    if ended := _ended(state):
        return ended
    if after is None:
        return Verdict(Effect.ON_THE_FLY, "there is no deadline any more")
    over = f"{counted(after, 'second')} after its first attempt began"
    if state is State.WAITS:
        return Verdict(Effect.ON_THE_FLY, f"from {over}, no other one begins, and the Framework completes with code -240")
    if state is State.ENDS:
        return Verdict(Effect.ON_THE_FLY, f"the attempt that ends keeps its code, and from {over} no other one follows")
    reason = f"{over}, every task is ended, with code -240, and the Framework completes"
    if before is None or after < before:
        return Verdict(Effect.ON_THE_FLY, f"{reason}; if that time has already passed, {when}", ends_pods=True)
    return Verdict(Effect.ON_THE_FLY, reason)


def of_clean_pod_policy(before: str | None, after: str | None, state: State) -> Verdict:
    """Return the verdict on an edit of `cleanPodPolicy`. None: it is left out."""
    stay = after in KEEPS_PODS
    if stay is (before in KEEPS_PODS):
        same = "None is the same as Running: no Pod runs on after the end" if stay else "left out, it is All"
        return Verdict(Effect.NOTHING, same)
    reason = "Pods that finish stay for their logs until the Framework is deleted" if stay else "every Pod is deleted when its attempt ends"
    if state is State.STOPS:  # It decides what becomes of Pods that have finished by then.
        return Verdict(Effect.ON_THE_FLY, reason)
    return _in_attempt(state) or Verdict(Effect.ON_THE_FLY, reason)


def of_time_to_live(after: int | None, state: State) -> Verdict:
    """Return the verdict on an edit of `ttlSecondsAfterFinished`. None: it is left out."""
    if state is State.ELSEWHERE:
        return _OVER[state]
    if after is None:
        return Verdict(Effect.ON_THE_FLY, "the controller's `frameworkCompletedRetainSec` says when the Framework is deleted after its end")
    left = "with its status and what is left of its Pods"
    over = "; if that time has already passed, at once" if state is State.OVER else ""
    return Verdict(Effect.ON_THE_FLY, f"the Framework is deleted {counted(after, 'second')} after its end, {left}{over}")


def of_force(state: State) -> Verdict:
    """Return the verdict on an edit of `podGracefulDeletionTimeoutSec`."""
    return _OVER.get(state) or Verdict(Effect.ON_THE_FLY, "it also holds for Pods that are being deleted already")


def of_task_policy(state: State) -> Verdict:
    """Return the verdict on an edit of the retry policy of a role's tasks."""
    return _in_attempt(state) or Verdict(Effect.ON_THE_FLY, "the new policy decides when a task's attempt completes")


def of_completion_policy(before: int, after: int, completed: int | None, when: str, state: State) -> Verdict:
    """Return the verdict on an edit of a number in a role's completion policy. A number below 1 is never reached.

    :param completed: how many of the role's tasks have completed as it counts them; None: not known.
    """
    tighter = after >= 1 and not 1 <= before <= after
    if state is State.RUNS and tighter and (completed is None or completed >= after):
        reason = f"if the tasks that have completed meet it, all others are ended {when}"
        if completed is not None:
            reason = f"the tasks that have completed meet it: all others are ended {when}"
        return Verdict(Effect.ON_THE_FLY, reason, ends_pods=True)
    return _in_attempt(state) or Verdict(Effect.ON_THE_FLY, f"it is checked {when} against the tasks that have completed")


def of_scale(before: int, after: int, when: str, state: State, *, removed_may_run: bool, completes: bool) -> Verdict:
    """Return the verdict on an edit of `taskNumber`. A role that is added had no tasks before; one that is removed has none after.

    :param completes: whether all tasks that stay have completed.
    """
    if settled := _in_attempt(state) or _waiting(state):
        return settled
    if before == after:
        return Verdict(Effect.NOTHING, "the role has no task")
    ends = after < before and removed_may_run
    reason = f"tasks that are removed are ended {when}" if ends else f"the Framework is rescaled{_later(when)}"
    if completes:
        reason += ", and the attempt completes: all tasks that stay have completed"
    return Verdict(Effect.ON_THE_FLY, reason, ends)


def of_pod(stay: int, retry: Mapping[str, Any], framework_retry: Mapping[str, Any], state: State) -> Verdict:
    """Return the verdict on an edit of a role's Pod.

    `stay` counts the tasks that are there before and after; the retry policies are the new ones.
    """
    if settled := _in_attempt(state) or _waiting(state):
        return settled
    if not stay:
        return Verdict(Effect.ON_THE_FLY, "no task has a Pod of the role yet")
    if retries(retry):
        return Verdict(Effect.NEXT_RETRY, f"tasks of this role are retried {policy(retry)}")
    if retries(framework_retry):
        return Verdict(
            Effect.NEW_ATTEMPT, f"tasks of this role are never retried; the whole Framework is retried {policy(framework_retry)}"
        )
    return Verdict(Effect.NEW_ATTEMPT, ANEW)


def of_service(before: Any, after: Any, when: str, state: State) -> Verdict:
    """Return the verdict on an edit of a role's Service."""
    what = "created" if before is None else "deleted" if after is None else "changed"
    return _in_attempt(state) or _waiting(state) or Verdict(Effect.ON_THE_FLY, f"the Service is {what}{_later(when)}")


def _later(when: str) -> str:
    return "" if when == AT_ONCE else f" {when}"


def _ended(state: State, stopped: str = "the Framework is told to stop") -> Verdict | None:
    """Return the verdict on an edit of a Framework that is over, told to stop or run by another controller; of any other None."""
    return _OVER.get(state) or (Verdict(Effect.NOTHING, stopped) if state in _STOPPED else None)


def _in_attempt(state: State) -> Verdict | None:
    """Return the verdict on an edit that only matters while an attempt runs, when none does; otherwise None."""
    if state is State.ENDS:
        return Verdict(Effect.NEW_ATTEMPT, "the attempt is ending; if the retry policy starts another one, that has the change")
    return _ended(state)


def _waiting(state: State) -> Verdict | None:
    """Return the verdict on an edit while no attempt has begun; otherwise None."""
    return Verdict(Effect.ON_THE_FLY, "nothing runs yet: the attempt begins like this") if state is State.WAITS else None


def retries(policy: Mapping[str, Any]) -> bool:
    """Return whether a retry policy ever retries."""
    return bool(policy["fancyRetryPolicy"]) or policy["maxRetryCount"] != 0


def policy(policy: Mapping[str, Any]) -> str:
    """Return when a retry policy retries, in words that follow `is retried`."""
    most = policy["maxRetryCount"]
    times = "once" if most == 1 else f"up to {most} times"
    if not policy["fancyRetryPolicy"]:
        return {-2: "after every completion", -1: "after every failure"}.get(
            most, f"{times} after {'a failure' if most == 1 else 'failures'}"
        )
    if most == 0:
        return "after every transient failure, and after no other"
    others = {-2: "every other completion", -1: "every other failure"}.get(most)
    if others:
        return f"after every transient failure, never after a permanent one, and after {others}"
    return f"after every transient failure, never after a permanent one, and {times} after others"
