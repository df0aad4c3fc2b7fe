"""`fcontroller barrier`: whom it waits for and for how long, and what users' scripts find afterwards."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import gzip
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import certifi
import pytest
import yaml

from fcontroller import barrier
from fcontroller.act.client import Client, from_kubeconfig
from fcontroller.act.plain import NoServer, find_server
from fcontroller.api import Answer, Json, Unreachable
from tests.cluster import Cluster
from tests.decide.world import SETTINGS, World, role_spec

ENVIRONMENT = {"FC_FRAMEWORK_NAMESPACE": "default", "FC_FRAMEWORK_NAME": "f"}
WAIT = barrier.read_settings(ENVIRONMENT)
COMMAND = [sys.executable, "-c", "from fcontroller.cli import entry_point; entry_point()", "barrier"]
DEEP = base64.b64encode(gzip.compress(b"[" * 100_000)).decode()
"""A compressed status that is nested too deep."""
PATH = "/apis/frameworkcontroller.microsoft.com/v1/namespaces/{}/frameworks"


@pytest.fixture
def running() -> Json:
    """A Framework whose Pods all run."""
    world = World({"taskRoles": [role_spec("ps", 2), role_spec("worker", 3)]}, SETTINGS)
    world.run(1)
    for number, pod in enumerate(world.pods.values(), 1):
        pod["status"]["podIP"] = f"10.0.0.{number}"
    world.run(1)
    stored = world.stored
    assert stored is not None
    metadata = {"name": "f", "generation": stored["intent"]["observedGeneration"]}
    return {"metadata": metadata, "spec": world.spec["spec"], "status": stored}


def task(framework: Json, role: int, index: int) -> Json:
    found: Json = framework["status"]["attemptStatus"]["taskRoleStatuses"][role]["taskStatuses"][index]
    return found


class Server:
    """Answers the barrier's requests one after another, the last one for ever, on a clock that only the barrier moves."""

    def __init__(self, *answers: Json | int | Exception) -> None:
        self.answers = list(answers)
        self.time = 0.0
        self.asked: list[float] = []
        self.chance: Callable[[float, float], float] = lambda low, high: (low + high) / 2

    def get(self) -> Answer:
        self.asked.append(self.time)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer, {"reason": "R", "message": "m"}) if isinstance(answer, int) else Answer(200, answer)

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def wait(self, settings: barrier.Settings = WAIT) -> Json:
        return barrier.wait(self.get, settings, lambda: self.time, self.sleep, self.chance)


