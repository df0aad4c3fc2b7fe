"""Waivers: which comments count, what they cover, and what is said of bad and idle ones."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.check.rules.framework import cross_file, generated_names
from fcompile.commands.report import waivers_file
from fcompile.diagnostics.catalog import all_rules
from fcompile.diagnostics.problem import RULES, Problem, Rule, Span
from fcompile.load import LoadError, Source, values
from fcompile.waivers import collection
from fcompile.waivers.collection import Waivers
from fcompile.waivers.matching import field_fits, fits, path_fits
from fcompile.waivers.yaml_comments import comments

FILE = "job.yaml"
all_rules()
SAMPLE, OTHER = RULES["FC304"], RULES["FC305"]

HEAD = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata:
  name: job
spec:
"""


def problem_at(text: str, words: str, field: str, rule: Rule = SAMPLE, file: str = FILE, framework: str = "default/job") -> Problem:
    start = text.index(words)
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    span = Span(line, column, line, column + len(words), start, start + len(words))
    return Problem(rule, rule.severity, "wrong", file, span, text.split("\n")[line - 1], field, framework)


def codes(problems: list[Problem]) -> list[str]:
    return [problem.rule.code for problem in problems]


# What a comment covers


@pytest.mark.parametrize(
    "text",
    [
        "  # fcompile: waive FC304: meant\n  retryPolicy:\n    maxRetryCount: 1\n",
        "  #fcompile:waive FC304:meant\n  retryPolicy:\n    maxRetryCount: 1\n",
        "  retryPolicy: # fcompile: waive FC304: meant\n    maxRetryCount: 1\n",
        "  # fcompile: waive FC304: meant\n  # a remark\n\n  retryPolicy:\n    maxRetryCount: 1\n",
        "  # fcompile: waive FC305: also\n  # fcompile: waive FC304: meant\n  retryPolicy: {maxRetryCount: 1}\n",
        "  # fcompile: waive FC305, FC304 : meant\n  retryPolicy: {maxRetryCount: 1}\n",
        "  # keep  # fcompile: waive FC304: meant\n  retryPolicy: {maxRetryCount: 1}\n",
        "  retryPolicy: {maxRetryCount: 1}\n# fcompile: waive FC304 spec.retryPolicy: meant\n",
        "  retryPolicy: {maxRetryCount: 1} # fcompile: waive FC304 spec.*: meant\n",
        "  description: x # fcompile: waive FC304 *: meant\n  retryPolicy: {maxRetryCount: 1}\n",
    ],
)
def test_a_waiver_covers(text: str) -> None:
    waivers = Waivers.from_text(HEAD + text, FILE)
    assert waivers.problems == []
    problem = problem_at(HEAD + text, "retryPolicy", "spec.retryPolicy")
    kept, waived = waivers.apply([problem])
    assert kept == []
    assert [(one.problem, one.reason, one.kind, one.file) for one in waived] == [(problem, "meant", "comment", FILE)]


def test_a_problem_of_the_value_below_its_key_is_covered_at_the_key() -> None:
    text = HEAD + "  retryPolicy: # fcompile: waive FC304: meant\n    maxRetryCount: 1\n"
    value = problem_at(text, "maxRetryCount: 1", "spec.retryPolicy")
    inner = problem_at(text, "maxRetryCount", "spec.retryPolicy.maxRetryCount")
    kept, waived = Waivers.from_text(text, FILE).apply([value, inner])
    assert kept == [inner]
    assert waived[0].problem == value


def test_a_list_item_is_covered_at_its_line() -> None:
    text = HEAD + "  taskRoles:\n  # fcompile: waive FC304: meant\n  - name: a\n    taskNumber: 0\n  - name: b\n"
    item, name = problem_at(text, "name: a", "spec.taskRoles[0]"), problem_at(text, "a\n", "spec.taskRoles[0].name")
    number, second = problem_at(text, "taskNumber", "spec.taskRoles[0].taskNumber"), problem_at(text, "name: b", "spec.taskRoles[1]")
    kept, _ = Waivers.from_text(text, FILE).apply([item, name, number, second])
    assert kept == [number, second]


