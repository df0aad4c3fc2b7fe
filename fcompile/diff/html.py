"""The comparison as one page that needs nothing else: no scripts, no network."""

from __future__ import annotations

from collections.abc import Iterator

from fcompile._version import __version__
from fcompile.diff import words
from fcompile.diff.compare import ABSENT
from fcompile.diff.result import Result
from fcompile.diff.templates import environment

TEMPLATE = "page.html.jinja"
_OPEN = 10
"""Up to so many Frameworks are shown unfolded."""


def write(result: Result) -> Iterator[str]:
    """Return the page, in pieces."""
    page = environment().get_template(TEMPLATE)
    groups = words.folded(result)
    # In pieces, since a page can have many megabytes.
    return page.generate(
        result=result,
        words=words,
        ABSENT=ABSENT,
        counts=words.counts(result),
        ending=sum(framework.ends_pods for framework in result.frameworks),
        found=groups,
        open=len(groups) <= _OPEN,
        version=__version__,
    )
