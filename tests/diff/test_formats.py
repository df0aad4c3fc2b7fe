"""What the formats look like: edits of the examples, as snapshots to read."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fcompile.cli import main
from fcompile.diff import markdown
from fcompile.diff.compare import Difference
from fcompile.diff.effects import Effect
from fcompile.diff.frameworks import Change, FrameworkDiff
from fcompile.diff.result import ObjectDiff, Result

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def edited(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`old` and `new` in the current folder: the examples, and what somebody made of them."""
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        for name in ("batch", "mpi", "pytorch-ddp", "service", "spot", "tensorflow-ps"):
            shutil.copy(repository / "examples" / f"{name}.yaml", tmp_path / side)
    new = tmp_path / "new"
    _edit(new / "pytorch-ddp.yaml", ("2.5.1-cuda12.4", "2.6.0-cuda12.4"), ("taskNumber: 4", "taskNumber: 6"), ("nnodes=4", "nnodes=6"))
    _edit(
        new / "spot.yaml",
        ("--resume", "--resume --fast"),
        ("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"),
        ("nvidia.com/gpu: 1\n", "nvidia.com/gpu: 2\n"),
    )
    _edit(new / "batch.yaml", ("description: ", "description: Once more, "))
    _edit(new / "service.yaml", ("executionType: Start", "executionType: Create"))
    _edit(new / "tensorflow-ps.yaml", ("- name: ps", "- name: server"))
    (new / "mpi.yaml").rename(new / "lammps.yaml")
    _edit(new / "lammps.yaml", ("  name: lammps", "  name: lammps2"))
    monkeypatch.chdir(tmp_path)


