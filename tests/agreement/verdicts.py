"""What `validate`, the CRD and the API server each say of a Framework."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, Protocol

from fcompile.check.document import Options
from fcompile.default import default
from fcompile.diagnostics.problem import Severity
from fcompile.expand import pod, service
from fcompile.load.files import FileEntry
from fcompile.lower.environment import ClusterValues
from fcompile.lower.intent import Role, at_once, lower_role, version_for
from fcompile.model import names
from fcompile.pipeline.inputs import check_entry

CLUSTER = ClusterValues("u-framework", 0, "u-config-map", "u-role", "u-task", 0)
GROUP_PATH = f"/apis/{names.API_VERSION}"
_STRICT = {"dryRun": "All", "fieldValidation": "Strict"}
_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/node.k8s.io/v1/runtimeclasses"


class Api(Protocol):
    """The client of the test cluster."""

    def request(self, method: str, path: str, body: Any = None, query: Mapping[str, str | int] | None = ...) -> tuple[int, Any]: ...


class Refusal(NamedTuple):
    """Why a server refuses an object."""

    field: str
    """The first field that is wrong, indices and keys left out; empty when the server names none."""
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class Verdict(NamedTuple):
    """All three."""

    errors: tuple[str, ...]
    """The codes of what `validate` calls errors."""
    warnings: tuple[str, ...]
    crd: Refusal | None
    server: Refusal | None
    """Why the first Pod or Service that is refused is."""
    is_made: bool
    """Whether Pods could be made at all, so that the server was asked."""


class Judge:
    """Asks all three; from several threads if need be. Nothing is ever stored on the server."""

    def __init__(self, api: Api, minor: int, namespace: str) -> None:
        self.api, self.minor, self.namespace = api, minor, namespace
        self._known: dict[str, Refusal | None] = {}
        self._lock = Lock()

    def verdict(self, framework: dict[str, Any]) -> Verdict:
        """What each says. Nothing is changed in the Framework."""
        errors, warnings = self.validate(framework)
        made = self.objects(framework)
        refused = next((refusal for one in made or () if (refusal := self.server(one))), None)
        return Verdict(errors, warnings, self.crd(framework), refused, made is not None)

    def validate(self, framework: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The codes of the errors and of the warnings that a user of `validate` is told."""
        data = json.dumps(framework, ensure_ascii=True).encode()
        problems = check_entry(FileEntry("<stdin>", "-"), Options(self.minor, self.namespace), data).problems
        found = {severity: tuple(sorted({one.rule.code for one in problems if one.severity is severity})) for severity in Severity}
        return found[Severity.ERROR], found[Severity.WARNING]

    @cached_property
    def has_crd(self) -> bool:
        """Whether the server knows Frameworks."""
        return self.api.request("GET", GROUP_PATH)[0] == 200

    def crd(self, framework: dict[str, Any]) -> Refusal | None:
        """Why a server with the CRD does not take the Framework as kubectl sends it."""
        if not self.has_crd:
            return None
        sent = as_kubectl_sends(framework)
        if isinstance(sent.get("metadata"), dict) and isinstance(sent["metadata"].get("resourceVersion"), str):
            # Right or wrong only for what is stored; in a file from `kubectl get` it is an old one, and `build` leaves it out.
            sent["metadata"] = {**sent["metadata"], "resourceVersion": ""}
        return self._asked(f"{GROUP_PATH}/namespaces/{{}}/frameworks", sent)

    def objects(self, framework: dict[str, Any]) -> list[dict[str, Any]] | None:
        """The Pods of the first and last task of every role as the controller would make them, and the Services; None if it could not.

        Made also of a Framework that `validate` refuses.
        """
        try:
            defaulted = default(framework).framework
            namespace = defaulted["metadata"].get("namespace") or self.namespace
            version = version_for(defaulted)
            roles = [at_once(lower_role(defaulted["metadata"]["name"], role, version)) for role in defaulted["spec"].get("taskRoles") or ()]
            return [made for role in roles for made in _objects(role, namespace)]
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
            return None

    def server(self, made: dict[str, Any]) -> Refusal | None:
        """Why the API server does not create the object."""
        seen = json.dumps(made, sort_keys=True)
        if seen not in self._known:
            refusal = self._asked(f"/api/v1/namespaces/{{}}/{made['kind'].lower()}s", made)
            with self._lock:
                self._known[seen] = refusal
        return self._known[seen]

    def _asked(self, path: str, body: dict[str, Any], attempts: int = 4) -> Refusal | None:
        namespace = (body.get("metadata") or {}).get("namespace") if isinstance(body.get("metadata"), dict) else None
        if isinstance(namespace, str) and namespace not in ("", self.namespace):
            # The server would say that there is no such namespace: what counts is whether there can be one.
            refusal = self._asked("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            if refusal is not None:
                return refusal
            body = {**body, "metadata": {**body["metadata"], "namespace": self.namespace}}
        status, answer = self.api.request("POST", path.format(self.namespace), body, _STRICT)
        if status in (200, 201) or answer.get("reason") == "AlreadyExists":
            return None
        # Admission looks a class up under whatever name it has, and fails where that cannot be a name.
        no_name = re.search("invalid resource name|resource name may not be empty", answer.get("message", ""))
        if (status >= 500 and not no_name) or status == 429:
            raise AssertionError(f"the server failed: {status} {answer} for {body}")
        message = answer["message"]
        if attempts and body.get("kind") == "Pod" and (other := _in_another_cluster(message, body)):
            there, pod = other
            refusals = [self._asked(*one) for one in there]
            return next((one for one in refusals if one), None) or self._asked(path, pod, attempts - 1)
        return _refusal(answer, message)


def _objects(role: Role, namespace: str) -> list[dict[str, Any]]:
    made = []
    for index in sorted({0, max(role.task_number, 1) - 1}):
        one = deepcopy(pod(role, namespace, index, CLUSTER))
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "attempt", "uid": "u", "controller": True, "blockOwnerDeletion": True}
        one["metadata"]["ownerReferences"] = [*(one["metadata"].get("ownerReferences") or []), owner]
        if not one["spec"].get("serviceAccountName") and not one["spec"].get("serviceAccount"):
            # What the ServiceAccount plugin, which the test cluster goes without, puts in first of all.
            one["spec"]["serviceAccountName"] = "default"
        made.append(one)
    headless = service(role, namespace)
    return [*made, headless] if headless is not None else made


