"""Runs a program over a text, in time that grows with the length of the text and nothing else.

All threads of a program advance by a character at a time. Which threads there are is a state; where a character leads from a state is
worked out once and kept, so that the usual cost of a character is one look into a dict.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fcontroller.decide.re2.program import Check, Match, Program, Split, Take

END: Final = ""
"""Stands for the character after the last."""
_MOST_KEPT: Final = 100_000
"""Threads in all states and steps that are kept, before they are all forgotten."""

_EDGE, _LINE_END, _WORD_CHARACTER, _OTHER = range(4)
"""What a character is to the assertions; the edge of the text is one, too."""
_WORD: Final = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")

_Key = tuple[tuple[int, ...], int, bool, bool]


class _State(dict[str, "_State"]):
    """The threads at a position, by the instruction where each goes on; as a dict, the state that each character leads to."""

    __slots__ = ("automaton", "before", "ended", "notable", "searching", "threads")

    def __init__(self, automaton: Automaton, threads: tuple[int, ...], before: int, searching: bool, ended: bool) -> None:
        super().__init__()
        self.automaton = automaton
        self.threads = threads
        self.before = before
        """What the character before is."""
        self.searching = searching
        """Whether a match may still begin."""
        self.ended = ended
        """Whether a match ended before the last character."""
        self.notable = ended or not (threads or searching)

    def __missing__(self, character: str) -> _State:
        self[character] = state = self.automaton.step(self, character)
        return state


class Automaton:
    """`search`: a match may begin anywhere, and the leftmost that is preferred counts; otherwise it begins here, and the longest counts."""

    def __init__(self, program: Program, *, search: bool) -> None:
        self._program = program
        self._checks = program.checks
        self._search = search
        self._forget()

    def _forget(self) -> None:
        self._states: dict[_Key, _State] = {}
        self._kept = 0

    def end(self, characters: Iterable[str], before: str = END) -> int | None:
        """After how many characters the match ends, when they come after `before`; None: there is no match."""
        end, count = None, 0
        state = self._state((() if self._search else (self._program.start,), self._kind(before), self._search, False))
        for character in characters:
            state = state[character]
            if state.notable:
                if state.ended:
                    end = count
                if not (state.threads or state.searching):
                    return end
            count += 1
        return count if state[END].ended else end

    def step(self, state: _State, character: str) -> _State:
        """Where the character leads from the state."""
        instructions = self._program.instructions
        searching, ended = state.searching, False
        threads: dict[int, None] = {}
        for number in self._reached(state, character):
            instruction = instructions[number]
            if isinstance(instruction, Match):
                ended, searching = True, False
                if self._search:
                    break
            elif isinstance(instruction, Take) and character and instruction.set.has(character):
                threads[instruction.next] = None
        self._kept += 1 + len(threads)
        if self._kept > _MOST_KEPT:
            self._forget()
        return self._state((tuple(threads), self._kind(character), searching, ended))

    def _reached(self, state: _State, character: str) -> Iterable[int]:
        """The instructions at which threads take the character, or have matched, in the order of preference."""
        waiting = [self._program.start] if state.searching else []
        waiting += reversed(state.threads)
        seen: set[int] = set()
        reached: list[int] = []
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            instruction = self._program.instructions[number]
            if isinstance(instruction, Split):
                waiting += (instruction.second, instruction.first)
            elif not isinstance(instruction, Check):
                reached.append(number)
            elif _holds(instruction.kind, state.before, character):
                waiting.append(instruction.next)
        return reached

    def _kind(self, character: str) -> int:
        if not self._checks or not character:
            return _EDGE
        return _WORD_CHARACTER if character in _WORD else _LINE_END if character == "\n" else _OTHER

    def _state(self, key: _Key) -> _State:
        state = self._states.get(key)
        if state is None:
            self._states[key] = state = _State(self, *key)
        return state


def _holds(kind: str, before: int, character: str) -> bool:
    if kind == "text start":
        return before == _EDGE
    if kind == "text end":
        return character == END
    if kind == "line start":
        return before in (_EDGE, _LINE_END)
    if kind == "line end":
        return character in (END, "\n")
    return ((before == _WORD_CHARACTER) != (character in _WORD)) == (kind == "word boundary")
