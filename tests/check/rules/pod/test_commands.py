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
