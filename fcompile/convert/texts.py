"""The user's own texts in a template: names of the job's Pods are rewritten, and what looks like one and is none is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fcompile.convert.draft import RoleDraft
from fcompile.convert.ledger import Ledger
from fcompile.convert.names import Hosts
from fcompile.diagnostics.problem import Path
from fcompile.model import names
from fcompile.model.values import strings

LABELS = ("training.kubeflow.org/", "trainer.kubeflow.org/", "group-name", "pytorch-job-name", "tf-job-name", "mpi-job-name")
_PLACEHOLDER = re.compile(rf"\{{\{{(?:{'|'.join([*names.PLACEHOLDERS, names.SUM])})\}}\}}")
_FIELDS = ("command", "args", "env", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def rewrite_texts(role: RoleDraft, hosts: Hosts, ledger: Ledger) -> None:
    """Rewrite the names of tasks in commands, arguments, variables and probes."""
    spec = role.template["spec"]
    for kind in ("initContainers", "containers"):
        for position, container in enumerate(spec.get(kind) or ()):
            for field in _FIELDS:
                if field in container:
                    path: Path = (*role.template_source, "spec", kind, position, field)
                    container[field] = _each(container[field], path, lambda text, at: _rewritten(text, at, hosts, ledger))


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


def _rewritten(text: str, path: Path, hosts: Hosts, ledger: Ledger) -> str:
    made = hosts.rewrite(text)
    if made != text:
        ledger.converted(path, "with the names that the tasks have here")
    if hosts.has_unfinished_name(text):
        ledger.different(
            path,
            "the name of a Pod is put together when it runs, and will be none",
            "tasks have other names here, and only whole names are rewritten",
            f"write `{hosts.framework}` and the form {{role}}-{{index}}.{hosts.framework}-{{role}} there",
        )
    return made


def _each(value: Any, path: Path, change: Callable[[str, Path], str]) -> Any:
    if isinstance(value, str):
        return change(value, path)
    if isinstance(value, list):
        return [_each(item, (*path, index), change) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: item if key == "name" else _each(item, (*path, key), change) for key, item in value.items()}
    return value
