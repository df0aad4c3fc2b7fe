"""What must hold for every input whatsoever, from its bytes to what is printed. Used by the property tests and by `tools/fuzz.py`."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

from fcompile import cli
from fcompile.check.document import Checked, Options
from fcompile.check.objects import frameworks_in, objects_in
from fcompile.default import default
from fcompile.diagnostics.problem import Problem, Severity, Span
from fcompile.emit.order import ordered
from fcompile.load import Document, read, values
from fcompile.load.decoding import decode
from fcompile.load.files import FileEntry
from fcompile.pipeline.compiled import compile_framework
from fcompile.pipeline.inputs import check_entry
from fcompile.pipeline.selection import EXPECTED, Selection

PATIENCE = 20
"""Seconds that one run may take: far more than it needs, and far less than for ever."""
MOST_TASKS = 60
"""Expected Pods are compared up to this many."""


class Ran(NamedTuple):
    """What a run of the command line left."""

    code: int
    out: bytes
    err: str


def run(arguments: list[str], stdin: bytes = b"") -> Ran:
    """Run `fcompile` in this process, as if `stdin` were piped in."""
    streams = [
        io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors=errors)
        for data, errors in ((stdin, "strict"), (b"", "strict"), (b"", "backslashreplace"))
    ]
    with mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]):
        code = cli.main(arguments)
    written = []
    for stream in streams[1:]:
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        written.append(buffer.getvalue())
    return Ran(code, written[0], written[1].decode())


@contextlib.contextmanager
def no_hang(seconds: int = PATIENCE) -> Iterator[None]:
    """Fail what takes longer."""

    def too_long(*_: object) -> None:
        raise AssertionError(f"took longer than {seconds} s")

    # Seconds of work, not of the clock: a busy machine is no fault.
    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def hold(data: bytes, minor: int = 36) -> None:
    """Everything, for one input."""
    with no_hang():
        checked = check_entry(FileEntry("<stdin>", "-"), Options(minor, "default"), data)
        places_are_right(checked, data)
        version = f"--kubernetes-version=1.{minor}"
        validated = reports(data, version)
        built(data, version, checked, validated.code)


def reports(data: bytes, version: str) -> Ran:
    """Every format prints its report, and all agree on the exit code."""
    validated = run(["validate", version, "--format=json", "-"], data)
    assert validated.code in (0, 1), validated.err
    problems = json.loads(validated.out)["problems"]
    assert problems or validated.code == 0
    for format in ("text", "sarif", "junit", "github"):
        other = run(["validate", version, f"--format={format}", "-"], data)
        assert other.code == validated.code, (format, other.err)
    return validated


def places_are_right(checked: Checked, data: bytes) -> None:
    """Each problem and whatever it points at lies in the text, where its line and column say."""
    text = decode(data, "<stdin>").source.text
    for problem in checked.problems:
        assert problem.message.strip()
        assert not problem.message.endswith(".")
        assert problem.file == "<stdin>"
        for span in (problem.span, *_other_spans(problem)):
            _lies_in(span, text)
        lines = _lines(text)
        assert problem.source_line == lines[problem.span.line - 1]


def _other_spans(problem: Problem) -> Iterator[Span]:
    if problem.fix is not None:
        yield problem.fix.span
    for related in problem.related:
        if related.span is not None and related.file in (None, problem.file):
            yield related.span


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _lies_in(span: Span, text: str) -> None:
    assert 0 <= span.start <= span.end <= len(text), span
    for offset, line, column in ((span.start, span.line, span.column), (span.end, span.end_line, span.end_column)):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue
        before = _lines(text[:offset])
        assert (line, column) == (len(before), len(before[-1]) + 1), span


def built(data: bytes, version: str, checked: Checked, validated: int) -> None:
    """`build` prints nothing, or what reads back as exactly what was compiled."""
    done = run(["build", version, "-"], data)
    assert done.code in (0, 1, 2), done.err
    if done.code != 0:
        assert done.out == b""
        assert done.err
        documents = list(read(data, "<stdin>"))
        refused = any(isinstance(item, Problem) and item.rule.severity is Severity.ERROR for item in documents)
        assert validated == 1 or refused or not checked.frameworks or "no waiver helps" in done.err
        return
    assert validated == 0
    waives = b"fcompile: waive" in data
    assert waives or not any(problem.severity is Severity.ERROR for problem in checked.problems)
    wanted, pods, tasks = _compiled(data)
    assert strict(values(done.out)) == strict(wanted)
    if not waives:  # a comment that waives an error is not in the output
        again = run(["build", version, "-"], done.out)
        assert again.code == 0, again.err
        assert again.out == done.out
    as_json = run(["build", version, "-o=json", "-"], data)
    assert strict(_unlisted(as_json.out)) == strict(wanted)
    if tasks <= MOST_TASKS:
        emitted = run(["build", version, "--emit=expected", "-"], data)
        assert emitted.code == 0, emitted.err
        assert strict(values(emitted.out)) == strict(pods)
        in_json = run(["build", version, "--emit=expected", "-o=json", "-"], data)
        assert strict(_unlisted(in_json.out)) == strict(pods)
    named = run(["build", version, "-o=name", "-"], data)
    assert named.code == 0
    assert named.out.decode().count("\n") == len(wanted)


def _unlisted(out: bytes) -> list[Any]:
    [value] = values(out)
    return (
        value["items"]
        if value["kind"] == "List" and value["apiVersion"] == "v1" and set(value) == {"apiVersion", "kind", "items"}
        else [value]
    )


def _compiled(data: bytes) -> tuple[list[Any], list[Any], int]:
    """The values that `build` is to print, the expected ones when they are few, and how many Pods they are."""
    wanted: list[Any] = []
    expected: list[Any] = []
    tasks = 0
    for document in read(data, "<stdin>"):
        if not isinstance(document, Document):
            continue
        frameworks = {path for path, _ in frameworks_in(document.value)}
        for path, value in objects_in(document.value):
            if path not in frameworks:
                if is_object(value):
                    wanted.append(value)
                continue
            once = default(value).framework
            assert strict(default(once).framework) == strict(once)
            compiled = compile_framework(value, "default")
            wanted.append(ordered(compiled.framework))
            tasks += sum(role.task_number for role in compiled.intent.roles)
            if tasks <= MOST_TASKS:
                expected += Selection(EXPECTED).objects(compiled)
    return wanted, expected, tasks


def is_object(value: Any) -> bool:
    """Whether `build` passes a value on."""
    version, kind = (value.get(key) for key in ("apiVersion", "kind")) if isinstance(value, dict) else (None, None)
    named = isinstance(version, str) and isinstance(kind, str) and bool(version and kind)
    return named and not str(version).startswith("kustomize.config.k8s.io/")


def strict(value: Any) -> Any:
    """`value` so that `==` tells 1, 1.0 and true apart; whole numbers in decimal notation are the integers that JSON makes of them."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list):
        return [strict(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return type(value).__name__, repr(value)
