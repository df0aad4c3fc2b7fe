"""Write `docs/states.md`: the states of Frameworks and tasks, drawn and tabled, from the tables that the controller goes by.

`--check`: write nothing, exit with 1 if the page is not what it would be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed

from fcontroller.decide import states  # noqa: E402
from fcontroller.decide.states import COMPLETED, CREATION_PENDING, STATES, Transition  # noqa: E402
from tools.generated import write_or_check  # noqa: E402

PAGE = ROOT / "docs" / "states.md"
INTRODUCTION = """\
# States

<!-- Written by tools/states_page.py from the tables in controller/fcontroller/decide/states.py: change those. -->

A Framework and each of its tasks go through the same states, attempt by attempt. An attempt of a Framework is a ConfigMap, an attempt of a
task is a Pod. The controller stores each state in the Framework's status before it does what the state allows, so that after a crash it
knows what it may have done:

- `AttemptCreationPending`: the object may be created. `AttemptCreationRequested`: it was, and its uid is known.
- `AttemptPreparing`: the object is there. `AttemptRunning`: the Pod runs, or for a Framework any Pod does.
- `AttemptDeletionPending`: how the attempt ended is known, and the object may be deleted. `AttemptDeletionRequested`: it was.
  `AttemptDeleting`: it is on its way out.
- `AttemptCompleted`: the object is gone, and the next attempt may begin. `Completed`: there will be none.

There are no other transitions than these; a test takes each of them, from each of its states.
"""


def table(level: str) -> dict[str, Transition]:
    """Return the transitions of FRAMEWORK or TASK, by their names in the code."""
    return {name: found for name, found in vars(states).items() if name.startswith(f"{level}_") and isinstance(found, Transition)}


def main() -> int:
    """Write or check the page; returns the exit code."""
    return write_or_check(__doc__, PAGE, page)


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for title, letter, transitions in (("The Framework", "F", table("FRAMEWORK")), ("A task", "T", table("TASK"))):
        parts += [f"\n## {title}\n\n", *_diagram(letter, transitions), "\n", *_table(letter, transitions)]
    return "".join(parts)


def _diagram(letter: str, transitions: Mapping[str, Transition]) -> Iterator[str]:
    yield f"```mermaid\nstateDiagram-v2\n    [*] --> {CREATION_PENDING}\n"
    for number, transition in enumerate(transitions.values(), 1):
        for source in _in_order(transition.sources):
            yield f"    {source} --> {transition.target}: {letter}{number}\n"
    yield f"    {COMPLETED} --> [*]\n```\n"


def _table(letter: str, transitions: Mapping[str, Transition]) -> Iterator[str]:
    yield "| | from | to | when |\n| --- | --- | --- | --- |\n"
    for number, transition in enumerate(transitions.values(), 1):
        yield f"| {letter}{number} | {', '.join(_in_order(transition.sources))} | {transition.target} | {transition.when} |\n"


def _in_order(states: Iterable[str]) -> list[str]:
    return sorted(states, key=STATES.index)


if __name__ == "__main__":
    sys.exit(main())
