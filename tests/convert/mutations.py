"""Changes of a job, one or a few at a time, as people and templates make them: values of other types, fields gone, twice, renamed."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

Json = dict[str, Any]
TEXTS = ["", "a", "-", "Worker", "{{FC_TASK_INDEX}}", "{{FC_TASK_INDEX-1}}", "{{.Values.x}}", "$(X)", "no", "012", "x" * 300, "A-b_c.D"]
TEXTS += ["\u202e", "\x07", "a\nb\n", "\U0001f680"]
NUMBERS: list[Any] = [0, 1, -1, 2, 1.5, 10**6, 2**31, 2**70]
SHAPES: list[Any] = [None, True, False, [], {}, [None], [[]], [{}], {"a": None}, {"name": {}}, ["x", 1], {"": ""}]
VALUES: list[Any] = [*TEXTS, *NUMBERS, *SHAPES]
KEYS = ["a", "name", "env", "metadata", "spec", "replicas", "hostname", "restartPolicy"]


def mutated(job: Json, chance: random.Random) -> Json:
    """Return a job with one to three changes."""
    made = deepcopy(job)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        _change(made, chance)
    return made


def _change(job: Json, chance: random.Random) -> None:
    places = list(_places(job))
    holder, key = chance.choice(places)
    kind = chance.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[chance.choice([key.lower(), key.upper(), f"{key}s", "x", key[:-1]])] = holder.pop(key)
    elif kind == 2 and isinstance(holder, list):
        holder.append(deepcopy(holder[key]))
    elif kind == 3:
        other, step = chance.choice(places)
        holder[key] = deepcopy(other[step])
    elif kind == 4 and isinstance(holder[key], dict):
        holder[key][chance.choice(KEYS)] = chance.choice(VALUES)
    else:
        holder[key] = deepcopy(chance.choice(VALUES))


def _places(value: Any) -> Any:
    """Yield each place as its holder and the step to it, but not what makes it a job at all."""
    steps = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for step, item in steps:
        if step not in ("apiVersion", "kind") or not isinstance(value.get("spec") if isinstance(value, dict) else None, dict):
            yield value, step
        if isinstance(item, (dict, list)):
            yield from _places(item)
