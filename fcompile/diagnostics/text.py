"""Problems for people: place and message, the source line with the span underlined, the field, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from fcompile.diagnostics.excerpt import excerpt
from fcompile.diagnostics.problem import Edit, Problem, Related, Severity, field_path
from fcompile.diagnostics.visible import at_line_start, encodable, visible
from fcompile.diagnostics.writer import ColorChoice, Style, Summary, Writer, summary_line

_LONGEST_MESSAGE = 2_000
"""Characters. A message can quote a value, and a value can be as long as a file may be."""
_LONGEST_REPLACEMENT = 80
_COLORS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;36"}
_FRAME = "1;34"
_BOLD = "1"


def use_color(choice: ColorChoice, terminal: bool, environment: Mapping[str, str]) -> bool:
    """Return whether to colour what goes to a stream that is a terminal or not, by `--color` and the customary variables."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0") or environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return terminal and environment.get("TERM") != "dumb" and environment.get("CLICOLOR") != "0"


class TextWriter(Writer):
    """Writes each problem as it comes, and the summary at the end."""

    def __init__(self, stream: TextIO, style: Style) -> None:
        self._stream = stream
        self._style = style
        self._explained: set[str] = set()

    def problem(self, problem: Problem) -> None:
        # The advice of a rule is always the same, so it is shown once.
        explain = problem.rule.code not in self._explained
        self._explained.add(problem.rule.code)
        self._write(render(problem, self._style, explain) + "\n")

    def finish(self, summary: Summary) -> None:
        self._write(summary_line(summary) + "\n")

    def _write(self, text: str) -> None:
        self._stream.write(encodable(text, getattr(self._stream, "encoding", None)))


def render(problem: Problem, style: Style, explain: bool = True) -> str:
    """Return a problem as some lines of text, each ended; `explain` adds the help of its rule."""
    margin = " " * len(str(problem.span.line))
    lines = [_headline(problem, style), *_source(problem, style, margin)]
    for label, text in remarks(problem, explain):
        lines.append(f"{margin} {style.paint('=', _FRAME)} {style.paint(label, _BOLD)}: {one_line(text)}")
    return "".join(f"{line}\n" for line in lines)


def _headline(problem: Problem, style: Style) -> str:
    location = f"{at_line_start(visible(problem.file))}:{problem.span.line}:{problem.span.column}"
    kind = style.paint(f"{problem.severity.value}[{problem.rule.code}]", _COLORS[problem.severity])
    return f"{location}: {kind} {style.paint(one_line(problem.message), _BOLD)}"


def _source(problem: Problem, style: Style, margin: str) -> list[str]:
    shown = excerpt(problem, style.width - len(margin) - 3)
    if shown is None:
        return []
    bar = style.paint("|", _FRAME)
    indent = len(shown.underline) - len(shown.underline.lstrip(" "))
    carets = " " * indent + style.paint(shown.underline[indent:], _COLORS[problem.severity])
    return [f"{margin} {bar}", f"{style.paint(str(problem.span.line), _FRAME)} {bar} {shown.line}", f"{margin} {bar} {carets}"]


def remarks(problem: Problem, explain: bool) -> list[tuple[str, str]]:
    """Return what there is to say of a problem beside its message, each with what it is; `explain` adds the help of its rule."""
    found = []
    if problem.field:
        found.append(("field", problem.field + (f" of Framework {problem.framework}" if problem.framework else "")))
    elif problem.framework:
        found.append(("framework", problem.framework))
    if problem.fix:
        found.append(("fix", fix_text(problem.fix)))
    if explain and problem.rule.help:
        found.append(("help", problem.rule.help))
    found += [("see", related_text(problem, related)) for related in problem.related]
    return found


def fix_text(fix: Edit) -> str:
    """Return what the fix does, with the new text when its title does not say it and it is short."""
    if not fix.text or fix.text in fix.title or "\n" in fix.text or len(fix.text) > _LONGEST_REPLACEMENT:
        return fix.title
    return f"{fix.title}: write `{fix.text}`"


def related_text(problem: Problem, related: Related) -> str:
    """Return another place to look at, and why: `b.yaml:3:9: the first one`."""
    if related.span is None:
        location = field_path(related.path) if related.file is None else related.file
    else:
        location = f"{related.file or problem.file}:{related.span.line}:{related.span.column}"
    return f"{location}: {related.message}" if location else related.message


def one_line(text: str) -> str:
    """Return `text` made visible, and cut when it is very long."""
    return visible(text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "...")
