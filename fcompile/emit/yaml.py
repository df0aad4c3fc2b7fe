"""Plain values as YAML that every reader reads alike.

The rules, in the order in which they apply to a string:

1. Several lines, nothing in them that would have to be escaped, at most one line end at the end: a literal block (`|`, `|-`).
2. Only characters of `_PLAIN`, in the places it allows, and no word that some reader takes for a boolean, null or number: as it is.
3. A `"` or a backslash in it and nothing to escape: in single quotes.
4. Everything else: in double quotes on one line, with escapes that JSON has too (and `\\U…` above U+FFFF).

All these look at *where* digits are, never which or how many: the style of a string does not change when one run of digits
takes the place of another. `splice` stands on that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from fcompile.emit.scalars import DEEPEST, WIDE_YAML, EmitError, escaped, holds_escaped, kubernetes_number, literal, not_a_key, quoted

_PLAIN = re.compile(
    r"""
      (?: [0-9]+ (?:\.[0-9]+)? (?: [KMGTPE]i | [mkMGTPsh] )               # 500m, 1.5Gi, 30s: to no reader a number
        | (?: \.{0,2}/ | -{1,2}(?=[A-Za-z]) | \$(?=\() | [A-Za-z] )       # a path, an option, a reference, a word
          (?: [A-Za-z0-9_./@%+=,;()$~'-] | :(?=[A-Za-z0-9_./$-]) | [ ](?=[A-Za-z0-9_./$(-]) )*+ )
    """,
    re.VERBOSE,
)
_WORDS = re.compile(r"[-+.]*(?:true|false|yes|no|on|off|y|n|null|nan|inf|infinity|e[-+]?[0-9]+)", re.IGNORECASE)
_SHORT = 100  # Strings up to this length occur again and again, so their written form is cached.
_LONGEST_IMPLICIT_KEY = 1000  # The limit of the specification is 1024 characters.
_LARGEST_EXACT = 2**53  # From this number on, a float does not identify one whole number.


def dump(value: Any) -> str:
    """Return one document in block style; mappings keep their order. It ends with a line end and has no `---`.

    `value` is made of dict (string keys), list, str, int, float, bool and None. Raises EmitError for what JSON could not say.
    """
    parts: list[str] = []
    kind = type(value)
    if kind is dict and value:
        _mapping(value, "", "", parts)
    elif kind is list and value:
        _sequence(value, "", "", parts)
    else:
        parts.append(_single_line(value) if kind is str else _other(value))
        parts.append("\n")
    return "".join(parts)


def document(value: Any) -> str:
    """Return one document of a stream, with the marks that separate it from its neighbours: kubectl never takes what begins so for JSON.

    Splitters that look for `---` in the text eat the line end before it. Where that would be a part of a literal block, a `...`
    comes between.
    """
    return f"---\n{dump(value)}...\n" if _ends_in_line_end(value) else f"---\n{dump(value)}"


def is_block(text: str) -> bool:
    """Return whether a string that is a value is written as a literal block."""
    return "\n" in text and _fits_block(text)


def comment(text: str) -> str:
    """Return `text` as comment lines, whatever characters it holds."""
    return "".join(f"# {escaped(line, WIDE_YAML)}".rstrip() + "\n" for line in text.split("\n"))


def _mapping(mapping: dict[str, Any], lead: str, indent: str, parts: list[str]) -> None:
    """Write every entry at `indent`; `lead` is what stands before the first one (the dash of a list item)."""
    if len(indent) > 2 * DEEPEST:
        raise EmitError(f"nested deeper than {DEEPEST} levels")
    for key, value in mapping.items():
        head = lead + (_key(key) if type(key) is str and len(key) < _SHORT else _long_key(key, indent))
        lead = indent
        kind = type(value)
        if kind is str:
            parts.append(f"{head} {(len(value) < _SHORT and _short(value)) or _text(value, indent)}\n")
        elif kind is dict and value:
            parts.append(f"{head}\n")
            deeper = indent + "  "
            _mapping(value, deeper, deeper, parts)
        elif kind is list and value:
            parts.append(f"{head}\n")
            _sequence(value, indent, indent, parts)
        else:
            parts.append(f"{head} {_other(value)}\n")


def _sequence(items: list[Any], lead: str, indent: str, parts: list[str]) -> None:
    if len(indent) > 2 * DEEPEST:
        raise EmitError(f"nested deeper than {DEEPEST} levels")
    deeper = indent + "  "
    for item in items:
        head = f"{lead}- "
        lead = indent
        kind = type(item)
        if kind is dict and item:
            _mapping(item, head, deeper, parts)
        elif kind is str:
            parts.append(f"{head}{(len(item) < _SHORT and _short(item)) or _text(item, indent)}\n")
        elif kind is list and item:
            _sequence(item, head, deeper, parts)
        else:
            parts.append(f"{head}{_other(item)}\n")


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    return f"{_single_line(key)}:"


def _long_key(key: Any, indent: str) -> str:
    if type(key) is not str:
        raise not_a_key(key)
    text = _single_line(key)
    return f"{text}:" if len(text) <= _LONGEST_IMPLICIT_KEY else f"? {text}\n{indent}:"


@lru_cache(maxsize=4096)
def _short(text: str) -> str:
    """Return a short string on one line, or the empty string where it goes into a block."""
    return "" if is_block(text) else _single_line(text)


def _text(text: str, indent: str) -> str:
    return block(text, indent) if is_block(text) else _single_line(text)


def _fits_block(text: str) -> bool:
    """Return whether every reader gets `text` back from a block.

    Some drop white space at the end of the last line, or more than one line end; kustomize cannot have a tab first.
    """
    end = text.removesuffix("\n")[-1:]
    return end != "" and not end.isspace() and not text.lstrip("\n ").startswith("\t") and not holds_escaped(text)


def block(text: str, indent: str) -> str:
    """Return a string for which `is_block` holds as a literal block two columns inside `indent`.

    The header states the indentation where the first line does not show it.
    """
    lines = text.removesuffix("\n").split("\n")
    stated = "2" if text[0] in "\n " else ""
    chomped = "" if text.endswith("\n") else "-"
    margin = f"\n{indent}  "
    return f"|{stated}{chomped}" + "".join(f"{margin}{line}" if line else "\n" for line in lines)


def _single_line(text: str) -> str:
    if _PLAIN.fullmatch(text) and not _WORDS.fullmatch(text):
        return text
    if ('"' in text or "\\" in text) and "\n" not in text and "\t" not in text and not holds_escaped(text):
        return "'" + text.replace("'", "''") + "'"
    return quoted(text, WIDE_YAML)


def _other(value: Any) -> str:
    kind = type(value)
    if kind is dict or kind is list:  # only empty ones arrive here: the others were written entry by entry
        return "{}" if kind is dict else "[]"
    return literal(value, _number, "YAML that Kubernetes reads")


def _number(number: int | float) -> str:
    """Return a number like `json_number`, but with a dot and a signed exponent, so that YAML 1.1 readers see a float too."""
    number = kubernetes_number(number)
    if isinstance(number, float) and number.is_integer() and abs(number) < _LARGEST_EXACT and str(number) != "-0.0":
        number = int(number)
    text = str(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _ends_in_line_end(value: Any) -> bool:
    """Return whether the last thing written is a literal block that keeps its last line end."""
    if type(value) is str:
        return False  # A document that is a string is written on one line.
    while type(value) in (dict, list) and value:
        value = value[-1] if type(value) is list else value[next(reversed(value))]
    return type(value) is str and value.endswith("\n") and _fits_block(value)
