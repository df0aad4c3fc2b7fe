"""When a job ends at the latest, and what stays after its end: the fields of a Framework's spec for that."""

from __future__ import annotations

from collections.abc import Iterable

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal

_DEADLINE, _CLEANING, _TIME_TO_LIVE = "activeDeadlineSeconds", "cleanPodPolicy", "ttlSecondsAfterFinished"


def set_deadline(policy: Fields, draft: Draft, ledger: Ledger, *, why: str = "", remedy: str = "") -> None:
    """Take over the deadline.

    :param why: what of the operator's own is different; empty: nothing.
    """
    seconds = policy.count(_DEADLINE, 1)
    if seconds is not None:
        draft.lifetime[_DEADLINE] = seconds
        _tell(_DEADLINE, policy, draft, ledger, f"{seconds:,} s after its start it ends for certain, with code -240", why, remedy)


def set_time_to_live(policy: Fields, draft: Draft, ledger: Ledger, *, why: str = "", remedy: str = "") -> None:
    """Take over how long the job stays after its end; `why` is as in `set_deadline`."""
    seconds = policy.count(_TIME_TO_LIVE)
    if seconds is not None:
        draft.lifetime[_TIME_TO_LIVE] = seconds
        what = f"{seconds:,} s after its end the Framework itself is deleted, with its status"
        _tell(_TIME_TO_LIVE, policy, draft, ledger, what, why, remedy)


def set_clean_pod_policy(places: Iterable[Fields], draft: Draft, ledger: Ledger, *, launcher_stays: bool = False) -> None:
    """Take over which Pods go at the end. None is the operators' default, and lets Pods that run go on: here they end.

    :param places: where it can be said; the first counts. :param launcher_stays: whether All is about the workers only.
    """
    first, *others = places
    given = [place for place in (first, *others) if _CLEANING in place]
    values = [place.text(_CLEANING) for place in given]
    for place, value in zip(given, values, strict=True):
        if value not in ("All", "Running", "None", *(() if launcher_stays else ("",))):
            raise Refusal(place.at(_CLEANING), "it must be All, Running or None")
        if value != values[0]:
            ledger.dropped(place.at(_CLEANING), f"that of `{first.path[-1]}` counts")
    given = [place for place, value in zip(given, values, strict=True) if value == values[0]]
    value = values[0] if values else "None"
    if value in ("All", "") and not launcher_stays:
        for place in given:
            ledger.dropped(place.at(_CLEANING), "all Pods of a Framework go when it ends")
        return
    draft.lifetime[_CLEANING] = "Running" if value == "All" else value
    if value == "None":
        what = "when the Framework ends, its running Pods are deleted (Kubeflow, by default, lets them run on)"
        what = f"{what}; finished Pods stay for their logs"
        why = "here no Pod outlives its Framework"
        remedy = "write `cleanPodPolicy: Running` in the job if none of its Pods is to run on"
        for place in given or [first]:
            ledger.different(place.at(_CLEANING), what, why, remedy)
        draft.comment(f"Different: {what}.", ("spec", _CLEANING))
        return
    stays = ": the launcher's Pod stays there as well, and workers that have finished stay too" if value == "All" else ""
    for place in given:
        ledger.converted(place.at(_CLEANING), f"spec.{_CLEANING}{stays}")


def keep_finished_pods(draft: Draft) -> None:
    """Let finished Pods stay, as at the end of a JobSet: it deletes the Jobs that still run, and leaves the others."""
    draft.lifetime[_CLEANING] = "Running"


def _tell(field: str, policy: Fields, draft: Draft, ledger: Ledger, what: str, why: str, remedy: str) -> None:
    if not why:
        ledger.converted(policy.at(field), f"spec.{field}")
        return
    ledger.different(policy.at(field), what, why, remedy)
    draft.comment(f"Different: {what}: {why}.", ("spec", field))
