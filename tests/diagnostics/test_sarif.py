"""That a SARIF log means what the problems say: regions, fixes, places, fingerprints, suppressions."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.diagnostics.problem import Problem
from fcompile.diagnostics.sarif import artifact, log
from fcompile.diagnostics.writer import Waived


def run_of(problems: list[Problem], waived: list[Waived] | None = None) -> dict[str, Any]:
    found: list[tuple[Problem, Waived | None]] = [(problem, None) for problem in problems]
    found += [(one.problem, one) for one in waived or []]
    run: dict[str, Any] = log(found, [])["runs"][0]
    return run


def cut(text: str, region: dict[str, Any]) -> tuple[int, int]:
    """The offsets of a region by its lines and columns, which must say the same as its offset and length."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    start = starts[region["startLine"] - 1] + region["startColumn"] - 1
    end = starts[region["endLine"] - 1] + region["endColumn"] - 1
    assert (start, end - start) == (region["charOffset"], region["charLength"])
    return start, end


def test_regions_are_the_places_in_the_text(problems: list[Problem], text: str) -> None:
    for problem, result in zip(problems, run_of(problems)["results"], strict=True):
        place = result["locations"][0]["physicalLocation"]
        start, end = cut(text, place["region"])
        assert (start, end) == (problem.span.start, problem.span.end)
        if "\n" not in text[start:end]:
            assert place["region"]["snippet"]["text"] == text[start:end]
        if "contextRegion" in place:
            assert place["contextRegion"]["snippet"]["text"] == problem.source_line


def test_a_fix_can_be_applied(problems: list[Problem], text: str) -> None:
    change = run_of(problems)["results"][0]["fixes"][0]["artifactChanges"][0]
    replacement = change["replacements"][0]
    start, end = cut(text, replacement["deletedRegion"])
    assert text[start:end] == "taskRols"
    fixed = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    assert "\ttaskRoles: []" in fixed
    assert change["artifactLocation"] == artifact(problems[0].file)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("a/b.yaml", {"uri": "a/b.yaml", "uriBaseId": "%SRCROOT%"}),
        ("./a b.yaml", {"uri": "a%20b.yaml", "uriBaseId": "%SRCROOT%"}),
        ("../up.yaml", {"uri": "../up.yaml", "uriBaseId": "%SRCROOT%"}),
        ("c:d.yaml", {"uri": "c%3Ad.yaml", "uriBaseId": "%SRCROOT%"}),
        ("训.yaml", {"uri": "%E8%AE%AD.yaml", "uriBaseId": "%SRCROOT%"}),
        ("\udcff.yaml", {"uri": "%FF.yaml", "uriBaseId": "%SRCROOT%"}),
        ("a%20?#.yaml", {"uri": "a%2520%3F%23.yaml", "uriBaseId": "%SRCROOT%"}),
        ("<stdin>", {"uri": "%3Cstdin%3E", "uriBaseId": "%SRCROOT%"}),
        ("/srv/a b.yaml", {"uri": "file:///srv/a%20b.yaml"}),
    ],
)
def test_where_a_file_is(file: str, expected: dict[str, str]) -> None:
    assert artifact(file) == expected


def test_rules_are_listed_once(problems: list[Problem]) -> None:
    run = run_of(problems)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["FC901", "FC902", "FC903"]
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "warning", "note"]
    assert [result["ruleIndex"] for result in run["results"]] == [0, 1, 2, 0, 1]


def test_messages_hold_no_placeholder_and_no_link(problems: list[Problem]) -> None:
    assert run_of(problems)["results"][1]["message"]["text"] == r"`{{{{FC_TASK}}}}` is odd, see \[here\](x): drop it"


def test_a_related_place_in_another_file(problems: list[Problem]) -> None:
    related = run_of(problems)["results"][0]["relatedLocations"]
    assert related[0]["physicalLocation"]["artifactLocation"]["uri"] == "other.yaml"
    assert related[0]["physicalLocation"]["region"]["startLine"] == 3
    assert related[0]["message"]["text"] == "the first one"


def fingerprints(problems: list[Problem]) -> list[str]:
    return [result["partialFingerprints"]["fcompileProblem/v1"] for result in run_of(problems)["results"]]


def test_fingerprints_outlive_moved_lines(problems: list[Problem]) -> None:
    def moved(problem: Problem) -> Problem:
        down = problem.span._replace(line=problem.span.line + 5, end_line=problem.span.end_line + 5, start=problem.span.start + 80)
        return problem._replace(span=down, source_line="  " + problem.source_line, field=problem.field.replace("[2]", "[3]"))

    before = fingerprints(problems)
    assert fingerprints([moved(problem) for problem in problems]) == before
    assert fingerprints([problem._replace(file="moved.yaml") for problem in problems]) == before
    assert len(set(before)) == len(before)


def test_equal_problems_have_different_fingerprints(problems: list[Problem]) -> None:
    twice = fingerprints([problems[0], problems[0]])
    assert twice[0] != twice[1]


def test_waived_problems_are_suppressed(problems: list[Problem], waived: list[Waived]) -> None:
    results = run_of(problems, waived)["results"]
    assert [len(result["suppressions"]) for result in results] == [0] * len(problems) + [1, 1]
    comment, file = (result["suppressions"][0] for result in results[-2:])
    assert (comment["kind"], file["kind"]) == ("inSource", "external")
    assert file["justification"] == "old"
    assert file["location"]["physicalLocation"]["artifactLocation"]["uri"] == ".fcompile-waivers.yaml"
    assert all("suppressions" not in result for result in run_of(problems)["results"])


def test_a_very_long_line_is_not_repeated(problems: list[Problem]) -> None:
    long = problems[0]._replace(source_line="x" * 2_000)
    assert "contextRegion" not in run_of([long])["results"][0]["locations"][0]["physicalLocation"]
