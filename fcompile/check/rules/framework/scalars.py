"""Single values: their type, bounds, closed sets and forms.

Each function here makes the check of one field, once. The check is called for every value of that field in every file, so it only
looks at the value; a finding and its message are made only when something is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from fcompile.check.resource_names import BYTES
from fcompile.check.walk import Check, Walk, called, shown
from fcompile.diagnostics.problem import Fix, Path, error_rule, warning_rule
from fcompile.diagnostics.suggestions import closest
from fcompile.diagnostics.visible import joined
from fcompile.model.fields import Field
from fcompile.model.formats import FORMATS, accepts, suggestion
from fcompile.model.patterns import lazy
from fcompile.model.quantities import is_quantity, lacks_number
from fcompile.schema.pod_schemas import values_by_version

WRONG_TYPE = error_rule(
    code="FC111",
    name="wrong-type",
    summary="A field has a value of another type than it must have.",
    why="The API server cannot read the object at all.",
    remedy="Write a value of the type that is named.",
)
UNQUOTED_STRING = error_rule(
    code="FC112",
    name="unquoted-string",
    summary="A string is wanted, and YAML reads the value as a number or boolean.",
    why="Without quotes, `no`, `on`, `012` or `1.10` are not the text that was written.",
    remedy="Put the value in quotes.",
)
EMPTY_VALUE = error_rule(
    code="FC122",
    name="empty-value",
    summary="A field that must have a value is empty.",
    why="To the API server an empty string or list is the same as leaving the field out, and this one is needed.",
    remedy="Give it a value.",
)
OUT_OF_BOUNDS = error_rule(
    code="FC131",
    name="out-of-bounds",
    summary="A number is smaller or larger than its field allows.",
    why="The API server refuses it.",
    remedy="Choose a number within the bounds that are named.",
)
UNKNOWN_VALUE = error_rule(
    code="FC141",
    name="unknown-value",
    summary="The value of a field is not one of those that are allowed.",
    why="The values are compared letter for letter.",
    remedy="Choose one of those that are named; some exist in newer Kubernetes versions only.",
)
MALFORMED_VALUE = error_rule(
    code="FC151",
    name="malformed-value",
    summary="A string does not have the form that its field asks for.",
    why="Names, keys, paths, quantities and addresses have fixed forms, and the API server refuses others.",
    remedy="Write it in the form that is named.",
)
QUANTITY_WITHOUT_NUMBER = warning_rule(
    code="FC154",
    name="quantity-without-number",
    summary="A quantity is a unit alone.",
    why="The API server reads it as 0.",
    remedy="Write a number before the unit.",
)

BITS = {"int32": 31, "int64": 63, "file-mode": 31, "": 63}
_DURATION = lazy(r"([0-9]{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")


def described(value: Any) -> str:
    """Return in words what type a value has, for a message."""
    if isinstance(value, bool):
        return f"the boolean {'true' if value else 'false'}"
    if isinstance(value, int | float):
        return f"the number {_digits(value)}"
    if isinstance(value, str):
        return f"the string {shown(value)}" if value else "an empty string"
    if value is None:
        return "null"
    return "a list" if isinstance(value, list) else "a mapping"


def wrong_type(value: Any, wanted: str, path: Path, step: str | int, walk: Walk, advice: str = "", fix: str | None = None) -> None:
    """Report a value of a wrong type; `fix` is the text that it must be instead, when that is certain."""
    here = (*path, step)
    message = f"{called(path, step)} must be {wanted}, not {described(value)}" + (f": {advice}" if advice else "")
    walk.report(WRONG_TYPE, here, message, fix=None if fix is None else Fix(f"write {fix}", here, "value", fix))


def malformed(text: str, wanted: str, path: Path, step: str | int, walk: Walk, better: str | None = None) -> None:
    """Report a string of a wrong form."""
    advice = f"; write `{better}`, for example" if better else ""
    message = (
        f"{called(path, step)} is {shown(text)}, and must be {wanted}{advice}"
        if text
        else f"{called(path, step)} is empty, and must be {wanted}"
    )
    walk.report(MALFORMED_VALUE, (*path, step), message)


def string_check(field: Field, owner: str, name: str, item: bool = False) -> Check:
    """Return the check of a string. An `item` of a list or map is a value of its own even when it is empty."""
    fits, values = accepts(field.format) if field.format else None, field.enum
    # An empty string is no time, and the API server does parse it.
    skips_empty = not item and not field.required and not field.nonempty and field.format != "date-time"
    refuses_empty = field.required and not item
    if fits is None and not values and not refuses_empty:
        return _any_string

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if type(value) is not str:
            _any_string(value, path, step, walk, values)
        elif not value and skips_empty:
            pass
        elif not value and refuses_empty:
            walk.report(EMPTY_VALUE, (*path, step), f"{called(path, step)} must not be empty: give it a value")
        elif values:
            if value not in values:
                _unknown_value(value, field, owner, name, path, step, walk)
        elif fits is not None and not fits(value):
            malformed(value, FORMATS[field.format].wanted, path, step, walk, suggestion(field.format, value))

    return check


def _any_string(value: Any, path: Path, step: str | int, walk: Walk, values: Collection[str] = ()) -> None:
    if type(value) is str:
        return
    if isinstance(value, dict | list):
        wrong_type(value, "a string", path, step, walk, _advice_to_quote(value) if isinstance(step, int) else _advice_to_join(value))
        return
    here = (*path, step)
    source = walk.source(here)
    if source is None:
        walk.report(UNQUOTED_STRING, here, f"{called(path, step)} must be a string, not {described(value)}: put it in quotes")
        return
    if values and source not in values:
        allowed = _listed([known for known in values if known])
        message = f"{called(path, step)} must be a string, and {shown(source)} without quotes is {described(value)}: use {allowed}"
        walk.report(UNQUOTED_STRING, here, message)
        return
    quoted = json.dumps(source, ensure_ascii=False)
    message = f"{called(path, step)} must be a string, and {shown(source)} without quotes is {described(value)}: write {quoted}"
    walk.report(UNQUOTED_STRING, here, message, fix=Fix(f"write {quoted}", here, "value", quoted))


def _advice_to_quote(value: dict[str, Any] | list[Any]) -> str:
    """Return that an item is to be quoted if it may be a text with a colon in it, such as `echo "loss: 3"`; empty: it is none."""
    alone = isinstance(value, dict) and len(value) == 1 and not any(isinstance(inner, dict | list) for inner in value.values())
    return "quote the whole of it if it is one text, since `: ` makes a mapping of it" if alone else ""


def _advice_to_join(value: dict[str, Any] | list[Any]) -> str:
    """Return how an image is written that is given in parts, as in the values of a Helm chart; empty: it is none."""
    if not isinstance(value, dict) or not value.get("repository"):
        return ""
    image = ":".join([str(value[part]) for part in ("repository", "tag") if value.get(part)])
    return f"write `{image}`" if re.fullmatch("[A-Za-z0-9:._/-]{1,80}", image) else ""


def _unknown_value(value: str, field: Field, owner: str, name: str, path: Path, step: str | int, walk: Walk) -> None:
    here = (*path, step)
    versions = values_by_version(owner, name).get(value)
    allowed = _listed([known for known in field.enum if known])
    if versions is not None:
        when = f"{walk.when(versions)}, and this is checked for 1.{walk.version}"
        walk.report(UNKNOWN_VALUE, here, f"{shown(value)} for {called(path, step)} {when}: use {allowed}, or another version")
        return
    near = closest(value, [known for known in field.enum if known])
    advice = f"did you mean `{near.word}`? It can be {allowed}" if near and len(field.enum) > 1 else f"use {allowed}"
    fix = Fix(f"write {near.word}", here, "value", near.word) if near and near.certain and not _needs_quotes(near.word) else None
    walk.report(UNKNOWN_VALUE, here, f"{shown(value)} is not a value of {called(path, step)}: {advice}", fix=fix)


def _needs_quotes(word: str) -> bool:
    return not word[0].isalpha() or word.lower() in ("no", "yes", "on", "off", "null", "true", "false", "none")


def _listed(values: list[str]) -> str:
    if len(values) > 10:
        return f"one of the {len(values)} such as {', '.join(values[:3])}"
    return joined(values, "or")


def integer_check(field: Field) -> Check:
    """Return the check of a whole number, and of its bounds."""
    bits = BITS[field.format]
    low = -(2**bits) if field.minimum is None else field.minimum
    high = 2**bits - 1 if field.maximum is None else field.maximum

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if type(value) is int:
            if not low <= value <= high:
                _out_of_bounds(value, field, low, high, path, step, walk)
        elif type(value) is float and value.is_integer():
            # `1.0` reaches the API server as `1`.
            check(int(value), path, step, walk)
        else:
            number = isinstance(value, str) and _INTEGER.fullmatch(value) and low <= int(value) <= high
            advice = "write it without quotes" if number else _in_seconds(value, step) or _without_end(value, step) or _of_user(value, step)
            wrong_type(value, "a whole number", path, step, walk, advice, value if number else None)

    return check


def _in_seconds(value: Any, of: str | int) -> str:
    """Return what to write for a duration such as `2h` in a field that counts seconds; empty: it is something else."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) and "Sec" in str(of) else None
    return f"write {int(match[1]) * _SECONDS[match[2]]}, in seconds" if match else ""


