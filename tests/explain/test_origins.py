"""Each leaf of each Pod has an origin, and the origin is right: what is changed there changes the leaf."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from fcompile.check.objects import frameworks_in
from fcompile.default import default
from fcompile.diagnostics.problem import Path as Field
from fcompile.diagnostics.problem import Span
from fcompile.emit import yaml
from fcompile.expand import pod
from fcompile.explain.origins import CONTROLLER, DEFAULT, OVERRIDE, PLACEHOLDER, SOURCE, Explained, Leaf, Task, explain, leaves
from fcompile.load import Document, read, values
from fcompile.lower.intent import lower
from fcompile.pipeline import overrides
from fcompile.pipeline.compiled import compile_framework
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST
from fcompile.schema.types import types
from tests.strategies import frameworks

EXAMPLES = sorted(path for path in (Path(__file__).resolve().parents[2] / "examples").rglob("*.yaml") if "bad" not in path.parts)
Json = dict[str, Any]


def explained(document: Document, path: Field, value: Json, role: int, index: int, *written: str) -> Explained:
    applied = overrides.apply([overrides.parse(one, "--set") for one in written], [value], types(NEWEST))
    compiled = compile_framework(value, "default")

    def locate(field: Field) -> Span:
        return document.locate((*path, *field))

    return explain(Task(compiled, value, role, index, DEFAULT_VERSION, tuple(applied), locate, "--namespace"))


def tasks(text: bytes) -> Iterator[tuple[Document, Json, Explained]]:
    """The first and the last Pod of each role of each Framework of a file."""
    for document in read(text, "a.yaml"):
        assert isinstance(document, Document)
        for path, value in frameworks_in(document.value):
            for role, one in enumerate(value["spec"].get("taskRoles") or ()):
                for index in {0, one.get("taskNumber", 1) - 1} - {-1}:
                    yield document, value, explained(document, path, value, role, index)


def at(value: Any, path: Field) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_leaf_of_the_examples(path: Path) -> None:
    for document, value, found in tasks(path.read_bytes()):
        assert [(leaf.path, leaf.value) for leaf in found.leaves] == list(leaves(found.pod))
        for leaf in found.leaves:
            assert leaf.origin.kind in (SOURCE, PLACEHOLDER, DEFAULT, CONTROLLER)
            if leaf.origin.kind in (SOURCE, PLACEHOLDER):
                _stands_there(document, at(value, leaf.origin.path), leaf)
        template = ("spec", "taskRoles", _place(found), "task", "pod")
        named = {leaf.origin.path for leaf in found.leaves if leaf.origin.kind in (SOURCE, PLACEHOLDER)}
        assert {path for path, _ in leaves(at(value, template), template)} == named - {("metadata", "namespace")}, "nothing is passed over"


def _place(found: Explained) -> int:
    """Which role the Pod is of."""
    return next(int(leaf.origin.path[2]) for leaf in found.leaves if leaf.origin.path[:2] == ("spec", "taskRoles"))


def _stands_there(document: Document, raw: Any, leaf: Leaf) -> None:
    """The text at the place is the value at the path in the source."""
    span = leaf.origin.span
    assert span is not None
    written = document.source.text[span.start : span.end]
    if not isinstance(raw, dict | list) and not written.startswith(("|", ">", "*")):
        assert values(written.encode()) == [raw]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_is_changed_there_changes_the_leaf_and_what_is_not_there_stays(path: Path) -> None:
    for _, value, found in tasks(path.read_bytes()):
        for leaf in found.leaves:
            if leaf.origin.kind in (SOURCE, PLACEHOLDER) and leaf.path != ("metadata", "namespace"):
                _changes(value, leaf, int(found.pod["metadata"]["labels"]["FC_TASK_INDEX"]))


def _changes(value: Json, leaf: Leaf, number: int) -> None:
    path = leaf.origin.path
    raw = at(value, path)
    if isinstance(raw, dict | list):
        return
    changed = copy.deepcopy(value)
    at(changed, path[:-1])[path[-1]] = not raw if isinstance(raw, bool) else raw + 1 if isinstance(raw, int) else f"{raw}x"
    role = lower(default(changed).framework).roles[int(path[2])]
    assert at(pod(role, "default", number), leaf.path) != leaf.value


@settings(max_examples=settings().max_examples // 5)
@given(frameworks())
def test_every_leaf_of_any_framework(value: Json) -> None:
    for _, source, found in tasks(yaml.dump(value).encode("utf-8", "surrogatepass")):
        for leaf in found.leaves:
            if leaf.origin.kind in (SOURCE, PLACEHOLDER):
                raw = at(source, leaf.origin.path)
                assert raw is not None
                if not isinstance(raw, dict | list) and leaf.origin.kind == SOURCE and not leaf.origin.rule:
                    assert raw == leaf.value


TEXT = b"""\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata: {name: train}
spec:
  taskRoles:
  - name: worker
    taskNumber: 4
    service: {ports: [{port: 80}]}
    task:
      pod:
        metadata:
          labels: {"{{FC_TASKROLE_NAME}}-label": "yes", "next-{{FC_TASK_INDEX+1}}": "no", FC_TASK_INDEX: mine}
          name: ignored
        spec:
          restartPolicy: Never
          hostname: ""
          priority: null
          containers:
          - name: main
            image: "a:{{FC_TASK_INDEX}}"
            tty: true
            terminationMessagePolicy: ""
            env:
            - &pod {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            resources: {limits: {cpu: 0.5, memory: 1024Mi, example.com/gpu: null}}
            ports: [{containerPort: 80}, {containerPort: 81, protocol: ""}]
          initContainers:
          - name: first
            image: b
            env: [*pod]
            terminationMessagePolicy: File
"""


@cache
def train(*written: str) -> dict[str, tuple[Any, str, str, tuple[int, ...] | None]]:
    """By field: value, kind, rule, and line and column."""
    (document,) = (one for one in read(TEXT, "train.yaml") if isinstance(one, Document))
    found = explained(document, (), document.value, 0, 3, *written)
    return {
        ".".join(map(str, leaf.path)): (leaf.value, leaf.origin.kind, leaf.origin.rule, leaf.origin.span and tuple(leaf.origin.span[:2]))
        for leaf in found.leaves
    }


@pytest.mark.parametrize(
    ("field", "value", "kind", "rule", "place"),
    [
        ("kind", "Pod", CONTROLLER, "every task is a Pod", None),
        ("metadata.name", "train-worker-3", CONTROLLER, "{framework}-{role}-{index}", None),
        ("metadata.namespace", "default", DEFAULT, "the Framework names none: --namespace, or else `default`", None),
        ("metadata.labels.worker-label", "yes", PLACEHOLDER, "{{FC_TASKROLE_NAME}}-label", (12, 50)),
        ("metadata.labels.next-4", "no", PLACEHOLDER, "next-{{FC_TASK_INDEX+1}}", (12, 85)),
        ("metadata.labels.FC_TASK_INDEX", "3", CONTROLLER, "labels of every Pod of a Framework", None),
        ("spec.containers.0.image", "a:3", PLACEHOLDER, "a:{{FC_TASK_INDEX}}", (20, 20)),
        ("spec.containers.0.tty", True, SOURCE, "", (21, 18)),
        (
            "spec.containers.0.terminationMessagePolicy",
            "FallbackToLogsOnError",
            CONTROLLER,
            "in every container that does not set it",
            None,
        ),
        ("spec.initContainers.0.terminationMessagePolicy", "File", SOURCE, "", (31, 39)),
        ("spec.containers.0.env.0.name", "FC_FRAMEWORK_NAMESPACE", CONTROLLER, "variables of every container, before its own", None),
        ("spec.containers.0.env.7.name", "POD", SOURCE, "", (24, 27)),
        ("spec.containers.0.resources.limits.cpu", "500m", SOURCE, "written as 0.5", (25, 39)),
        ("spec.containers.0.resources.limits.memory", "1Gi", SOURCE, "written as 1024Mi", (25, 52)),
        ("spec.containers.0.resources.limits.example.com/gpu", "0", SOURCE, "null in a mapping is an empty value", (25, 77)),
        ("spec.containers.0.ports.0.protocol", "TCP", DEFAULT, "what identifies an item of a list is written out", None),
        ("spec.containers.0.ports.1.protocol", "TCP", DEFAULT, "what identifies an item of a list is written out", None),
        ("spec.hostname", "worker-3", CONTROLLER, "the role's service makes its tasks known by name", (8, 14)),
        ("spec.subdomain", "train-worker", CONTROLLER, "the role's service makes its tasks known by name", (8, 14)),
    ],
)
def test_by_field(field: str, value: Any, kind: str, rule: str, place: tuple[int, int] | None) -> None:
    assert train()[field] == (value, kind, rule, place)


def test_what_an_alias_stands_for_is_shown_where_it_is_written() -> None:
    assert train()["spec.initContainers.0.env.7.valueFrom.fieldRef.fieldPath"][3] == (24, 66)


def test_what_is_null_is_nothing() -> None:
    assert "spec.priority" not in train()


def test_overrides() -> None:
    image, label = "worker.task.pod.spec.containers[main].image=b:{{FC_TASK_INDEX}}", "worker.task.pod.metadata.annotations.a=b"
    found = train(image, label)
    assert found["spec.containers.0.image"] == ("b:3", OVERRIDE, f"--set {image}", None)
    assert found["metadata.annotations.a"] == ("b", OVERRIDE, f"--set {label}", None)
    assert found["spec.containers.0.tty"][1] == SOURCE