class TestWaiting:
    def test_until_the_last_task_is_there(self, running: Json) -> None:
        early = copy.deepcopy(running)
        task(early, 1, 2)["attemptStatus"]["podIP"] = ""
        server = Server({**running, "status": None}, early, Unreachable("no"), 503, running)
        assert server.wait() == running
        assert server.asked == [0, 10, 20, 30, 40]

    @pytest.mark.parametrize(
        "change", [{"deletionPending": True}, {"attemptStatus": {"podIP": None}}, {"attemptStatus": {"podIP": "$(id)"}}]
    )
    def test_a_task_that_has_no_address_or_is_scaled_away_blocks(self, running: Json, change: Json) -> None:
        task(running, 0, 1).update(change)
        server = Server(running)
        with pytest.raises(barrier.Failed, match=r"waits for the Pod IP of ps\[1\]: given up after 600 s") as failed:
            server.wait()
        assert failed.value.code == 201
        assert server.asked == list(range(0, 610, 10))

    def test_tasks_that_the_spec_no_longer_wants_do_not_block(self, running: Json) -> None:
        task(running, 1, 2)["deletionPending"] = True
        running["spec"]["taskRoles"][1]["taskNumber"] = 2
        assert Server(running).wait() == running

    def test_tasks_that_the_status_does_not_have_yet_block(self, running: Json) -> None:
        running["spec"]["taskRoles"][0]["taskNumber"] = 9
        running["spec"]["taskRoles"].append(role_spec("late", 1))
        with pytest.raises(barrier.Failed, match=r"ps\[2\], .*, ps\[6\] and 3 other tasks"):
            Server(running).wait()

    def test_roles_of_an_edit_that_is_not_in_force_do_not_block(self, running: Json) -> None:
        """Nobody makes those that an edit adds which was not reviewed, and those that it removes run on: Pods that were reviewed failed."""
        running["metadata"]["generation"] += 1
        running["spec"]["taskRoles"] = [role_spec("late", 1), {**running["spec"]["taskRoles"][1], "taskNumber": 2}]
        assert Server(running).wait() == running
        assert [(role.name, role.wanted) for role in barrier.wanted_roles(running)] == [("ps", 2), ("worker", 2)]
        running["metadata"]["generation"] -= 1
        assert [(role.name, role.wanted) for role in barrier.wanted_roles(running)] == [("late", 1), ("worker", 2)]

    def test_a_compressed_status_is_read(self, running: Json) -> None:
        packed = copy.deepcopy(running)
        roles = packed["status"]["attemptStatus"].pop("taskRoleStatuses")
        packed["status"]["attemptStatus"] |= {
            "taskRoleStatuses": None,
            "taskRoleStatusesCompressed": base64.b64encode(gzip.compress(json.dumps(roles).encode())).decode(),
        }
        assert Server(packed).wait() == running

    @pytest.mark.parametrize(
        ("answer", "code", "message"),
        [
            (404, 210, "there is no Framework default/f"),
            (403, 1, "refuses with 403 R: m: given up after 600 s"),
            (Unreachable("no route"), 1, "no route: given up"),
            ({"status": {"attemptStatus": {"taskRoleStatusesCompressed": "AAAA"}}}, 1, "compressed status cannot be read"),
            ({}, 1, "not of the form that it should have: KeyError"),
            ({"spec": {"taskRoles": ["a"]}}, 1, "not of the form"),
            ({"spec": {}, "status": {"attemptStatus": [1]}}, 1, "not of the form"),
            ({"spec": {}, "status": {"attemptStatus": {"taskRoleStatuses": [{}]}}}, 1, "not of the form"),
            ({"spec": {}, "status": {"attemptStatus": {"taskRoleStatusesCompressed": DEEP}}}, 1, "not of the form.*RecursionError"),
        ],
    )
    def test_what_goes_wrong(self, answer: Any, code: int, message: str) -> None:
        with pytest.raises(barrier.Failed, match=message) as failed:
            Server(answer).wait()
        assert failed.value.code == code

    def test_the_last_look_is_when_the_time_is_over(self, running: Json) -> None:
        server = Server(*[503] * 3, running)
        assert server.wait(barrier.Settings("default", "f", 25, 60)) == running
        assert server.asked == [0, 25, 50, 60]

    def test_pods_that_start_together_do_not_ask_in_step(self) -> None:
        """In the second round they are spread over a whole interval; each asks as often as it is told to."""
        servers = [Server(503) for _ in range(1000)]
        dice = random.Random(5)
        for server in servers:
            server.chance = dice.uniform
            with pytest.raises(barrier.Failed):
                server.wait()
        second = Counter(int(server.asked[1]) for server in servers)
        assert set(second) == set(range(5, 15))
        assert max(second.values()) < 150
        assert 58 < sum(len(server.asked) for server in servers) / len(servers) < 64
        assert all(server.asked[-1] == 600 for server in servers)

    def test_millions_of_tasks_are_counted(self) -> None:
        """Also more than could ever be counted one by one."""
        roles = [{"name": f"r{number}", "taskNumber": 10**12} for number in range(500)]
        with pytest.raises(barrier.Failed, match=r"r0\[0\], .*, r0\[4\] and 499999999999995 other tasks: given up"):
            Server({"spec": {"taskRoles": roles}}).wait()


class TestSettings:
    @pytest.mark.parametrize(("interval", "timeout"), [("5", "60"), ("100000", "1200"), ("+10", "")])
    def test_good(self, interval: str, timeout: str) -> None:
        given = {"BARRIER_CHECK_INTERVAL_SEC": interval, "BARRIER_CHECK_TIMEOUT_SEC": timeout}
        assert barrier.read_settings(ENVIRONMENT | given) == ("default", "f", int(interval), int(timeout or 600))

    @pytest.mark.parametrize(
        "given",
        [
            *({"BARRIER_CHECK_INTERVAL_SEC": text} for text in ("4", "-5", "0x10", "7.5", " 7", "1_0", "٩")),
            *({"BARRIER_CHECK_TIMEOUT_SEC": text} for text in ("59", "1201", "10m")),
            {"FC_FRAMEWORK_NAME": ""},
            {"FC_FRAMEWORK_NAMESPACE": ""},
        ],
    )
    def test_bad(self, given: dict[str, str]) -> None:
        with pytest.raises(barrier.Failed, match=next(iter(given))) as failed:
            barrier.read_settings(ENVIRONMENT | given)
        assert failed.value.code == 210