_NEGATIVE: dict[str | int, str] = {
    "maxRetryCount": "-1 retries after every failure, -2 after every completion, success too",
    "minFailedTaskCount": "-1 means that no number of failures ends the attempt",
    "minSucceededTaskCount": "-1 means that no number of successes ends the attempt",
}
"""What the negative numbers mean of fields that take some."""


def _without_end(value: Any, of: str | int) -> str:
    """Return what the negative numbers of a field mean, for a word such as `all` or `unlimited`; empty: it is something else."""
    return _NEGATIVE.get(of, "") if isinstance(value, str) and value.isalpha() else ""


_ASKED_OF_ID: dict[str | int, str] = {"runAsUser": "-u", "runAsGroup": "-g", "fsGroup": "-g"}
_USER = lazy(r"[a-z_][a-z0-9_-]{0,31}")


def _of_user(value: Any, of: str | int) -> str:
    """Return what to write for the name of a user or group; empty: it is something else."""
    option = _ASKED_OF_ID.get(of)
    if option is None or not isinstance(value, str) or not _USER.fullmatch(value):
        return ""
    return "root is 0" if value == "root" else f"write the number, which `id {option} {value}` prints"


def _out_of_bounds(value: int, field: Field, low: int, high: int, path: Path, step: str | int, walk: Walk) -> None:
    here = (*path, step)
    digits = _digits(value)
    if field.format == "file-mode" and len(digits) == 3 and not digits.strip("01234567"):
        right = str(int(digits, 8))
        message = (
            f"{called(path, step)} is {digits} in decimal, and a file mode is at most {high}, octal 0777: write {right}, octal 0{digits}"
        )
        walk.report(OUT_OF_BOUNDS, here, message, fix=Fix(f"write {right}, octal 0{digits}", here, "value", right))
        return
    if field.minimum is not None and value < low and field.maximum is None:
        limit = f"at least {low}"
    elif field.maximum is not None and value > high and field.minimum is None:
        limit = f"at most {high}"
    else:
        limit = f"between {low} and {high}"
    meaning = _NEGATIVE.get(step, "") if value < low else ""
    message = f"{called(path, step)} is {digits}, and must be {limit}" + (f": {meaning}" if meaning else "")
    beyond = not -(2 ** BITS[field.format]) <= value < 2 ** BITS[field.format]
    walk.report(OUT_OF_BOUNDS, here, message, is_beyond_type=beyond)


