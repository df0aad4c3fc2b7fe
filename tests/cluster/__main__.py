"""The test cluster by hand: `python -m tests.cluster up`, `python -m tests.cluster build`."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
import time
from typing import NoReturn

from tests.cluster import DEFAULT_VERSION, ClusterError, Unavailable, start
from tests.cluster.binaries import binaries


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def up(version: str | None, crd: bool) -> None:
    """Starts a cluster, says how to reach it, and keeps it up until it is interrupted."""
    began = time.monotonic()
    with start(version, crd=crd, say=say) as cluster:
        say(f"Kubernetes {cluster.version} is up after {time.monotonic() - began:.1f} s; Ctrl-C ends it. Its logs are in {cluster.folder}.")
        print(f"export KUBECONFIG={shlex.quote(str(cluster.kubeconfig))}", flush=True)
        print(f"export PATH={shlex.quote(cluster.environment['PATH'].split(':')[0])}:$PATH", flush=True)
        signal.pause()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description="A throw-away Kubernetes API server, built from source.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("up", "start a cluster, and end it on Ctrl-C"), ("build", "only build what it is made of")):
        command = commands.add_parser(name, help=what, description=what.capitalize() + ".")
        command.add_argument("--version", help=f"of Kubernetes, as 1.36.3 (default: {DEFAULT_VERSION})")
        if name == "up":
            command.add_argument("--no-crd", action="store_true", help="do not apply the CustomResourceDefinition of Frameworks")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupted)
    try:
        if arguments.command == "up":
            up(arguments.version, not arguments.no_crd)
        else:
            print("\n".join(str(path) for path in binaries(arguments.version, say)[1].values()))
    except (ClusterError, Unavailable) as problem:
        say(f"error: {problem}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
