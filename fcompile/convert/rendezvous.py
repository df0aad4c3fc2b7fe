"""The c10d rendezvous of torch: the Pod whose host name is the endpoint hosts the store. Here an endpoint is an address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from fcompile.convert.draft import RoleDraft
from fcompile.convert.fields import Fields
from fcompile.convert.job import Job
from fcompile.convert.names import Hosts
from fcompile.diagnostics.problem import Path
from fcompile.model.values import sequence, text

_BACKEND, _ENDPOINT = (re.compile(rf"""--rdzv[-_]{option}(?:=|[\s\\]+)["']?([^\s"';|&]+)""") for option in ("backend", "endpoint"))
_NOT_CERTAIN = re.compile(r"--rdzv[-_]conf\b|--standalone\b")
_IS_HOST = re.compile(r"\bis_host\b")
_TORCHRUN = re.compile(r"\b(?:torchrun|torch\.distributed\.run)\b")
"""What reads PET_RDZV_CONF. Others, such as `accelerate launch`, have settings of their own."""
_VARIABLE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\}|(\w+))")
_ASSIGNED = re.compile(r"\b(\w++)=")
_NESTED, _LONGEST = 3, 300
"""Variables within the values of variables, and characters of a value that is looked at."""
_NAME, _CONF = "PET_RDZV_BACKEND", "PET_RDZV_CONF"


class _Program:
    """What a container runs, and the variables that it has."""

    def __init__(self, container: dict[str, Any]) -> None:
        self.env = {str(one.get("name")): one.get("value") for one in sequence(container, "env")}
        self._words = [(field, at, str(word)) for field in ("command", "args") for at, word in enumerate(sequence(container, field))]
        self.text = "\n".join(word for *_, word in self._words)
        self._assigned = set(_ASSIGNED.findall(self.text))

    def place(self, offset: int) -> Path:
        """Return the place of the word that has an offset in the text."""
        for field, at, word in self._words:
            if offset <= len(word):
                return field, at
            offset -= len(word) + 1
        return ()

    def expand(self, written: str) -> str:
        """Return a text with the values of the variables that are known before it runs."""
        for _ in range(_NESTED):
            written = _VARIABLE.sub(self._value, written[:_LONGEST])
        return written

    def _value(self, match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        value = str(self.env.get(name) or match[0])
        return match[0] if len(value) > _LONGEST or name in self._assigned else value


class _Meeting(NamedTuple):
    """A container that meets the others by c10d, at a task of the job or at an endpoint that is known only when it runs."""

    path: Path
    """Where that is said, in the source."""
    role: RoleDraft
    container: dict[str, Any]
    at: RoleDraft | None
    """The role of the task at which they meet. None: it is not known."""
    address: str
    """Of that task."""
    settled: bool
    """It says itself whether it is the host."""
    certain: bool
    """Nothing else in it says more about the meeting, and nothing but torch reads what is added."""


def settle_rendezvous(job: Job, policy: Fields | None) -> None:
    """Say to a master at which all meet that it is the host. Take down where torch must find out.

    To be called once the containers have the operator's variables.

    :param policy: the elastic one of the job.
    """
    hosts = job.hosts()
    meetings = [one for kind, parts in job.parts.items() for part in parts for one in _meetings(job, hosts, kind, part.role, policy)]
    counts = Counter(one.role.name for one in meetings)
    master = job.parts["Master"][0].role if "Master" in job.parts else None
    hosting = {one.role.name for one in meetings if one.at is one.role}
    for one in meetings:
        at = one.at or one.role
        if one.settled or _in_network_of_node(at) or (at is not one.role and at.name in hosting):
            continue
        if one.certain and one.at is one.role is master and counts[one.role.name] == 1:
            one.container["env"].append({"name": _CONF, "value": "is_host=true"})
            job.ledger.converted(one.path, f"its place, and the variable {_CONF} of the role `master`")
            job.draft.remarks.append(
                f"The role `master` has {_CONF}: torch knows the host of a c10d store by its host name, which is no address here"
            )
        else:
            _tell(job, one)


def _in_network_of_node(role: RoleDraft) -> bool:
    """Return whether the host name of the role's tasks is that of their node, there as here."""
    return role.template["spec"].get("hostNetwork") is True


def _meetings(job: Job, hosts: Hosts, kind: str, role: RoleDraft, policy: Fields | None) -> Iterator[_Meeting]:
    """Yield the containers of a role that meet by c10d where torch sees there by the host name who the host is."""
    for place, container in enumerate(role.template["spec"]["containers"]):
        program = _Program(container)
        path = _said_at(program, (*role.template_source, "spec", "containers", place), job.replicas[kind].containers[place], policy)
        if path is None:
            continue
        written = [match[1] for match in _ENDPOINT.finditer(program.text)] or [str(program.env.get("PET_RDZV_ENDPOINT") or "")]
        found = next((one for text in written if (one := _endpoint(program.expand(text), job, hosts)) is not None), None)
        if found is None:
            continue
        certain = (
            len(_BACKEND.findall(program.text)) <= 1
            and _CONF not in program.env
            and not container.get("envFrom")
            and _TORCHRUN.search(program.text) is not None
            and not _NOT_CERTAIN.search(program.text)
        )
        settled = _IS_HOST.search(f"{program.text}\n{program.env.get(_CONF)}") is not None
        yield _Meeting(path, role, container, *found, settled, certain)


def _said_at(program: _Program, path: Path, source: dict[str, Any], policy: Fields | None) -> Path | None:
    """Return where in the source it is said that a container meets by c10d, or by what is known only when it runs. None: it does not."""
    backends = list(_BACKEND.finditer(program.text))
    if backends:
        chosen = (match for match in backends if (name := program.expand(match[1])) == "c10d" or "$" in name)
        return next(((*path, *program.place(match.start())) for match in chosen), None)
    if program.env.get(_NAME) != "c10d":
        return None
    if policy is not None:
        return policy.at("rdzvBackend") if "rdzvBackend" in policy else policy.path
    return (*path, "env", [text(one, "name") for one in sequence(source, "env")].index(_NAME))


def _endpoint(endpoint: str, job: Job, hosts: Hosts) -> tuple[RoleDraft | None, str] | None:
    """Return the role and the address of the task whose host name an endpoint is, or what is known of them. None: it is of no task."""
    host = endpoint.partition(":")[0]
    if "$" in host or "`" in host:
        return None, f"{{role}}-{{index}}.{job.draft.name}-{{role}}"
    address = hosts.rewrite(host)
    of = next((role for role in job.draft.roles if re.fullmatch(rf"{role.name}-\d+\.{job.draft.name}-{role.name}", address)), None)
    return None if of is None else (of, address)


def _tell(job: Job, one: _Meeting) -> None:
    what = "torch may not see which Pod hosts the c10d store"
    why = (
        "it takes the Pod whose host name the endpoint is, and else asks DNS, which may not know a new Pod yet: with the operator a Pod is "
        f"known by its host name, and here by an address such as `{one.address}`"
    )
    remedy = (
        f"write the whole name there, `{one.address}.NAMESPACE.svc.cluster.local` with the domain of your cluster, or give torch "
        "`--rdzv_conf=is_host=true` in that Pod alone"
    )
    job.ledger.different(one.path, what, why, remedy)
