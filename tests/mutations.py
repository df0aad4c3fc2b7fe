"""Inputs that nobody would write: changed bytes of good files, and good Frameworks with wrong values in them.

All take the source of chance as an argument, so that hypothesis can drive them as well as a loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from fcompile.diagnostics.catalog import all_rules
from fcompile.diagnostics.problem import Severity
from fcompile.load import LoadError, values
from fcompile.waivers.rules import code_problem

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    -2,
    10_000,
    10_001,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**40,
    0.5,
    -0.0,
    1.0,
    1e308,
    5e-324,
    1e21,
    "",
    " ",
    "x",
    "0",
    "-1",
    "no",
    "012",
    "1:30",
    "2020-01-01",
    "1e3",
    "null",
    "~",
    "<<",
    "=",
    "*a",
    "&a",
    "!!str",
    "%",
    "@",
    "`",
    "a: b",
    "a #b",
    "- a",
    "{{FC_TASK_INDEX}}",
    "{{FC_POD_NAME}}",
    "{{FC_TASK_INDEX+1}}",
    "{{FC_TASK_INDEX-1}}",
    "{{FC_FRAMEWORK_NAMESPACE}}-{{FC_TASK_INDEX}}",
    "{{FC_TASK_INDX}}",
    "{{{{FC_TASK_INDEX}}}}",
    "{{FC_",
    "$(FC_POD_UID)",
    "$(FC_POD_UIDS)",
    "$$(X)",
    "../..",
    "/",
    "a/b/c",
    "a\nb",
    "a\n\n",
    "\n",
    "\n a\n",
    "a\r\nb",
    "\t",
    "\x00",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\ud800",
    "\udfff\ud800",
    "\ue000",
    "\ufffe",
    "\U0001f600",
    "\U0010ffff",
    "İ",
    "é" * 64,
    "a" * 64,
    "a" * 254,
    "A" * 5_000,
    "9" * 5_000,
    "---",
    "--- a",
    "...",
    "500m",
    "1Gi",
    "0.1n",
    "1e-400",
    "1E999999999",
    "Always",
    "Never",
    "OnFailure",
    "UDP",
    "metadata.name",
    "metadata.labels['a']",
    "requests.cpu",
    "frameworkcontroller.microsoft.com/v1",
    "Framework",
    "List",
    "FrameworkList",
    "FC_TASK_INDEX",
    [],
    {},
    [None],
    [[]],
    [{}],
    [""],
    ["a", "a"],
    {"": ""},
    {"a": None},
    {"name": "a"},
    {"name": None},
    [{"name": "a"}, {"name": "a"}],
    {"<<": {}},
    {"{{FC_TASK_INDEX}}": "a", "0": "b"},
    {"{{FC_TASK_INDEX+1}}": "a", "{{FC_TASK_INDEX+01}}": "b"},
    {"a" * 1100: "long key"},
    {"a": {"b": {"c": [{"d": []}]}}},
)


def deep(levels: int) -> Any:
    """Lists in lists."""
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


def value(random: Random) -> Any:
    """Anything that JSON can say, and some things that it should not."""
    if random.random() < 0.02:
        return deep(random.choice((60, 99, 101, 150)))
    picked = random.choice(HOSTILE)
    if random.random() < 0.1:
        return [picked, random.choice(HOSTILE)]
    if random.random() < 0.1:
        return {key(random): picked}
    return picked


def key(random: Random) -> str:
    """A key of a mapping."""
    return random.choice([text for text in HOSTILE if isinstance(text, str)])


def changed(random: Random, tree: Any, pool: list[Any]) -> Any:
    """A copy of `tree` with one thing changed; `pool` are values and subtrees of good files that may come in."""
    places = list(_places(tree, ()))
    path = random.choice(places)
    if not path:
        return value(random)
    parent = copy = deepcopy(tree)
    last = path[-1]
    for step in path[:-1]:
        parent = parent[step]
    kind = random.randrange(9)
    if kind < 4:
        parent[last] = value(random)
    elif kind == 4:
        del parent[last]
    elif kind == 5 and isinstance(parent, dict):
        new = random.choice((key(random), str(last).upper(), str(last)[:-1], str(last) + "s", random.choice(_KEYS)))
        parent[new] = parent.pop(last)
    elif kind == 6:
        parent[last] = random.choice(pool)
    elif kind == 7:
        if isinstance(parent, dict):
            parent[random.choice((key(random), random.choice(_KEYS)))] = random.choice((value(random), random.choice(pool)))
        else:
            parent.insert(random.randrange(len(parent) + 1), random.choice((parent[last], value(random))))
    else:
        wrapped = parent[last]
        parent[last] = random.choice(([wrapped], {"a": wrapped}, str(wrapped), [wrapped, wrapped]))
    return copy


_KEYS = [
    "name",
    "namespace",
    "labels",
    "annotations",
    "spec",
    "taskRoles",
    "taskNumber",
    "task",
    "pod",
    "metadata",
    "containers",
    "initContainers",
    "image",
    "env",
    "value",
    "valueFrom",
    "volumes",
    "volumeMounts",
    "hostname",
    "subdomain",
    "service",
    "ports",
    "restartPolicy",
    "retryPolicy",
    "maxRetryCount",
    "frameworkAttemptCompletionPolicy",
    "minFailedTaskCount",
    "minSucceededTaskCount",
    "podGracefulDeletionTimeoutSec",
    "executionType",
    "activeDeadlineSeconds",
    "cleanPodPolicy",
    "ttlSecondsAfterFinished",
    "managedBy",
    "status",
    "items",
    "kind",
    "apiVersion",
    "resources",
    "limits",
    "requests",
    "livenessProbe",
    "lifecycle",
    "securityContext",
    "affinity",
    "tolerations",
    "nodeSelector",
    "generateName",
    "ownerReferences",
    "finalizers",
    "ephemeralContainers",
    "podGracefulDeletionTimeoutSec",
    "terminationMessagePolicy",
    "dnsConfig",
    "hostNetwork",
    "os",
    "overhead",
    "schedulingGates",
    "resourceClaims",
]


def _places(tree: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(tree, dict):
        for name, item in tree.items():
            yield from _places(item, (*path, name))
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _places(item, (*path, index))


def written(random: Random, trees: list[Any]) -> bytes:
    """A file of these documents, as JSON or as YAML in one of several styles."""
    style = random.randrange(4)
    if style == 0:
        return "\n".join(json.dumps(tree) for tree in trees).encode()
    if style == 1:
        return "".join("---\n" + json.dumps(tree, indent=1) + "\n" for tree in trees).encode()
    if style == 2:
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": trees}).encode()
    text = "".join("---\n" + _waivers(random) + block(tree, 0, random) for tree in trees)
    return text.encode("utf-8", "surrogatepass" if random.random() < 0.1 else "replace")


def _waivers(random: Random) -> str:
    """Comments that waive some errors everywhere, so that what they guard against comes to be built."""
    if random.random() < 0.8:
        return ""
    codes = [rule.code for rule in all_rules() if rule.severity is Severity.ERROR and code_problem(rule.code) is None]
    return "".join(f"# fcompile: waive {code} *: because\n" for code in codes)


def block(tree: Any, indent: int, random: Random) -> str:
    """YAML in block style, scalars mostly as JSON, strings sometimes plain, a key sometimes twice."""
    margin = " " * indent
    if isinstance(tree, dict) and tree:
        lines = []
        for name, item in tree.items():
            head = f"{margin}{_scalar(name, random)}:"
            lines.append(head + _below(item, indent, random))
            if random.random() < 0.001:
                lines.append(lines[-1])
        return "".join(lines)
    if isinstance(tree, list) and tree:
        return "".join(f"{margin}-" + _below(item, indent, random) for item in tree)
    return f"{margin}{_scalar(tree, random)}\n"


_DEEPEST = 150
"""From this level on all is in one line. Several deep values can be one in another: in blocks, each level takes three of Python's calls."""


