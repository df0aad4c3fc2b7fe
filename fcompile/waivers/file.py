"""The waivers file: a YAML list of entries, for waivers that are not comments at the field itself.

- code: FC307
  path: serving/**            # optional; as in .gitignore, relative to the folder of the waivers file
  framework: team-a/search    # optional; with or without namespace, `*` for any text
  field: spec.taskRoles[*]*   # optional; `*` for any text
  reason: these serve until they are stopped by hand
"""

from __future__ import annotations

import errno
import os
from functools import lru_cache
from typing import Any, NamedTuple

from fcompile.diagnostics.problem import Part, Path, Problem, Rule
from fcompile.diagnostics.visible import joined
from fcompile.load import Document, read
from fcompile.load.files import NO_PATH, OTHER_FILE, open_regular
from fcompile.load.rules import MAX_FILE_BYTES
from fcompile.waivers.matching import field_fits, fits, path_fits
from fcompile.waivers.rules import MALFORMED, NO_REASON, code_problem, waiver_problem
from fcompile.waivers.waiver import MAX_ENTRIES, Waiver, WaiversRead

FIELDS = {"code": True, "path": False, "framework": False, "field": False, "reason": True}
"""The fields of an entry, and whether each is required."""

_SCOPE = [field for field, required in FIELDS.items() if not required]


class FileScope(NamedTuple):
    """What an entry covers. An empty string covers anything."""

    folder: str
    path: str
    framework: str
    field: str

    def covers(self, problem: Problem) -> bool:
        name = problem.framework
        framework = not self.framework or fits(self.framework, name) or fits(self.framework, name.rpartition("/")[2])
        return framework and self.covers_file(problem.file) and (not self.field or field_fits(self.field, problem.field))

    def covers_file(self, file: str) -> bool:
        return not self.path or path_fits(self.path, _relative(file, self.folder))


def read_file(path: str, real: str = "") -> WaiversRead:
    """Return the waivers in the file at `path`, and the problems with them. Raises OSError.

    :param real: the only path, without links, that it may have; empty: any.
    """
    try:
        file = open_regular(path, real) if real else open(path, "rb")  # noqa: SIM115
    except ValueError:
        raise OSError(errno.EINVAL, NO_PATH, path) from None
    if file is None:
        raise OSError(errno.EAGAIN, OTHER_FILE, path)
    with file:
        data = file.read(MAX_FILE_BYTES + 1)
    result = WaiversRead([], [])
    for document in read(data, path):
        if isinstance(document, Problem):
            result.problems.append(document)
        elif document.value is not None:
            _Reader(result, path, document).read_list()
    return result


class _Reader:
    def __init__(self, result: WaiversRead, file: str, document: Document) -> None:
        self._found = result
        self._file = file
        self._document = document

    def read_list(self) -> None:
        entries = self._document.value
        if not isinstance(entries, list):
            self._report(MALFORMED, "a waivers file is a list: begin each entry with `- code: …`", ())
            return
        if len(entries) > MAX_ENTRIES:
            self._report(MALFORMED, f"more than {MAX_ENTRIES:,} entries: those from here on are not read; use patterns", (MAX_ENTRIES,))
        for number, entry in enumerate(entries[:MAX_ENTRIES]):
            if not isinstance(entry, dict):
                self._report(MALFORMED, "an entry is a mapping: write `- code: …` and `reason: …`", (number,))
            elif self._well_formed(number, entry):
                self._read_entry(number, entry)

    def _well_formed(self, number: int, entry: dict[str, Any]) -> bool:
        """Report unknown and missing fields of the entry, and wrong types. Return whether it can be used."""
        usable = True
        for key, value in entry.items():
            if key not in FIELDS:
                known = joined([f"`{name}`" for name in FIELDS])
                self._report(MALFORMED, f"unknown field `{key}`: an entry has {known}", (number, key), "key")
                usable = False
            elif not isinstance(value, str) and value is not None:
                self._report(MALFORMED, f"`{key}` must be a string: quote it", (number, key))
                usable = False
            elif key in _SCOPE and not (value and value.strip()):  # The rest of a line that was meant to narrow it may be missing.
                message = f"`{key}` is empty: write which one the waiver is for, or remove the line if it is for all"
                self._report(MALFORMED, message, (number, key), "key")
                usable = False
        if not entry.get("code"):
            self._report(MALFORMED, "the entry names no code: add `code: FC…`", (number,))
            usable = False
        reason = entry.get("reason")
        if not reason or (isinstance(reason, str) and not reason.strip()):
            self._report(NO_REASON, "the waiver gives no reason: add `reason: …`", (number, "reason") if "reason" in entry else (number,))
            usable = False
        return usable

    def _read_entry(self, number: int, entry: dict[str, str]) -> None:
        code = entry["code"]
        problem = code_problem(code)
        if problem:
            self._report(*problem, (number, "code"))
            return
        folder = os.path.dirname(self._file)
        scope = FileScope(folder, *[entry.get(key, "") for key in _SCOPE])
        span = self._document.locate((number, "code"), "value")
        line = self._document.source_line(span.line)
        self._found.waivers.append(Waiver(code, entry["reason"].strip(), "file", self._file, span, line, scope, None))

    def _report(self, rule: Rule, message: str, path: Path, part: Part = "value") -> None:
        span = self._document.locate(path, part)
        self._found.problems.append(waiver_problem(rule, message, self._file, span, self._document.source_line(span.line)))


@lru_cache(maxsize=10_000)
def _relative(file: str, folder: str) -> str:
    try:
        return os.path.relpath(file, folder or os.curdir).replace(os.sep, "/")
    except ValueError:  # another drive, on Windows
        return file
