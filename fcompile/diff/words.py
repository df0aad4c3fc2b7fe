"""What the formats for people say in the same words.

Names may be of any form, since an error in one can be waived. Each format has its own way of quoting them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

from fcompile.check.tool_files import FileKind
from fcompile.diagnostics.visible import first_of, visible
from fcompile.diagnostics.writer import counted
from fcompile.diff.compare import ABSENT, Difference, alike, blocks
from fcompile.diff.effects import ANEW, ORDER, Effect
from fcompile.diff.frameworks import Change, FrameworkDiff, Pods, RoleSize
from fcompile.diff.live import Live
from fcompile.diff.live import Pods as LivePods
from fcompile.diff.lookalikes import readable
from fcompile.diff.resources import by_importance, shown
from fcompile.diff.result import ObjectDiff, Result
from fcompile.emit.order import ordered
from fcompile.emit.scalars import EmitError
from fcompile.emit.yaml import dump
from fcompile.model.patterns import lazy

TITLES = {
    Effect.NOTHING: "changes nothing that runs",
    Effect.ON_THE_FLY: "applied on the fly",
    Effect.NEXT_RETRY: "applied to a task when it is retried",
    Effect.NEW_ATTEMPT: "needs a new attempt",
    Effect.REFUSED: "refused by the API server",
}
_ANEW = "needs to be created anew", "only when it is created anew"
"""The title and the short form in place of those of NEW_ATTEMPT, for a Framework that never has another attempt."""
ENDS_PODS = "ends Pods"
"""Shown before the effect of a change that ends Pods before their own completion: that matters more than when it does so."""
_SHORT = {
    Effect.NOTHING: "without effect",
    Effect.ON_THE_FLY: "on the fly",
    Effect.NEXT_RETRY: "on retries",
    Effect.NEW_ATTEMPT: "in a new attempt",
    Effect.REFUSED: "refused",
}
DONE = {
    "created": ("is created", "are created"),
    "deleted": ("is deleted", "are deleted"),
    "kept": ("stays as it is until then", "stay as they are until then"),
}
Quote = Callable[[str], str]
"""How a format writes a text of unknown origin."""
_MADE_NAMES = {("service", "service"), ("pod", "spec.subdomain")}
"""What begins with the Framework's own name in each that has a Service."""
_LONGEST = 2000
_BEFORE = 100
"""Characters that are shown before the first that differs, in texts that are too long to be shown."""
_LISTED = 20
_TRIFLE = 60
"""Characters of a mapping or list that is shown on one line."""
_NEAR = 2
"""Lines that are shown before and after those that differ."""
_MOST_LINES = 400
_BLANKS = lazy("[ \u3000]{40,}")
"""So many spaces that what follows them is out of sight: lines of comments and pages do not wrap."""
_EMPTY_LINES = 8
"""So many lines in a row without anything in them that they push what follows out of sight."""


_FOLLOWS: dict[str, str] = {
    FileKind.IGNORE_FILE: "what it names is left out here",
    FileKind.UNREAD: "it cannot be read here, and what kubectl makes of it is not compared",
    FileKind.HIDDEN: "hidden folders are left out here, but not by `kubectl apply -R` and Argo CD",
}
"""What the change of a file means, by the kind of the file."""


class Part(NamedTuple):
    """Changes that concern the same Pods."""

    pods: tuple[Pods, ...]
    changes: list[Change]


class Group(NamedTuple):
    """Changes with one effect for one reason."""

    effect: Effect
    reason: str
    ends_pods: bool
    parts: list[Part]

    @property
    def title(self) -> str:
        """Return what the changes do, the worst first."""
        return ENDS_PODS if self.ends_pods else _ANEW[0] if self.reason == ANEW else TITLES[self.effect]


def groups(framework: FrameworkDiff) -> list[Group]:
    """Group the changes by effect and reason: the strongest effect last, and what ends Pods after all others."""

    def weight(change: Change) -> tuple[bool, int, str]:
        return change.ends_pods, ORDER.index(change.effect), change.reason

    ordered_changes = sorted(framework.changes, key=weight)
    return [
        Group(ORDER[key[1]], key[2], key[0], [Part(pods, list(some)) for pods, some in groupby(changes, lambda change: change.pods)])
        for key, changes in groupby(ordered_changes, weight)
    ]


