"""Problems as a JUnit report, as Jenkins and GitLab read it: a suite for each file, a test case for each Framework."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO
from xml.sax.saxutils import escape, quoteattr

from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.text import one_line, render
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Style, Summary, Waived


class _Case(NamedTuple):
    """One test case: a Framework, or the file itself for what belongs to no Framework."""

    failures: list[Problem]
    remarks: list[str]
    """What is no failure: warnings, notes and what was waived."""


class JunitWriter:
    """Collects, and writes all at the end. A case fails by its errors; warnings and notes are its output."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream
        self._suites: dict[str, dict[str, _Case]] = {}

    def problem(self, problem: Problem) -> None:
        case = self._case(problem.file, problem.framework)
        if problem.severity is Severity.ERROR:
            case.failures.append(problem)
        else:
            case.remarks.append(render(problem, Style()))

    def waived(self, waived: Waived) -> None:
        problem = waived.problem
        remark = f"waived ({waived.reason}): {render(problem, Style(), explain=False)}"
        self._case(problem.file, problem.framework).remarks.append(remark)

    def file(self, name: str, frameworks: Sequence[str]) -> None:
        for framework in frameworks or [""]:
            self._case(name, framework)

    def finish(self, summary: Summary) -> None:
        cases = [case for suite in self._suites.values() for case in suite.values()]
        failed = sum(bool(case.failures) for case in cases)
        self._stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        self._stream.write(f'<testsuites name="fcompile" tests="{len(cases)}" failures="{failed}" errors="0">\n')
        for file, suite in self._suites.items():
            self._stream.write("".join(_suite(file, suite)))
        self._stream.write("</testsuites>\n")

    def _case(self, file: str, framework: str) -> _Case:
        return self._suites.setdefault(file, {}).setdefault(framework, _Case([], []))


def _suite(file: str, suite: dict[str, _Case]) -> Iterator[str]:
    failed = sum(bool(case.failures) for case in suite.values())
    yield f'  <testsuite name={_attribute(file)} tests="{len(suite)}" failures="{failed}" errors="0" skipped="0">\n'
    for framework, case in suite.items():
        yield f"    <testcase classname={_attribute(file)} name={_attribute(framework or file)}"
        body = "".join(_body(case))
        yield f">\n{body}    </testcase>\n" if body else "/>\n"
    yield "  </testsuite>\n"


def _body(case: _Case) -> Iterator[str]:
    if case.failures:
        # Readers take the first failure of a case and drop the others, so all errors go into one.
        first, *others = case.failures
        message = f"{first.rule.code} {first.message}" + (f" (and {len(others)} more)" if others else "")
        yield f'      <failure type="{first.rule.code}" message={_attribute(message)}>'
        yield _content("\n".join(render(problem, Style()) for problem in case.failures))
        yield "</failure>\n"
    if case.remarks:
        remarks = _content("\n".join(case.remarks))
        yield f"      <system-out>{remarks}</system-out>\n"


def _attribute(text: str) -> str:
    return _ascii(quoteattr(one_line(text)))


def _content(text: str) -> str:
    """Lines of text as XML content; what XML cannot hold was made visible when they were rendered, or is now."""
    return _ascii(escape("\n".join(visible(line) for line in text.split("\n"))))


def _ascii(xml: str) -> str:
    """The same XML in ASCII, so that any encoding of the stream can carry it."""
    return xml.encode("ascii", "xmlcharrefreplace").decode("ascii")
