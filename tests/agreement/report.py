"""What a run came to: a table for people, JSON for machines, and the page docs/agreement.md."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from fcompile.diagnostics.catalog import all_rules
from fcompile.diagnostics.problem import Severity
from tests.agreement.run import Judged, Run
from tests.agreement.verdicts import Judge, Refusal, Verdict

MOST_MISSES = 0.005
"""Of what the API server refuses."""


class Finding(NamedTuple):
    """One way in which the verdicts differ."""

    cause: str
    """Of a false alarm the codes of `validate`; otherwise why the server refuses."""
    times: int
    kind: str
    place: str
    """How and where one of the mutants was changed."""
    example: dict[str, Any]
    """As small as it gets."""


class Report(NamedTuple):
    """`Judged` in numbers."""

    version: str
    seed: int
    bases: int
    seconds: float
    counts: dict[str, int]
    false_alarms: list[Finding]
    misses: list[Finding]
    crd_only: list[Finding]
    """What only the CRD refuses."""
    crashes: list[Finding]
    """What `validate` passes and the controller can make no Pods of."""
    codes: dict[str, dict[str, int]]
    """By code of an error: the mutants in which there is no other, by who else refuses them."""
    warnings: dict[str, int]
    """By code: the mutants that are run and warned of."""

    @property
    def misses_share(self) -> float:
        refused = self.counts["refused by the API server"]
        return sum(found.times for found in self.misses) / refused if refused else 0.0

    @property
    def is_good(self) -> bool:
        return not (self.false_alarms or self.crd_only or self.crashes) and self.misses_share <= MOST_MISSES


def is_false_alarm(verdict: Verdict) -> bool:
    # The API server takes any image. That no kubelet takes it is seen on a node.
    return bool(set(verdict.errors) - {"FC217"} and verdict.is_made and not verdict.server and not verdict.crd)


def is_miss(verdict: Verdict) -> bool:
    return bool(verdict.server and not verdict.errors)


def is_crd_only(verdict: Verdict) -> bool:
    return bool(verdict.crd and not verdict.errors and not verdict.server)


def is_crash(verdict: Verdict) -> bool:
    return not (verdict.is_made or verdict.errors or verdict.crd)


def report(run: Run, judge: Judge, version: str, seed: int, seconds: float) -> Report:
    """Count, and make an example of each kind of difference small."""
    verdicts = [one.verdict for one in run.judged]
    counts = {
        "mutants": len(verdicts),
        "refused by validate": sum(bool(one.errors) for one in verdicts),
        "refused by the CRD": sum(bool(one.crd) for one in verdicts),
        "refused by the API server": sum(bool(one.server) for one in verdicts),
        "different reasons of the API server": len({_reason(one.server) for one in verdicts if one.server}),
        "run": sum(one.is_made and not one.server and not one.crd for one in verdicts),
        "no Pod could be made": sum(not one.is_made for one in verdicts),
    }

    def found(differs: Callable[[Verdict], bool], cause: Callable[[Verdict], str]) -> list[Finding]:
        groups: dict[str, list[Judged]] = defaultdict(list)
        for one in run.judged:
            if differs(one.verdict):
                groups[cause(one.verdict)].append(one)
        return [_finding(name, group, judge, differs, cause) for name, group in sorted(groups.items(), key=lambda item: -len(item[1]))]

    return Report(
        version,
        seed,
        run.bases,
        seconds,
        counts,
        found(is_false_alarm, lambda one: " ".join(one.errors)),
        found(is_miss, lambda one: _cause(str(one.server))),
        found(is_crd_only, lambda one: _cause(str(one.crd))),
        found(is_crash, lambda one: "no Pod can be made"),
        _codes(verdicts),
        dict(
            sorted(Counter(code for one in verdicts if not one.errors and not one.server and not one.crd for code in one.warnings).items())
        ),
    )


def _codes(verdicts: list[Verdict]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in verdicts:
        if len(one.errors) == 1:
            who = "API server" if one.server else "only the CRD" if one.crd else "nobody" if one.is_made else "no Pod can be made"
            found[one.errors[0]][who] += 1
    return {code: dict(counter) for code, counter in sorted(found.items())}


def _cause(message: str) -> str:
    """A message without the values that it quotes."""
    field, _, said = message.partition(": ")
    words = said.partition(": ")
    return f"{field}: {words[0].partition(' ')[0]} {words[2]}"[:160] if words[2] else message[:160]


def _reason(refusal: Refusal) -> tuple[str, str]:
    """The field's own name, and what is wrong with it without the values that the message quotes."""
    return refusal.field.rpartition(".")[2], re.sub(r"\"[^\"]*\"|[\w./{}$-]*\d[\w./{}$-]*|: .*?: ", "…", refusal.message)[:60]


def _finding(name: str, group: list[Judged], judge: Judge, differs: Callable[[Verdict], bool], cause: Callable[[Verdict], str]) -> Finding:
    smallest = min(group, key=lambda one: len(json.dumps(one.mutant.framework)))

    def same(framework: dict[str, Any]) -> bool:
        verdict = judge.verdict(framework)
        return differs(verdict) and cause(verdict) == name

    return Finding(name, len(group), smallest.mutant.kind, smallest.mutant.place, _shrunk(smallest.mutant.framework, same))


