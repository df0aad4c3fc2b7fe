"""The comparison as a comment on a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.diff import words
from fcompile.diff.compare import ABSENT
from fcompile.diff.effects import Effect
from fcompile.diff.frameworks import Change, FrameworkDiff
from fcompile.diff.live import Live
from fcompile.diff.result import ObjectDiff, Result

MOST = 60_000
"""Characters: a comment on GitHub ends at 65,536."""
_NAME = re.compile(r"[A-Za-z0-9/-]+")
_OPEN = 5
"""Up to so many Frameworks are shown unfolded."""
MARKS = {
    Effect.NOTHING: "⚪",
    Effect.ON_THE_FLY: "🟢",
    Effect.NEXT_RETRY: "🟡",
    Effect.NEW_ATTEMPT: "🟠",
    Effect.REFUSED: "🔴",
}


RED = MARKS[Effect.REFUSED]
"""Also for what ends Pods, whatever its effect."""


def write(result: Result) -> Iterator[str]:
    """The whole comment."""
    yield f"### {f'{RED} ' if result.ends_pods else ''}{words.summary(result)}\n"
    found = words.folded(result)
    fold = len(found) + len(result.objects) > _OPEN
    sections = (
        [_framework(one, others, fold) for one, others in found]
        + [_object(one) for one in result.objects]
        + [_live(one) for one in result.live]
    )
    size = 0
    for place, section in enumerate(sections):
        size += len(section)
        if size > MOST:
            yield f"\n… and {words.counted(len(sections) - place, 'more object')} that would not fit into a comment.\n"
            return
        yield section


def _framework(framework: FrameworkDiff, others: list[FrameworkDiff], fold: bool) -> str:
    mark = RED if framework.ends_pods else {"added": "➕", "removed": "➖"}.get(framework.kind) or MARKS[framework.effect]
    body = "".join(_body(framework)) + (f"\n{words.sentence(words.same(others, name))}\n" if others else "")
    if fold:
        shown = html.escape(visible(words.name(framework)))
        shown = shown if _NAME.fullmatch(shown) else f"<code>{shown}</code>"
        return f"\n<details><summary>{mark} <b>{shown}</b>: {words.headline(framework)}</summary>\n{body}\n</details>\n"
    return f"\n#### {mark} <b>{name(words.name(framework))}</b>: {words.headline(framework)}\n{body}"


def _body(framework: FrameworkDiff) -> Iterator[str]:
    yield f"\n{code(words.place(framework))}\n"
    if framework.kind != "changed":
        yield f"\nTasks: {', '.join(words.size(role, name) for role in framework.roles) or 'none'}\n"
    for group in words.groups(framework):
        mark = RED if group.ends_pods else MARKS[group.effect]
        yield f"\n{mark} **{words.sentence(group.title)}**: {_plain(group.reason)}.\n"
        for part in group.parts:
            yield from _changes(part.changes)
            if part.pods:
                yield f"\n{words.pods(part, code)}.\n"
    yield from _resources(framework)


def _changes(changes: list[Any]) -> Iterator[str]:
    short = [change for change in changes if not _is_long(change)]
    if short:
        yield "\n| field | before | after |\n| --- | --- | --- |\n"
        for change in short:
            before, after = map(_cell, (change.before, change.after), words.arrow(change))
            note = f"<br>{_plain(change.note)}" if getattr(change, "note", "") else ""
            yield f"| {code(_label(change), table=True)}{note} | {before} | {after} |\n"
    for change in changes:
        if _is_long(change):
            lines = "\n".join(at_line_start(f"{sign}{line}") for sign, line in words.lines(change.before, change.after))
            fence = _fence(lines, 3)
            yield f"\n{code(_label(change))}\n{fence}diff\n{lines}\n{fence}\n"


def _is_long(change: Any) -> bool:
    return words.is_text(change.before) or words.is_text(change.after)


def _label(change: Any) -> str:
    return words.label(change) if isinstance(change, Change) else visible(change.field)


def _cell(side: Any, text: str) -> str:
    return f"*{text}*" if side is ABSENT else code(text, table=True)


def _resources(framework: FrameworkDiff) -> Iterator[str]:
    rows = words.resources(framework)
    if rows and framework.kind == "changed":
        yield "\n| asks for | before | after | |\n| --- | ---: | ---: | ---: |\n"
        yield from (f"| {code(row.name, table=True)} | {row.before} | {row.after} | {row.change} |\n" for row in rows)
    elif rows:
        yield f"\nAsks for: {', '.join(f'{row.after if framework.after else row.before} {code(row.name)}' for row in rows)}\n"


def _object(thing: ObjectDiff) -> str:
    name = "/".join(filter(None, (thing.namespace, thing.name)))
    mark = f"{RED} " if thing.ends_pods else ""
    return f"\n#### {mark}{code(visible(f'{thing.kind} {name}'))} {words.change_of(thing)}\n" + "".join(_changes(list(thing.differences)))


def _live(live: Live) -> str:
    text = f"\n#### <b>{name(words.name(live))}</b> in the cluster: {code(visible(live.state))}, attempt {live.attempt}\n"
    for pods in live.pods:
        text += f"\n{words.stands(pods, name)}: {code(pods.names)}\n" + "".join(_changes(list(pods.differences)))
    for service, found in live.services:
        text += f"\nService {code(service)} differs from what is expected (cluster → expected)\n" + "".join(_changes(list(found)))
    return text


def code(text: str, table: bool = False) -> str:
    """A code span of any text: nothing in it is formatting, a link or a mention."""
    text = visible(text)
    text = text.replace("|", "\\|") if table else text
    fence = _fence(text, 1)
    return f"{fence} {text} {fence}" if len(fence) > 1 or not text.strip() or text[:1] == " " else f"{fence}{text}{fence}"


def _fence(text: str, least: int) -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def name(text: str) -> str:
    """Return a name as it is, or as code if it is more than names can be: whoever writes a file can waive that."""
    return text if _NAME.fullmatch(text) else code(text)


def _plain(text: str) -> str:
    """Our own words, some of which are fields."""
    return text.replace("<", "&lt;")
