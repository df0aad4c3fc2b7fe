"""Variables that read a label of a JobSet or of its Jobs: no Pod of a Framework has these labels."""

from __future__ import annotations

import re

from fcompile.convert.field_variables import field_variables
from fcompile.convert.ledger import Ledger
from fcompile.convert.replicated_jobs import ReplicatedJob
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping

_LABEL = re.compile(
    r"metadata\.(?P<kind>labels|annotations)\['(?P<name>(?:jobset\.sigs\.k8s\.io|batch\.kubernetes\.io)/[^']*|job-name|controller-uid)'\]"
)
_INDEX = "batch.kubernetes.io/job-completion-index"


def replace_labels(job: str, parts: list[ReplicatedJob], ledger: Ledger, source: Path | None) -> None:
    """Give variables that read such a label its value where that is known, and take down the others.

    :param job: the name of the JobSet.
    :param source: what stands for every field in the source, where the fields are not in the source themselves.
    """
    for part in parts:
        metadata, values = mapping(part.role.template, "metadata"), _values(job, part)
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
                ledger.different(source or variable.path, what, why, "write the value, if the job needs it")


def _values(job: str, part: ReplicatedJob) -> dict[str, str]:
    """Return the labels whose values are known before anything runs: each replicated job is one Job."""
    jobset = "jobset.sigs.k8s.io/"
    own = f"{job}-{part.name}-0"
    return {
        f"{jobset}jobset-name": job,
        f"{jobset}replicatedjob-name": part.name,
        f"{jobset}replicatedjob-replicas": "1",
        f"{jobset}job-index": "0",
        "batch.kubernetes.io/job-name": own,
        "job-name": own,
    }
