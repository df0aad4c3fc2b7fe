"""What a cluster has, for `diff --live`: asked of kubectl, which knows every way to reach a cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from fcompile.commands.comparison_input import RawFile
from fcompile.diagnostics.problem import cut
from fcompile.diff.frameworks import Side
from fcompile.diff.live import Live, look
from fcompile.diff.result import Key
from fcompile.errors import UsageError
from fcompile.load.files import FileEntry
from fcompile.model import names
from fcompile.model.packed import role_statuses
from fcompile.model.values import mapping, text

_AT_ONCE = 100
_TIMEOUT = "--request-timeout=60s"  # kubectl itself waits without an end
_NO_SUCH_KIND = "the server doesn't have a resource type"
_WITHOUT_KUBECONFIG = "localhost:8080"
_NO_KUBECONFIG = " (it asks there where it has no kubeconfig: is the one that $KUBECONFIG names, or ~/.kube/config, there?)"
_LOGGED = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d\.")


def frameworks(keys: Iterable[Key], context: str) -> Iterator[RawFile]:
    """Yield the Frameworks of these names that the cluster has."""
    for namespace, some in _by_namespace(keys):
        # A name comes from a file, and an error in it may be waived: after `--` it is no option.
        found = _kubectl(
            context, "get", "--ignore-not-found", "--show-managed-fields", f"--namespace={namespace}", "--", names.RESOURCE, *some
        )
        if found.strip():
            _answer(found)  # what is no JSON can be YAML without a Framework
            yield RawFile(FileEntry(f"<cluster, namespace {namespace}>", "-"), found)


def as_applied(side: Side, new: Side) -> Side:
    """Return a Framework of the cluster without the metadata that others have put there, and that stays when the new one is applied.

    Metadata that kubectl has applied does not stay: where the new one lacks it, kubectl removes it. So it is with fields of the spec.
    """
    stays = frozenset(side.compiled.framework["spec"]) - frozenset(new.compiled.framework["spec"]) - side.applied_spec
    framework, wanted = side.compiled.framework, new.compiled.framework["metadata"]
    metadata = {key: value for key, value in framework["metadata"].items() if key in wanted or key in side.applied}
    for kind in ("annotations", "labels"):
        ours = {*mapping(wanted, kind), *mapping(side.applied, kind)}
        metadata[kind] = {key: value for key, value in mapping(metadata, kind).items() if key in ours}
    compiled = side.compiled._replace(framework={**framework, "metadata": metadata})
    return side._replace(compiled=compiled, status=full_status(side.status), stays=stays)


def with_pause_that_stays(new: Side, side: Side) -> Side:
    """Return a Framework of the files with the pause that the one of the cluster has, where applying the file leaves it there."""
    metadata = new.compiled.framework["metadata"]
    paused = text(mapping(side.compiled.framework["metadata"], "annotations"), names.PAUSE_ANNOTATION)
    if paused is None or any(names.PAUSE_ANNOTATION in mapping(one, "annotations") for one in (metadata, side.applied)):
        return new
    annotations = {**mapping(metadata, "annotations"), names.PAUSE_ANNOTATION: paused}
    framework = {**new.compiled.framework, "metadata": {**metadata, "annotations": annotations}}
    return new._replace(compiled=new.compiled._replace(framework=framework))


def running(before: dict[Key, Side], after: dict[Key, Side], context: str) -> Iterator[Live]:
    """Yield what runs of those that are on both sides."""
    for namespace, some in _by_namespace(key for key in after if key in before):
        selector = f"{names.FRAMEWORK_NAME} in ({','.join(some)})"
        found = _kubectl(context, "get", "pods,services", f"--selector={selector}", f"--namespace={namespace}")
        objects = _answer(found)["items"]
        for name in some:
            yield look(after[namespace, name].compiled, before[namespace, name].status, objects)


def full_status(status: Any) -> Any:
    """Return a Framework's status with its tasks, which are compressed when they are many."""
    attempt = mapping(status, "attemptStatus")
    try:
        return {**status, "attemptStatus": {**attempt, "taskRoleStatuses": role_statuses(attempt)}} if attempt else status
    except (ValueError, RecursionError):
        return status


def _by_namespace(keys: Iterable[Key]) -> Iterator[tuple[str, list[str]]]:
    """Yield names in portions that fit a command line."""
    listed: dict[str, list[str]] = {}
    for namespace, name in keys:
        listed.setdefault(namespace, []).append(name)
    for namespace, found in listed.items():
        for first in range(0, len(found), _AT_ONCE):
            yield namespace, found[first : first + _AT_ONCE]


def _kubectl(context: str, *arguments: str) -> bytes:
    import subprocess

    command = ["kubectl", *([f"--context={context}"] if context else []), "--output=json", _TIMEOUT, *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise UsageError("--live asks kubectl, and there is none in the PATH") from None
    if done.returncode:
        reason = _reason(done.stderr.decode("utf-8", "replace"))
        hint = f": {names.NO_DEFINITION}" if _NO_SUCH_KIND in reason else _NO_KUBECONFIG if _WITHOUT_KUBECONFIG in reason else ""
        raise UsageError(f"--live: kubectl says: {reason}{hint}")
    return done.stdout


def _answer(found: bytes) -> dict[str, Any]:
    """Return the object that kubectl printed. Raises UsageError: a program around kubectl prints what it likes."""
    try:
        answer = json.loads(found)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        return answer
    first = (found.decode("utf-8", "replace").splitlines() or [""])[0]
    raise UsageError(f"--live: kubectl did not print JSON, but `{cut(first, 100)}`: is there another program around it, or a proxy?")


def _reason(said: str) -> str:
    """Return what kubectl says to people, each line once: before it stand the lines of its log, one for each time that it tried."""
    lines = list(dict.fromkeys(filter(None, map(str.strip, said.splitlines()))))
    return "\n".join([line for line in lines if not _LOGGED.match(line)] or lines[-1:]) or "nothing"
