"""`fcontroller run`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable

import click

from fcompile.commands.group import command, completed
from fcompile.diagnostics.problem import Severity
from fcompile.diagnostics.text import render
from fcompile.diagnostics.writer import Style
from fcompile.errors import EXIT_USAGE, UsageError
from fcontroller.config.effective import CONFIG_VARIABLE, EffectiveSettings, effective_settings
from fcontroller.config.settings import SETTINGS
from fcontroller.log import Log, OfLibraries

_M_MMAP_THRESHOLD, _LARGE_BLOCK = -3, 128 * 1024
"""What glibc's `mallopt` calls the size from which a block is no part of the heap, and its own default in bytes, which it raises."""


def _flags(function: Callable[..., int]) -> Callable[..., int]:
    """Add the flags of all settings."""
    for setting in reversed([setting for setting in SETTINGS if setting.flag]):
        default = setting.option.otherwise or (setting.flag if setting.default is True else setting.default)
        about = f"{setting.about}  [default: {default}]" if default else setting.about
        if isinstance(setting.default, bool):
            add = click.option(f"{setting.flag}/--no-{setting.flag[2:]}", setting.key, default=None, help=about)
        else:
            kind, metavar = click.Choice(setting.choices) if setting.choices else None, setting.option.metavar
            complete = completed("file") if metavar == "FILE" else None
            add = click.option(setting.flag, setting.key, type=kind, metavar=metavar, shell_complete=complete, help=about)
        function = add(function)
    return function


@command(
    page="operations.md",
    examples={
        "fcontroller run --config frameworkcontroller.yaml --check": "which settings are in force, and where each comes from",
        "fcontroller run --namespace ml --dry-run": "log what would be done in a namespace, and write nothing",
    },
)
@click.option(
    "--config",
    metavar="FILE",
    shell_complete=completed("file"),
    help=f"settings as YAML, in the form of upstream's frameworkcontroller.yaml  [default: ${CONFIG_VARIABLE}, or none]",
)
@_flags
@click.option("--check", is_flag=True, help="print the settings in force, and where each comes from, and end")
def run(*, config: str | None, check: bool, **flags: str | bool | None) -> int:
    """Run the controller against a cluster until SIGTERM or SIGINT.

    Several may run at once: they share a Lease, and one of them acts. The cluster is the one of the kubeconfig, or the one around the
    Pod.

    Each flag can also be given in the environment: --lease-name as FCONTROLLER_LEASE_NAME.

    Exit codes: 0 after a signal, 1 after a failure or a lost lease, 2 when the settings are wrong.
    """
    settings = effective_settings({"config": config, **flags}, os.environ)
    wrong = [problem for problem in settings.problems if problem.severity != Severity.NOTE]
    for problem in settings.problems if check else wrong:
        print(render(problem, Style()), file=sys.stderr)
    if any(problem.severity == Severity.ERROR for problem in wrong):
        return EXIT_USAGE
    if check:
        print(settings.as_file(), end="")
        return 0
    return _start(settings)


def _start(settings: EffectiveSettings) -> int:
    from fcontroller.act.plain import NoServer
    from fcontroller.serve import Unlistenable

    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limit, and macOS another one than it says.
        import resource

        # The usual 1,024 descriptors are for programs that call `select`; tenants whose requests hang have more connections.
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    _return_memory()
    try:
        with asyncio.Runner(loop_factory=event_loop()) as runner:
            return runner.run(_run(settings))
    except NoServer as error:
        raise UsageError(f"{error}{_where_from(settings)}") from None
    except Unlistenable as error:
        source = settings.sources["listen"]
        raise UsageError(f"{'--listen' if source == 'default' else source} {error}") from None


def _return_memory() -> None:
    """Have glibc return large blocks to the system when they are free.

    If it may, it soon takes blocks of up to 32 MiB from the heap, which stays as large as it once was. With 200 Frameworks of 100 tasks
    that is a sixth of all memory: each connection has a block of 256 KiB for TLS, and uses a part of it.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # Other libraries of C have no such setting.
        import ctypes

        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def _where_from(settings: EffectiveSettings) -> str:
    """Return what to say after a kubeconfig that is of no use: where it was named, or how one is named."""
    config = settings.config
    if config.kube_config_file_path:
        return f" ({settings.sources['kubeConfigFilePath']})"
    return "" if config.kube_api_server_address else ": name a kubeconfig with --kubeconfig or $KUBECONFIG"


def event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return how to make uvloop's event loop, which takes a tenth less CPU than Python's own; None where there is none (Windows)."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


async def _run(settings: EffectiveSettings) -> int:
    from fcontroller.act.client import Client, from_kubeconfig
    from fcontroller.api import Wanted
    from fcontroller.metrics import Metrics
    from fcontroller.process import Process

    config, metrics = settings.config, Metrics()

    def connect(may_write: Wanted) -> Client:
        path, address = config.kube_config_file_path, config.kube_api_server_address
        return from_kubeconfig(path, address=address, called=metrics.called, may_write=may_write)

    log = Log(config.log_level)
    logging.basicConfig(handlers=[OfLibraries(log)])
    for problem in settings.problems:
        log.info(problem.message, file=problem.file, line=problem.span.line)
    return await Process(connect, settings, log, metrics).run()
