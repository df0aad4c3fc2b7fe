"""The forms that the API server asks of a single string: names, label keys, paths, addresses.

A field of a table names its form (`Field.format`, `Field.keys`). Each form is a pattern, which editors get as well, or a test in code
where a pattern would be slow or unreadable; the tests hold the two against each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

LOWER_OR_DIGIT = "abcdefghijklmnopqrstuvwxyz0123456789"
LETTER_OR_DIGIT = LOWER_OR_DIGIT + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# White space as Go defines it; Python counts a few more characters.
SPACE = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
MAX_ANNOTATIONS = 256 * 1024
"""Bytes of all keys and values of an object's annotations together."""

_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_UNDERSCORED = "_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
_RELAXED_SEARCH = rf"\.|{_UNDERSCORED}(?:\.{_UNDERSCORED})*\.?"
_ANY_CASE = r"[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?"
_NAME = "(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
_SYSCTL = "[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
_NO_STEP_UP = r"(?!(?:[\s\S]*/)?\.\.(?:/|$))"
_NOT_DOTS = r"(?!\.\.|\.$)"
_TIME = (
    "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)


class Format(NamedTuple):
    """One form of strings."""

    wanted: str
    """The form in words, as the end of `… is not …: it must be`."""
    pattern: str = ""
    """For the whole string, in the part of regular expressions that Python and JavaScript share; empty: none."""
    max_length: int = 0
    """In characters; 0: not bounded but by the pattern."""
    test: Callable[[str], bool] | None = None
    """The same as pattern and length, when there is something better."""


@cache
def accepts(name: str) -> Callable[[str], bool]:
    """Return the function that tests a text against the form of this name."""
    form = FORMATS[name]
    if form.test is not None:
        return form.test
    match, longest = re.compile(form.pattern).fullmatch, form.max_length
    if longest:
        return lambda text: len(text) <= longest and match(text) is not None
    return lambda text: match(text) is not None


def suggestion(name: str, text: str) -> str | None:
    """Return what the writer of `text` may have meant, in the right form, or None."""
    fits = accepts(name)
    for candidate in (
        text.strip(SPACE),
        text.lstrip("/"),
        re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_"),
        text.strip(SPACE).lower(),
        re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"),
        re.sub(r"[^a-z0-9]+", "", text.lower()),
    ):
        if candidate and candidate != text and fits(candidate):
            return candidate
    return None


def _dns_label(text: str) -> bool:
    return 0 < len(text) <= 63 and not text.strip(LOWER_OR_DIGIT + "-") and text[0] != "-" and text[-1] != "-"


def _dns_subdomain(text: str) -> bool:
    return len(text) <= 253 and _are_labels(text)


@lru_cache(1024)  # The same few domains stand before all label keys.
def _are_labels(text: str) -> bool:
    """Return whether each part is a label, except that its length is not bounded."""
    return all(part and not part.strip(LOWER_OR_DIGIT + "-") and part[0] != "-" and part[-1] != "-" for part in text.split("."))


def _label_value(text: str) -> bool:
    if not text:
        return True
    return len(text) <= 63 and not text.strip(LETTER_OR_DIGIT + "-_.") and text[0] in LETTER_OR_DIGIT and text[-1] in LETTER_OR_DIGIT


def _label_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return bool(name) and _label_value(name) and (not slash or _dns_subdomain(prefix))


def _env_name(text: str) -> bool:
    return bool(text) and not text.strip(LETTER_OR_DIGIT + "-_.") and not text[0].isdigit() and text != "." and text[:2] != ".."


def _dns_prefix(text: str) -> bool:
    # As the API server does it: the byte before a dash at the end is not looked at.
    return text.isascii() and _dns_subdomain(text[:-2] + "a" if len(text) > 1 and text[-1] == "-" else text)


def _relaxed_dns_search(text: str) -> bool:
    return len(text.removesuffix(".")) <= 253 and re.fullmatch(_RELAXED_SEARCH, text) is not None


def _ip(text: str) -> bool:
    """Return whether a text is an IP address to older API servers, which ignore leading zeros."""
    return _address("" if "%" in text else re.sub(r"(?<![0-9A-Fa-f:])0+(?=[0-9]+(?:\.|$))", "", text)) is not None


def _strict_ip(text: str) -> bool:
    address = _address("" if "%" in text else text)
    return address is not None and getattr(address, "ipv4_mapped", None) is None


def _address(text: str) -> object | None:
    import ipaddress

    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


_DNS_LABEL = "at most 63 lower-case letters, digits and `-`, beginning and ending with a letter or digit"
_DNS_SUBDOMAIN = "at most 253 lower-case letters, digits, `-` and `.`, each part beginning and ending with a letter or digit"
_KEY = (
    "a name of at most 63 letters, digits, `-`, `_` and `.` that begins and ends with a letter or digit, after an optional DNS name and `/`"
)
_ENV = "letters, digits, `_`, `-` and `.`, not beginning with a digit or `..`"
_ADDRESS = "an IP address such as 10.9.8.7 or 2001:db8::1"

FORMATS: dict[str, Format] = {
    "framework-name": Format(
        "1 to 63 lower-case letters and digits, without a hyphen (it separates the parts of Pod names, `{framework}-{role}-{index}`)",
        "[a-z0-9]{1,63}",
    ),
    "dns-label": Format(_DNS_LABEL, _LABEL, 63, _dns_label),
    "dns-subdomain": Format(_DNS_SUBDOMAIN, _SUBDOMAIN, 253, _dns_subdomain),
    "dns-prefix": Format(
        f"{_DNS_SUBDOMAIN}, and `-` at the end",
        rf"(?![\s\S]{{253}}[^-])(?:{_SUBDOMAIN}|(?:{_LABEL}\.)*(?:[a-z0-9][-a-z0-9]*)?[\x00-\x7f]-)",
        254,
        _dns_prefix,
    ),
    "hostname": Format(_DNS_SUBDOMAIN.replace("253", "64"), _SUBDOMAIN, 64),
    "label-key": Format(_KEY, rf"(?:(?=[^/]{{1,253}}/){_SUBDOMAIN}/)?{_NAME}", 0, _label_key),
    "annotation-key": Format(
        _KEY, rf"(?:(?=[^/]{{1,253}}/){_ANY_CASE}(?:\.{_ANY_CASE})*/)?{_NAME}", 0, lambda text: _label_key(text.lower())
    ),
    "label-value": Format(
        "empty, or at most 63 letters, digits, `-`, `_` and `.` that begin and end with a letter or digit",
        f"(?:{_NAME})?",
        63,
        _label_value,
    ),
    "env-name": Format(_ENV, rf"{_NOT_DOTS}[-._a-zA-Z][-._a-zA-Z0-9]*", 0, _env_name),
    "relaxed-env-name": Format("printable ASCII characters other than `=`", "[ -<>-~]+"),
    "config-key": Format("at most 253 letters, digits, `-`, `_` and `.`, not beginning with `..`", rf"{_NOT_DOTS}[-._a-zA-Z0-9]+", 253),
    "port-name": Format(
        "at most 15 lower-case letters, digits and single `-` inside, with at least one letter",
        r"(?=[\s\S]*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*",
        15,
    ),
    "http-header-name": Format("letters, digits and `-`", "[-A-Za-z0-9]+"),
    "absolute-path": Format("an absolute path, beginning with `/`", r"/[\s\S]*"),
    "no-backsteps": Format("a path without `..`", rf"{_NO_STEP_UP}[\s\S]*", 0, lambda text: ".." not in text.split("/")),
    "relative-path": Format(
        "a relative path without `..`", rf"{_NO_STEP_UP}(?!/)[\s\S]*", 0, lambda text: text[:1] != "/" and ".." not in text.split("/")
    ),
    "local-path": Format(
        "a relative path that does not begin with `..` or step up",
        rf"{_NO_STEP_UP}(?!/|\.\.)[\s\S]*",
        0,
        lambda text: text[:1] != "/" and text[:2] != ".." and ".." not in text.split("/"),
    ),
    "ip": Format(_ADDRESS, "", 0, _ip),
    "strict-ip": Format(f"{_ADDRESS}, without zeros in front and not an IPv4 address in IPv6 form", "", 0, _strict_ip),
    "dns-search": Format(_DNS_SUBDOMAIN, rf"{_SUBDOMAIN}\.?", 254, lambda text: _dns_subdomain(text.removesuffix("."))),
    "relaxed-dns-search": Format(
        "`.`, or at most 253 lower-case letters, digits, `-`, `_` and `.`, each part ending with a letter or digit",
        _RELAXED_SEARCH,
        254,
        _relaxed_dns_search,
    ),
    "sysctl": Format(
        "at most 253 lower-case letters, digits, `-`, `_`, `.` and `/`, each part beginning and ending with a letter or digit",
        rf"(?:{_SYSCTL}[./])*{_SYSCTL}",
        253,
    ),
    "image": Format("an image without space around it", r"(?!\s)[\s\S]*[^\s]|", 0, lambda text: text == text.strip(SPACE)),
    "csi-driver": Format(
        "a DNS name of at most 63 characters",
        rf"{_ANY_CASE}(?:\.{_ANY_CASE})*",
        63,
        lambda text: len(text) <= 63 and _dns_subdomain(text.lower()),
    ),
    "iscsi-name": Format(
        "an iSCSI name in iqn, eui or naa form",
        r"(?=iqn)[\s\S]*iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\t\n\f\r ]+|eui.[A-Za-z0-9]{16}|naa.[A-Za-z0-9]{32}",
    ),
    "date-time": Format("a time such as 2024-05-01T12:00:00Z", _TIME),
}
"""By name."""
