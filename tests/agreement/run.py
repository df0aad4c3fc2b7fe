"""One run: bases that the server takes, mutants of them, and the verdicts on each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

from fcompile.check.objects import frameworks_in
from fcompile.load import values
from fcompile.model import names
from tests.agreement.mutations import Mutant, Mutator
from tests.agreement.openapi import Api
from tests.agreement.verdicts import Judge, Verdict

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT / "tests" / "check" / "data"
_THREADS = 8
_T = TypeVar("_T")
_R = TypeVar("_R")


class Judged(NamedTuple):
    mutant: Mutant
    verdict: Verdict


class Run(NamedTuple):
    """All that a report tells."""

    bases: int
    judged: list[Judged]


def run(judge: Judge, count: int, seed: int, every: int = 1) -> Run:
    """Judge `count` mutants; the same ones for the same seed and version. `every` takes only so many-th of what they are made from."""
    status, document = judge.api.request("GET", "/openapi/v3/api/v1")
    assert status == 200, document
    if isinstance(document, str):  # an old server does not say that it is JSON
        document = json.loads(document)
    candidates = list(seeds())[::every]
    verdicts = list(_in_threads(judge.verdict, candidates))
    bases = [one for one, verdict in zip(candidates, verdicts, strict=True) if verdict.is_made and not verdict.server and not verdict.crd]
    mutator = Mutator(Api(document), bases, candidates, Random(seed))
    mutants = list(mutator.mutants(count))
    return Run(
        len(bases), [Judged(*pair) for pair in zip(mutants, _in_threads(judge.verdict, [one.framework for one in mutants]), strict=True)]
    )


def _in_threads(work: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[_R]:
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(work, items)


def seeds() -> Iterator[dict[str, Any]]:
    """The examples, and Frameworks around the Pod templates of the recorded verdicts; only some are valid, which depends on the version."""
    for path in sorted((_ROOT / "examples").glob("*.yaml")):
        for document in values(path.read_bytes()):
            yield from (framework for _, framework in frameworks_in(document))
    for recorded in ("server_verdicts.json", "pod_verdicts.json"):
        for number, pod in enumerate(json.loads((_DATA / recorded).read_text("utf-8"))["pods"]):
            yield _around(pod[-1] if isinstance(pod, list) else pod, number)


def _around(template: dict[str, Any], number: int) -> dict[str, Any]:
    """A Framework that runs a template, with a little more in it from one to the next."""
    role: dict[str, Any] = {"name": "worker", "task": {"pod": template}}
    spec: dict[str, Any] = {"taskRoles": [role]}
    if number % 2:
        role["taskNumber"] = (1, 3, 12)[number % 3]
        role["frameworkAttemptCompletionPolicy"] = {"minFailedTaskCount": 1, "minSucceededTaskCount": -1}
        role["task"] |= {"retryPolicy": {"fancyRetryPolicy": True, "maxRetryCount": -2}, "podGracefulDeletionTimeoutSec": 600}
    if number % 3 == 0:
        role["service"] = {"ports": [{"name": "a", "port": 80, "targetPort": "http", "protocol": "TCP"}, {"name": "b", "port": 81}]}
        spec |= {
            "executionType": "Start",
            "retryPolicy": {"maxRetryCount": 3},
            "description": "x",
            "managedBy": f"{names.GROUP}/frameworkcontroller",
        }
    if number % 5 == 0:
        spec |= {"activeDeadlineSeconds": 86400, "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 3600}
    metadata = {"name": "train", **({"labels": {"team": "a"}, "annotations": {"a.b/c": "d"}} if number % 4 == 0 else {})}
    return {"apiVersion": names.API_VERSION, "kind": names.KIND, "metadata": metadata, "spec": spec}
