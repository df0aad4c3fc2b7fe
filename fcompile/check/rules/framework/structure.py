"""What follows for a value from its type alone: unknown and missing fields, wrong types, values out of bounds or of a wrong form.

One walk over a value and the table of its type (`schema.types`) for one Kubernetes version. A type's check is put together from its
fields when a file first has them, and kept: nearly all files are right, and a right value costs a few dictionary look-ups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from fcompile.check.misplaced import Home, explained, first_alike, home, home_below, instead, synonym
from fcompile.check.rules.framework.scalars import (
    EMPTY_VALUE,
    anything,
    boolean_check,
    integer_check,
    port_check,
    quantity_check,
    string_check,
    wrong_type,
)
from fcompile.check.rules.framework.task_roles import task_role_rules
from fcompile.check.walk import Check, Enough, Walk, called, shown
from fcompile.diagnostics.problem import Finding, Fix, Part, Path, error_rule, warning_rule
from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.visible import joined
from fcompile.model.fields import Field, Type
from fcompile.model.formats import FORMATS, MAX_ANNOTATIONS, accepts
from fcompile.schema.pod_schemas import POD_TEMPLATE, versions_with
from fcompile.schema.types import refuses_null, types

UNKNOWN_FIELD = error_rule(
    code="FC101",
    name="unknown-field",
    summary="An object has a field that its type does not have.",
    why="The API server refuses it, or drops it without a word.",
    remedy="Correct its name or its place: often a word is misspelt, or a line is indented too far or too little.",
)
FIELD_NOT_IN_VERSION = error_rule(
    code="FC102",
    name="field-not-in-version",
    summary="A field does not exist in the Kubernetes version that is checked for.",
    why="That API server would refuse or drop it.",
    remedy="Remove the field, or check for the Kubernetes version of your cluster.",
)
FORBIDDEN_FIELD = error_rule(
    code="FC103",
    name="forbidden-field",
    summary="A field exists, but must not be set here.",
    why="The API server refuses an object that has it.",
    remedy="Remove the field.",
)
UNQUOTED_KEY = error_rule(
    code="FC113",
    name="unquoted-key",
    summary="A key without quotes is not read as it is written.",
    why="As keys, `yes` and `on` are read as `true`, and `012` as `10`.",
    remedy="Put the key in quotes.",
)
EMPTY_ITEM = error_rule(
    code="FC114",
    name="empty-item",
    summary="A list has an item that is null.",
    why="A `-` with nothing after it is null, and the item has fields that it needs.",
    remedy="Remove it, or fill it in.",
)
NULL_VALUE = warning_rule(
    code="FC115",
    name="null-value",
    summary="A value in a mapping or list is null.",
    why="The API server reads the null as an empty value; other tools drop the entry.",
    remedy='Write the value that is meant, or remove it. An empty string is `""`.',
)
MISSING_FIELD = error_rule(
    code="FC121",
    name="missing-field",
    summary="An object lacks a field that it needs.",
    why="The API server refuses it.",
    remedy="Add the field.",
)
TOO_MANY_ITEMS = error_rule(
    code="FC132",
    name="too-many-items",
    summary="A list has more items than its field allows.",
    why="The API server refuses it.",
    remedy="Remove some.",
)
MALFORMED_KEY = error_rule(
    code="FC152",
    name="malformed-key",
    summary="A key of a mapping does not have the form that is asked for.",
    why="Keys of labels, annotations and resources have fixed forms, and the API server refuses others.",
    remedy="Write it in the form that is named.",
)
ANNOTATIONS_TOO_LARGE = error_rule(
    code="FC153",
    name="annotations-too-large",
    summary="The annotations of one object are larger than 256 KiB together.",
    why="The API server refuses it.",
    remedy="Put large data into a ConfigMap.",
)

_WORDS = {"true", "false", "null", ""}
_NUMBER_STARTS = frozenset("0123456789+-.~")
_RETRIES = {"Always": "-2", "OnFailure": "-1", "Never": "0"}
"""How often a task is retried, by the word of a Pod's `restartPolicy` that comes to the same."""
_SUGGESTIONS = 200
"""After this number of findings, no more suggestions are searched for."""


