"""docs/kubeflow.md shows what `fcompile convert` prints, and its tables name Pods that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fcompile import compile as compile_text
from fcompile.diagnostics.problem import Severity
from tests.convert.operator import convert

PAGE = (Path(__file__).parents[2] / "docs" / "kubeflow.md").read_text("utf-8")
KINDS = re.findall(
    r'^### (\w+)\n\nTheirs:\n\n```yaml title="\w+\.yaml"\n(.*?)```\n\nOurs.*?\n\n```yaml\n(.*?)```\n\n(\|.*?)\n\n',
    PAGE,
    re.MULTILINE | re.DOTALL,
)


def test_the_job_of_the_examples_shows_what_it_says(repository: Path) -> None:
    path = repository / "examples" / "kubeflow" / "pytorch-ddp.yaml"
    conversion = convert(path.read_text("utf-8"))
    (account,) = conversion.jobs
    assert {str(entry.path[-1]) for entry in account.different} == {"0", "cleanPodPolicy"}
    assert "            - |\n              set -euo pipefail\n" in conversion.text()
    assert {problem.severity for problem in compile_text(text=conversion.text()).problems} <= {Severity.NOTE}
    assert f"examples/kubeflow/{path.name}" in PAGE


def test_there_is_one_of_each_kind() -> None:
    assert [kind for kind, *_ in KINDS] == ["PyTorchJob", "TFJob", "MPIJob", "JAXJob", "XGBoostJob", "PaddleJob", "TrainJob"]


@pytest.mark.parametrize(("theirs", "ours", "table"), [pytest.param(*shown, id=kind) for kind, *shown in KINDS])
def test_what_is_shown_is_what_is_printed(theirs: str, ours: str, table: str) -> None:
    text = convert(theirs).text()
    assert text.startswith(ours)
    assert "kind: Framework" not in text[len(ours) :]
    made = compile_text(text=text).expected("pods,services")
    pods = {one["metadata"]["name"]: one["spec"] for one in made if one["kind"] == "Pod"}
    hosts = {f"{spec['hostname']}.{spec['subdomain']}" for spec in pods.values() if "subdomain" in spec}
    cells = [row.split(" | ")[2].removesuffix(" |") for row in table.splitlines()[2:]]
    for written in re.findall(r"`([^`]+)`", " ".join(cells)):
        if re.fullmatch(r"[a-z0-9]+-[a-z0-9]+-[0-9]", written):
            assert written in pods
        for host in re.findall(r"[a-z0-9]+-[0-9]\.[a-z0-9]+-[a-z0-9]+", written):
            assert host in hosts
