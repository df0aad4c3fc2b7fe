"""Which files are passed over although they hold a Framework, and which must not be."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcompile.check.document import Checked, Options
from fcompile.check.tool_files import looks_like_template
from fcompile.load.files import FileEntry
from fcompile.pipeline.inputs import Inputs, check_entry

HEAD = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n"


@pytest.mark.parametrize(
    "line",
    [
        "{{- if .Values.workers }}",
        "  {{ end }}",
        "  name: {{ .Release.Name }}-train",
        '  "name": {{ .Values.name | quote }},',
        '  labels: {{- include "labels" . | nindent 4 }}',
        "  - {{ $item }}",
        "  - name: {{ $item.name }}",
        "  args: [{{ .Values.rank }}]",
        "{{- /* a comment */ -}}",
        "{{/* a comment */}}",
        "{% for role in roles %}",
        "  {%- endif %}",
    ],
)
def test_a_template(line: str) -> None:
    assert looks_like_template(f"{HEAD}{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "  name: {{FC_FRAMEWORK_NAME}}",
        "  name: {{ FC_TASK_INDEX }}",
        "  name: '{{ .Release.Name }}'",
        '  args: [docker, inspect, --format, "{{.State.Status}}"]',
        "  args: docker inspect --format {{.State.Status}}",
        "  # {{ .Values.workers }}",
        '  text: "a: {{ .Values.workers }}"',
        "  a: 100{% of it",
    ],
)
def test_no_template(line: str) -> None:
    assert not looks_like_template(f"{HEAD}{line}\n")


def check(path: Path, text: str) -> Checked:
    """What checking a file of that text comes to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return check_entry(FileEntry(str(path), str(path)), Options(36, "default"))


def codes(checked: Checked) -> set[str]:
    return {problem.rule.code for problem in checked.problems}


def test_actions_in_strings_hide_no_error(tmp_path: Path) -> None:
    """A Framework that runs `docker inspect --format '{{.State}}'` is no template: its duplicate key is an error."""
    checked = check(tmp_path / "framework.yaml", f"{HEAD}kind: Framework\nspec: {{command: [docker, --format, '{{{{.State}}}}']}}\n")
    assert not checked.skipped
    assert "FC003" in codes(checked)


@pytest.mark.parametrize("group", ["testing.example.com/v1", "v1"])
def test_a_framework_of_another_group_that_cannot_be_read(tmp_path: Path, group: str) -> None:
    assert check(tmp_path / "framework.yaml", f"apiVersion: {group}\nkind: Framework\nlist: [1\n").problems == []


def test_a_framework_named_only_in_a_comment_of_what_cannot_be_read(tmp_path: Path) -> None:
    checked = check(tmp_path / "pipeline.yaml", "# kind: Framework of frameworkcontroller.microsoft.com/v1: see docs\nlist: [1\n")
    assert checked.problems == []


@pytest.mark.parametrize(
    "text",
    [f"{HEAD}list: [1\n", f"  # ours\n{HEAD}list: [1\n", '{"kind": "Framework", "apiVersion": "frameworkcontroller.microsoft.com/v1", }'],
)
def test_one_of_ours_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    assert len(codes(check(tmp_path / "framework.yaml", text))) == 1


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.usefixtures("repository")
class TestHelm:
    @pytest.mark.parametrize("folder", ["chart/templates", "chart/templates/tests", "chart/charts/sub/templates"])
    def test_templates_of_a_chart(self, tmp_path: Path, folder: str) -> None:
        for chart in ("chart", "chart/charts/sub"):
            check(tmp_path / chart / "Chart.yaml", "apiVersion: v2\n")
        assert "Helm" in check(tmp_path / folder / "framework.yaml", f"{HEAD}spec: {{}}\n").skipped

    @pytest.mark.parametrize("folder", ["chart", "chart/files", "templates"])
    def test_what_is_beside_them(self, tmp_path: Path, folder: str) -> None:
        check(tmp_path / "chart" / "Chart.yaml", "apiVersion: v2\n")
        checked = check(tmp_path / folder / "framework.yaml", f"{HEAD}spec: {{}}\n")
        assert not checked.skipped
        assert checked.problems