def structure(value: dict[str, Any], *, version: int, plain: Callable[[Path, Part], str | None] | None = None) -> Iterator[Finding]:
    """Yield the structural problems of a Framework whose templates have their placeholders filled in.

    `version` is the Kubernetes 1.x minor. `plain` gives the source text of an unquoted scalar at a path, from which fixes are made.
    """
    yield from walk(value, "Framework", (), version=version, plain=plain)
    yield from task_role_rules(value, version)


def walk(
    value: Any, type_name: str, path: Path, *, version: int, plain: Callable[[Path, Part], str | None] | None = None
) -> Iterator[Finding]:
    """Return the structural problems of a value of a type; `path` is where it stands in its document."""
    walk = Walk(version, plain, type_name, path)
    if not isinstance(value, dict):
        step = path[-1] if path else type_name
        wrong_type(value, "a mapping", path[:-1], step, walk)
        return iter([finding._replace(path=path) for finding in walk.findings])
    with suppress(Enough):
        _members(type_name, version)(value, path, walk)
    return iter(walk.findings)


Members = Callable[[dict[str, Any], Path, Walk], None]


@cache
def _members(type_name: str, version: int) -> Members:
    """Return the function that checks the fields of an object of this type."""
    fields = types(version)[type_name]
    needed = tuple(name for name, field in fields.items() if field.required)
    checks: dict[str, Check] = {}

    def check(value: dict[str, Any], here: Path, walk: Walk) -> None:
        for name, item in value.items():
            known = checks.get(name)
            if known is None:
                field = fields.get(name)
                if field is None:
                    _unknown(name, value, type_name, fields, here, walk)
                    continue
                known = checks[name] = _field_check(field, type_name, name, version)
            if item is not None:
                known(item, here, name, walk)
        for name in needed:
            if value.get(name) is None:
                _missing([name for name in needed if value.get(name) is None], value, type_name, fields, here, walk)
                break

    return check


def _field_check(field: Field, owner: str, name: str, version: int) -> Check:
    if field.forbidden:
        return _forbidden(field._replace(forbidden=""), field.forbidden, owner, name, version)
    if field.kind == "object":
        return _object_check(field.ref, version)
    if field.kind not in ("list", "map"):
        return _leaf_check(field, owner, name)
    inner = (
        _object_check(field.ref, version) if field.items == "object" else _leaf_check(field._replace(kind=field.items), owner, name, True)
    )
    return _list_check(field, inner, version) if field.kind == "list" else _map_check(field, inner)


def _leaf_check(field: Field, owner: str, name: str, item: bool = False) -> Check:
    if field.kind == "string":
        return string_check(field, owner, name, item)
    if field.kind == "integer":
        return integer_check(field)
    if field.kind == "int-or-string":
        return port_check(field)
    return {"boolean": boolean_check, "quantity": quantity_check, "any": anything}[field.kind]


def _object_check(type_name: str, version: int) -> Check:
    members: list[Members] = []

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if type(value) is not dict:
            wrong_type(value, "a mapping", path, step, walk, _object_advice(type_name, value))
            return
        if not members:
            # Made only now: most types of a Pod are in no file.
            members.append(_members(type_name, version))
        members[0](value, (*path, step), walk)

    return check


