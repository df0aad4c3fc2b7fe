"""How a type is described: one table format for the Framework's own fields and for Kubernetes' Pod fields.

The structure check walks these tables, the editor's JSON Schema and the CRD are printed from them, and the defaults
are read from them, so that the four cannot disagree.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Field(NamedTuple):
    """One field of an object type.

    `kind` is one of `string integer boolean object list map quantity int-or-string any`. `ref` names the object type of an
    `object`, or that of the items of a `list` whose `items` kind is `object`.
    """

    kind: str
    items: str = ""
    """Kind of the items of a `list` or the values of a `map`."""
    ref: str = ""
    required: bool = False
    nullable: bool = False
    """An explicit null means something other than leaving the field out."""
    minimum: int | None = None
    maximum: int | None = None
    enum: tuple[str, ...] = ()
    default: Any = None
    """None: no default (a default of null is the same thing here)."""
    map_keys: tuple[str, ...] = ()
    """The fields that identify an item of a list (`x-kubernetes-list-map-keys`)."""
    description: str = ""
    format: str = ""
    """What a string must look like, by its name in `model/formats.py` (of the strings of a `list` or `map`: each of them, of an
    `int-or-string`: its string form); of an `integer`: `int32` or `int64`."""
    keys: str = ""
    """What the keys of a `map` must look like, likewise."""
    nonempty: bool = False
    """An empty string is a value here, and held against `enum` and `format`. (Elsewhere it is the same as leaving the field out.)"""
    max_items: int = 0
    """The most items of a `list`; 0: any number."""
    forbidden: str = ""
    """Why the field may not be used although the type has it; empty: it may."""


Type = dict[str, Field]
"""An object type: its fields by name."""