class TestFiles:
    def test_what_a_script_finds(self, running: Json, tmp_path: Path) -> None:
        running["spec"]["taskRoles"].append(role_spec("none", 0))
        barrier.write(tmp_path, running)
        assert json.loads((tmp_path / "framework.json").read_text()) == running
        assert [path.stat().st_mode & 0o777 for path in sorted(tmp_path.iterdir())] == [0o644, 0o755]
        assert injected(tmp_path) == {
            "FB_PS_IPS": "10.0.0.1,10.0.0.2",
            "FB_PS_ADDRESSES": "10.0.0.1:4001,10.0.0.2:4001",
            "FB_WORKER_IPS": "10.0.0.3,10.0.0.4,10.0.0.5",
            "FB_WORKER_ADDRESSES": "10.0.0.3:5001,10.0.0.4:5001,10.0.0.5:5001",
            "FB_NONE_IPS": "",
            "FB_NONE_ADDRESSES": "",
        }

    def test_whole_or_not_at_all(self, running: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(path: Path, mode: int) -> None:
            raise OSError("the disk is full")

        barrier.write(tmp_path, running)
        before = (tmp_path / "injector.sh").read_text()
        monkeypatch.setattr(Path, "chmod", full)
        with pytest.raises(OSError, match="full"):
            barrier.write(tmp_path, {**running, "spec": {}})
        assert (tmp_path / "injector.sh").read_text() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["framework.json", "injector.sh"]

    def test_in_a_folder_that_all_tasks_share(self, running: Json, tmp_path: Path) -> None:
        """They are through at the same time, and wrote one new file together: it was half, or gone, and a fifth of them failed."""
        running["status"]["note"] = "a" * 20_000
        with ThreadPoolExecutor(8) as tasks:
            list(tasks.map(lambda _: barrier.write(tmp_path, running), range(400)))
        assert json.loads((tmp_path / "framework.json").read_text()) == running
        assert sorted(path.name for path in tmp_path.iterdir()) == ["framework.json", "injector.sh"]

    @pytest.mark.parametrize(
        "name",
        ["a$(touch ran)", "a`touch ran`", "a\ntouch ran\n", "a;touch ran;", 'a"; touch ran; "', "a b", "a-b", "", "ß", "a}", "a\x1b[2J"],
    )
    def test_the_name_of_a_role_is_no_script(self, running: Json, tmp_path: Path, name: str) -> None:
        """A cluster without our definition of Framework takes any name."""
        old = running["spec"]["taskRoles"][0]["name"]
        text = json.dumps(running).replace(json.dumps(old), json.dumps(name))
        with pytest.raises(barrier.Failed) as raised:
            barrier.write(tmp_path, json.loads(text))
        assert raised.value.code == barrier.IMPOSSIBLE
        assert str(raised.value).isprintable()
        assert not (tmp_path / "injector.sh").exists()


def injected(folder: Path) -> dict[str, str]:
    """The variables after a user's script has read injector.sh, in a real sh, with everything strict."""
    script = "FB_PS_PORT=4001 FB_WORKER_PORT=5001 FB_NONE_PORT=0; . ./injector.sh; env"
    done = subprocess.run(["sh", "-euc", script], cwd=folder, env={}, capture_output=True, text=True, check=True, timeout=30)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("FB_"))


@contextlib.contextmanager
def answering(text: bytes, pause: float = 0, status: bytes = b"200 OK") -> Iterator[str]:
    """The address of a server that gives one answer, byte by byte where there is a pause, and without an end."""

    def answer() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as connection:
            connection.recv(1 << 16)  # What is not read resets the connection when it is closed, whatever was answered.
            connection.sendall(b"HTTP/1.1 " + status + b"\r\n\r\n")
            for piece in [text] if not pause else (text[at : at + 1] for at in range(len(text))):
                connection.sendall(piece)
                time.sleep(pause)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def kubeconfig(folder: Path, server: str, user: dict[str, str]) -> Path:
    value = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "clusters": [{"name": "one", "cluster": {"server": server}}],
        "users": [{"name": "one", "user": user}],
    }
    (folder / "config").write_text(json.dumps(value))
    return folder / "config"


