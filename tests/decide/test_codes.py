"""The codes that are known in advance: users' tools compare them."""

from __future__ import annotations

from fcontroller.decide import codes

UPSTREAM = [
    (200, "ContainerTransientFailed", "Failed", ["Transient"]),
    (201, "ContainerTransientConflictFailed", "Failed", ["Transient", "Conflict"]),
    (210, "ContainerPermanentFailed", "Failed", ["Permanent"]),
    (0, "Succeeded", "Succeeded", []),
    (-100, "ConfigMapExternalDeleted", "Failed", ["Transient"]),
    (-101, "PodExternalDeleted", "Failed", ["Transient"]),
    (-110, "ConfigMapLocalCacheCreationTimeout", "Failed", ["Transient"]),
    (-111, "PodLocalCacheCreationTimeout", "Failed", ["Transient"]),
    (-120, "PodCreationTransientError", "Failed", ["Transient"]),
    (-200, "PodCreationPermanentError", "Failed", ["Permanent"]),
    (-210, "StopFrameworkRequested", "Failed", ["Permanent"]),
    (-220, "FrameworkAttemptCompletion", "Failed", ["Permanent"]),
    (-230, "DeleteTaskRequested", "Failed", ["Permanent"]),
    (-300, "PodFailedWithoutFailedContainer", "Failed", []),
    (-310, "PodCreationUnknownError", "Failed", []),
]
"""Recorded from upstream."""
OURS = {
    codes.RESTARTED: (-130, "RestartFrameworkRequested", "Transient"),
    codes.DEADLINE_EXCEEDED: (-240, "ActiveDeadlineExceeded", "Permanent"),
}
PREDEFINED = {value.code: value for value in vars(codes).values() if isinstance(value, codes.Code)}


def test_as_upstream() -> None:
    statuses = [PREDEFINED[code].ended("d") for code, *_ in UPSTREAM]
    assert PREDEFINED.keys() - {code for code, *_ in UPSTREAM} == {code for code, *_ in OURS.values()}
    assert statuses == [
        {"code": code, "phrase": phrase, "type": {"name": name, "attributes": attributes}, "diagnostics": "d"}
        for code, phrase, name, attributes in UPSTREAM
    ]


def test_ours() -> None:
    for ours, (code, phrase, attribute) in OURS.items():
        kind = {"name": "Failed", "attributes": [attribute]}
        assert ours.ended("d") == {"code": code, "phrase": phrase, "type": kind, "diagnostics": "d"}
        assert codes.is_reserved(code), "no container and no podFailureSpec can give it"


def test_reserved_ranges() -> None:
    edges = {-1000: False, -999: True, 0: True, 1: False, 199: False, 200: True, 219: True, 220: False}
    assert {code: codes.is_reserved(code) for code in edges} == edges


def test_each_name_is_of_its_code() -> None:
    assert (codes.STOPPED.code, codes.FRAMEWORK_ATTEMPT_ENDS.code, codes.SCALED_DOWN.code) == (-210, -220, -230)
    assert (codes.CONFIG_MAP_DELETED_BY_OTHERS.code, codes.POD_DELETED_BY_OTHERS.code) == (-100, -101)
    assert (codes.CACHE_TIMEOUT_CONFIG_MAP.code, codes.CACHE_TIMEOUT_POD.code) == (-110, -111)
