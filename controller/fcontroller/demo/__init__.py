"""`fcontroller demo`."""

from __future__ import annotations

import click

from fcompile.commands.group import command, completed
from fcompile.commands.options import SECONDS, paths
from fcontroller.demo.options import exit_codes


@command(
    page="tutorial.md",
    examples={
        "fcontroller demo train.yaml": "as it is when nothing goes wrong",
        "fcontroller demo --run 1 --exit train-worker-3=137,0 train.yaml": "a task that fails once, and is made again",
    },
)
@paths
@click.option("--run", "running_time", type=SECONDS, default=3, show_default=True, metavar="SECONDS", help="how long each Pod runs")
@click.option(
    "--exit",
    "exits",
    multiple=True,
    metavar="POD=CODES",
    shell_complete=completed("exit"),
    help="exit codes of a Pod, one for each time that it is made, as in train-worker-3=137,0; may be given again",
)
@click.option("--timeout", type=SECONDS, default=120, show_default=True, metavar="SECONDS", help="when to give up")
def demo(*, paths: tuple[str, ...], running_time: float, exits: tuple[str, ...], timeout: float) -> int:
    """Run Frameworks to their end on a laptop: the controller itself, an API server in memory, and a kubelet that runs nothing.

    The Frameworks are compiled first, as `fcompile build` does. Each container runs for --run seconds and exits with 0, unless --exit
    says otherwise, and is restarted as the Pod's restartPolicy says: under Always no Pod ends by itself. A Pod that is deleted goes.
    Nothing leaves this process.

    Exit codes: 0 all Frameworks have succeeded; 4 one has failed, or has not come to its end in time; 2 wrong use;
    130 interrupted; 1 or 2 as `fcompile build` where it finds errors.
    """
    codes = exit_codes(exits)
    from fcontroller.demo.play import run  # which needs the extra

    return run(paths, running_time, codes, timeout)
