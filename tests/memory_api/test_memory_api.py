"""What a comparison with a real server cannot show: time, forgotten history, and that nobody can change what is stored."""

from __future__ import annotations

import pytest

from fcontroller.testing.memory_api import MemoryApi
from tests.memory_api.servers import CONFIG_MAPS, PODS, Clock, config_map, create, names, pod, server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def api(clock: Clock) -> MemoryApi:
    return server(clock)


class TestTime:
    def test_a_pod_has_its_grace_period_and_it_is_only_shortened(self, api: MemoryApi, clock: Clock) -> None:
        create(api, PODS, pod("a", node="node"))
        first = api.request("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 20})[1]["metadata"]
        assert (first["deletionTimestamp"], first["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:20Z", 20)
        clock.forward(3)
        longer = api.request("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 30})[1]["metadata"]
        assert longer == first
        shorter = api.request("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 10})[1]["metadata"]
        assert (shorter["deletionTimestamp"], shorter["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:10Z", 10)

    def test_a_grace_period_that_is_over_already_ends_now(self, api: MemoryApi, clock: Clock) -> None:
        create(api, PODS, pod("a", node="node"))
        api.request("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 60})
        clock.forward(30)
        ended = api.request("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 10})[1]["metadata"]
        # One second is left: the kubelet has still to confirm.
        assert (ended["deletionTimestamp"], ended["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:30Z", 1)
        assert api.request("GET", f"{PODS}/a")[0] == 200

    def test_a_watch_ends_when_its_time_is_over_and_says_how_far_it_came(self, api: MemoryApi, clock: Clock) -> None:
        watch = api.watch(CONFIG_MAPS, {"timeoutSeconds": "100", "allowWatchBookmarks": "true"})
        assert watch.read() == []
        clock.forward(60)
        made = create(api, CONFIG_MAPS, config_map("a"))
        added, bookmark = watch.read()
        assert added == {"type": "ADDED", "object": made}
        about = {"resourceVersion": made["metadata"]["resourceVersion"]}
        assert bookmark == {"type": "BOOKMARK", "object": {"kind": "ConfigMap", "apiVersion": "v1", "metadata": about}}
        ends = [watch.closed]
        clock.forward(40)
        assert [event["type"] for event in watch.read()] == ["BOOKMARK"]
        assert [*ends, watch.closed] == [False, True]
        create(api, CONFIG_MAPS, config_map("b"))
        assert watch.read() == []

    def test_without_a_time_a_watch_does_not_end_and_without_asking_there_are_no_bookmarks(self, api: MemoryApi, clock: Clock) -> None:
        watch = api.watch(CONFIG_MAPS)
        clock.forward(10**6)
        assert watch.read() == []
        assert not watch.closed


class TestForgottenHistory:
    def test_a_watch_from_before_ends_with_410(self, api: MemoryApi) -> None:
        made = create(api, CONFIG_MAPS, config_map("a"))
        create(api, CONFIG_MAPS, config_map("b"))
        api.compact()
        watch = api.watch(CONFIG_MAPS, {"resourceVersion": made["metadata"]["resourceVersion"]})
        (told,) = watch.read()
        assert (told["type"], told["object"]["code"], told["object"]["reason"]) == ("ERROR", 410, "Expired")
        assert watch.closed

    def test_a_watch_that_has_read_everything_goes_on(self, api: MemoryApi) -> None:
        watch = api.watch(CONFIG_MAPS)
        create(api, CONFIG_MAPS, config_map("a"))
        assert names(watch.read()) == [("ADDED", "a")]
        api.compact()
        create(api, CONFIG_MAPS, config_map("b"))
        assert names(watch.read()) == [("ADDED", "b")]

    def test_one_that_lags_behind_is_told(self, api: MemoryApi) -> None:
        watch = api.watch(CONFIG_MAPS)
        create(api, CONFIG_MAPS, config_map("a"))
        api.compact()
        assert [event["type"] for event in watch.read()] == ["ERROR"]

    def test_pages_of_a_list_are_of_one_state_as_long_as_it_is_known(self, api: MemoryApi) -> None:
        for name in ("a", "b", "c"):
            create(api, CONFIG_MAPS, config_map(name))
        page = api.request("GET", CONFIG_MAPS, query={"limit": "1"})[1]["metadata"]
        api.request("DELETE", f"{CONFIG_MAPS}/b")
        rest = api.request("GET", CONFIG_MAPS, query={"continue": page["continue"]})[1]
        assert [item["metadata"]["name"] for item in rest["items"]] == ["b", "c"]
        assert rest["metadata"]["resourceVersion"] == page["resourceVersion"]
        api.compact()
        code, refused = api.request("GET", CONFIG_MAPS, query={"continue": page["continue"]})
        assert (code, refused["reason"]) == (410, "Expired")
        code, rest = api.request("GET", CONFIG_MAPS, query={"continue": refused["metadata"]["continue"]})
        assert [item["metadata"]["name"] for item in rest["items"]] == ["c"]

    def test_a_list_of_an_exact_state(self, api: MemoryApi) -> None:
        old = create(api, CONFIG_MAPS, config_map("a"))["metadata"]["resourceVersion"]
        api.request("PATCH", f"{CONFIG_MAPS}/a", [{"op": "add", "path": "/data", "value": {"x": "1"}}])
        create(api, CONFIG_MAPS, config_map("b"))
        query = {"resourceVersion": old, "resourceVersionMatch": "Exact"}
        (item,) = api.request("GET", CONFIG_MAPS, query=query)[1]["items"]
        assert item["metadata"]["resourceVersion"] == old
        assert "data" not in item
        api.compact()
        assert api.request("GET", CONFIG_MAPS, query=query)[0] == 410


class TestNobodyChangesWhatIsStored:
    def test_through_what_was_sent(self, api: MemoryApi) -> None:
        sent = {**config_map("a", labels={"x": "1"}), "data": {"key": "one"}}
        create(api, CONFIG_MAPS, sent)
        sent["data"]["key"] = "two"
        sent["metadata"]["labels"]["x"] = "2"
        finalizers = ["test.example/one"]
        another = {"op": "add", "path": "/metadata/finalizers/-", "value": "test.example/two"}
        patch = [{"op": "add", "path": "/metadata/finalizers", "value": finalizers}, another]
        api.request("PATCH", f"{CONFIG_MAPS}/a", patch)
        assert finalizers == ["test.example/one"]
        finalizers.append("test.example/three")
        kept = api.request("GET", f"{CONFIG_MAPS}/a")[1]
        assert (kept["data"], kept["metadata"]["labels"]) == ({"key": "one"}, {"x": "1"})
        assert kept["metadata"]["finalizers"] == ["test.example/one", "test.example/two"]

    def test_through_what_was_answered(self, api: MemoryApi) -> None:
        answers = [create(api, PODS, pod("a")), api.request("GET", f"{PODS}/a")[1], api.request("GET", PODS)[1]["items"][0]]
        answers += [event["object"] for event in api.watch(PODS, {"resourceVersion": "0"}).read()]
        kept = api.request("GET", f"{PODS}/a")[1]
        for answer in answers:
            answer["spec"]["containers"][0]["image"] = "changed"
            answer["metadata"]["name"] = "changed"
        assert api.request("GET", f"{PODS}/a")[1] == kept


class TestGarbageCollection:
    def owned(self, api: MemoryApi, name: str, by: str) -> None:
        uid = api.request("GET", f"{CONFIG_MAPS}/{by}")[1]["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": by, "uid": uid, "blockOwnerDeletion": True}
        create(api, PODS, pod(name, node="node", ownerReferences=[owner]))

    def test_happens_when_it_is_told_to(self, api: MemoryApi) -> None:
        create(api, CONFIG_MAPS, config_map("owner", finalizers=["foregroundDeletion"]))
        self.owned(api, "a", by="owner")
        self.owned(api, "b", by="owner")
        assert api.collect() == 0
        api.request("DELETE", f"{CONFIG_MAPS}/owner")
        assert all("deletionTimestamp" not in item["metadata"] for item in api.request("GET", PODS)[1]["items"])
        assert api.collect() == 2
        assert api.request("GET", f"{CONFIG_MAPS}/owner")[0] == 200
        for name in ("a", "b"):
            api.request("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        api.collect()
        assert api.request("GET", f"{CONFIG_MAPS}/owner")[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/nonsense", 404),
        ("GET", "/apis/nobody.example/v1/frameworks", 404),
        ("GET", f"{CONFIG_MAPS}/a/status", 404),
        ("GET", "/api/v1/namespaces/default/nodes/a", 404),
        ("POST", f"{CONFIG_MAPS}/a", 405),
        ("DELETE", CONFIG_MAPS, 405),
        ("DELETE", "/api/v1/namespaces/default", 405),
        ("GET", "/api/v1/namespaces/default", 200),
        ("GET", "/api/v1/pods", 200),
        ("GET", "/api/v1/nodes", 200),
        ("GET", "/apis/coordination.k8s.io/v1/leases", 200),
        ("GET", "/apis/frameworkcontroller.microsoft.com/v1/frameworks", 200),
    ],
)
def test_paths(method: str, path: str, code: int, api: MemoryApi) -> None:
    assert api.request(method, path)[0] == code


def test_a_watch_of_all_namespaces(api: MemoryApi) -> None:
    create(api, "/api/v1/namespaces", {"metadata": {"name": "other"}})
    watch, own = api.watch("/api/v1/configmaps"), api.watch(CONFIG_MAPS)
    for namespace in ("default", "other"):
        create(api, f"/api/v1/namespaces/{namespace}/configmaps", config_map(namespace))
    assert names(watch.read()) == [("ADDED", "default"), ("ADDED", "other")]
    assert names(own.read()) == [("ADDED", "default")]


@pytest.mark.parametrize("query", [{"dryRun": "All"}, {"fieldSelector": "metadata.name=a"}, {"labelSelector": "x in (1)"}])
def test_what_it_does_not_have_is_not_taken_for_something_else(api: MemoryApi, query: dict[str, str]) -> None:
    for ask in (lambda: api.request("GET", CONFIG_MAPS, query=query), lambda: api.watch(CONFIG_MAPS, query)):
        with pytest.raises(NotImplementedError):
            ask()


def test_a_body_may_be_text(api: MemoryApi) -> None:
    assert api.request("POST", CONFIG_MAPS, b'{"metadata": {"name": "a"}}')[0] == 201
    assert api.request("POST", CONFIG_MAPS, "{bad")[0] == 400
    assert api.request("POST", CONFIG_MAPS, "[]")[0] == 400
