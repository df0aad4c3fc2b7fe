"""Which kinds of which API can be converted, and what to say of their older versions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fcompile.convert.comments import comment_differences
from fcompile.convert.ledger import Refusal
from fcompile.convert.made import Made
from fcompile.convert.runtimes import Runtimes
from fcompile.diagnostics.suggestions import closest
from fcompile.model.values import text

_V1 = "kubeflow.org/v1"
_CONVERTERS = {
    (_V1, "PyTorchJob"): ("pytorch", "convert_pytorch"),
    (_V1, "TFJob"): ("tensorflow", "convert_tensorflow"),
    (_V1, "MPIJob"): ("mpi", "convert_mpi"),
    (_V1, "JAXJob"): ("jax", "convert_jax"),
    (_V1, "XGBoostJob"): ("xgboost", "convert_xgboost"),
    (_V1, "PaddleJob"): ("paddle", "convert_paddle"),
    ("kubeflow.org/v2beta1", "MPIJob"): ("mpi_operator", "convert_mpi_operator"),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): ("trainjob", "convert_trainjob"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): ("jobset", "convert_jobset"),
}
KINDS = frozenset(kind for _, kind in _CONVERTERS)
_GROUPS_OF_JOBS = ("kubeflow.org", "trainer.kubeflow.org", "jobset.x-k8s.io")


def is_job(value: Any) -> bool:
    """Return whether an object is a job of Kubeflow's, in whatever version."""
    version = text(value, "apiVersion") or ""
    return (text(value, "kind") or "") in KINDS and (is_kubeflow(version) or _is_in("jobset.x-k8s.io", version))


def is_kubeflow(version: str) -> bool:
    """Return whether an `apiVersion` is of a group of Kubeflow's: kubeflow.org, or one below it."""
    return _is_in("kubeflow.org", version)


def is_unknown_job(value: Any) -> bool:
    """Return whether an object of Kubeflow's seems to be a job, and is of no kind that is known: a misspelt one, or one of old."""
    kind = text(value, "kind") or ""
    ours = (text(value, "apiVersion") or "").partition("/")[0] in _GROUPS_OF_JOBS
    return ours and kind not in KINDS and (kind.lower().endswith("job") or closest(kind, KINDS) is not None)


def convert_job(source: dict[str, Any], runtimes: Runtimes) -> Made:
    """Convert a job. Raises Refusal.

    :param runtimes: those of the input, for TrainJobs.
    """
    version, kind = text(source, "apiVersion") or "", text(source, "kind") or ""
    if kind not in KINDS:
        near = closest(kind, KINDS)
        raise Refusal(("kind",), f"there is no such kind: did you mean `{near.word}`?" if near else f"`convert` does not know {kind}")
    where = _CONVERTERS.get((version, kind))
    if where is None:
        known = " and ".join(one for one, other in _CONVERTERS if other == kind)
        raise Refusal(("apiVersion",), f"`convert` knows {kind} of {known}, and `{version}` is another API: bring it to that first")
    module = import_module(f"fcompile.convert.kinds.{where[0]}")
    convert: Callable[..., Made] = getattr(module, where[1])
    made = convert(source, runtimes) if kind == "TrainJob" else convert(source)
    comment_differences(made.draft, made.ledger.entries(source))
    return made


def _is_in(domain: str, version: str) -> bool:
    return f".{version.partition('/')[0]}".endswith(f".{domain}")