@pytest.mark.parametrize(
    "change",
    [
        {"rule": OTHER},
        {"file": "other.yaml"},
    ],
)
def test_another_code_or_file_is_not_covered(change: dict[str, Any]) -> None:
    text = HEAD + "  # fcompile: waive FC304: meant\n  retryPolicy: {}\n"
    problem = problem_at(text, "retryPolicy", "spec.retryPolicy", **change)
    waivers = Waivers.from_text(text, FILE)
    assert waivers.apply([problem]) == ([problem], [])
    assert codes(waivers.unused()) == ["FC905"]


def test_a_waiver_stays_in_its_document() -> None:
    first = "spec:\n  # fcompile: waive FC304: meant\n  retryPolicy: {}\n"
    text = f"{first}---\nspec:\n  retryPolicy: {{}}\n  # fcompile: waive FC305 spec*: meant\n"
    later = problem_at(text[len(first) :], "retryPolicy", "spec.retryPolicy")
    later = later._replace(span=later.span._replace(line=later.span.line + 3, end_line=later.span.end_line + 3))
    pattern = problem_at(text, "retryPolicy", "spec.retryPolicy", OTHER)
    kept, waived = Waivers.from_text(text, FILE).apply([later, pattern, later._replace(rule=OTHER)])
    assert kept == [later, pattern]
    assert len(waived) == 1


def test_a_broken_document_does_not_hide_the_waivers_of_others() -> None:
    good = "---\nspec:\n  # fcompile: waive FC304: meant\n  retryPolicy: {}\n"
    text = "a: [ # fcompile: waive FC304: here\n" + good
    waivers = Waivers.from_text(text, FILE)
    assert waivers.apply([problem_at(text, "retryPolicy", "spec.retryPolicy")])[0] == []
    assert waivers.unused() == []


# What is a comment


@pytest.mark.parametrize(
    "text",
    [
        "command: '# fcompile: waive FC304: no'\n",
        'command: "x # fcompile: waive FC304: no"\n',
        'command: "x\n  # fcompile: waive FC304: no\n  y"\n',
        "command: |\n  # fcompile: waive FC304: no\n  run\n",
        "command: >-\n  run\n\n  # fcompile: waive FC304: no\n",
        "command: |2\n   x\n  # fcompile: waive FC304: no\n",
        "? |\n  # fcompile: waive FC304: no\n: x\n",
        "command: 'a#fcompile: waive FC304: no'\n",
        "list:\n- |\n  # fcompile: waive FC304: no\n- x\n",
        '{"a": "# fcompile: waive FC304: no"}\n',
        "a: [ # fcompile: waive FC304: the document is broken\n",
        "a: \x07 # fcompile: waive FC304: the document is broken\n",
        "a: # see fcompile: waive FC304: not at the start of the comment\n",
    ],
)
def test_no_comment(text: str) -> None:
    waivers = Waivers.from_text(text, FILE)
    assert not waivers
    assert waivers.unused() == []


