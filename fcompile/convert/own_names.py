"""Names of Pods that are no addresses: a script compares them with its own host name, or hands them to kubectl.

The address of a task is `worker-1.ptddp-worker`, its host name `worker-1`, its Pod `ptddp-worker-1`: which is meant is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from fcompile.model.patterns import lazy

_VARIABLE = r"(?:HOSTNAME|(?:[A-Z]+_)?POD_NAME)"
_TO_LAST_PART = r"""\)?[ ]*\|[ ]*(?:awk[^|\n]*\$NF|grep[ ]+-[A-Za-z]*o|rev\b|sed[^|\n]*\.\*-)"""
_LAST_ITEM = r"""\(\)\.(?:r?split\(["']-["'][^)\n]*\)\[-1\]|rpartition\(["']-["']\)\[(?:2|-1)\])"""
"""What takes the last part of a name: the index, which is the same here."""
_OWN = lazy(
    rf"""
      (?<![\w.=/-])hostname(?![\w=:-]|[ \t]+-[iIAd]|{_TO_LAST_PART})
    | \$\{{?{_VARIABLE}\b(?!\#\#\*-|:[ ]?-[0-9]|\}}?["']?{_TO_LAST_PART})
    | ["']{_VARIABLE}["']
    | (?:gethostname|getfqdn|platform\.node|\bnodename)\b(?!{_LAST_ITEM})
    | \buname[ ]+-n\b | /etc/hostname
    """,
    re.VERBOSE,
)
_MENTIONED = lazy(
    rf"""
      (?<![\w.=/-])hostname(?![\w=:-]|[ \t]+-[iIAd]) | \b{_VARIABLE}\b
    | \b(?:gethostname|getfqdn|platform\.node|nodename)\b | \buname[ ]+-n\b | /etc/hostname
    """,
    re.VERBOSE,
)
_PRINTED = lazy(r"""(?:(?:\A|[\n;&|])\s*(?:then\s|else\s|do\s)?\s*(?:echo|printf)\b|\b(?:print|log(?:ger|ging)?\.\w+)\()[^\n;&|]*\Z""")
_KEPT = lazy(r"""[^\n;&|]*(?:(?<![&0-9])>(?!&2|[ ]*/dev/std)|\|(?!\|))""")
"""What follows a text that is not only printed: a file, or another program."""
_READ = lazy(r"""\$\(([\w.-]++)|\$\{?(\w++)|["']([\w.-]++)(?=["'])""")
"""A variable, or a text in quotes that may be the name of one."""
_CUT = lazy(
    rf"""
      (?:\bhostname|\b{_VARIABLE}\}}?["']?)\)?[ ]*\|[ ]*(?:cut[ ][^|;\n]*-d|awk[ ]+-F[ ]?['"]?-[^|\n]*\$[0-9])
    | (?:(?:gethostname|getfqdn|node)\(\)|\.nodename|["']{_VARIABLE}["'](?:\]|\)))\.split\(["']-["']\)\[[0-9]
    """,
    re.VERBOSE,
)
_COMPARED = lazy(r"""(?:[=!]=|=~|\[[^\[\]\n]*[ ]!?=|\btest[ ][^\n;]*[ ]!?=)\s*[rf]?["']?\^?\Z""")
_COMPARES = lazy(r"""["']?[ ]*(?:[=!]=|=~)|["'][ ]+!?=[ ]+["']?\$""")
_METHOD = lazy(r"""(?:\.(?:startswith|endswith|index|find|count|replace)|\b(?:match|fullmatch|search|fnmatch))\([^()\n]*["'(]\Z""")
_PATTERN_BEGINS = lazy(r"""(?:\bin|;;&?|;&|\||\()\s*["']?\Z""")
_PATTERN_ENDS = lazy(r"""["']?[ ]*+(?:\|[^)\n;]*+)?\)""")
_AMONG = lazy(r"""\bin[ ]*[\[({][^\])}\n]*\Z""")
_LOOP = lazy(r"""\bfor[ ][\w, ]+[ ]in[ ]*[\[({][^\])}\n]*\Z""")
_GREP = lazy(r"""\b[ef]?grep\b[^\n;|&]*\Z""")
_KUBECTL = lazy(r"""\b(?:kubectl|oc)[ ](?:(?!kubectl|[ ]--[ ])(?:[^\n;|&\\]|\\\n?))*\Z""")
_NEAR, _FAR = 200, 4_000
"""Characters before a name that are looked at: of a command, and of a `case`."""
_LONGEST_PATTERN = 1_000
"""Characters after a name that are looked at: of the other names in a pattern of a `case`."""


def is_no_address(text: str, start: int, end: int) -> bool:
    """Return whether the name that stands there is compared, or given to kubectl."""
    near = max(start - _NEAR, 0)

    def has(sign: str) -> bool:
        """Return whether that stands before the name: the expressions take long to find that nothing does."""
        return text.find(sign, near, start) >= 0

    if _COMPARES.match(text, end) or (has("=") and _COMPARED.search(text, near, start)):
        return True
    if has("(") and _METHOD.search(text, near, start):
        return True
    if start >= 2 and text.startswith("//", start - 2):
        return False
    if (has("kubectl ") or has("oc ")) and _KUBECTL.search(text, near, start):
        return True
    case = text.rfind("case ", max(start - _FAR, 0), start)
    within = case >= 0 and text.find("esac", case, start) < 0
    if within and _PATTERN_BEGINS.search(text, near, start) and _PATTERN_ENDS.match(text, end, end + _LONGEST_PATTERN):
        return True
    among = has("in") and _AMONG.search(text, near, start) and not _LOOP.search(text, near, start)
    return bool(among or (has("grep") and _GREP.search(text, near, start))) and reads_own_name(text)


@lru_cache(1)
def reads_own_name(text: str) -> bool:
    """Return whether a script reads its host name or the name of its Pod, and not only the index at the end of it.

    The answer is kept: it is asked for at each name that stands in a text.
    """
    return _OWN.search(text) is not None


def uses_own_name(text: str, variables: Set[str] = frozenset(), *, index_too: bool = False) -> bool:
    """Return whether a script does more with its host name, or the name of its Pod, than print it or take the index at its end.

    :param variables: those that have the name of the Pod, whatever they are called.
    :param index_too: whether the index counts.
    """
    pattern = _MENTIONED if index_too else _OWN
    found = [match.span() for match in pattern.finditer(text)]
    read = [match for match in _READ.finditer(text) if match[match.lastindex or 0] in variables] if variables else []
    found += [match.span() for match in read if index_too or not text.startswith(("##*-", "}##*-"), match.end())]
    return any(not _is_printed(text, *span) for span in found)


def _is_printed(text: str, start: int, end: int) -> bool:
    near = max(start - _NEAR, 0)
    return _PRINTED.search(text, near, start) is not None and _KEPT.match(text, end, end + _NEAR) is None


def cuts_own_name(text: str) -> bool:
    """Return whether a script takes a part of its host name by its place, counted from the beginning."""
    return _CUT.search(text) is not None
