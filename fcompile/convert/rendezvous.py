"""The c10d rendezvous of torch: the Pod whose host name is the endpoint hosts the store. Here an endpoint is an address."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from fcompile.convert.draft import RoleDraft
from fcompile.convert.fields import Fields
from fcompile.convert.job import Job
from fcompile.convert.replicas import Replica
from fcompile.diagnostics.problem import Path
from fcompile.model.values import sequence, text

_BACKEND = re.compile(r"""--rdzv[-_]backend(?:=|[\s\\]+)["']?c10d\b""")
_ENDPOINT = re.compile(r"""--rdzv[-_]endpoint(?:=|[\s\\]+)["']?([^\s"';|&]+)""")
_NOT_CERTAIN = re.compile(r"--rdzv[-_]conf\b|--standalone\b")
_IS_HOST = re.compile(r"\bis_host\b")
_TORCHRUN = re.compile(r"\b(?:torchrun|torch\.distributed\.run)\b")
"""What reads PET_RDZV_CONF. Others, such as `accelerate launch`, have settings of their own."""
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))")
_NESTED = 3
"""Variables within the values of variables."""
_CONF = "PET_RDZV_CONF"


class _Meeting(NamedTuple):
    """A container that meets the others by c10d, at a task of the job or at an endpoint that is known only when it runs."""

    path: Path
    """Where that is said, in the source."""
    role: RoleDraft
    container: dict[str, Any]
    address: str | None
    """Of the task at which they meet. None: it is not known."""
    settled: bool
    """It says itself whether it is the host."""
    certain: bool
    """Nothing else in it says more about the meeting, and nothing but torch reads what is added."""


def settle_rendezvous(job: Job, policy: Fields | None) -> None:
    """Say to a master at which all meet that it is the host. Take down where torch must find out.

    To be called once the containers have the operator's variables.

    :param policy: the elastic one of the job.
    """
    meetings = [
        found for kind, parts in job.parts.items() for part in parts for found in _meetings(job, job.replicas[kind], part.role, policy)
    ]
    master = job.parts["Master"][0].role if "Master" in job.parts else None
    hosts = {id(one.role) for one in meetings if _is_at(one.role, one.address, job)}
    for one in meetings:
        if one.settled or any(id(role) in hosts and role is not one.role and _is_at(role, one.address, job) for role in job.draft.roles):
            continue  # the others are no hosts, there as here
        alone = sum(other.role is one.role for other in meetings) == 1
        if one.certain and alone and one.role is master and id(master) in hosts:
            one.container["env"].append({"name": _CONF, "value": "is_host=true"})
            job.ledger.converted(one.path, f"its place, and the variable {_CONF} of the role `master`")
            job.draft.remarks.append(
                f"The role `master` has {_CONF}: torch knows the host of a c10d store by its host name, which is no address here"
            )
        else:
            _tell(job, one)


def _meetings(job: Job, replica: Replica, role: RoleDraft, policy: Fields | None) -> list[_Meeting]:
    """Return the containers of a role that meet by c10d, where torch sees there who the host is, and may not see it here."""
    spec = role.template["spec"]
    if spec.get("hostNetwork") is True:
        return []  # the host name is that of the node, there as here
    found = (_meeting(job, replica, role, place, policy) for place in range(len(spec["containers"])))
    return [one for one in found if one is not None]


def _meeting(job: Job, replica: Replica, role: RoleDraft, place: int, policy: Fields | None) -> _Meeting | None:
    container = role.template["spec"]["containers"][place]
    env = {str(one.get("name")): one.get("value") for one in sequence(container, "env")}
    words = [
        (field, at, word) for field in ("command", "args") for at, word in enumerate(sequence(container, field)) if isinstance(word, str)
    ]
    program = "\n".join(word for *_, word in words)
    backends = list(_BACKEND.finditer(program))
    path = (*role.template_source, "spec", "containers", place)
    if backends:
        path = (*path, *_word_at(words, backends[0].start()))
    elif env.get("PET_RDZV_BACKEND") != "c10d":
        return None
    elif policy is not None:
        path = policy.at("rdzvBackend") if "rdzvBackend" in policy else policy.path
    else:
        path = (*path, "env", [text(one, "name") for one in sequence(replica.containers[place], "env")].index("PET_RDZV_BACKEND"))
    endpoint = _ENDPOINT.search(program)
    address = _address(job, endpoint[1] if endpoint else env.get("PET_RDZV_ENDPOINT") or "", env, program)
    if address == "":
        return None
    settled = _IS_HOST.search(f"{program}\n{env.get(_CONF)}") is not None
    certain = (
        len(backends) <= 1
        and _CONF not in env
        and not container.get("envFrom")
        and _TORCHRUN.search(program) is not None
        and not _NOT_CERTAIN.search(program)
    )
    return _Meeting(path, role, container, address, settled, certain)


def _word_at(words: list[tuple[str, int, str]], offset: int) -> tuple[str, int]:
    """Return the field and the place in it of the word that has an offset in the lines of them all."""
    for field, at, word in words:
        if offset <= len(word):
            return field, at
        offset -= len(word) + 1
    raise AssertionError(offset)


def _address(job: Job, endpoint: str, env: dict[str, Any], program: str) -> str | None:
    """Return the address of the task whose host name an endpoint is; empty: of none. None: it is not known."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        found = env.get(name)
        return match[0] if found is None or re.search(rf"\b{name}=", program) else str(found)

    for _ in range(_NESTED):
        endpoint = _VARIABLE.sub(value, endpoint)
    host = endpoint.partition(":")[0]
    if "$" in host or "`" in host:
        return None
    address = job.hosts().rewrite(host)
    return address if any(_is_at(role, address, job) for role in job.draft.roles) else ""


def _is_at(role: RoleDraft, address: str | None, job: Job) -> bool:
    """Return whether an address is that of a task of a role."""
    return re.fullmatch(rf"{role.name}-\d+\.{job.draft.name}-{role.name}", address or "") is not None


def _tell(job: Job, one: _Meeting) -> None:
    what = "torch may not see which Pod hosts the c10d store"
    address = one.address or f"{{role}}-{{index}}.{job.draft.name}-{{role}}"
    why = (
        "it takes the Pod whose host name the endpoint is, and else asks DNS, which may not know a new Pod yet: with the operator a Pod is "
        f"known by its host name, and here by an address such as `{address}`"
    )
    remedy = (
        f"write the whole name there, `{address}.NAMESPACE.svc.cluster.local` with the domain of your cluster, or give torch "
        "`--rdzv_conf=is_host=true` in that Pod alone"
    )
    job.ledger.different(one.path, what, why, remedy)
