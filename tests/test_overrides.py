"""`--set`: typed, or refused."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import fcompile
from fcompile.errors import SettingError
from fcompile.pipeline.overrides import apply, parse, refusal
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types
from tests import laws
from tests.check.frameworks import framework, role
from tests.laws import run

ROOT = Path(__file__).resolve().parents[1]


def frameworks() -> list[dict[str, Any]]:
    return [framework(role(), role("ps")), framework(role("ps"), name="other")]


def set_one(*written: str) -> dict[str, Any]:
    """The first Framework's first role with the overrides."""
    made = frameworks()
    apply([parse(one) for one in written], made, types(NEWEST))
    first: dict[str, Any] = made[0]["spec"]["taskRoles"][0]
    return first


def container(made: dict[str, Any]) -> dict[str, Any]:
    first: dict[str, Any] = made["task"]["pod"]["spec"]["containers"][0]
    return first


def test_values_have_the_fields_type() -> None:
    assert set_one("worker.taskNumber=12")["taskNumber"] == 12
    assert set_one("worker.task.retryPolicy.fancyRetryPolicy=true")["task"]["retryPolicy"] == {"fancyRetryPolicy": True}
    assert container(set_one("worker.task.pod.spec.containers[main].image=1.10"))["image"] == "1.10"
    assert container(set_one("worker.task.pod.spec.containers[0].command=[sh, -c, 'x=1']"))["command"] == ["sh", "-c", "x=1"]
    limits = container(set_one('worker.task.pod.spec.containers[main].resources.limits["nvidia.com/gpu"]=2'))["resources"]["limits"]
    assert limits == {"nvidia.com/gpu": "2"}


def test_labels_and_empty_strings() -> None:
    made = set_one("worker.task.pod.metadata.labels.tier=yes", 'worker.task.pod.metadata.labels["a.b/c"]=')
    assert made["task"]["pod"]["metadata"]["labels"] == {"tier": "yes", "a.b/c": ""}


def test_a_port_by_number_or_name() -> None:
    made = set_one("worker.service={ports: [{port: 80}]}", "worker.service.ports[0].targetPort=8080")
    assert made["service"]["ports"][0]["targetPort"] == 8080
    made = set_one("worker.service={ports: [{port: 80}]}", "worker.service.ports[0].targetPort=http")
    assert made["service"]["ports"][0]["targetPort"] == "http"


def test_null_where_it_is_a_value_of_its_own() -> None:
    made = set_one("worker.task.podGracefulDeletionTimeoutSec=60", "worker.task.podGracefulDeletionTimeoutSec=null")
    assert made["task"]["podGracefulDeletionTimeoutSec"] is None


def test_the_framework_can_be_named() -> None:
    made = frameworks()
    apply([parse("other/ps.taskNumber=3")], made, types(NEWEST))
    assert made[1]["spec"]["taskRoles"][0]["taskNumber"] == 3
    assert made[0]["spec"]["taskRoles"][1]["taskNumber"] == 4


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("worker", "role.field=value"),
        ("worker.taskNumber", "role.field=value"),
        ("=3", "role.field=value"),
        ("worker=3", "role.field=value"),
        ("worker.a[=3", "cannot read the field"),
        ("worker.taskNumbr=3", "did you mean `taskNumber`"),
        ("worker.taskNumber=three", "a whole number"),
        ("worker.taskNumber=true", "a whole number"),
        ("worker.taskNumber=[", "not readable"),
        ("worker.taskNumber=null", "is a whole number, not `null`"),
        ("worker.task.podGracefulDeletionTimeoutSec=", "is a whole number or null, not ``"),
        ("nobody.taskNumber=3", "no such role; there are: train/worker, train/ps, other/ps"),
        ("ps.taskNumber=3", "2 Frameworks have a role `ps`"),
        ("worker.taskNumber.x=3", "has no fields"),
        (
            "worker.task.pod.spec.containers[main].resources.limits.nvidia.com/gpu=2",
            'write `worker.task.pod.spec.containers[0].resources.limits["nvidia.com/gpu"]` if that is the key',
        ),
        ("train/worker.task.pod.metadata.labels.a.b.c/d=2", 'write `train/worker.task.pod.metadata.labels["a.b.c/d"]` if that is the key'),
        ("worker.task.pod.spec.containers[sidecar].image=x", "has no item `sidecar`"),
        ("worker.task.pod.spec.containers[7].image=x", "has no item `7`"),
        ("worker.task.pod.spec.containers[main].env[LR].value=3", "`task.pod.spec.containers[0].env` has no item `LR`; it is empty"),
        (f"worker.task.pod.spec.containers[{'7' * 5_000}].image=x", "has no item `7"),
        ("worker.task.pod.spec.containers=main", "a list"),
    ],
)
def test_refusals(written: str, says: str) -> None:
    with pytest.raises(SettingError) as refused:
        set_one(written)
    assert says in str(refused.value)
    assert written in str(refused.value)


