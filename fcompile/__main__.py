"""`python -m fcompile`: the same as the script `fcompile`."""

import sys

from fcompile.cli import main

if __name__ == "__main__":
    sys.exit(main())
