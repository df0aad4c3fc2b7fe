"""The metadata of a job: what a Framework takes over, what the API server wrote, and what belongs to Kueue."""

from __future__ import annotations

from typing import Any

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.names import framework_name
from fcompile.convert.shape import refuse_misspelt
from fcompile.diagnostics.problem import Path
from fcompile.model.framework import SERVER_SET

KUEUE = "kueue.x-k8s.io/"
_QUEUE = f"{KUEUE}queue-name"
_TAKES = "writes it into what it applies, and takes what has it for its own"
_FLUX, _ARGO, _HELM = f"Flux {_TAKES}", f"Argo CD {_TAKES}", f"Helm {_TAKES}"
_TOOLS = {
    "kubectl.kubernetes.io/last-applied-configuration": "kubectl writes it itself",
    "argocd.argoproj.io/instance": _ARGO,
    "argocd.argoproj.io/tracking-id": _ARGO,
    "argocd.argoproj.io/installation-id": _ARGO,
    "meta.helm.sh/release-name": _HELM,
    "meta.helm.sh/release-namespace": _HELM,
    **{f"{part}.toolkit.fluxcd.io/{key}": _FLUX for part in ("kustomize", "helm") for key in ("name", "namespace", "checksum")},
    "applyset.kubernetes.io/part-of": "`kubectl apply` writes it, and prunes by it",
    "config.k8s.io/owning-inventory": "what applied the job writes it, and prunes by it",
}
"""Labels and annotations of a live object, and why they go: with them, the tool that wrote them would delete the Framework."""
_MANAGED_BY = "app.kubernetes.io/managed-by"
_OPERATORS = ("kubeflow.org", "jobset.sigs.k8s.io")
_SCHEDULERS = ("volcano.sh", "scheduling.k8s.io", "scheduling.x-k8s.io")
_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_PODSET = f"{KUEUE}podset-"
_LONGEST_NAMESPACE = 63
"""The names of all tasks may have it."""


def read_metadata(source: dict[str, Any], ledger: Ledger) -> Draft:
    """Return an empty draft under the job's new name. Raises Refusal."""
    root = Fields(source, ())
    ledger.converted(("apiVersion",), "apiVersion")
    ledger.converted(("kind",), "kind")
    if "status" in source:
        ledger.dropped(("status",), "the operator wrote it")
    refuse_misspelt(root, ("metadata", "spec"))
    metadata = root.below("metadata")
    name = metadata.text("name")
    if not name:
        refuse_misspelt(metadata, ("name", "generateName"))
        why = "a Framework's name must be known before it is applied: `generateName` cannot be converted; write `name`"
        raise Refusal(metadata.at("generateName"), why) if "generateName" in metadata else Refusal(metadata.path, "it has no name")
    namespace = metadata.text("namespace") or None
    if namespace is not None and len(namespace) > _LONGEST_NAMESPACE:
        raise Refusal(metadata.at("namespace"), f"a namespace has at most {_LONGEST_NAMESPACE} characters")
    draft = Draft(framework_name(name, metadata.at("name")), namespace)
    ledger.converted(metadata.at("name"), f"metadata.name: {draft.name}")
    for key in metadata.value:
        path = metadata.at(key)
        if key == "namespace":
            ledger.converted(path, "metadata.namespace")
        elif key == "generateName":
            ledger.dropped(path, "there is a name")
        elif key in SERVER_SET:
            ledger.dropped(path, "the API server wrote it")
        elif key in ("finalizers", "ownerReferences"):
            why = "it ties the job to another object, and the Framework is a new one"
            ledger.different(path, f"{key} of the job: left out", why, "let what made the job make the Framework")
    draft.labels = _texts(metadata, "labels", draft, ledger)
    draft.annotations = _texts(metadata, "annotations", draft, ledger)
    return draft


def _texts(metadata: Fields, kind: str, draft: Draft, ledger: Ledger) -> dict[str, str]:
    kept: dict[str, str] = {}
    found = metadata.below(kind)
    if not found.value and kind in metadata.value:
        ledger.dropped(metadata.at(kind), "it is empty")
    for key in found.value:
        value = found.text(key) or ""
        path = found.at(key)
        if key in _TOOLS:
            ledger.dropped(path, _TOOLS[key])
        elif key == _MANAGED_BY and value == "Helm":
            ledger.dropped(path, _HELM)
        elif key == _QUEUE and value:
            _wait(draft, path, value, ledger)
            draft.comment(f"Not yet there: {kind[:-1]} {key}: {value}", ("metadata",))
        elif key.startswith(KUEUE):
            ledger.different(
                path, "it is in a comment", "queues of Kueue are not yet there for Frameworks", "look whether the job needs it"
            )
            draft.comment(f"Not yet there: {kind[:-1]} {key}: {value}", ("metadata",))
        else:
            if not tell_acted_upon(key, value, path, ledger):
                ledger.converted(path, f"metadata.{kind}")
            kept[key] = value
    return kept


def tell_acted_upon(key: str, value: str, path: Path, ledger: Ledger, *, of_pods: bool = False) -> bool:
    """Take down a label or annotation that an operator or a scheduler acts upon, and return whether it is one: here it is a mere text.

    :param of_pods: whether Pods have it, in which schedulers look for theirs here too.
    """
    domain = key.partition("/")[0] if "/" in key else ""
    domains = _OPERATORS if of_pods else _OPERATORS + _SCHEDULERS
    if not (key.startswith(_PODSET) or any(f".{domain}".endswith(f".{one}") for one in domains)):
        return False
    remedy = "look whether the job needs what it asks for"
    if key == _TOPOLOGY:
        remedy = f"write podAffinity and podAntiAffinity with `topologyKey: {value}` into the Pods"
    ledger.different(path, f"`{key}` has no effect", "nothing here acts upon it: the operator or the scheduler of the job does", remedy)
    return True


def _wait(draft: Draft, path: Path, queue: str, ledger: Ledger) -> None:
    """Let the Framework wait, since Kueue would have held the job back until its queue had room."""
    draft.execution_type = "Create"
    draft.comment("No queue holds it: as `Create` it waits until somebody writes `Start`.", ("spec", "executionType"))
    what = f"`queue-name: {queue}`: no queue holds a Framework, so it waits as `executionType: Create`"
    ledger.different(path, what, "queues of Kueue are not yet there for Frameworks", "write `executionType: Start` when there is room")
