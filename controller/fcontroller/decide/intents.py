"""Which intent is in force, and what becomes of its ConfigMap.

Users who may write ConfigMaps may change this one. So a document is valid only if its digest is the one in the status, which only the
controller writes:

1. The status names the next digest; 2. the ConfigMap is written; 3. the next digest becomes the one in force.

A controller that dies in between finds in the ConfigMap either the document in force or the next one. So a newer edit takes the place of
the next one only once the ConfigMap was read. Any other document is forged or lost. It is written back from a copy whose digest is right:
one in memory, or what the spec lowers to. Where there is none, nothing is created until a spec that may run takes its place.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import NamedTuple

from fcontroller.decide.states import CREATED
from fcontroller.decide.status import IntentRecord, Status


class LoweredSpec(NamedTuple):
    """What the Framework's spec, as it is now, lowers to."""

    generation: int
    digest: str
    """Of the whole document."""
    may_run: bool
    """Whether the review lets it begin, or take the place of what is in force."""


class IntentPlan(NamedTuple):
    """What is to be done about the intent of a running attempt."""

    record: IntentRecord
    """As the status should have it."""
    write: str | None
    """The digest of the document to write into the ConfigMap, now that the status names it; None: nothing is to be written."""


def plan_intent(record: IntentRecord, named: bool, spec: LoweredSpec, stored: str | None, held: Container[str]) -> IntentPlan:
    """Decide which intent is in force while an attempt runs, which is next, and what is written into the ConfigMap.

    :param named: whether `record` is stored, so that its `next` may be written into the ConfigMap.
    :param stored: the digest of the document in the ConfigMap; empty: it has none that can be read; None: it has not been read yet.
    :param held: the digests of the documents that are in memory.
    """
    digest, generation = record.digest, record.generation
    if stored is None and record.next is not None:
        return IntentPlan(record, None)  # It may be in the ConfigMap. Whoever forgot that would take it for forged.
    if stored and stored == record.next:
        digest, generation = record.next, None
    wanted = digest if generation == spec.generation or not spec.may_run else spec.digest
    if digest is not None and wanted == digest:
        generation = spec.generation if spec.digest == digest else generation
        lost = stored is not None and stored != digest
        return IntentPlan(IntentRecord(digest, None, generation, record.adopted), digest if lost and digest in held else None)
    adopted = record.adopted or digest is None
    write = wanted if wanted is not None and named and record.next == wanted and stored is not None else None
    return IntentPlan(IntentRecord(digest, wanted, generation, adopted), write)


_LOST = "lost"
"""What stands for the hash of a template that nobody has any more: Pods made from it are taken for other ones than those of an edit."""


def note_edit(status: Status, templates: Mapping[str, str], edited: Mapping[str, str]) -> bool:
    """Note what Pods are made from, for each role of which an edit is about to change that. Return whether that is new.

    :param templates: the hash for each role; none: they are lost. :param edited: the same of the edit.
    """
    is_new = False
    for role in status.roles:
        template = templates.get(role.name) if templates else _LOST
        if template is not None and role.pod_template_hash is None and template != edited.get(role.name, template):
            role.pod_template_hash, is_new = template, True
    if is_new:
        status.touch()
    return is_new


def apply_edit(status: Status, edited: Mapping[str, str]) -> None:
    """Note what Pods are made from now, and of each Pod that was made from something else, from what.

    :param edited: the hash for each role.
    """
    for role in status.roles:
        before, template = role.pod_template_hash, edited.get(role.name)
        if before is None or template in (None, before):
            continue
        role.pod_template_hash = template
        status.touch()
        for task in role.tasks:
            made_from = task.attempt.pod_template_hash or (before if task.state in CREATED else template)
            status.note_template(role, task, None if made_from == template else made_from)
