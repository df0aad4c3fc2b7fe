"""The three forms of the report say the same, and nothing in them acts on a terminal or on a page."""

from __future__ import annotations

import json
import re

from fcompile.convert.report import report
from tests.convert.operator import DATA, convert

EVERYTHING = (DATA / "jobs" / "pytorch-everything.yaml").read_text("utf-8")
REFUSED = EVERYTHING.replace("name: bert-large\n", "generateName: bert-\n", 1)


def written(text: str, form: str, *, verbose: bool = False) -> str:
    return "".join(report(convert(text), form, verbose=verbose))


def test_text_has_each_difference_with_its_place() -> None:
    lines = written(EVERYTHING, "text").splitlines()
    assert lines[0] == "job.yaml:2:1: PyTorchJob research/bert-large → Framework bertlarge (master ×1, worker ×2)"
    place = next(line for line in lines if "backoffLimit" in line)
    assert place.startswith("  job.yaml:21:19: spec.runPolicy.backoffLimit: different: the Pod of each task may be made anew 3×")
    assert lines[lines.index(place) + 1].startswith("    why: ")
    assert lines[lines.index(place) + 2].startswith("    do:  ")
    assert lines[-1] == f"Converted 1 of 1 job; {sum(': different: ' in line for line in lines)} differences."


def test_verbose_has_the_others_too() -> None:
    short, long = (written(EVERYTHING, "text", verbose=verbose) for verbose in (False, True))
    assert "metadata.uid" not in short
    assert "metadata.uid: dropped because it changes nothing: the API server wrote it" in long
    assert "metadata.name: converted: metadata.name: bertlarge" in long


def test_a_refused_job() -> None:
    lines = written(REFUSED, "text").splitlines()
    assert lines[0].endswith("PyTorchJob research/: refused")
    assert "generateName" in lines[1]
    assert lines[-1] == "Converted 0 of 1 job; 0 differences."


def test_json_and_markdown_have_as_many_fields() -> None:
    (account,) = convert(EVERYTHING).accounts
    (made,) = json.loads(written(EVERYTHING, "json"))["objects"]
    assert len(made["fields"]) == len(account.entries)
    assert made["framework"] == "bertlarge"
    rows = [line for line in written(EVERYTHING, "markdown").splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == len(account.entries)


def test_nothing_of_the_input_acts() -> None:
    job = EVERYTHING.replace("generation: 1", '"a\\x1b[31m|<b>": 1')
    for form in ("text", "json", "markdown"):
        assert "\x1b" not in written(job, form, verbose=True)
    assert "<b>" not in re.sub("`[^`]*`", "", written(job, "markdown")), "outside of code"


def test_each_difference_is_a_comment_too() -> None:
    conversion = convert(EVERYTHING)
    comments = [line for line in conversion.text().splitlines() if line.lstrip().startswith("#")]
    for entry in conversion.accounts[0].different:
        assert any(entry.what in line or str(entry.path[-1]) in line for line in comments), entry
