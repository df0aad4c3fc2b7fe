"""Change the code in small ways, one at a time, and tell which changes the tests do not notice.

    python tools/mutate.py                                          # 110 mutants of what decides and what lowers
    python tools/mutate.py --count 30 --seed 7 fcompile/expand.py   # 30 of one file, by another seed
    python tools/mutate.py --only fcompile/expand.py:33:16:compare  # one mutant again, with what the tests say

A mutant is a copy of the code with one small change: another comparison, `and` for `or`, a condition turned round, another number or
word, a statement left out. One that the tests pass has *survived*: they do not hold what that line does. Such a mutant wants a test of
what the code should do, or an entry in tools/equivalent_mutants.toml when no test could tell the difference, with the reason.
Left alone are prose (texts with a space in them), annotations, assertions and imports: tests that kill such mutants only repeat the code.

The tests of what is mutated (`TESTS`) run in a copy of the repository, in a fork for each mutant: those that reach the changed
function, first those that have killed before, then the fast ones, until one fails. A test that takes much longer than before has failed.
The exit code is 1 when fewer are killed than `--at-least`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import gc
import inspect
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, cast

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("controller/fcontroller/decide", "fcompile/lower", "fcompile/default.py", "fcompile/expand.py")
TESTS = ("tests/decide", "tests/lower", "tests/test_default.py", "tests/test_expand.py", "tests/test_examples.py")
EQUIVALENT = Path("tools/equivalent_mutants.toml")

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
IMPORTED_BEFORE = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
NO_TESTS = 5
"""What pytest says when it has run none."""
DID_NOT_END = " (it did not end)"
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Change(NamedTuple):
    """Another text for a part of a file, in bytes."""

    kind: str
    start: int
    end: int
    text: str


class Mutant(NamedTuple):
    """One change of one file."""

    file: str
    line: int
    column: int
    change: Change
    was: str
    """The lines that it changes, without the space around them."""
    becomes: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}:{self.column}:{self.change.kind}"


class Verdict(NamedTuple):
    """How it went with a mutant: the test that killed it, if any."""

    mutant: Mutant
    killer: str


# Which changes there are.


def mutants(file: str, source: str) -> list[Mutant]:
    """Return each mutant of a Python file, in the order of the text."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    encoded, found, names = source.encode(), [], Counter[str]()
    for change in sorted(set(_Changes(encoded, starts).of(ast.parse(source)))):
        first = next(number for number, start in enumerate(starts) if start > change.start)
        last = next(number for number, start in enumerate(starts) if start >= change.end)
        column = change.start - starts[first - 1] + 1
        # Two changes of a kind at one place are told apart by a number.
        name = f"{first}:{column}:{change.kind}"
        names[name] += 1
        changed = change._replace(kind=f"{change.kind}{names[name] if names[name] > 1 else ''}")
        before, after = encoded[starts[first - 1] : change.start].decode(), encoded[change.end : starts[last]].decode()
        was, becomes = "".join(lines[first - 1 : last]), before + change.text + after
        found.append(Mutant(file, first, column, changed, _one_line(was), _one_line(becomes)))
    return found


