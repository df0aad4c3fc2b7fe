"""The comparison for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.visible import at_line_start, visible, width
from fcompile.diagnostics.writer import Style
from fcompile.diff import words
from fcompile.diff.compare import ABSENT
from fcompile.diff.effects import Effect
from fcompile.diff.frameworks import FrameworkDiff
from fcompile.diff.live import Live
from fcompile.diff.lookalikes import readable
from fcompile.diff.result import ObjectDiff, Result

_COLORS = {
    Effect.NOTHING: "2",
    Effect.ON_THE_FLY: "1;32",
    Effect.NEXT_RETRY: "1;33",
    Effect.NEW_ATTEMPT: "1;35",
    Effect.REFUSED: "1;31",
}
_RED = _COLORS[Effect.REFUSED]
_BOLD, _DIM, _OLD, _NEW = "1", "2", "31", "32"


class Painter:
    """Writes a result, in colour or not."""

    def __init__(self, style: Style) -> None:
        self._paint, self._columns = style.paint, style.width

    def write(self, result: Result) -> Iterator[str]:
        """Yield the whole text in pieces."""
        for framework, others in words.folded(result):
            yield from (f"{line}\n" for line in self._framework(framework))
            if others:
                yield f"  {self._paint(words.same(others), _BOLD)}\n"
            yield "\n"
        for lines in (*map(self._object, result.objects), *map(self._live, result.live)):
            yield from (f"{line}\n" for line in lines)
            yield "\n"
        yield self._paint(words.summary(result), _RED if result.ends_pods else "") + "\n"

    def _framework(self, framework: FrameworkDiff) -> Iterator[str]:
        name = at_line_start(visible(words.name(framework)))
        color = _RED if framework.ends_pods else _COLORS[framework.effect]
        yield f"{self._paint(name, _BOLD)}  {self._paint(words.headline(framework), color)}  {self._paint(words.location(framework), _DIM)}"
        if framework.kind != "changed":
            yield f"  tasks: {', '.join(map(words.size, framework.roles)) or 'none'}"
        for group in words.groups(framework):
            color = _RED if group.ends_pods else _COLORS[group.effect]
            if framework.kind == "changed":
                yield f"  {self._paint(group.title, color)}{self._paint(': ' + group.reason, _DIM)}"
            for part in group.parts:
                for change in part.changes:
                    yield from self._change(words.label(change), change)
                    if change.note:
                        yield self._paint(f"      {visible(change.note)}", _DIM)
                if part.pods:
                    yield f"    {words.pods(part)}"
        yield from self._resources(framework)

    def _object(self, thing: ObjectDiff) -> Iterator[str]:
        head = self._paint(at_line_start(visible(thing.title)), _BOLD)
        change = self._paint(words.change_of(thing), _RED if thing.ends_pods else "")
        yield f"{head}  {change}  {self._paint(visible(thing.after or thing.before), _DIM)}"
        for difference in thing.differences:
            yield from self._change(readable(difference.field), difference)

    def _live(self, live: Live) -> Iterator[str]:
        name = self._paint(at_line_start(visible(words.name(live))), _BOLD)
        yield f"{name}  in the cluster: {visible(live.state)}, attempt {live.attempt}"
        for pods in live.pods:
            yield f"  {at_line_start(words.stands(pods))}: {visible(pods.names)}"
            for difference in pods.differences:
                yield from self._change(readable(difference.field), difference)
        for name, found in live.services:
            yield f"  Service {visible(name)} differs from what is expected (cluster → expected)"
            for difference in found:
                yield from self._change(readable(difference.field), difference)

    def _change(self, label: str, change: Any) -> Iterator[str]:
        label = at_line_start(label)
        if words.is_text(change.before) or words.is_text(change.after):
            yield f"    {label}:{' added' if change.before is ABSENT else ' removed' if change.after is ABSENT else ''}"
            for sign, line in words.lines(change.before, change.after):
                yield self._paint(f"      {at_line_start(f'{sign} {line}')}", {"-": _OLD, "+": _NEW}.get(sign, _DIM))
            return
        before, after = words.arrow(change)
        old, new = (
            self._paint(before, _DIM if change.before is ABSENT else _OLD),
            self._paint(after, _DIM if change.after is ABSENT else _NEW),
        )
        if width(f"    {label}: {before} → {after}") <= self._columns:
            yield f"    {label}: {old} → {new}"
        else:
            old = self._paint(at_line_start(before), _DIM if change.before is ABSENT else _OLD)
            yield from (f"    {label}:", f"        {old}", f"      → {new}")

    def _resources(self, framework: FrameworkDiff) -> Iterator[str]:
        rows = words.resources(framework)
        if not rows:
            return
        yield "  asks for"
        name, before, after = (max(len(row[column]) for row in rows) for column in (0, 1, 2))
        for row in rows:
            if framework.kind == "changed":
                text = f"{row.before:>{before}} → {row.after:>{after}}  {self._paint(row.change, _BOLD)}".rstrip()
            else:
                text = f"{row.after:>{after}}" if framework.kind == "added" else f"{row.before:>{before}}"
            yield f"    {row.name:<{name}}  {text}"
