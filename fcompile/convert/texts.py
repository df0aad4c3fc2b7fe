"""The user's own texts in a template: names of the job's Pods are rewritten, and what looks like one and is none is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.ledger import Ledger
from fcompile.convert.names import Hosts, Task
from fcompile.convert.own_names import cuts_own_name, reads_own_name
from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import listed
from fcompile.model import names
from fcompile.model.values import sequence, strings

LABELS = ("training.kubeflow.org/", "trainer.kubeflow.org/", "group-name", "pytorch-job-name", "tf-job-name", "mpi-job-name")
_PLACEHOLDER = re.compile(rf"\{{\{{(?:{'|'.join([*names.PLACEHOLDERS, names.SUM])})\}}\}}")
_OTHER_HOST_NAMES = "the host name of a task is `{role}-{index}`, such as `worker-0`, without the name of the job"
_SHOWN = 3
_FIELDS = ("command", "args", "env", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def rewrite_texts(role: RoleDraft, hosts: Hosts, draft: Draft, ledger: Ledger) -> None:
    """Rewrite the names of tasks in commands, arguments, variables and probes."""
    spec = role.template["spec"]
    for kind in ("initContainers", "containers"):
        for position, container in enumerate(spec.get(kind) or ()):
            _rewrite_container(container, (*role.template_source, "spec", kind, position), hosts, draft, ledger)


def _rewrite_container(container: dict[str, Any], path: Path, hosts: Hosts, draft: Draft, ledger: Ledger) -> None:
    program = next(iter(sequence(container, "command") or sequence(container, "args")), None)
    commands = isinstance(program, str) and program.rpartition("/")[2] in ("kubectl", "oc")
    rewritten: list[Path] = []
    readers: list[Path] = []

    def change(text: str, at: Path) -> str:
        own = at[len(path)] != "env" and reads_own_name(text)
        if own and not hosts.compared(text):
            readers.append(at)
        made = _rewritten(text, at, hosts, ledger, own=own, commands=commands and at[len(path)] in ("command", "args"))
        if made != text:
            rewritten.append(at)
            if any(letter.isspace() for letter in text.strip()):
                draft.remarks.append(f"The script at {field_path(at)} has addresses in place of names of Pods: look whether each is one")
        return made

    for field in _FIELDS:
        if field in container:
            container[field] = _each(container[field], (*path, field), change)
    for at in readers if rewritten else ():
        ledger.different(
            at,
            "this script reads its own host name, and names of Pods beside it are addresses now",
            "the host name of a task is `{role}-{index}`, and its address another: compared, they never match",
            "where it compares them, go by FC_TASKROLE_NAME and FC_TASK_INDEX",
        )


def tell_labels(template: Any, path: Path, ledger: Ledger) -> None:
    """Take down each selector that goes by labels of the operator's, which no Pod here has."""
    for at, part, written in strings(template, path):
        if is_label_of_operator(written) and not (part == "key" and len(at) > 1 and at[-2] in ("labels", "annotations")):
            ledger.different(
                at,
                "it selects by a label that Pods do not have here",
                "Pods of a Framework have the labels FC_FRAMEWORK_NAME, FC_TASKROLE_NAME and FC_TASK_INDEX",
                "select by FC_FRAMEWORK_NAME and FC_TASKROLE_NAME",
            )


def tell_placeholders(value: Any, path: Path, ledger: Ledger, source: Path | None = None) -> None:
    """Take down each text of the user's that a Framework would replace, and Kubeflow leaves as it is.

    :param source: what stands for every field in the source, where the fields are not in the source themselves.
    """
    for at, _, written in strings(value, path):
        match = _PLACEHOLDER.search(written) if "{{FC_" in written else None
        if match is not None:
            ledger.different(
                source or at,
                f"`{match[0]}` is replaced by a value of the task's",
                "with Kubeflow it is a text like any other",
                "write another text, or the braces apart: `$(OPEN)FC_…` with a variable OPEN before it",
            )


def is_label_of_operator(text: str) -> bool:
    """Return whether a text is the key of a label of Kubeflow's."""
    return text.startswith(LABELS[:2]) or text in LABELS[2:]


def _rewritten(text: str, path: Path, hosts: Hosts, ledger: Ledger, *, own: bool, commands: bool) -> str:
    """Return a text with the addresses of tasks.

    :param own: whether it reads its own host name. :param commands: whether it is an argument of kubectl's.
    """
    compared = hosts.compared(text, all_names=commands)
    made = text if commands else hosts.rewrite(text)
    if made != text:
        ledger.converted(path, "with the names that the tasks have here")
    if compared:
        ledger.different(path, *said_of_compared(compared, hosts.framework))
    if hosts.has_unfinished_name(text):
        ledger.different(
            path,
            "the name of a Pod is put together when it runs, and will be none",
            "tasks have other names here, and only whole names are rewritten",
            f"write `{hosts.framework}` and the form {{role}}-{{index}}.{hosts.framework}-{{role}} there",
        )
    elif own and not compared and hosts.has_pattern(text):
        what = "its host name is held against a pattern that it may not match"
        ledger.different(path, what, _OTHER_HOST_NAMES, "write a pattern of such names, or go by FC_TASKROLE_NAME and FC_TASK_INDEX")
    if cuts_own_name(text):
        what = "it takes a part of its host name by its place"
        ledger.different(path, what, _OTHER_HOST_NAMES, "read FC_TASKROLE_NAME and FC_TASK_INDEX, or take the last part: `${HOSTNAME##*-}`")
    return made


def said_of_compared(found: dict[str, Task], framework: str) -> tuple[str, str, str]:
    """Return what is different of names that stay, why, and what to do: which of its two names a task is meant by is not known."""
    shown = list(found.values())[:_SHOWN]
    hosts = ", ".join(f"`{names.hostname(task.role, task.number)}`" for task in shown)
    pods = ", ".join(f"`{names.pod_name(framework, task.role, task.number)}`" for task in shown)
    what = f"{listed([f'`{name}`' for name in found], _SHOWN)}: what is compared, or given to kubectl, stays as it is"
    return what, "no Pod has that name here", f"write the host name ({hosts}) or the name of the Pod ({pods}), whichever is meant"


def _each(value: Any, path: Path, change: Callable[[str, Path], str]) -> Any:
    if isinstance(value, str):
        return change(value, path)
    if isinstance(value, list):
        return [_each(item, (*path, index), change) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: item if key == "name" else _each(item, (*path, key), change) for key, item in value.items()}
    return value
