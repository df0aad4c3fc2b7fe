"""What is wrong is said under the right rule, at the right place, in plain words."""

from __future__ import annotations

import pickle

import pytest

from fcompile.diagnostics.problem import RULES, Problem, Severity
from fcompile.load import Document, LoadError, read, values
from tests.reading import documents

FAULTS = [
    # text, rule, the text that is pointed at, its line, a part of the message
    ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "FC003", "c", 5, "the key `c` is already in this mapping"),
    ("x: &x {k: 1}\na:\n  <<: *x\n  k: 2\n", "FC003", "k", 4, "already in this mapping"),
    ("x: &x {k: 1}\na:\n  k: 2\n  <<: *x\n", "FC003", "<<", 4, "brings the key `k`"),
    ("a:\n\t- b\n", "FC004", "\t", 2, "a tab"),
    ("a:\n  b: 1\n\tc: 2\n", "FC004", "\t", 3, "a tab"),
    ("a: |\n  x\n\ty\n", "FC004", "\t", 3, "a tab"),
    ("a: \t- b\n", "FC001", "-", 1, "a list item cannot stand here"),
    ('a: "foo\nb: 1\n', "FC005", '"', 1, "never closed"),
    ("a: 'foo\nb: 1\n", "FC005", "'", 1, "never closed"),
    ("a: 'foo\n---\nb: 1\n", "FC005", "'", 1, "never closed"),
    ('a: "b\nc: [d, "e f"]\n', "FC005", '"', 1, 'closed only on a later line: add the closing "'),
    ("a:\n- b: 'c\n  d: 'e'\n", "FC005", "'", 2, "closed only on a later line"),
    ('a: [b, "c]\nd: "e"\n', "FC005", '"', 1, "closed only on a later line"),
    ("a: 'b\n  c'd\n", "FC005", "'", 1, "closed only on a later line"),
    ("a: [1, 2\n", "FC006", "[", 1, "add the closing `]`"),
    ("a: {b: 1\n", "FC006", "{", 1, "add the closing `}`"),
    ("a: [1, 2\nb: 3\n", "FC006", ":", 2, "a `,` or `]` is expected"),
    ("a: {b: 1\n c: 2}\n", "FC006", ":", 2, "a `,` or `}` is expected"),
    ("a: {\n", "FC006", "{", 1, "add the closing `}`"),
    ("a: {b: [c,\n# d\n", "FC006", "[", 1, "add the closing `]`"),
    ("a: *x\n", "FC007", "*x", 1, "no anchor `&x`"),
    ("a: *.log\n", "FC001", ".", 1, "quote the value"),
    ("a: &x [*x]\n", "FC008", "*x", 1, "within the value of its own anchor"),
    ("a: \xff".encode("latin-1"), "FC012", "�", 1, "0xFF"),
    (b"\xff\xfea\0", "FC012", "a", 1, "UTF-16"),
    (b"\xfe\xff\0a", "FC012", "a", 1, "UTF-16"),
    (b"\xff\xfe\0\0a\0\0\0", "FC012", "a", 1, "UTF-32"),
    (b"\0\0\xfe\xff\0\0\0a", "FC012", "a", 1, "UTF-32"),
    ("a: b\0c\n", "FC013", "\0", 1, "NUL"),
    ("a: b\x07c\n", "FC013", "\x07", 1, "U+0007"),
    ("a: 1\n\ufeffb: 2\n", "FC013", "\ufeff", 2, "byte order mark"),
    ("a: !!int x\n", "FC014", "!!int x", 1, "is no int"),
    ("a: !!binary x\n", "FC014", "!!binary x", 1, "base64"),
    ("a: &x 1\nb: {<<: *x}\n", "FC015", "<<", 2, "must be a mapping"),
    ("~: 1\n", "FC016", "~", 1, 'quote it as `"~"`'),
    ("?\n: 1\n", "FC016", "", 1, "a key is missing"),
    ("? [a]\n: b\n", "FC016", "[", 1, "cannot be a key"),
    ("a: {{FC_X}}\n", "FC016", "{{", 1, "placeholder"),
    ("a: .inf\n", "FC017", ".inf", 1, 'quote it as `".inf"`'),
    ("a: [1, -.inf]\n", "FC017", "-.inf", 1, "JSON"),
    ("a: !!float .nan\n", "FC017", "!!float .nan", 1, "JSON"),
    ('{"a": 1e999}', "FC017", "1e999", 1, "too large"),
    ('{"a": 1}\n-1e999--\n', "FC017", "-1e999", 2, "too large"),
    ('{"a": 1}1e999False ---\nb:\n', "FC017", "1e999", 1, "too large"),
    ("a: 1\n--- foo\n", "FC018", "foo", 2, "only a comment after `---`"),
    ('{"a": 1}%YAML 1.1\n---\na: 1\n', "FC002", "%", 1, "a JSON value is expected"),
    ("%YAML 1.1\n---\na: 1\n", "FC019", "%YAML 1.1", 1, "remove this line"),
    ("a: b: c\n", "FC001", ":", 1, "quote the value"),
    ("a:\n- name main\n  image: x\n", "FC001", "name main", 2, "`name main` is not `key: value`: add the `:`"),
    ("a:\n- name:main\n  image: x\n", "FC001", "name:main", 2, "`name:main` is not `key: value`: write a space after the `:`"),
    ("a:\n  http://x\n  b: x\n", "FC001", "http://x", 2, "is not `key: value`: add the `:`"),
    ("a: b\n  c: d\n", "FC001", "c", 2, "`c` cannot be indented below `a`, which has the value `b`"),
    ("- a: b\n\n    c d: e\n", "FC001", "c d", 3, "`c d` cannot be indented below `a`, which has the value `b`"),
    ("a: b\n  c: d: e\n", "FC001", "c", 2, "`c` cannot be indented below `a`"),
    ("a: b\n  - c: d\n", "FC001", ":", 2, "quote the value"),
    ("a: 1\nfoo\nb: 1\n", "FC001", "foo", 2, "`foo` is not `key: value`"),
    ("a: 1\nfoo:2\nb: 1\n", "FC001", "foo:2", 2, "`foo:2` is not `key: value`: write a space after the `:`"),
    ("a:1\nb: 1\n", "FC001", "a:1", 1, "`a:1` is not `key: value`: write a space after the `:`"),
    ("a: 1\nhttp://x\nb: 1\n", "FC001", "http://x", 2, "is not `key: value`: add the `:`"),
    ("a:\n  b: 1\n c: 2\n", "FC001", "c", 3, "correct the indentation"),
    ("- a\nb: c\n", "FC001", "b", 2, "a list item is expected"),
    (
        "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n",
        "FC001",
        "<<<<<<< HEAD",
        2,
        "git left a conflict here: keep one",
    ),
    ("a:\n  b: c\n<<<<<<< HEAD\n    d\n=======\n", "FC001", "<<<<<<< HEAD", 3, "git left a conflict here"),
    ("a: x\n=======\nb: 1\n>>>>>>> x\n", "FC001", "=======", 2, "git left a conflict here"),
    (
        "a: 1\nb:\xa02\nc: 3\n",
        "FC001",
        "\xa0",
        2,
        "this is a no-break space (U+00A0), which YAML takes for a letter",
    ),
    ("a: 1\nb:\u30002\n", "FC001", "\u3000", 2, "this is an ideographic space (U+3000)"),
    (
        "- b: 1\n\xa0\xa0c: 2\n",
        "FC001",
        "\xa0\xa0",
        2,
        "these are no-break spaces (U+00A0), which YAML takes for letters",
    ),
    ("a:\n  b: 1\n\xa0\xa0c: 2\n  d:\n", "FC001", "\xa0\xa0", 3, "no-break spaces (U+00A0)"),
    ("a:\n  -\u2003b\n  c: 2\n", "FC001", "\u2003", 2, "this is a special space (U+2003)"),
    ("a: x\xa0y\n  c: d\n", "FC001", "c", 2, "`c` cannot be indented below `a`"),
    ("a: @x\n", "FC001", "@", 1, "cannot begin with `@`"),
    ("a: `x`\n", "FC001", "`", 1, "a backtick: quote it"),
    ("a: ```x\n", "FC001", "`", 1, "a backtick: quote it"),
    ("```yaml\na: 1\n```\n", "FC001", "```", 1, "the fence of a code block in Markdown: take it out"),
    ("a: 1\n```\n", "FC001", "```", 2, "the fence of a code block in Markdown: take it out"),
    ("a: 'x'y\n", "FC001", "y", 1, "quote the whole value"),
    ('a: "\\q"\n', "FC001", "\\", 1, "unknown escape"),
    ('a: "\\/"\n', "FC001", "\\/", 1, "write `/` alone"),
    ("a: [b?c]\n", "FC001", "b?c", 1, 'quote it as `"b?c"`'),
    ("a: [!b, c]\n", "FC001", ",", 1, "write a space"),
    ("a: |0\n  x\n", "FC001", "0", 1, "1 to 9"),
    ("a: | x\n", "FC001", "x", 1, "next line"),
    ('{"a": 1, "a": 2}', "FC003", '"a"', 1, "already in this mapping"),
    ('{"a": 1}\n{"b": 2}\n---\n{"c": 3}\n', "FC002", "---", 3, "JSON throughout"),
    ('{"a": "x', "FC005", '"', 1, "never closed"),
    ('{"a": [1, 2', "FC006", "{", 1, "ends before the JSON does"),
    ('{"a": 1}\n{"b": 1}\n{"c": 1,}\n', "FC002", ",", 3, "no comma before a closing bracket"),
    ('{"a": 1}\n{"b": 1}\n{"c": NaN}\n', "FC002", "N", 3, "a JSON value is expected"),
    ('{"a": 1}\n{"b": 1}\n{"c" 1}\n', "FC002", "1", 3, "`:` is expected"),
    ('{"a": 1}\n{"b": 1}\n{c: 1}\n', "FC002", "c", 3, "in double quotes"),
    ('{"a": 1}\n{"b": 1}\n{"c": "\t"}\n', "FC002", "\t", 3, "control character"),
    ('{"a": 1}\n{"b": 1}\n{"c": "\\q"}\n', "FC002", "\\", 3, "unknown escape"),
]


