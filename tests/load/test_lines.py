"""What is read line by line is what libyaml's events give; all else is left to these."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.load.faults import Fault
from fcompile.load.rules import MAX_DEPTH
from fcompile.load.yaml_lines import UNUSUAL, read_lines
from fcompile.load.yaml_values import read

USUAL = """\
# a comment
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework

metadata:
  name: "a b"   # and here
  labels: {a.b/c: d, 'e': 1, "f": -x}
  annotations: {}
spec:
  taskRoles:
  - name: worker
    taskNumber: 0x10
    command: ["a", 'b c', --d=e, f g , 1, yes]
    args: []
    image: registry.example.com:5000/a/b:1.2
    script: |
      set -e

        # indented
      echo 'a: b' # c

    keep: |+
      x

    strip: |-
      y
    empty:
    nothing: null
    nested:
      deeper:
        - 1
        - |
          text
        - 'q'
      # less
    same:
    - a: 1
      b: 2
    -   c: 3
        d:
    - {x: y}
  - name: é日本
"""


def agree(text: str) -> bool:
    """Whether the text is read line by line; if so, the events must give the same and nothing more."""
    value = read_lines(text)
    if value is UNUSUAL:
        return False
    expected, ignored = read(text)
    assert (expected, ignored) == (value, None)
    assert json.dumps(expected) == json.dumps(value)
    return True


@pytest.mark.parametrize("head", ["", "---\n", "--- # c\n", "\n\n"])
def test_what_people_write_is_read_by_lines(head: str) -> None:
    assert agree(head + USUAL)


def test_reading_it_needs_no_pyyaml() -> None:
    code = "import sys, fcompile.load as load; load.values(sys.stdin.buffer.read()); sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], input=USUAL.encode(), check=False).returncode == 0


@pytest.mark.parametrize("name", ["kubectl-yaml.json", "documents.json"])
def test_every_recorded_document(name: str) -> None:
    cases: list[Any] = json.loads((Path(__file__).parent / "data" / name).read_text())
    assert sum(agree(case["yaml"] + end) for case in cases for end in ("", "\n")) > 100 or name == "kubectl-yaml.json"


def test_every_recorded_file() -> None:
    for case in json.loads((Path(__file__).parent / "data" / "streams.json").read_text()):
        agree(case.get("text", ""))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# c\n",
        "a\n",
        "a: b",
        "a: b\n c\n",
        "a: b: c\n",
        "a: b:\n",
        "a:b\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !x b\n",
        "? a\n",
        "a: >\n b\n",
        "a: 'b''c'\n",
        'a: "\\n"\n',
        "a:\tb\n",
        "a: b\r\n",
        "a: [b: c]\n",
        "a: [[b]]\n",
        "a: {b}\n",
        "a: [b,]\n",
        "a: [b?c]\n",
        "<<: {a: 1}\n",
        "~: a\n",
        "a: 1\na: 2\n",
        "1: a\n'1': b\n",
        "a: {b: 1, b: 2}\n",
        "a: .inf\n",
        "- - a\n",
        "-\n  a: b\n",
        "a:\n  b: c\n d: e\n",
        "  a: b\nc: d\n",
        "a: |\nb: c\n",
        "a: |2\n   b\n",
        "a: |\n\n  b\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "a:\n- b\n- c\n d: e\n",
        "'" + "a" * 1100 + "': b\n",
        "...\n",
        "a: b\n...\n",
        "%a\n",
        "\ufeffa: b\n",
        "a: \u2028b\n",
        "a: \x07\n",
        "a: b\n---x: y\n",
        "'a'b: c\n",
        "a: 'b'c\n",
        "a: 'b'#c\n",
        "a: [b]#c\n",
        "a: |x\n  b\n",
        "a: -\n",
        "a: - b\n",
        "a: @b\n",
        "a: `b`\n",
        "a: %b\n",
    ],
    ids=ascii,
)
def test_what_is_unusual_or_wrong_is_left_alone(text: str) -> None:
    assert read_lines(text) is UNUSUAL


def test_depth_is_left_to_the_one_who_can_say_where() -> None:
    text = "".join(" " * level + "a:\n" for level in range(MAX_DEPTH))
    assert agree(text)
    assert read_lines(text + " " * MAX_DEPTH + "b: c\n") is UNUSUAL


def test_so_are_too_many_values() -> None:
    assert read_lines("- a\n" * 1_100_000) is UNUSUAL


VALUES = st.sampled_from(
    [
        "",
        "v",
        "1",
        "0x1f",
        "no",
        "null",
        "'q'",
        '"d"',
        "'a: b'",
        '"# b"',
        "a b c",
        "http://x.y/z?a=b",
        "r:5000/a:1.2",
        "a#b",
        "a #b",
        "a: b",
        "x:",
        "-x",
        "--y",
        "- z",
        "---",
        "[a, b]",
        "[]",
        "[a, 'b', \"c d\"]",
        "[a b, --d=e]",
        "[a: b]",
        "[a:b]",
        "[a?b]",
        "[- a]",
        "{a: 1}",
        "{}",
        "{a: 1, b: 'x'}",
        "{a: 1, a: 2}",
        "{~: a}",
        "|",
        "|-",
        "|+",
        ">",
        "&x a",
        "*x",
        "!t a",
        "$(X)",
        "{{X}}",
        "(a)",
        "a  # c",
        "'a'# c",
        "'a'b",
        '"\\n"',
        "é",
        "1:30",
        ".inf",
        "a  ",
        ".",
        "..",
        "?a",
        ":a",
        "a'b",
        "a, b",
    ]
)
LINE_KEYS = st.sampled_from(["a", "b", "c", "d.e/f", "g-h", "1", "yes", "'q k'", '"z"', "<<", "~", "a b", "? a", "-i"])
LINES = st.tuples(
    st.sampled_from(["", "", "  ", "  ", "    ", "      ", " "]),
    st.sampled_from(["", "", "", "- ", "-   ", "-", "- - "]),
    st.one_of(st.just(""), LINE_KEYS.map(lambda key: key + ":")),
    VALUES,
    st.sampled_from(["\n"] * 6 + [" # c\n", "\n\n", "\n  # c\n", "\n      text\n", "\n    text\n\n", "\r\n", ""]),
).map(lambda parts: parts[0] + parts[1] + parts[2] + (" " if parts[2] and parts[3] else "") + parts[3] + parts[4])


@given(st.lists(LINES, max_size=6).map("".join))
def test_any_lines(text: str) -> None:
    try:
        agree(text)
    except Fault:
        pytest.fail("read line by line what libyaml's events refuse")
