"""What is counted in the API server's audit log."""

from __future__ import annotations

from tests.stress.setting import Json, pods_made


def event(verb: str, code: int, subresource: str = "", at: str = "") -> Json:
    what = {"resource": "pods", "namespace": "team", "name": "train-w-0"} | ({"subresource": subresource} if subresource else {})
    return {"verb": verb, "objectRef": what, "responseStatus": {"code": code}, "requestReceivedTimestamp": at}


def test_a_creation_that_nobody_waited_for_counts_when_the_pod_is_there() -> None:
    there = [event("create", 504), event("create", 201, "binding"), event("patch", 200, "status"), event("delete", 200)]
    refused = [event("create", 500), event("get", 404), event("create", 201), event("create", 201, "binding")]
    assert pods_made(there) == pods_made(refused) == {("team", "train-w-0"): 1}
    assert pods_made(there + refused)["team", "train-w-0"] == 2
    assert not pods_made([event("create", 403), event("get", 404)]).total()


def test_a_creation_of_which_nothing_was_written_down_counts_when_the_pod_gets_a_node() -> None:
    """As when the server is killed in between. To ask again finds the Pod there, as does one who binds it again."""
    unseen = [event("create", 409), event("create", 201, "binding"), event("create", 409, "binding"), event("patch", 200, "status")]
    assert pods_made(unseen)["team", "train-w-0"] == 1
    seen = [event("create", 201), event("create", 201, "binding")]
    assert pods_made(unseen + seen)["team", "train-w-0"] == pods_made(seen + unseen)["team", "train-w-0"] == 2


def test_the_order_is_that_in_which_requests_came() -> None:
    """A watch tells of a Pod before the answer to its creation is on its way."""
    assert pods_made([event("create", 201, "binding", at="2"), event("create", 201, at="1")])["team", "train-w-0"] == 1
