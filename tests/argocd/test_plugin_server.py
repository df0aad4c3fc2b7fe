"""The plugin behind Argo CD's own plugin server, spoken to as the repo-server does: gRPC over a socket, the repository as a tgz."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest

from fcompile.load import values
from tests.argocd.server import environment
from tests.argocd.tools import tool
from tests.test_cli import SERVICE, good

CHUNK = 1024
Message = dict[int, list[Any]]


def encoded(*fields: tuple[int, bytes | str | int]) -> bytes:
    """A protobuf message of these fields."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _varint(number << 3 | 2) + _varint(len(data)) + data
    return bytes(out)


def decoded(data: bytes) -> Message:
    """The fields of a protobuf message, each with all of its values."""
    fields: Message = {}
    stream = io.BytesIO(data)
    while stream.tell() < len(data):
        key = _read_varint(stream)
        value = _read_varint(stream) if key & 7 == 0 else stream.read(_read_varint(stream))
        fields.setdefault(key >> 3, []).append(value)
    return fields


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _read_varint(stream: io.BytesIO) -> int:
    value = shift = 0
    while True:
        byte = stream.read(1)[0]
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value


class Server(NamedTuple):
    channel: grpc.Channel

    def ask(self, method: str, repository: Path, app: str, parameters: Any = None, timeout: float = 60) -> Message:
        """One call with a repository, of which `app` is the folder of the application."""
        env = {key: value for key, value in environment(app, parameters).items() if key.startswith(("ARGOCD_", "KUBE_"))}
        call = self.channel.stream_unary(f"/plugin.ConfigManagementPluginService/{method}", lambda data: data, decoded)
        answer: Message = call(_stream(repository, app, env), timeout=timeout)
        return answer

    def manifests(self, repository: Path, app: str, parameters: Any = None, timeout: float = 60) -> list[Any]:
        answer = self.ask("GenerateManifest", repository, app, parameters, timeout)
        return [value for text in answer.get(1, []) for value in values(text)]


def _stream(repository: Path, app: str, env: dict[str, str]) -> Iterator[bytes]:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(repository, arcname=".")
    data = packed.getvalue()
    variables = [(5, encoded((1, name), (2, value))) for name, value in env.items()]
    metadata = encoded((1, "lab"), (2, app), (3, hashlib.sha256(data).hexdigest()), (4, len(data)), *variables)
    yield encoded((1, metadata))
    for start in range(0, len(data), CHUNK):
        yield encoded((2, encoded((1, data[start : start + CHUNK]))))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Argo CD's plugin server with our plugin.yaml and nothing else."""
    argocd = tool("argocd")
    folder = tmp_path_factory.mktemp("s")
    (folder / "config").mkdir()
    plugin = Path(__file__).resolve().parents[2] / "plugins" / "argocd" / "plugin.yaml"
    (folder / "config" / "plugin.yaml").write_text(plugin.read_text())
    own = {"ARGOCD_BINARY_NAME": "argocd-cmp-server", "ARGOCD_PLUGINSOCKFILEPATH": str(folder), "ARGOCD_CMP_WORKDIR": str(folder)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [argocd, "--config-dir-path", str(folder / "config")], env={**own, "PATH": path}, cwd=folder, stdout=log, stderr=log
        )
    try:
        end = time.monotonic() + 60
        while not (folder / "fcompile.sock").exists():
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        with grpc.insecure_channel(f"unix:{folder}/fcompile.sock") as channel:
            yield Server(channel)
    finally:
        process.kill()  # it does not end by itself when it is asked to
        process.wait()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with two applications: one of plain files, one without any Framework."""
    folder = tmp_path / "checkout"
    for name in ("apps/lab", "apps/web"):
        (folder / name).mkdir(parents=True)
        (folder / name / "service.yaml").write_text(SERVICE)
    (folder / "apps/lab/train.yaml").write_text(good())
    return folder


def test_discovery(server: Server, checkout: Path) -> None:
    assert server.ask("MatchRepository", checkout, "apps/lab") == {1: [1], 2: [1]}
    assert server.ask("MatchRepository", checkout, "apps/web") == {2: [1]}


def test_no_framework_is_fine_where_the_application_says_so(server: Server, checkout: Path) -> None:
    """Argo CD calls `generate` only after a match, also for an Application that names the plugin."""
    asked = [{"name": "allow-empty", "string": "true"}]
    assert server.ask("MatchRepository", checkout, "apps/web", asked) == {1: [1], 2: [1]}
    (service,) = server.manifests(checkout, "apps/web", asked)
    assert service["metadata"]["name"] == "web"


def test_manifests(server: Server, checkout: Path) -> None:
    service, framework = server.manifests(checkout, "apps/lab", [{"name": "train/worker.taskNumber", "string": "5"}])
    assert service["metadata"]["name"] == "web"
    assert framework["spec"]["taskRoles"][0]["taskNumber"] == 5
    assert framework["metadata"]["namespace"] == "research"


def test_every_text_arrives_as_it_was(server: Server, checkout: Path) -> None:
    """Argo CD cuts the stream into documents, and drops the last line end of it all."""
    scripts = {f"{number}{end}": f"#!/bin/sh\n# ---\necho{' ' * number}\n{chr(10) * number}" for number in range(3) for end in "ab"}
    for name, script in scripts.items():
        block = "".join(f"    {line}\n" if line else "\n" for line in script.split("\n")[:-1])
        keep = "|+" if script.endswith("\n\n") else "|"
        config_map = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s{name}\ndata:\n  script: {keep}\n{block}"
        (checkout / f"apps/lab/z{name}.yaml").write_text(config_map)
    found = {value["metadata"]["name"]: value["data"]["script"] for value in server.manifests(checkout, "apps/lab") if "data" in value}
    assert found == {f"s{name}": script for name, script in scripts.items()}


def test_a_report_comes_back_as_the_error(server: Server, checkout: Path) -> None:
    (checkout / "apps/lab/train.yaml").write_text(good().replace("busybox", "busybox\n            imago: b"))
    with pytest.raises(grpc.RpcError, match=r"train\.yaml:15:13: error\[FC101\]"):
        server.manifests(checkout, "apps/lab")
    with pytest.raises(grpc.RpcError, match="no Framework found"):
        server.manifests(checkout, "apps/web")


def test_links_come_through_the_archive(server: Server, checkout: Path) -> None:
    (checkout / "shared.yaml").write_text(good("shared"))
    (checkout / "apps/lab/shared.yaml").symlink_to("../../shared.yaml")
    assert {value["metadata"]["name"] for value in server.manifests(checkout, "apps/lab")} == {"web", "shared", "train"}


def test_an_overlay(server: Server, checkout: Path) -> None:
    tool("kustomize")
    (checkout / "overlay").mkdir()
    (checkout / "overlay" / "kustomization.yaml").write_text("namePrefix: eu\nresources: [../apps/lab]\n")
    (checkout / "apps/lab/kustomization.yaml").write_text("resources: [train.yaml]\n")
    (framework,) = server.manifests(checkout, "overlay")
    assert framework["metadata"]["name"] == "eutrain"


def test_parameters(server: Server, checkout: Path) -> None:
    answer = server.ask("GetParametersAnnouncement", checkout, "apps/lab")
    names = [decoded(item)[1][0].decode() for item in answer[1]]
    assert "train/worker.taskNumber" in names


def test_many_frameworks(server: Server, checkout: Path) -> None:
    for number in range(200):
        (checkout / f"apps/lab/many{number}.yaml").write_text(good(f"many{number}"))
    assert len(server.manifests(checkout, "apps/lab")) == 202
