from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest


def run(script: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", f"from fcompile.emit.stdout import write\n{script}"], capture_output=True, env=environment, check=False
    )


def test_utf8_and_line_ends_in_any_locale() -> None:
    for locale in ("C", "C.UTF-8"):
        done = run(r"write(['\u00e9\n', '', 'x\r\n\u65e5\u672c'])", {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
        assert done.stdout == "é\nx\r\n日本".encode(), done.stderr


def test_much() -> None:
    assert run("write('x' * (i % 7000) + '\\n' for i in range(3000))").stdout == b"".join(b"x" * (i % 7000) + b"\n" for i in range(3000))


def test_a_closed_pipe_is_an_error_of_the_call() -> None:
    script = (
        "from fcompile.emit.stdout import write\nimport os, sys\n"
        "try:\n    write('x' * 1000 for _ in range(10000))\nexcept BrokenPipeError:\n"
        "    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)\n    sys.exit(7)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(timeout=60) == 7


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="only Linux has it")
def test_a_pipe_is_made_to_hold_more_only_for_much() -> None:
    """Else the writer and the reader of ten thousand Pods wait for each other."""
    sizes = []
    for length in (1000, 60_000 * 10):
        reader, writer = os.pipe()
        usual = fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ)
        script = f"from fcompile.emit.stdout import write\nwrite('x' * 1000 for _ in range({length // 1000}))"
        with subprocess.Popen([sys.executable, "-c", script], stdout=writer) as process:
            os.close(writer)
            with os.fdopen(reader, "rb") as stream:
                assert len(stream.read()) == length
                sizes.append(fcntl.fcntl(stream, fcntl.F_GETPIPE_SZ) - usual)
        assert process.returncode == 0
    assert sizes[0] == 0 < sizes[1]