@pytest.mark.parametrize("written", ["worker.task.pod.metadata.annotations.a=\ud800", "worker.task.pod.metadata.annotations.a=x\udcff"])
def test_what_no_utf_8_can_hold_is_refused(written: str) -> None:
    with pytest.raises(SettingError, match="no UTF-8"):
        parse(written)


def test_very_many_are_refused() -> None:
    """Each goes through a list of items: 6,000 of them took half a minute on a list as long."""
    with pytest.raises(SettingError, match=r"x=1000`?: there are 1,500 overrides, and 1,000 at most may be given"):
        set_one(*(f"worker.task.pod.metadata.annotations.a.x={number}" for number in range(1_500)))
    set_one(*(f"worker.task.pod.metadata.annotations.a={number}" for number in range(1_000)))


def built(*overrides: str) -> tuple[int, str]:
    """The exit code and the messages of `build` for a Framework whose own text has no placeholder."""
    given = [argument for one in overrides for argument in ("--set", one)]
    done = laws.run(["build", *given, "-"], json.dumps(framework(role())).encode())
    return done.code, done.err


def test_long_names_of_roles_that_are_not_meant_take_little_memory() -> None:
    """Each role was named with its Framework, whose name can have megabytes, to show ten of them: that took all memory."""
    known = [("f" * 1_000_000, f"r{number}") for number in range(1_000)]
    tracemalloc.start()
    refused = refusal(parse("a.taskNumber=1"), known)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused is not None
    assert f"there are: {'f' * 63}/r0, " in str(refused)
    assert "/r9, …" in str(refused)
    assert most < 1 << 20


def test_a_placeholder_that_only_an_override_has() -> None:
    """The text of the source serves to skip the search for placeholders: what `--set` brought was taken for the value itself."""
    assert "FC" not in json.dumps(framework(role()))
    assert built("worker.task.pod.spec.hostname={{FC_POD_NAME}}")[0] == 0
    assert built("worker.task.pod.metadata.labels.a=x{{FC_TASK_INDEX+1}}")[0] == 0
    for override, code in (
        ("worker.task.pod.metadata.labels.a={{FC_TASK_INDEX-1}}", "FC425"),
        ("worker.task.pod.metadata.labels.a={{FC_TASK_INDX}}", "FC421"),
        (f"worker.task.pod.metadata.labels.a={{{{FC_POD_NAME}}}}{'a' * 60}", "FC151"),
        ("worker.task.pod.spec.containers[main].image=a:\x7f", "FC116"),
    ):
        assert code in built(override)[1]
    twice = "worker.task.pod.metadata.labels["
    assert "FC424" in built(f'{twice}"a0"]=x', f'{twice}"a{{{{FC_TASK_INDEX}}}}"]=y')[1]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("spec:", "spec: [", "FC001"),
        ("kind: Framework", "kind: Framwork", "FC163"),
        ("taskRoles:", "taskRols:", "FC101"),
    ],
)
def test_errors_of_the_input_come_before_a_role_that_is_not_there(old: str, new: str, code: str, tmp_path: Path) -> None:
    """With `--set`, all that was said of a file that cannot be read was `no such role; there are: none`."""
    text = (ROOT / "examples/hello.yaml").read_text()
    compilation = fcompile.compile(text=text.replace(old, new, 1), overrides=["greeter.taskNumber=3"])
    assert code in [problem.rule.code for problem in compilation.problems], compilation.problems
    with pytest.raises(fcompile.CompileError):
        compilation.expected()
    (tmp_path / "hello.yaml").write_text(text.replace(old, new, 1))
    ran = run(["build", "--set", "greeter.taskNumber=3", str(tmp_path)])
    assert (ran.code, ran.out) == (1, b"")
    assert code in ran.err
    assert "no such role" not in ran.err


def test_a_missing_file_comes_before_a_role_that_is_not_there() -> None:
    (problem,) = fcompile.compile("no.yaml", overrides=["greeter.taskNumber=3"]).problems
    assert problem.rule.code == "FC030"


def test_no_waived_error_hides_a_role_that_is_not_there(tmp_path: Path) -> None:
    text = (ROOT / "examples/hello.yaml").read_text()
    text = text.replace("  taskRoles:", "  # fcompile: waive FC101: it is meant\n  x: 1\n  taskRoles:", 1)
    assert fcompile.compile(text=text, overrides=["greeter.taskNumber=3"]).frameworks
    with pytest.raises(fcompile.SettingError, match="no such role"):
        fcompile.compile(text=text, overrides=["nobody.taskNumber=3"])
    unwaived = fcompile.compile(text=text.replace("# fcompile: waive", "#"), overrides=["nobody.taskNumber=3"])
    with pytest.raises(fcompile.SettingError, match="no such role"):
        list(unwaived.units())  # as where a caller has waivers of its own
