"""Variables that read a label of a JobSet or of its Jobs: no Pod of a Framework has these labels."""

from __future__ import annotations

import re
from collections import Counter

from fcompile.convert.field_variables import field_variables
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger
from fcompile.convert.replicated_jobs import ReplicatedJob
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping

_LABEL = re.compile(
    r"metadata\.(?P<kind>labels|annotations)\['(?P<name>(?:jobset\.sigs\.k8s\.io|batch\.kubernetes\.io)/[^']*|job-name|controller-uid)'\]"
)
_JOBSET = "jobset.sigs.k8s.io/"
_INDEX = "batch.kubernetes.io/job-completion-index"


def replace_labels(job: str, parts: list[ReplicatedJob], spec: Fields, ledger: Ledger, source: Path | None) -> None:
    """Give variables that read such a label its value where that is known, and take down the others.

    :param job: the name of the JobSet.
    :param parts: all that it has, in their order.
    :param spec: its own.
    :param source: what stands for every field in the source, where the fields are not in the source themselves.
    """
    sizes, met = Counter(part.group for part in parts), Counter[str]()
    for place, part in enumerate(parts):
        metadata = mapping(part.role.template, "metadata")
        values = {**_values(job, part, spec), **_numbers(place, len(parts), met[part.group], sizes[part.group])}
        met[part.group] += 1
        for variable in field_variables(part.role):
            match = _LABEL.fullmatch(variable.field)
            if match is None or match["name"] == _INDEX or match["name"] in mapping(metadata, match["kind"]):
                continue  # the index is the task's, and is replaced where that is known
            if match["name"] in values:
                variable.become(values[match["name"]])
                if source is None:
                    ledger.converted(variable.path, "its value, since Pods have no label of a JobSet's")
            else:
                what = f"the variable `{variable.name}` will be empty"
                why = f"it reads `{match['name']}`, which no Pod of a Framework has"
                path = part.role.in_source(variable.path[len(part.role.template_source) :])
                ledger.different(path, what, why, "write the value, if the job needs it")


def _numbers(place: int, count: int, place_in_group: int, count_in_group: int) -> dict[str, str]:
    """Return the labels that count the Jobs of the JobSet and those of a group."""
    return {
        f"{_JOBSET}job-global-index": str(place),
        f"{_JOBSET}global-replicas": str(count),
        f"{_JOBSET}job-group-index": str(place_in_group),
        f"{_JOBSET}group-replicas": str(count_in_group),
    }


def _values(job: str, part: ReplicatedJob, spec: Fields) -> dict[str, str]:
    """Return the other labels whose values are known before anything runs."""
    own = f"{job}-{part.name}-{part.number}"
    values = {
        f"{_JOBSET}jobset-name": job,
        f"{_JOBSET}replicatedjob-name": part.name,
        f"{_JOBSET}replicatedjob-replicas": str(part.copies),
        f"{_JOBSET}job-index": str(part.number),
        f"{_JOBSET}group-name": part.group,
        "batch.kubernetes.io/job-name": own,
        "job-name": own,
    }
    coordinator = spec.below("coordinator")
    if coordinator.value:
        first = f"{job}-{coordinator.text('replicatedJob')}-{coordinator.count('jobIndex') or 0}-{coordinator.count('podIndex') or 0}"
        values[f"{_JOBSET}coordinator"] = f"{first}.{spec.below('network').text('subdomain') or job}"
    return values
