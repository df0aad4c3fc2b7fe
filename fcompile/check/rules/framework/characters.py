"""Characters that JSON can hold and YAML cannot: kubectl and the API server sometimes read JSON as YAML, and lose them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fcompile.diagnostics.problem import Finding, Part, Path, warning_rule
from fcompile.model.patterns import lazy
from fcompile.model.values import strings

NOT_FOR_YAML = warning_rule(
    code="FC116",
    name="character-not-for-yaml",
    summary="A text holds a character that kubectl cannot show, compare or apply.",
    why=(
        "The API server keeps it. `kubectl diff`, `kubectl get -o yaml` and `kubectl apply --server-side` read the object as YAML: "
        "they refuse the character, or change it without a word, as they do U+0085."
    ),
    remedy="Remove the character.",
)
_CHARACTER = lazy("[\x7f-\x9f\ufffe\uffff]")
# Such a character itself, or an escape that may mean one. A text without either need not be searched.
_PERHAPS = lazy(r"[\x7f-\x9f\ufffe\uffff]|\\(?:N|x[7-9]|u00[7-9]|u[fF]{3}|U0000)")


def character_rules(value: dict[str, Any], source_text: str) -> Iterator[Finding]:
    """Yield the characters of a Framework that no YAML can hold; `source_text` is the document that it is in."""
    if _PERHAPS.search(source_text):
        # Fields that only the server writes are ignored everywhere.
        own = {key: item if key in ("metadata", "spec") else None for key, item in value.items()}
        for path, part, written in strings(own, ()):
            yield from _in_text(written, path, part)


def _in_text(text: str, path: Path, part: Part) -> Iterator[Finding]:
    match = _CHARACTER.search(text)
    if match is not None:
        character = match[0]
        name = f"U+{ord(character):04X}"
        what = (
            "`kubectl apply --server-side` changes silently"
            if character == "\x85"
            else "`kubectl diff` and `kubectl apply --server-side` refuse"
        )
        kind = "control character" if character < "\xa0" else "noncharacter"
        yield Finding(NOT_FOR_YAML, path, f"the text holds the {kind} {name}, which {what}: take it out", part=part)