def _below(item: Any, indent: int, random: Random) -> str:
    if isinstance(item, dict | list) and item and indent >= _DEEPEST:
        return f" {json.dumps(item)}\n"
    if isinstance(item, dict | list) and item:
        return "\n" + block(item, indent + 1, random)
    return f" {_scalar(item, random)}\n"


def _scalar(item: Any, random: Random) -> str:
    if isinstance(item, str) and re.fullmatch(r"[A-Za-z/][A-Za-z0-9./_-]*", item) and random.random() < 0.9:
        return item
    if isinstance(item, str) and random.random() < 0.05:
        return item
    return json.dumps(item, ensure_ascii=random.random() < 0.5)


def spoiled(random: Random, data: bytes) -> bytes:
    """`data` with some bytes or lines changed."""
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        data = _spoiled_once(random, data)
    return data


_BITS = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b"  ",
    b":",
    b": ",
    b"-",
    b"- ",
    b"---\n",
    b"...\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"#",
    b" #",
    b"&a ",
    b"*a",
    b"!!str ",
    b"!!binary ",
    b"!x ",
    b"|",
    b">",
    b"|-\n",
    b"'",
    b'"',
    b"\\",
    b"%YAML 1.2\n",
    b"<<: ",
    b"? ",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b"{{FC_TASK_INDEX}}",
    b"{{",
    b"}}",
    b"null",
    b"~",
    b"yes",
    b"0x1F",
    b"1_000",
    b".inf",
    b".nan",
    b"1e999",
    b"'''",
    b"@",
    b"`",
    b"# fcompile: waive FC101: because\n",
    b"# fcompile: waive",
    b"kind: Framework\n",
)


