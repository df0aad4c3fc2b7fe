"""The errors that end a command, or reach the caller of the Python API."""

from __future__ import annotations

EXIT_ERRORS = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 3
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141


class UsageError(Exception):
    """The command cannot be carried out as it was asked for: exit code 2, the message is all that is printed."""

    code = EXIT_USAGE


class InputError(UsageError):
    """The command cannot be carried out because of what is in the input: exit code 1, the message is all that is printed."""

    code = EXIT_ERRORS


class SettingError(ValueError):
    """A setting that cannot be meant: which one, its value, and the reason."""

    def __init__(self, setting: str, value: str, reason: str) -> None:
        super().__init__(setting, value, reason)
        self.setting = setting
        """`namespace`, `kubernetes-version`, `override`, `kinds` or `only`."""
        self.value = value
        """As it was written. Empty when the reason says which of several it is."""
        self.reason = reason

    def __str__(self) -> str:
        return self.called(self.setting)

    def called(self, setting: str) -> str:
        """Return the message with the name that the caller has for the setting (an option, a parameter). It is safe on a terminal."""
        from fcompile.diagnostics.visible import visible  # imported late: most runs have no such message

        return visible(f"{f'{setting} {self.value}'.strip()}: {self.reason}")


class ProcessError(Exception):
    """A process was ended by somebody else, as by a system that is short of memory."""
