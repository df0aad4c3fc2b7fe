"""Write the tables of `docs/framework.md`: a Framework's fields, what is retried, and kinds of failures. The rest is written by hand.

`--check`: write nothing, exit with 1 if a table is not what it would be.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcompile.model.fields import Field  # noqa: E402
from fcompile.model.formats import FORMATS  # noqa: E402
from fcompile.model.framework import INT32_MAX, SERVER_SET  # noqa: E402
from fcompile.schema.types import FRAMEWORK_TYPES  # noqa: E402
from fcontroller.decide import codes  # noqa: E402
from fcontroller.decide.codes import (  # noqa: E402
    CONFLICT,
    FAILED,
    PERMANENT,
    POD_CREATION_TRANSIENT,
    RESTARTED,
    SUCCEEDED,
    TRANSIENT,
    Code,
)
from fcontroller.decide.failures.default import DEFAULT_POD_FAILURE_SPEC  # noqa: E402
from fcontroller.decide.retry import NEVER_RETRIED, retry_decision  # noqa: E402
from fcontroller.decide.spec import RetryPolicy  # noqa: E402

PAGE = ROOT / "docs" / "framework.md"
_CODES = {value.code: value for value in vars(codes).values() if isinstance(value, Code)}
_LIMIT = 3
"""Any `maxRetryCount` above 0 would do."""
_LIMITS = (0, _LIMIT, -1, -2)
_ENDS = {
    "Succeeded": SUCCEEDED,
    "a transient failure": Code(1, "", (TRANSIENT,)),
    "a transient conflict": Code(1, "", (TRANSIENT, CONFLICT)),
    "a permanent failure": Code(1, "", (PERMANENT,)),
    "any other failure": Code(1, "", ()),
    f"code {RESTARTED.code}": RESTARTED,
    f"code {', '.join(map(str, sorted(NEVER_RETRIED, reverse=True)))}": _CODES[max(NEVER_RETRIED)],
}
_SECTIONS = {
    "FrameworkMetadata": "metadata",
    "FrameworkSpec": "spec",
    "RetryPolicy": "retryPolicy",
    "TaskRole": "taskRoles",
    "CompletionPolicy": "frameworkAttemptCompletionPolicy",
    "TaskRoleService": "service",
    "TaskRoleServicePort": "service",
    "TaskSpec": "task",
    "PodTemplateSpec": "pod",
}
"""The page's heading over a type."""


