"""A command line on which something is to be completed, as far as it is typed: which argument each word belongs to."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

Candidate = tuple[str, str]
"""A word, and what it means; empty: it is clear."""

_REPEATABLE = (argparse._AppendAction, argparse._CountAction, argparse._ExtendAction)
_MANY = (argparse.ZERO_OR_MORE, argparse.ONE_OR_MORE, argparse.REMAINDER)


class Line:
    """Words that are typed completely, taken one after the other as argparse would."""

    def __init__(self, parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
        self.given: list[tuple[argparse.Action, str]] = []
        """Every argument that has a value already, with it."""
        self.waiting: argparse.Action | None = None
        """The option whose value comes next."""
        self.only_arguments = False
        """`--` was there: what follows is no option, whatever it begins with."""
        self._enter(parser)
        for word in words:
            self._take(word)

    def argument(self) -> argparse.Action | None:
        """Which argument the next word is, when it is no option."""
        return self._arguments[0] if self._arguments else None

    def options(self) -> list[argparse.Action]:
        """The options that may come next: those that are there already may not, unless they can be given again."""
        shown = [action for action in self._parser._actions if action.option_strings and action.help != argparse.SUPPRESS]
        return [action for action in shown if action not in self._used or isinstance(action, _REPEATABLE)]

    def default(self, metavar: str) -> list[str]:
        """What the command takes when an argument is not given."""
        found = [action.default for action in self._parser._actions if action.metavar == metavar and not action.option_strings]
        return [word for default in found for word in default or []]

    def option(self, word: str) -> tuple[argparse.Action | None, str, str | None]:
        """The option of `--name`, `--name=value` or `-nvalue`, what of the word comes before the value, and the value."""
        known = self._parser._option_string_actions
        name, equals, value = word.partition("=")
        if word in known or (not equals and word.startswith("--")):
            return known.get(word) or self._abbreviated(word), word, None
        if word.startswith("--"):
            return known.get(name) or self._abbreviated(name), name + equals, value
        return known.get(word[:2]), word[:2], word[2:]

    def _abbreviated(self, name: str) -> argparse.Action | None:
        found = {id(action): action for string, action in self._parser._option_string_actions.items() if string.startswith(name)}
        return next(iter(found.values())) if len(found) == 1 else None

    def _enter(self, parser: argparse.ArgumentParser) -> None:
        self._parser = parser
        self._used: list[argparse.Action] = []
        self._arguments = [action for action in parser._actions if not action.option_strings]

    def _take(self, word: str) -> None:
        if self.waiting is not None:
            self.given.append((self.waiting, word))
            self.waiting = None
        elif self.only_arguments or word == "-" or not word.startswith("-"):
            self._take_argument(word)
        elif word == "--":
            self.only_arguments = True
        else:
            self._take_option(word)

    def _take_option(self, word: str) -> None:
        action, _, value = self.option(word)
        if action is None:
            return
        self._used.append(action)
        if action.nargs != 0 and value is None:
            self.waiting = action
        elif action.nargs != 0 and value is not None:
            self.given.append((action, value))

    def _take_argument(self, word: str) -> None:
        action = self.argument()
        if action is None:
            return
        self.given.append((action, word))
        if isinstance(action, argparse._SubParsersAction):
            # After a command that there is not, nothing can be said of what follows.
            self._enter(action.choices.get(word) or argparse.ArgumentParser(add_help=False))
        elif action.nargs not in _MANY:
            del self._arguments[0]
