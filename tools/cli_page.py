"""Write `docs/cli.md`: every command and option of both programs, from the commands themselves.

`--check`: write nothing, exit with 1 if the page is not what it would be.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcompile import cli  # noqa: E402
from fcompile.commands.group import Command  # noqa: E402
from fcompile.commands.parsing import Former  # noqa: E402
from fcontroller import cli as controller_cli  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

PAGE = ROOT / "docs" / "cli.md"
HEAD = """\
<!-- Written by tools/cli_page.py from the commands. -->
# Commands and options

Every command has `--help`, which ends with examples. For all of them:

- Options stand before or after arguments; after `--` everything is an argument.
- A long option can be cut as long as no other begins so: `--kube` for `--kubernetes-version`.
- `--format` is the form in which something is printed, and `--to` the folder that it is written into.
- stdout holds only the result. Whatever is said to people is on stderr.
- Exit codes: 0 fine (warnings too), 1 errors in the input, 2 wrong use or nowhere to write, 3 a bug, 130 interrupted, 141 the reader of
  the output has gone. A command that has others says so.
"""
FORMER = """
Old spellings work as ever in scripts. At a terminal, fcompile then says the new spelling:

"""


def main() -> int:
    """Write or check the page; returns the exit code."""
    return write_or_check(__doc__, PAGE, rendered)


def rendered() -> str:
    """Return the page."""
    every = list(commands())
    former = [
        f"- `{context.command_path} {param.opts[0]}` (`{param.opts[1]}`): {_prose(param.help or '')}\n"
        for context in every
        for param in _of(context, Former)
    ]
    return "".join([HEAD, FORMER, *former, *("\n" + _section(context) for context in every)])


def commands() -> Iterator[click.Context]:
    """Yield every command of both programs, each after the group that it is in, in contexts as click makes them."""
    for group in (cli.group(), controller_cli.group()):
        yield from _below(group, None)


def _below(command: click.Command, parent: click.Context | None) -> Iterator[click.Context]:
    context = command.context_class(command, parent, command.name)
    yield context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _below(found, context)


def _of(context: click.Context, kind: type[click.Parameter]) -> list[click.Parameter]:
    return [param for param in context.command.get_params(context) if isinstance(param, kind)]


def _section(context: click.Context) -> str:
    command = context.command
    assert isinstance(command, Command)
    depth = "#" * (2 + context.command_path.count(" "))
    usages = command.usages or [" ".join(command.collect_usage_pieces(context))]
    lines = [f"{depth} {context.command_path}", "", _prose(inspect.cleandoc(command.help or "")), ""]
    lines += ["```", *(f"{context.command_path} {usage}" for usage in usages), "```", ""]
    for param in _of(context, click.Argument):
        lines.append(f"- `{param.make_metavar(context)}`: {_prose(param.help or '')}")
    for option in _of(context, click.Option):
        record = option.get_help_record(context)
        if record is not None and option.name in {param.name for param in command.params}:  # All have --help.
            lines.append(f"- `{record[0]}`: {_prose(record[1])}")
    lines += ["", "```sh"]
    for example, about in command.examples.items():
        lines += [f"# {about}", example]
    lines += ["```", "", f"More: [{command.page}]({command.page})."]
    return "\n".join(lines) + "\n"


def _prose(text: str) -> str:
    """Return a text with one line for each paragraph, in which names that Markdown would take for something else are code."""
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"(?<![\w-])(--[a-z-]+\w|\*\.\w+|\w+_\{\w+\}\w*)", r"`\1`", part) for part in parts
    )


if __name__ == "__main__":
    sys.exit(main())
