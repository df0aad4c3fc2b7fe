"""What other documents say of a job that is converted: its Pods' names, its labels, the job itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.convert.ledger import Entry, Outcome
from fcompile.convert.made import Made
from fcompile.convert.registry import is_job, is_kubeflow
from fcompile.convert.texts import is_label_of_operator, said_of_compared
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping, strings, text

_LABEL_REMEDY = "select by FC_FRAMEWORK_NAME, FC_TASKROLE_NAME and FC_TASK_INDEX"

_LONGEST_LABEL = 317
"""Characters of the key of a label."""
_SHOWN = 3


def references(value: Any, made: list[tuple[Any, Made]]) -> Iterator[Entry]:
    """Yield what in another document refers to converted jobs, and will find nothing."""
    if not isinstance(value, dict):
        return
    for path in _jobs_within(value, ()):
        why = "`convert` makes Frameworks of jobs that are documents of their own, or items of a list"
        yield Entry(
            path, Outcome.DIFFERENT, "the job within it is not converted", why, "convert the job alone, and put the Framework in its place"
        )
    if not made:
        return
    if is_kubeflow(text(value, "apiVersion") or ""):
        return  # a runtime, or what somebody else makes of one
    secret = text(value, "kind") == "Secret"  # what is in one is never shown, and selects nothing
    for path, _, written in strings(value, ()):
        if not secret and is_label_of_operator(written) and path[-2:-1] not in (("labels",), ("annotations",)):
            why = "Pods of a Framework have no labels of Kubeflow's"
            yield Entry(path, Outcome.DIFFERENT, f"`{written[:_LONGEST_LABEL]}` will select no Pod of a converted job", why, _LABEL_REMEDY)
        for source, one in made:
            renamed = one.hosts.renamed(written)
            if renamed:
                name = text(mapping(source, "metadata"), "name")
                why = f"it names a Pod of the job `{name}`"
                yield Entry(path, Outcome.DIFFERENT, "it names a Pod that will have another name", why, _write(renamed))
            compared = one.hosts.compared(written)
            if compared:
                yield Entry(path, Outcome.DIFFERENT, *said_of_compared(compared, one.hosts.framework))
    target = mapping(mapping(value, "spec"), "scaleTargetRef")
    for source, one in made:
        metadata = mapping(source, "metadata")
        if target.get("kind") == source.get("kind") and target.get("name") == metadata.get("name"):
            why = "a Framework has no scale subresource"
            remedy = f"change `taskNumber` of the Framework `{one.draft.name}`"
            yield Entry(("spec", "scaleTargetRef"), Outcome.DIFFERENT, "it scales a job that is no more", why, remedy)


def _write(renamed: dict[str, str]) -> str:
    """Return what to write for names of Pods, and nothing of what stands around them: that may be a password."""
    shown = [f"`{new}` for `{old}`" for old, new in list(renamed.items())[:_SHOWN]]
    more = len(renamed) - len(shown)
    return f"write {', '.join(shown)}{f' and so on for {more} more' if more else ''}"


def _jobs_within(value: Any, path: Path) -> Iterator[Path]:
    """Yield where jobs stand in an object of another kind, such as an AppWrapper or a Workflow."""
    steps: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        if path and is_job(value):
            yield path
            return
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    for step, item in steps:
        yield from _jobs_within(item, (*path, step))