@pytest.mark.parametrize(("text", "code", "pointed", "line", "message"), FAULTS)
def test_a_fault_is_named_and_placed(text: str | bytes, code: str, pointed: str, line: int, message: str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    error = next(item for item in read(data, "x.yaml") if isinstance(item, Problem))
    source = data.decode("utf-8", "replace") if not data.startswith((b"\xff", b"\xfe", b"\0\0\xfe")) else "a"
    assert error.rule.code == code
    assert message in error.message
    assert error.span.line == line
    assert source[error.span.start : error.span.end] == pointed
    assert not error.message.endswith(".")
    assert "while " not in error.message
    assert error.rule is RULES[code]
    assert error.source_line == (source.split("\n")[line - 1] if line <= source.count("\n") + 1 else "")
    assert str(LoadError(error)) == f"{line}:{error.span.column}: {error.message}"


def test_an_object_without_a_line_before_it_is_one_fault() -> None:
    one = "apiVersion: v1\nkind: {}\nspec:\n  a: 1\n"
    first, second, document = read((one.format("A") + one.format("B") + "  a: 2\n").encode(), "x.yaml", with_duplicates=True)
    assert isinstance(first, Problem)
    assert (first.span.line, first.rule.code) == (5, "FC003")
    said = "the key `apiVersion` is already in this object: write `---` above it if another object begins here, or remove it"
    assert first.message == said
    assert isinstance(second, Problem)
    assert (second.span.line, second.message) == (9, "the key `a` is already in this mapping: remove one of the two")
    assert isinstance(document, Document)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a: 1\nb: 2\na: 3\n", 1), ("x: &x {k: 1}\na:\n  <<: *x\n  k: 2\n", 1), ('{"a": 1,\n"b": 2,\n"a": 3}', 1), ("a: 1\n'a': 2", 1)],
)
def test_a_duplicate_key_names_both_places(text: str, lines: int) -> None:
    (error,) = read(text.encode(), "x.yaml")
    assert isinstance(error, Problem)
    (related,) = error.related
    assert related.span is not None
    assert related.file == "x.yaml"
    assert related.span.line == lines
    assert text[related.span.start : related.span.end].strip("\"'") in ("a", "k")
    assert related.span.start < error.span.start


