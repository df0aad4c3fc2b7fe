"""`podFailureSpec`: which Pods have failed in which way, as the configuration says it.

    - code: 221
      phrase: OutOfDeviceMemory
      type: {attributes: [Permanent]}
      podPatterns:
      - containers:
        - messageRegex: '(?i)resource exhausted'
          codeRange: {min: 1}

Read once, with every mistake and where it is. Whatever upstream's controller accepts is accepted, and means the same, except that an
unknown field is a mistake here, and that a regular expression must be a string.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from fcompile.diagnostics.problem import Part
from fcompile.diagnostics.suggestions import closest
from fcontroller.decide.codes import FAILED, RESERVED, Code, is_reserved
from fcontroller.decide.regex import Regex, RegexError

Path = tuple[str | int, ...]
"""A field, as the keys and list indices that lead to it, from `podFailureSpec` on."""

_INT32: Final = range(-(2**31), 2**31)


class Mistake(NamedTuple):
    path: Path
    message: str
    part: Part = "value"


class Range(NamedTuple):
    """A closed range. None: no bound."""

    least: int | None
    most: int | None

    def holds(self, number: int) -> bool:
        return (self.least is None or self.least <= number) and (self.most is None or number <= self.most)


class ContainerPattern(NamedTuple):
    """Matches a container of which everything given is true. None: not given.

    That is not the same as an expression that matches anything: only a container that has terminated has a reason, a message, a signal
    and a code, so that a pattern which gives one of these never matches another container.
    """

    name: Regex | None = None
    reason: Regex | None = None
    message: Regex | None = None
    signals: Range | None = None
    codes: Range | None = None


class PodPattern(NamedTuple):
    """Matches a Pod of which everything given is true, and that has a container for each of those patterns."""

    name: Regex | None = None
    reason: Regex | None = None
    message: Regex | None = None
    containers: tuple[ContainerPattern, ...] = ()


class Failure(NamedTuple):
    """A Pod that matches any of the patterns ended like that."""

    code: Code
    patterns: tuple[PodPattern, ...]


def read_failures(value: Any) -> tuple[tuple[Failure, ...], tuple[Mistake, ...]]:
    """Read a `podFailureSpec` (None: there is none); return its entries and its mistakes. With mistakes the entries must not be used."""
    reader = _Reader()
    failures = tuple(reader.failure(item, ("podFailureSpec", index)) for index, item in reader.items(value, ("podFailureSpec",)))
    return failures, tuple(reader.mistakes)


class _Reader:
    """Each method reads one value, and notes what is wrong with it. A field that is null is not given."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []
        self.codes: dict[int, Path] = {}
        self.regexes: dict[str, Regex] = {}

    def wrong(self, path: Path, message: str, part: Part = "value") -> None:
        self.mistakes.append(Mistake(path, message, part))

    def failure(self, value: Any, path: Path) -> Failure:
        fields = self.fields(value, path, ("code", "phrase", "type", "podPatterns"))
        if not isinstance(value, dict):
            return Failure(Code(0, ""), ())
        code = self.code(fields.get("code"), (*path, "code"))
        phrase = self.text(fields.get("phrase"), (*path, "phrase")) or ""
        attributes = self.attributes(fields.get("type"), (*path, "type"))
        return Failure(Code(code, phrase, attributes), self.pod_patterns(fields.get("podPatterns"), (*path, "podPatterns")))

    def code(self, value: Any, path: Path) -> int:
        code = self.integer(value, path)
        if code is None:
            if value is None:
                self.wrong(path, "there is no code; give one that no other entry has")
        elif is_reserved(code):
            reserved = " and ".join([f"{low}..{high}" for low, high in RESERVED])
            self.wrong(path, f"{code} is reserved, as are all codes of {reserved}; choose another")
        elif code in self.codes:
            self.wrong(
                path, f"{code} is the code of `podFailureSpec[{self.codes[code][1]}]` as well; choose another, or add these patterns there"
            )
        else:
            self.codes[code] = path
        return code or 0

    def attributes(self, value: Any, path: Path) -> tuple[str, ...] | None:
        """Read the attributes of a `type`, whose only allowed name is Failed."""
        kind = {} if value is None else self.fields(value, path, ("name", "attributes"))
        name = self.text(kind.get("name"), (*path, "name"))
        if name not in (None, "", FAILED):
            self.wrong((*path, "name"), f"`{name}` is not `{FAILED}`: these codes are of Pods that failed; leave the field out")
        if kind.get("attributes") is None:
            return None
        path = (*path, "attributes")
        return tuple([self.text(item, (*path, index)) or "" for index, item in self.items(kind["attributes"], path)])

    def pod_patterns(self, value: Any, path: Path) -> tuple[PodPattern, ...]:
        if value is None or value == []:
            self.wrong(path, "there is no pattern, so that no Pod would match; give one, or remove the entry")
        return tuple([self.pod_pattern(item, (*path, index)) for index, item in self.items(value, path)])

    def pod_pattern(self, value: Any, path: Path) -> PodPattern:
        fields = self.fields(value, path, ("nameRegex", "reasonRegex", "messageRegex", "containers"))
        containers = self.items(fields.get("containers"), (*path, "containers"))
        return PodPattern(
            *self.texts(fields, path),
            containers=tuple([self.container_pattern(item, (*path, "containers", index)) for index, item in containers]),
        )

    def container_pattern(self, value: Any, path: Path) -> ContainerPattern:
        fields = self.fields(value, path, ("nameRegex", "reasonRegex", "messageRegex", "signalRange", "codeRange"))
        return ContainerPattern(
            *self.texts(fields, path),
            signals=self.range(fields.get("signalRange"), (*path, "signalRange")),
            codes=self.range(fields.get("codeRange"), (*path, "codeRange")),
        )

    def texts(self, fields: dict[str, Any], path: Path) -> tuple[Regex | None, Regex | None, Regex | None]:
        """Read the patterns that name, reason and message must match."""
        name, reason, message = [self.regex(fields.get(key), (*path, key)) for key in ("nameRegex", "reasonRegex", "messageRegex")]
        return name, reason, message

    def regex(self, value: Any, path: Path) -> Regex | None:
        pattern = self.text(value, path)
        if pattern is None:
            return None
        if pattern not in self.regexes:
            try:
                self.regexes[pattern] = Regex(pattern)
            except RegexError as error:
                self.wrong(path, f"`{pattern}` is not a regular expression of RE2: {error}")
        return self.regexes.get(pattern)

    def range(self, value: Any, path: Path) -> Range | None:
        if value is None:
            return None
        fields = self.fields(value, path, ("min", "max"))
        least, most = [self.integer(fields.get(key), (*path, key)) for key in ("min", "max")]
        return None if least is None and most is None else Range(least, most)

    def items(self, value: Any, path: Path) -> list[tuple[int, Any]]:
        """Return the items of a list with their indices; anything but a list is reported and has none."""
        if value is not None and not isinstance(value, list):
            self.wrong(path, f"{_shown(value)} is not a list; write each item after `- `")
        return list(enumerate(value)) if isinstance(value, list) else []

    def fields(self, value: Any, path: Path, known: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.wrong(path, f"{_shown(value)} is not a mapping; its fields can be {_list(known)}")
            return {}
        for key in value:
            if key not in known:
                near = closest(str(key), known)
                hint = f": did you mean `{near.word}`?" if near else f"; there are {_list(known)}"
                self.wrong((*path, str(key)), f"`{key}` is not a field here{hint}", "key")
        return value

    def text(self, value: Any, path: Path) -> str | None:
        if value is None or isinstance(value, str):
            return value
        self.wrong(path, f"{_shown(value)} is not a string; put it in quotes")
        return None

    def integer(self, value: Any, path: Path) -> int | None:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value in _INT32):
            return value
        self.wrong(path, f"{_shown(value)} is not a whole number of 32 bits; give one of {_INT32[0]}..{_INT32[-1]}")
        return None


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"`{text[:60]}`"


def _list(words: tuple[str, ...]) -> str:
    return ", ".join([f"`{word}`" for word in words])
