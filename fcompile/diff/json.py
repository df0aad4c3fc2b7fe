"""The comparison for machines, as `fcompile.declare.diff` declares it. Fields keep their meaning; new ones may be added."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from fcompile.diagnostics.visible import without_commands
from fcompile.diff.compare import ABSENT, Difference
from fcompile.diff.effects import ORDER
from fcompile.diff.frameworks import Change, FrameworkDiff
from fcompile.diff.live import Live
from fcompile.diff.resources import by_importance, shown
from fcompile.diff.result import ObjectDiff, Result

VERSION = 1


def write(result: Result) -> Iterator[str]:
    """Yield the document in pieces, since it can have many megabytes."""
    document = {
        "version": VERSION,
        "differs": result.differs,
        "effect": max((framework.effect for framework in result.frameworks), key=ORDER.index, default="nothing"),
        "endsPods": result.ends_pods,
        "frameworks": map(_framework, result.frameworks),
        "objects": map(_object, result.objects),
        "live": map(_live, result.live),
    }
    # A list is an iterator here until it is written. What a runner takes for a command is never divided: a string is one piece.
    yield from map(without_commands, json.JSONEncoder(indent=2, default=list).iterencode(document))
    yield "\n"


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
        "changes": map(_change, framework.changes if framework.kind == "changed" else ()),
    }


def _change(change: Change) -> dict[str, Any]:
    made = {"role": change.role or None, "part": change.part, "field": change.field, **_sides(change.before, change.after)}
    made |= {"effect": change.effect, "reason": change.reason, "endsPods": change.ends_pods}
    made["pods"] = [{"names": pods.names, "count": pods.number, "what": pods.what} for pods in change.pods]
    return {**made, "note": change.note} if change.note else made


def _object(thing: ObjectDiff) -> dict[str, Any]:
    return {
        "kind": thing.kind,
        "namespace": thing.namespace,
        "name": thing.name,
        "change": thing.change,
        "endsPods": thing.ends_pods,
        "before": thing.before or None,
        "after": thing.after or None,
        "changes": _differences(thing.differences if thing.change == "changed" or thing.is_file else ()),
    }


def _live(live: Live) -> dict[str, Any]:
    return {
        "namespace": live.namespace,
        "name": live.name,
        "state": live.state,
        "attempt": live.attempt,
        "pods": (
            {
                "role": pods.role or None,
                "kind": pods.kind,
                "names": pods.names,
                "count": pods.number,
                "note": pods.note,
                "changes": _differences(pods.differences),
            }
            for pods in live.pods
        ),
        "services": ({"name": name, "changes": _differences(found)} for name, found in live.services),
    }


def _differences(differences: Iterable[Difference]) -> Iterator[dict[str, Any]]:
    return ({"field": difference.field, **_sides(difference.before, difference.after)} for difference in differences)


def _sides(before: Any, after: Any) -> dict[str, Any]:
    """Return `before` and `after` as fields; a side that is absent is left out."""
    return {key: value for key, value in (("before", before), ("after", after)) if value is not ABSENT}


def _place(location: tuple[str, int]) -> dict[str, Any]:
    return {"file": location[0], "line": location[1]}