@pytest.mark.parametrize(
    "text",
    [
        "command: |  # fcompile: waive FC304: yes\n  run\n",
        "command: |\n  run\n# fcompile: waive FC304: yes\nother: x\n",
        "command: |\n  run\n\n\n# fcompile: waive FC304 *: yes\n",
        "command: >+\n  run\n\n# fcompile: waive FC304: yes\nother: x\n",
        "a: 'x' # fcompile: waive FC304: yes\n",
        "a: plain\n  goes on # fcompile: waive FC304: yes\n",
        "a: [x, # fcompile: waive FC304: yes\n  y]\n",
        "a: &b x\nc: *b # fcompile: waive FC304: yes\n",
        "a: # fcompile: waive FC304: yes\n",
        "--- # fcompile: waive FC304 *: yes\na: b\n",
        "训: 练 # fcompile: waive FC304: yes\n",
        "a: b\r\n# fcompile: waive FC304: yes\r\nc: d\r\n",
        "a: b\r# fcompile: waive FC304: yes\rc: d\r",
        "a: '#'\t# fcompile: waive FC304: yes",
        "a: !local x # fcompile: waive FC304: yes\n",
    ],
)
def test_comment(text: str) -> None:
    waivers = Waivers.from_text(text, FILE)
    assert waivers.problems == []
    (unused,) = waivers.unused()
    assert text[unused.span.start : unused.span.end] == "FC304"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("a:\n  b: 1 # fcompile: x\n", {"a.b"}),
        ("a:\n- # fcompile: x\n  b: 1\n", {"a[0]", "a[0].b"}),
        ("a:\n- - # fcompile: x\n    b\n", {"a[0][0]"}),
        ("a:\n- b: # fcompile: x\n  - c\n", {"a[0]", "a[0].b"}),
        ("a: {b: 1, c: [2, 3]} # fcompile: x\n", {"a", "a.b", "a.c", "a.c[0]", "a.c[1]"}),
        ('"x.y/z": 1 # fcompile: x\n', {'["x.y/z"]'}),
        ("on: 1 # fcompile: x\n", {"true"}),
        ("a: &x {b: 1}\nc:\n  <<: *x # fcompile: x\n", set()),
        ("- 1\n- 2 # fcompile: x\n", {"[1]"}),
        ("a: &x {b: 1}\nc: *x # fcompile: x\n", {"c"}),
        ("5: 1 # fcompile: x\n", {"5"}),
    ],
)
def test_the_fields_on_a_line(text: str, fields: set[str]) -> None:
    (comment,) = comments(Source(FILE, text))
    assert comment.fields == fields


# What is wrong with waivers


@pytest.mark.parametrize(
    ("comment", "code", "at", "words"),
    [
        ("# fcompile: ignore FC304: x", "FC901", "# fcompile: ignore FC304: x", "`ignore` is not an instruction"),
        ("# fcompile:", "FC901", "# fcompile:", "the instruction is missing"),
        ("# fcompile: waive", "FC901", "# fcompile: waive", "no code to waive"),
        ("# fcompile: waive: FC304", "FC901", "# fcompile: waive: FC304", "no code to waive"),
        ("# fcompile: waive FC304 FC305: x", "FC901", "# fcompile: waive FC304 FC305: x", "commas between them"),
        ("# fcompile: waive FC304 it is fine: x", "FC901", "# fcompile: waive FC304 it is fine: x", "`it is fine` is not a field"),
        ("# fcompile: waive FC304 x", "FC903", "# fcompile: waive FC304 x", "no reason"),
        ("# fcompile: waive FC304", "FC903", "# fcompile: waive FC304", "no reason"),
        ("# fcompile: waive FC304:   ", "FC903", "# fcompile: waive FC304:", "no reason"),
        ("# fcompile: waive FC398: x", "FC902", "FC398", "there is no code `FC398`"),
        ("# fcompile: waive fc304: x", "FC902", "fc304", "did you mean `FC304`?"),
        ("# fcompile: waive waiver-unused: x", "FC902", "waiver-unused", "did you mean `FC905`?"),
        ("# fcompile: waive FC1O1: x", "FC902", "FC1O1", "there is no code `FC1O1`"),
        ("# fcompile: waive FC001: x", "FC904", "FC001", "cannot be waived"),
        ("# fcompile: waive FC905: x", "FC904", "FC905", "cannot be waived"),
        ("# fcompile: waive FC111: x", "FC904", "FC111", "cannot be waived"),
    ],
)
def test_a_bad_waiver(comment: str, code: str, at: str, words: str) -> None:
    text = HEAD + f"  {comment}\n  retryPolicy: {{}}\n"
    waivers = Waivers.from_text(text, FILE)
    (problem,) = waivers.problems
    assert problem.rule.code == code
    assert words in problem.message
    assert text[problem.span.start : problem.span.end] == at
    assert problem.source_line[problem.span.column - 1 : problem.span.end_column - 1] == at
    assert waivers.unused() == []


def test_the_good_codes_of_a_waiver_count() -> None:
    text = HEAD + "  # fcompile: waive FC304, FC398, FC305: x\n  retryPolicy: {}\n"
    waivers = Waivers.from_text(text, FILE)
    assert codes(waivers.problems) == ["FC902"]
    assert waivers.apply([problem_at(text, "retryPolicy", "spec.retryPolicy")])[0] == []
    (unused,) = waivers.unused()
    assert text[unused.span.start : unused.span.end] == "FC305"


