"""Addresses in variables, commands and arguments that lead nowhere: what remains of another kind of job, or of an edit of roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from fcompile.check.context import FrameworkContext, RoleContext, containers, words
from fcompile.check.pod_values import entries
from fcompile.diagnostics.problem import Finding, Path, warning_rule
from fcompile.model import names
from fcompile.model.hosts import may_be_host
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, text

NO_SUCH_HOST = warning_rule(
    code="FC514",
    name="no-such-host",
    summary="A variable, a command or an argument holds a host name of a task that will not resolve.",
    why=(
        "The host name of a task is `{role}-{index}.{framework}-{role}`, and only tasks of a role with a `service` have one. Names of "
        "Pods are no DNS names: neither Kubeflow's `pt-ddp-master-0` nor a StatefulSet's `db-0.db` has its like here."
    ),
    remedy="Give the role a `service`, and write the name in that form, unless somebody else makes a Service of that name.",
)
LABEL_OF_KUBEFLOW = warning_rule(
    code="FC515",
    name="label-of-kubeflow",
    summary="A variable reads a label of Kubeflow's, which no Pod of a Framework has.",
    why="The variable will be empty.",
    remedy="Write `{{FC_TASK_INDEX}}` for the index, `{{FC_TASKROLE_NAME}}` for the role, and `{{FC_FRAMEWORK_NAME}}` for the job.",
)

_HOST = lazy(r"(?<![\w.-])([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)-([0-9]{1,5})((?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*)(?![\w-])")
_ASKS_FOR_HOST = lazy(r"(?i)(?://|(?:addr|address|host|hosts|endpoint|url)[\"']?[= ])\Z")
"""What a command has before a host. The name of a Pod may be anything else there: of a run, a folder, a Pod that `kubectl` is asked for."""
_LONGEST_ASKING = 12
_FEW = 100
"""Roles that are looked for in the text one by one."""
_LABELS = ("training.kubeflow.org/", "trainer.kubeflow.org/", "jobset.sigs.k8s.io/", "batch.kubernetes.io/")
_LABEL = lazy(rf"metadata\.(label|annotation)s\['((?:{'|'.join(map(re.escape, _LABELS))})[^']*)'\]")


def address_rules(context: FrameworkContext, source: str) -> Iterator[Finding]:
    """Yield the variables that lead nowhere; the text of the document lets most Frameworks pass at once."""
    labels = any(label in source for label in _LABELS)
    if not labels and len(context.roles) <= _FEW and not any(f"{role.name}-" in source for role in context.roles if role.name):
        return
    roles = {role.name: role for role in context.roles}

    @cache  # Every task of a job knows all others, so that the same hosts come again.
    def judge(base: str, index: str, rest: str) -> str:
        return _why(context, roles.get(base.rpartition("-")[2]), base, int(index), rest.split(".")[1:])

    for role in context.roles:
        told: set[Path] = set()
        seen: dict[Path, Any] = {}
        for index in sorted({0, role.last_index}):
            pod = context.substituted(role, index)
            for container, path in containers(pod, role.template_path):
                if seen.get(path) == container and not labels:
                    continue  # There is no index in it.
                seen[path] = container
                of_container = _of_container(container, path, judge, mapping(pod, "metadata") if labels else None)
                # What is wrong for the first task and for the last is told once, although the index makes the messages differ.
                found = [finding for finding in of_container if finding.path not in told]
                told.update(finding.path for finding in found)
                yield from found


_Judge = Callable[[str, str, str], str]
"""Takes the three parts of a `_HOST`, and returns why it is not there; the empty string: it is, or it is none of the Framework's."""


