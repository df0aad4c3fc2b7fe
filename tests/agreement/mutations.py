"""Valid Frameworks with one thing changed. What can be changed where comes from the API server's own description."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Path, field_path
from fcompile.model.fields import Field
from tests.agreement.openapi import ROOT, Api, Node, entry_field
from tests.agreement.values import WRONG_TYPES, key, value


class Mutant(NamedTuple):
    """A changed Framework and, in words, how it was changed."""

    framework: dict[str, Any]
    kind: str
    """What was done."""
    place: str
    """Where."""


Done = tuple[str, Path] | None
"""What a change did and where, or None when there was nothing to do."""
_PATIENCE = 50
_DEEPEST = 6


class Mutator:
    """Makes mutants of `bases`. `donors` are other Frameworks, valid or not, whose values and parts may come in."""

    def __init__(self, api: Api, bases: list[dict[str, Any]], donors: list[dict[str, Any]], random: Random) -> None:
        self.api, self.bases, self.random = api, bases, random
        self.places: dict[tuple[str, str], list[int]] = defaultdict(list)
        """The bases that hold a field, by its object type and name."""
        self.parts: dict[tuple[str, str], list[Any]] = defaultdict(list)
        """The values that a field has anywhere."""
        self.owners: dict[str, list[int]] = defaultdict(list)
        """The bases that hold an object of a type."""
        for index, framework in enumerate([*bases, *donors]):
            nodes = list(api.nodes(framework))
            for field in dict.fromkeys((node.owner, node.name) for node in nodes):
                if index < len(bases):
                    self.places[field].append(index)
            for owner in dict.fromkeys(node.owner for node in nodes):
                if index < len(bases):
                    self.owners[owner].append(index)
            for node in nodes:
                if not node.is_entry:
                    self.parts[node.owner, node.name].append(node.value)
        self.own = [name for name in api.types if name in self.owners and name not in api.template_types] + ["FrameworkMetadata"]
        self.of_template = [name for name in sorted(api.template_types) if name in self.owners]

    def mutants(self, count: int) -> Iterator[Mutant]:
        """As many mutants."""
        operators: list[Callable[[dict[str, Any], str], Done]] = [
            *[self._set] * 6,
            *[self._add] * 6,
            *[self._part] * 5,
            *[self._entry] * 2,
            *[self._repeat] * 2,
            *[self._reference] * 2,
            *[self._remove] * 2,
            self._empty,
            self._wrong_type,
            self._misspell,
            *[self._both] * 3,
        ]
        while count:
            framework, owner = self._target()
            done = self.random.choice(operators)(framework, owner)
            if done is not None:
                count -= 1
                yield Mutant(framework, done[0], field_path(done[1]))

    def _target(self) -> tuple[dict[str, Any], str]:
        """A copy of a Framework, and the type of the object in it that is to change.

        Each type as often as any other, so that every field is met; and each Framework as often as any other, most of which stand
        close to a rule between fields.
        """
        if self.random.random() < 0.5:
            types = self.own if self.random.random() < 0.3 else self.of_template
            owner = self.random.choice([name for name in types if name != ROOT])
            return deepcopy(self.bases[self.random.choice(self.owners[owner])]), owner
        framework = deepcopy(self.random.choice(self.bases))
        return framework, self.random.choice([node.owner for node in self.api.nodes(framework) if node.owner in self.api.template_types])

    def _nodes(self, framework: dict[str, Any], owner: str) -> list[Node]:
        return [node for node in self.api.nodes(framework) if node.owner == owner]

    def _pick(self, nodes: list[Node]) -> Node | None:
        """One of them, each field as likely as any other."""
        if not nodes:
            return None
        name = self.random.choice(sorted({node.name for node in nodes}))
        return self.random.choice([node for node in nodes if node.name == name])

    def _objects(self, framework: dict[str, Any], owner: str) -> list[Path]:
        found = [(node.path, node.value) for node in self.api.nodes(framework) if node.field.kind == "object" and node.field.ref == owner]
        return [path for path, item in found if isinstance(item, dict)]

    def _set(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick([node for node in self._nodes(framework, owner) if node.field.kind not in ("object", "list", "map", "any")])
        if node is None:
            return None
        kind, new = value(self.random, node.field)
        if isinstance(node.value, str) and isinstance(new, str) and kind == "with a placeholder" and self.random.random() < 0.5:
            new = node.value + new
        _put(framework, node.path, new)
        return f"value: {kind}", node.path

    def _add(self, framework: dict[str, Any], owner: str) -> Done:
        for path in self.random.sample(found := self._objects(framework, owner), len(found)):
            missing = sorted(self.api.types[owner].keys() - _at(framework, path).keys())
            if missing:
                name = self.random.choice(missing)
                _at(framework, path)[name] = self._made(self.api.types[owner][name], owner, name)
                return "a field more", (*path, name)
        return None

    def _part(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick([node for node in self._nodes(framework, owner) if not node.is_entry])
        if node is None:
            return None
        _put(framework, node.path, deepcopy(self.random.choice(self.parts[owner, node.name])))
        return "another Framework's value", node.path

    def _entry(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick([node for node in self._nodes(framework, owner) if isinstance(node.value, list | dict) and node.field.items])
        if node is None:
            return None
        if isinstance(node.value, list):
            node.value.append(self._made(entry_field(node.field), owner, node.name))
            return "an item more", (*node.path, len(node.value) - 1)
        kind, new = key(self.random)
        if self.random.random() < 0.5 and node.value:
            old = self.random.choice(list(node.value))
            node.value[new] = node.value.pop(old)
        else:
            node.value[new] = self._made(entry_field(node.field), owner, node.name)
        return f"key: {kind}", (*node.path, new)

    def _repeat(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick([node for node in self._nodes(framework, owner) if isinstance(node.value, list) and node.value])
        if node is None:
            return None
        times = self.random.choice((1, 1, 1, 1, 2, 32, 256))
        item = self.random.choice(node.value)
        copies = [deepcopy(item) for _ in range(times)]
        told = "an item twice" if times == 1 else "an item many times"
        if isinstance(item, dict) and item and self.random.random() < 0.6:
            changed = self.random.choice(list(item))
            if isinstance(item[changed], str):
                for number, copy in enumerate(copies):
                    copy[changed] += str(number)
                told += ", with another value in it"
        node.value.extend(copies)
        return told, node.path

    def _reference(self, framework: dict[str, Any], owner: str) -> Done:
        """One of two places that say the same says something else, or one says what another does."""
        texts = [node for node in self.api.nodes(framework) if isinstance(node.value, str) and node.owner in self.api.template_types]
        here = [node for node in texts if node.owner == owner]
        shared = [node for node in here if any(other.value == node.value and other.path != node.path for other in texts)]
        if shared and self.random.random() < 0.5:
            one = self.random.choice(shared)
            _put(framework, one.path, one.value + "x")
            return "a name that others refer to", one.path
        node = self._pick(here)
        if node is None:
            return None
        alike = [other.value for other in texts if other.name == node.name and other.value != node.value]
        others = alike if alike and self.random.random() < 0.7 else [other.value for other in texts]
        _put(framework, node.path, self.random.choice(others))
        return "the value of another place", node.path

    def _remove(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick(self._nodes(framework, owner))
        if node is None:
            return None
        del _at(framework, node.path[:-1])[node.path[-1]]
        return "an entry less" if node.is_entry else "a field less", node.path

    def _empty(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick(self._nodes(framework, owner))
        if node is None:
            return None
        empty = type(node.value)() if isinstance(node.value, dict | list | str) and self.random.random() < 0.5 else None
        _put(framework, node.path, empty)
        return "null" if empty is None else "empty", node.path

    def _wrong_type(self, framework: dict[str, Any], owner: str) -> Done:
        node = self._pick(self._nodes(framework, owner))
        if node is None:
            return None
        _put(framework, node.path, deepcopy(self.random.choice(WRONG_TYPES)))
        return "a value of any type", node.path

    def _misspell(self, framework: dict[str, Any], owner: str) -> Done:
        found = [path for path in self._objects(framework, owner) if _at(framework, path)]
        if not found:
            return None
        path = self.random.choice(found)
        there = _at(framework, path)
        old = self.random.choice(list(there))
        new = self.random.choice((old + "s", old[:-1], old[:1].upper() + old[1:], old.lower() + "_", "x"))
        there[new] = there.pop(old) if self.random.random() < 0.5 else deepcopy(there[old])
        return "a field's name misspelt", (*path, new)

    def _both(self, framework: dict[str, Any], owner: str) -> Done:
        """What two Pods say, in one: their conditions on each other meet."""
        del owner
        path = ("spec", "taskRoles", 0, "task", "pod", "spec")
        other = _at(self.random.choice(self.bases), path)
        spec = _at(framework, path)
        missing = sorted(other.keys() - spec.keys())
        for name in missing if self.random.random() < 0.5 else missing[:1]:
            spec[name] = deepcopy(other[name])
        inner = self.random.choice(spec["containers"])
        for name, item in self.random.choice(other["containers"]).items():
            inner.setdefault(name, deepcopy(item))
        return ("two Pods in one", path) if missing else None

    def _made(self, field: Field, owner: str, name: str, depth: int = 0) -> Any:
        """A value for a field: one that it has elsewhere, or one made from the description of its type."""
        known = self.parts.get((owner, name)) if field.items or field.kind not in ("object",) or not depth else None
        if known and self.random.random() < 0.6:
            picked = deepcopy(self.random.choice(known))
            if not isinstance(picked, list | dict) or field.kind in ("list", "map", "object"):
                return picked
        if field.kind == "object":
            return self._made_object(field.ref, depth)
        if field.kind == "list":
            return [self._made(entry_field(field), owner, name, depth + 1) for _ in range(self.random.choice((0, 1, 1, 2)))]
        if field.kind == "map":
            return {key(self.random)[1]: self._made(entry_field(field), owner, name, depth + 1)}
        return {} if field.kind == "any" else value(self.random, field)[1]

    def _made_object(self, type_name: str, depth: int) -> dict[str, Any]:
        fields = self.api.types[type_name]
        picked = [name for name, field in fields.items() if field.required or self.random.random() < 1.5 / len(fields)]
        if depth > _DEEPEST:
            picked = [name for name in picked if fields[name].kind not in ("object", "list")]
        return {name: self._made(fields[name], type_name, name, depth + 1) for name in picked}


def _at(tree: Any, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _put(tree: Any, path: Path, new: Any) -> None:
    _at(tree, path[:-1])[path[-1]] = new
