"""No input ends in a traceback or hangs, and whatever is built reads back as what was compiled (`laws.py` says all that must hold).

Few inputs here, of which a night (`HYPOTHESIS_PROFILE=thorough`) makes many; `tools/fuzz.py` looks on for as long as it is told to.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import laws, mutations

SEEDS = mutations.Seeds(Path(__file__).resolve().parent.parent / "examples")
FEW = settings(max_examples=settings().max_examples if settings().max_examples > 100 else 40, suppress_health_check=list(HealthCheck))
HEAD = b"apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {name: a}\n"
POD = b"task: {pod: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}"
CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n"


@FEW
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    laws.hold(data)


@FEW
@given(st.text(st.characters(exclude_categories=[]), max_size=100).map(lambda text: HEAD + text.encode("utf-8", "surrogatepass")))
def test_any_text_behind_a_head(data: bytes) -> None:
    laws.hold(data)


@FEW
@given(st.integers(0, 2**32), st.sampled_from([25, 33, 36, 37]))
def test_examples_with_changed_bytes(seed: int, minor: int) -> None:
    random = Random(seed)
    laws.hold(mutations.spoiled(random, random.choice(SEEDS.texts)), minor)


@FEW
@given(st.integers(0, 2**32), st.sampled_from([25, 33, 36, 37]))
def test_frameworks_with_changed_values(seed: int, minor: int) -> None:
    laws.hold(SEEDS.mutated(Random(seed)), minor)


FOUND = {
    "no roles at all": HEAD + b"spec: {description: nothing runs}\n",
    "a text for a spec, beside placeholders": HEAD + b"spec: '{{FC_TASK_INDEX}}'\n",
    "no spec, beside placeholders": HEAD + b"# {{FC_TASK_INDEX}}\n",
    "a text for roles, beside placeholders": HEAD + b"spec: {taskRoles: '{{FC_TASK_INDEX}}'}\n",
    "a null for a role, beside placeholders": HEAD + b"spec: {description: '{{FC_TASK_INDEX}}', taskRoles: [null, 1, x]}\n",
    "wrong types waived": b"# fcompile: waive FC111 *: because\n"
    + HEAD
    + b"spec: {taskRoles: [x, {name: a, taskNumber: b, "
    + POD
    + b"}]}\n",
    "a missing field waived": b"# fcompile: waive FC121 *: because\n" + HEAD + b"spec: {taskRoles: [{" + POD + b"}]}\n",
    "a misspelt field waived": b"# fcompile: waive FC101 *: because\n" + HEAD + b"spec: {taskRoles: [{nam: a, " + POD + b"}]}\n",
    "a document behind a mark": b"---\n# kept\napiVersion: v1\nkind: X\n---\n" + HEAD + b"spec: {}\n",
    "a block at the end of a document": CONFIG_MAP + b"  a: |\n    b\n---\n" + HEAD + b"spec: {}\n---\n" + CONFIG_MAP + b"  a: |\n    b",
    "a block that keeps its line ends": CONFIG_MAP + b"  a: |+\n    b\n\n\n---\n" + HEAD + b"spec: {}\n",
    "line ends in quotes at the end": CONFIG_MAP + b'  a: "b\\n\\n"\n---\n' + HEAD + b"spec: {}\n",
    "an end mark": CONFIG_MAP + b"  a: b\n...\n---\n" + HEAD + b"spec: {}\n",
    "line ends of Windows": (CONFIG_MAP + b"  a: |\n    b\n---\n" + HEAD + b"spec: {}\n").replace(b"\n", b"\r\n"),
    "a kind of two lines": b'{"apiVersion": "v1", "kind": "a\\n\\n"}\n{"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": '
    b'"Framework", "metadata": {"name": "a"}, "spec": {}}',
    "a list in a list in a list": HEAD
    + b"spec: {}\n---\n{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [[1]]}]}\n",
    "no object, no Framework": HEAD + b"spec: {}\n---\n[1, 2]\n---\nkind: [List]\n",
}
"""What fuzzing found, once mended."""


def test_three_deep_values_one_in_another_can_be_written() -> None:
    """The search with seed 5 ended with a traceback of its own."""
    assert mutations.block(mutations.deep(450), 0, Random(1)).strip()


@pytest.mark.parametrize("data", FOUND.values(), ids=FOUND)
def test_found(data: bytes) -> None:
    laws.hold(data)


SLOW = {
    "a long text aliased a thousand times": HEAD + b"x: [&a " + b"x" * 1_000_000 + b", *a" * 1_000 + b"]\n",
    "a long key aliased a thousand times": HEAD + b"x: &a " + b"x" * 1_000_000 + b"\ny: [" + b"{*a : 1}, " * 1_000 + b"]\n",
    "a long list aliased often": HEAD + b"x: &a [" + b"xxxxxxxxxx" * 1_000 + b"]\ny: [*a" + b", *a" * 5_000 + b"]\n",
    "a long line of placeholders": HEAD + b'spec: {description: "' + b"{{FC_TASK_INDEX}}" * 50_000 + b'"}\n',
    "references to no variable among many": HEAD
    + b"spec:\n  taskRoles:\n  - name: a\n    task:\n      pod:\n        spec:\n          restartPolicy: Never\n          containers:\n"
    + b"          - name: a\n            image: b\n            env:\n"
    + b"".join(b"            - {name: E%d, value: $(FC_X)}\n" % number for number in range(5_000)),
    "one variable many times": HEAD
    + b"spec:\n  taskRoles:\n  - name: a\n    task:\n      pod:\n        spec:\n          restartPolicy: Never\n          containers:\n"
    + b"          - name: a\n            image: b\n            env:\n"
    + b"            - {name: E, value: x}\n" * 10_000,
    "mounts of no volume among many": HEAD
    + b"spec:\n  taskRoles:\n  - name: a\n    task:\n      pod:\n        spec:\n          restartPolicy: Never\n          volumes:\n"
    + b"".join(b"          - {name: v%d, emptyDir: {}}\n" % number for number in range(3_000))
    + b"          containers:\n          - name: a\n            image: b\n            volumeMounts:\n"
    + b"".join(b"            - {name: w%d, mountPath: /m%d}\n" % (number, number) for number in range(3_000)),
    "many Services over the same tasks": HEAD
    + b"spec: {}\n"
    + b"".join(
        b"---\napiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {clusterIP: None, selector: {FC_FRAMEWORK_NAME: a}}\n" % number
        for number in range(1_000)
    ),
    "the same Framework many times": (b"---\n" + HEAD + b"spec: {}\n") * 1_000,
}


@pytest.mark.parametrize("data", SLOW.values(), ids=SLOW)
def test_nothing_takes_quadratic_time_or_memory(data: bytes) -> None:
    with laws.no_hang(10):
        assert laws.run(["validate", "-"], data).code in (0, 1)
