from __future__ import annotations

import subprocess
import sys


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
