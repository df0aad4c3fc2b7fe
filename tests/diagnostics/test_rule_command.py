"""`fcompile rule` and the reference page, which explain the rules."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from fcompile.check.document import Options, check_read
from fcompile.cli import main
from fcompile.diagnostics.catalog import all_rules
from fcompile.diagnostics.problem import Problem, Severity
from fcompile.load import read
from fcompile.waivers.collection import Waivers

CAPTURE = pytest.CaptureFixture[str]


def test_a_rule_is_explained(capsys: CAPTURE) -> None:
    assert main(["rule", "FC307"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "FC307 restart-policy-left-out (warning)"
    assert "# fcompile: waive FC307: reason" in lines[-1]
    assert max(map(len, lines)) <= 100


def test_a_rule_can_be_named_in_words_and_any_case(capsys: CAPTURE) -> None:
    main(["rule", "FC307"])
    expected = capsys.readouterr().out
    for written in ("fc307", "restart-policy-left-out", "RESTART-policy-left-out"):
        main(["rule", written])
        assert capsys.readouterr().out == expected


def test_what_cannot_be_waived_says_nothing_of_waivers(capsys: CAPTURE) -> None:
    main(["rule", "FC001", "FC905"])
    out = capsys.readouterr().out
    assert "fcompile: waive" not in out
    assert out.count("\n\n\n") == 1


def test_all_rules_are_listed(capsys: CAPTURE) -> None:
    assert main(["rule", "--all"]) == 0
    codes = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert codes == sorted(rule.code for rule in all_rules())


def test_all_rules_as_json(capsys: CAPTURE) -> None:
    assert main(["rule", "--all", "-o", "json"]) == 0
    rules = json.loads(capsys.readouterr().out)
    assert [rule["code"] for rule in rules] == [rule.code for rule in all_rules()]
    assert all(set(rule) == {"code", "name", "severity", "summary", "help"} for rule in rules)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a code"),
        (["FC101", "--all"], "a code or `--all`, not both"),
        (["FC999"], "there is no rule `FC999`"),
        (["unknwn-field"], "did you mean unknown-field"),
    ],
)
def test_wrong_use(arguments: list[str], words: str, capsys: CAPTURE) -> None:
    assert main(["rule", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err


def test_every_rule_is_written_as_the_others_are() -> None:
    for rule in all_rules():
        assert re.fullmatch(r"FC[0-9]{3}", rule.code)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
        for sentence in (rule.summary, rule.why, rule.remedy):
            assert re.fullmatch(r"\S.*\S", sentence), rule.code
            assert sentence.endswith((".", ".)")), rule.code
        assert isinstance(rule.severity, Severity)


# The pages


@pytest.fixture(scope="module")
def page(repository: Path) -> dict[str, Any]:
    """The tool that writes `docs/diagnostics.md` and the pages below it, as its names."""
    return runpy.run_path(str(repository / "tools" / "diagnostics_pages.py"))


def test_every_rule_has_a_family(page: dict[str, Any]) -> None:
    assert {rule.code[2] for rule in all_rules()} <= set(page["FAMILIES"])


def test_links_of_before_lead_to_the_line_of_their_rule(repository: Path) -> None:
    """All rules were on one page, and reports of that time link to them there."""
    index = (repository / "docs" / "diagnostics.md").read_text("utf-8")
    for rule in all_rules():
        anchor = f"{rule.code}-{rule.name}".lower()
        (linked,) = re.findall(rf'<a id="{anchor}"></a>\[{rule.code}\]\((diagnostics/[\w-]+\.md)#{anchor}\)', index)
        assert f"\n## {rule.code} {rule.name}\n" in (repository / "docs" / linked).read_text("utf-8")


def problems_of(text: str) -> list[Problem]:
    return check_read("serving/a.yaml", list(read(text.encode(), "serving/a.yaml")), Options(36, "default")).problems


def test_the_waivers_of_the_page_do_what_it_says(page: dict[str, Any], tmp_path: Path) -> None:
    snippet, entries = re.findall(r"```yaml\n(.*?)```", page["INTRODUCTION"], re.DOTALL)
    head = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {name: search, namespace: team-a}\n"
    text = head + re.sub(r"(?m)^ *# fcompile.*\n", "", snippet)
    problems = problems_of(text)
    assert "FC307" in [problem.rule.code for problem in problems]

    both = head + snippet
    comments = Waivers.from_text(both, "serving/a.yaml")
    assert "FC307" not in [problem.rule.code for problem in comments.apply(problems_of(both))[0]]
    assert comments.problems == comments.unused() == []

    file = tmp_path / ".fcompile-waivers.yaml"
    file.write_text(entries)
    waivers = Waivers.from_file(str(file))
    moved = [problem._replace(file=str(tmp_path / "serving" / "a.yaml")) for problem in problems]
    assert "FC307" not in [problem.rule.code for problem in waivers.apply(moved)[0]]
    assert waivers.problems == waivers.unused() == []


def test_code_on_the_page_cannot_end_its_fence(page: dict[str, Any]) -> None:
    fenced = page["_fenced"]("a\n```\nb\x1b\n", "yaml")
    assert fenced == "````yaml\na\n```\nb\\x1b\n````\n"