class Folded(NamedTuple):
    """A Framework, and others that differ in the same."""

    framework: FrameworkDiff
    others: list[FrameworkDiff]


def folded(result: Result) -> list[Folded]:
    """Group Frameworks with the same changes, in the order of the first of each group."""
    groups: dict[object, list[FrameworkDiff]] = {}
    for framework in result.frameworks:
        groups.setdefault(_alike(framework), []).append(framework)
    return [Folded(first, others) for first, *others in groups.values()]


def _alike(framework: FrameworkDiff) -> object:
    """Return a key that is equal for Frameworks with the same changes apart from their own names.

    Removed ones are never equal, and new ones within a namespace: a generator makes hundreds.

    Only names that the controller makes are taken for the same. In a text of the author's, such as an image, the own name can stand too.
    """
    if framework.kind == "removed":
        return framework.namespace, framework.name
    prefix = f"{framework.name}-"

    def own(change: Change, side: Any) -> str:
        made = (change.part, change.field) in _MADE_NAMES and isinstance(side, str)
        return str(side).removeprefix(prefix) if made else repr(side)

    changes = [
        (
            *change[:3],
            own(change, change.before),
            own(change, change.after),
            *(change.effect, change.reason, change.ends_pods, change.note),
            [(pods.names.removeprefix(prefix), pods.number, pods.what) for pods in change.pods],
        )
        for change in framework.changes
    ]
    namespace = framework.namespace if framework.kind == "added" else None
    return repr((namespace, framework.roles, sorted(framework.resources.items()), changes))


def name(framework: FrameworkDiff | Live) -> str:
    """Return `ml/train`."""
    return f"{framework.namespace}/{framework.name}"


def same(others: list[FrameworkDiff], quote: Quote = visible) -> str:
    """Return the line for Frameworks with the same changes: `the same in 3 more Frameworks: ml/a, ml/b, ml/c`."""
    names = [quote(name(framework)) for framework in others]
    return f"the same in {counted(len(others), 'more Framework')}: {first_of(names, _LISTED)}"


def headline(framework: FrameworkDiff) -> str:
    """Return what happens to the whole Framework."""
    if framework.kind == "added":
        return "new: it is created"
    if framework.kind == "removed":
        return "gone: deleting it ends all of its Pods" if framework.ends_pods else "gone: none of its Pods runs"
    if framework.effect is Effect.REFUSED and not framework.ends_pods:
        return "refused by the API server, the whole edit"
    if framework.ends_pods:
        return ENDS_PODS if framework.effect is Effect.ON_THE_FLY else f"{ENDS_PODS}, and {_title(framework)}"
    return _title(framework)


def _title(framework: FrameworkDiff) -> str:
    return _ANEW[0] if _waits_for_ever(framework) else TITLES[framework.effect]


def _waits_for_ever(framework: FrameworkDiff) -> bool:
    """Return whether what waits for a new attempt never gets one."""
    return framework.effect is Effect.NEW_ATTEMPT and any(change.reason == ANEW for change in framework.changes)


def _short(framework: FrameworkDiff) -> str:
    if framework.kind != "changed":
        return {"added": "new", "removed": "gone"}[framework.kind]
    return _ANEW[1] if _waits_for_ever(framework) else _SHORT[framework.effect]


def counts(result: Result) -> dict[tuple[Effect, str], int]:
    """Return how many Frameworks change with each effect, in what words."""
    found = sorted(
        ((framework.effect, _title(framework)) for framework in result.frameworks if framework.kind == "changed"),
        key=lambda one: ORDER.index(one[0]),
    )
    return dict(Counter(found))


def location(framework: FrameworkDiff) -> str:
    """Return where the Framework stands: `b.yaml:3`, with the old file when that is another one."""
    old, new = framework.before, framework.after
    side = new or old
    assert side is not None
    text = f"{visible(side[0])}:{side[1]}"
    renamed = old and new and not old[0].startswith("<") and os.path.basename(old[0]) != os.path.basename(new[0])
    return f"{text}, was {visible(old[0])}" if old and renamed else text


def label(change: Change) -> str:
    """Return the role and the field of a change: `worker: spec.containers[main].image`."""
    return readable(f"{change.role}: {change.field}" if change.role else change.field)


def is_text(value: Any) -> bool:
    """Return whether a value is shown as lines: a text of several lines, or a mapping or list that is not tiny."""
    if isinstance(value, dict | list):
        return len(json.dumps(value)) > _TRIFLE
    return isinstance(value, str) and "\n" in value.rstrip("\n")


