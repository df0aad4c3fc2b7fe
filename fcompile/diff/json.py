"""The comparison for machines, as `fcompile.declare.diff` declares it. What is there stays as it is, more may come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from fcompile.diff.compare import ABSENT, Difference
from fcompile.diff.effects import ORDER
from fcompile.diff.frameworks import Change, FrameworkDiff, Pods
from fcompile.diff.live import Live
from fcompile.diff.resources import by_importance, shown
from fcompile.diff.result import ObjectDiff, Result

VERSION = 1


def write(result: Result) -> Iterator[str]:
    """Yield the document, piece by piece: it can be of many megabytes."""
    document = {
        "version": VERSION,
        "differs": result.differs,
        "effect": max((one.effect for one in result.frameworks), key=ORDER.index, default="nothing"),
        "endsPods": result.ends_pods,
        "frameworks": map(_framework, result.frameworks),
        "objects": map(_object, result.objects),
        "live": map(_live, result.live),
    }
    yield from _streamed(document)
    yield "\n"


def _streamed(value: Any, line: str = "\n") -> Iterator[str]:
    """Yield what `json.dumps` with an indent of two makes of a value in which an iterator stands for a list."""
    if isinstance(value, dict) and value:
        for number, (key, item) in enumerate(value.items()):
            yield f"{',' if number else '{'}{line}  {json.dumps(key)}: "
            yield from _streamed(item, f"{line}  ")
        yield f"{line}}}"
    elif isinstance(value, Iterator):  # Only these may hold iterators again.
        number = -1
        for number, item in enumerate(value):
            yield f"{',' if number else '['}{line}  "
            yield from _streamed(item, f"{line}  ")
        yield "[]" if number < 0 else f"{line}]"
    else:
        # No text in it holds a line end: those are escaped.
        yield json.dumps(value, indent=2).replace("\n", line)


def _framework(framework: FrameworkDiff) -> dict[str, Any]:
    return {
        "namespace": framework.namespace,
        "name": framework.name,
        "kind": framework.kind,
        "effect": framework.effect,
        "endsPods": framework.ends_pods,
        "before": framework.before and _place(framework.before),
        "after": framework.after and _place(framework.after),
        "roles": [{"name": role.name, "tasks": {"before": role.before, "after": role.after}} for role in framework.roles],
        "resources": {
            name: {"before": shown(name, framework.resources[name][0]), "after": shown(name, framework.resources[name][1])}
            for name in sorted(framework.resources, key=by_importance)
        },
        "changes": map(_change, framework.changes),
    }


def _change(change: Change) -> dict[str, Any]:
    made = {"role": change.role or None, "part": change.part, "field": change.field, **_sides(change.before, change.after)}
    made |= {"effect": change.effect, "reason": change.reason, "endsPods": change.ends_pods}
    made["pods"] = [_pods(one) for one in change.pods]
    return {**made, "note": change.note} if change.note else made


def _pods(pods: Pods) -> dict[str, Any]:
    return {"names": pods.names, "count": pods.number, "what": pods.what}


def _object(thing: ObjectDiff) -> dict[str, Any]:
    return {
        "kind": thing.kind,
        "namespace": thing.namespace,
        "name": thing.name,
        "change": thing.change,
        "endsPods": thing.ends_pods,
        "before": thing.before or None,
        "after": thing.after or None,
        "changes": _differences(thing.differences),
    }


def _live(live: Live) -> dict[str, Any]:
    return {
        "namespace": live.namespace,
        "name": live.name,
        "state": live.state,
        "attempt": live.attempt,
        "pods": (
            {
                "role": one.role or None,
                "kind": one.kind,
                "names": one.names,
                "count": one.number,
                "note": one.note,
                "changes": _differences(one.differences),
            }
            for one in live.pods
        ),
        "services": ({"name": name, "changes": _differences(found)} for name, found in live.services),
    }


def _differences(found: Iterable[Difference]) -> Iterator[dict[str, Any]]:
    return ({"field": one.field, **_sides(one.before, one.after)} for one in found)


def _sides(before: Any, after: Any) -> dict[str, Any]:
    """Return `before` and `after`, without the one that there is not."""
    return {key: value for key, value in (("before", before), ("after", after)) if value is not ABSENT}


def _place(place: tuple[str, int]) -> dict[str, Any]:
    return {"file": place[0], "line": place[1]}
