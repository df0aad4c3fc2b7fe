"""What runs kustomize and Helm: they reach no network and no file beside the repository, whatever they are told, and take what they may."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from fcompile.commands.argocd import confine, renderer
from fcompile.commands.argocd.confine import FILES, NETWORK, confinement
from fcompile.commands.argocd.sources import MAX_RENDERED
from fcompile.errors import InputError
from fcompile.load import rules
from fcompile.pipeline.reporting import MOST_SHOWN
from tests.argocd.server import environment, inside
from tests.argocd.test_containment import SECRET, web
from tests.argocd.tools import tool
from tests.laws import run
from tests.test_cli import good

__all__ = ["web"]

LANDLOCK = sys.platform == "linux" and confine._ruleset([]) >= 0
NAMESPACES = sys.platform == "linux" and subprocess.run(["unshare", "-Un", "true"], capture_output=True, check=False).returncode == 0
pytestmark = pytest.mark.skipif(
    not LANDLOCK or not NAMESPACES, reason="this kernel, or the container that this runs in, gives a process no Landlock or no namespaces"
)
PROGRAM = """
import os, socket, sys
def tried(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
print("socket", tried(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)))
print("datagram", tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"a", ("127.0.0.1", 53))))
print("local", tried(lambda: socket.socket(socket.AF_UNIX).connect("/run/a")))
print("inside", tried(lambda: open(sys.argv[2])))
print("outside", tried(lambda: open(sys.argv[3])))
print("listing", tried(lambda: os.listdir(os.path.dirname(sys.argv[3]))))
print("parent", tried(lambda: open(f"/proc/{os.getppid()}/environ")))
print("writing", tried(lambda: open(sys.argv[2] + ".new", "w")))
print("signal", tried(lambda: os.kill(os.getppid(), 0)))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.yaml").write_text(SECRET)
    (tmp_path / "other" / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "fw.yaml").write_text(good())
    return tmp_path / "repository"


def tried(repository: Path, monkeypatch: pytest.MonkeyPatch, port: int = 1, lacking: tuple[str, ...] = ()) -> dict[str, str]:
    """What Python can do when it is confined to a repository and itself."""
    monkeypatch.chdir(repository)
    python = os.path.realpath(sys.executable)
    arguments = [
        python,
        "-I",
        "-S",
        "-c",
        PROGRAM,
        str(port),
        str(repository / "fw.yaml"),
        str(repository.parent / "other" / "secret.yaml"),
    ]
    with confinement([str(repository), sys.base_prefix], 1 << 28, 10) as prepare:
        process, found = renderer._started(arguments, prepare)
        out, said = process.communicate(timeout=20)
    assert (process.returncode, tuple(found)) == (0, lacking), said.decode()
    return dict(line.split() for line in out.decode().splitlines())


def test_a_program_reaches_the_repository_and_nothing_else(
    repository: Path, monkeypatch: pytest.MonkeyPatch, web: tuple[str, list[str]]
) -> None:
    found = tried(repository, monkeypatch, int(web[0].rpartition(":")[2]))
    assert found.pop("inside") == "done"
    assert {name for name, came in found.items() if came == "done"} == set()


def test_each_way_to_close_the_network_is_enough(repository: Path, monkeypatch: pytest.MonkeyPatch, web: tuple[str, list[str]]) -> None:
    """A container's profile forbids namespaces; an architecture may be one whose system calls are not known."""
    port = int(web[0].rpartition(":")[2])
    with monkeypatch.context() as patched:
        patched.setattr(confine, "_socket_filter", lambda: None)
        found = tried(repository, patched, port)
        assert (found["socket"], found["datagram"]) == ("OSError", "OSError")
    with monkeypatch.context() as patched:
        patched.setattr(confine, "_NAMESPACES", 1)
        found = tried(repository, patched, port)
        assert (found["socket"], found["datagram"], found["local"]) == ("PermissionError", "PermissionError", "PermissionError")


def test_what_cannot_be_closed_is_said(repository: Path, monkeypatch: pytest.MonkeyPatch, web: tuple[str, list[str]]) -> None:
    monkeypatch.setattr(confine, "_socket_filter", lambda: None)
    monkeypatch.setattr(confine, "_NAMESPACES", 1)
    monkeypatch.setattr(confine, "_ruleset", lambda readable: -1)
    assert tried(repository, monkeypatch, int(web[0].rpartition(":")[2]), (FILES, NETWORK))["socket"] == "done"
    (repository / "kustomization.yaml").write_text("resources: [fw.yaml]\n")
    answer = inside("generate", repository, {**environment(), "PATH": os.path.dirname(tool("kustomize"))})
    assert answer.code == 0
    assert "kustomize could have reached the network" in answer.said
    assert "kustomize could have reached files outside of the repository" in answer.said


