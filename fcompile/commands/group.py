"""Groups and commands of click as both programs have them: loaded when they are called, helped in one form, old spellings kept."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource
from click.parser import _OptionParser, _ParsingState

from fcompile.diagnostics.visible import visible
from fcompile.errors import EXIT_USAGE, UsageError
from fcompile.program import DOCUMENTATION, as_called, say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

WIDTH: Final = 100
"""Columns of a help text, if the terminal has as many."""
WAITING: Final = "fcompile.waiting"
"""In a context that is for completion alone: the option whose value comes next."""
UNKNOWN: Final = "fcompile.unknown"
"""There: a command is named that there is not."""
_TYPED: Final = "fcompile.typed"
"""In a context: which name of a former option was typed, if it is not the first."""


class _Parser(_OptionParser):
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


class _Context(click.Context):
    def __init__(self, *names: Any, **settings: Any) -> None:
        super().__init__(*names, **{"help_option_names": ["-h", "--help"], **settings})

    def make_formatter(self) -> click.HelpFormatter:
        try:
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
        except (OSError, ValueError, AttributeError):
            columns = WIDTH
        return _Formatter(width=max(min(columns, WIDTH), 40))


class _Formatter(click.HelpFormatter):
    """Breaks no line within a word, as click does after a hyphen: many words here are options and names."""

    def write_text(self, text: str) -> None:
        from textwrap import fill

        paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
        self.write("\n\n".join(fill(paragraph, self.width, break_on_hyphens=False) for paragraph in paragraphs) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        from textwrap import wrap

        rows = list(rows)
        column = min(max(len(name) for name, _ in rows), col_max) + self.current_indent + col_spacing
        for name, about in rows:
            name = f"{'':{self.current_indent}}{name}"
            first, *others = wrap(about, self.width - column, break_on_hyphens=False) or [""]
            begin = f"{name:{column}}" if len(name) + col_spacing <= column else f"{name}\n{'':{column}}"
            self.write("\n".join([begin + first, *(f"{'':{column}}{line}" for line in others)]) + "\n")


class Argument(click.Argument):
    """An argument that has a line in the help."""

    def __init__(self, *names: Any, help: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.help = help


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


class Command(click.Command):
    """A command whose help ends with examples and the page of the documentation."""

    context_class = _Context

    def __init__(self, *names: Any, page: str, examples: Mapping[str, str], usages: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.page = page
        """A file in the folder of the documentation, perhaps with the anchor of a part."""
        self.examples = examples
        """Commands, each with what it is for."""
        self.usages = usages
        """Several forms, if one does not say it."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return `--help`, in our words."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "print this help"
        return option

    def make_parser(self, ctx: click.Context) -> _Parser:
        """Return a parser with all parameters."""
        parser = _Parser(ctx)
        for param in self.get_params(ctx):
            param.add_to_parser(parser, ctx)
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and carry over what is spelt as it was once."""
        given = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            if isinstance(error, click.NoSuchOption) and (advice := self._advice(error.option_name, given)):
                raise click.UsageError(f"No such option {error.option_name!r}: {advice}", error.ctx) from None
            raise
        for param in self.params:
            if isinstance(param, Former):
                param.carry_over(ctx)
        return rest

    def _advice(self, option: str, given: list[str]) -> str:
        """Return how an option that other tools have is written here; empty for any other."""
        word = next((word for word in given if word.split("=")[0] == option or (len(option) == 2 and word.startswith(option))), option)
        value = word[len(option) :].removeprefix("=") or next(iter(given[given.index(word) + 1 :] if word in given else ()), "")
        options = {param.opts[-1]: param for param in self.params if isinstance(param, click.Option)}
        if option in ("-o", "--output"):
            formats = getattr(getattr(options.get("--format"), "type", None), "choices", ())
            if value in formats or (formats and "--to" not in options):
                return f"`--format {value if value in formats else '|'.join(formats)}`"
            return f"`--to {value or 'FOLDER'}`" if "--to" in options else ""
        if option in ("-f", "--filename", "--file") and any(isinstance(param, Argument) and param.name == "paths" for param in self.params):
            return f"files are named without it: `fcompile {self.name} {value or 'PATH'}`"
        return ""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the form of the command, or each of its forms."""
        if not self.usages:
            return super().format_usage(ctx, formatter)
        for number, usage in enumerate(self.usages):
            formatter.write_usage(ctx.command_path, usage, None if number == 0 else "       ")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help: usage, what it does, arguments, options, commands, examples, the page."""
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(as_called(inspect.cleandoc(self.help or "")))
        arguments = [(param.make_metavar(ctx), param.help or "") for param in self.params if isinstance(param, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        self.format_options(ctx, formatter)
        with formatter.section("Examples"):
            for example, about in self.examples.items():
                formatter.write(f"  # {about}\n  {as_called(example)}\n")
        formatter.write(f"\nDocumentation: {DOCUMENTATION}{self.page}\n")


class Group(Command, click.Group):
    """A group whose commands are known by name, and imported when they are called."""

    def __init__(self, *names: Any, lazy: Mapping[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(*names, subcommand_metavar="COMMAND ...", **settings)
        self.lazy = lazy
        """By name: the module, in which the command has the same name, and what it does."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of their importance."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in self.lazy:
            return None
        found: click.Command = getattr(importlib.import_module(self.lazy[cmd_name][0]), cmd_name)
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; the error of a name that there is not has the nearest that there is."""
        if args[0] in self.lazy:
            return super().resolve_command(ctx, args)
        if ctx.resilient_parsing:
            ctx.meta[UNKNOWN] = True
            return None, None, []
        if args[0] == "version":
            raise click.UsageError(f"No such command 'version': `{ctx.command_path} --version`", ctx)
        if args[0] == "help":
            raise click.UsageError(f"No such command 'help': `{' '.join([ctx.command_path, *args[1:2], '--help'])}`", ctx)
        from difflib import get_close_matches

        near = get_close_matches(args[0], self.lazy, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(self.lazy)}."
        raise click.UsageError(f"No such command {args[0]!r}. {hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.lazy.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands without importing them, or the options."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name, help=about) for name, (_, about) in self.lazy.items() if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


def command(*, page: str, examples: Mapping[str, str], usages: Sequence[str] = ()) -> Callable[[Callable[..., int]], Command]:
    """Make a command of a function that returns the exit code; its docstring is the help."""
    return click.command(cls=Command, page=page, examples=examples, usages=usages)


def argument(name: str, *, help: str, **settings: Any) -> Callable[[Any], Any]:
    """Add an argument, which may be optional, to a command."""
    return click.argument(name, cls=Argument, help=help, **settings)


def former(*names: str, now: Callable[[str], Mapping[str, str]], help: str, **settings: Any) -> Callable[[Any], Any]:
    """Add the old spelling of options to a command.

    :param now: returns what its value is for these, by their names in Python. :param help: says how it is written now.
    """
    return click.option(*names, cls=Former, now=now, help=help, **settings)


def version_option(text: Callable[[], str]) -> click.Option:
    """Return `--version` of a program. By itself it is answered before click is imported."""

    def say_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            print(text())
            context.exit()

    return click.Option(["--version"], is_flag=True, expose_value=False, is_eager=True, callback=say_version, help="print the version")


def run(group: Group, name: str, arguments: Sequence[str]) -> int:
    """Run the command that the arguments name; returns the exit code. Raises UsageError for what the command line cannot mean."""
    try:
        with group.make_context(name, list(arguments)) as context:
            code: int = group.invoke(context)
            return code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return EXIT_USAGE
    except click.UsageError as error:
        path = name if error.ctx is None else error.ctx.command_path
        # A list of choices has lines of its own.
        message = visible(error.format_message().replace("\n\t", " "))
        raise UsageError(f"{message}\n`{path} --help` says more.") from None
