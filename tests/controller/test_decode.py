"""Answers of the API server of which only a part is kept: it must be enough for every decision."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fcompile.model import names
from fcontroller.act import decode, nesting
from fcontroller.api import Projection
from fcontroller.decide import observed
from tests.decide.test_failures import RECORDED, sidecar_pod

_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "p-attempt", "uid": "c", "controller": True, "blockOwnerDeletion": True}
_METADATA = {"uid": "u", "name": "p", "resourceVersion": "1", "namespace": "n", "ownerReferences": [_OWNER]}
_GOES = {**_METADATA, "deletionTimestamp": "2027-01-15T08:00:30Z"}
_GONE = {"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "gone"}]}
PODS = [*[{"status": case["pod"]["status"]} for case in RECORDED[0]["cases"]], sidecar_pod(1, 143), {"status": _GONE}]


@pytest.mark.parametrize("metadata", [_METADATA, _GOES])
@pytest.mark.parametrize("pod", PODS)
def test_what_is_kept_of_a_pod_is_enough(pod: dict[str, Any], metadata: dict[str, Any]) -> None:
    whole = {"spec": {"nodeName": "n"}, **pod, "metadata": metadata}
    text = json.dumps({"type": "MODIFIED", "object": whole}, ensure_ascii=False).encode(errors="replace")
    kept, all_of_it = (observed.pod(decode.event(text, projection)["object"]) for projection in (Projection.POD, Projection.WHOLE))
    assert kept == all_of_it
    assert kept.owners == 1
    assert kept.finished is not None
    assert observed.read_end(kept.finished) == observed.read_pod(json.loads(json.dumps(whole, ensure_ascii=False).encode(errors="replace")))


def test_what_is_kept_of_a_config_map_is_enough() -> None:
    owner = {"apiVersion": names.API_VERSION, "kind": names.KIND, "name": "train", "uid": "f", "controller": True}
    metadata = {**_GOES, "name": "train-attempt", "finalizers": ["foregroundDeletion"], "ownerReferences": [owner]}
    text = json.dumps({"type": "MODIFIED", "object": {"metadata": metadata, "data": {}}}).encode()
    kept = observed.config_map(decode.event(text, Projection.METADATA)["object"])
    assert kept == observed.config_map({"metadata": metadata})
    assert kept.awaits_collector


LEVELS = 300_000
"""More than any Python decodes: from 3.14 on it takes tens of thousands, and an API server takes ten."""


@pytest.mark.parametrize("projection", Projection)
def test_what_is_nested_too_deep_is_cut_and_the_rest_is_decoded(projection: Projection) -> None:
    """Anybody may write such `managedFields`, in an object that is then in everybody's list."""
    nested = '{"f:a":' * LEVELS + "{}" + "}" * LEVELS
    pod = {"metadata": {"name": '}]"\\', "managedFields": [{"fieldsV1": "NESTED"}], "uid": "u"}, "status": {"phase": "[{"}}
    text = json.dumps({"metadata": {}, "items": [pod, {"metadata": {"name": "next"}}]}).replace('"NESTED"', nested).encode()
    with pytest.raises(decode.TooDeep):
        decode.answer(text, projection, listed=True)
    first, following = decode.answer(nesting.cut(text), projection, listed=True)["items"]
    assert (first["metadata"]["name"], first["metadata"]["uid"], following["metadata"]["name"]) == ('}]"\\', "u", "next")
    assert first.get("status", {}).get("phase", "[{") == "[{"


def test_bytes_that_are_no_text_are_replaced() -> None:
    """An API server keeps them in `managedFields`."""
    text = b'{"metadata": {}, "items": [{"metadata": {"name": "a", "managedFields": [{"fieldsV1": {"f:\xff\xed\xa0\x80": {}}}]}}]}'
    (found,) = decode.answer(text, Projection.WHOLE, listed=True)["items"]
    assert found == {"metadata": {"name": "a", "managedFields": [{"fieldsV1": {"f:" + "\ufffd" * 4: {}}}]}}


WHOLE = b'{"a": [{}, "[{", 1.5, null], "b": "\\"]"}'


@pytest.mark.parametrize("text", [b"", b"[" * 9, b'"[', b'{"a":"\\', b"]]]", b"[" + b" " * 1_000_000, WHOLE])
def test_of_what_is_not_too_deep_nothing_is_cut(text: bytes) -> None:
    assert nesting.cut(text) == text


def test_what_is_cut_is_no_more_than_what_is_too_deep() -> None:
    for levels, wanted in ((nesting.LEVELS, None), (nesting.LEVELS + 1, nesting.CUT)):
        value = json.loads(nesting.cut(b"[" * levels + b"]" * levels))
        for _ in range(nesting.LEVELS - 1):
            (value,) = value
        assert value == ([] if wanted is None else [wanted])


def test_what_has_no_end_is_unreadable() -> None:
    with pytest.raises(decode.Unreadable):
        decode.event(nesting.cut(b"[" * LEVELS), Projection.WHOLE)
