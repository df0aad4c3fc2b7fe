"""The same requests to a real server and to the one in memory."""

from __future__ import annotations

import itertools
import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from fcontroller.testing.memory_api import MemoryApi
from tests.cluster.api import Api
from tests.memory_api.operations import COLLECTIONS, KINDS, Operation, manifest, merged
from tests.memory_api.same import Comparison
from tests.memory_api.validation import Validating

SETTLES_WITHIN = 10.0  # seconds
TRIES = 3
END = "zzz"
"""The name of the objects that mark the end of a watch."""
PROBES = ("probe-owner", "probe-dependent")
"""The objects by which the collector is waited for."""
Request = Callable[[str, str, Any, Mapping[str, str]], tuple[int, Any]]
Event = dict[str, Any]


class Side:
    """One of the servers, and what was seen of its objects."""

    def __init__(self, request: Request, namespace: str) -> None:
        self.request = request
        self.namespace = namespace
        self.seen: dict[tuple[str, str], dict[str, Any]] = {}
        self._versions: dict[tuple[str, str], list[str]] = {}
        self._uids: dict[tuple[str, str], list[str]] = {}

    def path(self, kind: str, name: str = "", part: str = "") -> str:
        return "/".join(filter(None, (COLLECTIONS[kind].format(namespace=self.namespace), name, part)))

    def send(self, operation: Operation) -> tuple[int, Any]:
        """Sends a request, with what its names stand for on this server."""
        kind, name = operation.kind, operation.name
        body = operation.body
        if operation.changes_seen:
            body = merged(self.seen.get((kind, name), manifest(kind, name)), body)
        body = self._said(body, kind, name)
        query = {key: value.format(namespace=self.namespace) for key, value in operation.query.items()}
        code, answer = self.request(operation.method, self.path(kind, name, operation.part), body, query)
        self.look(kind, answer)
        return code, answer

    def look(self, kind: str, answer: Any) -> None:
        """Remembers the objects of an answer."""
        if not isinstance(answer, dict) or answer.get("kind") == "Status":
            return
        version, called = KINDS[kind]
        for value in answer.get("items", [answer]):
            about = value["metadata"]
            key = kind, about["name"]
            self.seen[key] = {"apiVersion": version, "kind": called, **value}
            for known, field in ((self._versions, "resourceVersion"), (self._uids, "uid")):
                if about[field] not in known.setdefault(key, []):
                    known[key].append(about[field])

    def _said(self, value: Any, kind: str, name: str) -> Any:
        if isinstance(value, dict):
            return {key: self._said(item, kind, name) for key, item in value.items()}
        if isinstance(value, list):
            return [self._said(item, kind, name) for item in value]
        if isinstance(value, str) and value.startswith("$version "):
            known = self._versions.get((kind, name)) or ["1"]
            return known[0 if value.endswith("stale") else -1]
        if isinstance(value, str) and value.startswith("$uid "):
            _, of, whose, age = value.split()
            known = self._uids.get((of, whose), [])
            return known[0 if age == "first" else -1] if known and age != "none" else str(uuid.uuid5(uuid.NAMESPACE_URL, f"{of} {whose}"))
        return value.format(namespace=self.namespace) if value == "{namespace}" else value


def compare(api: Api, namespace: str, sequence: list[Operation], generation: bool) -> int:
    """Sends the same requests to a real server and to one in memory; AssertionError when they differ.

    The real collector's workers race each other: with a finalizer `orphan` and an owner that has gone, a second worker may put the
    finalizer back that a first one has dealt with. So a sequence in which garbage was collected has three tries.

    :returns: how many tries it took.
    """
    for tries in itertools.count(1):
        both = Both(api, namespace, generation)
        try:
            for operation in sequence:
                both.send(operation)
            both.finish()
            return tries
        except AssertionError:
            if not both.collected or tries == TRIES:
                raise
        finally:
            both.clean()
    raise AssertionError


