"""The digest that a Framework has: `validate` and the Python API check it; every other command makes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fcompile.check.framework import check_framework
from fcompile.cli import main
from fcompile.default import default
from fcompile.lower.digest import V1, V2
from fcompile.lower.intent import lower
from fcompile.model.names import DIGEST_ANNOTATION
from tests.check.frameworks import context_of, framework, role

FRAMEWORK = framework(role())
Capture = pytest.CaptureFixture[str]


def messages(digest: Any, value: dict[str, Any] = FRAMEWORK) -> list[str]:
    """What is said of a Framework with this digest."""
    value = {**value, "metadata": {**value["metadata"], "annotations": {DIGEST_ANNOTATION: digest}}}
    findings = check_framework(context_of(value), repr(value), digest=True)
    assert {finding.path for finding in findings if finding.rule.code == "FC414"} <= {("metadata", "annotations", DIGEST_ANNOTATION)}
    return [finding.message for finding in findings if finding.rule.code == "FC414"]


@pytest.mark.parametrize("version", [None, V1, V2])
def test_the_digest_of_the_spec_is_right_by_each_version_of_the_rules(version: str | None) -> None:
    assert messages(lower(default(FRAMEWORK).framework, version).digest) == []


def test_counts_and_policies_are_not_in_the_digest() -> None:
    digest = lower(default(FRAMEWORK).framework).digest
    assert messages(digest, framework(role(count=9, failed=2), executionType="Stop")) == []


@pytest.mark.parametrize("other", [role(spec={"hostNetwork": True}), role("w"), role(service={})], ids=["pod", "name", "service"])
def test_the_digest_of_another_spec_is_told(other: dict[str, Any]) -> None:
    (message,) = messages(lower(default(FRAMEWORK).framework).digest, framework(other))
    assert message.startswith("this is not the digest of the spec")


@pytest.mark.parametrize("digest", ["no digest", "v1:sha256:", "v1", ":", "vx:sha256:00", "V1:sha256:" + "0" * 64, "x" * 100_000])
def test_what_is_no_digest_is_told(digest: str) -> None:
    (message,) = messages(digest)
    assert message.startswith("this is not the digest of the spec")


def test_rules_that_this_release_does_not_have_are_named() -> None:
    (message,) = messages("v99:sha256:" + "0" * 64)
    assert message.startswith("the lowering rules of this digest are v99, and this fcompile has v1 and v2")
    assert len(messages("v" + "9" * 100_000)[0]) < 200


@pytest.mark.parametrize("digest", ["", None, 1, []])
def test_the_controller_takes_the_empty_text_for_no_digest(digest: Any) -> None:
    assert messages(digest) == []


def test_a_framework_with_errors_is_not_lowered() -> None:
    assert messages("no digest", framework({"name": "worker"}, role("worker"))) == []


def test_what_was_built_is_right_until_it_is_changed(tmp_path: Path, capsys: Capture) -> None:
    source = Path("examples/pytorch-ddp.yaml").resolve()
    assert main(["build", str(source)]) == 0
    built = capsys.readouterr().out
    compiled = tmp_path / "compiled.yaml"
    compiled.write_text(built)
    assert (main(["validate", "--strict", str(compiled)]), "FC414" in capsys.readouterr().out) == (0, False)
    compiled.write_text(built.replace("--nnodes=", "--nodes=", 1))
    assert compiled.read_text() != built
    assert (main(["validate", "--strict", str(compiled)]), "FC414" in capsys.readouterr().out) == (1, True)
    assert (main(["build", "--strict", str(compiled)]), "FC414" in capsys.readouterr().err) == (0, False), "it makes the digest anew"
