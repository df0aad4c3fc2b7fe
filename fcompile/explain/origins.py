"""The origin of each leaf of a Pod, found by walking from the Pod back into the source: lowering adds fields, but moves hardly any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Path, Span
from fcompile.lower.environment import ENV_BEFORE_INSTANCE
from fcompile.lower.placeholders import role_values, substitute, values_of
from fcompile.model import names
from fcompile.pipeline.comparable import expected_pod
from fcompile.pipeline.compiled import Compiled
from fcompile.pipeline.overrides import Applied

SOURCE, PLACEHOLDER, DEFAULT, OVERRIDE, CONTROLLER = "source", "placeholder", "default", "override", "controller"
_TEMPLATE = ("task", "pod")
_MISSING: Any = object()


class Origin(NamedTuple):
    """Where a value comes from."""

    kind: str
    """SOURCE, PLACEHOLDER (of the source, with placeholders replaced), DEFAULT, OVERRIDE or CONTROLLER."""
    rule: str
    """Which default or rule it is, or how the source writes it where the Pod has it otherwise."""
    path: Path = ()
    """From the root of the Framework, for what stands in the source."""
    span: Span | None = None


class Leaf(NamedTuple):
    """A scalar of the Pod, or an empty list or mapping."""

    path: Path
    value: Any
    origin: Origin


class Task(NamedTuple):
    """What explaining the Pod of a task needs."""

    compiled: Compiled
    framework: dict[str, Any]
    """As it was read, with overrides carried out."""
    role: int
    """Its index in `taskRoles`."""
    number: int
    """Its index."""
    version: int
    """Of the cluster, Kubernetes 1.x minor."""
    applied: tuple[Applied, ...]
    locate: Callable[[Path], Span]
    """The place of a field of the Framework in the source."""
    namespace_setting: str
    """What sets the namespace of a Framework that names none, for messages."""


class LifetimeField(NamedTuple):
    """What a field of the whole Framework does to the Pod, without being in it."""

    field: str
    """Of the Framework's `spec`."""
    value: Any
    meaning: str
    span: Span


class Explained(NamedTuple):
    """A Pod, and where it comes from."""

    pod: dict[str, Any]
    leaves: tuple[Leaf, ...]
    lifetime: tuple[LifetimeField, ...]


def explain(task: Task) -> Explained:
    """Return the Pod of a task as `build` gives it, and the origin of each of its leaves in that order."""
    made = expected_pod(task.compiled.intent.roles[task.role], task.compiled.namespace, task.number, task.version)
    finder = _Finder(task)
    found = tuple(Leaf(path, value, finder.origin(path, value)) for path, value in leaves(made))
    given = [(field, value) for field, value in task.compiled.intent.lifetime.items() if value != ""]
    lifetime = (LifetimeField(field, value, _meaning(field, value), task.locate(("spec", field))) for field, value in given)
    return Explained(made, found, tuple(lifetime))


