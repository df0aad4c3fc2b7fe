"""The parser of arguments."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from fcompile.program import safe


class Parser(argparse.ArgumentParser):
    """Repeats in its errors what it was given, and nothing in that acts on a terminal."""

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(safe(message) if file is sys.stderr else message, file)
