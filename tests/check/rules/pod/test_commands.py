"""Typographic signs in commands, whole lines as one word, and words that a shell does not read."""

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
    assert check(of_main(command=["run", written], args=[written])) == []


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


@pytest.mark.parametrize(
    ("command", "args", "at"),
    [
        (["sh", "-c", "python", "train.py"], [], "command[3]"),
        (["/bin/bash", "-ec", "python train.py", "--lr=1"], [], "command[3]"),
        (["bash", "-o", "pipefail", "-c", "/run.sh", "--lr", "1"], [], "command[5]"),
        (["sh", "-c"], ["python", "ps.py"], "args[1]"),
        (["bash", "-c", "--"], ["python", "ps.py"], "args[1]"),
        (["bash", "-euxo", "pipefail", "-c", "python", "ps.py"], [], "command[5]"),
        (["bash", "--norc", "-ce", "python", "ps.py"], [], "command[4]"),
        (["bash", "--rcfile", "/rc", "-c", "-e", "python", "ps.py"], [], "command[6]"),
        (["sh", "-c", "python train.py", "--lr", "1"], [], "command[3]"),
        ([], ["sh", "-c", "echo", "$HOME"], "args[3]"),
    ],
)
def test_words_that_a_shell_does_not_read(command: list[str], args: list[str], at: str) -> None:
    """`sh -c python train.py` runs `python`, which reads an empty stdin and succeeds at once."""
    assert check(of_main(command=command, args=args)) == [f"FC228 spec.containers[0].{at}"]


@pytest.mark.parametrize(
    "command",
    [
        ["sh", "-c", "python train.py"],
        ["sh", "-c", 'exec "$@"', "sh", "python", "train.py"],
        ["sh", "-c", "echo ${1}", "sh", "a"],
        ["sh", "-c", "echo $# $0", "a"],
        ["sh", "-c", "for one; do echo; done", "sh", "a"],
        ["sh", "-c", "shift; run", "sh", "a"],
        ["sh", "-c", ". ./run.sh", "sh", "a"],
        ["sh", "-c", 'eval "$RUN"', "sh", "a"],
        ["sh", "-c", "run", "--"],
        ["sh", "-c", "--", "while true; do sleep 30; done"],
        ["bash", "-c", "-e", "run"],
        ["bash", "-c", "-o", "pipefail", "run | tee log"],
        ["bash", "-c", "python train.py", "train"],
        ["bash", "-c", "--"],
        ["sh", "-c", "run", "bash"],
        ["sh", "run.sh", "-c", "a", "b"],
        ["bash", "--norc", "run.sh", "a"],
        ["run", "-c", "a", "b"],
        ["sh", "-c"],
        ["sh"],
    ],
)
def test_words_that_a_shell_reads_or_that_are_for_no_shell(command: list[str]) -> None:
    assert check(of_main(command=command)) == []


def test_a_probe_in_which_a_shell_does_not_read_a_word() -> None:
    probe = {"exec": {"command": ["sh", "-c", "cat", "/ready"]}}
    (finding,) = findings(of_main(readinessProbe=probe))
    assert finding.path[-4:] == ("readinessProbe", "exec", "command", 3)
    assert finding.message == "`sh -c` runs only `cat`, and what follows is `$0`, `$1`, … there: write it as one item, `cat /ready`"


def test_words_that_are_not_read_and_cannot_be_put_together() -> None:
    (finding,) = findings(of_main(command=["bash", "-c", "python", "-c", "print(1)"]))
    assert finding.message == "`bash -c` runs only `python`, and what follows is `$0`, `$1`, … there: write it as one item"


@pytest.mark.parametrize(
    ("command", "args", "at"),
    [
        (["cd", "/app", "&&", "python", "train.py"], [], "command[0]"),
        (["python", "prepare.py", "&&", "python", "train.py"], [], "command[2]"),
        (["python"], ["train.py", "|", "tee", "log", "2>&1"], "args[1]"),
        (["export", "A=1"], [], "command[0]"),
        (["NCCL_DEBUG=INFO", "python", "train.py"], [], "command[0]"),
    ],
)
def test_words_of_a_shell_where_there_is_none(command: list[str], args: list[str], at: str) -> None:
    assert check(of_main(command=command, args=args)) == [f"FC229 spec.containers[0].{at}"]


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (["bash", "-c", "cd /app && python train.py"], []),
        (["bash", "run.sh", "|"], []),
        (["/bin/sh", "-c", "a=1 && $0", "&&"], []),
        (["tini", "--", "sh", "-c", 'run "$@"', "sh", "|"], []),
        (["find", ".", "-exec", "rm", "{}", ";"], []),
        (["expr", "1", "|", "0"], []),
        (["[", "a", ">", "b", "]"], []),
        (["env", "A=1", "run"], []),
        (["ssh", "host", "cd", "/x", "&&", "run"], []),
        (["python", "train.py", "a=1", "a|b"], []),
        ([], ["a", "&&", "b"]),
    ],
)
def test_words_that_a_program_or_a_shell_understands(command: list[str], args: list[str]) -> None:
    assert check(of_main(command=command, args=args)) == []


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (
            ["a", "&&", "b"],
            "no shell reads `&&`, and `a` gets it as an argument: write `sh`, `-c` and the whole line as three items of `command`",
        ),
        (["cd", "x"], "`cd` is the shell's, and no program is called so: write `sh`, `-c` and the whole line as three items of `command`"),
        (["A=1", "x"], "`A=1` sets a variable in a shell alone, and no program is called so: set it in `env`"),
    ],
)
def test_what_to_write_for_words_of_a_shell(command: list[str], says: str) -> None:
    (finding,) = findings(of_main(command=command))
    assert finding.message == says
