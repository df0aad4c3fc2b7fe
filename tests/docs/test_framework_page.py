"""docs/framework.md: its examples compile, and mean what they say."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

import fcompile
from fcompile.schema.types import FRAMEWORK_TYPES
from tests.docs.blocks import Block, blocks, file

PAGE = Path(__file__).resolve().parents[2] / "docs" / "framework.md"
PARTS = [block for block in blocks(PAGE) if block.language == "yaml" and not block.title]


def whole(part: dict[str, Any]) -> dict[str, Any]:
    """A Framework out of what an example shows of one: the rest is that of the page's first."""
    framework = yaml.safe_load(file(PAGE, "train.yaml"))
    pod = framework["spec"]["taskRoles"][0]["task"]["pod"]
    spec = copy.deepcopy(part["spec"])
    for role in spec["taskRoles"]:
        role.setdefault("task", {})["pod"] = pod
    return {**framework, "spec": spec}


def test_the_first_example_is_complete() -> None:
    compilation = fcompile.compile(text=file(PAGE, "train.yaml"))
    assert compilation.problems == ()
    assert len(compilation.expected("pods")) == 4


@pytest.mark.parametrize("block", PARTS, ids=lambda block: f"line {block.line}")
def test_examples_compile_without_a_word(block: Block) -> None:
    part = yaml.safe_load(block.text)
    compilation = fcompile.compile(frameworks=[whole(part)])
    assert compilation.problems == ()
    (made,) = compilation.frameworks
    assert _holds(made.framework, part)


def _holds(value: Any, part: Any) -> bool:
    """Whether a value has all of what a part of it has."""
    if isinstance(part, dict):
        return all(_holds(value[key], item) for key, item in part.items())
    if isinstance(part, list):
        return len(value) == len(part) and all(map(_holds, value, part))
    return bool(value == part)


def test_the_host_name_of_a_task() -> None:
    (block,) = [block for block in PARTS if block.section == "service"]
    first, _ = fcompile.compile(frameworks=[whole(yaml.safe_load(block.text))]).expected("pods")
    assert f"`{first['spec']['hostname']}.{first['spec']['subdomain']}`" in PAGE.read_text("utf-8")


def test_every_field_has_a_line() -> None:
    text = PAGE.read_text("utf-8")
    for fields in FRAMEWORK_TYPES.values():
        for name, field in fields.items():
            assert f"`{name}`" in text
            assert field.description in text
