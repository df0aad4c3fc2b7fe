"""Variables that read a label of a JobSet or of its Jobs: no Pod of a Framework has these labels."""

from __future__ import annotations

import re

from fcompile.convert.field_variables import field_variables
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger
from fcompile.convert.replicated_jobs import ReplicatedJob
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping

_LABEL = re.compile(
    r"metadata\.(?P<kind>labels|annotations)\['(?P<name>(?:jobset\.sigs\.k8s\.io|batch\.kubernetes\.io)/[^']*|job-name|controller-uid)'\]"
)
_INDEX = "batch.kubernetes.io/job-completion-index"


def replace_labels(job: str, parts: list[ReplicatedJob], spec: Fields, ledger: Ledger, source: Path | None) -> None:
    """Give variables that read such a label its value where that is known, and take down the others.

    :param job: the name of the JobSet.
    :param parts: all that it has, in their order.
    :param spec: its own.
    :param source: what stands for every field in the source, where the fields are not in the source themselves.
    """
    for part in parts:
        metadata, values = mapping(part.role.template, "metadata"), _values(job, part, parts, spec)
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


def _values(job: str, part: ReplicatedJob, parts: list[ReplicatedJob], spec: Fields) -> dict[str, str]:
    """Return the labels whose values are known before anything runs."""
    jobset = "jobset.sigs.k8s.io/"
    own = f"{job}-{part.name}-{part.number}"
    group = [one for one in parts if one.group == part.group]
    values = {
        f"{jobset}jobset-name": job,
        f"{jobset}replicatedjob-name": part.name,
        f"{jobset}replicatedjob-replicas": str(part.copies),
        f"{jobset}job-index": str(part.number),
        f"{jobset}job-global-index": str(parts.index(part)),
        f"{jobset}global-replicas": str(len(parts)),
        f"{jobset}group-name": part.group,
        f"{jobset}group-replicas": str(len(group)),
        f"{jobset}job-group-index": str(group.index(part)),
        "batch.kubernetes.io/job-name": own,
        "job-name": own,
    }
    coordinator = spec.below("coordinator")
    if coordinator.value:
        first = f"{job}-{coordinator.text('replicatedJob')}-{coordinator.count('jobIndex') or 0}-{coordinator.count('podIndex') or 0}"
        values[f"{jobset}coordinator"] = f"{first}.{spec.below('network').text('subdomain') or job}"
    return values
