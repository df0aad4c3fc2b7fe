"""Affinity to nodes and to other Pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.check.pod_context import Pod
from fcompile.check.pod_values import empty_list, entries, texts
from fcompile.check.rules.pod.selectors import node_term_rules, selector_rules
from fcompile.diagnostics.problem import Finding, Part, Path, error_rule, warning_rule
from fcompile.model import gates
from fcompile.model.names import POD_LABELS
from fcompile.model.values import mapping, text

MATCH_LABEL_KEYS = error_rule(
    code="FC273",
    name="match-label-keys",
    summary="matchLabelKeys or mismatchLabelKeys do not go with the label selector.",
    why="They need a `labelSelector`, which must not select on the same keys, and no key is listed twice or in both lists.",
    remedy="Add a `labelSelector`, or take the key out of one of the two.",
)
MATCHES_NOTHING = warning_rule(
    code="FC274",
    name="selector-matches-nothing",
    summary="An affinity term or spread constraint has no label selector, so it matches no Pod.",
    why="Without `labelSelector` the term does nothing.",
    remedy="Add one; `labelSelector: {}` matches every Pod.",
)
DEPRECATED_LABEL = warning_rule(
    code="FC278",
    name="deprecated-node-label",
    summary="A selector uses a node label that Kubernetes has replaced.",
    why="Nodes may no longer have the old label.",
    remedy="Use the one that the message names.",
)

_NODE_LABELS = {
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "node-role.kubernetes.io/master": "node-role.kubernetes.io/control-plane",
}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity_rules(pod: Pod) -> Iterator[Finding]:
    """Yield the problems of `affinity`."""
    affinity = pod.spec.get("affinity")
    if not isinstance(affinity, dict):
        return
    path = (*pod.path, "affinity")
    for kind, value in affinity.items():
        if isinstance(value, dict):
            if kind == "nodeAffinity":
                yield from _node_affinity(value, (*path, kind), pod.version)
            else:
                yield from _pod_affinity(value, (*path, kind), pod)


def deprecated_label(key: Any, path: Path, part: Part) -> Iterator[Finding]:
    """Yield a finding when `key` is a node label that has been replaced."""
    if isinstance(key, str) and key in _NODE_LABELS:
        yield Finding(DEPRECATED_LABEL, path, f'the node label "{key}" is deprecated; use {_NODE_LABELS[key]}', part=part)


def matches_nothing(path: Path) -> Finding:
    """Return a finding on a term at `path` that has no label selector."""
    return Finding(MATCHES_NOTHING, path, "without `labelSelector` this matches no Pod; add one (`{}` matches all)")


def _node_affinity(affinity: dict[str, Any], path: Path, version: int) -> Iterator[Finding]:
    terms = [
        (term, (*path, _REQUIRED, "nodeSelectorTerms", index)) for index, term in entries(mapping(affinity, _REQUIRED), "nodeSelectorTerms")
    ]
    required = len(terms)
    for index, weighted in entries(affinity, _PREFERRED):
        terms.append((mapping(weighted, "preference"), (*path, _PREFERRED, index, "preference")))
    for position, (term, place) in enumerate(terms):
        yield from node_term_rules(term, place, required=position < required, version=version)
        for index, requirement in entries(term, "matchExpressions"):
            yield from deprecated_label(text(requirement, "key"), (*place, "matchExpressions", index, "key"), "value")


def _pod_affinity(affinity: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    for index, term in entries(affinity, _REQUIRED):
        yield from _pod_term(term, (*path, _REQUIRED, index), pod)
    for index, weighted in entries(affinity, _PREFERRED):
        yield from _pod_term(mapping(weighted, "podAffinityTerm"), (*path, _PREFERRED, index, "podAffinityTerm"), pod)


def _pod_term(term: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    for key in ("labelSelector", "namespaceSelector"):
        selector = term.get(key)
        if isinstance(selector, dict):
            yield from selector_rules(selector, (*path, key))
    if term and term.get("labelSelector") is None:
        yield matches_nothing(path)
    if pod.version >= gates.AFFINITY_MATCH_LABEL_KEYS and ("matchLabelKeys" in term or "mismatchLabelKeys" in term):
        yield from match_label_keys(term, path, pod, merges=True)


def match_label_keys(term: dict[str, Any], path: Path, pod: Pod, *, merges: bool) -> Iterator[Finding]:
    """Yield the problems of `matchLabelKeys` and `mismatchLabelKeys`.

    With `merges` the API server adds a requirement for each listed label that the Pod has, and refuses a second one for the same key.
    """
    selector = term.get("labelSelector")
    for key in ("matchLabelKeys", "mismatchLabelKeys"):
        if not empty_list(term, key) and selector is None:
            yield Finding(MATCH_LABEL_KEYS, (*path, key), f"`{key}` needs a `labelSelector`; add one (`{{}}` matches all)", part="key")
    mismatched = {key for _, key in texts(term, "mismatchLabelKeys")}
    for index, key in texts(term, "matchLabelKeys"):
        item_path = (*path, "matchLabelKeys", index)
        if key in mismatched:
            message = f'"{key}" is in `mismatchLabelKeys` too, so nothing can match; remove it from one of the two'
            yield Finding(MATCH_LABEL_KEYS, item_path, message)
        if isinstance(selector, dict) and _selected_twice(term, selector, key, pod, merges):
            message = f'"{key}" is in `matchLabelKeys` twice, or in `labelSelector` too; keep it once'
            yield Finding(MATCH_LABEL_KEYS, item_path, message)


def _selected_twice(term: dict[str, Any], selector: dict[str, Any], key: str, pod: Pod, merges: bool) -> bool:
    times = sum(text(requirement, "key") == key for _, requirement in entries(selector, "matchExpressions"))
    times += key in mapping(selector, "matchLabels")
    if not merges:
        return times > 0
    # Requirements that the server adds for labels of the Pod (the controller's too) count as well.
    if key in mapping(pod.metadata, "labels") or key in POD_LABELS:
        times += sum(listed == key for _, listed in texts(term, "matchLabelKeys"))
    return times > 1