def mutated(source: str, change: Change) -> str:
    """Return the source with the change."""
    encoded = source.encode()
    return (encoded[: change.start] + change.text.encode() + encoded[change.end :]).decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Changes:
    """Walk a syntax tree and yield the changes that the text can take."""

    def __init__(self, source: bytes, starts: Sequence[int]) -> None:
        self.source = source
        self.starts = starts

    def of(self, tree: ast.AST) -> Iterator[Change]:
        """Yield each change in a node and below it."""
        for node in self._shown(tree):
            method = getattr(self, f"_{type(node).__name__.lower()}", None)
            if method is not None:
                yield from method(node)
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                yield from self._negated(node.test)
            for condition in node.ifs if isinstance(node, ast.comprehension) else ():
                yield from self._negated(condition)
            yield from self.of(node)

    def _shown(self, node: ast.AST) -> Iterator[ast.AST]:
        """The children of a node that are behaviour, and that have places: those in an f-string have none before Python 3.12."""
        if isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
            return
        hidden: set[int] = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            hidden |= {id(child) for child in node.body if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)}
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        yield from (child for child in ast.iter_child_nodes(node) if id(child) not in hidden)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        place: Any = node
        return self.starts[place.lineno - 1] + place.col_offset, self.starts[place.end_lineno - 1] + place.end_col_offset

    def _text(self, start: int, end: int) -> str:
        return self.source[start:end].decode()

    def _instead(self, kind: str, node: ast.AST, text: str) -> Change:
        return Change(kind, *self._span(node), text)

    def _between(self, kind: str, left: ast.AST, right: ast.AST, operator: str, other: str) -> Iterator[Change]:
        """Another operator between two operands, whatever brackets and lines are there too."""
        start, end = self._span(left)[1], self._span(right)[0]
        text, expression = self._text(start, end), r"\s+".join(re.escape(word) for word in operator.split())
        if found := re.search(rf"(?<!\w){expression}(?!\w)" if operator[0].isalpha() else expression, text):
            yield Change(kind, start + len(text[: found.start()].encode()), start + len(text[: found.end()].encode()), other)

    def _negated(self, node: ast.expr) -> Iterator[Change]:
        if not isinstance(node, ast.Compare) and not (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            start, end = self._span(node)
            yield Change("negate", start, end, f"not ({self._text(start, end)})")

    def _compare(self, node: ast.Compare) -> Iterator[Change]:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            written = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}
            signs = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
            for other in COMPARISONS[type(operator)]:
                yield from self._between("compare", left, right, {**written, **signs}[type(operator)], other)

    def _boolop(self, node: ast.BoolOp) -> Iterator[Change]:
        here, there = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            # Both sides in brackets: `and` binds tighter than `or`.
            for change in self._between("logic", left, right, here, there):
                start, end = self._span(node)
                one, two = self._text(start, change.start), self._text(change.end, end)
                yield Change("logic", start, end, f"(({one.rstrip()}) {there} ({two.lstrip()}))")
        for kept in node.values if len(node.values) == 2 else ():
            yield self._instead("drop", node, f"({self._text(*self._span(kept))})")

    def _unaryop(self, node: ast.UnaryOp) -> Iterator[Change]:
        if isinstance(node.op, ast.Not):
            yield self._instead("negate", node, f"({self._text(*self._span(node.operand))})")

    def _binop(self, node: ast.BinOp) -> Iterator[Change]:
        if type(node.op) in ARITHMETIC:
            here, there = ARITHMETIC[type(node.op)]
            for change in self._between("arithmetic", node.left, node.right, here, there):
                start, end = self._span(node)
                yield Change("arithmetic", start, end, f"({self._text(start, change.start)}{there}{self._text(change.end, end)})")

    def _augassign(self, node: ast.AugAssign) -> Iterator[Change]:
        if type(node.op) in ARITHMETIC:
            here, there = ARITHMETIC[type(node.op)]
            yield from self._between("arithmetic", node.target, node.value, f"{here}=", f"{there}=")
        yield self._instead("remove", node, "pass")

    def _constant(self, node: ast.Constant) -> Iterator[Change]:
        value = node.value
        if isinstance(value, bool):
            yield self._instead("constant", node, str(not value))
        elif isinstance(value, int | float):
            yield self._instead("constant", node, f"({self._text(*self._span(node))} + 1)")
            if value > 1:
                yield self._instead("constant", node, f"({self._text(*self._span(node))} - 1)")
        elif isinstance(value, str | bytes) and (b" " if isinstance(value, bytes) else " ") not in value:  # type: ignore[operator]
            yield self._instead("constant", node, f'{"b" if isinstance(value, bytes) else ""}"XX" {self._text(*self._span(node))}')

    def _joinedstr(self, node: ast.JoinedStr) -> Iterator[Change]:
        if not any(isinstance(part, ast.Constant) and " " in str(part.value) for part in node.values):
            yield self._instead("constant", node, f'"XX" {self._text(*self._span(node))}')

    def _call(self, node: ast.Call) -> Iterator[Change]:
        if isinstance(node.func, ast.Name) and node.func.id in OPPOSITES:
            yield self._instead("call", node.func, OPPOSITES[node.func.id])

    def _return(self, node: ast.Return) -> Iterator[Change]:
        if node.value is None:
            yield self._instead("remove", node, "pass")
        elif not (isinstance(node.value, ast.Constant) and node.value.value in (None, False)):
            # What is false is as None to most callers, and becomes True elsewhere (`_constant`).
            yield self._instead("return", node, "return None")

    def _removed(self, node: ast.stmt) -> Iterator[Change]:
        yield self._instead("remove", node, "pass")

    _raise = _continue = _break = _delete = _removed

    def _expr(self, node: ast.Expr) -> Iterator[Change]:
        if not isinstance(node.value, ast.Constant):
            yield self._instead("remove", node, "pass")

    def _assign(self, node: ast.Assign) -> Iterator[Change]:
        # Without its only assignment a plain name ends in an error, which says nothing of the tests.
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            yield self._instead("remove", node, "pass")