def _of_container(container: Any, path: Path, judge: _Judge, metadata: dict[str, Any] | None) -> Iterator[Finding]:
    """Yield what is wrong in a container. `metadata` is that of its Pod, or None when no variable reads a label of Kubeflow's."""
    for variable, place in entries(container, path, "env"):
        if value := text(variable, "value"):
            yield from _hosts(judge, value, (*place, "value"))
        if metadata is not None:
            yield from _label(variable, metadata, (*place, "valueFrom", "fieldRef", "fieldPath"))
    for word, place in words(container, path):
        yield from _hosts(judge, word, place, is_command=True)


def _hosts(judge: _Judge, value: str, path: Path, *, is_command: bool = False) -> Iterator[Finding]:
    """Yield the hosts in a variable, a command or an argument that will not resolve."""
    told: set[str] = set()
    for match in _HOST.finditer(value) if "-" in value else ():
        if not may_be_host(match.string, *match.span()) or (is_command and "-" not in match[3] and not _is_asked_for(match)):
            continue
        host, why = match[0], judge(*match.groups())
        if why and host not in told:
            told.add(host)
            yield Finding(NO_SUCH_HOST, path, f"`{host}` will not resolve: {why}")


def _is_asked_for(match: re.Match[str]) -> bool:
    """Return whether a word of a command is a host by what stands beside it."""
    written, start, end = match.string, *match.span()
    if written[end : end + 1] == ":" and written[end + 1 : end + 2].isdigit():
        return True
    return _ASKS_FOR_HOST.search(written, max(start - _LONGEST_ASKING, 0), start) is not None


def _why(context: FrameworkContext, role: RoleContext | None, base: str, index: int, labels: list[str]) -> str:
    """Return why a host is not there; the empty string: it is, or it is none of the Framework's.

    :param role: the one that the name ends with.
    """
    if role is None or not role.name:
        return ""
    own, lacks = names.service_name(context.name, role.name), _lacks(role, index)
    if base == role.name and labels[:1] == [own]:
        return lacks or _elsewhere(context, labels)
    as_in_stateful_set = base == own and labels[:1] == [own]
    without_role = base == role.name and labels[:1] == [context.name] != [context.namespace]
    # A role whose Pods say a subdomain has a Service that somebody makes by hand.
    own_service = text(mapping(role.template, "spec"), "subdomain")
    without_framework = base == role.name and labels[:1] == [role.name] != [context.namespace] and not own_service
    before = base.removesuffix(f"-{role.name}")
    elsewhere = labels and not (labels[0] == context.namespace or labels[1:2] == ["svc"])
    of_pod = before != base and not elsewhere and before.replace("-", "") == context.name
    if not (as_in_stateful_set or without_role or without_framework or of_pod):
        return ""
    return f"write {names.hostname(role.name, str(index))}.{own}" + (f", and {lacks}" if lacks else "")


def _elsewhere(context: FrameworkContext, labels: list[str]) -> str:
    """Return why a host with the right name is not in the namespace that it names, if the Framework says its own."""
    own = text(mapping(context.value, "metadata"), "namespace")
    if own and labels[1:2] not in ([], [own]) and labels[2:3] in ([], ["svc"]):
        return f"the Framework is in the namespace `{own}`: leave `.{'.'.join(labels[1:])}` out"
    return ""


def _lacks(role: RoleContext, index: int) -> str:
    if not role.serves:
        if text(mapping(role.template, "spec"), "subdomain"):
            return ""  # Somebody makes the Service.
        return f"give the role `{role.name}` a `service`"
    return "" if index <= role.last_index else f"name one of the role `{role.name}`, whose last index is {role.last_index}"


def _label(variable: Any, metadata: Any, path: Path) -> Iterator[Finding]:
    match = _LABEL.fullmatch(text(mapping(mapping(variable, "valueFrom"), "fieldRef"), "fieldPath") or "")
    if match and match[2] not in mapping(metadata, f"{match[1]}s"):
        message = f"no Pod of a Framework has the {match[1]} `{match[2]}`, so the variable will be empty: use a placeholder"
        yield Finding(LABEL_OF_KUBEFLOW, path, message)
