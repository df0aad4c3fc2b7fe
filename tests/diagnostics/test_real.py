"""The formats over everything that `examples/bad` brings up: valid, complete, and pointing at the right places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from fcompile.cli import main
from tests.diagnostics import schemas

BAD = Path("examples", "bad")


@pytest.fixture(scope="module")
def outputs(repository: Path) -> dict[str, str]:
    """What `validate` prints in each format."""
    import contextlib
    import io

    found = {}
    with contextlib.chdir(repository):
        paths = [str(path) for path in sorted(BAD.iterdir()) if path.name[:2] == "FC"]
        for name in ("text", "json", "sarif", "junit", "github"):
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                assert main(["validate", "--jobs", "1", "--format", name, *paths]) == 1
            found[name] = stream.getvalue()
    return found


@pytest.fixture(scope="module")
def document(outputs: dict[str, str]) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(outputs["json"])
    return parsed


def test_every_format_is_valid(outputs: dict[str, str], document: dict[str, Any]) -> None:
    schemas.own_json().validate(document)
    schemas.sarif().validate(json.loads(outputs["sarif"]))
    schemas.junit().assertValid(etree.fromstring(outputs["junit"].encode()))


def test_every_format_tells_all(outputs: dict[str, str], document: dict[str, Any]) -> None:
    summary = document["summary"]
    total = summary["errors"] + summary["warnings"] + summary["notes"]
    assert total == len(document["problems"]) > 100
    assert len(outputs["github"].splitlines()) == total
    assert len(json.loads(outputs["sarif"])["runs"][0]["results"]) == total + summary["waived"]
    cases = etree.fromstring(outputs["junit"].encode())
    assert sum("error[" in line for failure in cases.iter("failure") for line in (failure.text or "").splitlines()) == summary["errors"]
    assert outputs["text"].count("\n  = field:") + outputs["text"].count(": error[") > summary["errors"]
    assert outputs["text"].splitlines()[-1].startswith(f"Found {summary['errors']} errors")


def test_places_are_right(document: dict[str, Any], repository: Path) -> None:
    for problem in document["problems"]:
        text = (repository / problem["file"]).read_bytes().decode("utf-8-sig", "replace")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert problem["sourceLine"] in (lines[problem["line"] - 1], None), problem
        begins = lines[problem["line"] - 1][problem["column"] - 1 :]
        assert text[problem["offset"] :].replace("\r", "\n").startswith(begins), problem
        if problem["line"] == problem["endLine"]:
            assert problem["endColumn"] - problem["column"] == problem["endOffset"] - problem["offset"], problem


def test_sarif_says_the_same_places(document: dict[str, Any], outputs: dict[str, str]) -> None:
    results = json.loads(outputs["sarif"])["runs"][0]["results"]
    open_results = [result for result in results if not result.get("suppressions")]
    for problem, result in zip(document["problems"], open_results, strict=True):
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (problem["line"], problem["column"])
        assert (region["endLine"], region["endColumn"]) == (problem["endLine"], problem["endColumn"])
        assert (region["charOffset"], region["charLength"]) == (problem["offset"], problem["endOffset"] - problem["offset"])
        assert result["ruleId"] == problem["code"]


def test_nothing_but_text_for_a_terminal(outputs: dict[str, str]) -> None:
    for name in ("text", "github", "junit"):
        assert not {character for character in outputs[name] if character < " " and character != "\n"}
