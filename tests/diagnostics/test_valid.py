"""Whatever is in a problem, each format's output is what the format's own schema or grammar allows."""

from __future__ import annotations

import io
import json
import re
from itertools import cycle
from typing import TextIO

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from fcompile.diagnostics import FORMATS, open_writer
from fcompile.diagnostics.problem import Edit, Problem, Related, Rule, Severity, Span
from fcompile.diagnostics.writer import Style, Waived
from tests.diagnostics import schemas
from tests.diagnostics.told import tell

# Surrogates too: file names hold them where the bytes are no UTF-8.
anything = st.one_of(
    st.text(),
    st.text(st.characters(categories=["Cc", "Cf", "Cs", "Cn", "Zl", "Zp", "Mn", "Lo"])),
    st.sampled_from(
        [
            "\x1b[2J",
            "a\r\n::error::x",
            "]]>",
            "<&\"'>",
            "%0A",
            "a:b,c",
            "[x](y)",
            "{0}",
            "\u202e",
            "\udcff",
            "\ufffe",
            "/abs",
            "./x",
            "\x00",
        ]
    ),
)
numbers = st.integers(1, 60)


@st.composite
def spans(draw: st.DrawFn) -> Span:
    line, column, more, start, length = draw(numbers), draw(numbers), draw(st.integers(0, 2)), draw(numbers), draw(numbers)
    return Span(line, column, line + more, draw(st.integers(column, 90)) if not more else draw(numbers), start, start + length)


AnyReport = tuple[list[Problem], list[Waived], list[tuple[str, list[str]]]]


@st.composite
def reports(draw: st.DrawFn) -> AnyReport:
    """Some problems and files whose every text and span comes from a few drawn ones."""
    texts = cycle(draw(st.lists(anything, min_size=1, max_size=5)))
    places = cycle(draw(st.lists(spans(), min_size=1, max_size=3)))

    def problem(number: int) -> Problem:
        severity = list(Severity)[number % 3]
        rule = Rule(f"FC{number:03}", f"rule-{number}", severity, next(texts), next(texts), next(texts))
        fix = Edit(next(texts), next(places), next(texts)) if number & 1 else None
        related = (
            Related(next(texts), (next(texts),), file=next(texts), span=next(places)),
            Related(next(texts), (0,)),
            Related("", file=next(texts)),
        )
        near = related if number & 2 else ()
        span, line, field = next(places), next(texts), next(texts)
        return Problem(rule, severity, next(texts), next(texts), span, line, field, next(texts), fix, near)

    numbers = draw(st.lists(st.integers(0, 11), max_size=4))
    waived = [
        Waived(problem(number), next(texts), "file" if number & 1 else "comment", next(texts), next(places)) for number in numbers[2:]
    ]
    checked = [(next(texts), [next(texts)] * (number % 3)) for number in numbers[:2]]
    return [problem(number) for number in numbers[:3]], waived, checked


def printed(name: str, report: AnyReport, style: Style | None = None) -> str:
    stream = io.StringIO()
    write(name, report, stream, style)
    output = stream.getvalue()
    output.encode("utf-8")  # nothing that UTF-8 cannot hold
    return output


def write(name: str, report: AnyReport, stream: TextIO, style: Style | None = None) -> None:
    problems, waived, checked = report
    tell(open_writer(name, stream, style), problems, waived, checked)


@given(reports())
def test_sarif(report: AnyReport) -> None:
    log = json.loads(printed("sarif", report))
    schemas.sarif().validate(log)
    run = log["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for message in [result["message"], *(near["message"] for near in result.get("relatedLocations", []))]:
            assert re.fullmatch(r"(?:[^{}]|\{\{|\}\})*", message["text"]), "a brace that stands alone begins a placeholder"
    for uri in set(re.findall(r'"uri": ("[^"]*")', json.dumps(log))):
        assert re.fullmatch(r'"(file:///)?[A-Za-z0-9._~/%-]*"', uri)
        assert not uri.startswith('"//')


@given(reports())
def test_json(report: AnyReport) -> None:
    document = json.loads(printed("json", report))
    schemas.own_json().validate(document)
    assert len(document["problems"]) == len(report[0])
    assert len(document["waived"]) == len(report[1])


@given(reports())
def test_junit(report: AnyReport) -> None:
    output = printed("junit", report)
    tree = etree.fromstring(output.encode())
    schemas.junit().assertValid(tree)
    cases = tree.findall(".//testcase")
    assert tree.get("tests") == str(len(cases))
    assert tree.get("failures") == str(sum(case.find("failure") is not None for case in cases))
    failing = {(problem.file, problem.framework) for problem in report[0] if problem.severity is Severity.ERROR}
    assert tree.get("failures") == str(len(failing))


@given(reports())
def test_github(report: AnyReport) -> None:
    lines = printed("github", report).split("\n")
    assert len(lines) == len(report[0]) + 1
    for line, problem in zip(lines, report[0], strict=False):
        parsed = re.fullmatch(r"::(error|warning|notice) ([^\r\n]*?)::([^\r\n]*)", line)
        assert parsed
        properties = dict(pair.split("=", 1) for pair in parsed[2].split(","))
        assert properties["line"] == str(problem.span.line)
        assert ("col" in properties) == (problem.span.line == problem.span.end_line)
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", line)


def test_github_escapes_what_separates() -> None:
    rule = Rule("FC999", "rule", Severity.NOTE, "")
    problem = Problem(rule, rule.severity, "50%, a::b", "./a,b:c%d=e.yaml", Span(1, 2, 1, 2, 1, 1), "", "", "")
    assert printed("github", ([problem], [], [])) == (
        "::notice file=a%2Cb%3Ac%25d=e.yaml,line=1,endLine=1,col=2,endColumn=2,title=FC999 rule::50%25, a::b\n"
    )


@given(reports(), st.sampled_from(["text", "github", "junit"]))
def test_no_control_characters(report: AnyReport, name: str) -> None:
    output = printed(name, report)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", output)


@given(reports())
def test_colored_text_has_no_escapes_but_ours(report: AnyReport) -> None:
    output = printed("text", report, Style(color=True, width=40))
    plain = re.sub(r"\x1b\[(?:0|1|1;3[1346])m", "", output)
    assert "\x1b" not in plain
    assert plain == printed("text", report, Style(color=False, width=40))


@given(reports(), st.sampled_from(list(FORMATS)), st.sampled_from(["ascii", "latin-1", "cp1252", "gb2312"]))
def test_any_stream_encoding(report: AnyReport, name: str, encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    write(name, report, stream)
    stream.flush()
