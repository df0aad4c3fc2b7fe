"""Names, texts, labels and amounts: what the larger strategies are put together from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from fcompile.model.formats import accepts
from tests.emit import hostile

Strategy = st.SearchStrategy[Any]


def some(fields: Mapping[str, Strategy], **always: Strategy) -> Strategy:
    """An object with up to four of these fields, and all of the named ones."""
    return few(fields, 4, always)


def few(fields: Mapping[str, Strategy], most: int, always: Mapping[str, Strategy] | None = None) -> Strategy:
    """An object with at most so many of these fields, and all of the others."""

    # Half of thirty fields at once would be large, and much like the next one.
    def of(names: list[str]) -> Strategy:
        return st.fixed_dictionaries({**(always or {}), **{name: fields[name] for name in names}})

    return st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=most).flatmap(of)


def words(*these: str) -> Strategy:
    """One of these."""
    return st.sampled_from(these)


def _fitting(form: str) -> list[str]:
    fits = accepts(form)
    return [word for word in hostile.WORDS if fits(word)]


# Names that YAML takes for something else come first, since they are valid names as well.
framework_names = st.one_of(
    st.sampled_from(_fitting("framework-name")),
    st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=20),
    st.sampled_from(["a" * 63, "x" + "0" * 62, "9" * 40, "train"]),
)
"""Names of Frameworks and task roles."""

dns_labels = st.one_of(
    st.sampled_from(_fitting("dns-label")),
    st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True),
)
object_names = st.one_of(
    dns_labels,
    words("a.b", "shared-{{FC_TASK_INDEX}}", "{{FC_FRAMEWORK_NAME}}.{{FC_TASKROLE_NAME}}", "{{FC_POD_NAME}}", "of-{{FC_TASK_INDEX+1}}"),
)
"""Names of ConfigMaps, Secrets, claims and the like."""

_PLACEHOLDERS = (
    "{{FC_TASK_INDEX}}",
    "{{FC_FRAMEWORK_NAMESPACE}}/{{FC_FRAMEWORK_NAME}}",
    "{{FC_POD_NAME}}.{{FC_CONFIGMAP_NAME}}",
    "{{FC_TASKROLE_NAME}}{{FC_TASK_INDEX}}",
    "0{{FC_TASK_INDEX}}",
    "1e{{FC_TASK_INDEX}}",
    "{{FC_TASK_INDEX+1}}",
    "{{FC_TASK_INDEX-0}}{{FC_TASK_INDEX+99999}} {{FC_TASK_INDEX}}",
    "{{{{FC_TASK_INDEX}}}}",
    "{{ FC_TASK_INDEX }} {{ .Values.x }} ${{ x }} {{workflow.name}}",
    "\n{{FC_TASK_INDEX}}\n - {{FC_TASK_INDEX}}: {{FC_TASK_INDEX}}\n\n",
)
texts = st.one_of(hostile.texts, st.sampled_from(_PLACEHOLDERS))
"""Any text at all, the awkward ones and those with placeholders often."""
references = words("$(FC_POD_UID)", "x$(FC_TASK_ATTEMPT_INSTANCE_UID)y", "$$(FC_POD_NAME)", "$(FC_TASK_INDEX)$(FC_TASK_INDEX)")

label_values = st.one_of(
    st.sampled_from(_fitting("label-value")),
    words("{{FC_TASK_INDEX}}", "i{{FC_TASK_INDEX}}", "r{{FC_TASK_INDEX+1}}", "{{FC_TASKROLE_NAME}}", "x" * 63),
)
label_keys = st.one_of(
    st.sampled_from(_fitting("label-key")),
    dns_labels.map("example.com/{}".format),
    words(
        "app.kubernetes.io/name",
        "i{{FC_TASK_INDEX}}",
        "r{{FC_TASK_INDEX+1}}",
        "example.com/{{FC_TASKROLE_NAME}}",
        "UPPER.lower_0",
        "k" * 63,
    ),
)
label_maps = st.dictionaries(label_keys, label_values, max_size=4)
annotation_maps = st.dictionaries(label_keys, texts, max_size=4)


def distinct(names: Strategy, least: int = 0, most: int = 3) -> Strategy:
    """A few names, no two of them alike."""
    return st.lists(names, min_size=least, max_size=most, unique=True)


# Each row is one amount in several spellings, the rows go up: numbers stand for what people write without quotes.
CPU: tuple[tuple[Any, ...], ...] = (
    ("0", 0, "0.0", "-0", "0m"),
    ("1m", "0.001", 0.001, "1e-3", ".001"),
    ("100m", "0.1", 0.1, ".1", "100e-3", "0.1000"),
    ("500m", 0.5, "0.50", "+.5", "500000u", "5e-1"),
    ("1", 1, "1000m", 1.0, "1e0", "1.", "+1", "1E0", "01"),
    ("1500m", 1.5, "1.5", "1.500", "15e-1"),
    ("4", "4000m", 4, "4.0"),
)
MEMORY: tuple[tuple[Any, ...], ...] = (
    ("0", 0),
    ("1Ki", "1024", 1024),
    ("128974848", "123Mi", "128974848.0", 128974848, "125952Ki"),
    ("129M", "129e6", "129E6", "129000k", 129_000_000, "129000000.", 129e6),
    ("512Mi", "0.5Gi", "524288Ki", "536870912", ".5Gi"),
    ("1G", "1e9", "1000M", "1E9", 1_000_000_000, "1000000000000m", 1e9),
    ("1Gi", "1024Mi", 1_073_741_824, "1048576Ki", "01Gi", "1.0Gi", "1024.0Mi"),
    ("1536Mi", "1.5Gi", "1610612736"),
    ("1Ti", "1024Gi", "1099511627776"),
    ("1025Gi", "1049600Mi"),
    ("1Ei", "1024Pi", "1152921504606846976"),
)
WHOLE: tuple[tuple[Any, ...], ...] = (("0", 0, "0k"), ("1", 1, "1000m", "1e0", 1.0), ("8", 8, "8.0", "8000m"), ("1k", 1000, "1e3", "1000"))


def amounts(*rows: tuple[Any, ...]) -> Strategy:
    """Any spelling of any of these amounts."""
    return st.sampled_from([spelt for row in rows for spelt in row])


@st.composite
def requirements(draw: st.DrawFn) -> dict[str, Any]:
    """Requests and limits: no request above its limit, equal ones where Kubernetes wants that, in whatever spelling."""
    found: dict[str, dict[str, Any]] = {"requests": {}, "limits": {}}
    kinds = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": MEMORY, "nvidia.com/gpu": WHOLE, "example.com/x{{FC_TASK_INDEX+1}}": WHOLE}
    for name in draw(distinct(st.sampled_from(sorted(kinds)), most=3)):
        rows = kinds[name]
        limit = draw(st.integers(0, len(rows) - 1))
        request = limit if rows is WHOLE else draw(st.integers(0, limit))
        form = draw(st.sampled_from(("both", "limits", "requests" if rows is not WHOLE else "both")))
        if form != "requests":
            found["limits"][name] = draw(st.sampled_from(rows[limit]))
        if form != "limits":
            found["requests"][name] = draw(st.sampled_from(rows[request]))
    if draw(st.integers(0, 9)) == 0:
        found["limits"]["memory"] = draw(words("102{{FC_TASK_INDEX}}Mi", "1{{FC_TASK_INDEX}}00m", "{{FC_TASK_INDEX+1}}Gi"))
        found["requests"].pop("memory", None)
    return {kind: held for kind, held in found.items() if held}
