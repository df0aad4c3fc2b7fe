"""The command line: parse, call, print; and the one place where what goes wrong becomes an exit code."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from fcompile.errors import EXIT_CLOSED_PIPE, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE, SettingError, UsageError
from fcompile.program import as_called, check_streams, forget_unsaid, forget_unwritten, program, safe, say

TYPE_CHECKING = False  # Importing `typing` for it takes longer than all else here, and an interrupt is only understood after that.
if TYPE_CHECKING:
    from fcompile.commands.group import Group

COMMANDS = {
    "validate": "find every problem in Frameworks",
    "build": "print defaulted Frameworks, or exactly what will run",
    "diff": "show what will run differently, and what that does to what runs",
    "convert": "make Frameworks of jobs of Kubeflow, and say what is different",
    "explain": "show where each value of a Pod comes from",
    "crd": "print the CustomResourceDefinition of Framework",
    "schema": "print the JSON Schema of a Framework for editors",
    "rule": "explain a diagnostic",
    "krm": "compile Frameworks as a function of kustomize or kpt",
    "argocd": "what Argo CD asks of a plugin, and its settings for Frameworks",
    "completion": "print a script for completion in bash, zsh or fish",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (default: the process's own) asks for; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # What is imported and parsed lives long and has next to no cycles: looking for them now and then is enough.
    gc.set_threshold(50_000, 20, 50)
    try:
        check_streams()
        code = _run(arguments)
        sys.stdout.flush()
    except UsageError as error:
        return _end(error.code, str(error))
    except SettingError as error:
        from fcompile.commands.option_values import option_of

        return _end(EXIT_USAGE, error.called(option_of(error.setting)))
    except BrokenPipeError:  # whoever read our output has gone, as `head` does
        forget_unwritten()
        return EXIT_CLOSED_PIPE
    except OSError as error:  # what is read is guarded where it is read: this is a full disk or the like
        forget_unwritten()
        what = error.filename or ("the current folder" if isinstance(error, FileNotFoundError) else "cannot write the output")
        return _end(EXIT_USAGE, f"{what}: {error.strerror or error}")
    except KeyboardInterrupt:
        forget_unwritten()
        return _end(EXIT_INTERRUPTED, "interrupted")
    except MemoryError:
        return _end(EXIT_USAGE, "there is not enough memory for this input")
    except Exception:
        return _internal_error()
    return code


def _end(code: int, message: str) -> int:
    try:
        say(as_called(message))
    except OSError:  # nowhere to say it
        forget_unsaid()
    return code


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(_version())  # without click, whose import takes twice as long as all of this
        return 0
    if arguments[:1] in (["__complete"], ["__complete_line"]):
        from fcompile.commands.completion import engine

        return engine.run(arguments, group())
    from fcompile.commands.group import run

    if arguments[2:3] == ["diff"] and arguments[0] not in COMMANDS:
        # KUBECTL_EXTERNAL_DIFF="fcompile diff": kubectl puts its two folders right after the program's name.
        arguments = ["diff", *arguments[:2], *arguments[3:]]
    return run(group(), program(), arguments)


def _version() -> str:
    from fcompile._version import __version__

    return f"fcompile {__version__}"


def group() -> Group:
    """Return the program as click has it."""
    from fcompile.commands.group import Group, version_option

    return Group(
        program(),
        params=[version_option(_version)],
        lazy={name: (f"fcompile.commands.{name}", about) for name, about in COMMANDS.items()},
        help="Check Frameworks (frameworkcontroller.microsoft.com/v1), and write down exactly what will run.\n\n"
        "Exit codes: 0 fine, 1 errors in the input, 2 wrong use or nowhere to write, 3 a bug in fcompile, 130 interrupted, "
        "141 nobody read the output to its end.",
        page="index.md",
        examples={
            "fcompile validate .": "every problem in the files of this folder",
            "fcompile build --emit expected train.yaml": "exactly what will run",
        },
    )


def _internal_error() -> int:
    import traceback

    print(safe(traceback.format_exc()), end="", file=sys.stderr)
    print(
        f"{_version()}: this is a bug in fcompile: please report it with the text above and, if you can, the input",
        file=sys.stderr,
    )
    return EXIT_INTERNAL


def kubectl_complete() -> None:
    """Answer kubectl, which calls the script `kubectl_complete-fcompile` with the words after `kubectl fcompile`."""
    entry_point(["__complete", *sys.argv[1:]])


def entry_point(argv: Sequence[str] | None = None) -> None:
    """Run `fcompile`, as the installed scripts do, and end the process."""
    code = main(argv)
    gc.freeze()  # else Python looks through all that was imported for cycles before it ends: a tenth of `validate`
    sys.exit(code)