_EMPTY_WILL_DO = ("TaskRoleService", "EmptyDirVolumeSource")
_NAME = "{{name: {0}}}"
_WORD = "(/?[A-Za-z0-9][A-Za-z0-9._/-]{0,80})"
_FOR_A_WORD = {
    **dict.fromkeys(("LocalObjectReference", "SecretEnvSource", "ConfigMapEnvSource", "ConfigMapVolumeSource"), (_WORD, _NAME)),
    "SecretVolumeSource": (_WORD, "{{secretName: {0}}}"),
    "PersistentVolumeClaimVolumeSource": (_WORD, "{{claimName: {0}}}"),
    "HostPathVolumeSource": (_WORD, "{{path: {0}}}"),
    "HTTPGetAction": (_WORD, "{{path: {0}, port: …}}"),
    **dict.fromkeys(("SecretKeySelector", "ConfigMapKeySelector"), (_WORD, "{{name: {0}, key: …}}")),
    **dict.fromkeys(("SeccompProfile", "AppArmorProfile"), ("(RuntimeDefault|Unconfined)", "{{type: {0}}}")),
    "LifecycleHandler": ("(?s:.+)", "{{exec: {{command: […]}}}}"),
    "EnvFromSource": (_WORD, f"- configMapRef: {_NAME}` or `- secretRef: {_NAME}"),
    "EnvVar": ("([A-Za-z0-9_]{1,40})=([A-Za-z0-9 ._:/@,+-]{0,60})", '- {{name: {0}, value: "{1}"}}'),
    "EnvVarSource": (r"((?:metadata|spec|status)\.[A-Za-z.]{1,40})", "{{fieldRef: {{fieldPath: {0}}}}}"),
    "Volume": ("[^`]+", "- {{name: …, persistentVolumeClaim: {{claimName: …}}}}` or `- {{name: …, emptyDir: {{}}}}"),
    "VolumeMount": ("(?:([a-z0-9-]{1,63}):)?(/[A-Za-z0-9._/-]{0,80})", "- {{name: {0}, mountPath: {1}}}"),
}
"""Objects that others write as a word: what it is like, and the form that they have."""
_FOR_A_LIST = {"Capabilities": "{add: […]}", "NodeSelector": "{nodeSelectorTerms: […]}", "ExecAction": "{command: […]}"}
"""Objects that others write as the list in them, with the form that they have."""


def _object_advice(type_name: str, value: Any) -> str:
    """Return the form of an object that others write as a number or a word; empty where there is none."""
    whole = type(value) is int and 0 <= value <= 65535
    number = str(value) if whole or (isinstance(value, str) and re.fullmatch("[0-9]{1,5}", value)) else ""
    if type_name == "TaskRoleServicePort":
        return f"write `- {{name: …, port: {number or '80'}}}`"
    word = value if isinstance(value, str) else ""
    if type_name == "ContainerPort":
        mapped = re.fullmatch(r"(?:[\w-]{1,30}:)?([0-9]{1,5})(?:/[a-zA-Z]{3,4})?", word)
        return f"write `- containerPort: {number or (mapped[1] if mapped else '8080')}`"
    if type_name in ("TCPSocketAction", "GRPCAction") and number:
        return f"write `{{port: {number}}}`"
    if type_name == "RetryPolicy":
        count = _RETRIES.get(word) or number or "0"
        return f"write `{{maxRetryCount: {count}}}`"
    if type_name in _EMPTY_WILL_DO and value is True:
        return "write `{}`"
    if type_name in _FOR_A_LIST and (isinstance(value, list) or (type_name == "ExecAction" and word)):
        return f"write `{_FOR_A_LIST[type_name]}`"
    pattern, form = _FOR_A_WORD.get(type_name, ("", ""))
    given = re.fullmatch(pattern, word)
    return f"write `{form.format(*given.groups('…'))}`" if form and given else ""


def _list_check(field: Field, inner: Check, version: int) -> Check:
    needed, most = field.required, field.max_items
    null_refused = refuses_null(field, version)

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if type(value) is not list:
            wrong_type(value, "a list", path, step, walk, _list_advice(value, field, version))
            return
        here = (*path, step)
        for index, item in enumerate(value):
            if item is not None:
                inner(item, here, index, walk)
            elif null_refused:
                walk.report(EMPTY_ITEM, (*here, index), f"{called(here, index)} is null: remove the empty `-`, or fill the item in")
            else:
                message = f"{called(here, index)} is null, which is read as an empty value: remove it, or write what is meant"
                walk.report(NULL_VALUE, (*here, index), message)
        if needed and not value:
            walk.report(EMPTY_VALUE, here, f"{called(path, step)} must have at least one item: add one")
        if most and len(value) > most:
            message = f"{called(path, step)} has {len(value)} items, and at most {most} are allowed: remove some"
            walk.report(TOO_MANY_ITEMS, here, message, part="key")

    return check


