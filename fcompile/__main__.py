"""`python -m fcompile`: the same as the script `fcompile`."""

from fcompile.cli import entry_point

if __name__ == "__main__":
    entry_point()
