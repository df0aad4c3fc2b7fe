"""One document of a file: its value, and on demand the place of everything in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fcompile.diagnostics.problem import Part, Path, Span

from . import places as places_of
from .places import Place
from .source import Source
from .yaml_text import YamlText, yaml_text

NOTHING: Final = object()
"""In place of a value: there is no document at all, only comments and white space."""


class Document:
    """A value with its text. `value` is plain: dict, list, str, int, float, bool, None; nothing in it is shared.

    Places are found by reading the text once more, at the first question, and are kept then.
    """

    __slots__ = ("_root", "_yaml", "end", "json", "source", "start", "value")

    def __init__(self, value: Any, source: Source, start: int, end: int, json: bool = False) -> None:
        self.value = value
        self.source = source
        self.start = start
        """Offset in the text of the file."""
        self.end = end
        self.json = json
        """It is read as JSON."""
        self._root: Place | None = None
        self._yaml: YamlText | None = None

    @property
    def text(self) -> str:
        """Return the document's own text, exactly."""
        return self.source.text[self.start : self.end]

    def source_line(self, line: int) -> str:
        """Return a line of the file (the first is 1), without its end."""
        return self.source.line(line)

    def locate(self, path: Path, part: Part = "value") -> Span:
        """Return where a key or value stands.

        A list or mapping in block style shows its first line, a value that is empty shows its key, and so does the mapping that
        lacks a field: for a path that does not exist, the nearest one above it is shown.
        """
        root, text = self._places()
        start, end = places_of.locate(root, path, part, text.text)
        return self.source.span(self.start + text.start(start), self.start + text.end(end))

    def extent(self, path: Path) -> tuple[int, int]:
        """Return where the whole text of a value begins and ends, as offsets in the text of the file. The path must exist."""
        root, text = self._places()
        start, end = places_of.extent(root, path)
        return self.start + text.start(start), self.start + text.end(end)

    def plain(self, path: Path, part: Part = "value") -> str | None:
        """Return the source text of a scalar without quotes, tag and anchor, which a fix may put in quotes. None for everything else."""
        root, text = self._places()
        region = places_of.plain_region(root, path, part)
        return None if region is None else self.source.text[self.start + text.start(region[0]) : self.start + text.end(region[1])]

    def ambiguous(self) -> Iterator[tuple[Path, Part, str]]:
        """Yield the scalars without quotes that are strings to kubectl but not to every YAML reader, with their text."""
        if not self.json:
            from .ambiguous import ambiguous, may_be_ambiguous

            if may_be_ambiguous(self.text):
                root, text = self._places()
                yield from ambiguous(root, text.text)

    def _places(self) -> tuple[Place, YamlText]:
        from . import json_places, yaml_places

        if self._root is None or self._yaml is None:
            self._yaml = YamlText(self.text) if self.json else yaml_text(self.text)
            self._root = json_places.places(self._yaml.text, 0, []) if self.json else yaml_places.places(self._yaml.text)
        return self._root, self._yaml
