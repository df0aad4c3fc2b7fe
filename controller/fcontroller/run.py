"""Run the controller against a cluster until SIGTERM or SIGINT.

Several may run at once: they share a Lease, and one of them acts. The cluster is the one of the kubeconfig, or the one around the Pod.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable

from fcompile.diagnostics.problem import Severity
from fcompile.diagnostics.text import render
from fcompile.diagnostics.writer import Style
from fcompile.errors import EXIT_USAGE
from fcompile.program import safe
from fcontroller.config.effective import CONFIG_VARIABLE, EffectiveSettings, effective_settings
from fcontroller.config.settings import SETTINGS
from fcontroller.log import Log


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags of all settings, `--config` and `--check`."""
    parser.epilog = "Each flag can also be given in the environment: --lease-name as FCONTROLLER_LEASE_NAME. docs/operations.md has all."
    about = f"settings as YAML, in the form of upstream's frameworkcontroller.yaml (default: ${CONFIG_VARIABLE}, or none)"
    parser.add_argument("--config", metavar="FILE", help=about)
    for setting in SETTINGS:
        if not setting.flag:
            continue
        about = setting.about
        if setting.default not in ("", False) and "default:" not in about:
            about = f"{about} (default: {setting.default})"
        if isinstance(setting.default, bool):
            parser.add_argument(setting.flag, dest=setting.key, action=argparse.BooleanOptionalAction, default=None, help=about)
        else:
            parser.add_argument(setting.flag, dest=setting.key, metavar=setting.option.metavar, choices=setting.choices or None, help=about)
    parser.add_argument("--check", action="store_true", help="print the settings in force, and where each comes from, and end")


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop; returns the exit code: 0 after a signal, 1 after a failure or a lost lease, 2 when the file is wrong.

    Raises ConfigError for flags and variables.
    """
    settings = effective_settings(vars(arguments), os.environ)
    wrong = [problem for problem in settings.problems if problem.severity != Severity.NOTE]
    for problem in settings.problems if arguments.check else wrong:
        print(render(problem, Style()), file=sys.stderr)
    if any(problem.severity == Severity.ERROR for problem in wrong):
        return EXIT_USAGE
    if arguments.check:
        print(settings.as_file(), end="")
        return 0
    return _start(settings)


def _start(settings: EffectiveSettings) -> int:
    from fcontroller.act.client import NoServer
    from fcontroller.serve import Unlistenable

    try:
        with asyncio.Runner(loop_factory=event_loop()) as runner:
            return runner.run(_run(settings))
    except (NoServer, Unlistenable) as error:
        print(safe(f"fcontroller: {error}"), file=sys.stderr)
        return EXIT_USAGE


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
        path, address = config.kube_config_file_path or None, config.kube_api_server_address
        return from_kubeconfig(path, address=address, called=metrics.called, may_write=may_write)

    log = Log(config.log_level)
    for problem in settings.problems:
        log.info(problem.message, file=problem.file, line=problem.span.line)
    return await Process(connect, settings, log, metrics).run()
