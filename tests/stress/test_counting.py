"""What is counted in the API server's audit log."""

from __future__ import annotations

from tests.stress.setting import Json, pods_made


def event(verb: str, code: int, subresource: str = "") -> Json:
    what = {"resource": "pods", "namespace": "team", "name": "train-w-0"} | ({"subresource": subresource} if subresource else {})
    return {"verb": verb, "objectRef": what, "responseStatus": {"code": code}}


def test_a_creation_that_nobody_waited_for_counts_when_the_pod_is_there() -> None:
    there = [event("create", 504), event("create", 201, "binding"), event("patch", 200, "status"), event("delete", 200)]
    refused = [event("create", 500), event("get", 404), event("create", 201), event("create", 201, "binding")]
    assert pods_made(there) == pods_made(refused) == {("team", "train-w-0"): 1}
    assert pods_made(there + refused)["team", "train-w-0"] == 2
    assert not pods_made([event("create", 403), event("get", 404)]).total()
