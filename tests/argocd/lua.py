"""Lua as Argo CD runs it: version 5.1, the base and table libraries, `time` and `date` of `os`, one second, and values as Go makes them."""

from __future__ import annotations

import json
from typing import Any

from lupa import lua51

ALLOWED = (
    "_G _VERSION assert collectgarbage error getmetatable ipairs next pairs pcall print rawequal rawget rawset select setmetatable "
    "tonumber tostring type unpack xpcall require table os obj actionParams"
)
_ALONE = """
local allowed = ALLOWED
for name in pairs(_G) do if not allowed[name] then _G[name] = nil end end
"""


class ScriptError(Exception):
    """What the script raised, or what Argo CD would say of what it returned."""


def run(script: str, obj: Any, parameters: dict[str, str] | None = None) -> Any:
    """What a script returns for an object, by way of Lua's values: nulls get lost, and an empty mapping comes back as a list."""
    lua = lua51.LuaRuntime(unpack_returned_tuples=True)
    spin = "local count = 0; debug.sethook(function() error('took longer than a second', 0) end, '', 10000000)"
    lua.execute(spin)
    # Strings have no methods there either, since there is no string library.
    lua.execute("debug.setmetatable('', nil); local os_ = os; os = {time = os_.time, date = os_.date}")
    lua.execute("require = function(name) if name == 'os' then return os end error('no module ' .. name) end")
    values = lua.globals()
    values["ALLOWED"] = lua.table_from(dict.fromkeys(ALLOWED.split(), True))
    lua.execute(_ALONE)
    values["obj"] = _into(lua, obj)
    values["actionParams"] = _into(lua, parameters or {})
    try:
        result = lua.execute(script)
    except lua51.LuaError as error:
        raise ScriptError(str(error)) from None
    return _out(result)


def _into(lua: Any, value: Any) -> Any:
    if isinstance(value, dict):
        return lua.table_from({key: _into(lua, item) for key, item in value.items() if item is not None})
    if isinstance(value, list):
        return lua.table_from([_into(lua, item) for item in value])
    # Argo CD has floating point numbers for all.
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _out(value: Any) -> Any:
    if lua51.lua_type(value) != "table":
        return int(value) if isinstance(value, float) and value.is_integer() else value
    keys = list(value)
    if not keys:
        return []
    if all(isinstance(key, str) for key in keys):
        return {key: _out(item) for key, item in value.items()}
    if keys != list(range(1, len(keys) + 1)):
        raise ScriptError("cannot encode mixed or invalid key types")
    return [_out(item) for item in value.values()]


def act(script: str, obj: Any, parameters: dict[str, str] | None = None) -> Any:
    """The object that an action returns, after what Argo CD repairs in it: what has become an empty list is the mapping that was there."""
    made = run(script, obj, parameters)
    if not isinstance(made, dict):
        raise ScriptError("expect table output from Lua script")
    return _repaired(made, obj)


def _repaired(new: Any, old: Any) -> Any:
    if isinstance(old, dict) and new == []:
        return old
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: _repaired(item, old.get(key)) for key, item in new.items()}
    if isinstance(old, list) and isinstance(new, list):
        return [_repaired(item, old[place] if place < len(old) else None) for place, item in enumerate(new)]
    return new


def merge_patch(old: Any, new: Any) -> Any:
    """The JSON merge patch that Argo CD sends for an action: what differs, lists as a whole."""
    patch = {key: None for key in old if key not in new}
    for key, item in new.items():
        before = old.get(key)
        if isinstance(before, dict) and isinstance(item, dict):
            inner = merge_patch(before, item)
            if inner:
                patch[key] = inner
        elif key not in old or json.dumps(before, sort_keys=True) != json.dumps(item, sort_keys=True):
            patch[key] = item
    return patch
