"""What is written, and that every reader there is in Python reads it back. What kubectl's own library reads is in data/kubectl.json."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fcompile.emit.scalars import EmitError
from fcompile.emit.yaml import comment, document, dump
from tests.emit import hostile

CORPUS = json.loads((Path(__file__).parent / "data" / "kubectl.json").read_text("utf-8"))["cases"]


def ruamel(version: tuple[int, int]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        reader = YAML(typ="safe", pure=True)
        reader.version = version
        return reader.load(text)

    return read


READERS: dict[str, Callable[[str], Any]] = {
    "PyYAML": lambda text: pyyaml.load(text, pyyaml.SafeLoader),
    "libyaml": lambda text: pyyaml.load(text, pyyaml.CSafeLoader),
    "ruamel.yaml 1.1": ruamel((1, 1)),
    "ruamel.yaml 1.2": ruamel((1, 2)),
}


@pytest.fixture(params=READERS, scope="module")
def read(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    return READERS[request.param]


class TestWhatIsWritten:
    def test_block_style_with_lists_at_their_keys_column(self) -> None:
        value = {
            "kind": "Pod",
            "spec": {"containers": [{"name": "a", "args": ["x", ["y", []]], "env": []}, {}], "z": None, "n": True},
            "e": {},
        }
        assert dump(value) == (
            'kind: Pod\nspec:\n  containers:\n  - name: a\n    args:\n    - x\n    - - "y"\n      - []\n    env: []\n  - {}\n'
            '  z: null\n  "n": true\ne: {}\n'
        )

    @pytest.mark.parametrize(
        "text",
        ["worker-0", "nginx:1.25", "docker.io/org/image:v1.2-rc", "/data/in", "./run.sh", "--lr=0.1", "-c", "$(FC_TASK_INDEX)",
         "500m", "1.5Gi", "30s", "None", "a.b/c", "it's", "python train.py --epochs 3", "http://a-b:80/c", "YWI=", "x86_64"],
    )  # fmt: skip
    def test_plain(self, text: str) -> None:
        assert dump([text]) == f"- {text}\n"

    @pytest.mark.parametrize(
        "text", ["y", "No", "1", "0x1f", "1:30", "2001-01-01", "1.2", "10.0.0.1", "", "~", "a: b", "a #b", "- a", " a", "e5", "{{x}}", "é"]
    )
    def test_quoted(self, text: str) -> None:
        assert dump([text]) == f'- "{text}"\n'
        assert dump({text: 1}) == f'"{text}": 1\n'

    def test_single_quotes_spare_backslashes(self) -> None:
        assert dump(['{"a": "b\'s"}', "C:\\x"]) == "- '{\"a\": \"b''s\"}'\n- 'C:\\x'\n"

    def test_escapes(self) -> None:
        written = dump(["a\tb\x00\x85\u2028\ufeff\U0001fffe\U0001f600é"])
        assert written == '- "a\\tb\\u0000\\u0085\\u2028\\ufeff\\U0001fffe\U0001f600é"\n'

    def test_blocks(self) -> None:
        value = {"a": "x\ny\n", "b": "x\n\ny", "c": "  x\ny\n", "d": ["\nx\n", {"e": "---\n...\n"}]}
        assert dump(value) == (
            "a: |\n  x\n  y\nb: |-\n  x\n\n  y\nc: |2\n    x\n  y\nd:\n- |2\n\n  x\n- e: |\n    ---\n    ...\n"
        )  # fmt: skip

    @pytest.mark.parametrize(
        "text", ["a\n\n", "\n", "\n\n", "a\nb ", "a\nb\t\n", "\ta\nb", "\n\ta", "a\r\nb", "a\nb\x85", "a\n\u202eb", "a\n\xa0"]
    )
    def test_several_lines_that_some_reader_gets_wrong_are_quoted(self, text: str) -> None:
        assert dump({"a": text}).count("\n") == 1

    def test_long_lines_stay_lines(self) -> None:
        assert dump({"a": "word " * 5000 + "end"}).count("\n") == 1

    def test_a_key_too_long_for_a_simple_key(self) -> None:
        key = "k" * 2000
        assert dump({key: [1]}) == f"? {key}\n:\n- 1\n"

    @pytest.mark.parametrize(
        ("number", "text"),
        [(1, "1"), (1.0, "1"), (-0.0, "-0.0"), (0.5, "0.5"), (1e21, "1.0e+21"), (1.5e-7, "1.5e-07"), (2**64 - 1, "18446744073709551615"),
         (2**64, "1.8446744073709552e+19"), (10**20, "1.0e+20"), (2.0**53, "9007199254740992.0"), (1e-5, "1.0e-05")],
    )  # fmt: skip
    def test_numbers(self, number: float, text: str) -> None:
        assert dump({"a": number}) == f"a: {text}\n"

    @pytest.mark.parametrize("text", ["a\nb\n", "x"])
    def test_a_document_that_is_a_string_is_one_line(self, text: str) -> None:
        assert dump(text).count("\n") == 1
        assert "..." not in document(text)


class TestRefused:
    @pytest.mark.parametrize(
        "value",
        [
            float("nan"),
            float("inf"),
            -float("inf"),
            10**400,
            "\ud800",
            "a\udfffb\n",
            {"\udc80": 1},
            {1: 2},
            {None: 1},
            (1,),
            b"a",
            {1},
            object(),
        ],
    )
    def test_what_json_has_no_form_for(self, value: Any) -> None:
        for inside in (value, [value], {"a": value}):
            with pytest.raises(EmitError):
                dump(inside)

    def test_endless_nesting(self) -> None:
        lists: list[Any] = []
        lists.append(lists)
        mapping: dict[str, Any] = {}
        mapping["a"] = mapping
        mixed: dict[str, Any] = {}
        mixed["a"] = [mixed]
        for value in (lists, mapping, mixed):
            with pytest.raises(EmitError):
                dump(value)

    def test_a_hundred_levels_are_fine(self) -> None:
        value: Any = "leaf"
        for _ in range(50):
            value = {"a": [value]}
        assert READERS["libyaml"](dump(value)) == value


class TestReadBack:
    @pytest.mark.parametrize("case", CORPUS, ids=lambda case: ascii(case["value"]))
    def test_as_kubectl_reads_it(self, case: dict[str, Any]) -> None:
        """`json` is what sigs.k8s.io/yaml v1.4.0 (strict) read from `yaml`. Whoever changes what is written must record it anew."""
        assert dump(case["value"]) == case["yaml"]
        assert hostile.same(case["value"], case["json"])

    def test_corpus(self, read: Callable[[str], Any]) -> None:
        for case in CORPUS:
            assert hostile.same(case["value"], read(case["yaml"])), case["yaml"]

    @given(value=hostile.values)
    def test_any_value(self, value: Any) -> None:
        text = dump(value)
        for name, read in READERS.items():
            assert hostile.same(value, read(text)), f"{name}: {text}"

    @given(text=hostile.texts)
    def test_any_string_anywhere(self, text: str) -> None:
        value = {text: text, "a": [text, [text, {"b": text, text + "c": [text]}], 1], "d": {"e": {"f": text}}}
        written = dump(value)
        for name, read in READERS.items():
            assert hostile.same(value, read(written)), f"{name}: {written}"


SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "kubectl": lambda text: "".join(line if line[:3] != "---" else "\0" for line in text.splitlines(keepends=True)).split("\0"),
    "helm": lambda text: [part.strip() for part in re.split(r"(?:^|\s*\n)---\s*", text.strip())],
    "a simple one": lambda text: ("\n" + text).split("\n---"),
}
"""Readers that look for `---` in the text before any YAML is parsed."""


class TestStream:
    @given(values=st.lists(hostile.objects, min_size=1, max_size=4))
    def test_documents_stay_apart(self, values: list[Any]) -> None:
        text = "".join(map(document, values))
        assert text.startswith("---\n")
        assert hostile.same(values, list(pyyaml.load_all(text, pyyaml.CSafeLoader)))

    @pytest.mark.parametrize("splitter", SPLITTERS)
    @given(values=st.lists(hostile.objects, min_size=1, max_size=3))
    def test_for_who_splits_first(self, splitter: str, values: list[Any]) -> None:
        parts = SPLITTERS[splitter]("".join(map(document, values)))
        assert hostile.same(values, [pyyaml.load(part, pyyaml.CSafeLoader) for part in parts if part.strip()])

    def test_a_last_line_end_is_protected(self) -> None:
        assert document({"a": {"b": ["x\ny\n"]}}) == "---\na:\n  b:\n  - |\n    x\n    y\n...\n"
        assert document({"a": "x\ny"}) == "---\na: |-\n  x\n  y\n"
        assert document({"a": "x\ny\n", "b": 1}) == "---\na: |\n  x\n  y\nb: 1\n"


class TestComment:
    @given(text=hostile.texts)
    def test_is_never_content(self, text: str) -> None:
        written = comment(text) + dump({"a": 1})
        assert all(line.startswith("#") for line in written.split("\n")[:-2])
        for name, read in READERS.items():
            assert read(written) == {"a": 1}, name

    def test_text(self) -> None:
        assert comment('For review, not for apply\n\nfrom "a.yaml"\x1b') == '# For review, not for apply\n#\n# from "a.yaml"\\u001b\n'
