"""What comes back: Frameworks compiled, everything else as it was, and never less than came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.load import values
from fcompile.pipeline.compiled import compile_framework
from tests.krm.conftest import Call
from tests.krm.lists import FRAMEWORK, HEAD, OTHER, at, listed
from tests.laws import run

BROKEN = FRAMEWORK.replace("image:", "imago:")
UNUSUAL = {
    "wide": listed(OTHER, FRAMEWORK, OTHER, indent="    "),
    "flow items": f"{HEAD}items: [{{kind: A, b: [1, 2.5, null]}}, {json.dumps(values(FRAMEWORK.encode())[0])}]\n",
    "a flow item": listed(OTHER, json.dumps(values(FRAMEWORK.encode())[0]), OTHER),
    "JSON": json.dumps(values(listed(OTHER, FRAMEWORK, OTHER).encode())[0]),
    "indented JSON": json.dumps(values(listed(OTHER, FRAMEWORK).encode())[0], indent=1),
    "settings first": HEAD + "functionConfig:\n  data: {}\n" + listed(FRAMEWORK, OTHER).removeprefix(HEAD),
    "no line end": listed(OTHER, FRAMEWORK).rstrip("\n"),
    "line ends of Windows": listed(OTHER, FRAMEWORK, OTHER).replace("\n", "\r\n"),
    "marks": f"---\n{listed(FRAMEWORK, OTHER)}...\n",
    "a comment at the end": listed(OTHER, FRAMEWORK) + "# the end\n",
    "an anchor that another item uses": listed(FRAMEWORK.replace("worker", "&a worker"), OTHER + "b: *a\n"),
    "an anchor of another item": listed(OTHER.replace("'1'", "&a b"), FRAMEWORK.replace("busybox", "*a")),
    "an anchor of an item": listed("&all\n" + FRAMEWORK, "apiVersion: v1\nkind: X\nb: *all\n"),
    "a merge": listed(FRAMEWORK.replace("metadata:", "metadata: &m").replace("taskNumber: 3", "<<: {taskNumber: 3}"), OTHER),
    "the last value is a block": listed(FRAMEWORK + "            args:\n            - |\n              a\n              # b\n", OTHER),
    "the last value is a kept block": listed(OTHER, FRAMEWORK + "            args:\n            - |+\n              a\n\n"),
    "the last value is empty": listed(FRAMEWORK + "            args:\n", OTHER),
    "other letters": listed(OTHER.replace("no: 1", "\u00e4\U0001f600"), FRAMEWORK),
    "a quoted string over lines": listed(OTHER + 'b: "c\n- d\n  - e"\n', FRAMEWORK),
    "v1beta1": listed(OTHER, FRAMEWORK).replace("/v1\nkind: ResourceList", "/v1beta1\nkind: ResourceList"),
}


def compiled(item: Any) -> Any:
    return compile_framework(item, "default").framework if item.get("kind") == "Framework" else item


def expected(text: str) -> Any:
    (value,) = values(text.encode())
    return {**value, "items": [compiled(item) for item in value["items"]]}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_all_values_are_there(krm: Call, text: str) -> None:
    answer = krm(text)
    assert (answer.code, answer.said) == (0, "")
    assert answer.value == expected(text)
    assert list(answer.value["items"][0]) == list(expected(text)["items"][0])


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL)
def test_with_errors_the_items_are_those_that_came(krm: Call, text: str) -> None:
    text = text.replace("image: ", "imago: ").replace('"image": ', '"imago": ')
    answer = krm(text)
    (value,) = values(text.encode())
    assert answer.code == 1
    assert len(answer.results) == answer.said.count("error[")
    assert {name: item for name, item in answer.value.items() if name != "results"} == value


def test_what_is_not_compiled_keeps_its_text(krm: Call) -> None:
    text = listed(OTHER, "# of ours\n" + at("x.yaml"), OTHER)
    answer = krm(text)
    before, _, after = text.partition(at("x.yaml").replace("\n", "\n  ").rstrip())
    assert answer.out.startswith(before)
    assert answer.out.endswith(after)
    assert listed(OTHER) in krm(listed(OTHER)).out


def test_what_was_compiled_before_keeps_its_text(krm: Call) -> None:
    text = krm(listed(FRAMEWORK)).out.replace("  kind: Framework", "  kind: Framework # ours").replace("busybox", "'busybox'")
    assert krm(text).out == text


def test_it_is_what_build_prints(krm: Call) -> None:
    answer = krm(listed(at("x.yaml")))
    assert values(run(["build", "-"], at("x.yaml").encode()).out) == answer.value["items"]
    without = krm(listed(FRAMEWORK)).value["items"][0]["metadata"]["annotations"]
    assert without.items() <= answer.value["items"][0]["metadata"]["annotations"].items()


def test_keys_keep_their_order(krm: Call) -> None:
    turned = FRAMEWORK.replace("  - name: worker\n    taskNumber: 3\n", "  - taskNumber: 3\n    name: worker\n")
    (item,) = krm(listed(turned)).value["items"]
    assert list(item["spec"]["taskRoles"][0])[:3] == ["taskNumber", "name", "task"]


def test_results_of_earlier_functions_stay(krm: Call) -> None:
    text = listed(BROKEN) + "results:\n- message: of another\n  severity: info\n"
    assert [result["message"][:10] for result in krm(text).results] == ["of another", "`container"]
    fine = krm(listed(FRAMEWORK) + "results:\n- message: of another\n")
    assert (fine.code, fine.results) == (0, [{"message": "of another"}])


@pytest.mark.parametrize("items", ["items: []\n", "items:\n", "", listed(OTHER).removeprefix(HEAD)])
def test_no_framework_at_all_is_said(krm: Call, items: str) -> None:
    answer = krm(HEAD + items)
    assert (answer.code, answer.out) == (0, HEAD + items)
    assert "no Framework among the" in answer.said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "<stdin>: empty"),
        ("# nothing\n---\n", "<stdin>: empty"),
        (b"\xff\xfe\x00", "FC012"),
        ("a: [\n", "<stdin>:1:4: error[FC006]"),
        (HEAD + "items:\n- a: 1\n  a: 2\n", "<stdin>:5:3: error[FC003]"),
        (HEAD + "items:\n- a: *b\n", "<stdin>:4:6: error[FC007]"),
        ("a\n", "<stdin>:1: this is no Kubernetes object"),
        ("- a\n", "<stdin>:1: this is no Kubernetes object"),
        (FRAMEWORK, "<stdin>:2: this is frameworkcontroller.microsoft.com/v1 Framework; a ResourceList"),
        (
            "apiVersion: v1\nkind: ResourceList\nitems: []\n",
            "<stdin>:2: this is v1 ResourceList; a ResourceList of config.kubernetes.io/v1",
        ),
        ("kind: ResourceList\n", "<stdin>:1: this is a ResourceList without `apiVersion`; a ResourceList of"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "<stdin>:2: this is v1 List"),
        (listed(FRAMEWORK) + "---\n" + listed(FRAMEWORK), "<stdin>:21: a second document"),
        (HEAD + "items: {}\n", "<stdin>:3: `items` is not a list"),
        (HEAD + "items: a\n", "<stdin>:3: `items` is not a list"),
        (HEAD + "items:\n- a: 1\n- b\n", "<stdin>:5: `items[1]` is not an object"),
        (HEAD + "items:\n-\n", "<stdin>:4: `items[0]` is not an object"),
        (b"a" * 10_000_000, "<stdin>:1:1: error[FC011]"),
        ("{" * 1000, "<stdin>:1:"),
    ],
)
def test_what_is_no_resource_list_is_refused_with_its_place(krm: Call, text: str | bytes, says: str) -> None:
    answer = krm(text)
    assert (answer.code, answer.out) == (1, "")
    assert says in answer.said


def test_a_list_of_frameworks_within_the_list_is_not_passed_over(krm: Call) -> None:
    inner = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: FrameworkList\nitems:\n- " + FRAMEWORK.replace("\n", "\n  ")
    answer = krm(listed(OTHER, inner))
    assert answer.code == 1
    assert "items[1] is a FrameworkList with Frameworks in it" in answer.results[0]["message"]


def test_an_index_that_is_a_number_is_fine(krm: Call) -> None:
    """So it is in an example of the specification, although an annotation is a string."""
    answer = krm(listed(at("x.yaml", 2).replace("'2'", "2")))
    assert (answer.code, answer.said) == (0, "")


def test_there_are_no_arguments() -> None:
    assert run(["krm", "--strict"]).code == 2
    assert b"functionConfig" in run(["krm", "--help"]).out
