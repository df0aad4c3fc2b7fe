"""Where documents speak of kinds of jobs and of jobs by name: rules of roles, arguments of kubectl, paths of the API.

A converted job is none of its kind any more: who asks for it waits for ever, deletes nothing, or is not allowed to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from fcompile.convert.ledger import Entry, Outcome
from fcompile.diagnostics.problem import Path
from fcompile.diagnostics.visible import joined
from fcompile.model import names
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, sequence, text

_GROUPS = r"(?:kubeflow\.org|trainer\.kubeflow\.org|jobset\.x-k8s\.io)"
_KUBECTL = lazy(r"(?<![\w-])(?:kubectl|oc)[ \t]((?:[^\n;|&\\`]|\\\n?){1,2000})")
_WORDS = lazy(r"[^\s\"'()]+")
_TYPES = lazy(r"[A-Za-z0-9.,]+")
_VALUED = frozenset(
    (
        "-n",
        "-o",
        "-l",
        "-f",
        "-c",
        "-p",
        "--namespace",
        "--output",
        "--selector",
        "--context",
        "--kubeconfig",
        "--for",
        "--timeout",
        "--type",
    )
)
"""Flags of kubectl that take the next word."""
_DEFINITIONS = frozenset(("crd", "crds", "customresourcedefinition", "customresourcedefinitions"))
_NAME = lazy(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_LABEL = lazy(r"(?<![\w./-])(?:train(?:ing|er)\.kubeflow\.org|jobset\.sigs\.k8s\.io)/[a-z-]{1,63}(?:[ ]*={1,2}[ ]*[\"']?([a-z0-9.-]+))?")
_SHOWN = 3
_NEAR = 100
"""Characters before a kind that are looked at."""
_LONGEST_COMMAND = 1_000
"""Items of a list that are read as one command."""


class Asked(NamedTuple):
    """A kind of jobs that is asked for, and what of it."""

    kind: str
    """In lower case."""
    names: tuple[str, ...] | None
    """None: all, or what is only known when it runs."""
    waits: bool = False
    """For a condition."""


class Resources:
    """The kinds of the converted jobs, and the Frameworks that they are now."""

    def __init__(self, jobs: Iterable[tuple[str, str, str, str]]) -> None:
        """Take kind, group, name and Framework of each job."""
        self._frameworks: dict[tuple[str, str], str] = {}
        self._groups: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        for kind, group, name, framework in jobs:
            self._frameworks.setdefault((kind.lower(), name), framework)
            self._groups[kind.lower()] = group
            self._kinds[kind.lower()] = kind
        kinds = "|".join(map(re.escape, self._kinds)) or "(?!)"
        self._type = re.compile(rf"({kinds})s?(?:\.(?:v\w+\.)?{_GROUPS})?", re.IGNORECASE)
        self._names = frozenset(name for _, name in self._frameworks)
        self._elsewhere = re.compile(
            rf"(?<![\w.-])(?P<full>{kinds})s\.(?:v\w+\.)?{_GROUPS}(?![\w-])"
            rf"|{_GROUPS}/v\w+/(?:namespaces/[^/\s]+/)?(?P<path>{kinds})s(?:/(?P<name>[a-z0-9.-]+))?"
            rf"|[\"'](?P<plural>{kinds})s[\"']"
        )

    def in_object(self, value: Any, commands: dict[Path, list[str]]) -> Iterator[Entry]:
        """Yield what an object says of them in rules, and in commands that are lists."""
        yield from self._rules(value)
        for path, words in commands.items():
            yield from self._told(path, self._in_words(words))

    def in_text(self, written: str, path: Path) -> Iterator[Entry]:
        """Yield what a text says of them: a script, or the name of a quota."""
        found = []
        for match in _KUBECTL.finditer(written) if "kubectl" in written or "oc " in written else ():
            found += self._in_words(_WORDS.findall(match[1].replace("\\\n", " ")))
        kinds = {one.kind for one in found}
        for match in self._elsewhere.finditer(written):
            kind = match["full"] or match["path"] or match["plural"]
            before = written[max(match.start() - _NEAR, 0) : match.start()]
            if kind not in kinds and not before.rstrip("/ ").endswith(tuple(_DEFINITIONS)):
                found.append(Asked(kind, (match["name"],) if match["name"] else None))
        yield from self._told(path, found)

    def in_selector(self, written: str, path: Path) -> Iterator[Entry]:
        """Yield the labels of an operator's that a script selects by."""
        told: dict[str, None] = {}
        for match in _LABEL.finditer(written) if "/" in written else ():
            key = match[0].partition("=")[0].strip()
            if key.endswith("-name") and match[1] and match[1] not in self._names:
                continue
            told[key] = None
        if told:
            what = f"{joined([f'`{key}`' for key in list(told)[:_SHOWN]])} will select no Pod of a converted job"
            why = "Pods of a Framework have no labels of Kubeflow's"
            yield Entry(path, Outcome.DIFFERENT, what, why, "select by FC_FRAMEWORK_NAME, FC_TASKROLE_NAME and FC_TASK_INDEX")

    def _in_words(self, words: list[str]) -> list[Asked]:
        """Return what the arguments of kubectl ask for."""
        found = []
        waits = any(word.startswith(("condition=", "--for=condition=")) for word in words)
        plain = list(_plain(words))
        for number, word in enumerate(plain):
            types, _, name = word.partition("/")
            kind = self._kind(types)
            if kind is None or (number and plain[number - 1].lower() in _DEFINITIONS):
                continue
            asked = [name] if name else plain[number + 1 :]
            known = tuple(asked) if asked and all(_NAME.fullmatch(one) for one in asked) else None
            found.append(Asked(kind, known, waits))
            break
        return found

    def _kind(self, types: str) -> str | None:
        """Return the kind of jobs that is among types, `pods,jaxjobs.kubeflow.org`; None: there is none."""
        if _TYPES.fullmatch(types) is None:
            return None
        return next((match[1].lower() for one in reversed(types.split(",")) if (match := self._type.fullmatch(one))), None)

    def _told(self, path: Path, found: Iterable[Asked]) -> Iterator[Entry]:
        for asked in dict.fromkeys(found):
            kind = self._kinds[asked.kind]
            conditions = "; its conditions are `Completed` and `Succeeded`" if asked.waits else ""
            if asked.names is None:
                what, why = f"it asks for {kind}s, and converted jobs are none", "they are Frameworks now"
                yield Entry(path, Outcome.DIFFERENT, what, why, f"ask for `{names.RESOURCE}`{conditions}")
            for name in (asked.names or ())[:_SHOWN]:
                framework = self._frameworks.get((asked.kind, name))
                if framework is not None:
                    what, why = f"it asks for the {kind} `{name}`, which is no more", f"it is the Framework `{framework}` now"
                    yield Entry(path, Outcome.DIFFERENT, what, why, f"ask for `{names.RESOURCE}/{framework}`{conditions}")

    def _rules(self, value: Any) -> Iterator[Entry]:
        # Rules of roles, of webhooks, of admission policies.
        lists = ("apiGroups", "resources")
        rules = [(path, one) for path, one in _mappings(value, ()) if all(isinstance(one.get(key), list) for key in lists)]
        allowed = {str(verb) for _, rule in rules if _is_about_frameworks(rule) for verb in sequence(rule, "verbs")}
        for path, rule in rules:
            groups, verbs = sequence(rule, "apiGroups"), set(map(str, sequence(rule, "verbs")))
            if _is_about_frameworks(rule) or (verbs and (verbs <= allowed or "*" in allowed)):
                continue
            of = sequence(rule, "resourceNames")
            for kind, group in self._groups.items():
                now = [found for one in of if isinstance(one, str) and (found := self._frameworks.get((kind, one))) is not None]
                if (of and not now) or not {group, "*"} & set(map(str, groups)):
                    continue
                for number, resource in enumerate(sequence(rule, "resources")):
                    if str(resource).partition("/")[0] in (f"{kind}s", "*"):
                        what, why = f"it is about `{kind}s` of {group}, and converted jobs are none", "they are Frameworks now"
                        names_now = f", with resourceNames {joined([f'`{one}`' for one in now[:_SHOWN]])}" if now else ""
                        remedy = f"write such a rule for `frameworks` of `{names.GROUP}`{names_now}"
                        yield Entry((*path, "resources", number), Outcome.DIFFERENT, what, why, remedy)
                        break