def test_every_problem_of_a_file_comes_out_and_every_good_document() -> None:
    text = b"a: 1\n---\nb: '\n---\nc: 3\n---\nd: [\n---\n\ne: 5\n--- {x: 1}\n"
    items = list(read(text, "x.yaml"))
    assert [item.value for item in items if isinstance(item, Document)] == [{"a": 1}, {"c": 3}, {"e": 5}, {"x": 1}]
    assert [(item.rule.code, item.span.line) for item in items if isinstance(item, Problem)] == [
        ("FC005", 3),
        ("FC006", 7),
        ("FC018", 11),
    ]


def test_documents_come_out_before_the_problem_is_raised() -> None:
    found = []
    with pytest.raises(LoadError) as caught:
        found += [document.value for document in documents(b"a: 1\n---\nb: 2\n---\nc: [\n---\nd: 4\n", "x.yaml")]
    assert caught.value.problem.rule.code == "FC006"
    iterator = documents(b"a: 1\n---\nb: 2\n---\nc: [\n", "x.yaml")
    assert [next(iterator).value, next(iterator).value] == [{"a": 1}, {"b": 2}]


def test_text_that_kubectl_never_reads_is_a_warning() -> None:
    document, warning = read(b"a: 1\n...\nb: 2\n", "x.yaml")
    assert isinstance(document, Document)
    assert document.value == {"a": 1}
    assert isinstance(warning, Problem)
    assert (warning.rule.code, warning.rule.severity, warning.span.line, warning.source_line) == ("FC020", Severity.WARNING, 3, "b: 2")
    assert values(b"a: 1\n...\nb: 2\n") == [{"a": 1}]
    assert [found.value for found in documents(b"{a: 1} b\n", "x.yaml")] == [{"a": 1}]
    assert len(list(read(b"a: 1\n...\n# only a comment\n---\nb: 2\n", "x.yaml"))) == 2