class TestServers:
    def test_none(self, tmp_path: Path) -> None:
        with pytest.raises(NoServer, match="KUBERNETES_SERVICE_HOST"):
            find_server({"HOME": str(tmp_path)}, tmp_path)

    def test_no_service_account(self, tmp_path: Path) -> None:
        with pytest.raises(NoServer, match=r"ca\.crt.*service account"):
            find_server({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}, tmp_path)

    @pytest.mark.parametrize(("token", "says"), [(None, "token: .*No such file"), ("\n", "token is empty")])
    def test_no_token(self, tmp_path: Path, token: str | None, says: str) -> None:
        shutil.copy(certifi.where(), tmp_path / "ca.crt")
        if token is not None:
            (tmp_path / "token").write_text(token)
        with pytest.raises(NoServer, match=says):
            find_server({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443", "HOME": str(tmp_path)}, tmp_path)

    def test_the_controller_looks_as_the_barrier_does(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It took the cluster around it for what a KUBECONFIG should name that was not there."""
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
        for look_up in (lambda: find_server(os.environ), from_kubeconfig):
            with pytest.raises(NoServer, match="missing is not there"):
                look_up()

    def test_only_an_address(self, tmp_path: Path) -> None:
        server = find_server({"KUBE_APISERVER_ADDRESS": "http://127.0.0.1:1/root/"}, tmp_path)
        with pytest.raises(Unreachable, match="127"):
            server.get("/apis")

    @pytest.mark.parametrize("text", [b"{}" + b" " * (9 << 20), b"[" * 100_000, b"[]", b"x"])
    def test_no_answer_is_read_without_a_bound(self, text: bytes) -> None:
        with pytest.raises(Unreachable), answering(text) as address:
            find_server({"KUBE_APISERVER_ADDRESS": address, "HOME": "/nonexistent"}).get("/apis")

    @pytest.mark.parametrize("fields", [b'{"f:a":' * 9_000 + b"{}" + b"}" * 9_000, b'{"f:\xff":{}}'])
    def test_what_cannot_be_decoded_is_left_out(self, fields: bytes) -> None:
        """An API server keeps it in `managedFields`, which anybody may write."""
        with answering(b'{"metadata": {"managedFields": [{"fieldsV1": %s}]}, "spec": {"a": 1}}' % fields) as address:
            server = find_server({"KUBE_APISERVER_ADDRESS": address, "HOME": "/nonexistent"})
            found = server.get("/apis").body
        assert found["spec"] == {"a": 1}
        assert json.loads(json.dumps(found)) == found, "as it is written to a file"

    @pytest.mark.parametrize(
        ("status", "text", "says"),
        [
            (
                b"404 Not Found",
                b"404 page not found\n",
                "404 page not found: the definition of Framework is missing: `fcompile crd` prints it",
            ),
            (b"502 Bad Gateway", b"<html> a\n proxy", "502, and what follows is not an object: <html> a proxy"),
            (b"200 OK", b"[" * 300, "200, and what follows is not an object: " + "[" * 200 + " …"),
        ],
    )
    def test_an_answer_that_is_no_object_is_shown(self, status: bytes, text: bytes, says: str) -> None:
        """Only what the JSON parser had against it was said: `Extra data: line 1 column 5`."""
        with answering(text, status=status) as address:
            server = find_server({"KUBE_APISERVER_ADDRESS": address, "HOME": "/nonexistent"})
            with pytest.raises(Unreachable) as raised:
                server.get("/apis/frameworkcontroller.microsoft.com/v1/namespaces/a/frameworks/b")
        assert str(raised.value) == f"{address}: {says}"

    def test_no_answer_lasts_longer_than_the_whole_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(barrier, "_LAST", 0)
        with answering(b" " * 300, pause=0.1) as address:
            server = find_server({"KUBE_APISERVER_ADDRESS": address, "HOME": "/nonexistent"})
            barrier._end_at_last(1)
            with pytest.raises(barrier.Failed, match="takes too long: given up after 1 s"):
                server.get("/apis")

    def test_a_servers_message_does_not_act(self, capsys: pytest.CaptureFixture[str]) -> None:
        barrier._say("refuses: \x1b[31m\x9b31m\u202e\r\n::error::x")
        assert capsys.readouterr().err.replace("\n", "").isprintable()

    def test_a_token_may_end_with_a_line_end(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("secret\n")
        config = kubeconfig(tmp_path, "http://127.0.0.1:1", {"tokenFile": str(tmp_path / "token")})
        assert dict(find_server({"KUBECONFIG": str(config)}).headers()) == {"authorization": "Bearer secret"}

    def test_a_token_in_a_file_may_change(self, tmp_path: Path) -> None:
        """It was read once: when the token ran out, the API server knew nobody any more until the process was started anew."""
        token = tmp_path / "token"
        config = kubeconfig(tmp_path, "http://127.0.0.1:1", {"tokenFile": "token"})
        token.write_text("")
        with pytest.raises(NoServer, match="the tokenFile token is empty"):
            find_server({"KUBECONFIG": str(config)})
        token.write_text("first")
        server = find_server({"KUBECONFIG": str(config)})
        # Of one that is being replaced, the last that was there is used.
        for text, used in {"first": "first", "second\n": "second", "": "second", "third": "third"}.items():
            token.write_text(text)
            assert dict(server.headers()) == {"authorization": f"Bearer {used}"}

    def test_an_address_says_itself_whether_it_has_tls(self, tmp_path: Path) -> None:
        with answering(b'{"kind": "Framework"}') as address:
            environment = {"KUBECONFIG": str(kubeconfig(tmp_path, "https://127.0.0.1:1", {})), "KUBE_APISERVER_ADDRESS": address}
            assert find_server(environment).get("/apis").body == {"kind": "Framework"}

    def test_a_kubeconfig_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(NoServer, match="missing"):
            find_server({"KUBECONFIG": str(tmp_path / "missing")})


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        nobody.settimeout(30)
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        given = ENVIRONMENT | {"KUBE_APISERVER_ADDRESS": address, "HOME": str(tmp_path)}
        process = subprocess.Popen(COMMAND, env=given, stdin=subprocess.DEVNULL)
        try:
            with nobody.accept()[0]:  # It asks now, and gets no answer.
                process.send_signal(signal.SIGTERM)
                assert process.wait(60) == 143
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def stored(cluster: Cluster, namespace: str, running: Json) -> Any:
    """A Framework on the real server, with a status that the barrier waits for."""
    head = {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "f"}}
    code, made = cluster.api.request("POST", PATH.format(namespace), {**head, "spec": running["spec"]})
    assert code == 201, made
    code, made = cluster.api.request("PUT", PATH.format(namespace) + "/f/status", {**made, "status": running["status"]})
    assert code == 200, made
    return made


def test_as_the_service_account_of_the_example(cluster: Cluster, namespace: str, stored: Json, tmp_path: Path, repository: Path) -> None:
    documents = list(yaml.safe_load_all((repository / "examples" / "barrier.yaml").read_text()))[:3]
    manifests = json.dumps(documents).replace("forecast", namespace)
    for document in json.loads(manifests):
        cluster.kubectl("apply", "-f", "-", input=json.dumps(document))
    token = cluster.kubectl("-n", namespace, "create", "token", "barrier").stdout
    (tmp_path / "token").write_text(token)
    shutil.copy(cluster.folder / "certificates" / "apiserver.crt", tmp_path / "ca.crt")
    around = urlsplit(json.loads(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]["server"])
    server = find_server({"KUBERNETES_SERVICE_HOST": str(around.hostname), "KUBERNETES_SERVICE_PORT": str(around.port)}, tmp_path)
    settings = barrier.Settings(namespace, "f", 5, 60)
    assert barrier.wait(lambda: server.get(PATH.format(namespace) + "/f"), settings) == stored
    assert server.get(PATH.format(namespace)).code == 403

    async def as_the_controller_does() -> Answer:
        client = Client(server)
        try:
            return await client.request("GET", PATH.format(namespace) + "/f")
        finally:
            await client.close()

    assert asyncio.run(as_the_controller_does()).body == stored


def test_on_a_real_server(cluster: Cluster, namespace: str, stored: Json, tmp_path: Path) -> None:
    given = ENVIRONMENT | {"FC_FRAMEWORK_NAMESPACE": namespace, "KUBECONFIG": str(cluster.kubeconfig)}
    assert subprocess.run(COMMAND, cwd=tmp_path, env=given, timeout=60, check=False).returncode == 0
    assert json.loads((tmp_path / "framework.json").read_text()) == stored
    assert injected(tmp_path)["FB_WORKER_ADDRESSES"] == "10.0.0.3:5001,10.0.0.4:5001,10.0.0.5:5001"
    gone = subprocess.run(COMMAND, cwd=tmp_path, env={**given, "FC_FRAMEWORK_NAME": "g"}, timeout=60, check=False)
    assert gone.returncode == 210