def _meaning(field: str, value: Any) -> str:
    """Return what a field of the Framework's lifetime does to a Pod that is there."""
    if field == "activeDeadlineSeconds":
        return (
            f"it is ended {value:,} s after the first attempt of the Framework began, with code -240: all attempts and the delays between "
            "them count"
        )
    if field == "ttlSecondsAfterFinished":
        return f"what is left of it goes {value:,} s after the end of the Framework"
    if value == "All":
        return "it is deleted once it has finished"
    return "once it has finished and its task is not retried, it stays for its logs; if it runs at the end of the Framework, it is ended"


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every scalar and every empty list or mapping, in order."""
    if isinstance(value, dict | list) and value:
        steps: Iterable[tuple[str | int, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
        for step, item in steps:
            yield from leaves(item, (*path, step))
    else:
        yield path, value


class _Finder:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._root: Path = ("spec", "taskRoles", task.role)
        self._role = task.framework["spec"]["taskRoles"][task.role]
        framework, role = task.compiled.intent.framework, self._role["name"]
        self._known = role_values(framework, role)
        sums = task.compiled.intent.roles[task.role].sums
        self._values = values_of(framework, role, task.compiled.namespace, task.number, sums)
        self._filled = frozenset(task.compiled.filled)
        self._keys: dict[int, dict[str, str]] = {}
        """What the keys of a mapping, by its id, become, and which key it is that becomes this. Asked for each key, so made once."""
        self._overridden = [(str(applied.override), applied.path) for applied in task.applied if applied.role is self._role]

    def origin(self, path: Path, value: Any) -> Origin:
        """Return where the leaf at a path of the Pod comes from."""
        match path:
            case ("apiVersion" | "kind",):
                return Origin(CONTROLLER, "every task is a Pod")
            case ("metadata", "name"):
                return Origin(CONTROLLER, "{framework}-{role}-{index}")
            case ("metadata", "namespace"):
                return self._namespace()
            case ("metadata", "labels", str(name)) if name in names.POD_LABELS:
                return Origin(CONTROLLER, "labels of every Pod of a Framework")
            case ("metadata", "annotations", str(name)) if name in names.KNOWN_NAMES:
                return Origin(CONTROLLER, "annotations of every Pod of a Framework")
            case ("spec", "containers" | "initContainers" as kind, int(place), "env", int(variable), *rest):
                if variable < ENV_BEFORE_INSTANCE:
                    return Origin(CONTROLLER, "variables of every container, before its own")
                path = ("spec", kind, place, "env", variable - ENV_BEFORE_INSTANCE, *rest)
        return self._in_source(path, value)

    def _namespace(self) -> Origin:
        if self._task.framework["metadata"].get("namespace"):
            return self._at(SOURCE, "", ("metadata", "namespace"))
        return Origin(DEFAULT, f"the Framework names none: {self._task.namespace_setting}, or else `default`")

    def _in_source(self, path: Path, value: Any) -> Origin:
        written, raw = self._walk(path)
        if raw is None and value in ("", "0"):
            return self._at(SOURCE, "null in a mapping is an empty value", (*self._root, *written))
        if raw is None or raw is _MISSING or (raw == "" != value) or (not raw and _is_set_by_us(path)):
            return self._added(path, written)
        field = (*self._root, *written)
        override = next((text for text, path in self._overridden if path == written[: len(path)]), None)
        if override is not None:
            return Origin(OVERRIDE, override, field)
        template = next((text for text in (raw, *written) if isinstance(text, str) and self._replaced(text) != text), None)
        if template is not None:
            return self._at(PLACEHOLDER, template, field)
        same = raw == value and isinstance(raw, bool) == isinstance(value, bool)
        return self._at(SOURCE, "" if same or isinstance(raw, dict | list) else f"written as {raw}", field)

    def _walk(self, path: Path) -> tuple[Path, Any]:
        """Return the path in the role that produces a path of the Pod, and its value there, or _MISSING if there is none on the way."""
        written: Path = _TEMPLATE
        node: Any = self._role["task"]["pod"]
        for step in path:
            if isinstance(node, dict):
                step = self._key(node, str(step))
                node = node.get(step, _MISSING)
            elif isinstance(node, list) and isinstance(step, int) and step < len(node):
                node = node[step]
            else:
                node = _MISSING
            written = (*written, step)
        return written, node

    def _key(self, node: dict[str, Any], key: str) -> str:
        """Return the key of a mapping that becomes `key` in the Pod. If there are several, the one that sorts last wins."""
        if id(node) not in self._keys:
            given = (one for one in node if node[one] is not None)
            by_name = sorted(given, key=lambda one: (substitute(one, self._known), one))
            self._keys[id(node)] = {self._replaced(one): one for one in by_name}
        return self._keys[id(node)].get(key, key)

    def _replaced(self, text: str) -> str:
        made: str = substitute(text, self._values)
        return made

    def _added(self, path: Path, written: Path) -> Origin:
        """Return the origin of a value that the template does not have."""
        match path:
            case ("spec", "containers" | "initContainers", int(), "terminationMessagePolicy"):
                return Origin(CONTROLLER, "in every container that does not set it")
            case ("spec", "hostname" | "subdomain"):
                return self._at(CONTROLLER, "the role's service makes its tasks known by name", (*self._root, "service"))
            case (*_, "matchExpressions", int(), "key" | "operator") | (*_, "matchExpressions", int(), "values", int()):
                return Origin(DEFAULT, "the API server adds the labels that matchLabelKeys and mismatchLabelKeys name")
        if (*self._root, *written) in self._filled:
            return Origin(DEFAULT, "what identifies an item of a list is written out")
        return Origin(DEFAULT, "written out as the API server stores it, since it compares this as a whole")

    def _at(self, kind: str, rule: str, path: Path) -> Origin:
        return Origin(kind, rule, path, self._task.locate(path))


def _is_set_by_us(path: Path) -> bool:
    """Return whether the compiler sets this field where the template leaves it empty."""
    return path[-1] == "terminationMessagePolicy" or path in (("spec", "hostname"), ("spec", "subdomain"))
