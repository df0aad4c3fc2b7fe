"""Waivers in comments: `# fcompile: waive FC307: why`, at a field or with a field pattern.

A comment at the end of a line is about the field on that line; a comment on a line of its own is about the field on the next
line. With a pattern it is about every such field of its document, wherever the comment stands.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

from fcompile.diagnostics.problem import Problem, Rule, Span
from fcompile.load import Source
from fcompile.model.steps import partition
from fcompile.waivers.matching import field_fits
from fcompile.waivers.rules import CODE, MALFORMED, NO_REASON, code_problem, waiver_problem
from fcompile.waivers.waiver import MAX_CODES, MAX_IN_DOCUMENT, MAX_IN_FILE, Waiver, WaiversRead
from fcompile.waivers.yaml_comments import Comment, comments, line_of

_HEAD = re.compile(r"\s*(?P<verb>[^\s:]*)\s*(?P<rest>.*)")
_TARGETS = re.compile(r"(?P<codes>[^\s,]++(?:\s*+,\s*+[^\s,]*+)*+)(?:\s++(?P<pattern>.+))?")
_HOW = "write `# fcompile: waive CODE: reason`"
_FEWER = "write one with a field pattern, or an entry of .fcompile-waivers.yaml"


class CommentScope(NamedTuple):
    """What a comment covers: the fields at its line, or those of its document that fit a pattern."""

    file: str
    document: range
    line: int
    """The line it is about; 0 with a pattern."""
    fields: frozenset[str]
    """The fields that begin on that line."""
    pattern: str | None

    def covers(self, problem: Problem) -> bool:
        if problem.file != self.file or problem.span.line not in self.document:
            return False
        if self.pattern is not None:
            return field_fits(self.pattern, problem.field)
        return problem.span.line == self.line or problem.field in self.fields

    def covers_file(self, file: str) -> bool:
        return file == self.file


def read_comments(text: str, file: str) -> WaiversRead:
    """Return the waivers in the comments of a YAML text (without byte order mark), and the problems with them. Never raises."""
    read = WaiversRead([], [])
    if text.lstrip().startswith("{"):
        return read  # JSON has no comments
    source = Source(file, text)
    counts: Counter[int] = Counter()
    for comment in comments(source):
        counts[comment.document.start] += 1
        reader = _Reader(read, source, comment)
        if counts[comment.document.start] == MAX_IN_DOCUMENT + 1:
            reader.refuse(f"{MAX_IN_DOCUMENT} waivers stand in this document before this one, and no more are read: {_FEWER}")
        elif counts.total() > MAX_IN_FILE:
            reader.refuse(f"{MAX_IN_FILE:,} waivers stand in this file before this one, and no more are read: {_FEWER}")
            break
        elif counts[comment.document.start] <= MAX_IN_DOCUMENT:
            reader.read()
    return read


class _Reader:
    """Takes one comment apart."""

    def __init__(self, result: WaiversRead, source: Source, comment: Comment) -> None:
        self._found = result
        self._source = source
        self._comment = comment
        self._end = comment.start + len(comment.body.rstrip())

    def read(self) -> None:
        head = _HEAD.fullmatch(self._comment.body)
        assert head is not None  # every part of it can be empty
        if head["verb"] != "waive":
            self.refuse(f"`{head['verb']}` is not an instruction: {_HOW}" if head["verb"] else f"the instruction is missing: {_HOW}")
            return
        written, _, reason = partition(head["rest"], ":")
        targets = _TARGETS.fullmatch(written.rstrip())
        if targets is None:
            self.refuse(f"no code to waive: {_HOW}")
        elif not reason.strip():
            self._report(NO_REASON, "the waiver gives no reason: write why after `: `", self._comment.hash, self._end)
        else:
            self._read_targets(targets["codes"], self._comment.start + head.start("rest"), targets["pattern"], reason.strip())

    def _read_targets(self, written: str, offset: int, pattern: str | None, reason: str) -> None:
        scope = self._scope(pattern)
        if scope is None:
            return
        by_code = {code[0]: code for code in islice(re.finditer(r"[^\s,]+", written), MAX_CODES + 1)}
        if len(by_code) > MAX_CODES:
            self.refuse(f"it names more than {MAX_CODES} codes: write several waivers, with a reason for each")
            return
        codes = list(by_code.values())
        removal = self._whole() if len(codes) == 1 else None
        for code in codes:
            span = self._source.span(offset + code.start(), offset + code.end())
            problem = code_problem(code[0])
            if problem is not None:
                self._report(*problem, span.start, span.end)
            else:
                line = self._source.line(span.line)
                self._found.waivers.append(
                    Waiver(code[0], reason, "comment", self._source.name, span, line, scope, removal, scope.document.start)
                )

    def _scope(self, pattern: str | None) -> CommentScope | None:
        """Return what the comment covers, or None when it was wrong and reported."""
        comment, file = self._comment, self._source.name
        if pattern is None:
            if comment.line is not None:
                return CommentScope(file, comment.document, comment.line, comment.fields, None)
            self.refuse("the waiver stands at no field: put it above the field or on its line, or name the field after the code")
        elif CODE.match(pattern):
            self.refuse("the codes need commas between them: write `# fcompile: waive FC123, FC456: reason`")
        elif re.search(r"\s", re.sub(r'"[^"]*"', "", pattern)):
            self.refuse(f"`{pattern}` is not a field: write the reason after `: `")
        else:
            return CommentScope(file, comment.document, 0, frozenset(), pattern)
        return None

    def refuse(self, message: str) -> None:
        """Report the whole comment as malformed."""
        self._report(MALFORMED, message, self._comment.hash, self._end)

    def _report(self, rule: Rule, message: str, start: int, end: int) -> None:
        span = self._source.span(start, end)
        self._found.problems.append(waiver_problem(rule, message, self._source.name, span, self._source.line(span.line)))

    def _whole(self) -> Span:
        """Return the span of the comment with the white space before it, or of its whole line when nothing else is on it."""
        line = line_of(self._source, self._comment.hash)
        first = self._source.line_start(line)
        start = self._comment.hash
        while start > first and self._source.text[start - 1] in " \t":
            start -= 1
        if start > first or self._end < first + len(self._source.line(line).rstrip()):
            return self._source.span(start, self._end)
        return self._source.span(start, self._source.line_start(line + 1))