def as_kubectl_sends(value: Any) -> Any:
    """The value as JSON after kubectl has read it: numbers are int64 or float64, and whole ones are written without a fraction."""
    if isinstance(value, dict):
        return {key: as_kubectl_sends(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_kubectl_sends(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        value = float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    return value


def _in_another_cluster(message: str, made: dict[str, Any]) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]] | None:
    """For a Pod that needs something which the test cluster lacks and another may have: what that is, as dry-run requests, and
    the Pod without what refers to it. None when it is refused for another reason."""
    spec = made["spec"]

    def without(*fields: str) -> dict[str, Any]:
        return {**made, "spec": {name: item for name, item in spec.items() if name not in fields}}

    priority, runtime = _CLASSES
    if re.search(r"no PriorityClass with name|integer value of priority|PreemptionPolicy \(", message):
        name = spec.get("priorityClassName") or "default"
        if not name.startswith("system-"):
            wanted = {"metadata": {"name": name}, "value": spec.get("priority") or 0, "preemptionPolicy": spec.get("preemptionPolicy")}
            return [(priority, wanted)], without("priorityClassName", "priority", "preemptionPolicy")
    if re.search(r"RuntimeClass .* not found|RuntimeClass defined Overhead", message) and spec.get("runtimeClassName"):
        overhead = {"podFixed": spec["overhead"]} if spec.get("overhead") else None
        wanted = {"metadata": {"name": spec["runtimeClassName"]}, "handler": "x", "overhead": overhead}
        return [(runtime, wanted)], without("runtimeClassName", "overhead")
    return None


def _refusal(answer: dict[str, Any], message: str) -> Refusal:
    causes = (answer.get("details") or {}).get("causes") or []
    if causes and answer.get("reason") == "Invalid":
        return Refusal(re.sub(r"\[[^\]]*\]", "[]", causes[0].get("field", "")), causes[0].get("message", ""))
    return Refusal("", message)
