"""The rules that reading can break: FC001 to FC029 for the text of a document, FC030 to FC039 for files."""

from __future__ import annotations

from typing import Final

from fcompile.diagnostics.problem import Severity, rule

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

YAML_SYNTAX: Final = rule(
    "FC001",
    "yaml-syntax",
    Severity.ERROR,
    "The document is not valid YAML.",
    "kubectl refuses the file. Correct the text at the place that is shown; what is wrong may begin a line or two above it.",
)
JSON_SYNTAX: Final = rule(
    "FC002",
    "json-syntax",
    Severity.ERROR,
    "The document is not valid JSON.",
    "A file whose first character is `{` is read as JSON, one object after the other, with neither comments nor `---` between them.",
)
DUPLICATE_KEY: Final = rule(
    "FC003",
    "duplicate-key",
    Severity.ERROR,
    "A mapping has the same key twice.",
    "Only one of the two values would be used, and readers do not agree which. Remove one. Keys that come in through `<<` count, so a "
    "merged key cannot be overridden.",
)
TAB: Final = rule(
    "FC004",
    "tab",
    Severity.ERROR,
    "A tab stands where YAML allows only spaces.",
    "YAML forbids tabs in indentation. Replace the tab by spaces, and set the editor to insert spaces.",
)
UNCLOSED_QUOTE: Final = rule(
    "FC005",
    "unclosed-quote",
    Severity.ERROR,
    "A quoted string is never closed.",
    "Add the closing quote. Within single quotes a single quote is written twice; within double quotes it is written with a backslash.",
)
UNCLOSED_BRACKET: Final = rule(
    "FC006",
    "unclosed-bracket",
    Severity.ERROR,
    "A `[` or `{` is not closed, or a comma between two entries is missing.",
    "Add the closing bracket or the comma. A value that contains one of `,[]{}` must be quoted there.",
)
UNKNOWN_ALIAS: Final = rule(
    "FC007",
    "unknown-alias",
    Severity.ERROR,
    "An alias names an anchor that does not exist before it in the document.",
    "Define the anchor (`&name`) earlier in the same document, or quote the value if the `*` is meant literally.",
)
RECURSIVE_ALIAS: Final = rule(
    "FC008",
    "recursive-alias",
    Severity.ERROR,
    "An alias stands within the value of its own anchor.",
    "Such a value would contain itself without end. Write the part out instead of using an alias.",
)
TOO_MANY_NODES: Final = rule(
    "FC009",
    "too-many-values",
    Severity.ERROR,
    "The document holds too many values, with aliases written out.",
    f"At most {MAX_NODES:,} keys and values are read, and of many at most 99% may come from aliases. "
    "Split the document, or use fewer aliases.",
)
TOO_DEEP: Final = rule(
    "FC010",
    "too-deep",
    Severity.ERROR,
    f"Lists and mappings are nested more than {MAX_DEPTH} levels deep.",
    "No Kubernetes object is nested like that. Look for brackets or dashes that were repeated by mistake.",
)
TOO_LARGE: Final = rule(
    "FC011",
    "document-too-large",
    Severity.ERROR,
    f"A document is larger than {MAX_BYTES // 1024 // 1024} MiB.",
    "Kubernetes stores no object larger than about 1.5 MiB. Split the document, or take the data out of it.",
)
NOT_UTF8: Final = rule(
    "FC012",
    "not-utf-8",
    Severity.ERROR,
    "The file is not encoded in UTF-8.",
    "Save the file as UTF-8. In PowerShell, `>` writes UTF-16: use `Set-Content -Encoding utf8`.",
)
FORBIDDEN_CHARACTER: Final = rule(
    "FC013",
    "forbidden-character",
    Severity.ERROR,
    "The document contains a character that YAML forbids, such as NUL or another control character.",
    'Remove the character. In a double-quoted string it can be written as an escape, for example `"\\x07"`.',
)
BAD_TAG: Final = rule(
    "FC014",
    "bad-tag",
    Severity.ERROR,
    "A value does not fit its tag.",
    "Remove the tag, or write a value of its type. kubectl ignores the tags of lists and mappings, and takes a scalar with a tag that YAML "
    "does not define for a string.",
)
BAD_MERGE: Final = rule(
    "FC015",
    "bad-merge",
    Severity.ERROR,
    "The value of a merge key `<<` is neither a mapping nor a list of mappings.",
    "Give `<<` a mapping, an alias of one, or a list of these. To have a key that is named `<<`, quote it.",
)
BAD_KEY: Final = rule(
    "FC016",
    "bad-key",
    Severity.ERROR,
    "A key is null, a list or a mapping.",
    "JSON, and so Kubernetes, has only strings for keys. Quote the key.",
)
NOT_A_JSON_NUMBER: Final = rule(
    "FC017",
    "number-out-of-range",
    Severity.ERROR,
    "A number is infinite, not a number, or too large for a 64-bit floating point number.",
    "JSON, and so Kubernetes, has no such numbers. Write another number, or quote it if a string is meant.",
)
SEPARATOR: Final = rule(
    "FC018",
    "text-after-separator",
    Severity.ERROR,
    "Something other than a comment follows `---` on the same line.",
    "kubectl splits a file at lines that begin with `---` and refuses this one. Put the text on a line of its own.",
)
DIRECTIVE: Final = rule(
    "FC019",
    "yaml-directive",
    Severity.ERROR,
    "The document begins with a YAML directive, such as `%YAML 1.1`.",
    "kubectl cuts the file at the `---` that must follow a directive, and refuses it. Remove the directive.",
)
IGNORED_TEXT: Final = rule(
    "FC020",
    "ignored-text",
    Severity.WARNING,
    "Text after the end of a document is never read.",
    "Between two lines that begin with `---` kubectl reads one document, and silently drops what follows it. "
    "Separate documents with `---`.",
)
AMBIGUOUS_SCALAR: Final = rule(
    "FC021",
    "ambiguous-scalar",
    Severity.WARNING,
    "A value without quotes is a string to kubectl and something else to other YAML readers.",
    "YAML 1.1 and 1.2 and their readers differ in times like `1:30`, dates, and some numbers. Quote the value so that all read the same.",
)
FILE_NOT_FOUND: Final = rule(
    "FC030",
    "file-not-found",
    Severity.ERROR,
    "There is no such file or folder.",
    "Check the path. It is taken relative to the folder that the command runs in.",
)
FILE_UNREADABLE: Final = rule(
    "FC031",
    "file-unreadable",
    Severity.ERROR,
    "A file or folder could not be read.",
    "Check its permissions, or leave it out.",
)
FOLDER_WITHOUT_FILES: Final = rule(
    "FC032",
    "folder-without-files",
    Severity.ERROR,
    "A folder contains no YAML or JSON file.",
    "Files that end in .yaml, .yml or .json are read, in all folders below too, except hidden ones. "
    "A file that is named itself is read whatever its name.",
)
FILE_TOO_LARGE: Final = rule(
    "FC033",
    "file-too-large",
    Severity.ERROR,
    f"A file is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB.",
    "It is not read. Split it, or list it in .fcompileignore.",
)
TOO_MANY_DOCUMENTS: Final = rule(
    "FC034",
    "too-many-documents",
    Severity.ERROR,
    f"A file holds more than {MAX_DOCUMENTS:,} documents.",
    "What follows them is not read. Split the file.",
)
TOO_MANY_PROBLEMS: Final = rule(
    "FC035",
    "too-many-problems",
    Severity.ERROR,
    "A file has so many problems that not all of them are shown, or looked for.",
    "Mend those that are shown first: many often have one cause. What does not belong to the project can be listed in .fcompileignore.",
)
