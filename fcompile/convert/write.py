"""A converted Framework as YAML with comments. Strings are written in the style that `build` uses, so that every reader agrees on them."""

from __future__ import annotations

from io import StringIO
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


def write_framework(draft: Draft) -> str:
    """Return the Framework with its comments, and before it what it needs, as documents of a stream."""
    framework = draft.framework()
    text = _commented(framework, draft.comments)
    return "".join([*map(plain_yaml.document, draft.beside), _in_stream(text, framework)])


def _in_stream(text: str, value: dict[str, Any]) -> str:
    """Return the text as a document that comes out as it is when it is converted again."""
    found = list(read(f"---\n{text}".encode(), "-"))
    if len(found) == 1 and isinstance(found[0], Document) and found[0].value == value:
        return own_text(found[0]) or plain_yaml.document(value)
    return plain_yaml.document(value)


def _commented(value: dict[str, Any], comments: list[tuple[Path, str]]) -> str:
    from ruamel.yaml import YAML

    writer = YAML()
    writer.width = _WIDTH
    writer.indent(mapping=2, sequence=2, offset=0)
    head = [text for path, text in comments if not path or not _exists(value, path)]
    tree = _tree(value)
    for path in dict.fromkeys(path for path, _ in comments if path and _exists(value, path)):
        _put(tree, path, [text for one, text in comments if one == path])
    stream = StringIO()
    writer.dump(tree, stream)
    return "".join(f"# {visible(line)}\n" for line in head) + stream.getvalue()


def _put(tree: Any, path: Path, texts: list[str]) -> None:
    for step in path[:-1]:
        tree = tree[step]
    column = 2 * len(path) - 2 - 2 * (isinstance(path[-1], int))
    tree.yaml_set_comment_before_after_key(path[-1], before="\n".join(map(visible, texts)), indent=column)


def _exists(value: Any, path: Path) -> bool:
    return at(value, path) is not None


def _tree(value: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, dict) and value:
        return CommentedMap((_string(key), _tree(item)) for key, item in value.items())
    if isinstance(value, list) and value:
        return CommentedSeq(map(_tree, value))
    return _string(value) if isinstance(value, str) else value


def _string(text: str) -> Any:
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString, SingleQuotedScalarString

    written = plain_yaml.dump(text)
    styles = {'"': DoubleQuotedScalarString, "'": SingleQuotedScalarString, "|": LiteralScalarString}
    style = styles.get(written[0])
    return style(text) if style else text