def _list_advice(value: Any, field: Field, version: int) -> str:
    if isinstance(value, dict):
        fields = types(version)[field.ref] if field.ref else {}
        given = next((key for key in value if key in fields), next(iter(fields), ""))
        key = field.map_keys[0] if field.map_keys else "name" if "name" in fields else given
        return f"write an item for each, `- {key}: …`" if field.ref else "write each item on a line of its own after `- `"
    if field.ref:  # one item, perhaps, in the form that it would have as an item
        advice = _object_advice(field.ref, value)
        return advice if advice.startswith("write `- ") else advice.replace("write `", "write `- ", 1)
    if field.items == "integer" and type(value) is int:
        return f"write `[{value}]`"
    if not isinstance(value, str):
        return ""
    words = value.split()
    if words and len(words) <= 6 and all(word.replace("-", "").replace(".", "").replace("/", "").isalnum() for word in words):
        # In quotes: a bare `1` or `no` would be no string.
        quoted = ", ".join(f'"{word}"' for word in words)
        return f"write `[{quoted}]`"
    return "write each item on a line of its own after `- `"


def _map_check(field: Field, inner: Check) -> Check:
    fits = accepts(field.keys) if field.keys else None
    read = 'an empty one: write what is meant, an empty string as `""`'
    if field.items == "quantity":
        read = "0: write the amount, or remove it"
    sums = field.keys == "annotation-key"

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if type(value) is not dict:
            wrong_type(value, "a mapping", path, step, walk, "write `key: value` without `- `" if isinstance(value, list) else "")
            return
        here = (*path, step)
        for key, item in value.items():
            if key in _WORDS or key[0] in _NUMBER_STARTS:
                _unquoted_key(key, here, walk)
            if fits is not None and not fits(key):
                _malformed_key(key, field, here, walk)
            if item is not None:
                inner(item, here, key, walk)
            else:
                walk.report(NULL_VALUE, (*here, key), f"`{key}` has no value, which is read as {read}")
        if sums:
            _annotations_size(value, here, walk)

    return check


def _unquoted_key(key: str, here: Path, walk: Walk) -> None:
    source = walk.source((*here, key), "key")
    if source is not None and source != key:
        quoted = f'"{source}"'
        message = f"the key `{source}` without quotes is read as `{key}`: write {quoted}"
        walk.report(UNQUOTED_KEY, (*here, key), message, "key", Fix(f"write {quoted}", (*here, key), "key", quoted))


def _malformed_key(key: str, field: Field, here: Path, walk: Walk) -> None:
    message = (
        f"{shown(key)} is not a valid key of `{here[-1]}`: it must be {FORMATS[field.keys].wanted}"
        if key
        else f"`{here[-1]}` has an empty key: name it"
    )
    walk.report(MALFORMED_KEY, (*here, key), message, part="key")


def _annotations_size(value: dict[str, Any], here: Path, walk: Walk) -> None:
    # A character has at most four bytes, so most need no encoding to be known to fit.
    rough = sum(len(key) + len(item) for key, item in value.items() if type(item) is str)
    if rough * 4 <= MAX_ANNOTATIONS:
        return
    size = sum(len(text.encode("utf-8", "replace")) for pair in value.items() for text in pair if type(text) is str)
    if size > MAX_ANNOTATIONS:
        message = f"the annotations have {size} bytes together, and at most {MAX_ANNOTATIONS} are allowed: put large data into a ConfigMap"
        walk.report(ANNOTATIONS_TOO_LARGE, here, message, part="key")


def _forbidden(field: Field, why: str, owner: str, name: str, version: int) -> Check:
    readable = _field_check(field, owner, name, version)

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if value:
            walk.report(FORBIDDEN_FIELD, (*path, step), f"`{step}` cannot be set here: {why}", part="key")
        else:
            # An empty value means the same as a missing one, if the API server can read it.
            readable(value, path, step, walk)

    return check


def _unknown(name: str, siblings: dict[str, Any], type_name: str, fields: Type, here: Path, walk: Walk) -> None:
    path = (*here, name)
    versions = versions_with(type_name, name)
    if versions is not None:
        when = f"{walk.when(versions)}, and this is checked for 1.{walk.version}"
        walk.report(FIELD_NOT_IN_VERSION, path, f"`{name}` {when}: remove it, or check for the version of your cluster", part="key")
        return
    # Looking for what was meant takes long, and nobody reads many such suggestions.
    if len(walk.findings) < _SUGGESTIONS and _placed_elsewhere(name, siblings, type_name, fields, here, walk):
        return
    near = closest(name, fields) if len(walk.findings) < _SUGGESTIONS else None
    if near is not None and near.word not in siblings:
        fits = near.certain and _fits(siblings[name], fields[near.word])
        fix = Fix(f"rename it to {near.word}", path, "key", near.word) if fits else None
        walk.report(UNKNOWN_FIELD, path, f"{_object(here, walk)} has no field `{name}`: did you mean `{near.word}`?", "key", fix)
        return
    place = home(name, walk.root, here[len(walk.prefix) :], walk.version)
    known = f"it has {', '.join(fields)}" if 0 < len(fields) <= 12 else "remove it, or look for its right name and place"
    advice = f"{place}; move or remove it" if place else known
    walk.report(UNKNOWN_FIELD, path, f"{_object(here, walk)} has no field {_written(name, path, walk)}: {advice}", part="key")


