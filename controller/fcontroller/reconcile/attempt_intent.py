"""The intent of a Framework's attempt: what the spec lowers to is reviewed, named in the status, stored, and then in force.

`decide.intents` says in which order, and what counts; here it is carried out for one Framework.
"""

from __future__ import annotations

from functools import partial

from fcompile.lower.digest import KNOWN, version_of
from fcontroller import intent as intents
from fcontroller.api import Json
from fcontroller.decide.conditions import INTENT_STORED, is_said, set_problem, set_reviewed
from fcontroller.decide.intents import LoweredSpec, apply_edit, note_edit, plan_intent
from fcontroller.decide.review import Verdict, in_force, review, with_roles, with_what_runs
from fcontroller.decide.spec import Spec
from fcontroller.decide.states import CREATED, CREATION_PENDING
from fcontroller.decide.status import IntentRecord, Status
from fcontroller.dependencies import Dependencies
from fcontroller.intent import Lowered
from fcontroller.mailbox import IntentLowered, IntentRead, IntentRefused, Mailbox, Start
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.intent_keeper import IntentKeeper
from fcontroller.reconcile.lowering import Lowering
from fcontroller.reconcile.pod_renderer import PodRenderer, template_hashes
from fcontroller.reconcile.services import Services

_STORED = ("Stored", "The attempt's ConfigMap holds the intent in force")


