"""Names that only meet in a task between the first and the last: the API server refuses its Pod, and no other."""

from __future__ import annotations

import json

import pytest

import fcompile
from fcompile.check.met_indices import met_indices
from tests.check.frameworks import framework, role

INDEX = "{{FC_TASK_INDEX}}"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["c5", "c" + INDEX], (5,)),
        (["c5", "d" + INDEX], ()),
        (["c5-x", f"c{INDEX}-x"], (5,)),
        (["c5", "c{{FC_TASK_INDEX+2}}"], (3,)),
        (["c05", "c" + INDEX], ()),
        (["c0", "c9", "c10", "c" + INDEX], ()),
        (["c8", "c1", "c3", "c" + INDEX], (1, 3, 8)),
        (["a-2-b-5", f"a-2-b-{INDEX}", f"a-{INDEX}-b-5"], (2, 5)),
        ([INDEX, "7"], (7,)),
        (["x" + "1" * 300, "c" + INDEX], ()),
        (["c5", f"c{{{{FC_TASK_INDEX+{'1' * 5_000}}}}}"], ()),
    ],
)
def test_which_tasks_have_a_name_that_is_there(texts: list[str], expected: tuple[int, ...]) -> None:
    assert met_indices({"spec": {"volumes": [{"name": text} for text in texts]}}, 9) == expected


def test_free_text_is_not_looked_at() -> None:
    container = {"command": ["c5"], "args": ["c5"], "env": [{"name": "A", "value": "c5"}], "name": "c" + INDEX}
    assert met_indices({"metadata": {"annotations": {"a": "c5"}}, "spec": {"containers": [container]}}, 9) == ()


def test_a_few_stand_for_all() -> None:
    names = [{"name": f"c{number}"} for number in range(1, 1000)]
    assert met_indices([*names, {"name": "c" + INDEX}], 9_999) == tuple(range(1, 9))


def test_every_family_of_rules_looks_at_such_a_task() -> None:
    spec = {
        "containers": [{"name": "c5", "image": "a:1"}, {"name": "c" + INDEX, "image": "a:1"}],
        "volumes": [{"name": f"v{INDEX}", "emptyDir": {}}, {"name": "v7", "emptyDir": {}}],
    }
    metadata = {"labels": {"x" + INDEX: "a", "x3": "b"}}
    for count, codes in ((10, {"FC201", "FC240", "FC424"}), (7, {"FC201", "FC424"}), (3, set())):
        found = fcompile.compile(text=json.dumps(framework(role("w", count, spec=spec, metadata=metadata)))).problems
        assert {problem.rule.code for problem in found} & {"FC201", "FC240", "FC424"} == codes
