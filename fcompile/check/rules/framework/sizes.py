"""How large a Framework's objects become, compared to the limits of etcd, the API server and kubectl."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.problem import Finding, error_rule, warning_rule
from fcompile.model.framework import MAX_TASKS, STATUS_BYTES_PER_TASK
from fcompile.model.packed import INTENT_BYTES

ETCD_BYTES = 1_572_864
"""etcd's default limit of one request (1.5 MiB)."""
ANNOTATIONS_BYTES = 262_144
"""What the API server allows all annotations of an object together."""
CONFIG_MAP_BYTES = 1_048_576
SMALL_ENOUGH = 100_000
"""A Framework whose text has fewer characters cannot come near any limit, so nothing is measured."""
INTENT_WORTH_MEASURING = 300_000
"""The same for the intent: while the text is shorter than this, the compressed intent always fits into a ConfigMap."""

TOO_LARGE_FOR_ETCD = error_rule(
    code="FC601",
    name="framework-too-large",
    summary="A Framework is larger than etcd takes.",
    why="etcd refuses requests above 1.5 MiB.",
    remedy="Move large scripts or data from the Pod templates into ConfigMaps or images.",
)
TOO_LARGE_FOR_LAST_APPLIED = warning_rule(
    code="FC602",
    name="last-applied-too-large",
    summary="A Framework is too large for client-side `kubectl apply`.",
    why="`kubectl apply` keeps a copy of the object in an annotation, and all annotations together have at most 256 KiB.",
    remedy="Apply it with --server-side (in Argo CD: ServerSideApply=true), or make it smaller.",
)
TOO_MANY_TASKS = error_rule(
    code="FC604",
    name="too-many-tasks",
    summary=f"A Framework has more than {MAX_TASKS:,} tasks, all its roles together.",
    why="The status of each task is part of the Framework, and etcd stores objects of up to 1.5 MiB.",
    remedy="Make several Frameworks of it.",
)
INTENT_TOO_LARGE = error_rule(
    code="FC603",
    name="intent-too-large",
    summary="The intent of a Framework does not fit into its attempt's ConfigMap.",
    why="The ConfigMap holds the intent, compressed when it is large, and has at most 1 MiB; unpacked the intent may have 4 MiB.",
    remedy="Move large scripts or data out of the Pod templates.",
)


def task_rules(counts: list[int]) -> Iterator[Finding]:
    """Yield what is wrong with the number of tasks; `counts` are those of each role."""
    if sum(counts) > MAX_TASKS >= max(counts):
        message = f"all roles together have {sum(counts):,} tasks, and a Framework has {MAX_TASKS:,} at most: make several Frameworks of it"
        yield Finding(TOO_MANY_TASKS, ("spec", "taskRoles"), message, part="key")


def size_rules(value: dict[str, Any], text_length: int, aliased: bool, tasks: int) -> Iterator[Finding]:
    """Yield what is too large; `text_length` is the source's length, `aliased` says that YAML aliases may make the value longer than that.

    `tasks` are all tasks of all roles.
    """
    if text_length < SMALL_ENOUGH and not aliased:
        return
    import json

    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "surrogatepass"))
    status = min(tasks, MAX_TASKS) * STATUS_BYTES_PER_TASK
    if size + status > ETCD_BYTES:
        with_status = f", and the status of {tasks:,} tasks {status:,} more" if size <= ETCD_BYTES else ""
        message = (
            f"the Framework has {size:,} bytes as JSON{with_status}; etcd takes {ETCD_BYTES:,}: move large scripts or data out of the Pod "
            "templates"
        )
        yield Finding(TOO_LARGE_FOR_ETCD, ("spec",), message, part="key")
    elif size > ANNOTATIONS_BYTES:
        message = (
            f"the Framework has {size:,} bytes as JSON, and `kubectl apply` can keep {ANNOTATIONS_BYTES:,} in its annotation: use "
            "--server-side"
        )
        yield Finding(TOO_LARGE_FOR_LAST_APPLIED, ("spec",), message, part="key")


def intent_size(document: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding on an intent that is too large; `document` is the intent as the ConfigMap holds it."""
    from fcompile.emit.json import canonical

    plain = canonical(document)
    if len(plain) <= CONFIG_MAP_BYTES // 2:
        return
    if len(plain) > INTENT_BYTES:
        message = (
            f"the intent has {len(plain):,} bytes, and the controller unpacks {INTENT_BYTES:,} at most: use fewer containers, or move "
            "large scripts or data out of the Pod templates"
        )
        yield Finding(INTENT_TOO_LARGE, ("spec",), message, part="key")
        return
    import gzip

    # base64 costs nothing here: the API server counts the decoded bytes of binaryData.
    size = len(gzip.compress(plain, 6, mtime=0))
    if size > CONFIG_MAP_BYTES - 1024:
        message = (
            f"the intent has {size:,} bytes compressed, and a ConfigMap holds {CONFIG_MAP_BYTES:,}: move large scripts or data out of the "
            "Pod templates"
        )
        yield Finding(INTENT_TOO_LARGE, ("spec",), message, part="key")