def _spoiled_once(random: Random, data: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    kind = random.randrange(9)
    if kind == 0:
        return data[:at] + random.randbytes(random.randint(1, 3)) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at + random.randint(1, 40) :]
    if kind <= 5:
        return data[:at] + random.choice(_BITS) + data[at + random.choice((0, 0, 1)) :]
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    if kind == 6:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 7:
        lines.insert(other, lines[one])
    else:
        lines[one] = (
            random.choice((b" ", b"  ", b"\t", b"", b"#", b"- ")) + lines[one].lstrip() if random.random() < 0.5 else b" " + lines[one]
        )
    return b"\n".join(lines)


class Seeds:
    """The examples in a folder, as texts and as objects to change."""

    def __init__(self, folder: Path) -> None:
        self.texts = [data for path in sorted(folder.rglob("*.yaml")) if len(data := path.read_bytes()) < _LONGEST_SEED]
        self.objects = [value for data in self.texts for value in _values(data)]
        self.pool = [part for value in self.objects for part in _parts(value)]

    def mutated(self, random: Random) -> bytes:
        """One of them, changed in its text or in its values, or several."""
        if random.random() < 0.35:
            return spoiled(random, random.choice(self.texts))
        trees = []
        for _ in range(random.choice((1, 1, 1, 2))):
            tree = random.choice(self.objects)
            for _ in range(random.choice((0, 1, 1, 2, 3))):
                tree = changed(random, tree, self.pool)
            trees.append(tree)
        data = written(random, trees)
        return spoiled(random, data) if random.random() < 0.1 else data

    def changed(self, random: Random, data: bytes) -> bytes:
        """`data` with its values changed, if it can be read."""
        trees = _values(data)
        return written(random, [changed(random, tree, self.pool) for tree in trees]) if trees else spoiled(random, data)


_LONGEST_SEED = 20_000


def _values(data: bytes) -> list[Any]:
    try:
        return [value for value in values(data) if isinstance(value, dict)]
    except LoadError:
        return []


def _parts(tree: Any) -> Iterator[Any]:
    yield tree
    for item in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _parts(item)
