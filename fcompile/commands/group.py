"""Groups and commands of click as both programs have them: loaded when they are called, and helped in one form."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from fcompile.commands.parsing import Former, Parser
from fcompile.diagnostics.visible import visible
from fcompile.errors import EXIT_USAGE, UsageError
from fcompile.program import DOCUMENTATION, as_called

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

WIDTH: Final = 100
"""Columns of a help text, if the terminal has as many."""
UNKNOWN: Final = "fcompile.unknown"
"""The key in a context for completion that tells that the line names an unknown command."""


class _Context(click.Context):
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
        """The forms of its usage, if it has more than one."""
        self._help = _eager_flag("-h", "--help", show=lambda context: click.echo(context.get_help()), help="print this help")

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return `--help`. For click's own, gettext would look for a translation first, and import `locale`."""
        return self._help

    def make_parser(self, ctx: click.Context) -> Parser:
        """Return a parser with all parameters."""
        parser = Parser(ctx)
        for param in self.get_params(ctx):
            param.add_to_parser(parser, ctx)
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and give the values of former options to those that are there for them now."""
        given = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            if isinstance(error, click.NoSuchOption):
                if advice := self._advice(error.option_name, given):
                    raise click.UsageError(f"No such option {error.option_name!r}: {advice}", error.ctx) from None
                from difflib import get_close_matches

                # What is spelt otherwise now is not what anybody should write; what is only a little alike is not what anybody meant.
                former = {name for param in self.params if isinstance(param, Former) for name in param.opts}
                near = [name for name in get_close_matches(error.option_name, error.possibilities or (), cutoff=0.75) if name not in former]
                raise click.NoSuchOption(error.option_name, error.message, near, error.ctx) from None
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
            if "--to" in options and value in ("yaml", "yml"):
                return "YAML is what it prints: leave it out, or write `--to FOLDER` for a file for each file"
            return f"`--to {value or 'FOLDER'}`" if "--to" in options else ""
        if option in ("-f", "--filename", "--file") and any(isinstance(param, Argument) and param.name == "paths" for param in self.params):
            return f"files are named without it: `fcompile {self.name} {value or 'PATH'}`"
        from fcompile.commands.other_tools import OPTIONS

        advice = OPTIONS.get(option)
        return advice.says if advice and any(advice.needs in (param.name, *param.opts) for param in self.params) else ""

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

    def _advice(self, option: str, given: list[str]) -> str:
        name = next((word for word in given if word in self.lazy), "")
        command = self.get_command(click.Context(self), name)
        if command and any(option in param.opts for param in command.params):
            return f"write it after `{name}`"
        return super()._advice(option, given)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named; the error of a name that there is not has the nearest that there is."""
        if args[0] in self.lazy:
            return super().resolve_command(ctx, args)
        if ctx.resilient_parsing:
            ctx.meta[UNKNOWN] = True
            return None, None, []
        if args[0] == "version":
            raise click.UsageError(f"No such command 'version': write `{ctx.command_path} --version`", ctx)
        if args[0] == "help":
            raise click.UsageError(f"No such command 'help': write `{' '.join([ctx.command_path, *args[1:2], '--help'])}`", ctx)
        from difflib import get_close_matches

        from fcompile.commands.other_tools import COMMANDS

        if advice := COMMANDS.get((self.name or "").rpartition(" ")[2], {}).get(args[0]):
            raise click.UsageError(f"No such command {args[0]!r}: {advice}", ctx)
        reading = next((name for name in ("validate", "demo") if name in self.lazy), "")
        if reading and os.path.exists(args[0]):
            kind = "folder" if os.path.isdir(args[0]) else "file"
            raise click.UsageError(f"No such command {args[0]!r}, but a {kind}: write `{ctx.command_path} {reading} {args[0]}`", ctx)
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


def completed(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return what completes values of a kind. `completion.engine`, which knows the kinds, puts what offers them into the context."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        offered: list[CompletionItem] = context.obj(kind, context, incomplete)
        return offered

    return complete


def version_option(text: Callable[[], str]) -> click.Option:
    """Return `--version` of a program. By itself it is answered before click is imported."""
    return _eager_flag("--version", show=lambda _: click.echo(text()), help="print the version")


def _eager_flag(*names: str, show: Callable[[click.Context], None], help: str) -> click.Option:
    """Return an option that shows something instead of running the command."""

    def callback(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            show(context)
            context.exit()

    return click.Option(names, is_flag=True, expose_value=False, is_eager=True, callback=callback, help=help)


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
        about = getattr(error.param, "help", None) if isinstance(error, click.MissingParameter) else None
        if about and message.endswith("'."):  # What is missing, and no list of choices after it
            message = f"{message.removesuffix('.')}: {about}"
        raise UsageError(f"{message}\n`{path} --help` says more.") from None
