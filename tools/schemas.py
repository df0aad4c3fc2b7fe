"""Write what is under `schemas/`: from the field tables, for the default Kubernetes version, the editors' JSON Schema and the CRD; from the
models in `fcompile/declare`, the JSON Schemas of what commands print.

`--check`: write nothing, exit with 1 if one of them is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcompile.declare.argocd import Announcements  # noqa: E402
from fcompile.declare.convert import Conversion  # noqa: E402
from fcompile.declare.diagnostics import Diagnostics, Rules  # noqa: E402
from fcompile.declare.diff import Comparison  # noqa: E402
from fcompile.declare.explain import Explanation  # noqa: E402
from fcompile.schema import crd, editor  # noqa: E402
from fcompile.schema.pod_schemas import DEFAULT_VERSION  # noqa: E402

FOLDER = ROOT / "schemas"
TABLES = {"framework.schema.json": editor.rendered, "framework-crd.yaml": crd.rendered}
PRINTED: dict[str, type[BaseModel]] = {
    "argocd-parameters.schema.json": Announcements,
    "convert.schema.json": Conversion,
    "diagnostics.schema.json": Diagnostics,
    "diff.schema.json": Comparison,
    "explain.schema.json": Explanation,
    "rules.schema.json": Rules,
}


class _Plain(GenerateJsonSchema):
    """Without what says nothing: the names of fields as titles, and null as the default of what may be left out."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def main() -> int:
    """Write or check the files; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the files are current")
    texts = {FOLDER / name: rendered(DEFAULT_VERSION) for name, rendered in TABLES.items()}
    texts |= {FOLDER / name: printed(model) for name, model in PRINTED.items()}
    if parser.parse_args().check:
        return 0 if all(path.exists() and path.read_text("utf-8") == text for path, text in texts.items()) else 1
    for path, text in texts.items():
        path.write_text(text, "utf-8")
        print(f"{path.name}: {len(text):,} bytes")
    return 0


def printed(model: type[BaseModel]) -> str:
    """Return the JSON Schema of what a command prints."""
    schema = model.model_json_schema(schema_generator=_Plain)
    for definition in schema.get("$defs", {}).values():
        definition.pop("title", None)
    document = {"$schema": GenerateJsonSchema.schema_dialect, **_in_order(schema)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _in_order(value: Any) -> Any:
    """Return a schema with its parts in the order in which they are read, and its texts in one line."""
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if not isinstance(value, dict):
        return value
    texts = {key: " ".join(value[key].split()) for key in ("title", "description") if isinstance(value.get(key), str)}
    rest = {key: _in_order(item) for key, item in value.items() if key not in texts}
    definitions = {"$defs": rest.pop("$defs")} if "$defs" in rest else {}
    return {**texts, **rest, **definitions}


if __name__ == "__main__":
    sys.exit(main())