# The tests, on one of them.


class Outcome(NamedTuple):
    """What became of a run of the tests: the test that failed, if any, and what was printed."""

    killer: str
    output: str


class Session:
    """A pytest session that collects the tests once, and runs them in forks of itself: as they are first, then on each mutant.

    In a fork, the code of the functions that a mutant changes is exchanged. What counts when the tests are imported (a table, a default, a
    function that is called then) cannot be changed so. That needs a session of its own: `start` again, with the changed file on the disk.
    """

    def __init__(self, copy: Path, tests: Sequence[str], longest: float) -> None:
        self.copy = copy
        self.tests = [*tests]
        self.longest = longest
        self.seconds: dict[str, float] = {}
        self.reached: dict[int, set[str]] = {}
        self.imported: set[int] = set()
        """The code that importing the tests has run: what it did there, an exchange comes too late for."""
        self.killers: dict[str, list[str]] = {}
        self.libraries: list[str] = []
        self.limit = 3600.0
        self.items: list[Any] = []
        self.functions: dict[tuple[str, str, int], list[Any]] = {}
        self.sources: dict[str, str] = {}

    def start(self, work: Callable[[Session], None]) -> int:
        """Collect the tests in this process, then do some work in place of running them."""
        os.chdir(self.copy)
        os.environ["PYTHONPATH"] = f"{self.copy}{os.pathsep}{self.copy / 'controller'}"
        sys.path[:0] = [str(self.copy), str(self.copy / "controller")]
        import pytest

        def called(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(f"{self.copy}{os.sep}"):
                self.imported.add(id(frame.f_code))

        if not self.seconds:
            sys.setprofile(called)
        arguments = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not cluster and not network", "-W", IMPORTED_BEFORE, *self.tests]
        return int(pytest.main(arguments, plugins=[_Plugin(self, work)]))

    def find_functions(self) -> None:
        """Find each function of the copy that is there, by where it is written."""
        sys.setprofile(None)
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and (file := function.__code__.co_filename).startswith(f"{self.copy}{os.sep}"):
                place = os.path.relpath(file, self.copy), function.__code__.co_qualname, function.__code__.co_firstlineno
                self.functions.setdefault(place, []).append(function)
        gc.collect()
        gc.freeze()

    def measure(self) -> None:
        """Run the tests on the code as it is: they must pass. It tells how long each takes, and which functions it reaches."""
        began = time.monotonic()
        told = self._forked(self.items, lambda: None, profile=True)
        outcome, results = told
        if outcome.killer:
            raise RuntimeError(f"The tests fail on the code as it is, and so say nothing of mutants:\n{outcome.output}")
        self.limit = 60 + 5 * (time.monotonic() - began)
        self.libraries = sorted(name for name, module in sys.modules.items() if self._is_library(module))
        for result in results:
            self.seconds[result["test"]] = result["seconds"]
            for code in result["reached"]:
                self.reached.setdefault(code, set()).add(result["test"])

    def outcome(self, mutant: Mutant) -> Outcome | None:
        """Return how the tests take a mutant. None: it needs a session of its own."""
        changed = self._changed(mutant)
        if changed is None:
            return None
        reached = set[str]().union(*(self.reached.get(id(function.__code__), ()) for function, _ in changed))
        killers = self.killers.setdefault(mutant.file, [])
        outcome, _ = self._forked(self._in_turn(killers, reached), lambda: _exchange(changed))
        if outcome.killer:
            name = outcome.killer.removesuffix(DID_NOT_END)
            killers[:] = [name, *(other for other in killers if other != name)]
        elif any(id(function.__code__) in self.imported for function, _ in changed):
            return None
        return outcome

    def whole(self) -> Outcome:
        """Return how all tests take the code that this session has imported."""
        return self._forked(self._in_turn([], set(self.seconds)), lambda: None)[0]

    def _in_turn(self, killers: Sequence[str], reached: set[str]) -> list[Any]:
        """The tests that can notice, the likeliest first: what has killed before, then the fast ones."""
        turns = {name: place for place, name in enumerate(killers)}
        items = [item for item in self.items if item.nodeid in reached and self.seconds[item.nodeid] <= self.longest]
        return sorted(items, key=lambda item: (turns.get(item.nodeid, len(turns)), self.seconds[item.nodeid]))

    def _changed(self, mutant: Mutant) -> list[tuple[Any, CodeType]] | None:
        """The functions that a mutant changes, each with its new code. None: it changes something else."""
        file = str(self.copy / mutant.file)
        if mutant.file not in self.sources:
            self.sources[mutant.file] = Path(file).read_text(encoding="utf-8")
        source = self.sources[mutant.file]
        before, after = (_functions(compile(text, file, "exec")) for text in (source, mutated(source, mutant.change)))
        if before.keys() != after.keys() or before[("", 0)] != after[("", 0)]:
            return None
        places = [place for place in before if before[place] != after[place]]
        functions = [(function, after[place]) for place in places for function in self.functions.get((mutant.file, *place), ())]
        return functions if functions or not places else None

    def _forked(self, items: Sequence[Any], change: Callable[[], None], profile: bool = False) -> tuple[Outcome, list[dict[str, Any]]]:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as told, tempfile.TemporaryFile("w+", errors="replace") as output:
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                try:
                    os.setpgid(0, 0)
                    os.dup2(output.fileno(), 1)
                    os.dup2(output.fileno(), 2)
                    # Mutants that never end their loop may eat memory too.
                    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
                    change()
                    self._run(items, told, profile)
                except BaseException:
                    traceback.print_exc(file=output)
                    output.flush()
                finally:
                    os._exit(70)
            late = _wait(child, self.limit)
            told.seek(0)
            output.seek(0)
            results = [json.loads(line) for line in told]
            if not results and not late:
                raise RuntimeError(f"The tests did not start:\n{output.read()}")
            last = results[-1] if results else {"begins": "the first test"}
            killer = last["end"] if "end" in last else f"{last['begins']}{DID_NOT_END}"
            return Outcome(killer, output.read()), [result for result in results if "test" in result]

    def _run(self, items: Sequence[Any], told: Any, profile: bool) -> None:
        reached: set[int] = set()
        ours = {id(function.__code__) for functions in self.functions.values() for function in functions}

        def stop_profiling(*_: object) -> None:
            # Profiling is slow, and whatever runs for so long reaches nearly everything.
            sys.setprofile(None)
            reached.update(ours)

        def tell(**result: Any) -> None:
            told.write(f"{json.dumps(result)}\n")
            told.flush()

        def called(frame: FrameType, event: str, _: Any) -> None:
            if event == "call":
                reached.add(id(frame.f_code))

        signal.signal(signal.SIGVTALRM, stop_profiling)
        for number, item in enumerate(items):
            # Told before the test runs, so that it is known of a process that was ended for taking too long.
            tell(begins=item.nodeid)
            began = time.process_time()
            if not profile:
                signal.setitimer(signal.ITIMER_PROF, 4 + 10 * self.seconds[item.nodeid])
            else:
                signal.setitimer(signal.ITIMER_VIRTUAL, 1)
            reached.clear()
            sys.setprofile(called if profile else None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[number + 1] if number + 1 < len(items) else None)
            sys.setprofile(None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            tell(test=item.nodeid, seconds=time.process_time() - began, reached=sorted(reached & ours))
            if item.session.shouldfail:
                tell(end=item.nodeid)
                break
        else:
            tell(end="")
        sys.stdout.flush()
        os._exit(0)

    def _is_library(self, module: Any) -> bool:
        file: str | None = getattr(module, "__file__", None)
        return file is not None and not Path(file).is_relative_to(self.copy)


class _Plugin:
    """Puts a session's work in the place where pytest runs the tests."""

    def __init__(self, session: Session, work: Callable[[Session], None]) -> None:
        self.session = session
        self.work = work

    def pytest_configure(self) -> None:
        # A smaller example of what kills a mutant is worth nothing here, and takes long to find.
        from hypothesis import Phase, settings

        settings.register_profile(
            "mutants", settings.get_profile(settings.get_current_profile_name()), phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: Any) -> bool:
        self.session.items = session.items
        self.work(self.session)
        return True


def _functions(code: CodeType, within: tuple[str, int] = ("", 0)) -> dict[tuple[str, int], CodeType]:
    """The functions of a module and of its classes, by name and line, with those in them as parts; and itself, without its functions."""
    found: dict[tuple[str, int], CodeType] = {}
    rest: list[Any] = []
    for constant in code.co_consts:
        # A class or module has no local variables of its own: its flags say so.
        if isinstance(constant, CodeType) and constant.co_flags & inspect.CO_OPTIMIZED:
            found[constant.co_qualname, constant.co_firstlineno] = constant
            rest.append(f"{constant.co_qualname}:{constant.co_firstlineno}")
        elif isinstance(constant, CodeType):
            inner = _functions(constant, (constant.co_qualname, constant.co_firstlineno))
            rest.append(inner.pop((constant.co_qualname, constant.co_firstlineno)))
            found |= inner
        else:
            rest.append(constant)
    # Where a function ends is written in what makes it too, and is no change of that.
    return {**found, within: code.replace(co_consts=tuple(rest), co_linetable=b"")}


def _exchange(changed: Sequence[tuple[Any, CodeType]]) -> None:
    for function, code in changed:
        function.__code__ = code


def _wait(child: int, limit: float) -> bool:
    """Wait for a child to end, at most so many seconds; whether it took longer."""
    end, late = time.monotonic() + limit, False
    try:
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if late := time.monotonic() > end:
                break
            time.sleep(0.002)
    finally:
        # What the tests started goes with them, whatever ended them.
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return late


class Runner:
    """Tries mutants in a copy of the repository, and tells of each as soon as it is known."""

    def __init__(self, copy: Path, tests: Sequence[str], longest: float) -> None:
        self.session = Session(copy, tests, longest)

    def verdicts(self, chosen: Sequence[Mutant]) -> Iterator[tuple[Mutant, Outcome, float]]:
        """Yield how the tests take each mutant, and the seconds that it took: first those that one session can try."""
        alone = []
        for mutant, outcome, seconds in self._in_one(chosen):
            if outcome is None:
                alone.append(mutant)
            else:
                yield mutant, outcome, seconds
        for mutant in alone:
            yield mutant, *self._alone(mutant)

    def _in_one(self, chosen: Sequence[Mutant]) -> Iterator[tuple[Mutant, Outcome | None, float]]:
        for line in _in_fork(lambda told: _quietly(self.session, lambda session: _try_all(session, chosen, told))):
            if "known" in line:
                self.session.seconds, self.session.limit = line["known"], line["limit"]
                # What is imported here need not be imported again for each mutant that needs a session of its own.
                for name in line["libraries"]:
                    with contextlib.suppress(Exception):
                        __import__(name)
            else:
                mutant = chosen[line["mutant"]]
                yield mutant, None if line["killer"] is None else Outcome(line["killer"], line["output"]), line["seconds"]

    def _alone(self, mutant: Mutant) -> tuple[Outcome, float]:
        path, began = self.session.copy / mutant.file, time.monotonic()
        source = path.read_text(encoding="utf-8")
        try:
            path.write_text(mutated(source, mutant.change), encoding="utf-8")
            # Of a file with the same size and second, the old bytecode would be taken.
            for stale in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
                stale.unlink()
            told = list(_in_fork(lambda told: _quietly(self.session, lambda session: told(**session.whole()._asdict()))))
        finally:
            path.write_text(source, encoding="utf-8")
        outcome = Outcome(told[0]["killer"], told[0]["output"]) if told else Outcome("what imports it", "")
        return outcome, time.monotonic() - began


def _quietly(session: Session, work: Callable[[Session], None]) -> None:
    """Start a session whose own words are only shown when it fails."""
    sys.dont_write_bytecode = bool(session.seconds)
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        shown = os.dup(2)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        code = session.start(work)
        sys.stdout.flush()
        if code not in (0, NO_TESTS) and not session.seconds:
            output.seek(0)
            os.write(shown, output.read().encode())


def _try_all(session: Session, chosen: Sequence[Mutant], told: Callable[..., None]) -> None:
    session.find_functions()
    session.measure()
    told(known=session.seconds, limit=session.limit, libraries=session.libraries)
    for number, mutant in enumerate(chosen):
        began = time.monotonic()
        outcome = session.outcome(mutant) or Outcome(cast("str", None), "")
        told(mutant=number, seconds=time.monotonic() - began, **outcome._asdict())


def _in_fork(work: Callable[[Callable[..., None]], object]) -> Iterator[dict[str, Any]]:
    """Do some work in a fork of this process, and yield what it tells."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(reading)
            with os.fdopen(writing, "w", encoding="utf-8") as stream:

                def tell(**line: Any) -> None:
                    stream.write(f"{json.dumps(line)}\n")
                    stream.flush()

                work(tell)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(70)
    os.close(writing)
    try:
        with os.fdopen(reading, encoding="utf-8") as stream:
            yield from map(json.loads, stream)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGTERM)
        os.waitpid(child, 0)


# What is asked for.


def copied(into: Path) -> Path:
    """Copy the files of the repository as they are now, changes that are not committed too."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


def of_paths(paths: Sequence[str]) -> list[Mutant]:
    """Return each mutant of these files and folders."""
    found = []
    for path in paths:
        whole = (ROOT / path).resolve()
        files = sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]
        for file in files:
            found += mutants(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
    return found


def sampled(every: Sequence[Mutant], count: int, random: Random) -> list[Mutant]:
    """Return some of the mutants. Kinds take turns: half of all are constants, and most of those die at once."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in every:
        kinds.setdefault(mutant.change.kind.rstrip("0123456789"), []).append(mutant)
    turns = itertools.zip_longest(*(random.sample(kinds[kind], len(kinds[kind])) for kind in sorted(kinds)))
    return sorted(itertools.islice((mutant for turn in turns for mutant in turn if mutant is not None), count))


class Equivalent(NamedTuple):
    """A change that no test can notice, and why. It is known by its lines, so that it may move."""

    file: str
    was: str
    becomes: str
    why: str


def equivalents() -> list[Equivalent]:
    """Return the mutants that are known to do what the code does."""
    listed = tomllib.loads((ROOT / EQUIVALENT).read_text(encoding="utf-8"))
    return [Equivalent(**entry) for entry in listed["mutant"]]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=PRODUCT, metavar="PATH", help=f"what to mutate (default: {' '.join(PRODUCT)})")
    parser.add_argument("--count", type=int, default=110, help="how many mutants (default: 110)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default: 0)")
    parser.add_argument(
        "--tests", nargs="+", default=TESTS, metavar="PATH", help=f"the tests that should notice (default: {' '.join(TESTS)})"
    )
    parser.add_argument("--only", metavar="NAME", help="this mutant alone, as FILE:LINE:COLUMN:KIND; shows what the tests print")
    parser.add_argument("--longest", type=float, default=float("inf"), metavar="SECONDS", help="leave out tests that take longer")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="fail when fewer are killed")
    parser.add_argument("--list", action="store_true", help="name the mutants, and run nothing")
    return parser


def main() -> int:
    arguments = _parser().parse_args()
    signal.signal(signal.SIGTERM, _end)
    known = {(entry.file, entry.was, entry.becomes) for entry in equivalents()}
    if arguments.only:
        chosen = [mutant for mutant in of_paths([arguments.only.split(":")[0]]) if mutant.name == arguments.only]
        if not chosen:
            sys.exit(f"There is no mutant {arguments.only}; --list names those of a path")
    else:
        every = [mutant for mutant in of_paths(arguments.paths) if (mutant.file, mutant.was, mutant.becomes) not in known]
        chosen = sampled(every, arguments.count, Random(arguments.seed))
    if arguments.list:
        print("\n".join(mutant.name for mutant in chosen))
        return 0
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        runner = Runner(copied(Path(folder).resolve()), arguments.tests, arguments.longest)
        for mutant, outcome, seconds in runner.verdicts(chosen):
            verdicts.append(Verdict(mutant, outcome.killer))
            print(f"{mutant.name}  {f'killed by {outcome.killer}' if outcome.killer else 'SURVIVED'}  {seconds:.1f} s", flush=True)
            if arguments.only:
                print(_difference(mutant), outcome.output, sep="\n")
    if not arguments.only:
        print(*_table(verdicts), sep="\n")
    killed = sum(bool(verdict.killer) for verdict in verdicts)
    return 0 if 100 * killed >= arguments.at_least * len(verdicts) else 1


def _end(*_: object) -> None:
    """End as told to, with the forks and without the copy."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def _difference(mutant: Mutant) -> str:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    before, after = (text.splitlines(keepends=True) for text in (source, mutated(source, mutant.change)))
    return "".join(difflib.unified_diff(before, after, mutant.file, mutant.name, n=1))


def _table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The survivors with their differences, and the rate of each file."""
    for verdict in verdicts:
        if not verdict.killer:
            yield f"\nSURVIVED {verdict.mutant.name}\n{_difference(verdict.mutant)}"
    yield f"\n{'':50} {'mutants':>8} {'killed':>8} {'survived':>8} {'rate':>6}"
    files = sorted({verdict.mutant.file for verdict in verdicts})
    for name in (*files, "all"):
        those = [verdict for verdict in verdicts if name in (verdict.mutant.file, "all")]
        killed = sum(bool(verdict.killer) for verdict in those)
        yield f"{name:50} {len(those):8} {killed:8} {len(those) - killed:8} {100 * killed / max(len(those), 1):5.1f}%"


if __name__ == "__main__":
    sys.exit(main())