def test_a_problem_can_be_sent_to_another_process() -> None:
    (error,) = read(b"a: 1\na: 2\n", "x.yaml")
    assert isinstance(error, Problem)
    assert pickle.loads(pickle.dumps(error)) == error


def test_one_bad_byte_spoils_only_its_document() -> None:
    items = list(read("é: 1\n---\nb: \xff\n---\nc: 3\n".encode("latin-1").replace(b"\xe9", "é".encode()), "x.yaml"))
    assert [item.value if isinstance(item, Document) else (item.rule.code, item.span.line, item.span.column) for item in items] == [
        {"é": 1},
        ("FC012", 3, 4),
        {"c": 3},
    ]


@pytest.mark.parametrize(
    ("text", "lines", "value"),
    [
        ("a: 1\na: 2\nb: {c: 1,\n c: 2}\n", [2, 4], {"a": 2, "b": {"c": 2}}),
        ("x: &x {k: 1}\na:\n  k: 2\n  <<: *x\nx: 3\n", [4, 5], {"x": 3, "a": {"k": 2}}),
        ("x: &x {k: 1}\na:\n  <<: *x\n  k: 2\n", [4], {"x": {"k": 1}, "a": {"k": 2}}),
        ('{"a": 1,\n"a": 2, "b": {"c": 1,\n"c": 2.0}}', [2, 3], {"a": 2, "b": {"c": 2}}),
    ],
)
def test_duplicate_keys_hide_nothing_else(text: str, lines: list[int], value: object) -> None:
    *errors, document = read(text.encode(), "x.yaml", with_duplicates=True)
    assert [error.span.line for error in errors if isinstance(error, Problem)] == lines
    assert isinstance(document, Document)
    assert document.value == value
    assert document.locate(("a",)).line


def test_what_follows_duplicate_keys_may_be_no_yaml() -> None:
    text = b"a: 1\na: 2\nb: 1\nb: 2\nc: [\n"
    codes = [item.rule.code for item in read(text, "x.yaml", with_duplicates=True) if isinstance(item, Problem)]
    assert codes == ["FC003", "FC003", "FC006"]
    many = b"".join(b"a: 1\n" for _ in range(5_000))
    assert 900 < len(list(read(many, "x.yaml", with_duplicates=True))) < 1_100
