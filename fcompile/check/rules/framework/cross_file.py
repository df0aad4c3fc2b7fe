"""Problems between documents of one run: the same Framework twice, Services that get in each other's way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from fcompile.check.context import FrameworkContext
from fcompile.check.places import Lookup, Where
from fcompile.diagnostics.problem import Part, Path, Problem, Related, Rule, error_rule, field_path, framework_label, warning_rule
from fcompile.model import names
from fcompile.model.values import mapping, text

DUPLICATE_FRAMEWORK = error_rule(
    code="FC501",
    name="duplicate-framework",
    summary="Two Frameworks of one run have the same namespace and name.",
    why="Applied together, the last one wins and the other is lost.",
    remedy="Rename one, or give them different namespaces. "
    "If one is a copy, such as compiled output, name its folder in `.fcompileignore`.",
)
SERVICE_NAME_TAKEN = warning_rule(
    code="FC502",
    name="service-name-taken",
    summary="A Service has the name of the one that a role asks for.",
    why="The controller never touches a Service that is not its own: the role's `service` would not be made.",
    remedy="Rename yours, or remove `service` from the role.",
)
SERVICES_OVERLAP = warning_rule(
    code="FC503",
    name="services-select-same-tasks",
    summary="Several headless Services select the same tasks.",
    why="Each of them gives the tasks DNS names, and it depends on `subdomain` which one counts.",
    remedy="Keep one of them.",
)


class FrameworkFact(NamedTuple):
    namespace: str
    name: str
    where: Where


class ServiceFact(NamedTuple):
    """A Service of the input, or the one that a role asks for (`ours`)."""

    namespace: str
    name: str
    framework: str
    """What it selects; empty: nothing of FrameworkController's."""
    role: str
    """Empty: every role."""
    headless: bool
    ours: bool
    where: Where


def own_services(context: FrameworkContext, where: Callable[[Path, Part], Where]) -> Iterator[ServiceFact]:
    """Yield the Services that the roles of a Framework ask for. `where` makes places of paths in the Framework."""
    for role in context.roles:
        if role.serves:
            name = names.service_name(context.name, role.name)
            yield ServiceFact(context.namespace, name, context.name, role.name, True, True, where((*role.path, "service"), "key"))


def user_services(value: Any, namespace: str, where: Callable[[Path, Part], Where]) -> Iterator[ServiceFact]:
    """Yield an object if it is a Service; `namespace` is for one that gives none."""
    if text(value, "apiVersion") == "v1" and text(value, "kind") == "Service":
        metadata, spec = mapping(value, "metadata"), mapping(value, "spec")
        selector = mapping(spec, "selector")
        # Other labels in the selector may exclude these Pods; whether they do is not known here.
        role = text(selector, names.TASKROLE_NAME) or "" if set(selector) <= {names.FRAMEWORK_NAME, names.TASKROLE_NAME} else "?"
        yield ServiceFact(
            text(metadata, "namespace") or namespace,
            text(metadata, "name") or "",
            text(selector, names.FRAMEWORK_NAME) or "",
            role,
            headless=spec.get("clusterIP") == "None",
            ours=False,
            where=where(("metadata", "name"), "value"),
        )


def cross_file_problems(frameworks: list[FrameworkFact], services: list[ServiceFact], look_up: Lookup) -> Iterator[Problem]:
    """Yield the problems between documents, each at the later one, in the order of the input."""
    first: dict[tuple[str, str], FrameworkFact] = {}
    for fact in frameworks:
        earlier = first.setdefault((fact.namespace, fact.name), fact)
        if earlier is not fact:
            message = (
                f"there is a Framework `{fact.name}` in namespace `{fact.namespace}` already: rename one of them, or change its namespace"
            )
            label = framework_label(fact.namespace, fact.name)
            yield problem_of_two(DUPLICATE_FRAMEWORK, fact.where, label, message, "the first one", earlier.where, look_up)
    yield from _services(services, look_up)


def _services(services: list[ServiceFact], look_up: Lookup) -> Iterator[Problem]:
    taken = {(service.namespace, service.name): service for service in services if not service.ours}
    for service in services:
        other = taken.get((service.namespace, service.name)) if service.ours else None
        if other is not None:
            message = (
                f"this role asks for a Service `{service.name}`, and the input has one: the controller leaves it alone; rename "
                "it or drop `service`"
            )
            label = framework_label(service.namespace, service.framework)
            yield problem_of_two(SERVICE_NAME_TAKEN, service.where, label, message, "that Service", other.where, look_up)
    by_framework: dict[tuple[str, str], _Selecting] = {}
    for service in services:
        if not service.headless or not service.framework or service.role == "?":
            continue
        others = by_framework.setdefault((service.namespace, service.framework), _Selecting())
        earlier = others.first_besides(service)
        if earlier is not None:
            message = f"headless Services `{earlier.name}` and `{service.name}` select the same tasks: keep one of them"
            label = framework_label(service.namespace, service.framework)
            yield problem_of_two(SERVICES_OVERLAP, service.where, label, message, "the other one", earlier.where, look_up)
        others.add(service)


class _Selecting:
    """The Services that select tasks of one Framework: of each role's, and of all, the first and the first of another name."""

    def __init__(self) -> None:
        self._by_role: dict[str, list[tuple[int, ServiceFact]]] = {}
        self._all: list[tuple[int, ServiceFact]] = []
        self._count = 0

    def add(self, service: ServiceFact) -> None:
        self._count += 1
        for known in (self._by_role.setdefault(service.role, []), self._all):
            if len(known) < 2 and all(other.name != service.name for _, other in known):
                known.append((self._count, service))

    def first_besides(self, service: ServiceFact) -> ServiceFact | None:
        """Return the first Service of another name that selects a task that this one selects too."""
        known = [*self._by_role.get(service.role, ()), *self._by_role.get("", ())] if service.role else self._all
        found = [(number, other) for number, other in known if other.name != service.name]
        return min(found, key=lambda one: one[0])[1] if found else None


def problem_of_two(rule: Rule, where: Where, framework: str, message: str, about: str, other: Where, look_up: Lookup) -> Problem:
    """Return the problem of a place that another one makes wrong; `about` says what is at the other."""
    place = look_up(where)
    return Problem(
        rule=rule,
        severity=rule.severity,
        message=message,
        file=where.file,
        span=place.span,
        source_line=place.source_line,
        field=field_path(where.path),
        framework=framework,
        related=(Related(about, file=other.file, span=look_up(other).span),),
        path=where.path,
        part=where.part,
    )
