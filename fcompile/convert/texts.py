"""The user's own texts in a template: names of the job's Pods are rewritten, and what looks like one and is none is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.field_variables import own_name_variables
from fcompile.convert.ledger import Ledger
from fcompile.convert.names import Hosts, Task
from fcompile.convert.own_names import cuts_own_name, reads_own_name, uses_own_name
from fcompile.diagnostics.problem import Path, field_path
from fcompile.diagnostics.visible import listed
from fcompile.model import names
from fcompile.model.values import sequence, strings

LABELS = ("training.kubeflow.org/", "trainer.kubeflow.org/", "group-name", "pytorch-job-name", "tf-job-name", "mpi-job-name")
_PLACEHOLDER = re.compile(rf"\{{\{{(?:{'|'.join([*names.PLACEHOLDERS, names.SUM])})\}}\}}")
_OTHER_HOST_NAMES = "the host name of a task is `{role}-{index}`, such as `worker-0`, without the name of the job"
_SHOWN = 3
_ADDRESSES = re.compile(
    r"(?i)ADDR|HOST|ENDPOINT|UR[IL]|SERVER|MASTER|NODE|PEER|WORKERS|CLUSTER|RDZV|SERVICE|LEADER|COORDINATOR|SCHEDULER|BROKER|DNS"
)
"""Of a variable or its value: what shows that an address is meant. So does what `_PORT` finds in the value."""
_REFERENCE = re.compile(r"\$\(([^$()]*+)\)")
_PORT = re.compile(r":[0-9]|//")
_FIELDS = ("command", "args", "env", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def rewrite_texts(role: RoleDraft, hosts: Hosts, draft: Draft, ledger: Ledger, first: int = 0) -> None:
    """Rewrite the names of tasks in commands, arguments, variables and probes.

    :param first: the index that task 0 of the role had there.
    """
    spec = role.template["spec"]
    for kind in ("initContainers", "containers"):
        for position, container in enumerate(spec.get(kind) or ()):
            path = (*role.template_source, "spec", kind, position)
            _Texts(container, path, hosts, draft, ledger, role.name if first else "").rewrite()


class _Texts:
    """The texts of one container."""

    def __init__(self, container: dict[str, Any], path: Path, hosts: Hosts, draft: Draft, ledger: Ledger, shifted: str) -> None:
        """:param shifted: its role, if the tasks of that had other indices there."""
        self._container, self._path, self._hosts, self._draft, self._ledger = container, path, hosts, draft, ledger
        self._shifted = shifted
        program = next(iter(sequence(container, "command") or sequence(container, "args")), None)
        self._is_kubectl = isinstance(program, str) and program.rpartition("/")[2] in ("kubectl", "oc")
        self._own = own_name_variables(container)

    def rewrite(self) -> None:
        """Rewrite them."""
        for field in _FIELDS:
            if field in self._container:
                self._container[field] = _each(self._container[field], (*self._path, field), self._change)

    def _change(self, text: str, at: Path) -> str:
        field = at[len(self._path)]
        made = _rewritten(text, at, self._hosts, self._ledger, commands=self._is_kubectl and field in ("command", "args"))
        if not self._tell_own_name(text, at, is_variable=field == "env") and made != text:
            self._ask_to_look(text, at)
        return made

    def _tell_own_name(self, text: str, at: Path, *, is_variable: bool) -> bool:
        """Take down what a text does with the name of its own Pod, if it is another here. Return whether that was said."""
        if is_variable:
            return any(name in self._own for name in _REFERENCE.findall(text)) and self._tell_other_name(at)
        if self._shifted and uses_own_name(text, self._own, index_too=True):
            self._ledger.different(
                at,
                f"the index in its own name is another in the role `{self._shifted}`: its tasks begin with 0",
                "there all replicas of the type are counted together",
                "read the index from a variable: `{{FC_TASK_INDEX+1}}` in that role, `0` in the first",
            )
        if self._hosts.compared(text) or cuts_own_name(text):
            return False
        if reads_own_name(text) and self._hosts.has_pattern(text):
            what, remedy = "its host name is held against a pattern that it may not match", "write a pattern of such names, or "
            self._ledger.different(at, what, _OTHER_HOST_NAMES, f"{remedy}go by FC_TASKROLE_NAME and FC_TASK_INDEX")
            return True
        return uses_own_name(text, self._own) and self._tell_other_name(at)

    def _tell_other_name(self, at: Path) -> bool:
        here = f"the host name is `{{role}}-{{index}}` here, and the Pod's `{self._hosts.framework}-{{role}}-{{index}}`"
        self._ledger.different(
            at,
            f"it reads its own name: {here}",
            f"there both begin with `{self._hosts.job}-`; here neither is an address",
            "for an address write `$(hostname -f)`; to tell tasks apart go by FC_TASKROLE_NAME and FC_TASK_INDEX",
        )
        return True

    def _ask_to_look(self, text: str, at: Path) -> None:
        """Note that a text has addresses now, if it may have meant something else."""
        if any(letter.isspace() for letter in text.strip()):
            self._draft.remarks.append(f"The script at {field_path(at)} has addresses in place of names of Pods: look whether each is one")
        elif at[len(self._path)] == "env":
            variable = self._container["env"][at[len(self._path) + 1]]
            if not _ADDRESSES.search(f"{variable.get('name')}\0{text}") and not _PORT.search(text):
                where = f"The variable `{variable.get('name')}` at {field_path(at)}"
                self._draft.remarks.append(f"{where} has an address in place of the name of a Pod: look whether it is one")


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


def _rewritten(text: str, path: Path, hosts: Hosts, ledger: Ledger, *, commands: bool) -> str:
    """Return a text with the addresses of tasks.

    :param commands: whether it is an argument of kubectl's.
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
    if cuts_own_name(text):
        what = "it takes a part of its host name by its place"
        ledger.different(path, what, _OTHER_HOST_NAMES, "read FC_TASKROLE_NAME and FC_TASK_INDEX, or take the last part: `${HOSTNAME##*-}`")
    return made


def said_of_compared(found: dict[str, Task], framework: str) -> tuple[str, str, str]:
    """Return what is different of names that stay, why, and what to do: which of its two names a task is meant by is not known."""
    shown = list(found.values())[:_SHOWN]
    hosts = ", ".join(f"`{names.hostname(task.role, task.number)}`" for task in shown)
    pods = ", ".join(f"`{names.pod_name(framework, task.role, task.number)}`" for task in shown)
    what = f"{listed([f'`{name}`' for name in found], _SHOWN)}: left unchanged where a script compares it, or passes it to kubectl"
    return what, "no Pod has that name here", f"write the host name ({hosts}) or the name of the Pod ({pods}), whichever is meant"


def _each(value: Any, path: Path, change: Callable[[str, Path], str]) -> Any:
    if isinstance(value, str):
        return change(value, path)
    if isinstance(value, list):
        return [_each(item, (*path, index), change) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: item if key == "name" else _each(item, (*path, key), change) for key, item in value.items()}
    return value
