"""Names: of the Framework, of its roles, and the DNS names under which the tasks of a job know each other.

A Framework's name has lower-case letters and digits only. The rule: letters become lower-case, and all else (hyphens, dots) is left out.
Of the user's texts only whole DNS names that the operator makes are rewritten. The bare name of a job also stands in paths and buckets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from fcompile.convert.ledger import Refusal
from fcompile.convert.own_names import is_no_address
from fcompile.diagnostics.problem import Path
from fcompile.model import names
from fcompile.model.formats import FORMATS, accepts
from fcompile.model.hosts import may_be_host

_LONGEST = 63
_BEFORE = r"(?<![A-Za-z0-9_.-])"
_LABELS = r"((?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?){0,127})"
_AFTER = r"(?![A-Za-z0-9_-])"


def framework_name(job: str, path: Path) -> str:
    """Return the name of the Framework of a job. Raises Refusal for one that Kubernetes refuses, and when too much is left of it."""
    if "{{" in job or "$" in job:
        raise Refusal(path, f"`{job}` is a template: fill it in first, and convert what comes out")
    if not accepts("dns-subdomain")(job):
        raise Refusal(path, f"Kubernetes takes no job of the name `{job}`: it must be {FORMATS['dns-subdomain'].wanted}")
    name = re.sub(r"[^a-z0-9]", "", job)
    if len(name) > _LONGEST:
        raise Refusal(path, f"of `{job}` comes a name of {len(name)} characters, and a Framework's has at most {_LONGEST}: shorten it")
    return name


def host(framework: str, role: str, index: int | str) -> str:
    """Return the DNS name of a task within its namespace."""
    return f"{names.hostname(role, str(index))}.{names.service_name(framework, role)}"


class Task(NamedTuple):
    """The task that a replica of a job becomes."""

    role: str
    number: int
    """Its index."""


class Hosts:
    """The DNS names that the operator makes for a job, and what they are here."""

    def __init__(
        self,
        framework: str,
        namespace: str | None,
        prefixes: Mapping[str, Callable[[int], Task | None]],
        *,
        job: str = "",
        single: Mapping[str, Task] | None = None,
        subdomain: str | None = None,
    ) -> None:
        """Take what stands before the index of each name, `pt-ddp-worker-`, and what task an index means.

        :param namespace: the job's own; None: it names none, and any may be meant.
        :param job: its name, with which the names begin.
        :param single: names without an index.
        :param subdomain: of all names, where they have one.
        """
        self.framework = framework
        self.job = job
        self._namespace = namespace
        self._prefixes = prefixes
        self._single = single or {}
        self._subdomain = subdomain
        self._beginning = _common([*prefixes, *self._single])
        every = _any_of(prefixes)
        self._whole = re.compile(rf"{_BEFORE}(?:({every})([0-9]{{1,6}})|({_any_of(self._single)})){_LABELS}{_AFTER}")
        self._made_later = re.compile(rf"{_BEFORE}(?:{every})(?=[^0-9\s.,;:'\"/]|['\"]?\s*[+%]|$)")
        self._pattern = _pattern(job, prefixes)
        self._put_together = _put_together(job, prefixes, subdomain)

    def rewrite(self, text: str) -> str:
        """Return a text with each whole name of a task replaced by its address here, where an address can be meant."""
        return self._whole.sub(lambda match: self._replaced(match, text), text) if self._may_be_in(text) else text

    def compared(self, text: str, *, all_names: bool = False) -> dict[str, Task]:
        """Return each name of a task in a text that is compared or given to kubectl: what stays as it is.

        :param all_names: whether that is so of every name.
        """
        found: dict[str, Task] = {}
        for match in self._whole.finditer(text) if self._may_be_in(text) else ():
            task = self._task(match)
            if task is not None and (all_names or is_no_address(text, *match.span())):
                found[match[3] or f"{match[1]}{match[2]}"] = task
        return found

    def has_pattern(self, text: str) -> bool:
        """Return whether a text holds a pattern of the job's names, such as `*-worker-*`."""
        return self._pattern.search(text) is not None

    def renamed(self, text: str) -> dict[str, str]:
        """Return each name of a task that a text holds, and the one that it has here, without anything else of the text."""
        found = ((match, self._host(match, text)) for match in self._whole.finditer(text if self._may_be_in(text) else ""))
        return {(match[3] or f"{match[1]}{match[2]}"): new for match, new in found if new is not None}

    def has_unfinished_name(self, text: str) -> bool:
        """Return whether a text holds a part of a name, which a program puts together when it runs."""
        if self._may_be_in(text) and self._made_later.search(text):
            return True
        return any(sign in text for sign in "${+") and self._put_together.search(text) is not None

    def _may_be_in(self, text: str) -> bool:
        """Return whether a text may hold a name: the expressions take long to find that a long text has none."""
        return self._beginning in text

    def _replaced(self, match: re.Match[str], text: str) -> str:
        new = self._host(match, text)
        return match[0] if new is None else ".".join([new, *self._labels(match)])

    def _host(self, match: re.Match[str], text: str) -> str | None:
        """Return the host that a name stands for; None: it is none of the job's Pods."""
        if not may_be_host(text, *match.span()) or is_no_address(text, *match.span()):
            return None
        task = self._task(match)
        return None if task is None else host(self.framework, task.role, task.number)

    def _task(self, match: re.Match[str]) -> Task | None:
        labels = self._labels(match)
        if labels and not (labels[0] == self._namespace or (self._namespace is None and labels[1:2] == ["svc"])):
            return None  # a file, or something in another namespace
        return self._single[match[3]] if match[3] else self._prefixes[match[1]](int(match[2]))

    def _labels(self, match: re.Match[str]) -> list[str]:
        """Return what follows a name, without the subdomain."""
        labels = match[4].split(".")[1:]
        return labels[1:] if labels and labels[0] == self._subdomain else labels


