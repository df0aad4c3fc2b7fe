"""Ways to read that only tests want."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files

from fcompile.diagnostics.problem import Severity
from fcompile.load import Document, LoadError, read
from fcompile.model.fields import Type
from fcompile.schema.pod_schemas import pod_type
from fcompile.schema.types import FRAMEWORK_TYPES


def documents(data: bytes, name: str) -> Iterator[Document]:
    """Yield the documents of a file up to the first problem, which is raised as a LoadError."""
    for item in read(data, name):
        if isinstance(item, Document):
            yield item
        elif item.rule.severity is Severity.ERROR:
            raise LoadError(item)


def pod_type_names() -> list[str]:
    """Return every type that a Pod template of some version can hold."""
    return list(json.loads(files("fcompile.schema").joinpath("pod_schemas.json").read_text("utf-8")))


def all_types(version: int) -> dict[str, Type]:
    """Return every type that there is, `Framework` first. Some of the Pod's types have no field in that version."""
    return {**FRAMEWORK_TYPES, **{name: pod_type(name, version) for name in pod_type_names()}}
