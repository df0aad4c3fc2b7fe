"""Ratios of fcompile against floors and peers, all in one run: `python -m benchmarks [--quick]`.

Times differ between machines, ratios much less: read the ratios. A floor is the least that any program of the kind could take.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.inputs import framework, many
from benchmarks.measure import Run, median, paired, run

PYTHON = sys.executable
FCOMPILE = str(Path(sys.executable).parent / "fcompile")
WRITER = "import os\nleft = {size}\nblock = b'x' * 262144\nwhile left > 0: left -= os.write(1, block[:left])"

READER = "import pathlib, sys, yaml\nfor each in pathlib.Path(sys.argv[1]).iterdir(): yaml.load(each.read_bytes(), yaml.CSafeLoader)"


def main() -> int:
    """Print the table; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure each a third as often")
    times = 5 if parser.parse_args().quick else 15
    missed = False
    print(f"{'what':<62} {'ours':>9} {'floor':>9} {'ratio':>8} {'limit':>8} {'memory':>9}")
    with tempfile.TemporaryDirectory() as temporary:
        for what, ours, floor, ratio, limit, memory in rows(Path(temporary), times):
            verdict = "" if limit is None or ratio <= limit else "  MISSED"
            missed |= bool(verdict)
            shown = "" if limit is None else f"{limit:8.2f}"
            print(f"{what:<62} {ours:>9} {floor:>9} {ratio:8.2f} {shown:>8} {memory / 2**20:5.0f} MiB{verdict}", flush=True)
    return int(missed)


Row = tuple[str, str, str, float, float | None, int]


def rows(folder: Path, times: int) -> Iterator[Row]:
    """Every measurement: what, ours, the floor, the ratio, its limit, and our peak memory in bytes."""
    yield from cold_starts(folder, times)
    yield from thousand_files(folder, times)
    yield from one_changed_line(folder, times)
    yield from large_expansion(folder, times)
    yield from linearity(folder)
    yield from argo_cd(folder, times)
    yield from peers(folder, times)


def cold_starts(folder: Path, times: int) -> Iterator[Row]:
    one, wrong = folder / "one.yaml", folder / "wrong.yaml"
    text = framework("train", {"ps": 2, "worker": 8})
    one.write_text(text)
    wrong.write_text(text.replace("priorityClassName", "priorityClass", 1))
    for what, command, limit, code in (
        ("cold `fcompile --version` / `python -c pass`", [FCOMPILE, "--version"], 4.0, 0),
        ("cold `fcompile validate` of one 5 KB file / `python -c pass`", [FCOMPILE, "validate", str(one)], 8.0, 0),
        ("… of one with a problem, of which it tells the place", [FCOMPILE, "validate", str(wrong)], None, 1),
        ("cold `fcompile build` of the first / `python -c pass`", [FCOMPILE, "build", str(one)], None, 0),
    ):
        ours, floor, ratio = paired(command, [PYTHON, "-c", "pass"], times, (code,))
        yield what, milliseconds(ours), milliseconds(floor), ratio, limit, ours.memory