class Both:
    """A real server and one in memory, and how far their answers are the same."""

    def __init__(self, api: Api, namespace: str, generation: bool) -> None:
        self._api = api
        numbers = itertools.count(1)
        self.memory_api = MemoryApi(lambda: datetime.now(UTC), lambda: str(uuid.UUID(int=next(numbers) << 64)), Validating())
        self.memory_api.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.real = Side(self._ask, namespace)
        self.memory = Side(self.memory_api.request, namespace)
        self.same = Comparison(generation)
        self._begun = {self.real: self._version(self.real), self.memory: str(self.memory_api.revision)}
        #: Garbage was collected.
        self.collected = False
        self._kinds: dict[str, None] = {}

    def _ask(self, method: str, path: str, body: Any, query: Mapping[str, str]) -> tuple[int, Any]:
        kind = "application/json-patch+json" if method == "PATCH" else "application/json"
        code, answer = self._api.request(method, path, body, query, content_type=kind)
        if answer.get("kind", "").endswith("List"):
            answer["metadata"].pop("remainingItemCount", None)  # It may be missing, and nobody here asks.
        return code, answer

    def send(self, operation: Operation) -> None:
        """Sends a request to both; AssertionError when the answers differ, or what garbage collection makes of it."""
        self._kinds[operation.kind] = None
        (there, real), (here, memory) = self.real.send(operation), self.memory.send(operation)
        self._compare(operation, there, real, here, memory)
        while real.get("metadata", {}).get("continue"):  # the other pages
            pages = [(side, {**operation.query, "continue": answer["metadata"]["continue"]}) for side, answer in self._sides(real, memory)]
            (there, real), (here, memory) = (side.send(operation._replace(query=query)) for side, query in pages)
            self._compare(operation, there, real, here, memory)
        if self.memory_api.collect():
            self.collected = True
            self._settle(f"after {operation}")

    def _sides(self, real: Any, memory: Any) -> tuple[tuple[Side, Any], tuple[Side, Any]]:
        return (self.real, real), (self.memory, memory)

    def _compare(self, operation: Operation, there: int, real: Any, here: int, memory: Any) -> None:
        found = [] if there == here else [f"{there} there, {here} here: {real} there, {memory} here"]
        found = found or self.same.differences(real, memory, KINDS[operation.kind][1])
        assert not found, f"{operation}: {found}"

    def finish(self) -> None:
        """Compares what is there in the end, and what watches tell of the way there."""
        if self.collected:
            wait_for_collector(self._api, self.real.namespace, "configmaps")
        self._settle("in the end")
        for kind in self._kinds:
            for side in (self.real, self.memory):
                body = merged(manifest(kind, END, side.namespace), {"metadata": {"labels": {"x": "1"}}})
                code, answer = side.request("POST", side.path(kind), body, {})
                assert code == 201, answer
        for kind in self._kinds:
            for query in ({}, {"labelSelector": "x=1"}):
                self._compare_events(kind, list(self._there(kind, query)), self._here(kind, query))

    def clean(self) -> None:
        """Removes everything from the real server's namespace."""
        end = time.monotonic() + SETTLES_WITHIN
        while left := [(kind, value) for kind in COLLECTIONS for value in self._list(self.real, kind)["items"]]:
            assert time.monotonic() < end, left
            for kind, value in left:
                path = self.real.path(kind, value["metadata"]["name"])
                if value["metadata"].get("finalizers") or value["metadata"].get("ownerReferences"):
                    self._api.request("PATCH", path, {"metadata": {"finalizers": None, "ownerReferences": None}})
                self._api.request("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})

    # The state

    def _settle(self, when: str) -> None:
        """Waits until the real garbage collector has come as far as the one in memory."""
        end = time.monotonic() + (SETTLES_WITHIN if self.collected else 0)
        while True:
            found = self._state_differences()
            if not found:
                return
            assert time.monotonic() < end, f"{when}: {found}"
            time.sleep(0.01)

    def _state_differences(self) -> list[str]:
        """Compares all objects. What does not fit yet is not remembered."""
        lists = [(kind, self._list(self.real, kind), self._list(self.memory, kind)) for kind in self._kinds]
        trial = Comparison(self.same._generation)
        for pairs, known in ((trial.uids, self.same.uids), (trial.versions, self.same.versions)):
            pairs.there, pairs.back = dict(known.there), dict(known.back)
        found = [text for _, real, memory in lists for text in trial.differences(real, memory)]
        if not found:
            self.same = trial
            for kind, real, memory in lists:
                self.real.look(kind, real)
                self.memory.look(kind, memory)
        return found

    @staticmethod
    def _list(side: Side, kind: str) -> Any:
        code, answer = side.request("GET", side.path(kind), None, {})
        assert code == 200, answer
        return answer

    def _version(self, side: Side) -> str:
        version: str = self._list(side, "configmaps")["metadata"]["resourceVersion"]
        return version

    # Watches

    def _there(self, kind: str, query: dict[str, str]) -> Iterator[Event]:
        watch = self._api.watch(self.real.path(kind), {**query, "resourceVersion": self._begun[self.real]}, seconds=30)
        for event in watch:
            if event["object"].get("metadata", {}).get("name") not in PROBES:
                yield event
            if event["object"].get("metadata", {}).get("name") == END:
                watch.stop()
                return

    def _here(self, kind: str, query: dict[str, str]) -> list[Event]:
        watch = self.memory_api.watch(self.memory.path(kind), {**query, "resourceVersion": self._begun[self.memory]})
        return watch.read()

    def _compare_events(self, kind: str, real: list[Event], memory: list[Event]) -> None:
        # The real collector works on many objects at a time: only the order for each of them is certain.
        orders = [_by_name(real), _by_name(memory)] if self.collected else [{"": real}, {"": memory}]
        assert orders[0].keys() == orders[1].keys(), _told(real, memory)
        for name, events in orders[0].items():
            others = orders[1][name]
            assert [event["type"] for event in events] == [event["type"] for event in others], f"{kind}: {_told(events, others)}"
            for event, other in zip(events, others, strict=True):
                found = self.same.differences(event["object"], other["object"])
                assert not found, f"{kind} {event['type']}: {found}: {_told(events, others)}"


def _by_name(events: Iterable[Event]) -> dict[str, list[Event]]:
    result: dict[str, list[Event]] = {}
    for event in events:
        result.setdefault(event["object"]["metadata"]["name"], []).append(event)
    return result


def _told(real: list[Event], memory: list[Event]) -> str:
    for event in [*real, *memory]:
        event["object"].get("metadata", {}).pop("managedFields", None)
    return f"\nthere: {json.dumps(real)}\nhere:  {json.dumps(memory)}"


def wait_for_collector(api: Api, namespace: str, owner: str, seconds: float = SETTLES_WITHIN) -> None:
    """Waits until the real garbage collector has removed a dependent of an owner that has gone.

    :param owner: the owner's kind, one that the collector may not follow yet.
    """
    paths = [COLLECTIONS[kind].format(namespace=namespace) for kind in (owner, "configmaps")]
    version, called = KINDS[owner]
    name, dependent = ("probe", "dependent") if owner == "frameworks" else PROBES
    code, made = api.request("POST", paths[0], manifest(owner, name))
    assert code == 201, made
    reference = {"apiVersion": version, "kind": called, "name": name, "uid": made["metadata"]["uid"]}
    body = {"metadata": {"name": dependent, "ownerReferences": [reference]}}
    code, answer = api.request("POST", paths[1], body)
    assert code == 201, answer
    api.request("DELETE", f"{paths[0]}/{name}", {"propagationPolicy": "Background"})
    end = time.monotonic() + seconds
    while api.request("GET", f"{paths[1]}/{dependent}")[0] == 200:
        assert time.monotonic() < end, "the garbage collector does nothing"
        time.sleep(0.01)
