"""ConfigMaps and Secrets to which kustomize has given other names, while a Framework calls them by their old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fcompile.check.context import FrameworkContext, containers
from fcompile.check.places import Lookup, Where
from fcompile.check.pod_values import entries
from fcompile.check.rules.framework.cross_file import problem_of_two
from fcompile.diagnostics.problem import Part, Path, Problem, framework_label, warning_rule
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, text

GENERATED_NAME = warning_rule(
    code="FC504",
    name="generated-name",
    summary="A Pod calls a ConfigMap or Secret by the name that it had before kustomize gave it another one.",
    why="kustomize adds a hash to the names of what it generates, and does not know where a Framework has them: the Pods wait for ever.",
    remedy="Give the kustomization the file of docs/krm.md that says where a Framework has names, under `configurations`.",
)

_HASH = lazy(r"-[2456789bcdfghkmt]{10}\Z")
"""What kustomize adds to a name: ten of the letters and digits with which it writes a hash."""
_HASH_LENGTH = 11
_LONGEST = 253
"""Characters that the name of an object may have."""
_LONGEST_ADDED = 63
"""Characters of a `namePrefix` or `nameSuffix` that are looked for."""
_SOURCES = (("configMap", "name", "ConfigMap"), ("secret", "secretName", "Secret"), ("secret", "name", "Secret"))
_FROM = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"), ("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))


class ObjectFact(NamedTuple):
    """A ConfigMap or Secret: of the input, or (`framework`) as a Pod calls it."""

    namespace: str
    kind: str
    name: str
    framework: str
    where: Where


def objects_called(context: FrameworkContext, where: Callable[[Path, Part], Where]) -> Iterator[ObjectFact]:
    """Yield what the Pods of a Framework call by name, each once."""
    seen: set[tuple[str, str]] = set()
    for role in context.roles:
        for kind, name, path in _of_template(role.template, role.template_path):
            if (kind, name) not in seen and len(name) <= _LONGEST:
                seen.add((kind, name))
                yield ObjectFact(context.namespace, kind, name, context.name, where(path, "value"))


def _of_template(template: dict[str, Any], path: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield the kind and the name of each object that a template calls, and where it does."""
    spec, place = mapping(template, "spec"), (*path, "spec")
    for secret, here in entries(spec, place, "imagePullSecrets"):
        yield from _named(secret, here, "name", "Secret")
    for volume, here in entries(spec, place, "volumes"):
        projected = entries(mapping(volume, "projected"), (*here, "projected"), "sources")
        for source, there in ((volume, here), *projected):
            for part, key, kind in _SOURCES:
                yield from _named(mapping(source, part), (*there, part), key, kind)
    for container, here in containers(template, path):
        if isinstance(container, dict):
            for source, there in (*entries(container, here, "env"), *entries(container, here, "envFrom")):
                value_from = "valueFrom" in source
                of, at = (mapping(source, "valueFrom"), (*there, "valueFrom")) if value_from else (source, there)
                for part, kind in _FROM:
                    yield from _named(mapping(of, part), (*at, part), "name", kind)


def _named(owner: dict[str, Any], path: Path, key: str, kind: str) -> Iterator[tuple[str, str, Path]]:
    if name := text(owner, key):
        yield kind, name, (*path, key)


def objects_made(value: Any, namespace: str, where: Callable[[Path, Part], Where]) -> Iterator[ObjectFact]:
    """Yield an object if it is a ConfigMap or a Secret; `namespace` is for one that gives none."""
    kind = text(value, "kind")
    if kind in ("ConfigMap", "Secret") and text(value, "apiVersion") == "v1":
        metadata = mapping(value, "metadata")
        name = text(metadata, "name") or ""
        if len(name) <= _LONGEST:
            yield ObjectFact(text(metadata, "namespace") or namespace, kind, name, "", where(("metadata", "name"), "value"))


def generated_names(facts: list[ObjectFact], look_up: Lookup) -> Iterator[Problem]:
    """Yield the names that Pods call, and that kustomize has replaced."""
    there = {(fact.namespace, fact.kind, fact.name) for fact in facts if not fact.framework}
    generated: dict[tuple[str, str], dict[str, ObjectFact]] = {}
    for fact in facts:
        if not fact.framework and _HASH.search(fact.name):
            generated.setdefault((fact.namespace, fact.kind), {}).setdefault(fact.name[:-_HASH_LENGTH], fact)
    lengths = {key: {len(base) for base in bases} for key, bases in generated.items()}
    for fact in facts:
        key = (fact.namespace, fact.kind)
        if not fact.framework or key not in generated or (*key, fact.name) in there:
            continue
        bases, own = generated[key], fact.framework
        for more in range(min(len(own), _LONGEST_ADDED)):
            if len(fact.name) + more not in lengths[key]:
                continue
            # A `namePrefix` or `nameSuffix` is that of the Framework, too.
            made = bases.get(own[:more] + fact.name) or bases.get(fact.name + own[len(own) - more :])
            if made is not None:
                message = f"the input has no {fact.kind} `{fact.name}`, but `{made.name}`: kustomize renamed it, and not here"
                label = framework_label(fact.namespace, fact.framework)
                yield problem_of_two(GENERATED_NAME, fact.where, label, message, f"that {fact.kind}", made.where, look_up)
                break
