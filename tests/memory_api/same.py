"""Whether two servers said the same: each value of the one is that of the other, uids, resourceVersions, times and defaults aside."""

from __future__ import annotations

import re
from typing import Any

_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIMES = ("creationTimestamp", "deletionTimestamp", "lastTransitionTime")
_DEFAULTS = {
    "Pod": {
        "dnsPolicy", "securityContext", "schedulerName", "tolerations", "priority", "enableServiceLinks", "preemptionPolicy",
        "restartPolicy", "resources", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "qosClass",
        "serviceAccount", "observedGeneration", "lastProbeTime",
    },
    "Service": {"clusterIPs", "type", "sessionAffinity", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy", "protocol", "targetPort"},
    "Event": {"firstTimestamp", "lastTimestamp", "eventTime", "reportingComponent", "reportingInstance", "source"},
    "Node": {"taints", "daemonEndpoints", "nodeInfo"},
    "Framework": {"executionType", "retryPolicy"},
}  # fmt: skip
"""By kind, what a real server fills in and the one in memory does not."""


class Pairs:
    """Names of the one server that stand for those of the other, one for one."""

    def __init__(self) -> None:
        self.there: dict[str, str] = {}
        self.back: dict[str, str] = {}

    def fit(self, real: str, memory: str) -> bool:
        return self.there.setdefault(real, memory) == memory and self.back.setdefault(memory, real) == real


class Comparison:
    """Answers of a real server against those of the one in memory, over one sequence of requests."""

    def __init__(self, generation: bool = True) -> None:
        """:param generation: whether this Kubernetes counts the generations of Pods (from 1.35 on always)."""
        self.uids, self.versions = Pairs(), Pairs()
        self._generation = generation

    def differences(self, real: Any, memory: Any, kind: str = "", path: str = "") -> list[str]:
        """What differs; what pairs up for the first time is remembered."""
        if isinstance(real, dict) and isinstance(memory, dict):
            return self._of_objects(real, memory, memory.get("kind", kind) if not path else kind, path)
        if isinstance(real, list) and isinstance(memory, list):
            if len(real) != len(memory):
                return [f"{path}: {_short(real)} there, {_short(memory)} here"]
            pairs = enumerate(zip(real, memory, strict=True))
            return [text for at, pair in pairs for text in self.differences(*pair, kind, f"{path}[{at}]")]
        return [] if type(real) is type(memory) and real == memory else [f"{path}: {_short(real)} there, {_short(memory)} here"]

    def _of_objects(self, real: dict[str, Any], memory: dict[str, Any], kind: str, path: str) -> list[str]:
        left_out = {"managedFields"} | _DEFAULTS.get(kind, set())
        names = {name for name in real if name in memory or name not in left_out} | set(memory)
        found = []
        for name in sorted(names):
            inside = f"{path}.{name}"
            if name not in real or name not in memory:
                found.append(f"{inside}: only {'there' if name in real else 'here'}: {_short(real.get(name, memory.get(name)))}")
            else:
                found += self._of_field(name, real[name], memory[name], kind, inside)
        return found

    def _of_field(self, name: str, real: Any, memory: Any, kind: str, path: str) -> list[str]:
        if name == "uid" and not path.endswith("involvedObject.uid"):
            return [] if self.uids.fit(real, memory) else [f"{path}: another object"]
        if path == ".metadata.resourceVersion" and kind.endswith("List"):
            return []
        if name == "resourceVersion":
            return [] if self.versions.fit(real, memory) else [f"{path}: {real} there and {memory} here are not of the same write"]
        if name in _TIMES and isinstance(real, str) and isinstance(memory, str):
            return []
        if name == "continue":
            return [] if bool(real) == bool(memory) else [f"{path}: {real!r} there, {memory!r} here"]
        if name == "message" and isinstance(real, str) and isinstance(memory, str):
            return [] if _words(real) == _words(memory) else [f"{path}: {real!r} there, {memory!r} here"]
        if name == "generation" and kind == "Pod" and not self._generation:
            return []
        if name == "causes":
            return self._of_causes(real, memory, path)
        if name == "items":
            item = kind.removesuffix("List")
            return self.differences(real, memory, item, path)
        return self.differences(real, memory, kind, path)

    def _of_causes(self, real: Any, memory: Any, path: str) -> list[str]:
        """The same causes; a real server lists most of them twice, and after some it says that it did not look further (`<nil>`)."""
        there, here = (
            {(cause.get("reason"), cause.get("field"), _words(cause.get("message"))) for cause in causes if cause.get("field") != "<nil>"}
            for causes in (real, memory)
        )
        return [] if there == here else [f"{path}: {there} there, {here} here"]


def _words(message: str) -> str:
    """What of a message both servers say: without uids and versions, and without texts of libraries."""
    message = _UID.sub("UID", message)
    for beginning in _LIBRARIES:
        if beginning in message:
            return beginning
    return re.sub(r"\((\d+|)\)", "(VERSION)", message)


_LIBRARIES = (
    "Precondition failed: UID in precondition",
    "the body of the request was in an unknown format",
    "pod updates may not",
    "name or generateName is required",
    "unable to parse requirement",
    "Only one reference can have Controller",
    "cannot be handled as a",
    "does not match the expected API version",
    "the object provided is unrecognized",
    "field selector",
    "field label not supported",
)
"""What messages go on after in words that clients do not look at."""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 200 else f"{text[:200]}…"