def thousand_files(folder: Path, times: int) -> Iterator[Row]:
    few, lots = folder / "few", folder / "lots"
    many(few, 200)
    size = many(lots, 1000)
    command = [FCOMPILE, "validate", str(lots)]
    ours, floor, ratio = paired(command, [PYTHON, "-c", READER, str(lots)], max(times // 3, 3), of_cpu=True)
    smaller = median([run([FCOMPILE, "validate", str(few)]) for _ in range(max(times // 3, 3))])
    what = f"`validate` of 1,000 files ({size / 1e6:.1f} MB) / PyYAML's C loader: CPU"
    yield what, f"{ours.cpu:.2f} s", f"{floor.cpu:.2f} s", ratio, 1.25, ours.memory
    yield "… memory of 1,000 files / of 200", mebibytes(ours), mebibytes(smaller), ours.memory / smaller.memory, 1.25, ours.memory


def one_changed_line(folder: Path, times: int) -> Iterator[Row]:
    """A repository with the thousand Frameworks, one of them edited."""
    lots = folder / "lots"
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=lots, check=True)
    edited = sorted(lots.glob("*.yaml"))[500]
    edited.write_text(edited.read_text().replace("taskNumber: 2", "taskNumber: 3", 1))
    command = [FCOMPILE, "diff", "--git", "HEAD"]
    ours = median([run(command, (1,), lots) for _ in range(times)])
    shutil.rmtree(lots / ".git")
    yield "`diff --git` of one changed line in 1,000 Frameworks / 0.3 s", milliseconds(ours), "300 ms", ours.wall / 0.3, 1.0, ours.memory
    yield "… memory / 150 MiB", mebibytes(ours), "150 MiB", ours.memory / (150 * 2**20), 1.0, ours.memory


def large_expansion(folder: Path, times: int) -> Iterator[Row]:
    large = folder / "large.yaml"
    large.write_text(framework("large", {"worker": 10_000}))
    command = [FCOMPILE, "build", "--emit", "expected", str(large)]
    size = run(command).output
    ours, floor, ratio = paired(command, [PYTHON, "-c", WRITER.format(size=size)], times)
    what = f"`build --emit expected` of 10,000 tasks ({size / 1e6:.0f} MB) / writing as much"
    yield what, milliseconds(ours), milliseconds(floor), ratio, 3.0, ours.memory
    yield "… memory / 150 MiB", mebibytes(ours), "150 MiB", ours.memory / (150 * 2**20), 1.0, ours.memory


def linearity(folder: Path) -> Iterator[Row]:
    base = None
    for frameworks in (10, 100):
        source = folder / f"many{frameworks}.yaml"
        source.write_text("---\n".join(framework(f"large{number}", {"worker": 10_000}) for number in range(frameworks)))
        ours = run([FCOMPILE, "build", "--emit", "expected", str(source)])
        if base is None:
            base = ours
            continue
        what = f"{frameworks} Frameworks of 10,000 tasks ({ours.output / 1e9:.1f} GB): time / 10 times that of 10"
        yield what, milliseconds(ours), milliseconds(base), ours.wall / (10 * base.wall), 1.3, ours.memory


def argo_cd(folder: Path, times: int) -> Iterator[Row]:
    """What Argo CD waits for, beside what it would wait for without us."""
    command = [FCOMPILE, "argocd", "generate", str(folder / "lots")]
    ours = median([run(command) for _ in range(max(times // 3, 3))])
    yield "`argocd generate` of 1,000 Frameworks / 2 s", milliseconds(ours), "2000 ms", ours.wall / 2, 1.0, ours.memory
    yield "… memory / 150 MiB", mebibytes(ours), "150 MiB", ours.memory / (150 * 2**20), 1.0, ours.memory
    if shutil.which("kubectl"):
        size = many(folder / "kustomized", 1000)
        listed = "".join(f"- {name}\n" for name in sorted(os.listdir(folder / "kustomized")))
        (folder / "kustomized" / "kustomization.yaml").write_text("resources:\n" + listed)
        what = f"`argocd generate` of 1,000 files ({size / 1e6:.1f} MB) / kubectl kustomize"
        yield from _beside(what, command, ["kubectl", "kustomize", str(folder / "kustomized")], times)
    if shutil.which("helm"):
        templates = folder / "chart" / "templates"
        many(templates, 1000)
        (folder / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: lots\nversion: 0.1.0\n")
        for template in templates.iterdir():  # Our placeholders are no actions of Helm's.
            template.write_text(template.read_text().replace("{{", "{{`{{`}}"))
        yield from _beside("`argocd generate` of the same / helm template", command, ["helm", "template", str(folder / "chart")], times)


def peers(folder: Path, times: int) -> Iterator[Row]:
    """Other tools on similar work, where they are on PATH."""
    if shutil.which("kubeconform"):
        definition = yaml.safe_load(subprocess.run([FCOMPILE, "crd"], stdout=subprocess.PIPE, check=True).stdout)
        (folder / "framework.json").write_text(json.dumps(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]))
        command = ["kubeconform", "-schema-location", str(folder / "{{.ResourceKind}}.json"), str(folder / "lots")]
        ours, theirs, ratio = paired([FCOMPILE, "validate", str(folder / "lots")], command, times, of_cpu=True)
        what = "`validate` of 1,000 files / kubeconform with the schema of `fcompile crd`: CPU"
        yield what, f"{ours.cpu:.2f} s", f"{theirs.cpu:.2f} s", ratio, 1.0, ours.memory
    kustomize = ["kustomize", "build"] if shutil.which("kustomize") else ["kubectl", "kustomize"] if shutil.which("kubectl") else None
    if kustomize:
        listed = "".join(f"- {name}\n" for name in sorted(os.listdir(folder / "few")))
        (folder / "few" / "kustomization.yaml").write_text("resources:\n" + listed)
        ours = [FCOMPILE, "build", str(folder / "few")]
        yield from _beside(f"`build` of 200 files / {' '.join(kustomize)}", ours, [*kustomize, str(folder / "few")], times)


def _beside(what: str, ours: list[str], peer: list[str], times: int) -> Iterator[Row]:
    mine, theirs, ratio = paired(ours, peer, max(times // 3, 3))
    yield what, milliseconds(mine), milliseconds(theirs), ratio, None, mine.memory


def milliseconds(measured: Run) -> str:
    return f"{measured.wall * 1000:.0f} ms"


def mebibytes(measured: Run) -> str:
    return f"{measured.memory / 2**20:.0f} MiB"


if __name__ == "__main__":
    sys.exit(main())
