"""How a replica that fails is tried again: the operator's restart policies as the Pod's, and as the policy of the task."""

from __future__ import annotations

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.ledger import Ledger
from fcompile.convert.replicas import Replica

_EXIT_CODES = (
    "the operator tries again after any exit code from 128 on; here a failure is tried again when the controller's podFailureSpec "
    "calls it Transient"
)


def set_retries(role: RoleDraft, replica: Replica, limit: int | None, draft: Draft, ledger: Ledger) -> None:
    """Set the restart policy of a role's Pods, and when its tasks are tried again."""
    path = (*replica.path, "restartPolicy")
    role.template["spec"]["restartPolicy"] = "Never" if replica.policy == "ExitCode" else replica.policy
    if replica.policy == "ExitCode":
        role.fancy = True
        what = "which exit codes are tried again is a setting of the controller"
        ledger.different(path, what, _EXIT_CODES, "look at podFailureSpec in the controller's config, and add the codes that the job uses")
        draft.comment(f"Different: {what}. {_EXIT_CODES[:1].upper()}{_EXIT_CODES[1:]}.", draft.role_path(role, "task", "retryPolicy"))
        return
    if replica.says_policy:
        ledger.converted(path, "task.pod.spec.restartPolicy, task.retryPolicy")
    if replica.policy != "Never":
        # The operator makes Pods anew as well, as after an eviction.
        role.max_retry_count = -1 if limit is None else limit


def tell_backoff(replicas: dict[str, Replica], limit: int | None, path: tuple[str, ...], draft: Draft, ledger: Ledger) -> None:
    """Take down what becomes of `backoffLimit`."""
    if limit is None:
        return
    if all(replica.policy in ("Never", "ExitCode") for replica in replicas.values()):
        ledger.dropped(path, "it counts restarts of containers, and none of these Pods restarts its containers")
        return
    what = f"the Pod of each task may be made anew {limit}×; restarts of containers within a Pod are not counted"
    why = "the operator adds up the restarts of the containers that run"
    remedy = "to end a job whose containers fail again and again, write `restartPolicy: Never` in `task.pod.spec`: then each failure counts"
    ledger.different(path, what, why, remedy)
    draft.comment(f"Different: backoffLimit: {limit}: {what}.", ("spec", "taskRoles"))