def test_a_waiver_of_nothing_below_it() -> None:
    waivers = Waivers.from_text("a: b\n# fcompile: waive FC304: x\n", FILE)
    assert "stands at no field" in waivers.problems[0].message


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("a: b # fcompile: waive FC304: x\nc: d\n", "a: b\nc: d\n"),
        ("a: b\n  # fcompile: waive FC304: x  \nc: d\n", "a: b\nc: d\n"),
        ("a: b # keep # fcompile: waive FC304: x\n", "a: b # keep\n"),
        ("# keep # fcompile: waive FC304: x\na: b\n", "# keep\na: b\n"),
        ("- # fcompile: waive FC304: x\n  a: b\n", "-\n  a: b\n"),
    ],
)
def test_an_unused_waiver_can_be_removed(text: str, without: str) -> None:
    (unused,) = Waivers.from_text(text, FILE).unused()
    assert unused.fix is not None
    assert text[: unused.fix.span.start] + unused.fix.text + text[unused.fix.span.end :] == without


def test_one_code_of_two_is_not_removed() -> None:
    unused = Waivers.from_text("a: b # fcompile: waive FC304, FC305: x\n", FILE).unused()
    assert [problem.fix for problem in unused] == [None, None]


@pytest.mark.parametrize(
    "waiver", ["  # fcompile: waive FC304: meant\n  taskRoles: []\n", "  # fcompile: waive FC304 spec.taskRoles: meant\n  taskRoles: []\n"]
)
def test_a_waiver_at_the_wrong_place_says_where_the_problem_is(waiver: str) -> None:
    """It said `fix: remove the waiver` below the problem that it was written for."""
    text = HEAD + "  retryPolicy: {}\n" + waiver
    waivers = Waivers.from_text(text, FILE)
    waivers.apply([problem_at(text, "retryPolicy", "spec.retryPolicy", RULES["FC304"])])
    (unused,) = waivers.unused()
    line = HEAD.count("\n") + 1
    assert unused.message.endswith(f"correct where it applies; there is one at line {line}, of `spec.retryPolicy`")
    assert unused.fix is None
    collected = Waivers()
    collected.extend(pickle.loads(pickle.dumps(waivers)))
    assert collected.unused() == [unused]


def test_an_entry_that_names_another_file_says_where_the_problem_is(tmp_path: Path) -> None:
    path = tmp_path / "waivers.yaml"
    path.write_text("- {code: FC304, path: other.yaml, reason: meant}\n")
    waivers = Waivers.from_file(str(path))
    waivers.apply([problem_at(HEAD, "metadata", "", RULES["FC304"])])
    (unused,) = waivers.unused()
    assert unused.message.endswith(f"; there is one at {FILE}:{HEAD[: HEAD.index('metadata')].count(chr(10)) + 1}")


@pytest.mark.parametrize(("code", "unread"), [("FC001", True), ("FC101", False)])
def test_nothing_is_unused_in_a_file_that_could_not_be_read(code: str, unread: bool) -> None:
    text = "a: b # fcompile: waive FC304: x\n---\n[\n"
    waivers = Waivers.from_text(text, FILE)
    waivers.apply([problem_at(text, "[", "", RULES[code])])
    assert codes(waivers.unused()) == ([] if unread else ["FC905"])


# Several files


def test_waivers_travel() -> None:
    text = HEAD + "  # fcompile: waive FC304: meant\n  retryPolicy: {}\n"
    everything = Waivers()
    everything.extend(pickle.loads(pickle.dumps(Waivers.from_text(text, FILE))))
    everything.extend(Waivers.from_text(text, "idle.yaml"))
    assert everything.apply([problem_at(text, "retryPolicy", "spec.retryPolicy")])[0] == []
    assert [problem.file for problem in everything.unused()] == ["idle.yaml"]


@given(st.text(), st.text())
def test_any_text_is_read(before: str, after: str) -> None:
    text = f"{before}# fcompile:{after}"
    waivers = Waivers.from_text(text, FILE)
    for problem in [*waivers.problems, *waivers.unused()]:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)