def _digits(value: int | float) -> str:
    """Return a number as messages show it. Python refuses to write very long ones at all."""
    return str(value) if isinstance(value, float) or -(10**40) < value < 10**40 else "a number of more than 40 digits"


def port_check(field: Field) -> Check:
    """Return the check of a number or a name in its place."""
    number, fits, wanted = integer_check(field._replace(format="int32")), accepts(field.format), FORMATS[field.format].wanted
    needed = field.required

    def check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
        if type(value) is not str:
            if isinstance(value, bool | dict | list) or (isinstance(value, float) and not value.is_integer()):
                wrong_type(value, "a whole number or a name", path, step, walk)
            else:
                number(value, path, step, walk)
        elif (value or needed) and not fits(value):
            if _INTEGER.fullmatch(value):
                wrong_type(
                    value, "a name or a number", path, step, walk, "a name has a letter in it; write the number without quotes", value
                )
            else:
                malformed(value, f"a port's number, or its name: {wanted}", path, step, walk, suggestion(field.format, value))

    return check


def quantity_check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
    """Check a quantity, which may be a number."""
    if is_quantity(value):
        if isinstance(value, str) and lacks_number(value):
            message = f"{called(path, step)} is {shown(value)}, which is read as 0: write a number before it"
            walk.report(QUANTITY_WITHOUT_NUMBER, (*path, step), message)
        return
    if isinstance(value, str):
        malformed(value, "a quantity such as 500m, 2 or 16Gi", path, step, walk, _better_quantity(value, step))
    else:
        wrong_type(value, "a quantity such as 500m, 2 or 16Gi", path, step, walk)


def _better_quantity(text: str, of: str | int) -> str | None:
    """Return a quantity in the right form, or None: `16 GB` and `16gb` become `16G`, `16GiB` becomes `16Gi`, `1,5` becomes `1.5`.

    Of CPUs `100mi` becomes `100m`. Of bytes `64mb` becomes `64M`: `m` would be thousandths of one.
    """
    match = re.fullmatch(r"\s*([0-9]+(?:[.,][0-9]+)?)\s*(?:([KkMmGgTtPpEe])(i?)([Bb]?)|[Cc]ores?|[Bb](?:ytes?)?)?\s*", text)
    if match is None:
        return None
    number, letter, binary = match[1].replace(",", "."), match[2] or "", match[3] or ""
    in_bytes = match[4] or of in (*BYTES, "storage", "sizeLimit")
    thousandths = letter == "m" and (of == "cpu" or not (binary or in_bytes))
    unit = "m" if thousandths else letter.upper() + binary
    better = number + ("k" if unit == "K" else unit)
    return better if better != text and is_quantity(better) else None


def boolean_check(value: Any, path: Path, step: str | int, walk: Walk) -> None:
    """Check that a value is true or false."""
    if type(value) is not bool:
        word = value.lower() if isinstance(value, str) and value.lower() in ("true", "false") else None
        wrong_type(value, "true or false", path, step, walk, f"write {word} without quotes" if word else "", word)


def anything(value: Any, path: Path, step: str | int, walk: Walk) -> None:
    """Check nothing: the content of the field is not ours."""
