"""`generate`: the manifests of an application on stdout, all of them or nothing; and when there are none, that is an error.

Argo CD deletes what is missing in the output of a plugin. So whatever could not be read, rendered or compiled ends the run, with a report
on stderr that Argo CD shows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice

from fcompile.check.places import look_up_in
from fcompile.commands.argocd import application
from fcompile.commands.argocd.compiled import MAX_OUTPUT, Job, Made, compile_source
from fcompile.commands.argocd.discreet import Discreet
from fcompile.commands.argocd.repository import Repository, repository_of
from fcompile.commands.argocd.settings import OVERRIDE, Settings, settings
from fcompile.commands.argocd.source_mapper import SourceMapper
from fcompile.commands.argocd.sources import Source, sources
from fcompile.commands.group import command
from fcompile.commands.report import WAIVERS_FILE, OnlyWhenFound, WriterListener, fails, open_report, waivers_file
from fcompile.diagnostics.visible import listed, visible
from fcompile.emit.stdout import write
from fcompile.errors import EXIT_ERRORS, InputError, ProcessError, UsageError
from fcompile.load import read
from fcompile.pipeline.inputs import WORTH_PROCESSES, cores
from fcompile.pipeline.overrides import refusal
from fcompile.pipeline.processes import in_processes
from fcompile.pipeline.reporting import report
from fcompile.program import say, say_first

WARNING = "warning: "
"""Before a line of stderr that is a warning of its own; problems of the files have their severity in themselves."""
_AT_ONCE = 16
_MOST_NAMED = 20


@command(
    page="argocd.md",
    examples={
        "fcompile argocd generate": "what Argo CD gets for this folder",
        "fcompile argocd generate apps/train | kubectl diff -f -": "what a sync of that application would change",
    },
)
@application
def generate(*, folder: str) -> int:
    """Print the manifests of an application: Frameworks compiled, everything else as it is; all of them or nothing.

    Settings come from the Application's parameters and environment, as Argo CD passes them on.
    """
    repository = enter(folder)
    asked = settings(os.environ)
    texts = list(sources(repository, asked))
    made = list(_bounded(compile_all(texts, Job(repository, asked, os.path.lexists(WAIVERS_FILE)))))
    if not _report(made, texts, repository, asked):
        return EXIT_ERRORS
    _check_overrides(made, asked)
    if not any(one.frameworks for one in made) and not asked.allow_empty:
        raise InputError(
            "no Framework found in this application: Argo CD would take the output for all that there is, and delete the rest; "
            "if that is meant, set the parameter allow-empty to true"
        )
    _tell(made)
    write(one.text.decode() for one in made)
    return 0


def _bounded(made: Iterator[Made]) -> Iterator[Made]:
    """Yield what was made of texts. Raises InputError as soon as it is too much for an answer."""
    size = 0
    for one in made:
        size += len(one.text)
        if size > MAX_OUTPUT:
            raise InputError(f"the application comes to more than {MAX_OUTPUT:,} bytes, which Argo CD would not take: divide it")
        yield one


def enter(folder: str) -> Repository:
    """Work in the folder of the application, as Argo CD does, and return the repository that it is in."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise no_folder(folder, error.strerror) from None
    return repository_of(".", os.environ.get("ARGOCD_APP_SOURCE_PATH", ""))


def no_folder(folder: str, why: str | None) -> UsageError:
    """Return the error for what is no folder; `why` it cannot be entered is said unless it is a file."""
    return UsageError(f"{visible(folder)}: {'this is a file: name the folder of the application' if os.path.isfile(folder) else why}")


def compile_all(texts: list[Source], job: Job) -> Iterator[Made]:
    """Compile each text, on all cores when there are many. Yield what was made of them, in their order."""
    processes = cores() if len(texts) >= WORTH_PROCESSES else 1
    if processes == 1:
        yield from (compile_source(source, job) for source in texts)
        return
    # Numbers go to the processes, which have the texts from the beginning.
    numbers = iter(range(len(texts)))
    batches = iter(lambda: list(islice(numbers, _AT_ONCE)), [])
    try:
        for results in in_processes(partial(_numbered, texts, job), batches, processes):
            yield from results
    except ProcessError as error:
        raise UsageError(str(error)) from None


def _numbered(texts: list[Source], job: Job, number: int) -> Made:
    return compile_source(texts[number], job)


def _report(made: list[Made], texts: list[Source], repository: Repository, asked: Settings) -> bool:
    """Print what was found. Return whether there can be output."""
    mapper = SourceMapper(open_report("text", sys.stderr, "never"), texts, repository, asked.checked)
    listener = WriterListener(OnlyWhenFound(Discreet(mapper, {one.checked.file: one.hidden for one in made})))
    by_name = {source.name: source for source in texts}
    places = look_up_in(lambda name: read(by_name[name].content(repository), name, with_duplicates=True))
    failed = fails(report((one.checked for one in made), places, listener, waivers_file(), whole=True), asked.strict, "strict")
    refused = list(dict.fromkeys(one.refused for one in made if one.refused))  # a parameter is refused once for each file
    say_first(refused, _MOST_NAMED, "… and {} more files")
    return not failed and not refused


def _check_overrides(made: list[Made], asked: Settings) -> None:
    known = [role for one in made for role in one.roles]
    for override in asked.overrides:
        refused = refusal(override, known)
        if refused is not None:
            raise InputError(refused.called(OVERRIDE))


def _tell(made: list[Made]) -> None:
    """Say what is missing in the output though somebody may look for it there, and what does not work as it says. Argo CD logs it."""
    left_out = [location for one in made for location in one.left_out]
    if left_out:
        say(f"left out, no objects for a cluster: {listed(left_out, _MOST_NAMED)}")
    pods = [tasks for one in made for tasks in one.pods_left_out]
    if pods:
        say(f"Pods that are not shown because of pods-per-role: {listed(pods, _MOST_NAMED)}")
    say_first([f"{WARNING}{text}" for one in made for text in one.warnings], _MOST_NAMED, f"{WARNING}{{}} more of these")
