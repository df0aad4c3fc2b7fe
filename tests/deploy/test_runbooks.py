"""What docs/runbooks.md says to type works when things are as its alerts say."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fcontroller.api import Json
from tests.cluster import Cluster
from tests.deploy.test_readme import type_in
from tests.deploy.test_rights import COMMAND, account, controller, until
from tests.docs import blocks
from tests.drift import upstream


def section(repository: Path, name: str) -> list[str]:
    """The lines of the first block of commands below a heading."""
    block = next(block for block in blocks.blocks(repository / "docs" / "runbooks.md") if block.section == name and block.language == "sh")
    return block.text.splitlines()


@pytest.mark.parametrize("what", ["schemas", "deploy"])
def test_what_others_have_changed_is_taken_back(own_cluster: Cluster, repository: Path, what: str) -> None:
    """Without the flag the API server refuses it, as a conflict with whoever has changed it."""
    own_cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", str(repository / "deploy"))
    others = ("--server-side", "--force-conflicts", "--field-manager=others")
    own_cluster.kubectl("apply", *others, "-f", "-", input=upstream.CRD)
    less = json.dumps([{"op": "remove", "path": "/rules/0"}])
    own_cluster.kubectl("patch", "clusterrole", "fcontroller", "--type=json", "-p", less)
    assert "conflict" in own_cluster.kubectl("apply", "--server-side", "-k", str(repository / what), check=False).stderr
    (command,) = [line for line in section(repository, "Runbooks") if f"-k {what} " in line]
    type_in(own_cluster, command, repository)
    assert own_cluster.kubectl("diff", "--server-side", "-k", str(repository / what)).stdout == ""


API = "/apis/frameworkcontroller.microsoft.com/v1"
BUILD = "fcompile build examples/hello.yaml | kubectl apply -f -"
UNREVIEWED = json.dumps([{"op": "replace", "path": "/spec/taskRoles/0/task/pod/spec/containers/0/image", "value": "another"}])
BROKEN: Json = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "broken.example.com"},
    "webhooks": [
        {
            "name": "broken.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["pods"]}],
        }
    ],
}


@contextlib.contextmanager
def running(cluster: Cluster, repository: Path, folder: Path) -> Iterator[None]:
    """The controller, as it is installed, and under its own account."""
    type_in(cluster, "kubectl apply --server-side --force-conflicts -k deploy", repository)
    with controller(
        [*COMMAND, "run", f"--kubeconfig={account(cluster, 'fcontroller', folder)}", "--lease-namespace=fcontroller"], ["/readyz"]
    ):
        yield


def condition(cluster: Cluster, what: str, name: str) -> str:
    """A field of a condition of the example `hello`."""
    return cluster.kubectl("get", "framework", "hello", "-o", f'jsonpath={{.status.conditions[?(@.type=="{what}")].{name}}}').stdout


def test_a_webhook_that_does_not_answer_is_found(own_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    """By the commands of both alerts about Pods. No Event says it: the trouble is not the Framework's."""
    own_cluster.kubectl("apply", "-f", "-", input=json.dumps(BROKEN))
    with running(own_cluster, repository, tmp_path):
        type_in(own_cluster, BUILD, repository)
        for alert in ("FcontrollerNoPodsCreated", "FcontrollerPodsRefused"):
            lines = section(repository, alert)
            until(lambda lines=lines: "failed calling webhook" in "".join(type_in(own_cluster, line, repository) for line in lines), alert)  # type: ignore[misc]
    assert type_in(own_cluster, "kubectl get events -A --field-selector reason=Refused -o name", repository) == ""
    own_cluster.kubectl("delete", "framework", "hello")
    own_cluster.kubectl("delete", "validatingwebhookconfiguration", "broken.example.com")