@given(st.sampled_from(["", "  ", "a: b "]), st.text(st.sampled_from(list("waive FC304,305:*[]\"' #.x"))))
def test_any_comment_is_understood_or_reported(before: str, body: str) -> None:
    text = f"x: y\n{before}# fcompile: waive {body}\nz: 1\n"
    assert Waivers.from_text(text, FILE), text


# The waivers file


def from_file(folder: Path, text: str) -> Waivers:
    path = folder / ".fcompile-waivers.yaml"
    path.write_text(text, "utf-8")
    return Waivers.from_file(str(path))


def anywhere(folder: Path, file: str = "jobs/job.yaml", field: str = "spec.retryPolicy", framework: str = "default/job") -> Problem:
    return Problem(SAMPLE, SAMPLE.severity, "wrong", str(folder / file), Span(9, 1, 9, 2, 90, 91), "x", field, framework)


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        ("", True),
        ("  path: jobs/job.yaml\n", True),
        ("  path: ./jobs/*.yaml\n", True),
        ("  path: job.yaml\n", True),
        ("  path: jobs\n", True),
        ("  path: /jobs/\n", True),
        ("  path: '**/job.yaml'\n", True),
        ("  path: '*.yml'\n", False),
        ("  path: other/**\n", False),
        ("  framework: default/job\n", True),
        ("  framework: job\n", True),
        ("  framework: default/*\n", True),
        ("  framework: team/job\n", False),
        ("  field: spec.retryPolicy\n", True),
        ("  field: spec.*\n", True),
        ("  field: spec\n", False),
        ("  field: '*.maxRetryCount'\n", False),
        ("  path: jobs\n  framework: job\n  field: '*'\n", True),
        ("  path: jobs\n  framework: other\n", False),
    ],
)
def test_what_an_entry_covers(tmp_path: Path, scope: str, covered: bool) -> None:
    waivers = from_file(tmp_path, f"# ours\n- code: FC304\n{scope}  reason: it was agreed\n")
    assert waivers.problems == []
    kept, waived = waivers.apply([anywhere(tmp_path)])
    assert bool(waived) is covered
    assert bool(kept) is not covered
    assert [(one.reason, one.kind, one.span.line) for one in waived] == [("it was agreed", "file", 2)] * covered
    assert codes(waivers.unused()) == ["FC905"] * (not covered)


def test_a_file_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".fcompile-waivers.yaml").write_text("- {code: FC304, path: jobs/*.yaml, reason: agreed}\n")
    for file in ("jobs/job.yaml", "./jobs/job.yaml", str(tmp_path / "jobs" / "job.yaml")):
        assert Waivers.from_file(".fcompile-waivers.yaml").apply([anywhere(Path(), file)])[0] == []


@pytest.mark.parametrize(
    ("text", "code", "at", "words"),
    [
        ("code: FC304\nreason: x\n", "FC901", "code", "is a list"),
        ("- FC304\n", "FC901", "FC304", "is a mapping"),
        ("- reason: x\n", "FC901", "reason", "names no code"),
        ("- code: FC304\n  reason: x\n  path:\n", "FC901", "path", "`path` is empty"),
        ("- {code: FC304, reason: x, framework: ''}\n", "FC901", "framework", "`framework` is empty"),
        ("- {code: FC304, reason: x, field: ' '}\n", "FC901", "field", "`field` is empty"),
        ("- {code: FC304, reason: x, expires: 2026-01-01}\n", "FC901", "expires", "unknown field `expires`"),
        ("- {code: FC304, reason: x, field: [a]}\n", "FC901", "[a]", "`field` must be a string"),
        ("- {code: FC304}\n", "FC903", "{code", "no reason"),
        ("- {code: FC304, reason: ' '}\n", "FC903", "' '", "no reason"),
        ("- {code: FC304, reason: }\n", "FC903", "", "no reason"),
        ("- {code: FC398, reason: x}\n", "FC902", "FC398", "there is no code"),
        ("- {code: FC003, reason: x}\n", "FC904", "FC003", "cannot be waived"),
        ("- {code: FC304, code: FC305}\n", "FC003", "code: FC305", "already"),
    ],
)
def test_a_bad_waivers_file(tmp_path: Path, text: str, code: str, at: str, words: str) -> None:
    waivers = from_file(tmp_path, text)
    (problem,) = waivers.problems
    assert problem.rule.code == code
    assert words in problem.message
    assert text[problem.span.start :].startswith(at)
    assert problem.source_line in text
    assert waivers.unused() == []


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]\n", "null\n"])
def test_an_empty_waivers_file(tmp_path: Path, text: str) -> None:
    assert not from_file(tmp_path, text)


