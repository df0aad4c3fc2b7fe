"""Every rule over one Framework."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from fcompile.check.context import FrameworkContext
from fcompile.check.pod import in_force, pod_rules, without_followers
from fcompile.check.rules.framework.addresses import address_rules
from fcompile.check.rules.framework.names import name_rules
from fcompile.check.rules.framework.placeholders import placeholder_rules
from fcompile.check.rules.framework.policies import policies
from fcompile.check.rules.framework.scalars import WRONG_TYPE
from fcompile.check.rules.framework.services import service_rules
from fcompile.check.rules.framework.sizes import INTENT_WORTH_MEASURING, intent_size, size_rules, task_rules
from fcompile.check.rules.framework.structure import structure, walk
from fcompile.check.rules.pod.metadata import own_metadata_rules
from fcompile.diagnostics.problem import Finding, Severity
from fcompile.load.rules import MAX_PROBLEMS
from fcompile.model.names import DIGEST_ANNOTATION, PAUSE_ANNOTATION
from fcompile.model.patterns import lazy
from fcompile.model.values import mapping, text

_OPTION_AND_SPACE = lazy(r"--[A-Za-z][\w.-]{0,99} ")


def check_framework(context: FrameworkContext, source_text: str, digest: bool = False) -> list[Finding]:
    """Return all findings on one Framework, each once, in the order of the rules; paths are those of the source.

    :param digest: whether the digest that it has, if any, is one of what is checked.
    """
    findings = list(dict.fromkeys(islice(_all(context, source_text), MAX_PROBLEMS + 1)))
    if not any(finding.rule.severity is Severity.ERROR for finding in findings):
        findings += _of_what_runs(context, len(source_text), digest)
    return findings


def _of_what_runs(context: FrameworkContext, length: int, digest: bool) -> Iterator[Finding]:
    """Yield the findings on what a Framework is lowered to: only one without errors can be."""
    if length > INTENT_WORTH_MEASURING:
        from fcompile.default import default
        from fcompile.lower.intent import lower

        yield from intent_size(lower(default(context.value).framework).document())
    if digest and (said := text(mapping(mapping(context.value, "metadata"), "annotations"), DIGEST_ANNOTATION)):
        from fcompile.check.rules.framework.stale_digest import stale_digest

        yield from stale_digest(said, context.value)


def _all(context: FrameworkContext, source_text: str) -> Iterator[Finding]:
    yield from in_force(without_followers(_of_structure_and_pods(context)), context.version)
    yield from own_metadata_rules(context.value)
    yield from policies(context)
    yield from name_rules(context)
    yield from service_rules(context)
    yield from placeholder_rules(context, source_text)
    yield from address_rules(context, source_text)
    # What few Frameworks need is imported only then, since each module makes every start slower.
    if "$" in source_text or "\\" in source_text or _OPTION_AND_SPACE.search(source_text):
        from fcompile.check.rules.framework.shell_variables import shell_variable_rules

        yield from shell_variable_rules(context)
    if "topologySpreadConstraints" in source_text:
        from fcompile.check.rules.framework.spread import spread_rules

        yield from spread_rules(context)
    if "\\" in source_text or "\x7f" in source_text or not source_text.isascii():
        from fcompile.check.rules.framework.characters import character_rules

        yield from character_rules(context.value, source_text)
    if PAUSE_ANNOTATION in source_text:
        from fcompile.check.rules.framework.ignored_pause import ignored_pauses

        yield from ignored_pauses(context.value)
    counts = [role.task_number for role in context.roles]
    yield from task_rules(counts)
    yield from size_rules(context.value, len(source_text), "*" in source_text, sum(counts))


def _of_structure_and_pods(context: FrameworkContext) -> Iterator[Finding]:
    templates = list(context.templates())
    reported: set[tuple[object, ...]] = set()
    of_first = structure(_with_templates(context, templates), version=context.version, plain=context.plain)
    yield from _in_source(context, _as_written(context, of_first), reported)
    seen: set[int] = set()
    for role, template in templates:
        of_pod = pod_rules(template, role.template_path, version=context.version, written=role.template)
        if role.position not in seen:
            seen.add(role.position)
            yield from _in_source(context, of_pod, reported)
            continue
        # A problem of both the first and the last task is reported once, although the index makes the messages differ.
        of_structure = walk(template, "PodTemplateSpec", role.template_path, version=context.version, plain=context.plain)
        here: set[tuple[object, ...]] = set()
        yield from (finding for finding in _in_source(context, chain(of_structure, of_pod), here) if _key(finding) not in reported)
        reported |= here


def _as_written(context: FrameworkContext, findings: Iterable[Finding]) -> Iterable[Finding]:
    """Return the findings. What they say to write in place of a wrong type keeps its placeholders: it is for all tasks."""
    if not context.holds_placeholders:
        return findings
    found = list(findings)
    if all(finding.rule is not WRONG_TYPE for finding in found):
        return found
    of_source = structure(context.value, version=context.version, plain=context.plain)
    written = {finding.path: finding for finding in of_source if finding.rule is WRONG_TYPE}
    return [written.get(finding.path, finding) if finding.rule is WRONG_TYPE else finding for finding in found]


def _in_source(context: FrameworkContext, findings: Iterable[Finding], reported: set[tuple[object, ...]]) -> Iterator[Finding]:
    """Yield the findings at their paths in the source, without fixes where placeholders are involved, and note them as reported."""
    for finding in findings:
        path = context.source_path(finding.path)
        found = finding if path == finding.path else finding._replace(path=path, fix=None)
        reported.add(_key(found))
        yield found


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.rule.code, finding.path, finding.part


def _with_templates(context: FrameworkContext, templates: list[tuple[Any, dict[str, Any]]]) -> dict[str, Any]:
    """Return the Framework with each role's template as its first task gets it."""
    if not context.holds_placeholders or not context.roles:
        return context.value
    first = {role.position: template for role, template in reversed(templates)}
    roles = []
    for role in context.roles:
        task = role.value.get("task") if isinstance(role.value, dict) else None
        if isinstance(task, dict) and isinstance(task.get("pod"), dict):
            roles.append({**role.value, "task": {**task, "pod": first[role.position]}})
        else:
            roles.append(role.value)
    return {**context.value, "spec": {**context.value["spec"], "taskRoles": roles}}
