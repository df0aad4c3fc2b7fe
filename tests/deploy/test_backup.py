"""What docs/backup.md says of backups and of going back, on a real API server."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fcontroller.api import collection, path_of
from tests.argocd.tools import tool
from tests.cluster import Cluster
from tests.docs import blocks
from tests.stress.deaths import is_alive
from tests.stress.setting import LEASE_NAMESPACE, Controller, Setting, role, setting, until


@pytest.fixture(scope="module")
def here(own_audited_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with setting(own_audited_cluster, tmp_path_factory.mktemp("backup")) as made:
        yield made


@pytest.fixture
def namespace(here: Setting, request: pytest.FixtureRequest) -> Iterator[str]:
    """With a Framework that is over, of so many tasks as the test asks for, and one that runs."""
    with here.tenant() as name:
        here.apply(name, "done", role("worker", getattr(request, "param", 3), {"run": "0.5"}))
        here.apply(name, "busy", role("worker", 2, {"run": "1000"}))
        until(lambda: here.state(name, "done") == "Completed" and here.running(name, "busy") == 2, "they do not run", 240)
        yield name
    here.gone(name)


def uids(here: Setting, namespace: str) -> set[str]:
    """Of the Pods."""
    return {item["metadata"]["uid"] for item in here.ask("GET", collection("pods", namespace))["items"]}


def without_nulls(value: Any) -> Any:
    """A patch takes nulls away."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def without_services(value: Any) -> Any:
    """The definition as it was before roles had them."""
    if isinstance(value, list):
        return [without_services(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    rules = {key: [rule for rule in value[key] if "service" not in rule["rule"]] for key in value if key == "x-kubernetes-validations"}
    return {key: without_services(inner) for key, inner in {**value, **rules}.items() if key != "service"}


def _is_dead(pid: int) -> bool:
    return not is_alive(pid)


def restart_servers(here: Setting, between: Callable[[], None]) -> None:
    """Kill the servers, do something, and start them as they were."""
    pids = here.cluster.pids
    # A garbage collector that stays up has seen newer states than there are then, and deletes nothing.
    names = ("kube-controller-manager", "kube-apiserver", "etcd")
    commands = {name: Path(f"/proc/{pids[name]}/cmdline").read_bytes().decode().split("\0")[:-1] for name in names}
    for name in names:
        os.kill(pids[name], signal.SIGKILL)
        until(partial(_is_dead, pids[name]), f"{name} does not die")
    between()
    for name in reversed(names):
        with (here.cluster.folder / f"{name}-again.log").open("ab") as log:
            process = subprocess.Popen(commands[name], cwd=here.cluster.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        pids[name] = process.pid
        here.at_end(process.wait)
        here.at_end(process.kill)
    until(here.answers, "the API server does not come back", 120, every=0.2)


@pytest.mark.parametrize("namespace", [300], ids=["more than an argument of a program may have"], indirect=True)
def test_frameworks_alone(here: Setting, namespace: str, repository: Path, tmp_path: Path) -> None:
    """The page's own commands: what was over stays so, what ran begins anew. Without the status everything begins anew."""
    tool("jq")

    def type_in(title: str) -> None:
        # Of the whole cluster this test owns a namespace.
        script = blocks.file(repository / "docs" / "backup.md", title).replace("-A", f"-n {namespace}")
        command = ["bash", "-euo", "pipefail", "-c", script]
        done = subprocess.run(command, cwd=tmp_path, env=here.cluster.environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr

    type_in("backup.sh")
    before = here.status(namespace, "done")
    here.ask("DELETE", collection("frameworks", namespace))
    until(lambda: not uids(here, namespace), "the Pods do not go", 240)
    here.controller.end()
    here.audit()
    type_in("restore.sh")
    here.controller.start()
    until(lambda: here.running(namespace, "busy") == 2, "it does not begin anew", 60)
    assert without_nulls(here.status(namespace, "done")) == without_nulls(before)
    made = {event["objectRef"]["name"] for event in here.audit() if event["verb"] == "create" and event["objectRef"]["resource"] == "pods"}
    assert not [name for name in made if name.startswith("done")]

    saved = json.loads((tmp_path / "frameworks.json").read_text())
    here.ask("DELETE", path_of("frameworks", namespace, "done"))
    until(lambda: here.cluster.api.request("GET", path_of("frameworks", namespace, "done"))[0] == 404, "it does not go")
    here.audit()
    done = next(item for item in saved["items"] if item["metadata"]["name"] == "done")
    here.cluster.kubectl("apply", "-f", "-", input=json.dumps({key: value for key, value in done.items() if key != "status"}))
    until(lambda: here.state(namespace, "done") == "Completed", "it does not run again", 240)
    assert here.status(namespace, "done")["startTime"] > before["startTime"]

    # With the status of an attempt whose ConfigMap is nowhere.
    busy = next(item for item in saved["items"] if item["metadata"]["name"] == "busy")
    here.controller.end()
    here.ask("DELETE", path_of("frameworks", namespace, "busy"))
    until(lambda: here.cluster.api.request("GET", path_of("frameworks", namespace, "busy"))[0] == 404, "it does not go")
    metadata = {key: busy["metadata"][key] for key in ("name", "namespace", "annotations")}
    here.ask("POST", collection("frameworks", namespace), {**busy, "metadata": metadata})
    here.ask("PATCH", path_of("frameworks", namespace, "busy") + "/status", {"status": busy["status"]})
    here.controller.start()
    until(lambda: here.state(namespace, "busy") == "Completed", "it does not end", 60)
    assert here.conditions(namespace, "busy")["Succeeded"]["reason"] == "ConfigMapExternalDeleted"


def test_the_copies_of_all_pages_can_be_restored(repository: Path) -> None:
    """`restore.sh` reads the file that `backup.sh` writes, as JSON."""
    texts = [page.read_text("utf-8") for page in (repository / "docs").glob("*.md")]
    copies = [taken for text in texts for taken in re.findall(r"kubectl get frameworks -A -o \w+ > \S+", text)]
    assert len(copies) >= 3
    assert set(copies) == {blocks.file(repository / "docs" / "backup.md", "backup.sh").strip()}


def test_etcd(here: Setting, namespace: str) -> None:
    """All goes on from the moment of the backup: the same Pods, no second run."""
    data, saved = here.cluster.folder / "etcd", here.cluster.folder / "etcd-saved"
    os.kill(here.cluster.pids["etcd"], signal.SIGSTOP)
    shutil.copytree(data, saved)
    os.kill(here.cluster.pids["etcd"], signal.SIGCONT)
    pods, done = uids(here, namespace), here.status(namespace, "done")
    here.apply(namespace, "later", role("worker", 1, {"run": "1000"}))
    here.stop(namespace, "busy")
    here.ask("DELETE", path_of("frameworks", namespace, "done"))
    until(lambda: here.state(namespace, "busy") == "Completed", "it does not stop", 60)
    here.controller.end()

    def restore() -> None:
        shutil.rmtree(data)
        saved.rename(data)

    restart_servers(here, restore)
    here.controller.start()
    time.sleep(5)
    assert here.state(namespace, "busy") == "AttemptRunning"
    assert uids(here, namespace) == pods
    assert here.status(namespace, "done") == done
    assert here.cluster.api.request("GET", path_of("frameworks", namespace, "later"))[0] == 404
    here.stop(namespace, "busy")
    path = collection("pods", namespace)
    until(lambda: all("deletionTimestamp" in pod["metadata"] for pod in here.ask("GET", path)["items"]), "it is not run any more", 60)
    # Those who run Pods here saw newer states than there are now, as the kubelets of real clusters that are not started anew.
    here.cluster.kubectl("delete", "pods", "--all", "-n", namespace, "--force", "--grace-period=0")
    until(lambda: here.state(namespace, "busy") == "Completed", "it does not end", 60)


def test_another_controller(here: Setting, namespace: str) -> None:
    """As `rollout undo` does: one ends, another begins."""
    before = uids(here, namespace)
    here.controller.end()
    here.controller.start()
    here.patch(namespace, "busy", {"metadata": {"annotations": {"seen": "by-another-one"}}})
    time.sleep(3)
    assert (uids(here, namespace), here.state(namespace, "busy")) == (before, "AttemptRunning")


def test_an_older_definition(here: Setting, namespace: str, repository: Path) -> None:
    """A field that it does not know is not shown, comes back with the newer one, and is gone after a write.

    After the page's command, the newer one is applied as it is installed.
    """
    page = (repository / "docs" / "backup.md").read_text("utf-8")
    (to_older,) = re.findall(r"^\| the definition \| `kubectl ([^`]*) -f`", page, re.MULTILINE)
    to_newer = "apply --server-side"
    name = "frameworks.frameworkcontroller.microsoft.com"
    newer = here.ask("GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
    older = without_services(copy.deepcopy(newer))
    here.controller.end()
    here.apply(namespace, "served", {**role("worker", 1), "service": {"ports": [{"name": "p", "port": 80}]}})

    def there() -> bool:
        return "service" in here.framework(namespace, "served")["spec"]["taskRoles"][0]

    def define(command: str, definition: Any) -> None:
        metadata = {key: definition["metadata"][key] for key in ("name", "annotations")}
        here.cluster.kubectl(*command.split(), "-f", "-", input=json.dumps({**definition, "metadata": metadata}))

    define(to_older, older)
    until(lambda: not there(), "the older definition still shows it", 30)
    define(to_newer, newer)
    until(there, "it is gone from storage", 30)
    define(to_older, older)
    until(lambda: not there(), "the older definition still shows it", 30)
    here.ask("PATCH", path_of("frameworks", namespace, "served") + "/status", {"status": {"state": "AttemptCreationPending"}})
    define(to_newer, newer)
    time.sleep(5)
    assert not there()
    here.controller.start()
    until(lambda: here.conditions(namespace, "served").get("IntentReviewed"), "nothing is said", 30)
    assert here.conditions(namespace, "served")["IntentReviewed"]["reason"] == "DigestDiffers"
    assert here.status(namespace, "served")["state"] == "AttemptCreationPending"


def test_etcd_under_a_controller_that_stays_up(here: Setting, tmp_path: Path) -> None:
    """Its Lease tells it, even if by then so much was written that all versions are as new as those that it has seen.

    This comes last: what runs Pods here does not notice it.
    """
    data, saved = here.cluster.folder / "etcd", here.cluster.folder / "etcd-saved"
    here.controller.end()
    controller = Controller(here.cluster, tmp_path, 60, ())  # It leads on while there is no server.
    with here.tenant() as namespace, contextlib.closing(controller):
        controller.start()
        os.kill(here.cluster.pids["etcd"], signal.SIGSTOP)
        shutil.copytree(data, saved)
        os.kill(here.cluster.pids["etcd"], signal.SIGCONT)
        acquired = lease(here)
        here.apply(namespace, "lost", role("worker", 50, {"run": "1000"}))
        until(lambda: here.count("pods", namespace) == 50, "its Pods are not made", 60)
        until(lambda: lease(here) > acquired, "the lease is not renewed", 60)
        assert controller.process is not None
        controller.process.send_signal(signal.SIGSTOP)
        newest = int(here.ask("GET", collection("pods", namespace))["metadata"]["resourceVersion"])

        def restore() -> None:
            shutil.rmtree(data)
            saved.rename(data)

        restart_servers(here, restore)
        version = 0
        for number in range(newest):
            if version > newest:
                break
            made = here.ask("POST", collection("configmaps", namespace), {"metadata": {"name": f"later-{number}"}})
            version = int(made["metadata"]["resourceVersion"])
        controller.process.send_signal(signal.SIGCONT)
        until(lambda: "the API server's data is older than before" in controller.log, "it does not notice", 60)
        assert controller.alive
        here.apply(namespace, "new", role("worker", 1, {"run": "1000"}))
        until(lambda: here.count("pods", namespace) == 1, "it does not begin what is new", 60)
    here.controller.start()


def lease(here: Setting) -> int:
    """The version of the controller's Lease."""
    found = here.ask("GET", f"/apis/coordination.k8s.io/v1/namespaces/{LEASE_NAMESPACE}/leases/fcontroller")
    return int(found["metadata"]["resourceVersion"])