def test_a_missing_waivers_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        Waivers.from_file(str(tmp_path / "none.yaml"))


@pytest.mark.parametrize("mode", [0o1777, 0o755])
def test_in_a_folder_like_tmp_only_waivers_of_ones_own_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    """There somebody else may have put the file. One that is named is read, whoever wrote it."""
    (tmp_path / ".fcompile-waivers.yaml").write_text("- {code: FC304, reason: x}\n")
    tmp_path.chmod(mode)
    monkeypatch.chdir(tmp_path)
    assert waivers_file()
    another = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: another)
    assert bool(waivers_file()) == (mode == 0o755)
    assert ("another user's" in capsys.readouterr().err) == (mode == 0o1777)
    assert waivers_file(".fcompile-waivers.yaml")


def test_a_run_over_some_files_reports_only_their_waivers(tmp_path: Path) -> None:
    waivers = from_file(tmp_path, "- {code: FC304, path: jobs, reason: x}\n- {code: FC305, path: other, reason: x}\n")
    assert len(waivers.unused()) == 2
    checked = [str(tmp_path / "jobs" / "a.yaml"), str(tmp_path / "b.yaml")]
    assert [problem.span.line for problem in waivers.unused(checked)] == [1]


def test_a_problem_of_two_files_may_need_one_that_is_not_among_them(tmp_path: Path) -> None:
    waivers = from_file(tmp_path, "- {code: FC501, reason: x}\n- {code: FC304, reason: x}\n")
    assert [problem.span.line for problem in waivers.unused()] == [1, 2]
    assert [problem.span.line for problem in waivers.unused([FILE])] == [2]
    rules = (*vars(cross_file).values(), *vars(generated_names).values())
    assert {one.code for one in rules if isinstance(one, Rule)} == collection._BETWEEN_FILES


# Patterns


@pytest.mark.parametrize(
    ("pattern", "field", "expected"),
    [
        ("spec.taskRoles[*].name", "spec.taskRoles[10].name", True),
        ("spec.taskRoles[*].name", "spec.taskRoles[10].names", False),
        ("spec.taskRoles[1].name", "spec.taskRoles1.name", False),
        ('metadata.labels["a.b/c"]', 'metadata.labels["a.b/c"]', True),
        ("spec*", "spec", True),
        ("spec.*", "items[3].spec.x", True),
        ("items[3].spec.x", "items[3].spec.x", True),
        ("*", "", True),
        ("spec.x", "items.spec.x", False),
    ],
)
def test_field_patterns(pattern: str, field: str, expected: bool) -> None:
    assert field_fits(pattern, field) is expected


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("*.yaml", "a/b.yaml", True),
        ("a/*.yaml", "a/b.yaml", True),
        ("a/*.yaml", "a/b/c.yaml", False),
        ("a/**", "a/b/c.yaml", True),
        ("a/**/c.yaml", "a/c.yaml", True),
        ("a/**/c.yaml", "a/x/y/c.yaml", True),
        ("b.yaml", "a/bb.yaml", False),
        ("a.yaml", "a-yaml", False),
        ("?.yaml", "a.yaml", True),
        ("a/", "x/a/b.yaml", True),
        ("[a].yaml", "a.yaml", False),
        ("/a.yaml", "a.yaml", True),
        ("/a.yaml", "x/a.yaml", False),
        ("./a.yaml", "x/a.yaml", False),
        ("/a", "a/b.yaml", True),
        ("/a/", "x/a/b.yaml", False),
    ],
)
def test_path_patterns(glob: str, path: str, expected: bool) -> None:
    assert path_fits(glob, path) is expected


# What a comment is, by an oracle: what is one is in no value

