"""The comparison as a comment on a pull request: the template `comment.md.jinja`, and what makes any text safe in it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from fcompile.diagnostics.visible import at_line_start, visible
from fcompile.diagnostics.writer import counted
from fcompile.diff import templates, words
from fcompile.diff.compare import ABSENT
from fcompile.diff.effects import Effect
from fcompile.diff.frameworks import Change, FrameworkDiff
from fcompile.diff.lookalikes import readable
from fcompile.diff.quoted import PLAIN, code, fence, name
from fcompile.diff.result import ObjectDiff, Result

if TYPE_CHECKING:
    from jinja2 import Environment

MOST = 60_000
"""Characters: a comment on GitHub ends at 65,536."""
MOST_NAMED = 4_000
"""More for the names of what does not fit."""
_TRIED = 100
"""After so many that do not fit, no other is tried: each takes time."""
_WIDE = 60
"""Characters of both values together. A table of them would have to be scrolled on a phone, where the new value is not seen at first."""
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
_SIGNS = {"added": "➕", "removed": "➖"}


def write(result: Result) -> Iterator[str]:
    """Yield the comment in pieces."""
    yield f"### {f'{RED} ' if result.ends_pods else ''}{words.summary(result)}\n"
    budget = _Budget()
    section: Any = environment(budget.spend).get_template("comment.md.jinja").module
    found = words.folded(result)
    fold = len(found) + len(result.objects) > _OPEN
    sections: list[tuple[Any, Callable[[], str]]] = [
        *((one, partial(section.framework, one, others, fold)) for one, others in found),
        *((one, partial(section.object, one)) for one in result.objects),
        *((one, partial(section.live, one)) for one in result.live),
    ]
    size, left_out, texts = 0, list[Any](), dict[int, str]()
    # What weighs most gets its room first: else a long description would push out the change that matters.
    for place, (one, render) in sorted(enumerate(sections), key=lambda numbered: _weight(numbered[1][0])):
        budget.left = MOST - size
        text = ""
        if len(left_out) < _TRIED:
            with suppress(_TooLongError):
                text = render()
        if not text or size + len(text) > MOST:
            left_out.append(one)
        else:
            size += len(text)
            texts[place] = str(text)
    yield from (texts[place] for place in sorted(texts))
    if left_out:
        yield f"\n… and {counted(len(left_out), 'more object')} that would not fit into a comment:\n\n"
        yield from _named(left_out)


def _weight(one: Any) -> int:
    """Return the place of a thing in the order by what it does: what ends Pods comes first, and what changes nothing that runs last.

    Of what is new there may be any amount.
    """
    if getattr(one, "ends_pods", False):
        return 0
    if isinstance(one, FrameworkDiff) and one.effect is Effect.NOTHING and not one.may_move:
        return 3
    return 2 if "added" in (getattr(one, "kind", ""), getattr(one, "change", "")) else 1


def _named(some: list[Any]) -> Iterator[str]:
    """Yield a line for each thing that is left out, as far as there is room; first for those that end Pods."""
    left = MOST_NAMED
    for place, one in enumerate(sorted(some, key=_weight)):
        line = f"- {_line(one)}\n"
        left -= len(line)
        if left < 0:
            yield f"- and {len(some) - place:,} more\n"
            return
        yield line


def _line(one: Any) -> str:
    """Return what a thing is and what happens to it, on one line."""
    if isinstance(one, ObjectDiff):
        return f"{f'{RED} ' if one.ends_pods else ''}{code(one.title)} {words.change_of(one)}"
    shown = name(words.name(one))
    return f"{_mark(one)} {shown}: {words.headline(one)}" if isinstance(one, FrameworkDiff) else f"{shown} in the cluster"


class _TooLongError(Exception):
    """A section would not fit into the comment."""


class _Budget:
    """Counts what is inserted into a section, so that a section of megabytes is given up as soon as it cannot fit."""

    left = MOST

    def spend(self, text: str) -> None:
        """Count a text. Raises _TooLongError."""
        self.left -= len(text)
        if self.left < 0:
            raise _TooLongError


def environment(inserted: Callable[[str], None] = lambda text: None) -> Environment:
    """Return the environment of the template. A text that went through no filter is printed as code, so that none is left unescaped.

    :param inserted: is called with each text that is inserted.
    """
    from markupsafe import Markup

    def marked(text: str) -> Markup:
        inserted(text)
        return Markup(text)

    def safe(value: Any) -> Markup:
        return value if isinstance(value, Markup) else marked(code(str(value)))

    made = templates.environment(safe)
    makers = (_mark, name, _title, _as_is, _plain, _cell, _before, _after, _pair, _block)
    made.filters |= {maker.__name__.lstrip("_"): lambda value, maker=maker: marked(maker(value)) for maker in makers}
    made.filters |= {"label": _label}
    made.tests |= {"long": _is_long, "wide": _is_wide}
    made.globals |= {"words": words, "code": code, "name": name}
    return made


def _mark(thing: Any) -> str:
    if thing.ends_pods:
        return RED
    return _SIGNS.get(getattr(thing, "kind", "")) or MARKS[thing.effect]


def _as_is(text: Any) -> str:
    """Return our own text unchanged; foreign text in it was quoted before."""
    return str(text)


def _plain(text: str) -> str:
    """Return our own text, which may name fields, with `<` escaped."""
    return text.replace("<", "&lt;")


def _title(text: str) -> str:
    """Return a name as HTML for a title, where Markdown's code spans do not work."""
    shown = html.escape(visible(text))
    return shown if PLAIN.fullmatch(shown) else f"<code>{shown}</code>"


def _label(change: Any) -> str:
    return words.label(change) if isinstance(change, Change) else readable(change.field)


def _cell(text: str) -> str:
    return code(text, table=True)


def _before(change: Any) -> str:
    return _side(change.before, words.arrow(change)[0])


def _after(change: Any) -> str:
    return _side(change.after, words.arrow(change)[1])


def _pair(change: Any) -> str:
    """Return both values beside each other, outside of a table: code breaks into lines there."""
    old, new = words.arrow(change)
    return f"{_side(change.before, old, table=False)} → {_side(change.after, new, table=False)}"


def _side(side: Any, text: str, table: bool = True) -> str:
    return f"*{text}*" if side is ABSENT else code(text, table)


def _is_long(change: Any) -> bool:
    return words.is_text(change.before) or words.is_text(change.after)


def _is_wide(change: Any) -> bool:
    return not _is_long(change) and sum(map(len, words.arrow(change))) > _WIDE


def _block(change: Any) -> str:
    """Return the changed lines of a long text in a code fence that nothing in them can close."""
    lines = "\n".join(at_line_start(f"{sign}{line}") for sign, line in words.lines(change.before, change.after))
    around = fence(lines, 3)
    return f"{around}diff\n{lines}\n{around}"
