"""How a converted Framework is written: texts as `build` writes them, comments where their fields are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.write import write_framework
from fcompile.emit import yaml as plain_yaml
from tests.convert.operator import convert
from tests.reading import documents

TEXTS = [
    "a\nb",
    "a\nb\n",
    "\na\n",
    "  a\nb\n",
    "a \nb\n",
    "a\n\n\nb\n",
    "# x\ny\n",
    "---\na\n",
    "...\na",
    "a: b\n- c\n",
    "é\n☃\n",
    "a\tb\n c\n",
]
ELSEWHERE = ["\ta\nb\n", "a\n\n", "a\r\nb", "a\u2028b\nc", "one line", "x" * 300, '"' * 300]


def written(text: str) -> tuple[str, Draft]:
    """Return a Framework with a text in many places, and comments beside it."""
    container = {"name": "a", "args": [text, "x", text], "env": [{"name": "b", "value": text}]}
    role = RoleDraft("w", 1, {"spec": {"containers": [container], "z": text}}, (), ())
    draft = Draft("ab", None, annotations={"k": text}, roles=[role])
    pod = ("spec", "taskRoles", 0, "task", "pod", "spec")
    for number, path in enumerate((("spec",), (*pod, "containers", 0, "env"), (*pod, "z"))):
        draft.comment(f"C{number}", path)
    return write_framework(draft), draft


@pytest.mark.parametrize("text", [*TEXTS, *ELSEWHERE])
def test_a_text_comes_out_as_build_writes_it(text: str) -> None:
    made, draft = written(text)
    (document,) = documents(made.encode(), "a")
    assert document.value == draft.framework()
    lines = made.splitlines()
    assert sum(line.lstrip().startswith("# C") for line in lines) == 3
    plain = plain_yaml.document(document.value).splitlines()
    assert [line for line in lines if not line.lstrip().startswith("# C")] == plain
    assert any(line.endswith(("|", "|-", "|2", "|2-")) for line in lines) == (text in TEXTS)


def test_a_script_stays_readable_and_is_the_same_when_converted_again() -> None:
    script = "set -e  # strict\npip install torch\n\nexec python train.py\n"
    container: dict[str, Any] = {"name": "jax", "image": "a", "command": ["bash", "-c"], "args": [script]}
    spec = {"jaxReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}}}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "JAXJob", "metadata": {"name": "a"}, "spec": spec}
    text = convert(json.dumps(job)).text()
    margin = " " * 14
    assert "            - |\n" + "".join(f"{margin}{line}\n" if line else "\n" for line in script.splitlines()) in text
    assert convert(text).text() == text


def test_a_comment_stands_at_the_column_of_its_field() -> None:
    lines = written("a\nb\n")[0].splitlines()
    for place, line in enumerate(lines):
        if line.lstrip().startswith("# C"):
            after = lines[place + 1]
            assert len(line) - len(line.lstrip()) == len(after) - len(after.lstrip())