def _placed_elsewhere(name: str, siblings: dict[str, Any], type_name: str, fields: Type, here: Path, walk: Walk) -> bool:
    """Report a field that belongs into a field beside it, and a field that is called otherwise or said elsewhere in a Framework.

    Return whether the field was one of these.
    """
    path = (*here, name)
    home = home_below(name, siblings, fields, walk.version)
    if home is not None:
        if home.names[0] == name:  # all fields that belong there are reported together, once
            walk.report(UNKNOWN_FIELD, path, _indent(home, here, walk), part="key")
        return True
    meant = synonym(type_name, name, fields)
    if meant is None:
        advice = instead(type_name, name, siblings, fields)
        if advice is not None:
            walk.report(UNKNOWN_FIELD, path, f"{_object(here, walk)} has no field `{name}`: {advice}", part="key")
        return advice is not None
    direct, first = "." not in meant, first_alike(type_name, meant, siblings, fields)
    fix, advice = None, f"did you mean `{meant}`?" if direct else f"write it as `{meant}`"
    if first not in (None, name):
        advice = f"it is the same as `{first}` here: keep one of them"
    elif direct and meant not in siblings and _fits(siblings[name], fields[meant]):
        fix = Fix(f"rename it to {meant}", path, "key", meant)
    walk.report(UNKNOWN_FIELD, path, f"{_object(here, walk)} has no field `{name}`: {advice}", "key", fix)
    return True


def _indent(home: Home, here: Path, walk: Walk) -> str:
    names = joined([f"`{name}`" for name in home.names])
    if home.is_list:
        return f"`{home.field}` is empty: begin an item with `- ` below it, and write {names} in that"
    if home.empty:
        return f"`{home.field}` is empty: indent {names} below `{home.field}`"
    kind, them = ("field", "it") if len(home.names) == 1 else ("fields", "them")
    return f"{_object(here, walk)} has no {kind} {names}: write `{home.field}:` above, and indent {them} below that"


def _written(name: str, path: Path, walk: Walk) -> str:
    source = walk.source(path, "key")
    return f"`{name}`" if source is None or source == name else f"`{source}`, which is read as `{name}`"


def _object(here: Path, walk: Walk) -> str:
    """Return the name of the object as messages write it."""
    if here:
        return called(here[:-1], here[-1])
    return "a Pod template" if walk.root == POD_TEMPLATE else f"a {walk.root}"


def _fits(value: Any, field: Field) -> bool:
    """Return whether a value roughly has the type of a field."""
    kinds = {"string": str, "integer": int, "boolean": bool, "list": list, "map": dict, "object": dict, "quantity": str | int | float}
    return isinstance(value, kinds.get(field.kind, object)) and (field.kind == "boolean" or not isinstance(value, bool))


def _missing(names: list[str], value: dict[str, Any], type_name: str, fields: Type, here: Path, walk: Walk) -> None:
    # A field that is there, but misspelt or in the wrong place, has been reported, and so has a name that is to be generated.
    told = explained(type_name, value, fields, walk.version)
    if value.get("generateName"):
        told.add("name")
    for name in names:
        if name in value and name not in told:
            walk.report(MISSING_FIELD, (*here, name), f"`{name}` is empty: give it a value", part="key")
    absent = [f"`{name}`" for name in names if name not in value and name not in told]
    if absent:
        part: Part = "key" if here and isinstance(here[-1], str) else "value"
        lacks, them = "lacks" if value else "is empty, and needs", "it" if len(absent) == 1 else "them"
        message = f"{_object(here, walk)} {lacks} {joined(absent)}: add {them}"
        walk.report(MISSING_FIELD, here, message, part=part)
