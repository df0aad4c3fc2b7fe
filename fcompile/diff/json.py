"""The comparison for machines. docs/diff.md describes it; what is there stays as it is, more may come."""

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
    """Yield the text of the whole document."""
    document = {
        "version": VERSION,
        "differs": result.differs,
        "effect": max((one.effect for one in result.frameworks), key=ORDER.index, default="nothing"),
        "endsPods": result.ends_pods,
        "frameworks": [_framework(one) for one in result.frameworks],
        "objects": [_object(one) for one in result.objects],
        "live": [_live(one) for one in result.live],
    }
    yield json.dumps(document, indent=2, ensure_ascii=True) + "\n"


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
        "changes": [_change(change) for change in framework.changes],
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
        "pods": [
            {
                "role": one.role or None,
                "kind": one.kind,
                "names": one.names,
                "count": one.number,
                "note": one.note,
                "changes": _differences(one.differences),
            }
            for one in live.pods
        ],
        "services": [{"name": name, "changes": _differences(found)} for name, found in live.services],
    }


def _differences(found: Iterable[Difference]) -> list[dict[str, Any]]:
    return [{"field": one.field, **_sides(one.before, one.after)} for one in found]


def _sides(before: Any, after: Any) -> dict[str, Any]:
    """Return `before` and `after`, without the one that there is not."""
    return {key: value for key, value in (("before", before), ("after", after)) if value is not ABSENT}


def _place(place: tuple[str, int]) -> dict[str, Any]:
    return {"file": place[0], "line": place[1]}