def main() -> int:
    """Write or check the page; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is out of date")
    arguments = parser.parse_args()
    old = new = PAGE.read_text("utf-8")
    tables = {name: _fields(name) for name in FRAMEWORK_TYPES} | {"retries": _retries(), "failures": _failures()}
    for name, lines in tables.items():
        table = "\n".join([f"<!-- {name}: by tools/framework_page.py -->", *lines, "<!-- end -->"])
        new, written = re.subn(f"<!-- {name}:.*?<!-- end -->", table.replace("\\", r"\\"), new, flags=re.DOTALL)
        if written != 1:
            print(f"{PAGE.relative_to(ROOT)} has {written} places for the table {name}", file=sys.stderr)
            return 1
    if not arguments.check:
        PAGE.write_text(new, "utf-8")
    elif new != old:
        print(f"{PAGE.relative_to(ROOT)} is out of date", file=sys.stderr)
        return 1
    return 0


def _fields(name: str) -> Iterator[str]:
    yield "| field | value | default | |"
    yield "| --- | --- | --- | --- |"
    for field, form in FRAMEWORK_TYPES[name].items():
        if field not in SERVER_SET or name != "FrameworkMetadata":
            anchor = f"{name}.{field}".lower().replace(".", "-")
            yield f'| <a id="{anchor}"></a>`{field}` | {_value(form)} | {_default(form)} | {form.description} |'
    if name == "FrameworkMetadata":
        yield f"| {', '.join(f'`{field}`' for field in SERVER_SET)} | | | Set by the API server; ignored here. |"


def _default(field: Field) -> str:
    if field.required:
        return "**required**"
    if field.default is None:
        return "`null`" if field.nullable else ""
    return f"`{field.default if isinstance(field.default, str) else json.dumps(field.default)}`"


def _value(field: Field) -> str:
    """Return what a field may hold, in words."""
    if field.forbidden:
        return "not usable"
    if field.enum:
        return ", ".join(f"`{word}`" for word in field.enum)
    below = f": [{_SECTIONS[field.ref]}](#{_SECTIONS[field.ref].lower()})" if field.ref in _SECTIONS else ""
    if field.kind == "object":
        return f"a mapping{below}"
    if field.kind == "list":
        most = f" of at most {field.max_items}" if field.max_items else ""
        keys = f", no two with the same {' and '.join(f'`{key}`' for key in field.map_keys)}" if field.map_keys else ""
        return f"a list{most}{keys}{below}" + (f"; each item {_string(field)}" if field.items == "string" else "")
    if field.kind == "map":
        return f"strings, each under {FORMATS[field.keys].wanted}" + (f"; each is {_string(field)}" if field.format else "")
    if field.kind in ("any", "boolean"):
        return {"any": "anything", "boolean": "true or false"}[field.kind]
    if field.kind == "string":
        return _string(field)
    return _bounds(field) + (f"; or {_string(field)}" if field.kind == "int-or-string" else "") + (", or null" if field.nullable else "")


def _string(field: Field) -> str:
    return FORMATS[field.format].wanted if field.format else "a string"


def _bounds(field: Field) -> str:
    least, most = field.minimum, field.maximum
    if least is None:
        return "a whole number"
    return f"a whole number, {least} or more" if most in (None, INT32_MAX) else f"a whole number from {least} to {most:,}"


def _retries() -> Iterator[str]:
    """When there is another attempt, as the controller decides it."""
    heads = [f"`{limit}`" if limit != _LIMIT else "above 0" for limit in _LIMITS]
    yield "| how the attempt ended | " + " | ".join(heads) + " | " + " | ".join(f"{head}, fancy" for head in heads) + " |"
    yield "| --- |" + " --- |" * 2 * len(heads)
    for name, code in _ENDS.items():
        yield f"| {name} | " + " | ".join(_retried(RetryPolicy(fancy, limit), code) for fancy in (False, True) for limit in _LIMITS) + " |"


def _retried(policy: RetryPolicy, code: Code) -> str:
    first, last = (retry_decision(policy, counted, code.ended("")) for counted in (0, _LIMIT))
    if not first.retries:
        return "no"
    if not first.accountable:
        return "always, after a while" if first.conflict else "always"
    return "always, counted" if last.retries else "up to N times"


def _failures() -> Iterator[str]:
    """How attempts end by themselves, and what a fancy retry policy takes that for."""
    yield "| kind | codes |"
    yield "| --- | --- |"
    kinds: dict[str, list[str]] = {"transient": [], "transient conflict": [], "permanent": [], "neither": []}
    for code in _CODES.values():
        if code.type_name == FAILED and code != POD_CREATION_TRANSIENT:  # after which the same attempt goes on
            kinds[_kind(code.attributes or ())].append(f"{code.code} {code.phrase}")
    for entry in DEFAULT_POD_FAILURE_SPEC:
        kinds[_kind(entry.get("type", {}).get("attributes", ()))].append(f"{entry['code']} {entry['phrase']}")
    kinds["neither"].append("every other exit code of a container")
    for kind, named in kinds.items():
        yield f"| {kind} | {', '.join(named)} |"


def _kind(attributes: Sequence[str]) -> str:
    if TRANSIENT in attributes:
        return "transient conflict" if CONFLICT in attributes else "transient"
    return "permanent" if PERMANENT in attributes else "neither"


if __name__ == "__main__":
    sys.exit(main())