class AttemptIntent:
    """Says what Pods are made from, and which spec holds."""

    def __init__(
        self, dependencies: Dependencies, framework: Json, services: Services, start: Start, mailbox: Mailbox, alarms: Alarms
    ) -> None:
        self._dependencies = dependencies
        self._keeper = IntentKeeper(dependencies.api, framework, services, start, mailbox, alarms)
        self._newest = Lowering(dependencies.rules, start, mailbox)
        self._lost = Lowering(dependencies.rules, start, mailbox)
        """Makes the document in force anew."""
        self._edit = ""
        """The digest of the edit that may be stored now; empty: there is none, or it waits."""
        self._next: Lowered | None = None
        """What the next attempt may begin with."""
        self._is_late = False
        """Whether an edit came before we began, before the attempt had, or in a pause: so its counts hold, and it is not in force yet."""
        self.awaits_edit = False
        """Whether no Pod is to be made until such an edit is in force: it would be a new task's, and as before the edit for good."""
        self._renderer: tuple[str, str, PodRenderer] | None = None
        self._noted: tuple[object, ...] = ()
        """The last edit before which it was noted what Pods are made from. For a megabyte of templates that takes a while."""
        self._maintained: tuple[object, ...] = ()
        """The last inputs of `maintain`. While they stay the same, and the keeper rests, there is nothing to do."""

    def stop(self) -> None:
        """Lower nothing any more."""
        self._newest.stop()
        self._lost.stop()

    def note(self, message: IntentRead | IntentRefused | IntentLowered) -> None:
        """Take in what has become of reading or writing the ConfigMap, or that a large spec was lowered."""
        if not isinstance(message, IntentLowered):
            self._keeper.note(message)
        self._maintained = ()

    def spec(self, wanted: Spec, last: Spec, status: Status, framework: Json, paused: bool) -> Spec:
        """Return the spec that holds now.

        An edit of what Pods are made from holds once its intent is stored, all of it at once, but Stop and a deadline never wait. If it may
        not run, or cannot be stored, its counts and policies hold without it.

        :param wanted: the newest spec. :param last: the spec that has held so far.
        :param paused: whether an edit waits for the end of a pause: it is decided by its counts and policies then.
        """
        record, generation = status.intent, framework["metadata"]["generation"]
        self.awaits_edit = False
        if status.state not in CREATED:
            self._is_late = True
            return wanted
        held = self._keeper.held.get(record.digest or "")
        self._is_late = record.generation != generation and (self._is_late or held is None or paused)
        if held is None:
            return with_what_runs(wanted, status)
        if record.generation == generation:
            return wanted
        if wanted.stops:  # No Pod is made any more, of whatever intent; and the scale counts before the Stop.
            return in_force(wanted, held.intent, last)
        lowered = self._lower(framework, record)
        if lowered is not None:
            if lowered.document.intent.digest == held.intent.digest:
                return wanted
            if not lowered.verdict.may_run or self._keeper.refuses(lowered.document.digest):
                return in_force(wanted, held.intent, last)
        self.awaits_edit = self._is_late
        if self._is_late:
            return with_roles(wanted, {name: wanted.roles.get(name, role) for name, role in last.roles.items()})
        return with_roles(wanted, last.roles)._replace(retry=last.retry)

    def renderer(self, status: Status, framework: Json) -> PodRenderer | None:
        """Return what renders Pods, or None while it is not known what they are made from."""
        digest, uid = status.intent.digest or "", status.attempt.object_uid or ""
        held = self._keeper.held.get(digest)
        if held is None:
            self._renderer = None
        elif self._renderer is None or self._renderer[:2] != (digest, uid):
            self._renderer = digest, uid, PodRenderer(held.intent, framework, uid)
        return self._renderer[2] if self._renderer else None

    def next(self, status: Status) -> Lowered | None:
        """Return the intent of the next attempt, once the stored status names it."""
        named = self._next is not None and status.state == CREATION_PENDING and status.intent.next == self._next.document.digest
        return self._next if named and status.named <= status.stored else None

    def may_run(self, status: Status, framework: Json) -> bool:
        """Return whether the review lets an attempt of the present spec begin."""
        lowered = self._lower(framework, status.intent)
        return lowered is not None and lowered.verdict.may_run

    def prepare(self, status: Status, framework: Json, begins: bool) -> None:
        """Name the intent of the next attempt in the status, if it may run.

        :param begins: whether the creation of the ConfigMap was requested: then the intent does not change any more.
        """
        lowered = self._lower(framework, status.intent)
        if lowered is not None:
            self._say_reviewed(status, framework, lowered.verdict)
        if begins:
            return
        self._next = lowered if lowered is not None and lowered.verdict.may_run else None
        if lowered is None:
            return
        wanted = self._next.document.digest if self._next else None
        if status.intent.next != wanted:
            status.intent = IntentRecord(None, wanted)
            status.named = status.touch()

    def begun(self) -> None:
        """Take in that an attempt has begun with the intent that `next` returned."""
        if self._next is not None:
            self._keeper.begin(self._next.document)
            self._maintained = ()

    def maintain(self, status: Status, framework: Json, version: str, paused: bool) -> None:
        """Keep the attempt's ConfigMap as the status says, and put edits of the spec in force.

        :param version: the ConfigMap's resourceVersion. :param paused: whether an edit waits, since it would create and delete Services.
        """
        keeper, record, uid = self._keeper, status.intent, status.attempt.object_uid or ""
        inputs = status, record, status.named <= status.stored, framework, version, paused
        if inputs == self._maintained and keeper.rests:  # So it is for most Pods that something happens to.
            return
        self._maintained = inputs
        keeper.seen(version)
        spec = self._lowered_spec(status, framework)
        if spec is None or not self._restore(record, framework):
            self._edit = ""
            return
        plan = plan_intent(record, status.named <= status.stored, spec, keeper.stored, keeper.held)
        self._edit = "" if paused else plan.record.next or ""
        if keeper.working:
            waited_for = plan.record.next or record.digest not in keeper.held
            if keeper.refused and waited_for:
                self._say_stored(status, framework)
            return
        keeper.expect(plan.record.next or "")
        if plan.record != record:
            status.intent, revision = plan.record, status.touch()
            if plan.record.digest != record.digest and (renderer := self.renderer(status, framework)) is not None:
                apply_edit(status, renderer.template_hashes)
            status.named = revision if plan.record.next not in (None, record.next) else status.named
        # Only now: of what was in force until now there may be nothing left.
        if plan.record.next is not None and self._note_edit(status, framework, plan.record.next):
            status.named, plan = status.revision, plan._replace(write=None)  # The ConfigMap will forget what was in force.
        record = status.intent
        keeper.keep_only(record.digest, record.next)
        if keeper.stored is None:
            keeper.read(uid, framework, record.digest, record.next)
        elif plan.write is not None and plan.write == record.digest:
            keeper.write(plan.write, uid, framework, status.attempt.id, repair=True)
        elif plan.write is not None and not paused:
            wanted = partial(self._is_wanted, plan.write, uid, status)
            keeper.write(plan.write, uid, framework, status.attempt.id, repair=False, wanted=wanted)
        elif keeper.orphaned and record.digest and record.digest == keeper.stored and record.digest in keeper.held:
            keeper.write(record.digest, uid, framework, status.attempt.id, repair=True)
        self._say_stored(status, framework)

    def _note_edit(self, status: Status, framework: Json, edit: str) -> bool:
        """Note what Pods are made from before an edit is stored, once that is known. Return whether that is new."""
        held, renderer = self._keeper.held.get(edit), self.renderer(status, framework)
        noted = status.attempt.object_uid, status.intent.digest, edit, renderer is None
        if noted == self._noted or held is None or (renderer is None and (self._keeper.stored is None or not status.intent.digest)):
            return False
        self._noted = noted
        return note_edit(status, renderer.template_hashes if renderer else {}, template_hashes(held.intent))

    def _is_wanted(self, edit: str, uid: str, status: Status) -> bool:
        """Return whether an edit is still to be stored, in the ConfigMap with that uid."""
        return self._edit == edit and status.state in CREATED and status.attempt.object_uid == uid

    def _lowered_spec(self, status: Status, framework: Json) -> LoweredSpec | None:
        record, generation = status.intent, framework["metadata"]["generation"]
        held = self._keeper.held.get(record.digest or "")
        if record.digest and record.generation == generation:
            # The spec was not edited: the intent in force stays, even if newer lowering rules would change it.
            if held is not None:
                verdict = review(intents.reviewed_digest(framework), held.intent.digest, self._dependencies.rules)
                self._say_reviewed(status, framework, verdict)
            return LoweredSpec(generation, record.digest, may_run=True)
        lowered = self._lower(framework, record)
        if lowered is None:
            return None
        self._say_reviewed(status, framework, lowered.verdict)
        if lowered.verdict.may_run:
            self._keeper.hold(lowered.document)
        return LoweredSpec(generation, lowered.document.digest, lowered.verdict.may_run)

    def _lower(self, framework: Json, record: IntentRecord) -> Lowered | None:
        """Return what the newest spec lowers to; None: it is being lowered."""
        return self._newest.lower(framework, intents.reviewed_digest(framework), record.digest)

    def _restore(self, record: IntentRecord, framework: Json) -> bool:
        """Restore a document in force that is lost, if lowering the spec again gives it. Return False while the spec is being lowered."""
        digest = record.digest
        if not digest or digest in self._keeper.held or self._keeper.stored in (None, digest) or version_of(digest) not in KNOWN:
            return True
        lowered = self._lost.lower(framework, digest)
        if lowered is not None and lowered.document.digest == digest:
            self._keeper.hold(lowered.document)
        return lowered is not None

    def _say_reviewed(self, status: Status, framework: Json, verdict: Verdict) -> None:
        wrong = set_reviewed(status, verdict, framework["metadata"]["generation"], self._dependencies.now())
        if wrong:
            self._dependencies.report.warn(framework, *wrong)

    def _say_stored(self, status: Status, framework: Json) -> None:
        if self._keeper.stored is None and not self._keeper.refused:
            return  # What was said stays until the ConfigMap was read.
        reason, message = self._trouble(status)
        if not reason and status.intent.next is not None and is_said(status, INTENT_STORED, "Refused"):
            return  # An edit is being stored, and was refused before the controller began: that stays until it is in force.
        if set_problem(status, INTENT_STORED, reason, message, _STORED, framework["metadata"]["generation"], self._dependencies.now()):
            self._dependencies.report.warn(framework, f"Intent{reason}", message)

    def _trouble(self, status: Status) -> tuple[str, str]:
        """Return the reason and message of a problem with the stored intent; empty if there is none."""
        keeper, digest, where = self._keeper, status.intent.digest, f"ConfigMap `{status.attempt.object_name}`"
        if digest and digest not in keeper.held and keeper.stored == digest:
            return "UnknownLowering", f"{where} holds an intent of lowering rules that this controller does not have: no Pod is created"
        if digest and keeper.stored is not None and keeper.stored not in (digest, status.intent.next):
            why = f"{where} does not hold the intent that is in force: {keeper.problem}. Somebody else has written it. "
            if digest in keeper.held:
                return "Forged", why + (f"It cannot be repaired: {keeper.refused}" if keeper.refused else "It is repaired from a copy")
            return "Forged", f"{why}No Pod is created, since there is no copy: compile the Framework with `fcompile build`, and apply that"
        if keeper.refused and digest and digest not in keeper.held:
            return "Refused", f"{where} cannot be read, and no Pod is created until it is: {keeper.refused}"
        if keeper.refused:
            return "Refused", f"{where} cannot be written, and an edit of Pods or Services is not in force until it is: {keeper.refused}"
        return "", ""
