"""A converted Framework as YAML with comments. Strings are written in the style that `build` uses, so that every reader agrees on them."""

from __future__ import annotations

import json
import re
from io import StringIO
from itertools import count
from typing import Any

from fcompile.convert.draft import Draft
from fcompile.diagnostics.problem import Path
from fcompile.diagnostics.visible import visible
from fcompile.emit import yaml as plain_yaml
from fcompile.load import Document, read
from fcompile.model.values import at
from fcompile.pipeline.passthrough import own_text

_WIDTH = 2**30
"""Wide enough that no string is folded: a folded one cannot be searched for."""
_LONG = 200
"""Characters of a string from which on it is kept from ruamel.yaml, which looks at each of them several times. So are blocks."""


def write_framework(draft: Draft) -> str:
    """Return the Framework with its comments, and before it what it needs, as documents of a stream."""
    framework = draft.framework()
    text = _commented(framework, list(draft.comments))
    return "".join([*map(plain_yaml.document, draft.beside), _in_stream(text, framework)])


def _in_stream(text: str, value: dict[str, Any]) -> str:
    """Return the text as a document that comes out as it is when it is converted again."""
    found = list(read(f"---\n{text}".encode(), "-"))
    if len(found) == 1 and isinstance(found[0], Document) and found[0].value == value:
        return own_text(found[0]) or plain_yaml.document(value)
    return plain_yaml.document(value)


def _commented(value: dict[str, Any], comments: list[tuple[Path, str]]) -> str:
    head: list[str] = []
    above: dict[Path, list[str]] = {}
    for path, text in comments:
        (above.setdefault(path, []) if path and _exists(value, path) else head).append(text)
    # What has none inside needs no other writer, which takes three times as long for all the rest.
    text = _with_comments(value, above) if above else plain_yaml.dump(value)
    return "".join(f"# {visible(line)}\n" for line in head) + text


def _with_comments(value: dict[str, Any], above: dict[Path, list[str]]) -> str:
    from ruamel.yaml import YAML

    writer = YAML()
    writer.width = _WIDTH
    writer.indent(mapping=2, sequence=2, offset=0)
    long = _LongStrings("\n".join([json.dumps(value), *(text for texts in above.values() for text in texts)]))
    tree = _tree(value, long)
    for path, texts in above.items():
        _put(tree, path, texts)
    stream = StringIO()
    writer.dump(tree, stream)
    return long.put_in(stream.getvalue())


def _put(tree: Any, path: Path, texts: list[str]) -> None:
    for step in path[:-1]:
        tree = tree[step]
    column = 2 * (len(path) - 1 - sum(isinstance(step, int) for step in path))  # the dash of an item stands below its key
    tree.yaml_set_comment_before_after_key(path[-1], before="\n".join(map(visible, texts)), indent=column)


def _exists(value: Any, path: Path) -> bool:
    return at(value, path) is not None


class _LongStrings:
    """Strings that another writer need not read: a word stands for each."""

    def __init__(self, text: str) -> None:
        """Take the text in which the words must not be."""
        there = set(map(len, re.findall("long(x*)", text)))
        self._word = "long" + "x" * next(length for length in count() if length not in there)
        self._texts: list[str] = []

    def take(self, text: str) -> str:
        """Return what stands for a string."""
        self._texts.append(text)
        return f"{self._word}{len(self._texts) - 1}"

    def put_in(self, text: str) -> str:
        """Return a text with the strings in their places, as `build` writes them."""
        return re.sub(rf"^((?:- | )*)(.*?){self._word}([0-9]+)$", self._line, text, flags=re.MULTILINE)

    def _line(self, match: re.Match[str]) -> str:
        lead, key, text = match[1], match[2], self._texts[int(match[3])]
        if not plain_yaml.is_block(text):
            return f"{lead}{key}{plain_yaml.dump(text).removesuffix(chr(10))}"
        column = len(lead) if key else len(lead) - len("- ")
        return f"{lead}{key}{plain_yaml.block(text, ' ' * column)}"


def _tree(value: Any, long: _LongStrings) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict) and value:
        return CommentedMap((_string(key), _tree(item, long)) for key, item in value.items())
    if isinstance(value, list) and value:
        return CommentedSeq(_tree(item, long) for item in value)
    return _string(value, long) if isinstance(value, str) else value


def _string(text: str, long: _LongStrings | None = None) -> Any:
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, SingleQuotedScalarString

    if long is not None and (len(text) > _LONG or plain_yaml.is_block(text)):
        return long.take(text)
    written = plain_yaml.dump(text)
    if long is not None and "\\" in written:
        return long.take(text)  # it has escapes that JSON has not
    style = {'"': DoubleQuotedScalarString, "'": SingleQuotedScalarString}.get(written[0])
    return style(text) if style else text
