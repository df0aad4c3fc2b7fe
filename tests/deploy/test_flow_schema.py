"""The API server queues the controller's Lease with the leaders of Kubernetes, and all else of it by namespace."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from fcontroller.act.client import from_kubeconfig
from fcontroller.api import Json, collection
from tests.cluster import Cluster
from tests.cluster.test_kubelet import until
from tests.deploy.test_manifests import deployment
from tests.deploy.test_rights import COMMAND, account, controller

HOME = "fcontroller"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases"
OURS = {"fcontroller-lease": "leader-election", "fcontroller": "workload-high"}
"""The priority level of each FlowSchema."""
DISPATCHED = re.compile(r'apiserver_flowcontrol_dispatched_requests_total\{flow_schema="([^"]+)",priority_level="([^"]+)"\} (\S+)')


@pytest.fixture(scope="module")
def applied(audited_cluster: Cluster, repository: Path) -> Cluster:
    audited_cluster.kubectl("apply", "--server-side", "-k", str(repository / "deploy"))
    return audited_cluster


def uids(cluster: Cluster, collection: str, names: list[str]) -> list[str]:
    return [cluster.api.request("GET", f"{FLOW_CONTROL}/{collection}/{name}")[1]["metadata"]["uid"] for name in names]


@pytest.mark.parametrize(
    ("method", "path", "body", "schema"),
    [
        ("GET", f"{LEASES}/fcontroller", None, "fcontroller-lease"),
        ("PUT", f"{LEASES}/fcontroller", {}, "fcontroller-lease"),
        ("POST", LEASES, {}, "fcontroller-lease"),
        ("GET", "/api/v1/pods", None, "fcontroller"),
        ("POST", collection("pods", "default"), {}, "fcontroller"),
        ("PUT", collection("frameworks", "default") + "/a/status", {}, "fcontroller"),
        ("POST", collection("events", "default"), {}, "fcontroller"),
    ],
)
def test_each_request_has_its_queue(applied: Cluster, method: str, path: str, body: object, schema: str) -> None:
    (flow,) = uids(applied, "flowschemas", [schema])
    (level,) = uids(applied, "prioritylevelconfigurations", [OURS[schema]])
    user = applied.api.impersonate(f"system:serviceaccount:{HOME}:fcontroller")

    def queued() -> bool:
        headers = user.send(method, path, body).headers
        return (headers["X-Kubernetes-PF-FlowSchema-UID"], headers["X-Kubernetes-PF-PriorityLevel-UID"]) == (flow, level)

    until(queued)  # The server takes a moment to go by new schemas.


def test_the_controllers_requests_are_queued_so(applied: Cluster, tmp_path: Path) -> None:
    def dispatched() -> Counter[tuple[str, str]]:
        found = DISPATCHED.findall(applied.api.request("GET", "/metrics")[1])
        return Counter({(flow, level): int(float(number)) for flow, level, number in found})

    before = dispatched()
    with controller([*COMMAND, "run", f"--kubeconfig={account(applied, HOME, tmp_path)}", f"--lease-namespace={HOME}"], ["/readyz"]):
        # It is ready before it leads, and so before it lists anything.
        until(lambda: OURS.items() <= (dispatched() - before).keys())
    since = dispatched() - before
    # That of all accounts which have none of their own.
    assert "service-accounts" not in {flow for flow, _ in since}


@contextlib.contextmanager
def no_seats(cluster: Cluster, *levels: str) -> Iterator[None]:
    """Priority levels that refuse all but one request at a time."""
    paths = [f"{FLOW_CONTROL}/prioritylevelconfigurations/{level}" for level in levels]
    before = [cluster.api.request("GET", path)[1]["spec"]["limited"] for path in paths]
    none = {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Reject", "queuing": None},
    }

    def limit(path: str, limited: Json, kept_by_the_server: str) -> None:
        metadata = {"annotations": {"apf.kubernetes.io/autoupdate-spec": kept_by_the_server}}
        code, answer = cluster.api.request("PATCH", path, {"metadata": metadata, "spec": {"limited": limited}})
        assert code == 200, answer["message"]

    try:
        for path in paths:
            limit(path, none, "false")
        yield
    finally:
        for path, limited in zip(paths, before, strict=True):
            limit(path, {"borrowingLimitPercent": None, **limited}, "true")
        for home in (HOME, "default"):  # Or other tests would be refused something.
            user = cluster.api.impersonate(f"system:serviceaccount:{home}:fcontroller")
            until(lambda user=user: 429 not in flood(lambda: user.request("GET", "/api/v1/pods")[0]))  # type: ignore[misc]


def flood(send: Callable[[], int]) -> set[int]:
    """Return the codes of many requests, eight at a time."""
    with ThreadPoolExecutor(8) as threads:
        return set(threads.map(lambda _: send(), range(200)))


def test_the_lease_is_served_when_nothing_else_is(applied: Cluster) -> None:
    """Without a FlowSchema of its own it would be refused like the rest: as that of another controller is here."""
    ours, another = (applied.api.impersonate(f"system:serviceaccount:{home}:fcontroller") for home in (HOME, "default"))
    lease = {"metadata": {"generateName": "a"}, "spec": {"holderIdentity": "a"}}
    with no_seats(applied, "workload-high", "workload-low"):
        until(lambda: 429 in flood(lambda: ours.request("GET", "/api/v1/pods")[0]))
        assert flood(lambda: ours.request("POST", LEASES, lease, {"dryRun": "All"})[0]) == {201}
        until(lambda: 429 in flood(lambda: another.request("POST", LEASES, lease, {"dryRun": "All"})[0]))


def test_the_controller_understands_what_the_server_says_then(applied: Cluster, tmp_path: Path) -> None:
    """It is an answer, with a time to wait, and no server that cannot be reached. The text is no Status."""
    config = account(applied, HOME, tmp_path)

    async def refused() -> set[tuple[str, str, float]]:
        client, end = from_kubeconfig(str(config)), time.monotonic() + 120
        told: set[tuple[str, str, float]] = set()
        try:
            while not told and time.monotonic() < end:
                answers = await asyncio.gather(*(client.request("GET", "/api/v1/pods") for _ in range(50)))
                told = {(answer.reason, answer.message, answer.retry_after) for answer in answers if answer.code == 429}
        finally:
            await client.close()
        return told

    with no_seats(applied, "workload-high"):
        told = asyncio.run(refused())
    assert {(reason, message) for reason, message, _ in told} == {("TooManyRequests", "Too many requests, please try again later.")}
    # Twice as long where it turns many away, and a second less where it turns few away.
    assert {seconds for _, _, seconds in told} <= set(range(1, 33))


@pytest.mark.parametrize("namespace", [HOME, "other"])
def test_they_are_for_the_account_of_the_deployment(audited_cluster: Cluster, repository: Path, tmp_path: Path, namespace: str) -> None:
    """Also when somebody puts another namespace into the kustomization."""
    for folder in ("deploy", "schemas"):
        shutil.copytree(repository / folder, tmp_path / folder)
    kustomization = tmp_path / "deploy" / "kustomization.yaml"
    kustomization.write_text(re.sub("(?m)^namespace: .*", f"namespace: {namespace}", kustomization.read_text()))
    documents = list(yaml.safe_load_all(audited_cluster.kubectl("kustomize", str(tmp_path / "deploy")).stdout))
    schemas = [document for document in documents if document["kind"] == "FlowSchema"]
    assert {schema["metadata"]["name"]: schema["spec"]["priorityLevelConfiguration"]["name"] for schema in schemas} == OURS
    made = deployment(documents)
    account = {"name": made["spec"]["template"]["spec"]["serviceAccountName"], "namespace": made["metadata"]["namespace"]}
    assert account["namespace"] == namespace
    assert [subject["serviceAccount"] for schema in schemas for rule in schema["spec"]["rules"] for subject in rule["subjects"]] == [
        account
    ] * 2
