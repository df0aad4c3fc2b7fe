"""`doctor`: calls the plugin for a folder as Argo CD would, here, and says what would go wrong."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from glob import glob
from typing import NamedTuple

import click

from fcompile.commands.argocd import application
from fcompile.commands.argocd.checkout import common_root, ignored, leading_out, pack, unpack, walk
from fcompile.commands.argocd.compiled import MAX_OUTPUT
from fcompile.commands.argocd.discover import EMPTY
from fcompile.commands.argocd.generate import WARNING as SAID_AS_WARNING
from fcompile.commands.argocd.generate import no_folder
from fcompile.commands.argocd.repository import repository_of
from fcompile.commands.argocd.sandbox import Ran, Sandbox, sandbox
from fcompile.commands.group import command
from fcompile.commands.options import SECONDS
from fcompile.diagnostics.visible import listed, visible
from fcompile.diagnostics.writer import counted
from fcompile.emit.ending import cleared_up
from fcompile.errors import EXIT_ERRORS, UsageError
from fcompile.load import LoadError, values
from fcompile.load.files import IGNORE_FILE
from fcompile.model.steps import partition
from fcompile.model.values import mapping, text
from fcompile.program import safe
from fcompile.schema.pod_schemas import DEFAULT_VERSION

LARGE = 50 * 1024 * 1024
"""Bytes of a packed repository: every call sends so much."""
_ANNOTATION = "the annotation argocd.argoproj.io/manifest-generate-paths"
_SETTING = "reposerver.plugin.use.manifest.generate.paths in argocd-cmd-params-cm"
"""Without this setting the annotation only decides when an Application is refreshed."""
_NAME_IT = (
    "name the plugin in the Application: while the sidecar does not answer, Argo CD applies the files of one that names no tool as they "
    "are, not compiled"
)
_MOST_NAMED = 3
_MOST_LINKS = 10
"""That are shown: one is enough to be refused."""
OK, WARNING, ERROR, NOTE = "ok", "warning", "error", "note"
Line = tuple[str, str]


class Replay(NamedTuple):
    """An application in a checkout that was sent to the plugin."""

    folder: str
    environment: dict[str, str]
    sandbox: Sandbox
    deadline: float

    def call(self, *actions: str) -> list[Ran]:
        """Run commands of plugin.yaml with this installation, all at the same time."""
        # In the checkout, whose modules Python would import before its own without -P.
        commands = [[sys.executable, "-P", "-m", "fcompile", "argocd", action] for action in actions]
        ran = self.sandbox.run(commands, self.folder, self.environment, self.deadline)
        # Where the checkout is helps nobody, and it is gone when this is read.
        return [one._replace(said=one.said.replace(f"{self.folder}/".encode(), b"").replace(self.folder.encode(), b".")) for one in ran]


@command(
    page="argocd.md",
    examples={
        "fcompile argocd doctor apps/train": "would Argo CD compile this application?",
        "fcompile argocd doctor -p worker.taskNumber=8 apps/train": "and with a parameter?",
    },
)
@application
@click.option("-p", "--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="a parameter of the Application")
@click.option(
    "--manifest-generate-paths",
    default="",
    metavar="PATHS",
    help="that annotation of the Application: what it sends to `generate`",
)
@click.option("--deadline", type=SECONDS, default=60, show_default=True, metavar="SECONDS", help="what Argo CD allows for a call")
def doctor(*, folder: str, parameters: tuple[str, ...], manifest_generate_paths: str, deadline: float) -> int:
    """Call the plugin for a folder as Argo CD would, and say what would go wrong.

    As the repo-server does it, the whole repository is packed, unpacked elsewhere without its file modes, and the plugin's commands are
    run there with Argo CD's environment, a deadline, the sidecar's user and a root filesystem that cannot be written to. What cannot be
    tried here (without being root) is said.
    """
    given = [_parameter(written) for written in parameters]
    worst = 0
    with cleared_up():
        for kind, said in _report(folder, given, manifest_generate_paths, deadline):
            print(f"{kind:<8} {safe(said)}", flush=True)
            worst |= kind == ERROR
    return EXIT_ERRORS if worst else 0


def _report(folder: str, parameters: Sequence[dict[str, str]], paths: str, deadline: float) -> Iterator[Line]:
    if not os.path.isdir(folder):
        raise no_folder(folder, "there is no such folder")
    app, root = os.path.realpath(folder), repository_of(folder, "").root
    relative = os.path.relpath(app, root)
    yield NOTE, f"{visible(relative)} in the repository {visible(root)}"
    if not any(files for _, _, files in walk(app)):
        yield (ERROR, f"{visible(folder)} holds no file: there is nothing that Argo CD could send; name the folder of an application")
        return
    yield from _links(root)
    with tempfile.TemporaryDirectory(prefix="fcompile-doctor-") as temporary:
        work = os.path.join(temporary, "work")
        yield _sent(root, work, paths=paths)
        part, within = work, relative
        if paths:
            part = os.path.join(temporary, "part")
            chosen = common_root(root, app, paths)
            within = os.path.relpath(app, chosen)
            yield from _part_sent(root, app, chosen, part, paths)
        boxed = sandbox()
        boxed.let_in(temporary)
        yield from ((NOTE, note) for note in boxed.notes)
        whole = Replay(os.path.normpath(os.path.join(work, relative)), _environment(relative, parameters), boxed, deadline)
        yield from _discovery(whole)
        yield from _generation(whole._replace(folder=os.path.normpath(os.path.join(part, within))))
        yield from _announcements(whole)


def _sent(root: str, target: str, *, paths: str) -> Line:
    """Send the whole repository."""
    size, count = _send(root, target)
    if size <= LARGE:
        return OK, f"sending: {counted(count, 'file')}, {_bytes(size)} packed, at every call"
    advice = "" if paths else f"; try --manifest-generate-paths: with {_ANNOTATION} and {_SETTING}, `generate` may get less"
    return WARNING, f"sending: {counted(count, 'file')}, {_bytes(size)} packed, at every call{advice}"


def _part_sent(root: str, app: str, chosen: str, target: str, paths: str) -> Iterator[Line]:
    """Send what the annotation leaves of the repository."""
    for path in paths.split(";"):
        if path != path.strip():
            yield WARNING, f"sending: in manifest-generate-paths, the space in {visible(repr(path))} is taken for a part of the name"
        elif not glob(os.path.join(root, path.lstrip("/")) if path.startswith("/") else os.path.join(app, path)):
            yield WARNING, f"sending: manifest-generate-paths has {visible(path)}, which is not there; paths are divided by `;`"
    size, count = _send(chosen, target)
    below = (
        "the whole repository" if chosen == root else f"all below {visible(os.path.relpath(chosen, root))}, the common root of the paths"
    )
    kind = WARNING if size > LARGE else OK
    yield kind, f"sending to generate: {below}: {counted(count, 'file')}, {_bytes(size)} packed; only with {_SETTING}"


def _send(folder: str, target: str) -> tuple[int, int]:
    """Pack a folder and unpack it; return the bytes in between, and how many files there are."""
    packed = f"{target}.tgz"
    count = pack(folder, packed, ignored(folder))
    size = os.path.getsize(packed)
    os.mkdir(target)
    unpack(packed, target)
    os.unlink(packed)
    return size, count


def _links(root: str) -> Iterator[Line]:
    left_out = ignored(root)
    if left_out:
        names = listed(sorted(map(visible, left_out)), _MOST_NAMED)
        yield NOTE, f"what git ignores is not in a checkout, and is left out: {names}"
    found = list(leading_out(root, left_out))
    for path in found[:_MOST_LINKS]:
        yield ERROR, f"links: {visible(path)} leads out of the repository: Argo CD refuses the whole repository"
    if len(found) > _MOST_LINKS:
        yield ERROR, f"links: {len(found) - _MOST_LINKS:,} more lead out of it"
    if not found:
        yield OK, "links: none leads out of the repository"


def _discovery(replay: Replay) -> Iterator[Line]:
    (ran,) = replay.call("discover")
    if _failed(ran):
        yield ERROR, f"discover: {_failed(ran)}"
    elif ran.out.strip() == EMPTY.encode():
        yield OK, f"discover: no Framework, which is fine by the parameter allow-empty{_took(ran)}"
    elif ran.out:
        yield OK, f"discover: {ran.out.decode().strip()} holds a Framework{_took(ran)}"
        yield NOTE, f"discover: {_NAME_IT}"
    else:
        yield (
            WARNING,
            "discover: no Framework: an Application that names no plugin is not given to this one, and one that names it fails: `could not "
            "find cmp-server plugin`; if no Framework is fine, set the parameter allow-empty to true",
        )


def _generation(replay: Replay) -> Iterator[Line]:
    ran, again = replay.call("generate", "generate")
    if _failed(ran):
        yield ERROR, f"generate: {_failed(ran)}"
        return
    yield from _stream(ran.out)
    if ran.out != again.out or again.code:
        yield ERROR, "generate: two calls at once gave different answers"
    if len(ran.out) > MAX_OUTPUT:
        yield ERROR, f"generate: {_bytes(len(ran.out))}: the repo-server takes {_bytes(MAX_OUTPUT)} (ARGOCD_GRPC_MAX_SIZE_MB)"
    if ran.seconds > replay.deadline / 2:
        yield WARNING, f"generate: took {ran.seconds:.1f} s of {replay.deadline:.0f} s: on a busy repo-server it will not do"
    yield OK, f"generate: the same twice at once{_took(ran)}"
    for line in ran.said.decode("utf-8", "replace").splitlines():
        program, is_warning, warned = line.partition(f": {SAID_AS_WARNING}")
        if is_warning and " " not in program:
            yield WARNING, f"generate: {visible(warned)}"
        else:
            yield NOTE, f"generate says: {visible(line)}"


def _stream(out: bytes) -> Iterator[Line]:
    """Yield what Argo CD makes of the manifests."""
    try:
        objects = values(out)
    except LoadError as error:
        yield ERROR, f"generate: the output is not a YAML stream: {error}"
        return
    kinds = Counter(text(value, "kind") or "" for value in objects)
    named: Counter[tuple[str, ...]] = Counter()
    for value in objects:
        metadata, kind = mapping(value, "metadata"), text(value, "kind") or ""
        if name := text(metadata, "name"):
            group = (text(value, "apiVersion") or "").rpartition("/")[0]
            named[kind, name, text(metadata, "namespace") or "", group] += 1
        elif not text(metadata, "generateName"):
            yield (
                WARNING,
                f"generate: a {visible(kind)} has no `metadata.name`: no API server takes it; name it, or list its file in {IGNORE_FILE}",
            )
    for kind, name, *_ in sorted(key for key, number in named.items() if number > 1):
        yield WARNING, f"generate: {visible(kind)} {visible(name)} is there more than once: Argo CD applies one of them"
    if not objects:
        yield ERROR, "generate: no object at all: Argo CD would delete everything"
    shown = ", ".join(f"{number} {visible(kind)}" for kind, number in sorted(kinds.items()))
    yield OK, f"generate: {counted(len(objects), 'object')} ({shown}), {_bytes(len(out))}"


def _announcements(replay: Replay) -> Iterator[Line]:
    (ran,) = replay.call("parameters")
    if _failed(ran):
        yield ERROR, f"parameters: {_failed(ran)}"
        return
    yield OK, f"parameters: {len(json.loads(ran.out))} announced{_took(ran)}"


def _parameter(written: str) -> dict[str, str]:
    """Return a parameter as Argo CD passes it on. Raises UsageError."""
    name, equals, value = partition(written, "=")
    if not name or not equals:
        raise UsageError(f"--parameter {written}: write NAME=VALUE")
    return {"name": name, "string": value}


def _environment(relative: str, parameters: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return what Argo CD adds to the sidecar's own variables."""
    return {
        "ARGOCD_APP_NAME": "doctor",
        "ARGOCD_APP_NAMESPACE": "default",
        "ARGOCD_APP_PROJECT_NAME": "default",
        "ARGOCD_APP_REVISION": "0" * 40,
        "ARGOCD_APP_REVISION_SHORT": "0" * 7,
        "ARGOCD_APP_REVISION_SHORT_8": "0" * 8,
        "ARGOCD_APP_SOURCE_PATH": relative,
        "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/doctor.git",
        "ARGOCD_APP_SOURCE_TARGET_REVISION": "HEAD",
        "ARGOCD_APP_PARAMETERS": json.dumps(parameters),
        "KUBE_VERSION": f"1.{DEFAULT_VERSION}.0",
        "KUBE_API_VERSIONS": "v1",
    }


def _failed(ran: Ran) -> str:
    """Return why a call failed; empty when it did not."""
    if ran.late:
        return f"ended at the deadline after {ran.seconds:.0f} s"
    if ran.code:
        said = ran.said.decode("utf-8", "replace").strip()
        return f"exit code {ran.code}" + "".join(f"\n         {visible(line)}" for line in said.splitlines())
    return ""


def _took(ran: Ran) -> str:
    return f", {ran.seconds:.2f} s, {_bytes(ran.memory)} of memory"


def _bytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 1024:.1f} KiB"
