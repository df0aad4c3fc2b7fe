"""What can go wrong around a run: processes that are killed, pipes that are read once, closed streams, folders that are gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fcompile.errors import ProcessError
from fcompile.pipeline.processes import Done, in_processes
from tests.pseudo_terminal import interruptible

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, /proc and pipes as Linux has them")

FRAMEWORK = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata: {name: NAME}
spec: {taskRoles: [{name: a, task: {pod: {spec: {restartPolicy: Never, containers: [{name: a, imag: b}]}}}}]}
"""


def framework(name: str) -> str:
    return FRAMEWORK.replace("NAME", name)


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in which `fcompile` and `fcontroller` are this checkout's commands."""
    controller = f'"{sys.executable}" -c "from fcontroller.cli import entry_point; entry_point()"'
    text = f'fcompile() {{ "{sys.executable}" -m fcompile "$@"; }}\nfcontroller() {{ {controller} "$@"; }}\n{script}'
    root = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONUNBUFFERED": ""}
    return subprocess.run(["bash", "-c", text], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    for number in range(200):
        (tmp_path / f"f{number:03}.yaml").write_text(framework(f"f{number}"))
    return tmp_path


def _worker_is_killed(number: int) -> int:
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _worker_fails(number: int) -> float:
    return 1 / (number - 7)


def test_results_come_in_the_order_of_the_batches() -> None:
    batches: list[list[int] | Done] = [[1, 2], Done([-3]), [-4], Done([]), Done([5]), *([-number] for number in range(50))]
    results = [result for results in in_processes(abs, batches, 3) for result in results]
    assert results == [1, 2, -3, 4, 5, *range(50)]


def test_a_killed_process_is_noticed() -> None:
    with pytest.raises(ProcessError, match="ended by signal 9"):
        list(in_processes(_worker_is_killed, [[number] for number in range(100)], 2))


def test_a_bug_in_a_process_is_shown_with_its_place() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(in_processes(_worker_fails, [[number] for number in range(100)], 2))


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_stays_behind_or_complains(stop: signal.Signals) -> None:
    script = """
        import os, signal, sys
        from fcompile.pipeline import processes
        def work(item):
            if item == 40:
                os.kill(os.getppid(), int(sys.argv[1]))
            return item
        list(processes.in_processes(work, ([number] for number in range(10_000)), 3))
    """
    root = Path(__file__).resolve().parent.parent
    text = "\n".join(line.removeprefix("        ") for line in script.splitlines())
    # A pipe that the processes inherit is at its end when the last of them is gone.
    done = subprocess.run([sys.executable, "-c", text, str(stop.value)], cwd=root, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (-stop, "")


def test_stdin_keeps_its_turn_however_many_processes(many: Path) -> None:
    for place in ("- .", ". -", "f150.yaml - ."):
        one, four = (shell(f"cat f007.yaml | fcompile validate -j {jobs} {place}", many) for jobs in (1, 4))
        assert one.returncode == 1
        assert (one.stdout, one.stderr) == (four.stdout, four.stderr)
        assert "<stdin>" in one.stdout


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(framework("a"))
    done = shell("fcompile validate <(cat a.yaml) <(cat a.yaml) a.yaml", tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("error[FC501]") == 2


def test_a_pipe_on_a_path(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(framework("a"))
    os.mkfifo(tmp_path / "pipe")
    done = shell("cat a.yaml > pipe & fcompile validate pipe a.yaml", tmp_path)
    assert done.stdout.count("error[FC501]") == 1


@pytest.mark.parametrize(
    ("script", "code", "out", "says"),
    [
        ("fcompile validate a.yaml >&-", 2, "", "the standard output is closed"),
        ("fcompile build a.yaml >&-", 2, "", "the standard output is closed"),
        ("fcompile --version >&-", 2, "", "the standard output is closed"),
        ("fcompile validate - <&-", 1, "the standard input is closed", ""),
        ("fcompile build missing.yaml 2>&-", 2, "", ""),
        ("fcompile build missing.yaml 2>/dev/full", 2, "", ""),
        ("fcompile --help >/dev/full", 2, "", "No space left"),
        ("fcompile schema >/dev/full", 2, "", "No space left"),
        ("fcontroller --version >/dev/full", 2, "", "fcontroller: cannot write the output: No space left"),
        ("fcontroller --help >/dev/full", 2, "", "fcontroller: cannot write the output: No space left"),
        ("fcontroller run --check >/dev/full", 2, "", "fcontroller: cannot write the output: No space left"),
        ("fcontroller demo a.yaml >/dev/full", 2, "", "fcontroller: cannot write the output: No space left"),
        ("mkdir x; cd x; rmdir ../x; fcompile validate a.yaml", 2, "", "a.yaml: no such file or folder\n"),
        ("mkdir x; cd x; rmdir ../x; fcompile build ../a.yaml", 2, "", "the current folder: No such file or directory"),
        ("mkdir x; cd x; rmdir ../x; fcompile argocd generate", 2, "", "the current folder: No such file or directory"),
        ("fcompile validate -j 0 .", 2, "", "0 is not in the range 1<=x<=256"),
        ("ln -s b a; ln -s a b; fcompile validate a", 1, "Too many levels", ""),
    ],
)
def test_streams_and_paths(tmp_path: Path, script: str, code: int, out: str, says: str) -> None:
    (tmp_path / "a.yaml").write_text(framework("a").replace("imag:", "image:"))
    done = shell(script, tmp_path)
    assert done.returncode == code, done.stderr
    assert out in done.stdout
    assert bool(out) or not done.stdout
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", ["rule --help", "rule --all", "validate --help", "build --help", "schema", "rule FC421"])
def test_a_terminal_that_lacks_characters(tmp_path: Path, arguments: str) -> None:
    done = shell(f"PYTHONIOENCODING=ascii fcompile {arguments}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


def test_what_goes_to_a_closed_stderr_is_not_in_the_output(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(framework("a").replace("imag:", "image:"))
    assert shell("fcompile build a.yaml 2>&-", tmp_path).stdout == shell("fcompile build a.yaml 2>/dev/null", tmp_path).stdout


@pytest.mark.parametrize("command", ["crd", "build a.yaml", "validate --format sarif b.yaml", "diff --format html a.yaml b.yaml"])
def test_a_disk_that_is_full_after_the_first_bytes(command: str, tmp_path: Path) -> None:
    """Under PYTHONUNBUFFERED, half of the output was there, and the exit code said that all was well."""
    (tmp_path / "a.yaml").write_text("---\n".join(framework(f"a{number}").replace("imag:", "image:") for number in range(9)))
    (tmp_path / "b.yaml").write_text(framework("b") if "sarif" in command else framework("b").replace("imag:", "image:"))
    done = shell(f"export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1; ulimit -f 1; fcompile {command} > out", tmp_path)
    assert (done.returncode, (tmp_path / "out").stat().st_size) == (2, 1024)
    assert "cannot write the output: File too large" in done.stderr


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A repository with a Framework in a folder that lies 1,200 folders deep, which is more than Python can call itself."""
    (tmp_path / "a.yaml").write_text(framework("a"))
    before = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(1_200):
            os.mkdir("d")
            os.chdir("d")
        Path("b.yaml").write_text(framework("b"))
    finally:
        os.chdir(before)
    shell("git init -q && git add a.yaml && git -c user.name=a -c user.email=a@example.com commit -qm a", tmp_path)
    yield tmp_path
    shell("rm -rf d", tmp_path)


@pytest.mark.parametrize("command", ["validate .", "build .", "convert .", "diff --git HEAD", "argocd generate", "argocd doctor"])
def test_folders_that_lie_too_deep_are_refused(command: str, deep: Path) -> None:
    """For each file it is looked what all folders above it are: 2,000 files within each other took minutes."""
    done = shell(f"fcompile {command}", deep)
    assert "lies more than 100 folders deep" in (done.stdout + done.stderr).replace("`", ""), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)


def test_a_folder_that_is_left_out_may_be_deep(deep: Path) -> None:
    (deep / ".fcompileignore").write_text("d\n")
    assert "Found 1 error in 1 of 1 file." in shell("fcompile validate .", deep).stdout
    found = shell("fcompile diff --git HEAD", deep)
    assert (found.returncode, found.stdout.count("added"), found.stderr) == (1, 1, "")
    assert "ignore file .fcompileignore  added" in found.stdout


def test_an_application_among_deep_folders_is_discovered(deep: Path) -> None:
    assert shell("fcompile argocd discover", deep).stdout == "a.yaml\n"
    (deep / "a.yaml").unlink()
    assert shell("fcompile argocd discover", deep).stdout == ""
    assert "lies more than 100 folders deep" in shell("fcompile argocd doctor", deep).stderr


def test_undecodable_names_stay_apart(tmp_path: Path) -> None:
    for byte in (b"\xfe", b"\xff"):
        try:
            (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + byte + b".yaml"))).write_text(framework("a"))
        except OSError:
            pytest.skip("this file system has only names in UTF-8")
    done = shell("fcompile validate .", tmp_path)
    assert r"\xfe.yaml:3:18: the first one" in done.stdout.replace("\\\\", "\\")
    assert r"\xff.yaml:3:18: error[FC501]" in done.stdout.replace("\\\\", "\\")


def test_notes_show_no_escapes_of_file_names(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m.yaml").write_text("kind: X\n")
    (tmp_path / "b.yaml").write_text(framework("b").replace("imag:", "image:"))
    done = shell("fcompile build .", tmp_path)
    assert "\x1b" not in done.stderr
    assert "left out" in done.stderr


def test_an_interrupt_is_quiet(many: Path) -> None:
    root = str(Path(__file__).resolve().parent.parent)
    script = "import sys, fcompile.cli; print('go', flush=True); sys.exit(fcompile.cli.main())"
    command = interruptible(sys.executable, "-c", script, "validate", "-j", "3", "-")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=root, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert (process.returncode, said) == (130, "fcompile: interrupted\n")
