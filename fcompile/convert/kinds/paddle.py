"""PaddleJob: with a Master, servers and trainers; without one, workers that meet at the first of them."""

from __future__ import annotations

from typing import Any

from fcompile.convert.containers import Variable, add_variables
from fcompile.convert.job import Job, Part, read_job
from fcompile.convert.kinds.pytorch import tell_metrics
from fcompile.convert.made import Made

_TYPES = ("Master", "Worker")
CONTAINER, PORT, NUMBER = "paddle", "master", 36543
_OWN_ADDRESS = {"fieldRef": {"fieldPath": "status.podIP"}}


def convert_paddle(source: dict[str, Any]) -> Made:
    """Convert a PaddleJob. Raises Refusal."""
    job = read_job(source, "paddleReplicaSpecs", _TYPES, "OnFailure")
    ports = job.add_ports(_TYPES, CONTAINER, PORT, NUMBER)
    meeting = "Master" if "Master" in ports else "Worker"
    for kind in ports:
        parts = job.add_role(kind, serves=CONTAINER, split_first=kind == meeting)
        if len(parts) > 1:
            _tell_split(job, kind)
    if meeting == "Master":
        # All replicas of the type must succeed: where it is two roles, the one of many decides.
        role = job.parts["Master"][-1].role
        role.min_succeeded = max(role.task_number, 1)
    for kind, parts in job.parts.items():
        for part in parts:
            add_variables(part.role, _variables(job, kind, part, meeting, ports), job.ledger)
    _elastic(job)
    return job.finish()


def _variables(job: Job, kind: str, part: Part, meeting: str, ports: dict[str, int]) -> list[Variable]:
    made: list[Variable] = [("PYTHONUNBUFFERED", "1"), ("PADDLE_JOB_ID", job.name), ("PADDLE_NNODES", str(job.total))]
    if kind == meeting and part.first == 0 and part.role.task_number <= 1:
        made += [("POD_IP_DUMMY", dict(_OWN_ADDRESS)), ("PADDLE_MASTER", f"$(POD_IP_DUMMY):{ports[meeting]}")]
    else:
        made.append(("PADDLE_MASTER", f"{job.host(meeting, 0)}:{ports[meeting]}"))
    if meeting == "Master":
        made.append(("PADDLE_SERVER_NUM" if kind == "Master" else "PADDLE_TRAINER_NUM", "1"))
    return made


def _tell_split(job: Job, kind: str) -> None:
    first = job.parts[kind][0].role
    low = kind.lower()
    what = f"{low} 0 is a role of its own, `{first.name}`; {low} 1 and the others are the tasks 0, 1, … of the role `{low}`"
    why = "the operator gives the first one other variables than the others, and all tasks of a role have the same"
    remedy = "nothing, if the program goes by the variables of Paddle: they have the names that go together"
    if kind == "Master":
        remedy = "look whether the job may end when all masters but the first have"
    job.ledger.different(job.replicas[kind].path, what, why, remedy)
    job.draft.comment(f"Different: {what}: {why}.", job.draft.role_path(first))


def _elastic(job: Job) -> None:
    if "elasticPolicy" not in job.spec:
        return
    policy = job.spec.below("elasticPolicy")
    for key in ("minReplicas", "maxReplicas", "maxRestarts"):
        policy.count(key)
        if key in policy:
            job.ledger.dropped(policy.at(key), "the operator uses it for nothing but its autoscaler")
    if not policy.value:
        job.ledger.dropped(policy.path, "it is empty")
    tell_metrics(job, policy)
