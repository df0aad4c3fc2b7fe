"""The runtimes of Trainer among the objects of the input, found by name."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from fcompile.convert.ledger import Refusal
from fcompile.convert.shape import size
from fcompile.diagnostics.problem import Path
from fcompile.model.values import mapping, text

KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")
_MOST = 32 * 1024 * 1024
"""Bytes of runtimes, counted for each job that has one."""


class Runtimes:
    """Runtimes by kind, namespace and name."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._found: dict[tuple[str, str | None, str], tuple[int, dict[str, Any]]] = {}
        self._any: dict[tuple[str, str], dict[str, Any]] = {}
        """Without the namespace: that of a cluster has none, and a job may name none."""
        self._sizes: dict[int, int] = {}
        self._left = _MOST
        for number, one in enumerate(objects):
            kind, name = text(one, "kind") or "", text(mapping(one, "metadata"), "name")
            if kind in KINDS and name is not None and (text(one, "apiVersion") or "").partition("/")[0] == "trainer.kubeflow.org":
                self._found.setdefault((kind, text(mapping(one, "metadata"), "namespace"), name), (number, one))
                self._any.setdefault((kind, name), one)

    def find(self, kind: str, name: str, namespace: str | None) -> dict[str, Any] | None:
        """Return the first runtime that a job can mean; None: there is none."""
        found = self._any.get((kind, name))
        if kind != "ClusterTrainingRuntime" and namespace is not None:
            own = [self._found[key] for key in ((kind, None, name), (kind, namespace, name)) if key in self._found]
            found = min(own, key=lambda one: one[0])[1] if own else None
        return found

    def spec(self, found: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return a copy of the spec of a runtime. Raises Refusal for too many copies."""
        spec = mapping(found, "spec")
        if id(found) not in self._sizes:
            self._sizes[id(found)] = size(spec)
        self._left -= self._sizes[id(found)]
        if self._left < 0:
            raise Refusal(path, f"the runtimes of these jobs come to more than {_MOST >> 20} MiB: convert fewer jobs at once")
        return deepcopy(spec)