TRICKY = [
    "a: |\n  x\n\n  y\nb: >-\n   folded\n   text\n\nc: |2\n    z\n",
    "a: 'single\n  quoted\n\n  lines'\nb: \"double\n  quoted \\\n  lines\"\n",
    "a: plain\n  of lines\nb: [x, 'y # z',\n  {c: d,\n   e: |-\n}]\n",
    "- |+\n  keep\n\n\n- >\n  x\n- - nested\n  - y\n- ? k\n  : v\n",
    "a: &b {c: d}\ne: *b\nf: !local g\nh: !!str\ni:\n",
    "--- # start\na: b\n...\n# after\n---\nc:\n- d\n",
    "训: 练 # 注\ne\u0301: 🚀\r\nf: |\r\n  g\r\n",
    "a:\n  - b: |\n      # fcompile is only a word here\n\n    c: d#e\n",
]


@given(st.sampled_from(TRICKY), st.integers(0, 20), st.sampled_from(["", "  ", "      ", "\t"]), st.booleans())
def test_a_comment_is_what_no_value_holds(text: str, number: int, indent: str, behind: bool) -> None:
    lines = text.split("\n")
    number = min(number, len(lines) - 1)
    if behind:
        lines[number] = lines[number].removesuffix("\r") + f" # fcompile: waive FC304 *: x{indent}" + "\r" * lines[number].endswith("\r")
    else:
        lines.insert(number, f"{indent}# fcompile: waive FC304 *: x")
    changed = "\n".join(lines)
    try:
        held = "FC304" in str(values(changed.encode()))
    except LoadError:
        return
    assert bool(Waivers.from_text(changed, FILE)) is not held


# Nothing takes long


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n" * 20_000 + "# fcompile: waive FC304 *: x\n",
        "# fcompile: waive FC304: x\n" * 10_000 + "a: b\n",
        "- |\n" + "  # fcompile: waive FC304: x\n" * 20_000,
        "a: b" + " # fcompile: waive FC304: x" * 10_000,
        "a: b # fcompile: waive " + "FC304," * 20_000 + ": x\n",
        "# fcompile: waive FC304" + " #" * 100_000,
        "# fcompile: waive" + " " * 100_000 + "x" + " " * 100_000 + ":y",
        "# fcompile: waive FC304" + " , " * 50_000 + "x y:z",
        "# fcompile: waive FC304 " + '"' * 100_001 + ":z\na: b",
        "a: " + "- " * 100_000 + "# fcompile: waive FC304: x",
        " " * 5_000 + "a: b # fcompile: waive FC304: x\n",
        "---\n# fcompile: waive FC304 *: x\na: b\n" * 5_000,
        "[" * 100_000 + " # fcompile: waive FC304: x\n" + "]" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_no_text_takes_long(text: str) -> None:
    begun = process_time()
    Waivers.from_text(text, FILE).unused()
    assert process_time() - begun < 4


def test_no_pattern_takes_long() -> None:
    begun = process_time()
    assert not fits("*a" * 200 + "b", "a" * 2_000)
    assert not path_fits("**/a/" * 100 + "b", "a/" * 200 + "c")
    assert process_time() - begun < 4


LONG = "*" + "a" * 100 + "b"


@pytest.mark.parametrize("where", ["a comment", "field", "framework", "path"])
def test_many_long_patterns_are_held_against_many_long_texts_soon(tmp_path: Path, where: str) -> None:
    """Each against each: a step of Python for each pair of letters made two minutes of 200 KB."""
    text = "a: b\n"
    if where == "a comment":
        waivers = Waivers.from_text("".join(f"# fcompile: waive FC304 {LONG}{number}: x\n" for number in range(50)) + text, FILE)
    else:
        waivers = from_file(tmp_path, "".join(f"- {{code: FC304, {where}: '{LONG}{number}', reason: x}}\n" for number in range(50)))
    file = FILE if where == "a comment" else f"{'a' * 200}.yaml"
    problems = [problem_at(text, "a", "a" * 400 + str(number), file=file, framework=f"default/{'a' * 400}") for number in range(500)]
    begun = process_time()
    assert waivers.apply(problems) == (problems, [])
    assert process_time() - begun < 4