def _text_of(value: Any) -> str:
    """Return a text as it is, and a mapping or list as YAML; nothing for a value that is absent."""
    if value is ABSENT or isinstance(value, str):
        return value if isinstance(value, str) else ""
    try:
        return dump(ordered(value))
    except EmitError:
        return json.dumps(value, indent=2)


def _on_one_line(value: Any) -> str:
    """Return a value on one line. A text has quotes only where it could be taken for something else."""
    return value if isinstance(value, str) and not _needs_quotes(value) else json.dumps(value, ensure_ascii=False)


def _cut(before: str, after: str) -> tuple[str, str]:
    """Return two texts with `…` for what is too much to be shown: never for all that differs, and where more of that follows it is said."""
    before, after = (_BLANKS.sub(lambda blanks: f"⟨{len(blanks[0]):,} spaces⟩", text) for text in (before, after))
    if max(len(before), len(after)) <= _LONGEST:
        return before, after
    same = alike(before, after)
    tail = alike(before[same:][::-1], after[same:][::-1])
    start = max(0, same - _BEFORE)
    end = start + _LONGEST
    # Where one side is empty, all of the other is new: `…` alone says that there is more of it.
    more = "… and more that differs" if before and after and max(len(before), len(after)) - tail > end else "…"
    old, new = (("…" if start else "") + text[start:end] + (more if text[end:] else "") for text in (before, after))
    return old, new


