"""The metadata of a job: what a Framework takes over, what the API server wrote, and what belongs to Kueue."""

from __future__ import annotations

from typing import Any

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.ledger import Ledger, Refusal
from fcompile.convert.names import framework_name
from fcompile.diagnostics.problem import Path
from fcompile.model.framework import SERVER_SET

KUEUE = "kueue.x-k8s.io/"
_QUEUE = f"{KUEUE}queue-name"
_TOOLS = {"kubectl.kubernetes.io/last-applied-configuration": "kubectl writes it itself"}
_LONGEST_NAMESPACE = 63
"""The names of all tasks may have it."""


def read_metadata(source: dict[str, Any], ledger: Ledger) -> Draft:
    """Return an empty draft under the job's new name. Raises Refusal."""
    root = Fields(source, ())
    ledger.converted(("apiVersion",), "apiVersion")
    ledger.converted(("kind",), "kind")
    if "status" in source:
        ledger.dropped(("status",), "the operator wrote it")
    metadata = root.below("metadata")
    name = metadata.text("name")
    if not name:
        why = "a Framework's name must be known before it is applied: `generateName` cannot be converted; write `name`"
        raise Refusal(metadata.path, why if "generateName" in metadata else "it has no name")
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
            ledger.different(path, "it is left out", why, "let what made the job make the Framework")
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
        elif key == _QUEUE and value:
            _wait(draft, path, value, ledger)
            draft.comment(f"Not yet there: {kind[:-1]} {key}: {value}", ("metadata",))
        elif key.startswith(KUEUE):
            ledger.different(
                path, "it is in a comment", "queues of Kueue are not yet there for Frameworks", "look whether the job needs it"
            )
            draft.comment(f"Not yet there: {kind[:-1]} {key}: {value}", ("metadata",))
        else:
            ledger.converted(path, f"metadata.{kind}")
            kept[key] = value
    return kept


def _wait(draft: Draft, path: Path, queue: str, ledger: Ledger) -> None:
    """Let the Framework wait, since Kueue would have held the job back until its queue had room."""
    draft.execution_type = "Create"
    draft.comment("No queue holds it: as `Create` it waits until somebody writes `Start`.", ("spec", "executionType"))
    what = f"`queue-name: {queue}`: no queue holds a Framework, so it waits as `executionType: Create`"
    ledger.different(path, what, "queues of Kueue are not yet there for Frameworks", "write `executionType: Start` when there is room")
