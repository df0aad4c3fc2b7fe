"""The rules that reading can break: FC001 to FC029 for the text of a document, FC030 to FC039 for files."""

from __future__ import annotations

from typing import Final

from fcompile.diagnostics.problem import error_rule, warning_rule

MAX_DEPTH: Final = 100
"""Collections within collections."""
MAX_NODES: Final = 500_000
"""Keys, values, lists and mappings of a document, each alias counted with all that it stands for."""
MAX_BYTES: Final = 8 * 1024 * 1024
"""Bytes of one document."""
MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a file, or of what comes on the standard input."""
MAX_DOCUMENTS: Final = 100_000
"""Documents of a file: so many have some hundred bytes each."""
MAX_UNREADABLE: Final = 1_000
"""Reasons why documents of one file cannot be read. Nobody reads on after so many."""
MAX_PROBLEMS: Final = 5_000
"""Problems of one file that are looked for. Nobody reads so many; but some thousand can be waived, each in its own Framework."""

YAML_SYNTAX: Final = error_rule(
    code="FC001",
    name="yaml-syntax",
    summary="The document is not valid YAML.",
    why="kubectl refuses the file.",
    remedy="Correct the text at the place that is shown; what is wrong may begin a line or two above it.",
)
JSON_SYNTAX: Final = error_rule(
    code="FC002",
    name="json-syntax",
    summary="The document is not valid JSON.",
    why="A file whose first character is `{` is read as JSON, one object after the other, with neither comments nor `---` between them.",
    remedy="Correct the text at the place that is shown, or begin the file with `---` to have it read as YAML.",
)
DUPLICATE_KEY: Final = error_rule(
    code="FC003",
    name="duplicate-key",
    summary="A mapping has the same key twice.",
    why="Only one of the two values would be used, and readers do not agree which.",
    remedy="Remove one. A key that `<<` brings in counts too.",
)
TAB: Final = error_rule(
    code="FC004",
    name="tab",
    summary="A tab stands where YAML allows only spaces.",
    why="YAML forbids tabs in indentation.",
    remedy="Replace the tab by spaces, and set the editor to insert spaces.",
)
UNCLOSED_QUOTE: Final = error_rule(
    code="FC005",
    name="unclosed-quote",
    summary="A quoted string is never closed.",
    why="All that follows would belong to the string.",
    remedy=(
        "Add the closing quote. Within single quotes a single quote is written twice; within double quotes it is written with a backslash."
    ),
)
UNCLOSED_BRACKET: Final = error_rule(
    code="FC006",
    name="unclosed-bracket",
    summary="A `[` or `{` is not closed, or a comma between two entries is missing.",
    why="No reader can tell where the list, the mapping or its entry ends.",
    remedy="Add the closing bracket or the comma. A value that contains one of `,[]{}` must be quoted there.",
)
UNKNOWN_ALIAS: Final = error_rule(
    code="FC007",
    name="unknown-alias",
    summary="An alias names an anchor that does not exist before it in the document.",
    why="An alias stands for a value that was given before it.",
    remedy="Define the anchor (`&name`) earlier in the same document, or quote the value if the `*` is meant literally.",
)
RECURSIVE_ALIAS: Final = error_rule(
    code="FC008",
    name="recursive-alias",
    summary="An alias stands within the value of its own anchor.",
    why="Such a value would contain itself without end.",
    remedy="Write the part out instead of using an alias.",
)
TOO_MANY_NODES: Final = error_rule(
    code="FC009",
    name="too-many-values",
    summary="The document holds too many values once its aliases are written out.",
    why=f"At most {MAX_NODES:,} keys and values are read. Of a large document, at most 99% of them may come from aliases.",
    remedy="Split the document, or use fewer aliases.",
)
TOO_DEEP: Final = error_rule(
    code="FC010",
    name="too-deep",
    summary=f"Lists and mappings are nested more than {MAX_DEPTH} levels deep.",
    why="No Kubernetes object is nested like that.",
    remedy="Look for brackets or dashes that were repeated by mistake.",
)
TOO_LARGE: Final = error_rule(
    code="FC011",
    name="document-too-large",
    summary=f"A document is larger than {MAX_BYTES // 1024 // 1024} MiB.",
    why="Kubernetes stores no object larger than about 1.5 MiB.",
    remedy="Split the document, or take the data out of it.",
)
NOT_UTF8: Final = error_rule(
    code="FC012",
    name="not-utf-8",
    summary="The file is not encoded in UTF-8.",
    why="kubectl sends JSON, which is UTF-8.",
    remedy="Save the file as UTF-8. In PowerShell, `>` writes UTF-16: use `Set-Content -Encoding utf8`.",
)
FORBIDDEN_CHARACTER: Final = error_rule(
    code="FC013",
    name="forbidden-character",
    summary="The document contains a character that YAML forbids, such as NUL or another control character.",
    why="kubectl refuses the whole document.",
    remedy='Remove the character. In a double-quoted string it can be written as an escape, for example `"\\x07"`.',
)
BAD_TAG: Final = error_rule(
    code="FC014",
    name="bad-tag",
    summary="A value does not fit its tag.",
    why="kubectl ignores the tags of lists and mappings, and takes a scalar with a tag that YAML does not define for a string.",
    remedy="Remove the tag, or write a value of its type.",
)
BAD_MERGE: Final = error_rule(
    code="FC015",
    name="bad-merge",
    summary="The value of a merge key `<<` is neither a mapping nor a list of mappings.",
    why="A merge key adds the entries of other mappings to its own mapping.",
    remedy="Give `<<` a mapping, an alias of one, or a list of these. To have a key that is named `<<`, quote it.",
)
BAD_KEY: Final = error_rule(
    code="FC016",
    name="bad-key",
    summary="A key is null, a list or a mapping.",
    why="JSON, and so Kubernetes, has only strings for keys.",
    remedy="Quote the key.",
)
NOT_A_JSON_NUMBER: Final = error_rule(
    code="FC017",
    name="number-out-of-range",
    summary="A number is infinite, not a number, or too large for a 64-bit floating point number.",
    why="JSON, and so Kubernetes, has no such numbers.",
    remedy="Write another number, or quote it if a string is meant.",
)
SEPARATOR: Final = error_rule(
    code="FC018",
    name="text-after-separator",
    summary="Something other than a comment follows `---` on the same line.",
    why="kubectl splits a file at lines that begin with `---` and refuses this one.",
    remedy="Put the text on a line of its own.",
)
DIRECTIVE: Final = error_rule(
    code="FC019",
    name="yaml-directive",
    summary="The document begins with a YAML directive, such as `%YAML 1.1`.",
    why="kubectl cuts the file at the `---` that must follow a directive, and refuses it.",
    remedy="Remove the directive.",
)
IGNORED_TEXT: Final = warning_rule(
    code="FC020",
    name="ignored-text",
    summary="Text after the end of a document is never read.",
    why="Between two lines that begin with `---` kubectl reads one document, and silently drops what follows it.",
    remedy="Separate documents with `---`.",
)
AMBIGUOUS_SCALAR: Final = warning_rule(
    code="FC021",
    name="ambiguous-scalar",
    summary="A value without quotes is a string to kubectl and something else to other YAML readers.",
    why="YAML 1.1 and 1.2 and their readers differ in times like `1:30`, dates, and some numbers.",
    remedy="Quote the value so that all read the same.",
)
FILE_NOT_FOUND: Final = error_rule(
    code="FC030",
    name="file-not-found",
    summary="There is no such file or folder.",
    why="A path is taken relative to the folder that the command runs in.",
    remedy="Check the path.",
)
FILE_UNREADABLE: Final = error_rule(
    code="FC031",
    name="file-unreadable",
    summary="A file or folder could not be read.",
    why="What is in it is not checked.",
    remedy="Check its permissions, or leave it out.",
)
FOLDER_WITHOUT_FILES: Final = error_rule(
    code="FC032",
    name="folder-without-files",
    summary="A folder contains no YAML or JSON file to be read.",
    why=(
        "Files that end in .yaml, .yml or .json are read, in all folders below too, except hidden ones and what `.fcompileignore` "
        "names. A file that is named itself is read whatever its name."
    ),
    remedy="Name the folder or the file that has the manifests.",
)
FILE_TOO_LARGE: Final = error_rule(
    code="FC033",
    name="file-too-large",
    summary=f"A file is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB.",
    why="It is not read.",
    remedy="Split it, or list it in .fcompileignore.",
)
TOO_MANY_DOCUMENTS: Final = error_rule(
    code="FC034",
    name="too-many-documents",
    summary=f"A file holds more than {MAX_DOCUMENTS:,} documents.",
    why=f"Those after the first {MAX_DOCUMENTS:,} are not read.",
    remedy="Split the file.",
)
TOO_MANY_PROBLEMS: Final = error_rule(
    code="FC035",
    name="too-many-problems",
    summary="A file has so many problems that not all of them are shown, or looked for.",
    why="Nobody reads so many, and many often have one cause.",
    remedy=("Correct those that are shown, and run it again. A file that does not belong to the project can be listed in .fcompileignore."),
)