def _needs_quotes(text: str) -> bool:
    if text != text.strip() or "\n" in text or text in ("", "not set"):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def lines(before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """Yield the lines that differ between two texts after `-`, `+` or a space (lines near them), and `…` for the lines between."""
    old, new = _split(_text_of(before), _text_of(after))
    shown, size, more = 0, 0, False
    ranges = blocks(old, new)
    for number, (first, end, new_first, new_end) in enumerate(ranges):
        near = max(shown, first - _NEAR)
        if near > shown and number:
            yield "…", ""
        until = min(end + _NEAR, ranges[number + 1][0] if number + 1 < len(ranges) else len(old))
        # Lines that are removed leave room for those that are added: these are what will run.
        removed, added = _without_gaps(old[first:end]), _without_gaps(new[new_first:new_end])
        left = _MOST_LINES - size
        removed, more = (removed, more) if len(removed) + len(added) <= left else (removed[: max(left - len(added), left // 2)], True)
        some = [
            (" ", (_cut(line, "")[0] for line in old[near:first])),
            *zip("-+", _cut_lines(removed, added[: _MOST_LINES + 1]), strict=True),
            (" ", (_cut(line, "")[0] for line in old[end:until])),
        ]
        for sign, line in ((sign, line) for sign, part in some for line in part):
            if size == _MOST_LINES:
                yield "…", "more lines differ"
                return
            size += 1
            yield sign, readable(line)
        shown = until
    if more:
        yield "…", "more lines differ"


def _without_gaps(lines: list[str]) -> list[str]:
    """Return lines with one in place of many in a row that have nothing in them."""
    found: list[str] = []
    for is_empty, some in groupby(lines, lambda line: not line.strip()):
        gap = list(some)
        found += [f"⟨{len(gap):,} empty lines⟩"] if is_empty and len(gap) >= _EMPTY_LINES else gap
    return found


def _cut_lines(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Return lines that differ, the long ones cut; each is held against the one that stands in the same place on the other side."""
    both = [_cut(*pair) for pair in zip_longest(before, after, fillvalue="")]
    return [old for old, _ in both[: len(before)]], [new for _, new in both[: len(after)]]


def _split(*texts: str) -> list[list[str]]:
    """Split texts into lines. A line end at the end of all of them counts as none; where only one text has it, that is a difference."""
    if all(text.endswith("\n") or not text for text in texts):
        texts = tuple(text.removesuffix("\n") for text in texts)
    return [text.split("\n") if text else [] for text in texts]


def pods(part: Part, quote: Quote = visible) -> str:
    """Return what happens to the Pods: `4 Pods stay as they are: train-worker-{0..3}; …`, or nothing."""
    return "; ".join(
        f"{counted(concerned.number, 'Pod')} {DONE[concerned.what][concerned.number != 1]}: {quote(concerned.names)}"
        for concerned in part.pods
    )


_STANDS = {
    "as-expected": ("Pod is as expected", "Pods are as expected"),
    "differ": ("Pod differs from what is expected (cluster → expected)", "Pods differ from what is expected (cluster → expected)"),
    "finished": ("task has finished, and its Pod is gone", "tasks have finished, and their Pods are gone"),
    "missing": ("task has no Pod", "tasks have no Pod"),
    "unexpected": ("Pod is not expected", "Pods are not expected"),
}


def stands(pods: LivePods, quote: Quote = visible) -> str:
    """Return how running Pods compare: `worker: 3 Pods are as expected`."""
    text = f"{pods.number:,} {_STANDS[pods.kind][pods.number != 1]}" + (f" ({quote(pods.note)})" if pods.note else "")
    return f"{quote(pods.role)}: {text}" if pods.role else text


def size(role: RoleSize, quote: Quote = visible) -> str:
    """Return a role's number of tasks before and after: `worker 4 → 6`."""
    if role.before is None or role.after is None:
        return f"{quote(role.name)} {role.after if role.before is None else role.before}"
    return f"{quote(role.name)} {role.before}" + (f" → {role.after}" if role.after != role.before else "")


class Resource(NamedTuple):
    """How much of a resource is requested, before and after."""

    name: str
    before: str
    after: str
    change: str
    """`+176`, or empty."""


def resources(framework: FrameworkDiff) -> list[Resource]:
    """Return what all Pods of the Framework request, for each resource that changes."""
    rows = []
    for name in sorted(framework.resources, key=by_importance):
        before, after = framework.resources[name]
        if before != after:
            change = f"{'+' if after > before else '-'}{shown(name, abs(after - before))}" if framework.kind == "changed" else ""
            rows.append(Resource(visible(name), shown(name, before), shown(name, after), change))
    return rows


def total(result: Result) -> str:
    """Return the number of Frameworks: `2 Frameworks differ`."""
    number = len(result.frameworks)
    return f"{counted(number, 'Framework')} {'differs' if number == 1 else 'differ'}"


def summary(result: Result) -> str:
    """Return the last line: `2 Frameworks differ, 1 ends Pods: 1 in a new attempt, 1 gone.`"""
    if not result.differs:
        return "No differences in what will run."
    parts = []
    if result.frameworks:
        kinds = list(map(_short, result.frameworks))
        listed = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        parts.append(f"{total(result)}{ending(result.frameworks)}: {listed}")
    if result.objects:
        verb = "differ" if len(result.objects) > 1 else "differs"
        parts.append(f"{counted(len(result.objects), 'other object')} {verb}{ending(result.objects)}")
    wrong = sum(live.differs for live in result.live)
    if wrong:
        parts.append(f"{counted(wrong, 'Framework')} {'runs' if wrong == 1 else 'run'} other than expected")
    return "; ".join(parts) + "."


def ending(some: Iterable[FrameworkDiff | ObjectDiff]) -> str:
    """Return `, 2 end Pods`, or nothing."""
    number = sum(item.ends_pods for item in some)
    return f", {number:,} {'ends' if number == 1 else 'end'} Pods" if number else ""


def change_of(thing: ObjectDiff) -> str:
    """Return what happens to an object that is no Framework."""
    if thing.is_file:
        return f"{thing.change}: {_FOLLOWS.get(thing.kind, 'what is built with it is not compared')}"
    return f"{thing.change}: it {ENDS_PODS}" if thing.ends_pods else thing.change


def sentence(text: str) -> str:
    """Return the text with a capital letter first."""
    return text[:1].upper() + text[1:]


def arrow(change: Change | Difference) -> tuple[str, str]:
    """Return the two sides of a change on one line each; `not set` for an absent one."""
    if isinstance(change, Change) and (change.part, change.field) == ("role", "role"):
        return _tasks(change.before), _tasks(change.after)
    if change.before is ABSENT or change.after is ABSENT:
        return _side(change.before), _side(change.after)
    before, after = _cut(_on_one_line(change.before), _on_one_line(change.after))
    return readable(before), readable(after)


def _side(side: Any) -> str:
    return "not set" if side is ABSENT else readable(_cut(_on_one_line(side), "")[0])


def _tasks(number: Any) -> str:
    return "no such role" if number is ABSENT else counted(number, "task")
