"""What a pause, or a digest that is not that of the spec, holds of a Framework, and what of that ends Pods once it goes on.

Where the status does not say what was held, it counts as if something was that does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fcompile.diff import quoted, tasks
from fcompile.diff.effects import State
from fcompile.model.framework import restart_of
from fcompile.model.values import text

_POLICY = "frameworkAttemptCompletionPolicy"


class Held(NamedTuple):
    """A Framework of which something may be held."""

    before: Mapping[str, Any]
    """As it was when it was held."""
    after: Mapping[str, Any]
    """As it is once it goes on."""
    status: Any
    """None: it is not known."""
    known: tasks.Known
    """What the status says of tasks."""
    state: State

    def by_pause(self) -> str:
        """Return what the end of a pause does to Pods that run; empty: nothing."""
        if self.state is State.ENDS and tasks.any_may_run(self.known):
            return "the attempt was to end, and all of its Pods with it"
        return self._said(self._by_both(), self._by_pause_alone())

    def by_digest(self) -> str:
        """Return what a digest that is right again does to Pods that run; empty: nothing."""
        return self._said(self._by_both())

    def _said(self, *held: Iterator[str]) -> str:
        if self.state is not State.RUNS or not tasks.any_may_run(self.known):
            return ""
        if not self.known:
            return "what was held meanwhile may end Pods"
        return "; ".join(each for some in held for each in some)

    def _by_both(self) -> Iterator[str]:
        if restart_of(self.after) not in ("", text(self.status, "observedRestart")):
            yield "every task is ended by a restart that was held"
        counts = {role["name"]: role["taskNumber"] for role in self.before["spec"]["taskRoles"]}
        if any(tasks.may_run(self.known, name, counts.get(name, 0), len(of)) for name, of in self.known.items() if name is not None):
            yield "tasks that were removed meanwhile are ended"

    def _by_pause_alone(self) -> Iterator[str]:
        for role in self.after["spec"]["taskRoles"]:
            for field, failed in ("minFailedTaskCount", True), ("minSucceededTaskCount", False):
                if 1 <= role[_POLICY][field] <= tasks.ended(self.known, role["name"], failed):
                    yield f"if the tasks of {quoted.name(role['name'])} that have ended meet `{field}`, all others are ended"
        if "activeDeadlineSeconds" in self.after["spec"]:
            yield "if its deadline has passed meanwhile, every task is ended"