def test_who_has_forged_an_intent_is_known_until_it_is_repaired(own_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    (command,) = [line for line in section(repository, "FcontrollerIntentForged") if "managed-fields" in line]
    command = command.replace("NAMESPACE", "default").replace("NAME", "hello")
    forged = ("patch", "configmap", "hello-attempt", "--field-manager=tool", "--type=merge", "-p", '{"data": {"intent.json": "{}"}}')
    with running(own_cluster, repository, tmp_path):
        type_in(own_cluster, BUILD, repository)
        until(lambda: own_cluster.kubectl("get", "pod", "hello-greeter-0", check=False).returncode == 0, "it does not begin")
        own_cluster.kubectl(*forged)
        until(lambda: condition(own_cluster, "IntentStored", "reason") == "Stored", "it is not repaired")
        assert re.findall("manager: (.*)", type_in(own_cluster, command, repository)) == ["fcontroller"]
    own_cluster.kubectl(*forged)
    # Another one, which has no copy, and none can be made of what was not reviewed.
    own_cluster.kubectl("patch", "framework", "hello", "--type=json", "-p", UNREVIEWED)
    with running(own_cluster, repository, tmp_path):
        until(lambda: condition(own_cluster, "IntentStored", "reason") == "Forged", "nothing is said")
        assert "tool" in re.findall("manager: (.*)", type_in(own_cluster, command, repository))
        own_cluster.kubectl("delete", "framework", "hello")


def test_a_config_map_that_was_left_behind_is_deleted(own_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    with running(own_cluster, repository, tmp_path):
        type_in(own_cluster, BUILD, repository)
        until(lambda: own_cluster.kubectl("get", "pod", "hello-greeter-1", check=False).returncode == 0, "it does not begin")
        own_cluster.kubectl("delete", "framework", "hello", "--cascade=orphan")
        type_in(own_cluster, BUILD, repository)
        until(lambda: condition(own_cluster, "IntentStored", "reason") == "Refused", "nothing is said")
        message = condition(own_cluster, "IntentStored", "message")
        (said,) = re.findall("with `(already [^`]*)`", (repository / "docs" / "runbooks.md").read_text("utf-8"))
        assert message.endswith(said), message
        own_cluster.kubectl("delete", "configmap", "hello-attempt")
        until(lambda: condition(own_cluster, "IntentStored", "reason") == "Stored", "it does not begin")
        own_cluster.kubectl("delete", "framework", "hello")


def test_under_upstreams_definition_nothing_goes_on(own_cluster: Cluster, repository: Path, tmp_path: Path) -> None:
    """Until ours is applied again."""
    with running(own_cluster, repository, tmp_path):
        own_cluster.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=others", "-f", "-", input=upstream.CRD)
        until(lambda: "status" not in own_cluster.kubectl("get", "--raw", API).stdout, "upstream's definition is not in force")
        type_in(own_cluster, BUILD, repository)
        refused = next(line for line in section(repository, "FcontrollerStatusNotSaved") if "StatusRefused" in line)
        until(lambda: "(404)" in type_in(own_cluster, refused, repository), "nothing is said")
        assert type_in(own_cluster, "kubectl get pods -o name", repository) == ""
        assert "state" not in own_cluster.kubectl("get", "framework", "hello", "-o", "jsonpath={.status}").stdout
        (command,) = [line for line in section(repository, "Runbooks") if "-k schemas " in line]
        type_in(own_cluster, command, repository)
        until(lambda: own_cluster.kubectl("get", "pod", "hello-greeter-1", check=False).returncode == 0, "it does not go on")
        own_cluster.kubectl("delete", "framework", "hello")


@pytest.mark.parametrize(
    ("name", "ends", "begins"), [("Switch", "statefulset", "fcontroller run"), ("Switch back", "deployment", "statefulset")]
)
def test_a_switch_of_controllers_ends_one_before_the_other_begins(repository: Path, name: str, ends: str, begins: str) -> None:
    page = blocks.blocks(repository / "docs" / "upstream-crd.md")
    (lines,) = [block.text.splitlines() for block in page if block.section == name]
    (end,) = [number for number, line in enumerate(lines) if ends in line and "--replicas=0" in line]
    (begin,) = [number for number, line in enumerate(lines) if begins in line and "--replicas=0" not in line]
    assert end < begin
