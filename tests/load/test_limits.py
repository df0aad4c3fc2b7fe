"""No input is too much: each limit is a positioned error, soon and in little memory, and the process lives on.

The deadlines are generous, for machines that do other things too: what they catch is a second power or a crash, not a slow hour.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from fcompile.diagnostics.problem import Problem
from fcompile.load import Document, read
from fcompile.load.rules import MAX_BYTES, MAX_DEPTH, MAX_NODES

LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 20))
MERGED = "a: &a {b: 1, c: 2, d: 3}\ne: [" + "{<<: *a}," * 250_000 + "]\n"

BOMBS = {
    "billion laughs": (LAUGHS, "FC009"),
    "many merges": (MERGED, "FC009"),
    "many items": ("- a\n" * 1_500_000, "FC009"),
    "many empty lists": ("[" + "[]," * 1_500_000 + "]", "FC009"),
    "many in JSON": ('{"a": [' + "1," * 1_500_000 + "1]}", "FC009"),
    "open brackets": ("[" * 500_000, "FC010"),
    "open braces": ("{a: " * 200_000, "FC010"),
    "dashes": ("- " * 300_000, "FC010"),
    "indentation": ("".join(" " * i + "a:\n" for i in range(2_000)), "FC010"),
    "deep JSON": ('{"a":' * 200_000, "FC010"),
    "deep JSON that is closed": ('{"a":' * 150 + "1" + "}" * 150, "FC010"),
    "deep through aliases": ("".join(f"a{i}: &a{i} [*a{i - 1}]\n" if i else "a0: &a0 [x]\n" for i in range(150)), "FC010"),
    "question marks": ("? " * 300_000, "FC016"),
    "long": ("a: " + "x" * MAX_BYTES, "FC011"),
    "long comment": ("#" + "x" * MAX_BYTES, "FC011"),
    "long JSON": ('{"a": "' + "x" * MAX_BYTES + '"}', "FC011"),
    "long in UTF-8": ('a: "' + "é" * (MAX_BYTES // 2) + '"', "FC011"),
    "long JSON in UTF-8": ('{"a": "' + "é" * (MAX_BYTES // 2) + '"}', "FC011"),
    "open quote": ('a: "' + "x\n" * 2_000_000, "FC005"),
    "open quote in JSON": ('{"a": "' + "\\\\" * 2_000_000, "FC005"),
    "backslashes": ('["' + "\\\\" * 1_000_000 + '\\/"]', "FC001"),
    "colons before commas": ("[" + "a:," * 100_000 + "]", "FC001"),
    "colons before commas at the end": ("".join(f"a{i}: b\n" for i in range(200_000)) + "c: [" + "a:," * 60 + "]", "FC001"),
    "a digit too many": ('{"a": ' + "1" * 3_000_000 + "}", "FC017"),
    "base64": ("a: !!binary " + "A" * 3_000_003, "FC014"),
    "recursion": ("a: &a\n  b: [*a]\n", "FC008"),
    "recursion through a merge": ("a: &a\n  <<: *a\n", "FC008"),
    "tabs": ("\t" * 3_000_000, "FC004"),
}

MEASURE = """
import resource, sys, time
from fcompile.diagnostics.problem import Problem
from fcompile.load import read
data = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
errors = [item.rule.code for item in read(data, "x") if isinstance(item, Problem)]
seconds = time.process_time() - start
print(errors[0], seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_soon_and_in_little_memory(name: str) -> None:
    text, code = BOMBS[name]
    result = subprocess.run([sys.executable, "-c", MEASURE], input=text.encode(), capture_output=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr.decode()
    found, seconds, mebibytes = result.stdout.decode().split()
    assert found == code
    assert float(seconds) < 8
    assert int(mebibytes) < 256


@pytest.mark.parametrize(
    "text", ["a: [" + "b," * 1_200_000 + "]", "1_" * 1_000_000, "a: 0x" + "1" * 1_000_000, "\n" * 2_000_000, "---\n" * 200_000]
)
def test_what_is_only_long_is_no_slower_than_its_length(text: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", MEASURE.replace("errors[0]", "len(errors)")],
        input=text.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()
    assert float(result.stdout.split()[1]) < 10


def nested(depth: int, json: bool) -> str:
    return '{"a":' * depth + "1" + "}" * depth if json else "".join(" " * level + "a:\n" for level in range(depth))


@pytest.mark.parametrize("json", [False, True])
def test_the_limit_of_depth_is_exact(json: bool) -> None:
    (document,) = read(nested(MAX_DEPTH, json).encode(), "x")
    (error,) = read(nested(MAX_DEPTH + 1, json).encode(), "x")
    assert isinstance(document, Document)
    assert isinstance(error, Problem)
    assert error.rule.code == "FC010"
    assert error.span.line == (1 if json else MAX_DEPTH + 1)


@pytest.mark.parametrize("json", [False, True])
def test_the_limit_of_size_is_for_one_document(json: bool) -> None:
    start, end, between = ('{"a": "', '"}\n', "") if json else ("a: '", "'\n", "---\n")
    fits = start + "x" * (MAX_BYTES - len(start + end)) + end
    assert [type(item) for item in read((fits + between + fits).encode(), "x")] == [Document, Document]
    error = next(read(fits.replace("x", "xxx", 1).encode(), "x"))
    assert isinstance(error, Problem)
    assert (error.rule.code, error.span.line) == ("FC011", 1)


def test_what_follows_a_document_that_is_too_large_is_read() -> None:
    first, second = read(("#" * (MAX_BYTES + 1) + "\n---\nb: 1\n").encode(), "x")
    assert isinstance(first, Problem)
    assert isinstance(second, Document)
    assert (second.value, second.locate(()).line) == ({"b": 1}, 3)


def test_aliases_count_as_often_as_they_are_used() -> None:
    shared = "a: &a [" + "x," * 999 + "x]\n"
    enough = MAX_NODES // 1_000
    rest = "c: [" + "y," * 20_000 + "y]\n"
    (fits,) = read((shared + "b: [" + "*a," * 50 + "]\n" + rest).encode(), "x")
    (too_many,) = read((shared + "b: [" + "*a," * enough + "]\n" + rest).encode(), "x")
    assert isinstance(fits, Document)
    assert len(fits.value["b"]) == 50
    assert isinstance(too_many, Problem)
    assert too_many.rule.code == "FC009"
    assert too_many.span.line == 2


def test_a_text_that_is_read_again_and_again_comes_to_an_end() -> None:
    for text in ("\ufeff{k 1: {-a:{\tff: !!binary aGk=},} # c\n  {}\n", "[" + "a:," * 60 + "]", "a: !,! b", "- !!,!\n"):
        assert list(read(text.encode(), "x"))
