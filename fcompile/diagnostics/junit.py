"""Problems as a JUnit report, as Jenkins and GitLab read it: a suite for each file, a test case for each Framework."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TextIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fcompile.diagnostics.problem import Problem, Severity
from fcompile.diagnostics.text import one_line, render
from fcompile.diagnostics.visible import visible
from fcompile.diagnostics.writer import Style, Summary, Waived, Writer


class _Case(NamedTuple):
    """One test case: a Framework, or the file itself for what belongs to no Framework."""

    failures: list[Problem]
    remarks: list[str]
    """What is no failure: warnings, notes and what was waived."""


class JunitWriter(Writer):
    """Collects everything, and writes at the end. Errors are the failure of a case; warnings and notes are its output."""

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
        report = Element("testsuites", name="fcompile", tests=str(len(cases)), failures=_failed(cases), errors="0")
        for file, suite in self._suites.items():
            _add_suite(report, file, suite)
        indent(report)
        # In ASCII, so that any encoding of the stream can carry it.
        xml = tostring(report, "us-ascii").decode("ascii")
        self._stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{xml}\n')

    def _case(self, file: str, framework: str) -> _Case:
        return self._suites.setdefault(file, {}).setdefault(framework, _Case([], []))


def _failed(cases: Collection[_Case]) -> str:
    return str(sum(bool(case.failures) for case in cases))


def _add_suite(report: Element, file: str, suite: dict[str, _Case]) -> None:
    name, failed = one_line(file), _failed(suite.values())
    element = SubElement(report, "testsuite", name=name, tests=str(len(suite)), failures=failed, errors="0", skipped="0")
    for framework, case in suite.items():
        _add_results(SubElement(element, "testcase", classname=name, name=one_line(framework or file)), case)


def _add_results(element: Element, case: _Case) -> None:
    if case.failures:
        # Readers take only the first failure of a case, so all its errors are in one.
        first, *others = case.failures
        message = f"{first.rule.code} {first.message}" + (f" (and {len(others)} more)" if others else "")
        failure = SubElement(element, "failure", type=first.rule.code, message=one_line(message))
        failure.text = _content(render(problem, Style()) for problem in case.failures)
    if case.remarks:
        SubElement(element, "system-out").text = _content(case.remarks)


def _content(texts: Iterable[str]) -> str:
    """Return lines of text as XML content, with characters that XML cannot hold written as escapes."""
    return "\n".join(visible(line) for text in texts for line in text.split("\n"))
