"""Which kinds of which API can be converted, and what to say of their older versions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fcompile.convert.comments import comment_differences
from fcompile.convert.draft import SERVICE, SUMS
from fcompile.convert.ledger import Refusal
from fcompile.convert.made import Made
from fcompile.convert.runtimes import Runtimes
from fcompile.diagnostics.suggestions import closest
from fcompile.model import names
from fcompile.model.framework import LIFETIME
from fcompile.model.patterns import lazy
from fcompile.model.values import strings, text

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
_BRACES = lazy(r"\{\{[^{}]*+\}\}")
_OF_HELM = lazy(r"(?<!\w)\.(?:Values|Release|Chart|Capabilities)\b|\b(?:include|template)[ ]+\"")
_SUM = lazy(rf"\{{\{{{names.SUM}\}}\}}")
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
    kind, version = text(value, "kind") or "", text(value, "apiVersion") or ""
    if kind in KINDS and _is_no_api(version):
        return True
    ours = version.partition("/")[0] in _GROUPS_OF_JOBS
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
        known = " or ".join(one for one, other in _CONVERTERS if other == kind)
        if _is_no_api(version):
            raise Refusal(
                ("apiVersion",) if version else (),
                f"{f'there is no API `{version}`' if version else 'it has no apiVersion'}: write `{known}`",
            )
        raise Refusal(("apiVersion",), f"this is {version}: rewrite the job for {known}, then convert")
    _refuse_template(source)
    module = import_module(f"fcompile.convert.kinds.{where[0]}")
    convert: Callable[..., Made] = getattr(module, where[1])
    made = convert(source, runtimes) if kind == "TrainJob" else convert(source)
    comment_differences(made.draft, made.ledger.entries(source))
    _tell_controller(made)
    return made


def _tell_controller(made: Made) -> None:
    """Take down what upstream's controller does not know."""
    framework = made.draft.framework()
    found = [f"`{field}`" for field in (*LIFETIME, "managedBy") if field in framework["spec"]]
    found += [SERVICE] if any("service" in role for role in framework["spec"]["taskRoles"]) else []
    found += [SUMS] if any(_SUM.search(written) for _, _, written in strings(framework["spec"], ())) else []
    made.draft.only_here = found


def _refuse_template(source: dict[str, Any]) -> None:
    """Raise Refusal for what Helm has not filled in yet. Programs have texts with other braces."""
    for path, _, written in strings(source, ()):
        for match in _BRACES.finditer(written) if "{{" in written else ():
            if _OF_HELM.search(match[0]):
                raise Refusal(path, f"`{match[0]}` is a template: render it first, `helm template CHART | fcompile convert -`")


def _is_no_api(version: str) -> bool:
    """Return whether the `apiVersion` of a job is of no group at all, as `kubeflow/v1`, or of a misspelt one, as `kubeflow.og/v1`."""
    group = version.partition("/")[0]
    near = None if group.endswith(_GROUPS_OF_JOBS) else closest(group, _GROUPS_OF_JOBS)  # my-kubeflow.org is somebody's own.
    return "." not in group or near is not None


def _is_in(domain: str, version: str) -> bool:
    return f".{version.partition('/')[0]}".endswith(f".{domain}")