def commands_of_kubectl(value: Any) -> dict[Path, list[str]]:
    """Return the arguments of each container of kubectl's, by the path of the first list that has them."""
    found: dict[Path, list[str]] = {}
    for path, container in _mappings(value, ()):
        command, arguments = sequence(container, "command"), sequence(container, "args")
        words = [*command, *arguments][:_LONGEST_COMMAND]
        if words and all(isinstance(word, str) for word in words) and words[0].rpartition("/")[2] in ("kubectl", "oc"):
            found[(*path, "args" if arguments and len(command) < 2 else "command")] = words[1:]
    return found


def _plain(words: Iterable[str]) -> Iterator[str]:
    """Yield the arguments that are no flags, until `--`."""
    skip = False
    for word in words:
        if word == "--":
            return
        if not skip and not word.startswith("-"):
            yield word
        skip = word in _VALUED


def _is_about_frameworks(rule: dict[str, Any]) -> bool:
    groups, resources = sequence(rule, "apiGroups"), sequence(rule, "resources")
    return (names.GROUP in groups or "*" in groups) and ("frameworks" in resources or "*" in resources)


def _mappings(value: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every mapping in a value, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from _mappings(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _mappings(item, (*path, number))


def jobs_that_are_referred_to(value: Any, is_job: Callable[[Any], bool]) -> Iterator[tuple[Path, str, str]]:
    """Yield where an object names a job by kind and name and does not hold one: path, kind and name."""
    for path, one in _mappings(value, ()):
        if path and is_job(one) and not mapping(one, "spec"):
            yield path, text(one, "kind") or "", text(one, "name") or ""