def test_kustomize_is_stopped_although_nothing_was_refused_before(
    repository: Path, monkeypatch: pytest.MonkeyPatch, web: tuple[str, list[str]]
) -> None:
    monkeypatch.chdir(repository)
    for written in ("Resources: [fw.yaml, ../other]", f"resources: [{web[0]}/a]"):
        (repository / "kustomization.yaml").write_text(written + "\n")
        with pytest.raises(InputError) as raised:
            renderer.run([tool("kustomize"), "build", "."], str(repository))
        assert "hunter2" not in str(raised.value)
    assert web[1] == []


@pytest.mark.parametrize("kind", ["http", "file"])
def test_a_schema_of_a_chart_reads_nothing_else(repository: Path, web: tuple[str, list[str]], kind: str) -> None:
    """Helm resolves what a schema refers to, over the network and from any file; in a packed chart nobody looks before it."""
    reference = f"{web[0]}/schema" if kind == "http" else f"file://{repository.parent}/other/secret.yaml"
    (repository / "templates").mkdir()
    (repository / "fw.yaml").rename(repository / "templates" / "fw.yaml")
    (repository / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (repository / "values.yaml").write_text("a: 1\n")
    schema = f'{{"properties": {{"a": {{"$ref": "{reference}"}}}}}}'
    (repository / "values.schema.json").write_text(schema)
    answer = inside("generate", repository, {**environment(), "PATH": "/nonexistent"})
    assert (answer.code, "`$ref:" in answer.said) == (1, True)
    (repository / "values.schema.json").unlink()
    (repository / "charts").mkdir()
    with tarfile.open(repository / "charts" / "packed-0.1.0.tgz", "w:gz") as packed:
        for name, text in (("Chart.yaml", "apiVersion: v2\nname: packed\nversion: 0.1.0\n"), ("values.schema.json", schema)):
            member = tarfile.TarInfo(f"packed/{name}")
            member.size = len(text)
            packed.addfile(member, io.BytesIO(text.encode()))
    (repository / "values.yaml").write_text("packed: {a: 1}\n")
    answer = inside("generate", repository, {**environment(), "PATH": os.path.dirname(tool("helm"))})
    assert (answer.code, answer.out, web[1]) == (1, "", [])
    assert "hunter2" not in answer.said
    alone = subprocess.run([tool("helm"), "template", "."], cwd=repository, capture_output=True, text=True, check=False)
    assert web[1] == ["/schema"] if kind == "http" else "permission denied" not in alone.stderr


@pytest.mark.parametrize(
    "schema", ['{"$ref": "#/a", "\\u0024ref": "file:///etc/passwd", "a": {}}', '{"$ref": "file:///etc/passwd", "maximum": 1e999}']
)
def test_a_schema_that_helm_reads_and_we_do_not_is_refused(repository: Path, schema: str) -> None:
    (repository / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (repository / "values.schema.json").write_text(schema)
    answer = inside("generate", repository, {**environment(), "PATH": "/nonexistent"})
    assert (answer.code, "values.schema.json:1:" in answer.said) == (1, True), answer.said


@pytest.mark.parametrize(
    "version", ["http://json-schema.org/../x", "https://json-schema.org/draft/2099-01/schema", "http://json-schema.org/x"]
)
def test_a_schema_of_another_version_is_not_fetched(repository: Path, version: str) -> None:
    (repository / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (repository / "values.schema.json").write_text(f'{{"$schema": "{version}"}}')
    answer = inside("generate", repository, {**environment(), "PATH": "/nonexistent"})
    assert (answer.code, "`$schema: http" in answer.said) == (1, True)


@pytest.mark.parametrize("version", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
def test_a_schema_of_a_version_that_helm_has_is_read(repository: Path, version: str) -> None:
    (repository / "templates").mkdir()
    (repository / "fw.yaml").rename(repository / "templates" / "fw.yaml")
    (repository / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    (repository / "values.schema.json").write_text(f'{{"$schema": "http://json-schema.org/{version}/schema#", "type": "object"}}')
    answer = inside("generate", repository, {**environment(), "PATH": os.path.dirname(tool("helm"))})
    assert answer.code == 0, answer.said


def test_the_page_on_security_names_the_limits() -> None:
    """What it says of numbers is what is in force."""
    page = " ".join((Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text("utf-8").split())
    for number in (
        f"{renderer.MAX_MEMORY >> 20} MiB, {renderer.DEADLINE} s and {renderer.MAX_OUTPUT >> 20} MiB of output",
        f"at most {rules.MAX_FILE_BYTES >> 20} MiB, a document {rules.MAX_BYTES >> 20} MiB",
        f"{rules.MAX_NODES:,} values and {rules.MAX_DEPTH} levels",
        f"{MAX_RENDERED:,} documents",
        f"{rules.MAX_DOCUMENTS:,} documents or {rules.MAX_UNREADABLE:,} unreadable places",
        f"{rules.MAX_PROBLEMS:,} problems, of which {MOST_SHOWN:,} are shown",
    ):
        assert number in page, number


COPIES = "- op: copy\n  from: /metadata/annotations\n  path: /metadata/annotations/a"


def test_a_program_takes_no_more_memory_than_it_may(repository: Path, tmp_path: Path) -> None:
    """Each step of this patch doubles the object; nothing is wrong with any of its files."""
    (repository / "fw.yaml").write_text(good().replace("metadata: {", "metadata: {annotations: {z: zzzzzzzz}, ", 1))
    (repository / "patch.yaml").write_text("\n".join(f"{COPIES}{step}" for step in range(40)) + "\n")
    (repository / "kustomization.yaml").write_text("resources: [fw.yaml]\npatches: [{path: patch.yaml, target: {kind: Framework}}]\n")
    start = time.monotonic()
    answer = inside("generate", repository, {**environment(), "PATH": os.path.dirname(tool("kustomize"))})
    assert (answer.code, answer.out) == (1, "")
    assert "MiB of memory" in answer.said
    assert len(answer.said) < 500
    assert time.monotonic() - start < renderer.DEADLINE


DUMP = "SIGABRT: abort\nPC=0x7f m=0 sigcode=18446744073709551610\n\ngoroutine 0 gp=0x1 m=0 mp=0x2 [idle]:\nrax 0x0\n" + "rbx 0x0\n" * 300


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("fatal error: runtime: out of memory", "program needs more than 512 MiB of memory for this application: divide it"),
        (
            "runtime/cgo: pthread_create failed: Resource temporarily unavailable",
            "program could start no thread: it needs more than 512 MiB of memory for this application, or there are too many threads here",
        ),
        ("panic: runtime error: index out of range", "program build failed with exit code 2:\npanic: runtime error: index out of range"),
    ],
)
def test_the_crash_of_a_program_is_told_in_a_line(tmp_path: Path, said: str, told: str) -> None:
    """Not by the registers and stacks that Go prints, hundreds of lines for whoever looks at the Application."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nprintf %s '{said}\n{DUMP}' >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(InputError) as raised:
        renderer.run([str(program), "build"], str(tmp_path))
    assert str(raised.value) == told


def test_many_line_ends_of_a_program_are_looked_through_once(tmp_path: Path) -> None:
    """`fail` of Helm says whatever a template likes; a search anew from each line end took seconds."""
    program = tmp_path / "program"
    said = "a" + "\n" * 60_000 + "b"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    program.chmod(0o755)
    start = time.process_time()
    with pytest.raises(InputError, match=f":\n{said}$"):
        renderer.run([str(program), "build"], str(tmp_path))
    assert time.process_time() - start < 1


def test_a_program_makes_no_more_documents_than_it_may(repository: Path) -> None:
    """Each costs half a millisecond, and a loop of fifty bytes makes as many as it likes."""
    (repository / "templates").mkdir()
    (repository / "fw.yaml").rename(repository / "templates" / "fw.yaml")
    (repository / "templates" / "many.yaml").write_text(f"{{{{ range until {MAX_RENDERED} }}}}\n---\na: 1\n{{{{ end }}}}")
    (repository / "Chart.yaml").write_text("apiVersion: v2\nname: chart\nversion: 0.1.0\n")
    answer = inside("generate", repository, {**environment(), "PATH": os.path.dirname(tool("helm"))})
    assert (answer.code, answer.out) == (1, "")
    assert answer.said == f"fcompile: more than {MAX_RENDERED:,} documents were rendered: divide the application\n"


def test_a_program_takes_no_more_time_than_it_may(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "DEADLINE", 1)
    monkeypatch.chdir(repository)
    program = tmp_path / "kustomize"
    for script in ("while :; do :; done", "exec 1>&- 2>&-; while :; do :; done"):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        with pytest.raises(InputError, match="longer than 1 s"):
            renderer.run([str(program), "build"], str(repository))


def test_a_program_does_not_outlive_us(repository: Path, tmp_path: Path) -> None:
    """Also when we are killed, and nothing of ours runs any more."""
    program = tmp_path / "kustomize"
    program.write_text("#!/bin/sh\necho $$ >&2\nwhile :; do :; done\n")
    program.chmod(0o755)
    (repository / "kustomization.yaml").write_text("resources: [fw.yaml]\n")
    env = {**environment(), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen([sys.executable, "-m", "fcompile", "argocd", "generate"], cwd=repository, env=env)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    end = time.monotonic() + 120
    while not (found := children.read_text().split()) and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert found
    while any(Path(f"/proc/{child}/cmdline").exists() for child in found) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(Path(f"/proc/{child}/cmdline").exists() for child in found)


def test_doctor_says_what_cannot_be_closed(repository: Path) -> None:
    (repository / "kustomization.yaml").write_text("resources: [fw.yaml]\n")
    assert "could have reached" not in run(["argocd", "doctor", str(repository)]).out.decode()
