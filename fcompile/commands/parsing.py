"""How both programs read a command line, beyond what click does: the beginnings of names, and options as they were spelt once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import click
from click.core import ParameterSource
from click.parser import _OptionParser, _ParsingState

from fcompile.program import say

WAITING: Final = "fcompile.waiting"
"""The key in a context for completion that holds the option whose value comes next."""
_TYPED: Final = "fcompile.typed"
"""The key in a context that holds the name of a former option that was typed, if it is not the first of its names."""


class Former(click.Option):
    """How an option was spelt once. It works as ever, is in no help, and at a terminal says how to write it now."""

    def __init__(self, *names: Any, now: Callable[[str], Mapping[str, str]], **settings: Any) -> None:
        super().__init__(*names, **{**settings, "hidden": True})
        self._now = now
        """Returns what a value is now: values by parameter."""

    def carry_over(self, context: click.Context) -> None:
        """Give the value to the options that are there for it now."""
        value = context.params.pop(self.name or "", None)
        if value is None or context.resilient_parsing:
            return
        given = self._now(value)
        now = {param.opts[-1]: param.name for param in context.command.params if param.name in given and isinstance(param, click.Option)}
        for option, name in now.items():
            if context.get_parameter_source(name or "") is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"Option {option!r} is there twice: {self.opts[0]!r} is its old spelling.", context)
        context.params.update(given)
        if sys.stderr.isatty():
            written = " ".join(f"{option} {given[name or '']}" for option, name in now.items())
            say(f"{context.meta.get(_TYPED, self.opts[0])} {value} is written {written} now")


class Parser(_OptionParser):
    """Takes a long option by the beginning of its name too, if no other option begins so."""

    def parse_args(self, args: list[str]) -> tuple[dict[str, Any], list[str], list[Any]]:
        if self.ctx is None or not self.ctx.resilient_parsing:
            return super().parse_args(args)
        # For completion: what is typed so far has its meaning whatever is wrong or missing in it.
        state, whole = _ParsingState(args), False
        while not whole:
            with suppress(click.UsageError):
                self._process_args_for_options(state)
                whole = True
        with suppress(click.UsageError):
            self._process_args_for_args(state)
        return state.opts, state.largs, state.order

    def option(self, written: str) -> click.Option | None:
        """Return the option of a name or of the beginning of one."""
        found = self._short_opt.get(written) or self._long_opt.get(self.whole(written))
        return None if found is None else found.obj

    def _process_opts(self, arg: str, state: Any) -> None:
        option = self._short_opt.get(arg[:2])
        if option is not None and option.takes_value and arg[2:3] == "=":  # `-o=json`, which click would take for the value `=json`
            state.rargs.insert(0, arg[3:])
            arg = arg[:2]
        super()._process_opts(arg, state)

    def _match_long_opt(self, opt: str, explicit_value: str | None, state: Any) -> None:
        name = self.whole(opt)
        found = self._long_opt.get(name)
        if self.ctx is not None and found is not None and isinstance(found.obj, Former):
            self.ctx.meta[_TYPED] = name
        super()._match_long_opt(name, explicit_value, state)

    def _get_value_from_state(self, option_name: str, option: Any, state: Any) -> Any:
        if self.ctx is not None and len(state.rargs) < option.nargs:
            self.ctx.meta[WAITING] = option.obj
        return super()._get_value_from_state(option_name, option, state)

    def whole(self, written: str) -> str:
        """Return the name that begins so. Raises NoSuchOption if several do."""
        if written in self._long_opt or not written.startswith("--") or written == "--":
            return written
        found = {id(option): name for name, option in self._long_opt.items() if name.startswith(written)}
        if len(found) > 1:
            raise click.NoSuchOption(written, f"Option {written!r} can be {' or '.join(found.values())}.", ctx=self.ctx)
        return next(iter(found.values()), written)


def former(*names: str, now: Callable[[str], Mapping[str, str]], help: str, **settings: Any) -> Callable[[Any], Any]:
    """Add the old spelling of options to a command.

    :param now: returns what its value is for these, by their names in Python. :param help: says how it is written now.
    """
    return click.option(*names, cls=Former, now=now, help=help, **settings)
