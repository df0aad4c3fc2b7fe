"""Where a Pod may run."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.strategies.basics import Strategy, distinct, label_keys, label_values, some, words

_NODE_KEYS = words(
    "kubernetes.io/hostname", "topology.kubernetes.io/zone", "example.com/pool", "on", "i{{FC_TASK_INDEX}}", "i{{FC_TASK_INDEX+1}}"
)


@st.composite
def _expression(draw: st.DrawFn, keys: Strategy, *, of_nodes: bool) -> dict[str, Any]:
    operator = draw(words("In", "NotIn", "Exists", "DoesNotExist", *(("Gt", "Lt") if of_nodes else ())))
    made: dict[str, Any] = {"key": draw(keys), "operator": operator}
    if operator in ("In", "NotIn"):
        made["values"] = draw(st.lists(label_values, min_size=1, max_size=3))
    elif operator in ("Gt", "Lt"):
        made["values"] = [draw(words("1", "007"))]
    elif draw(st.booleans()):
        made["values"] = []
    return made


SELECTOR = some(
    {
        "matchLabels": st.dictionaries(label_keys, label_values, max_size=2),
        "matchExpressions": st.lists(_expression(label_keys, of_nodes=False), max_size=2),
    }
)
_NODE_TERM = some(
    {
        "matchExpressions": st.lists(_expression(_NODE_KEYS, of_nodes=True), max_size=2),
        "matchFields": st.just([{"key": "metadata.name", "operator": "In", "values": ["node-{{FC_TASK_INDEX}}"]}]),
    },
)
_WEIGHT = st.sampled_from([1, 100])
_NODES = some(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": st.fixed_dictionaries(
            {"nodeSelectorTerms": st.lists(_NODE_TERM, min_size=1, max_size=2)}
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": st.lists(
            st.fixed_dictionaries({"weight": _WEIGHT, "preference": _NODE_TERM}), max_size=2
        ),
    }
)
_POD_TERM = some(
    {
        "labelSelector": SELECTOR,
        "namespaces": st.lists(words("a", "{{FC_FRAMEWORK_NAMESPACE}}"), max_size=2, unique=True),
        "namespaceSelector": st.just({}),
    },
    topologyKey=_NODE_KEYS,
)
_PODS = some(
    {
        "requiredDuringSchedulingIgnoredDuringExecution": st.lists(_POD_TERM, max_size=2),
        "preferredDuringSchedulingIgnoredDuringExecution": st.lists(
            st.fixed_dictionaries({"weight": _WEIGHT, "podAffinityTerm": _POD_TERM}), max_size=2
        ),
    }
)
AFFINITY = some({"nodeAffinity": _NODES, "podAffinity": _PODS, "podAntiAffinity": _PODS})


@st.composite
def spread(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Topology spread constraints, each for another topology."""
    found = []
    for key in draw(distinct(_NODE_KEYS, least=1, most=2)):
        when = draw(words("DoNotSchedule", "ScheduleAnyway"))
        more = {"labelSelector": SELECTOR, "nodeAffinityPolicy": words("Honor", "Ignore"), "nodeTaintsPolicy": words("Honor", "Ignore")}
        if when == "DoNotSchedule":
            more["minDomains"] = st.sampled_from([1, 5])
        found.append(draw(some(more, maxSkew=st.sampled_from([1, 3]), topologyKey=st.just(key), whenUnsatisfiable=st.just(when))))
    return found


@st.composite
def _toleration(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.integers(0, 5)) == 0:
        return {"operator": "Exists"}
    made: dict[str, Any] = {"key": draw(words("nvidia.com/gpu", "on", "node.kubernetes.io/unreachable", "i{{FC_TASK_INDEX}}"))}
    made |= draw(
        st.sampled_from(
            (
                {"operator": "Exists"},
                {"operator": "Equal", "value": "no"},
                {"value": "{{FC_TASK_INDEX}}"},
                {"operator": "", "value": ""},
                {},
            )
        )
    )
    effect = draw(words("", "NoSchedule", "PreferNoSchedule", "NoExecute"))
    if effect or draw(st.booleans()):
        made["effect"] = effect
    if effect == "NoExecute" and draw(st.booleans()):
        made["tolerationSeconds"] = draw(st.sampled_from([-1, 0, 300]))
    return made


TOLERATIONS = st.lists(_toleration(), max_size=3)
