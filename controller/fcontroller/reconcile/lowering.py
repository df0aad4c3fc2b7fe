"""Lowering the spec of a Framework: at once, or, if it is large, in turns with the work of others."""

from __future__ import annotations

import json
from collections.abc import Generator

from fcompile.lower.digest import V1
from fcompile.lower.intent import Intent, at_once
from fcontroller import intent as intents
from fcontroller.api import Json
from fcontroller.breath import in_long_steps, turns, unhurried
from fcontroller.decide.review import Rules, Verdict, review
from fcontroller.intent import Document, Lowered
from fcontroller.mailbox import IntentLowered, Mailbox, Start

LARGE = 16 * 1024
"""Bytes of a spec from which on it is lowered in turns: a megabyte may take a second, in which no other Framework had its turn."""


class Lowering:
    """Lowers each spec of a Framework once for each digest that is expected of it."""

    def __init__(self, rules: Rules, start: Start, mailbox: Mailbox) -> None:
        self._rules, self._start, self._mailbox = rules, start, mailbox
        self._asked: tuple[int, str | None] | None = None
        """The generation of the spec that is lowered, or was last, and the digest that was expected."""
        self._lowered: Lowered | None = None
        self._stopped = False

    def stop(self) -> None:
        """Lower nothing any more."""
        self._stopped = True

    def lower(self, framework: Json, expected: str | None, other: str | None = None) -> Lowered | None:
        """Return what the spec lowers to, and what the review says of that. None: it is being lowered, and a message arrives then.

        :param expected: the digest that is reviewed. The rules are those of its version or, if that is not known, of the `other` digest's.
        """
        asked = framework["metadata"]["generation"], expected
        if self._asked != asked and not self._stopped:
            self._asked, self._lowered = asked, None
            steps = self._in_steps(framework, expected, other)
            if len(json.dumps(framework["spec"])) <= LARGE:
                self._lowered = at_once(steps)
            else:
                self._start(self._in_turns(framework["metadata"]["namespace"], asked, steps))
        return self._lowered

    def _in_steps(self, framework: Json, expected: str | None, other: str | None) -> Generator[None, None, Lowered]:
        try:
            document = yield from intents.document_of(framework, expected, other)
            verdict = review(expected, document.intent.digest, self._rules)
        except Exception as error:  # Whatever is wrong with the spec, what runs goes on, and Stop works.
            document = Document(Intent(framework["metadata"]["name"], "", {}, (), "", V1), "", 0)
            why = str(error) if isinstance(error, ValueError) else repr(error)
            verdict = Verdict(False, "Uncompilable", f"The spec cannot be compiled: {why}: see `fcompile validate`", False)
        return Lowered(framework["metadata"]["generation"], document, verdict)

    async def _in_turns(self, namespace: str, asked: tuple[int, str | None], steps: Generator[None, None, Lowered]) -> None:
        async with turns().alone(namespace):
            if self._stopped or self._asked != asked:
                return
            lowered, _ = await unhurried(in_long_steps(steps))
        if self._asked == asked and not self._stopped:
            self._lowered = lowered
            self._mailbox.put(IntentLowered())
