"""Reads and writes the document in the ConfigMap of one Framework's attempt. What it reads counts by its digest alone.

There is one request at a time. After a failure, or a change by somebody else, the next one waits, so that repeated changes do not keep the
controller busy: it is not begun before its time, and a message arrives then, so that what it depends on is looked at again. For the same
reason no more is unpacked than the expected documents are long, and only one document at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, NamedTuple

from fcompile.lower.digest import KNOWN, digest_text, version_of
from fcompile.model import names
from fcompile.model.packed import INTENT_BYTES
from fcontroller import intent as intents
from fcontroller.act import requests
from fcontroller.act.dispatcher import Dispatcher
from fcontroller.act.requests import Refused
from fcontroller.act.retry import SLOW, Pace, backoff
from fcontroller.api import Answer, Json, Projection, Unreachable, Unwanted, Wanted, always, path_of
from fcontroller.breath import turns, unhurried
from fcontroller.decide.owners import FOREGROUND, ORPHAN, framework_owner, owners
from fcontroller.intent import Document
from fcontroller.mailbox import Due, IntentRead, IntentRefused, Mailbox, Start
from fcontroller.reconcile.alarms import Alarms
from fcontroller.reconcile.services import Services

_RACES = 5
"""How often in a row somebody else may have been first, before that is no race: a webhook may answer with a conflict for ever."""


class _Work(NamedTuple):
    """What is done, or waited for."""

    digest: str = ""
    """Of the document to be written; empty: the ConfigMap is read."""
    repair: bool = False

    @property
    def edit(self) -> str:
        """Return the digest of the edit that is to be in force afterwards; empty: it is for none."""
        return "" if self.repair else self.digest


class IntentKeeper:
    """Holds the valid documents of an attempt, and what its ConfigMap has."""

    def __init__(self, api: Dispatcher, framework: Json, services: Services, start: Start, mailbox: Mailbox, alarms: Alarms) -> None:
        self._api, self._services, self._start, self._mailbox, self._alarms = api, services, start, mailbox, alarms
        metadata = framework["metadata"]
        self._namespace: str = metadata["namespace"]
        self._path = path_of("configmaps", self._namespace, names.config_map_name(metadata["name"]))
        self.held: dict[str, Document] = {}
        """The valid documents, by digest."""
        self.stored: str | None = None
        """The digest of what the ConfigMap holds; empty: nothing that counts; None: it must be read first."""
        self.problem = ""
        """Why what the ConfigMap holds does not count."""
        self.orphaned = False
        """Whether the ConfigMap has another owner, or another finalizer of the garbage collector's than it was made with.

        It would stay, or its Pods would, when the Framework is deleted."""
        self.refused = ""
        """Why the API server did not let it be read or written the last time."""
        self._work: _Work | None = None
        """What is under way."""
        self._next: tuple[_Work, float] | None = None
        """What is done next, and when at the earliest, by the clock of the loop."""
        self._expected = self._failed = ""
        """The digests of the edit that is to be stored, and of the one that the last failures were about; empty: none."""
        self._version = ""
        """The resourceVersion of the ConfigMap that was read or written last."""
        self._failures = 0
        self._changes, self._repairs = Pace(), Pace()

    @property
    def working(self) -> bool:
        return self._work is not None

    @property
    def rests(self) -> bool:
        """Return whether nothing is under way, waits or is wrong: then nothing changes but by a message."""
        return self._work is None and self._next is None and self.stored is not None and not (self.refused or self.orphaned)

    def refuses(self, edit: str) -> bool:
        """Return whether the API server does not let an edit be stored. One that was not tried yet may have better luck than the last one.

        :param edit: its digest.
        """
        return bool(self.refused) and self._failed in ("", edit)

    def begin(self, document: Document) -> None:
        """Note that a new attempt began with this document in its ConfigMap."""
        self.held, self.stored, self.problem, self._version, self.orphaned = {}, document.digest, "", "", False
        self.hold(document)
        self.refused, self._failures, self._failed, self._expected = "", 0, "", ""
        self._work = self._next = None  # What is under way was for the attempt before.

    def hold(self, document: Document) -> None:
        """Keep a valid document."""
        self.held[document.digest] = document

    def seen(self, version: str) -> None:
        """Note the resourceVersion that a watch showed: if it is newer than the known one, the ConfigMap must be read again."""
        waits = self._next is not None and asyncio.get_running_loop().time() < self._next[1]
        if not waits and not self.working and int(version) > int(self._version or 0):
            self.stored = None

    def expect(self, edit: str) -> None:
        """Note which edit is to be stored, by its digest, and forget the failures of others; empty: there is none."""
        if edit != self._expected:
            self._expected = edit
            self._services.forget_edit()
        if self._failed not in ("", edit):
            self.refused, self._failures, self._failed = "", 0, ""
        if self._next is not None and self._next[0].edit not in ("", edit):
            self._next = None

    def keep_only(self, *digests: str | None) -> None:
        """Forget all documents but these."""
        if len(self.held) > 1:
            self.held = {digest: document for digest, document in self.held.items() if digest in digests}

    def read(self, uid: str, framework: Json, *digests: str | None) -> None:
        """Read what the ConfigMap with that uid holds. It counts if it has one of these digests."""
        changed = self._version != ""
        delay = self._changes.delay if changed else backoff
        self._do(_Work(), partial(self._read, uid, framework, digests), delay)

    def write(self, digest: str, uid: str, framework: Json, attempt: int, *, repair: bool, wanted: Wanted = always) -> None:
        """Write a held document, and the owner, into the ConfigMap with that uid; a new document once its Services exist.

        What somebody else has written there is read before, since a forged document must be reported.

        :param repair: the document is in force already: somebody else has changed the ConfigMap. :param wanted: asked before each request.
        """
        delay = self._repairs.delay if repair else backoff
        self._do(_Work(digest, repair), partial(self._write, self.held[digest], uid, framework, attempt, repair, wanted), delay)

    def note(self, message: IntentRead | IntentRefused) -> None:
        """Take in what has become of reading or writing."""
        work, self._work = self._work, None
        if work is None:
            return  # It was for an attempt that is over.
        match message:
            case IntentRead(version, digest, document, problem, orphaned):
                self.stored, self._version, self.problem, self.orphaned = digest, version, problem, orphaned
                if work.digest or not self._failed:  # That it can be read does not mean that an edit can be written.
                    self.refused, self._failures, self._failed = "", 0, ""
                if document and digest not in self.held and version_of(digest) in KNOWN:
                    self.hold(Document(intents.read_document(document), digest, len(document)))
            case IntentRefused(Unwanted()):
                self._failed = work.edit
            case IntentRefused(error):
                self._failures, self._failed = self._failures + 1, work.edit
                if work.digest and requests.may_be_stored(error):
                    self.stored, self._version = None, ""
                is_missed = isinstance(error, Refused) and error.code in (404, 409)
                if is_missed:
                    self.stored = None
                if self.refused or (self._failures >= _RACES if is_missed else requests.lasts(error, self._failures)):
                    self.refused = str(error)

    def _do(self, work: _Work, begin: Callable[[], Coroutine[Any, Any, IntentRead]], delay: Callable[[int], float]) -> None:
        """Begin a piece of work if it is time; if not, have a message arrive when it is."""
        now = asyncio.get_running_loop().time()
        if self._next is None or self._next[0] != work:
            self._next = work, now + delay(self._failures)
        if now < self._next[1]:
            return self._alarms.set(None, self._next[1])
        self._next, self._work = None, work
        self._start(self._try(work, begin))

    async def _try(self, work: _Work, begin: Callable[[], Coroutine[Any, Any, IntentRead]]) -> None:
        late = asyncio.get_running_loop().call_later(SLOW, self._note_silence, work)
        try:
            message: IntentRead | IntentRefused = await begin()
        except (Refused, Unreachable, Unwanted) as error:
            message = IntentRefused(error)
        finally:
            late.cancel()
        if self._work is work:
            self._mailbox.put(message)

    def _note_silence(self, work: _Work) -> None:
        if self._work is work:
            self.refused, self._failed = self.refused or self._api.silence(self._namespace), work.edit
            self._mailbox.put(Due(None))

    async def _read(self, uid: str, framework: Json, digests: tuple[str | None, ...]) -> IntentRead:
        return await self._what_is_in(await self._find(uid), framework, digests)

    async def _what_is_in(self, found: Json, framework: Json, digests: tuple[str | None, ...]) -> IntentRead:
        version, orphaned = found["metadata"]["resourceVersion"], await self._is_orphaned(found, framework)
        wanted = [digest for digest in digests if digest]
        limit = max([self.held[digest].size if digest in self.held else INTENT_BYTES for digest in wanted], default=0)
        try:
            async with turns().alone(framework["metadata"]["namespace"]):
                (document, hashed), _ = await unhurried(intents.read_stored(found, limit))
        except ValueError as error:
            return IntentRead(version, "", problem=str(error), orphaned=orphaned)
        for digest in wanted:
            if digest == digest_text(hashed, version_of(digest)):
                return IntentRead(version, digest, document, orphaned=orphaned)
        return IntentRead(version, "", problem="it holds another document", orphaned=orphaned)

    async def _is_orphaned(self, config_map: Json, framework: Json) -> bool:
        """Return whether somebody has changed the owner of a ConfigMap, or what becomes of its Pods.

        The garbage collector does so for a deletion that orphans. The Framework is read to learn this earlier than from the watch.
        """
        metadata = config_map["metadata"]
        finalizers = metadata.get("finalizers") or ()
        goes_with_pods = "deletionTimestamp" in metadata or (FOREGROUND in finalizers and ORPHAN not in finalizers)
        if owners(metadata) == [framework_owner(framework)] and goes_with_pods:
            return False
        found = await requests.read_framework(self._api, framework, Projection.METADATA)
        return found is not None and "deletionTimestamp" not in found["metadata"]

    async def _write(self, document: Document, uid: str, framework: Json, attempt: int, repair: bool, wanted: Wanted) -> IntentRead:
        if not repair:
            await self._services.ensure(document.intent, framework, wanted)
        found = await self._find(uid)
        if found["metadata"]["resourceVersion"] != self._version:
            return await self._what_is_in(found, framework, tuple(self.held))
        made = intents.as_made(found, intents.config_map(document.intent, framework, attempt))
        written = await requests.replace(self._api.when(wanted), self._path, made)
        read = await self._what_is_in(written, framework, (document.digest,))
        if read.digest != document.digest or read.orphaned:
            why = "it is immutable" if written.get("immutable") else "it was changed as it was written, as by an admission webhook"
            raise Refused(Answer(422, {}), why)
        return read

    async def _find(self, uid: str) -> Json:
        found = await requests.find(self._api, self._path, uid=uid)
        if found is None:
            raise Refused(Answer(404, {}), "the ConfigMap is gone")
        return found
