"""Jobs to try things with: the recorded ones, and our own in data/jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.convert.operator import DATA, cases
from tests.reading import documents


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each job, by the file or the name that it has."""
    for name, case in cases():
        yield name, case["job"]
    for path in sorted((DATA / "jobs").glob("*.yaml")):
        values = [document.value for document in documents(path.read_bytes(), path.name)]
        # A TrainJob comes with its runtime.
        yield f"{path.stem}-{values[0]['kind']}", values[0] if len(values) == 1 else {"apiVersion": "v1", "kind": "List", "items": values}