def _pattern(job: str, prefixes: Iterable[str]) -> re.Pattern[str]:
    """Return what finds patterns that names of the job match, and those of tasks here may not."""
    own, kinds = re.escape(job), _any_of(prefix.removeprefix(f"{job}-").partition("-")[0] for prefix in prefixes)
    if not job:
        return re.compile(r"(?!)")
    begins = rf"(?<![A-Za-z0-9_./-]){own}-[A-Za-z0-9-]*(?:\.?[*+]|\[|\\d|\?)"
    return re.compile(rf"\*-(?:{kinds})\b|{begins}|#{own}-|\b(?:startswith|removeprefix|lstrip|replace)\(r?[\"']{own}-")


def _put_together(job: str, prefixes: Iterable[str], subdomain: str | None) -> re.Pattern[str]:
    """Return what finds names that begin with a variable and end as those of tasks do: `$JOB-worker-0`, `$POD.subdomain`."""
    ends = _any_of(prefix.removeprefix(job) for prefix in prefixes if job and prefix.startswith(f"{job}-"))
    variable = r"(?:\$\w{1,63}|\$\([^()\n]{1,63}\)|\$?\{[^{}\n]{1,63}\})"
    below = rf"|{variable}[\w-]{{0,63}}\.{re.escape(subdomain)}(?![\w-])" if subdomain else ""
    return re.compile(rf"(?:{variable}[\"']?|\+\s?f?[\"']){ends}(?=[0-9$%{{\"']){below}")


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of the texts, the longest first. It shares their beginnings: of very many, few are tried at each place."""
    return _shared(sorted(set(texts))) or r"(?!)"


def _shared(texts: list[str]) -> str:
    found = []
    for first, group in groupby(texts, key=itemgetter(slice(1))):
        same = list(group)
        head = _common([same[0], same[-1]])
        if first:
            found.append(re.escape(head) + (_shared([text[len(head) :] for text in same]) if len(same) > 1 else ""))
    return f"(?:{'|'.join(found)}){'' if texts[0] else '?'}" if found else ""


def _common(texts: list[str]) -> str:
    """Return what all of the texts begin with."""
    first, last = min(texts, default=""), max(texts, default="")
    return first[: next((at for at, letter in enumerate(first) if letter != last[at : at + 1]), len(first))]
