"""How a replica that fails is tried again: the operator's restart policies as the Pod's, and as the policy of the task."""

from __future__ import annotations

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.ledger import Ledger
from fcompile.convert.replicas import Replica

_EXIT_CODES = (
    "the operator tries again after any exit code from 128 on; here a failure is tried again when the controller's podFailureSpec "
    "calls it Transient"
)
_NEVER_ANEW = (
    "the operator makes no Pod of such a job anew, and the job stays Restarting; here a failure is tried again when the controller's "
    "podFailureSpec calls it Transient"
)
_FAIL_WITH_A_POD = ("MPIJob", "XGBoostJob")
"""The kinds that fail when a Pod of theirs does as a whole."""
NOT_COUNTED = "restarts of containers within a Pod are not counted"
COUNT_RESTARTS = "to end a job whose containers fail again and again, write `restartPolicy: Never` in `task.pod.spec`"


def set_retries(role: RoleDraft, kind: str, replica: Replica, limit: int | None, draft: Draft, ledger: Ledger) -> None:
    """Set the restart policy of a role's Pods, and when its tasks are tried again.

    :param kind: of the job.
    """
    path = (*replica.path, "restartPolicy")
    role.template["spec"]["restartPolicy"] = "Never" if replica.policy == "ExitCode" else replica.policy
    if replica.policy == "ExitCode":
        role.fancy = True
        what, why = "which exit codes are tried again is a setting of the controller", _NEVER_ANEW if kind == "MPIJob" else _EXIT_CODES
        ledger.different(path, what, why, "look at podFailureSpec in the controller's config, and add the codes that the job uses")
        draft.comment(f"Different: {what}. {why[:1].upper()}{why[1:]}.", draft.role_path(role, "task", "retryPolicy"))
        return
    if replica.says_policy:
        ledger.converted(path, "task.pod.spec.restartPolicy, task.retryPolicy")
    if is_made_anew(kind, replica):
        role.max_retry_count = -1 if limit is None else limit


def is_made_anew(kind: str, replica: Replica) -> bool:
    """Return whether the operator makes a Pod anew that fails as a whole, as after an eviction, though not for its exit code."""
    return replica.policy in ("Always", "OnFailure") and kind not in _FAIL_WITH_A_POD


def made_anew(limit: int, pod: str) -> str:
    """Return how often a Pod may be made again, in words."""
    return f"{pod} may be made anew {limit}×" if limit else "no Pod is made again after a failure"


def tell_backoff(kind: str, replicas: dict[str, Replica], limit: int | None, path: tuple[str, ...], draft: Draft, ledger: Ledger) -> None:
    """Take down what becomes of the `backoffLimit` of training-operator, which ends a job at so many restarts of all of its containers."""
    if limit is None:
        return
    if all(replica.policy in ("Never", "ExitCode") for replica in replicas.values()):
        ledger.dropped(path, "it counts restarts of containers, and none of these Pods restarts its containers")
        return
    what = NOT_COUNTED
    if any(is_made_anew(kind, replica) for replica in replicas.values()):
        what = f"{made_anew(limit, 'the Pod of each task')}; {what}"
    why = "the operator adds up the restarts of the containers that run, and does not count Pods that it makes anew"
    retries = f"and `maxRetryCount: {max(limit - 1, 0)}` in `task.retryPolicy`"
    remedy = f"{COUNT_RESTARTS} {retries}: then each failure counts, for its own task"
    ledger.different(path, what, why, remedy)
    draft.comment(f"Different: backoffLimit: {limit}: {what}.", ("spec", "taskRoles"))
