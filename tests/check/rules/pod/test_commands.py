"""Typographic signs in commands."""

from __future__ import annotations

from time import process_time

import pytest

from tests.check.rules.pod.pods import check, findings, of_main


@pytest.mark.parametrize(
    "written",
    ["—lr", "–lr=0.1", "python train.py —lr 0.1", "python -c “print(1)”", "--name=“a b”", "‘a b’", "‐v", "cd x\npython train.py –v"],
)
@pytest.mark.parametrize("field", ["command", "args"])
def test_signs_that_no_program_knows(written: str, field: str) -> None:
    assert check(of_main(**{field: ["sh", written]})) == [f"FC218 spec.containers[0].{field}[1]"]


@pytest.mark.parametrize(
    "written",
    [
        "--lr",
        "a – b",
        "1–2",
        "— done",
        "it’s",
        "l’été",
        "echo 'step 1 –done'",
        'echo "the “best” one"',
        "# the “best” one\nrun",
        "run # see –x",
        "训练",
        "α=“",
    ],
)
def test_prose_and_other_letters_pass(written: str) -> None:
    assert check(of_main(command=["sh", "-c", written], args=[written])) == []


def test_what_to_write() -> None:
    (finding,) = findings(of_main(args=["—lr"]))
    assert finding.message == "`—` (U+2014) is not what a program or a shell takes for `--`: write that"
    (finding,) = findings(of_main(args=["“a"]))
    assert finding.message == '`“` (U+201C) is not what a program or a shell takes for `"`: write that'


def test_a_long_script_takes_no_long_time() -> None:
    begun = process_time()
    assert check(of_main(args=['"\n' + "–a " * 1_000_000])) == []
    assert process_time() - begun < 2


@pytest.mark.parametrize(
    "written",
    ["torchrun --nnodes=4 train.py", "python train.py", "/bin/sh -c /run.sh", "echo hi && sleep 5", "set -e\necho", "sleep 5\n"],
)
def test_a_whole_line_as_one_word(written: str) -> None:
    assert check(of_main(command=[written])) == ["FC219 spec.containers[0].command[0]"]
    probe = {"exec": {"command": [written]}}
    assert check(of_main(livenessProbe=probe)) == ["FC219 spec.containers[0].livenessProbe.exec.command[0]"]
    hook = {"preStop": probe}
    assert check(of_main(lifecycle=hook)) == ["FC219 spec.containers[0].lifecycle.preStop.exec.command[0]"]


def test_how_to_divide_it() -> None:
    (plain,) = findings(of_main(command=["python train.py"]))
    (with_shell,) = findings(of_main(command=["python train.py > log"]))
    assert plain.message.endswith('write `["python", "train.py"]`')
    assert with_shell.message.endswith("write `sh`, `-c` and this as three items of `command`")


@pytest.mark.parametrize(
    "written", [["sh", "-c", "echo hi"], ["/opt/My App/run"], ["C:\\Program Files\\x.exe"], ["python"], [""], ["python ", "x"], [None], []]
)
def test_words_and_paths_pass(written: list[object]) -> None:
    assert "FC219" not in {finding.rule.code for finding in findings(of_main(command=written))}


def test_arguments_may_be_lines() -> None:
    assert check(of_main(args=["python train.py"])) == []