@pytest.mark.usefixtures("repository")
class TestKustomize:
    @pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
    @pytest.mark.parametrize(
        "listed",
        [
            "patches: [{path: patches/train.yaml}]",
            "patchesStrategicMerge: [./patches/train.yaml]",
            "patches:\n- target: {}\n  path: patches/../patches/train.yaml",
        ],
    )
    def test_a_patch(self, tmp_path: Path, name: str, listed: str) -> None:
        check(tmp_path / name, f"resources: []\n{listed}\n")
        assert "kustomize" in check(tmp_path / "patches" / "train.yaml", f"{HEAD}metadata: {{name: train}}\n").skipped

    @pytest.mark.parametrize(
        "kustomization",
        [
            "resources: [train.yaml]",
            "patches: [{path: other.yaml}]",
            "patches: [1, null, {path: 3}, {path: null}]",
            "patches: {path: train.yaml}",
            "a: [",
            "",
        ],
    )
    def test_what_is_no_patch(self, tmp_path: Path, kustomization: str) -> None:
        check(tmp_path / "kustomization.yaml", kustomization)
        checked = check(tmp_path / "train.yaml", f"{HEAD}metadata: {{name: train}}\n")
        assert not checked.skipped
        assert checked.problems


class TestWhatIsAbove:
    """Whoever may write above what was named, as into /tmp, must not silence it: they are nobody whom the user knows."""

    CHART = ("Chart.yaml", "apiVersion: v2\n", "templates/sub")
    PATCHES = ("kustomization.yaml", "patches: [{path: mine/train.yaml}]\n", "mine")

    @pytest.fixture(params=[CHART, PATCHES], ids=["a chart", "patches"])
    def mine(self, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
        """Return a folder with a Framework, above which a file says that it is none."""
        name, text, folder = request.param
        (tmp_path / name).write_text(text)
        mine: Path = tmp_path / folder
        mine.mkdir(parents=True)
        (mine / "train.yaml").write_text(f"{HEAD}metadata: {{name: train}}\n")
        return mine

    @staticmethod
    def skipped(path: Path) -> list[str]:
        return [checked.skipped for checked in Inputs([str(path)]).checked(Options(36, "default"), 1) if checked.skipped]

    def test_without_a_repository_it_does_not_count(self, mine: Path) -> None:
        assert self.skipped(mine) == self.skipped(mine / "train.yaml") == []

    def test_the_folder_that_was_named_counts(self, mine: Path, tmp_path: Path) -> None:
        (reason,) = self.skipped(tmp_path)
        assert "first" in reason

    def test_the_root_of_the_repository_counts(self, mine: Path, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        assert len(self.skipped(mine)) == len(self.skipped(mine / "train.yaml")) == 1

    def test_above_the_root_nothing_counts(self, mine: Path) -> None:
        (mine / ".git").touch()  # as in a worktree
        assert self.skipped(mine) == self.skipped(mine / "train.yaml") == []

    def test_what_lies_in_a_folder_for_everybody_never_counts(self, mine: Path, tmp_path: Path) -> None:
        """Somebody can put a kustomization into /tmp, and a `.git` too."""
        (tmp_path / ".git").mkdir()
        tmp_path.chmod(0o1777)
        assert self.skipped(mine) == self.skipped(mine / "train.yaml") == []

    def test_a_file_in_a_folder_for_everybody(self, tmp_path: Path) -> None:
        (tmp_path / "kustomization.yaml").write_text("patches: [{path: train.yaml}]\n")
        (tmp_path / "train.yaml").write_text(f"{HEAD}metadata: {{name: train}}\n")
        tmp_path.chmod(0o1777)
        assert self.skipped(tmp_path / "train.yaml") == []