def _edit(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize("format", ["text", "markdown", "json", "html"])
def test_formats(format: str, capsys: Capture, text_file: SnapshotAssertion) -> None:
    assert main(["diff", "--format", format, "--color", "never", "old", "new"]) == 1
    captured = capsys.readouterr()
    assert captured.err == ""
    assert re.sub(r"fcompile \d[^:]*:", "fcompile VERSION:", captured.out) == text_file


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_nothing_differs(format: str, capsys: Capture) -> None:
    assert main(["diff", "--format", format, "old", "old"]) == 0
    assert "No differences in what will run." in capsys.readouterr().out


@pytest.mark.usefixtures("edited")
def test_a_comment_has_a_limit(capsys: Capture) -> None:
    text = Path("new/batch.yaml").read_text(encoding="utf-8")
    (first,) = re.findall(r"^  name: (\w+)$", text, re.MULTILINE)
    for number in range(600):
        made = text.replace(f"  name: {first}\n", f"  name: made{number}\n", 1).replace("description: ", f"description: {number} ")
        (Path("new") / f"{number}.yaml").write_text(made, encoding="utf-8")
    assert main(["diff", "--format", "markdown", "old", "new"]) == 1
    out = capsys.readouterr().out
    assert len(out) < 65_536
    assert "more objects that would not fit" in out


def test_what_does_not_fit_into_a_comment_is_named() -> None:
    """What followed a long one was left out with it: whoever wrote that could hide anything."""
    long = tuple(Difference(f"data.a{number}", "x" * 2000, "y" * 2000) for number in range(20))
    found = [
        ObjectDiff("ConfigMap", "lab", f"long-configuration-of-others-{number}", "changed", long, "old.yaml", "new.yaml")
        for number in range(90)
    ]
    some = Difference("data.a", "x", "y")
    short = ObjectDiff("ConfigMap", "lab", "short", "changed", (some,), "old.yaml", "new.yaml")
    framework = FrameworkDiff("lab", "train", "changed", Effect.ON_THE_FLY, (), (), {}, ("old.yaml", 1), ("new.yaml", 1), ends_pods=True)
    change = Change("", "framework", "spec.executionType", "a", "b", Effect.ON_THE_FLY, "x", ends_pods=True)
    ending = [
        framework._replace(name="long", changes=tuple(change._replace(before="x" * 2000, after="y" * 2000) for _ in range(20))),
        framework._replace(name="short", changes=(change,)),
    ]
    out = "".join(markdown.write(Result(tuple(ending), (*found, short))))
    assert len(out) < 65_536
    assert "<b>lab/short</b>: ends Pods" in out
    assert "`ConfigMap lab/short` changed" in out
    rest = out.partition("… and 91 more objects that would not fit into a comment:\n\n")[2].splitlines()
    assert rest[:2] == ["- 🔴 lab/long: ends Pods", "- `ConfigMap lab/long-configuration-of-others-0` changed"]
    assert rest[-1] == f"- and {91 - len(rest) + 1} more"


def test_nothing_takes_the_room_in_a_comment_of_what_ends_pods() -> None:
    framework = FrameworkDiff("lab", "first", "changed", Effect.ON_THE_FLY, (), (), {}, ("old.yaml", 1), ("new.yaml", 1))
    change = Change("", "framework", "spec.description", "x" * 2000, "y" * 2000, Effect.ON_THE_FLY, "x")
    ends = framework._replace(name="last", changes=(change._replace(ends_pods=True),), ends_pods=True)
    shown = ["".join(markdown.write(Result((framework._replace(changes=(change,) * number), ends)))) for number in (13, 14)]
    assert shown[0].index("<b>lab/first</b>: applied on the fly") < shown[0].index("<b>lab/last</b>: ends Pods"), "in their order"
    assert "<b>lab/last</b>: ends Pods" in shown[1]
    assert "1 more object that would not fit into a comment:\n\n- 🟢 lab/first: applied on the fly\n" in shown[1]
    added = framework._replace(kind="added", changes=(change,) * 14)
    out = "".join(markdown.write(Result((added, framework._replace(name="changed", changes=(change,))))))
    assert "<b>lab/changed</b>: applied on the fly" in out
    assert out.endswith("1 more object that would not fit into a comment:\n\n- ➕ lab/first: new: it is created\n")


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_what_is_new_is_shown_as_a_whole(format: str, capsys: Capture) -> None:
    objects = """
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts, labels: {team: a}}
data: {run.sh: "evil\nscript\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {old: hunter1, new: hunter2, same: hunter3}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: admin}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
"""
    Path("new/objects.yaml").write_text(objects, encoding="utf-8")
    _edit(Path("new/lammps.yaml"), ("lammps:2024.8-openmpi5", "lammps:evil"))
    assert main(["diff", "--format", format, "old", "new"]) == 1
    out = html.unescape(capsys.readouterr().out)
    for shown in ("lammps:evil", "evil", "script", "team", "cluster-admin", "***"):
        assert shown in out, shown
    assert "hunter" not in out, "as with kubectl diff, no value of a Secret is shown"
    _edit(Path("new/objects.yaml"), ("hunter2", "hunter4"), ("old: hunter1, ", ""))
    Path("old/objects.yaml").write_text(objects, encoding="utf-8")
    assert main(["diff", "--format", format, "old", "new"]) == 1
    out = html.unescape(capsys.readouterr().out)
    assert "hunter" not in out
    assert "*** (before)" in out
    assert "*** (after)" in out
    assert "stringData.old" in out.replace("<wbr>", "")
    assert "stringData.same" not in out.replace("<wbr>", "")


def test_new_frameworks_that_say_the_same_are_shown_once(tmp_path: Path, repository: Path, capsys: Capture) -> None:
    text = (repository / "examples" / "hello.yaml").read_text(encoding="utf-8")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "empty.yaml").write_text("", encoding="utf-8")
    for name, namespace, image in ("a", "x", "1"), ("b", "x", "1"), ("c", "z", "1"), ("d", "x", "2"):
        made = re.sub(
            "image: .*", f"image: a:{image}", text.replace("name: hello\n  namespace: default", f"name: {name}\n  namespace: {namespace}")
        )
        path = tmp_path / "new" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(made, encoding="utf-8")
    assert main(["diff", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    out = capsys.readouterr().out
    assert re.findall(r"(./.)  new: it is created|(the same in .*)", out) == [
        ("x/a", ""),
        ("", "the same in 1 more Framework: x/b"),
        ("z/c", ""),
        ("x/d", ""),
    ]
    assert out.endswith("4 Frameworks differ: 4 new.\n")
    assert main(["diff", "--format", "json", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    assert len(json.loads(capsys.readouterr().out)["frameworks"]) == 4


def test_what_changes_nothing_pushes_nothing_out_of_a_comment() -> None:
    """A long description of the first Framework did so with the image of the second."""
    description = Change("", "framework", "spec.description", "a", "b" * 1_900, Effect.NOTHING, "x")
    image = Change("worker", "pod", "spec.containers[main].image", "a:1", "a:2", Effect.NEXT_RETRY, "x")
    first = FrameworkDiff("lab", "first", "changed", Effect.NOTHING, (description,) * 31, (), {}, ("old.yaml", 1), ("new.yaml", 1))
    second = first._replace(name="second", effect=Effect.NEXT_RETRY, changes=(image,) * 20)
    gone = ObjectDiff("Job", "lab", "gone", "removed", (), "old.yaml", "")
    out = "".join(markdown.write(Result((first, second), (gone,))))
    assert "a:2" in out
    assert out.index("lab/second") < out.index("Job lab/gone"), "in the order of the result"
    assert out.endswith("… and 1 more object that would not fit into a comment:\n\n- ⚪ lab/first: changes nothing that runs\n")


@pytest.mark.usefixtures("edited")
def test_a_long_page_can_be_opened_as_a_whole(capsys: Capture) -> None:
    """By a box and a style sheet: there is no script on the page."""
    assert main(["diff", "--format", "html", "old", "new"]) == 1
    assert 'id="all"' not in capsys.readouterr().out, "a short page is open"
    text = Path("new/batch.yaml").read_text(encoding="utf-8")
    (first,) = re.findall(r"^  name: (\w+)$", text, re.MULTILINE)
    for number in range(20):
        made = text.replace(f"  name: {first}\n", f"  name: made{number}\n", 1).replace("description: ", f"description: {number} ")
        (Path("new") / f"{number}.yaml").write_text(made, encoding="utf-8")
    assert main(["diff", "--format", "html", "old", "new"]) == 1
    out = capsys.readouterr().out
    assert '<input type="checkbox" id="all"> <label for="all">expand all</label>' in out
    assert '<details class="card">' in out
    assert "<script" not in out


@pytest.mark.usefixtures("edited")
def test_long_values_are_in_no_table_of_a_comment(capsys: Capture) -> None:
    """On a phone, the new one would be out of sight. Nothing in them is more than text there either."""
    hostile = "b" * 40 + " | `@everyone` <img src=x> [a](http://example.com) `` end"
    text = Path("old/batch.yaml").read_text(encoding="utf-8")
    path = Path("new/batch.yaml")
    path.write_text(re.sub(r"^  description: .*$", f"  description: '{hostile}'", text, count=1, flags=re.MULTILINE), encoding="utf-8")
    assert main(["diff", "--format", "markdown", "old/batch.yaml", "new/batch.yaml"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "spec.description" in line]
    assert line.endswith(f" → ``` {hostile} ```")
    assert not line.startswith("|")