def _shrunk(framework: dict[str, Any], same: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The Framework without all that can be left out."""
    again = True
    while again:
        again = False
        for path in sorted(_paths(framework), key=len):
            if path in (("apiVersion",), ("kind",)):
                continue  # nobody but the server would look at it
            smaller = deepcopy(framework)
            owner: Any = smaller
            try:
                for step in path[:-1]:
                    owner = owner[step]
                del owner[path[-1]]
            except (KeyError, IndexError, TypeError):
                continue  # it went with what it was in
            if same(smaller):
                framework, again = smaller, True
    return framework


def _paths(tree: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def as_json(made: Report) -> str:
    """All of it."""
    document = made._asdict()
    for name in ("false_alarms", "misses", "crd_only", "crashes"):
        document[name] = [found._asdict() for found in document[name]]
    return json.dumps(document | {"misses_share": made.misses_share}, indent=1, ensure_ascii=True) + "\n"


def as_markdown(made: Report) -> str:
    """The page."""
    lines = [
        "# Agreement with a real API server",
        "",
        "`python -m tests.agreement --write` made this page. It changes valid Frameworks in one place each, in ways that come from",
        "the API server's own OpenAPI and from what Kubernetes' validation tells apart, and asks three judges about each:",
        "`fcompile validate`, the CRD of `fcompile crd` (a dry-run create of the Framework), and the API server (dry-run creates of",
        "the Services and of each role's first and last Pod, as the controller would make them).",
        "",
        f"Kubernetes {made.version}, seed {made.seed}, {made.bases} valid Frameworks to start from, {made.seconds:.0f} s.",
        "",
        *_table(("", "Frameworks"), [(name, str(count)) for name, count in _numbers(made)]),
        "",
        *_section("False alarms", "`validate` refuses what would be run.", made.false_alarms),
        *_section("Misses", "The API server refuses a Pod or a Service, and `validate` says nothing.", made.misses),
        *_section("Refused only by the CRD", "", made.crd_only),
        *_section("Accepted by `validate` and the CRD, and impossible to make Pods of", "", made.crashes),
        "## Errors by code",
        "",
        "Frameworks with errors of this code alone, by who else refuses them. Nobody: a false alarm (FC217 is for nodes).",
        "",
        *_table(
            ("code", "API server", "only the CRD", "nobody", "no Pod can be made"),
            [(code, *(str(by.get(who, 0)) for who in _WHO)) for code, by in made.codes.items()],
        ),
        "",
        "## Warnings",
        "",
        "Frameworks that are run, and warned of: "
        + (", ".join(f"{code} {count}" for code, count in made.warnings.items()) or "none")
        + ".",
        "",
        "Rules that are errors and were never the only one here: " + (", ".join(_never(made)) or "none") + ".",
        "",
        *_LIMITS,
    ]
    return "\n".join(lines) + "\n"


_LIMITS = (
    "## What is not compared",
    "",
    "- What another cluster may have: a namespace, a PriorityClass or a RuntimeClass that is not there counts as there when the",
    "  server would create it. Admission webhooks, quotas, Pod security levels and changed feature gates are a cluster's own.",
    "- Changes of a Framework that is stored (`executionType`, `managedBy`), names that are taken, and `metadata.resourceVersion`.",
    "- Text: each Framework is JSON here. What YAML makes of it is for the tests of the loader.",
    "- Sums with the index that are below zero for the first task, `{{FC_TASK_INDEX-1}}`. `validate` refuses them (FC425), the CRD takes",
    "  them: `-1` is a valid text in most fields, and a waiver of FC425 says that it is meant. Who has waived it can apply it.",
    "- Whole numbers from −2⁶³ − 1024 to −2⁶³ − 1, which kubectl silently rounds to −2⁶³. `validate` refuses them as out of bounds.",
)
_WHO = ("API server", "only the CRD", "nobody", "no Pod can be made")


def as_text(made: Report) -> str:
    """What the command prints."""
    lines = [f"Kubernetes {made.version}, seed {made.seed}, {made.bases} valid Frameworks to start from, {made.seconds:.0f} s"]
    lines += [f"{count:>7}  {name}" for name, count in _numbers(made)]
    for title, findings in (
        ("false alarm", made.false_alarms),
        ("miss", made.misses),
        ("refused only by the CRD", made.crd_only),
        ("no Pods", made.crashes),
    ):
        lines += [
            f"{title} ×{one.times}: {one.cause}\n    {one.kind}: {one.place}\n    {json.dumps(one.example)[:1000]}" for one in findings
        ]
    return "\n".join(lines) + "\n"


def _numbers(made: Report) -> list[tuple[str, int | str]]:
    misses = sum(found.times for found in made.misses)
    return [
        *made.counts.items(),
        ("false alarms", sum(found.times for found in made.false_alarms)),
        ("misses", f"{misses} ({made.misses_share:.2%} of what the API server refuses)"),
        ("refused only by the CRD", sum(found.times for found in made.crd_only)),
        ("passed by all, and no Pods can be made", sum(found.times for found in made.crashes)),
    ]


def _never(made: Report) -> list[str]:
    return [
        rule.code for rule in all_rules() if rule.severity is Severity.ERROR and rule.code[:3] in _CHECKED and rule.code not in made.codes
    ]


_CHECKED = ("FC1", "FC2", "FC3", "FC4", "FC5")
"""Families of rules about single Frameworks; the others are about files and waivers."""


def _section(title: str, meaning: str, findings: list[Finding]) -> Iterator[str]:
    yield from (f"## {title}", "")
    if meaning:
        yield from (meaning, "")
    if not findings:
        yield from ("None.", "")
    for one in findings:
        yield f"- {one.times} × {one.cause}  "
        yield f"  for example ({one.kind}): `{json.dumps(one.example)}`"
    if findings:
        yield ""


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]
