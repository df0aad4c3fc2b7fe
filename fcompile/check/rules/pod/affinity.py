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
from fcompile.model.values import mapping, sequence, text

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
    affinity, path = mapping(pod.spec, "affinity"), (*pod.path, "affinity")
    for kind in affinity:
        if kind == "nodeAffinity":
            yield from _node_affinity(mapping(affinity, kind), (*path, kind), pod.version)
        else:
            yield from _pod_affinity(mapping(affinity, kind), (*path, kind), pod)


def deprecated_label(key: Any, path: Path, part: Part) -> Iterator[Finding]:
    """Yield a finding when `key` is a node label that has been replaced."""
    if isinstance(key, str) and key in _NODE_LABELS:
        yield Finding(DEPRECATED_LABEL, path, f'the node label "{key}" is deprecated; use {_NODE_LABELS[key]}', part=part)


def matches_nothing(path: Path) -> Finding:
    """Return a finding on a term at `path` that has no label selector."""
    return Finding(MATCHES_NOTHING, path, "without `labelSelector` this matches no Pod; add one (`{}` matches all)")


def _node_affinity(affinity: dict[str, Any], path: Path, version: int) -> Iterator[Finding]:
    for term, term_path in entries(mapping(affinity, _REQUIRED), (*path, _REQUIRED), "nodeSelectorTerms"):
        yield from _node_term(term, term_path, required=True, version=version)
    for weighted, weighted_path in entries(affinity, path, _PREFERRED):
        yield from _node_term(mapping(weighted, "preference"), (*weighted_path, "preference"), required=False, version=version)


def _node_term(term: dict[str, Any], path: Path, *, required: bool, version: int) -> Iterator[Finding]:
    yield from node_term_rules(term, path, required=required, version=version)
    for requirement, requirement_path in entries(term, path, "matchExpressions"):
        yield from deprecated_label(text(requirement, "key"), (*requirement_path, "key"), "value")


def _pod_affinity(affinity: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    for term, term_path in entries(affinity, path, _REQUIRED):
        yield from _pod_term(term, term_path, pod)
    for weighted, weighted_path in entries(affinity, path, _PREFERRED):
        yield from _pod_term(mapping(weighted, "podAffinityTerm"), (*weighted_path, "podAffinityTerm"), pod)


def _pod_term(term: dict[str, Any], path: Path, pod: Pod) -> Iterator[Finding]:
    for key in ("labelSelector", "namespaceSelector"):
        yield from selector_rules(term, path, key)
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
    mismatched = {key for key, _ in texts(term, path, "mismatchLabelKeys")}
    for key, item_path in texts(term, path, "matchLabelKeys"):
        if key in mismatched:
            message = f'"{key}" is in `mismatchLabelKeys` too, so nothing can match; remove it from one of the two'
            yield Finding(MATCH_LABEL_KEYS, item_path, message)
        if isinstance(selector, dict) and _selected_twice(term, key, pod, merges):
            message = f'"{key}" is in `matchLabelKeys` twice, or in `labelSelector` too; keep it once'
            yield Finding(MATCH_LABEL_KEYS, item_path, message)


def _selected_twice(term: dict[str, Any], key: str, pod: Pod, merges: bool) -> bool:
    selector = mapping(term, "labelSelector")
    times = sum(text(requirement, "key") == key for requirement in sequence(selector, "matchExpressions"))
    times += key in mapping(selector, "matchLabels")
    if not merges:
        return times > 0
    # Requirements that the server adds for labels of the Pod (the controller's too) count as well.
    if key in mapping(pod.metadata, "labels") or key in POD_LABELS:
        times += sequence(term, "matchLabelKeys").count(key)
    return times > 1
