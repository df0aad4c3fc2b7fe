"""`fcontroller demo`, as somebody runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pseudo_terminal import PseudoTerminal

DEMO = [sys.executable, "-c", "from fcontroller.cli import entry_point; entry_point()", "demo"]
UNKNOWN, WORKERS = "--exit: no Framework has a Pod", "`train-worker-0` to `train-worker-3`"
SIGNS = set("·◌●◐✓✗–")


def demo(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*DEMO, *map(str, arguments)]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=120)


def role(name: str, tasks: int) -> dict[str, Any]:
    """A role of which `build` has nothing to say."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1.37"}]}}
    policy = {"minFailedTaskCount": 1, "minSucceededTaskCount": -1}
    return {"name": name, "taskNumber": tasks, "frameworkAttemptCompletionPolicy": policy, "task": {"pod": pod}}


def written(folder: Path, name: str, *roles: Any, namespace: str = "default", execution: str = "Start") -> Path:
    """A file with a Framework."""
    path = folder / f"{namespace}-{name}.json"
    metadata = {"name": name, "namespace": namespace}
    spec = {"executionType": execution, "taskRoles": roles}
    path.write_text(
        json.dumps({"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": metadata, "spec": spec})
    )
    return path


def test_an_example_runs_to_its_end(repository: Path) -> None:
    done = demo("--run", "0.3", "--exit", "captions-shard-2=137,0", repository / "examples" / "spot.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "captions: Completed, attempt 0, 0 Succeeded" in done.stdout
    assert "(1 retried)" in done.stdout


def test_a_framework_with_an_error_does_not_run(repository: Path) -> None:
    done = demo(repository / "examples" / "bad" / "FC101-unknown-field.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "FC101" in done.stderr


def test_a_framework_without_roles_is_as_one_with_none(tmp_path: Path) -> None:
    path = written(tmp_path, "train")
    framework = json.loads(path.read_text())
    del framework["spec"]["taskRoles"]
    path.write_text(json.dumps(framework))
    done = demo("--timeout", "0.5", path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (4, "fcontroller: train is AttemptPreparing after 0.5 s; it has no tasks")
    refused = demo("--exit", "train-worker-0=1", path)
    assert (refused.returncode, refused.stderr.splitlines()[-1]) == (2, f"fcontroller: {UNKNOWN} `train-worker-0`; there are none")


@pytest.mark.parametrize(("exit_", "code"), [("0", 0), ("137", 4)])
def test_one_that_is_deleted_at_its_end_ends_as_it_did(tmp_path: Path, exit_: str, code: int) -> None:
    path = written(tmp_path, "brief", role("a", 1))
    framework = json.loads(path.read_text())
    framework["spec"]["ttlSecondsAfterFinished"] = 0
    path.write_text(json.dumps(framework))
    done = demo("--run", "0.2", "--exit", f"brief-a-0={exit_}", path)
    assert done.returncode == code
    assert done.stderr == ("fcontroller: brief failed: 137 ContainerSigKillReceived\n" if code else "")
    assert "brief: Completed, attempt 0" in done.stdout


def test_one_that_fails_is_named(tmp_path: Path) -> None:
    good, bad = written(tmp_path, "good", role("a", 1)), written(tmp_path, "bad", role("a", 2))
    done = demo("--run", "0.2", "--exit", "bad-a-1=137", good, bad)
    assert (done.returncode, done.stderr) == (4, "fcontroller: bad failed: 137 ContainerSigKillReceived\n")
    assert "good: Completed, attempt 0, 0 Succeeded" in done.stdout


def test_no_option_is_named_that_the_demo_does_not_have(tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("a", 1))
    path.write_text(path.read_text().replace(', "namespace": "default"', ""))
    done = demo("--run", "0.1", path)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_that_is_over_before_anybody_looks(tmp_path: Path) -> None:
    done = demo(written(tmp_path, "stopped", role("a", 1), execution="Stop"))
    assert (done.returncode, done.stderr) == (4, "fcontroller: stopped failed: -210 StopFrameworkRequested\n")


def test_what_is_not_over_in_time_is_said(tmp_path: Path) -> None:
    first, second = (written(tmp_path, "same", role("a", tasks), namespace=name) for name, tasks in (("one", 7), ("two", 1)))
    done = demo("--run", "60", "--timeout", "1.5", first, second)
    assert done.returncode == 4
    assert done.stderr.splitlines() == [
        "fcontroller: one/same is AttemptRunning after 1.5 s; not ended: "
        "one/same-a-0, one/same-a-1, one/same-a-2, one/same-a-3, one/same-a-4 and 2 more",
        "fcontroller: two/same is AttemptRunning after 1.5 s; not ended: two/same-a-0",
    ]


def test_why_one_does_not_run_is_said(tmp_path: Path) -> None:
    waits, empty = written(tmp_path, "waits", role("a", 1), execution="Create"), written(tmp_path, "empty", role("a", 0))
    theirs = written(tmp_path, "theirs", role("a", 1))
    theirs.write_text(theirs.read_text().replace('"executionType"', '"managedBy": "kueue.x-k8s.io/multikueue", "executionType"'))
    done = demo("--timeout", "0.5", waits, empty, theirs)
    assert done.returncode == 4
    assert sorted(line for line in done.stderr.splitlines() if line.startswith("fcontroller: ")) == [
        "fcontroller: empty is AttemptPreparing after 0.5 s; it has no tasks",
        "fcontroller: theirs has not begun after 0.5 s; `managedBy` leaves it to another controller",
        "fcontroller: waits is AttemptCreationPending after 0.5 s; not ended: waits-a-0; under `executionType: Create` it waits for Start",
    ]


def test_a_pod_whose_containers_are_restarted_for_ever_does_not_end(tmp_path: Path) -> None:
    serves, works = role("serves", 2), role("works", 1)
    serves["task"]["pod"]["spec"]["restartPolicy"] = "Always"
    done = demo("--run", "0.1", "--timeout", "1.5", written(tmp_path, "both", serves, works))
    *warned, said = done.stderr.splitlines()
    assert (done.returncode, said) == (
        4,
        "fcontroller: both is AttemptRunning after 1.5 s; not ended: both-serves-0, both-serves-1; "
        "under `restartPolicy: Always` containers are restarted for ever",
    )
    assert "FC309" in warned[0]
    works["frameworkAttemptCompletionPolicy"]["minSucceededTaskCount"] = 1
    done = demo("--run", "0.1", written(tmp_path, "both", serves, works))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_container_that_failed_is_restarted_under_on_failure(tmp_path: Path) -> None:
    one = role("a", 1)
    one["task"]["pod"]["spec"]["restartPolicy"] = "OnFailure"
    done = demo("--run", "0.1", "--exit", "again-a-0=137,1,0", written(tmp_path, "again", one))
    assert (done.returncode, done.stderr) == (0, "")
    assert "again: Completed, attempt 0, 0 Succeeded" in done.stdout
    assert "retried" not in done.stdout
    done = demo("--run", "0.1", "--timeout", "1.5", "--exit", "fails-a-0=1", written(tmp_path, "fails", one))
    assert (done.returncode, done.stderr) == (4, "fcontroller: fails is AttemptRunning after 1.5 s; not ended: fails-a-0\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--run", "-1"], "Invalid value for '--run': -1.0 is not in the range x>=0."),
        (["--run", "soon"], "Invalid value for '--run': 'soon' is not a number of seconds."),
        (["--run", "nan"], "Invalid value for '--run': 'nan' is not a number of seconds."),
        (["--timeout", "-0.5"], "Invalid value for '--timeout': -0.5 is not in the range x>=0."),
        (["--timeout", "inf"], "Invalid value for '--timeout': 'inf' is not a number of seconds."),
        (["--exit", "a=b"], "--exit: `a=b` is not of the form POD=CODE or POD=CODE,CODE…"),
        (["--exit", "train-ps-0="], "--exit: `train-ps-0=` is not of the form POD=CODE or POD=CODE,CODE…"),
        (["--exit", "train-ps-0=-1"], "--exit: `train-ps-0=-1` is not of the form POD=CODE or POD=CODE,CODE…"),
        (["--exit", "train-ps-0=0,256"], "--exit: `train-ps-0=0,256` has a code that no process can exit with; they are 0 to 255"),
        (
            ["--exit", "train-ps-0=1", "--exit", "train-ps-0=0"],
            "--exit: `train-ps-0` is there twice; write all its codes into one, with commas between them",
        ),
        (["--exit", "train-worker-4=1"], f"{UNKNOWN} `train-worker-4`; there are {WORKERS}"),
        (["--exit", "train-worker-01=1"], f"{UNKNOWN} `train-worker-01`; there are {WORKERS}"),
        (["--exit", "train-worker=1"], f"{UNKNOWN} `train-worker`; there are {WORKERS}"),
        (["--exit", "train-wroker-3=1"], f"{UNKNOWN} `train-wroker-3`: did you mean `train-worker-3`?"),
        (["--exit", "train-wroker-4=1"], f"{UNKNOWN} `train-wroker-4`; there are {WORKERS}"),
        (["--exit", "else-0=1"], f"{UNKNOWN} `else-0`; there are `train-ps-0`, {WORKERS}"),
        (["--exit", "x\x1b[2J-0=1"], f"{UNKNOWN} `x\\x1b[2J-0`; there are `train-ps-0`, {WORKERS}"),
    ],
)  # fmt: skip
def test_wrong_use_is_said_in_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("ps", 1), role("worker", 4), role("none", 0))
    done = demo(*words, path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.removesuffix("`fcontroller demo --help` says more.\n") == f"fcontroller: {message}\n"


def test_not_all_of_many_roles_are_listed(tmp_path: Path) -> None:
    path = written(tmp_path, "many", *[role(f"r{index}", 1) for index in range(10)])
    assert demo("--exit", "else-0=1", path).stderr.endswith("`many-r6-0`, `many-r7-0` and those of 2 more roles\n")


def test_nobody_reads_on(tmp_path: Path) -> None:
    again = role("a", 1)
    again["task"]["retryPolicy"] = {"fancyRetryPolicy": False, "maxRetryCount": -2}  # So that there is always more to say.
    command = [*DEMO, "--run", "0.1", "--exit", "train-a-0=1", str(written(tmp_path, "train", again))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (141, "")


def test_nobody_reads_what_is_said_on_stderr_as_in_a_pipe_of_both(tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("a", 1))
    path.write_text(path.read_text().replace("taskNumber", "taskNumbr"))
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as gone:
        done = subprocess.run([*DEMO, str(path)], stdout=gone, stderr=gone, timeout=60, check=False)
    assert done.returncode == 141


# On a terminal


def watch(terminal: PseudoTerminal) -> list[list[str]]:
    """All that was on the screen, from the first picture to the last."""
    pictures: list[list[str]] = []
    while terminal.read(60):
        if terminal.lines not in (pictures[-1:] or [[""]]):
            pictures.append(terminal.lines)
    assert terminal.process.wait(60) == 0, terminal.lines
    return pictures


@pytest.mark.parametrize(
    ("roles", "tasks", "columns", "lines", "expected"),
    [
        (1, 60, 80, 24, "  big-r0 " + "✓" * 60),
        (1, 60, 60, 24, "  big-r0 ✓ 60"),
        (1, 200, 80, 24, "  big-r0 ✓ 200"),
        (30, 3, 80, 24, "  … 11 more roles  ✓ 33"),
        (30, 3, 40, 5, "  … 28 more roles  ✓ 84"),
    ],
)
def test_a_picture_fits_and_stays_in_its_place(roles: int, tasks: int, columns: int, lines: int, expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, "big", *[role(f"r{index}", tasks) for index in range(roles)])
    # So long that those that run are seen on a busy machine too. The variable is of another terminal, as a shell may have exported it.
    with PseudoTerminal([*DEMO, "--run", "1.5", str(path)], columns, lines, {"COLUMNS": "200"}) as terminal:
        pictures = watch(terminal)
        assert terminal.scrolled_away == []
        assert not terminal.hides_cursor()
    assert len(terminal.pictures) > 1  # Drawn anew while they run and at the end, also when one read has it all.
    for picture in pictures:
        assert [line for line in picture if line.startswith("big: ")] == picture[:1]
        shown = [line.split()[0] for line in picture[1:] if line.startswith("  big-")]
        assert shown == [f"big-r{index}" for index in range(len(shown))]
        signs = [line for line in picture[1:] if set(line) & SIGNS and "waits" not in line]
        assert len(signs) == len(shown) + ("more roles" in picture[len(shown) + 1] if len(picture) > len(shown) + 1 else 0)
    assert pictures[-1][0] == "big: Completed, attempt 0, 0 Succeeded"[:columns]
    assert expected in pictures[-1]


def test_a_label_that_is_too_wide_is_cut(tmp_path: Path) -> None:
    path = written(tmp_path, "a" * 40, role("b" * 20, 2))
    with PseudoTerminal([*DEMO, "--run", "0.1", str(path)], 50, 24) as terminal:
        assert f"  {'a' * 24}… ✓✓" in watch(terminal)[-1]


def test_a_terminal_that_changes_its_size_gets_a_new_picture(tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("worker", 40))
    with PseudoTerminal([*DEMO, "--run", "600", str(path)], 80, 24) as terminal:
        wide = f"  train-worker {'●' * 40}"
        terminal.until(lambda: wide in terminal.lines)
        terminal.resize(40, 10)
        terminal.until(lambda: terminal.lines[:3] == ["train: AttemptRunning, attempt 0", "  train-worker ● 40", ""])
        terminal.resize(80, 24)
        terminal.until(lambda: terminal.lines[:3] == ["train: AttemptRunning, attempt 0", wide, ""])


def test_ctrl_c_ends_it_and_leaves_the_last_picture(tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("worker", 1))
    with PseudoTerminal([*DEMO, "--run", "600", str(path)], 80, 24) as terminal:
        terminal.until(lambda: "  train-worker ●" in terminal.lines)
        assert terminal.hides_cursor()
        terminal.type(b"\x03")
        assert terminal.end() == 130
        assert not terminal.hides_cursor()
        assert terminal.lines[:2] == ["train: AttemptRunning, attempt 0", "  train-worker ●"]
        assert "Traceback" not in "".join(terminal.lines)


def test_a_terminal_that_cannot_be_drawn_on_gets_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("worker", 1))
    with PseudoTerminal([*DEMO, "--run", "0.1", str(path)], 80, 24, {"TERM": "dumb"}) as terminal:
        assert terminal.end() == 0
        # The role's own line follows if it has changed at the same time.
        assert any([" s  train: Completed, attempt 0, 0 Succeeded" in line for line in terminal.lines[-2:]])


def test_a_terminal_that_lacks_characters(tmp_path: Path) -> None:
    ran = demo("--run", "0.1", written(tmp_path, "train", role("worker", 1)), PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_rich_is_imported_for_a_terminal_only(tmp_path: Path) -> None:
    path = written(tmp_path, "train", role("worker", 1))
    code = f"import sys; from fcontroller.cli import main; main(['demo', '--run', '0', {str(path)!r}]); sys.exit('rich' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, timeout=60)
