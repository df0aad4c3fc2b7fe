"""`diff --git`: revisions, the working tree, and everything that a repository can hold; nothing is checked out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fcompile.cli import main
from fcompile.emit import yaml
from fcompile.load.files import MAX_PATTERNS
from tests.diff.frameworks import Json, framework, role, spec

Capture = pytest.CaptureFixture[str]
IDENTITY = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}


class Repository:
    """A git repository in the current folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        environment = {**os.environ, **IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, name: str, image: str = "a:1", framework_name: str = "train") -> None:
        pod = {"containers": [{"name": "main", "image": image}]}
        self.put(name, yaml.dump(framework(spec(role(retry=1, pod=pod)), framework_name)))

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")


Diff = Callable[..., tuple[int, Any]]


@pytest.fixture
def repository_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    return Repository(tmp_path)


@pytest.fixture
def diff(capsys: Capture) -> Diff:
    """The exit code and the JSON, or what is said on stderr."""

    def run(*arguments: str) -> tuple[int, Any]:
        code = main(["diff", "--format", "json", *arguments])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else captured.err

    return run


def images(document: Json) -> list[tuple[str, str, Any, Any]]:
    return [
        (one["name"], change["field"][-5:], change.get("before"), change.get("after"))
        for one in document["frameworks"]
        for change in one["changes"]
    ]


def kinds(document: Json) -> dict[str, str]:
    return {one["name"]: one["kind"] for one in document["frameworks"]}


def test_the_working_tree(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("train.yaml")
    repository_here.commit()
    assert diff("--git", "HEAD")[0] == 0
    repository_here.write("train.yaml", "a:2")
    code, document = diff("--git", "HEAD")
    assert (code, images(document)) == (1, [("train", "image", "a:1", "a:2")])
    repository_here.git("add", "-A")
    assert diff("--git", "HEAD") == (code, document), "staged or not"
    assert (document["frameworks"][0]["before"], document["frameworks"][0]["after"]) == ({"file": "train.yaml", "line": 4},) * 2


def test_two_revisions(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("train.yaml")
    first = repository_here.commit()
    repository_here.write("train.yaml", "a:2")
    second = repository_here.commit()
    repository_here.write("train.yaml", "a:3")
    for written in (f"{first}..{second}", "HEAD~1..", "HEAD~1..HEAD", f"{first[:8]}..main"):
        assert images(diff("--git", written)[1]) == [("train", "image", "a:1", "a:2")]
    assert images(diff("--git", "HEAD..HEAD~")[1]) == [("train", "image", "a:2", "a:1")]
    assert (repository_here.folder / "train.yaml").read_text().count("a:3") == 1, "the checkout is as it was"


def test_since_they_parted(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.git("branch", "feature")
    repository_here.write("train.yaml", "a:9")
    repository_here.commit()
    repository_here.git("checkout", "-q", "feature")
    repository_here.write("other.yaml", framework_name="other")
    repository_here.commit()
    assert kinds(diff("--git", "main...feature")[1]) == {"other": "added"}
    assert kinds(diff("--git", "main..feature")[1]) == {"other": "added", "train": "changed"}


def test_a_file_that_moves_is_no_difference(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("a/train.yaml")
    repository_here.commit()
    repository_here.git("mv", "a/train.yaml", "moved.yaml")
    assert diff("--git", "HEAD")[0] == 0
    repository_here.write("moved.yaml", "a:2")
    document = diff("--git", "HEAD")[1]
    assert kinds(document) == {"train": "changed"}
    assert (document["frameworks"][0]["before"]["file"], document["frameworks"][0]["after"]["file"]) == ("a/train.yaml", "moved.yaml")


def test_files_come_and_go(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("gone.yaml", framework_name="gone")
    repository_here.write("deleted.yaml", framework_name="deleted")
    repository_here.put(".gitignore", "build/\n")
    repository_here.commit()
    repository_here.git("rm", "-q", "gone.yaml")
    (repository_here.folder / "deleted.yaml").unlink()
    repository_here.write("untracked.yaml", framework_name="untracked")
    repository_here.write("build/ignored.yaml", framework_name="ignored")
    assert kinds(diff("--git", "HEAD")[1]) == {"untracked": "added", "deleted": "removed", "gone": "removed"}


def test_only_below_the_paths(repository_here: Repository, diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        repository_here.write(f"{name}/{name}.yaml", framework_name=name)
    repository_here.commit()
    for name in ("a", "b"):
        repository_here.write(f"{name}/{name}.yaml", "a:2", name)
    assert kinds(diff("--git", "HEAD", "a")[1]) == {"a": "changed"}
    assert kinds(diff("--git", "HEAD", "a", "b/b.yaml")[1]) == {"a": "changed", "b": "changed"}
    monkeypatch.chdir(repository_here.folder / "a")
    code, document = diff("--git", "HEAD", "../b")
    assert (code, document["frameworks"][0]["after"]["file"]) == (1, "../b/b.yaml")
    repository_here.write("new.yaml", framework_name="new")
    assert kinds(diff("--git", "HEAD")[1]) == {"a": "changed", "b": "changed", "new": "added"}, "all of the repository"
    assert kinds(diff("--git", "HEAD", ".")[1]) == {"a": "changed"}
    code, message = diff("--git", "HEAD", "nowhere")
    assert (code, "nowhere" in message) == (2, True)


@pytest.mark.parametrize(
    "name",
    [
        *("fol der/x.yaml", "a b c/x.yaml", "car\rriage/x.yaml", "new\nline/x.yaml", "a blob 7/x.yaml"),
        *("sp ace.yaml", "tab\t.yaml", "new\nline.yaml", "ümläut.yaml", "-dash.yaml", ":(top)x.yaml", "*.yaml", 'q"uote.yaml'),
    ],
)
def test_names_of_files(repository_here: Repository, diff: Diff, name: str) -> None:
    repository_here.write(name)
    repository_here.commit()
    repository_here.write(name, "a:2")
    code, document = diff("--git", "HEAD", "--", name)
    assert (code, document["frameworks"][0]["after"]["file"]) == (1, name)
    repository_here.commit()
    assert diff("--git", "HEAD~1..HEAD", "--", name)[0] == 1


def test_a_name_that_is_no_text(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("train.yaml")
    odd = os.fsencode(repository_here.folder) + b"/\xff.yaml"
    os.rename(repository_here.folder / "train.yaml", odd)
    repository_here.commit()
    with open(odd, "ab") as file:
        file.write(b"  description: x\n")
    code, document = diff("--git", "HEAD")
    assert (code, document["frameworks"][0]["after"]["file"]) == (1, "\\xff.yaml")


def test_names_that_look_the_same(repository_here: Repository, diff: Diff) -> None:
    """A byte that is no text, and the escape that it is shown as: one file was taken for the other, and neither was compared."""
    odd = Path(os.fsdecode(os.fsencode(repository_here.folder) + b"/\xff.yaml"))
    repository_here.write("\\xff.yaml", framework_name="other")
    repository_here.write(odd.name)
    repository_here.commit()
    repository_here.put("\\xff.yaml", odd.read_text())
    repository_here.write(odd.name, "a:2")
    assert diff("--git", "HEAD")[0] == 2, "two Frameworks of one name"
    repository_here.commit()
    assert diff("--git", "HEAD~1..HEAD")[0] == 2
    repository_here.put("Chart.yaml", "apiVersion: v2\n")
    for name in "\\xff.tpl", odd.with_suffix(".tpl").name:
        repository_here.put(name, "a\n")
    repository_here.commit()
    repository_here.put(odd.with_suffix(".tpl").name, "b\n")
    assert len(diff("--git", "HEAD")[1]["objects"]) == 1


def test_what_is_no_file(repository_here: Repository, diff: Diff, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Links out of the tree, pipes and submodules are not followed."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    repository_here.write("train.yaml")
    repository_here.commit()
    other = Repository(elsewhere)
    other.write("secret.yaml", framework_name="secret")
    other.commit()
    (repository_here.folder / "link.yaml").symlink_to(elsewhere / "secret.yaml")
    (repository_here.folder / "folder.yaml").symlink_to(elsewhere)
    os.mkfifo(repository_here.folder / "pipe.yaml")
    repository_here.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(elsewhere), "sub.yaml")
    assert diff("--git", "HEAD")[0] == 0
    os.unlink(repository_here.folder / "pipe.yaml")
    commit = repository_here.commit()
    code, document = diff("--git", "HEAD~1..HEAD")
    assert (code, [(one["kind"], one["name"], one["change"]) for one in document["objects"]]) == (1, [("submodule", "sub.yaml", "added")])
    inner = Repository.__new__(Repository)
    inner.folder = repository_here.folder / "sub.yaml"
    inner.commit()
    repository_here.commit()
    (one,) = diff("--git", f"{commit}..HEAD")[1]["objects"]
    assert (one["kind"], one["changes"][0]["after"]) == ("submodule", inner.git("rev-parse", "HEAD"))
    (repository_here.folder / "train.yaml").unlink()
    (repository_here.folder / "train.yaml").symlink_to(elsewhere / "secret.yaml")
    assert kinds(diff("--git", "HEAD")[1]) == {"train": "removed"}


@pytest.mark.parametrize("target", ["train.txt", ".hidden/train.yaml", "left-out.yaml"])
def test_a_link_within_the_tree(repository_here: Repository, diff: Diff, target: str) -> None:
    """`validate` and the plugin for Argo CD follow it, so that what it leads to runs, whatever that is called."""
    repository_here.put("deep/.fcompileignore", "left-out.yaml\n")
    repository_here.put("other.txt", "")
    repository_here.write(f"deep/{target}")
    commits = [repository_here.commit()]
    link = repository_here.folder / "some" / "link.yaml"
    (repository_here.folder / "folder").symlink_to("some/../deep")
    (repository_here.folder / "loop.yaml").symlink_to("loop.yaml")

    def step(expected: list[str]) -> None:
        commits.append(repository_here.commit())
        for revisions in f"{commits[-2]}..{commits[-1]}", commits[-2]:
            assert [*kinds(diff("--git", revisions)[1]).values()] == expected

    link.parent.mkdir()
    link.symlink_to(f"../folder/{target}")
    step(["added"])
    repository_here.write(f"deep/{target}", "a:2")
    step(["changed"])
    link.unlink()
    link.symlink_to("../other.txt")
    step(["removed"])
    repository_here.write(f"deep/{target}", "a:3")
    step([])
    link.unlink()
    link.symlink_to(f"../deep/{target}")
    repository_here.write(f"deep/{target}", "a:4")
    step(["added"])


LINKED = {
    "another file": ({"a.yaml": "", "b.yaml": ""}, "train.yaml", "a.yaml", "b.yaml"),
    "another folder": ({"v1/kustomization.yaml": "", "v2/kustomization.yaml": ""}, "base", "v1", "../deep/v2"),
    "another template": ({"Chart.yaml": "apiVersion: v2\n", "one": "", "two": ""}, "templates/x.tpl", "../one", "../two"),
    "another script": ({"kustomization.yaml": "configMapGenerator: [{files: [run.sh]}]\n", "one": "", "two": ""}, "run.sh", "one", "two"),
}


@pytest.mark.parametrize(("files", "name", "old", "new"), LINKED.values(), ids=LINKED)
def test_a_link_that_leads_elsewhere(repository_here: Repository, diff: Diff, files: dict[str, str], name: str, old: str, new: str) -> None:
    """Nothing but the link changes, and other files of the tree run."""
    for file, text in files.items():
        repository_here.put(f"deep/{file}", text)
    link = repository_here.folder / "deep" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(old)
    first = repository_here.commit()
    link.unlink()
    link.symlink_to(new)
    repository_here.commit()
    for revisions in f"{first}..HEAD", first:
        code, document = diff("--git", revisions)
        (one,) = [one for one in document["objects"] if one["kind"] == "link"]
        assert (code, one["name"]) == (1, f"deep/{name}")
        assert one["changes"] == [{"field": "text", "before": old, "after": new}]


BEHIND = {
    "a template": ("kept/x.tpl", {"deep/Chart.yaml": "apiVersion: v2\n"}, "deep/templates/x.tpl", "../../kept/x.tpl"),
    "a folder of templates": ("kept/x.tpl", {"deep/Chart.yaml": "apiVersion: v2\n"}, "deep/templates/more", "../../kept"),
    "a script": ("kept/run.sh", {"kustomization.yaml": "generators: [{files: [run.sh]}]\n"}, "run.sh", "kept/run.sh"),
    "a folder of scripts": ("kept/run.sh", {"kustomization.yaml": "configMapGenerator: [{files: [s/run.sh]}]\n"}, "s", "kept"),
    "a script that is no link": ("kept/run.sh", {"app/kustomization.yaml": "secretGenerator: [{files: [../kept/run.sh]}]\n"}, "s", "kept"),
    "settings that are no link": ("kept/c.yaml", {"app/Kustomization": "a: [../kept/c.yaml]\n", "app/a": ""}, "s", "kept"),
    "what a generator names": (
        "kept/c.txt",
        {"app/kustomization.yaml": "Generators: [g.yaml]\n", "app/g.yaml": "{kind: G, apiVersion: v1, files: [../kept/c.txt]}\n"},
        *("s", "kept"),
    ),
    "what is far and hidden": (".kept/c.txt", {"app/Kustomization": "generators: [{files: [../.kept/c.txt]}]\n"}, "s", ".kept"),
    "what is far from a linked one": ("kept/c.txt", {"k": "a: [../kept/c.txt]\n", "app/a": ""}, "app/kustomization.yaml", "../k"),
    "what a linked kustomization names": ("deep/run.sh", {"k": "configMapGenerator: [{files: [run.sh]}]\n"}, "deep/Kustomization", "../k"),
    "what is of a linked chart": ("deep/run.sh", {"c": "apiVersion: v2\n"}, "deep/Chart.yaml", "../c"),
}


@pytest.mark.parametrize(("name", "files", "link", "target"), BEHIND.values(), ids=BEHIND)
def test_what_is_behind_a_link(repository_here: Repository, diff: Diff, name: str, files: dict[str, str], link: str, target: str) -> None:
    """Helm and kustomize follow it, whatever it is called."""
    for file, text in {**files, name: "a\n"}.items():
        repository_here.put(file, text)
    (repository_here.folder / link).parent.mkdir(exist_ok=True)
    (repository_here.folder / link).symlink_to(target)
    first = repository_here.commit()
    repository_here.put(name, "b\n")
    repository_here.commit()
    for revisions in f"{first}..HEAD", first:
        code, document = diff("--git", revisions)
        (one,) = document["objects"]
        assert (code, one["name"], one["change"], len(one["changes"])) == (1, name, "changed", 1)


def test_left_out(repository_here: Repository, diff: Diff) -> None:
    """Hidden folders and `.fcompileignore`, as each side has it."""
    repository_here.write(".hidden/train.yaml")
    repository_here.write("bad/train.yaml")
    repository_here.write("some/deep/bad/x.yaml", framework_name="x")
    repository_here.put(".fcompileignore", "# none\n")
    repository_here.commit()
    repository_here.put(".fcompileignore", "bad/\n")
    assert kinds(diff("--git", "HEAD")[1]) == {"train": "removed"}
    repository_here.write("bad/train.yaml", "a:2")
    repository_here.write(".hidden/train.yaml", "a:2")
    repository_here.write("some/deep/bad/x.yaml", "a:2", "x")
    assert kinds(diff("--git", "HEAD")[1]) == {"x": "changed", "train": "removed"}
    repository_here.commit()
    assert kinds(diff("--git", "HEAD~1..HEAD")[1]) == {"x": "changed", "train": "removed"}


def test_a_link_to_what_is_not_in_the_tree(repository_here: Repository, diff: Diff, tmp_path_factory: pytest.TempPathFactory) -> None:
    """It may lead into a submodule, or to what another tool makes: that it is there was not said."""
    repository_here.write("train.yaml")
    other = Repository(tmp_path_factory.mktemp("other"))
    other.write("evil.yaml", framework_name="evil")
    other.commit()
    repository_here.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.folder), "sub")
    commits = [repository_here.commit()]
    link = repository_here.folder / "jobs" / "link.yaml"
    link.parent.mkdir()
    for target, change in ("../sub/evil.yaml", "added"), ("../made/train.yaml", "changed"), (str(other.folder / "evil.yaml"), "removed"):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        commits.append(repository_here.commit())
        for revisions in f"{commits[-2]}..{commits[-1]}", commits[-2]:
            code, document = diff("--git", revisions)
            (one,) = document["objects"]
            assert (code, kinds(document), one["kind"], one["name"], one["change"]) == (1, {}, "link", "jobs/link.yaml", change)
            assert change == "removed" or one["changes"][0]["after"] == target


def test_hidden_folders_are_told_of(repository_here: Repository, diff: Diff) -> None:
    """`kubectl apply -R` and Argo CD read them: a reviewer must not be told that nothing differs."""
    repository_here.put("kept/.fcompileignore", ".listed\n")
    repository_here.write(".same/train.yaml", framework_name="same")
    repository_here.write("jobs/.old/train.yaml")
    repository_here.write("moved.yaml", framework_name="moved")
    first = repository_here.commit()
    repository_here.write("jobs/.old/train.yaml", "a:2")
    repository_here.put("jobs/.old/deep/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    repository_here.put(".lfs/pointer.yaml", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    (repository_here.folder / ".gone").mkdir()
    (repository_here.folder / "moved.yaml").rename(repository_here.folder / ".gone" / "moved.yaml")
    repository_here.write("kept/.listed/train.yaml", framework_name="listed")
    repository_here.put(".github/workflows/ci.yaml", "on: push\njobs: {}\n")
    repository_here.put(".vscode/settings.json", "{\n  // no JSON\n}\n")
    repository_here.put(".notes/train.txt", (repository_here.folder / "jobs/.old/train.yaml").read_text())
    second = repository_here.commit()
    for revisions in f"{first}..{second}", first:
        code, document = diff("--git", revisions)
        assert (code, kinds(document)) == (1, {"moved": "removed"})
        assert {(one["kind"], one["name"]): one["change"] for one in document["objects"]} == {
            ("hidden file", ".gone/moved.yaml"): "added",
            ("hidden file", ".lfs/pointer.yaml"): "added",
            ("hidden file", "jobs/.old/deep/cm.yaml"): "added",
            ("hidden file", "jobs/.old/train.yaml"): "changed",
        }
    assert "a:2" in str(diff("--git", f"{first}..{second}", "jobs")[1]["objects"])
    repository_here.put("jobs/kustomization.yaml", "resources: [.old/train.yaml]\n")
    third = repository_here.commit()
    for revisions in f"{second}..{third}", second:
        document = diff("--git", revisions)[1]
        assert (kinds(document), [one["kind"] for one in document["objects"]]) == ({"train": "added"}, ["kustomization"])


def test_hidden_files_are_compared_by_their_values(repository_here: Repository, diff: Diff) -> None:
    """A comment in one was a difference; and what a new one holds was not shown."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n"
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    repository_here.put(".argocd/cm.yaml", text)
    first = repository_here.commit()
    repository_here.put(".argocd/cm.yaml", f"# what this is for\n{text}")
    repository_here.put(".lfs/pointer.yaml", pointer)
    second = repository_here.commit()
    (one,) = diff("--git", f"{first}..{second}")[1]["objects"]
    assert (one["name"], one["changes"]) == (".lfs/pointer.yaml", [{"field": "text", "after": pointer}])
    repository_here.put(".argocd/cm.yaml", text.replace("'1'", "'2'"))
    repository_here.put(".lfs/pointer.yaml", pointer.replace("00", "11"))
    repository_here.put(".new/cm.yaml", text.replace("'1'", "evil"))
    third = repository_here.commit()
    found = {one["name"]: one["changes"] for one in diff("--git", f"{second}..{third}")[1]["objects"]}
    assert found.pop(".argocd/cm.yaml") == [{"field": "data.a", "before": "1", "after": "2"}]
    assert found.pop(".lfs/pointer.yaml")[0]["field"] == "text"
    assert {"field": "data", "after": {"a": "evil"}} in found.pop(".new/cm.yaml")
    assert not found
    assert diff("--git", f"{second}..{third}", "--fail-on", "ends-pods")[0] == 0


@pytest.mark.parametrize("unread", ["# " + "x" * 8_400_000, "{{ note }}: [x"], ids=["large", "a template"])
def test_hidden_files_that_cannot_be_read_are_told_of(repository_here: Repository, diff: Diff, unread: str) -> None:
    """kubectl may read them: with a comment of 9 MB, nothing differed."""
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\n{unread}\n"
    repository_here.put(".hidden/pod.yaml", text)
    repository_here.put(".hidden/secret.yaml", text.replace("Pod", "Secret"))
    repository_here.put(".hidden/site.yaml", "theme: !!python/name:x.y\n")
    first = repository_here.commit()
    for name in ("pod", "secret", "site"):
        path = repository_here.folder / ".hidden" / f"{name}.yaml"
        path.write_text(path.read_text() + "evil: [\n")
    document = diff("--git", f"{first}..{repository_here.commit()}")[1]
    found = {one["name"]: [change["field"] for change in one["changes"]] for one in document["objects"]}
    assert found == {".hidden/pod.yaml": ["text"], ".hidden/secret.yaml": ["sha256"]}


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {a: b}}\nstringData: {old: hunter1, same: hunter2, new: hunter3}\n"
LIST = f"kind: List\napiVersion: v1\nitems:\n- {SECRET.replace(chr(10), chr(10) + '  ')}"
KUSTOMIZATION = "patches: [{path: patch.yaml}]\nsecretGenerator: [{name: a, literals: [old=hunter1, same=hunter2, new=hunter3]}]\n"
LAST = SECRET.replace("{a: b}", "{kubectl.kubernetes.io/last-applied-configuration: 'hunter1, hunter3'}")
WITH_SECRETS = {
    "a hidden file": (".hidden/secret.yaml", SECRET),
    "a list in one": (".hidden/list.yaml", LIST),
    "several documents": (".hidden/some.yaml", f"{SECRET}---\n{LAST}"),
    "a patch": ("patch.yaml", SECRET),
    "literals": ("kustomization.yaml", KUSTOMIZATION),
    "what kubectl notes": ("secret.yaml", LAST),
    "what kubectl notes in a patch": ("patch.yaml", LAST),
    "no mapping": ("secret.yaml", SECRET.replace("{old: hunter1, same: hunter2, new: hunter3}", "[hunter1, hunter3]")),
    "no mapping in a patch": ("patch.yaml", SECRET.replace("{old: hunter1, same: hunter2, new: hunter3}", "hunter3")),
    "another spelling": ("secret.yaml", SECRET.replace("Secret", "secret")),
}


@pytest.mark.parametrize(("name", "text"), WITH_SECRETS.values(), ids=WITH_SECRETS)
def test_values_of_secrets_are_shown_nowhere(repository_here: Repository, diff: Diff, name: str, text: str) -> None:
    repository_here.put("kustomization.yaml", KUSTOMIZATION)
    first = repository_here.commit()
    repository_here.put(name, text)
    second = repository_here.commit()
    repository_here.put(name, text.replace("hunter3", "hunter4"))
    third = repository_here.commit()
    for revisions in f"{first}..{second}", f"{second}..{third}", f"{third}..{first}":
        document = diff("--git", revisions)[1]
        assert "hunter" not in str(document)
    (one,) = diff("--git", f"{second}..{third}")[1]["objects"]
    for change in one["changes"]:
        assert change["before"] != change["after"]
        assert "***" in change["before"]
        assert "same" not in change["field"]


def test_patterns_are_as_many_as_in_a_folder(repository_here: Repository, diff: Diff) -> None:
    """Each name is held against them all: 600 kB of patterns and a dozen files took minutes."""
    repository_here.write("deep/train.yaml")
    old = repository_here.commit()
    repository_here.put("deep/.fcompileignore", "x*\n" * MAX_PATTERNS)
    repository_here.write("deep/train.yaml", "a:2")
    assert images(diff("--git", old)[1]) == [("train", "image", "a:1", "a:2")]
    repository_here.put("deep/.fcompileignore", "x*\n" * (MAX_PATTERNS + 1))
    new = repository_here.commit()
    said = "fcompile: --git: deep/.fcompileignore holds more than 1,000 patterns: write fewer\n"
    assert diff("--git", old) == diff("--git", f"{old}..{new}") == (2, said)


def test_what_is_ignored_no_longer_counts_though_it_is_the_same(repository_here: Repository, diff: Diff) -> None:
    """Whoever changed `.fcompileignore` alone could have run or ended a Framework with no difference to be seen."""
    repository_here.write("deep/miner.yaml", framework_name="miner")
    repository_here.write("deep/train.yaml")
    repository_here.put("deep/.fcompileignore", "miner.yaml\n")
    old = repository_here.commit()
    repository_here.put("deep/.fcompileignore", "train.yaml\n")
    new = repository_here.commit()
    for arguments in (f"{old}..{new}",), (f"{old}..{new}", "deep/miner.yaml", "deep/train.yaml"), (old,), (old, "deep"):
        code, document = diff("--git", *arguments)
        assert (code, arguments) == (1, arguments)
        assert kinds(document) == {"miner": "added", "train": "removed"}


TURNS = {
    "a patch": ("patch.yaml", "kustomization.yaml", "resources: [base]\n", "patches: [{path: patch.yaml}]\n"),
    "a template": ("templates/train.yaml", "Chart.yaml", None, "apiVersion: v2\n"),
}


@pytest.mark.parametrize(("name", "beside", "text", "turned"), TURNS.values(), ids=TURNS)
def test_a_file_that_is_the_same_becomes(
    repository_here: Repository, diff: Diff, name: str, beside: str, text: str | None, turned: str
) -> None:
    """Each side is read as the files around it are there, whatever the working tree has, or no difference is seen at all."""
    repository_here.write(f"deep/{name}")
    if text is not None:
        repository_here.put(f"deep/{beside}", text)
    old = repository_here.commit()
    repository_here.put(f"deep/{beside}", turned)
    new = repository_here.commit()
    repository_here.git("checkout", "-q", old)
    for revisions, kind in (f"{old}..{new}", "removed"), (f"{new}..{old}", "added"), (new, "added"):
        for paths in [], [f"deep/{name}"]:
            code, document = diff("--git", revisions, *paths)
            assert (code, kinds(document)) == (1, {"train": kind})


CHART_HERE = {"Chart.yaml": "apiVersion: v2\n"}
TRANSFORMERS = {"t/kustomization.yaml": "resources: [p.yaml]\n", "t/p.yaml": "{kind: P, apiVersion: v1, path: p.txt}\n"}
OBJECT = "{kind: A, apiVersion: v1}\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 3\n"
FUNCTION = "kind: F\napiVersion: v1\nmetadata:\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./fn}\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "beside"),
    [
        ("kustomization.yaml", "images: [{name: a, newTag: '1'}]\n", "images: [{name: a, newTag: '2'}]\n", {}),
        ("Kustomization", "namePrefix: a-\n", "namePrefix: b-\n", {}),
        ("values.yaml", "status: 1\n", "status: 2\n", {"Chart.yaml": "apiVersion: v2\n"}),
        ("templates/_pod.tpl", "{{ define }}\n", "{{ end }}\n", {"Chart.yaml": "apiVersion: v2\n"}),
        ("patch.yaml", "- {op: add, path: /a}\n", "- {op: add, path: /b}\n", {"kustomization.yaml": "patches: [{path: patch.yaml}]\n"}),
        ("templates/evil.txt", "a: 1\n", "a: 1 # {{ 1 }}\n", CHART_HERE),
        ("templates/c.yaml", "# {{ 1 }}\nkind: A\napiVersion: v1\n", "# {{ 2 }}\nkind: A\napiVersion: v1\n", CHART_HERE),
        ("files/run.sh", "# FC_\nrun a\n", "# FC_\nrun  a\n", CHART_HERE),
        ("README.md", "```\nkind: Framework\n x\n", "```\nkind: Framework\n y\n", CHART_HERE),
        (".helmignore", "a\n", "b\n", CHART_HERE),
        (
            "some.patch",
            "{kind: A, apiVersion: v1}\n",
            "{kind: A, apiVersion: v2}\n",
            {"kustomization.yaml": "patches: [{path: some.patch}]\n"},
        ),
        ("run.sh", "a\n", "b\n", {"kustomization.yaml": "configMapGenerator: [{name: a, files: [x=./run.sh]}]\n"}),
        ("c.yaml", "a: 1\n", "a: 2\n", {"kustomization.yaml": "configMapGenerator: [{name: a, files: [c.yaml]}]\n"}),
        ("c.yaml", "#cloud-config\na: 1\n", "# cloud-config\na: 1\n", {"kustomization.yaml": "configMapGenerator: [{files: [c.yaml]}]\n"}),
        ("c.yaml", "a: 1\nb: 1\n", "b: 1\na: 1\n", {"kustomization.yaml": "SecretGenerator: [{files: [x=c.yaml]}]\n"}),
        (
            "c.json",
            "[1]\n",
            "[ 1]\n",
            {"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": "{kind: G, apiVersion: v1, files: [c.json]}\n"},
        ),
        ("c.yaml", f"# a\n{OBJECT}", f"# b\n{OBJECT}", {"kustomization.yaml": "configMapGenerator: [{files: [c.yaml]}]\n"}),
        ("files/c.yaml", "#cloud-config\na: 1\n", "# cloud-config\na: 1\n", CHART_HERE),
        ("files/c.yaml", f"# a\n{OBJECT}", f"# b\n{OBJECT}", CHART_HERE),
        ("values.yaml", "a: 1\n---\n{kind: A, apiVersion: v1}\n", "a: 2\n---\n{kind: A, apiVersion: v1}\n", CHART_HERE),
        ("env/prod-values.yml", "image: a:1\n", "image: a:2\n", {}),
        (".base/c.yaml", "a: 1\n", "a: 2\n", {".base/kustomization.yaml": "{}", "kustomization.yaml": "resources: [.base/c.yaml]\n"}),
        (
            "run.sh",
            "a\n",
            "b\n",
            {"kustomization.yaml": "generators: [g.yaml]\n", "g.yaml": "{kind: G, apiVersion: v1, files: [run.sh]}\n"},
        ),
        ("p.txt", "a\n", "b\n", {"kustomization.yaml": "transformers: ['{kind: P, apiVersion: v1, path: p.txt}']\n"}),
        ("p.txt", "a\n", "b\n", {"kustomization.yaml": "validators:\n- |\n  kind: P\n  apiVersion: v1\n  path: ./p.txt\n"}),
        ("p.txt", "a\n", "b\n", {"kustomization.yaml": "Transformers: [t]\n", **TRANSFORMERS}),
        ("fn", "a\n", "b\n", {"kustomization.yaml": "transformers: [f.yaml]\n", "f.yaml": FUNCTION}),
        ("fn", "a\n", "b\n", {"Kptfile": "pipeline: {mutators: [{exec: ./fn}]}\n"}),
        ("Kptfile", "a: 1\n", "a: 2\n", {}),
        (".krmignore", "a\n", "*\n", {}),
        (".sourceignore", "a\n", "*\n", {}),
        ("run.sh", "a\n", "b\n", {"kustomization.yaml": "a: 1\na: 2\nconfigMapGenerator: [{name: a, files: [run.sh]}]\n"}),
        ("sub/run.sh", "a\n", "b\n", {"kustomization.yaml": "\0"}),
        (".base/kustomization.yaml", "images: []\n", "images: [{name: a}]\n", {"kustomization.yaml": "resources: [.base]\n"}),
        (".env/prod-values.yml", "image: a:1\n", "image: a:2\n", {}),
        (".files/run.sh", "a\n", "b\n", CHART_HERE),
        ("a\nb/templates/x.tpl", "a\n", "b\n", {"a\nb/Chart.yaml": "apiVersion: v2\n"}),
        ("train.yaml", POINTER.format("a"), POINTER.format("b"), {}),
        ("train.json", POINTER.format("a"), POINTER.format("b"), {}),
        (".gitattributes", "a.yaml working-tree-encoding=IBM037\n", "b.yaml working-tree-encoding=IBM037\n", {".fcompileignore": ".g*\n"}),
        (".fcompileignore", "a\n", "*\n", {}),
        (".argocd-source.yaml", "plugin: {parameters: []}\n", "plugin: {parameters: [{name: worker.image, string: b}]}\n", {}),
        (".argocd-source-lab.yaml", "{kind: B, apiVersion: v1}\n", "{kind: A, apiVersion: v1}\n", {".fcompileignore": ".a*\n"}),
        (
            "train.yaml",
            "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n{{ if .Values.a }}\n",
            "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n{{ if .Values.b }}\n",
            {},
        ),
    ],
)
def test_what_others_make_frameworks_of(
    repository_here: Repository, diff: Diff, name: str, old: str, new: str, beside: dict[str, str]
) -> None:
    """What runs may change with it, and nothing of that can be seen before it is rendered."""
    for other, text in beside.items():
        repository_here.put(f"deep/{other}", text)
    repository_here.put(f"deep/{name}", old)
    repository_here.commit()
    repository_here.put(f"deep/{name}", new)
    for revisions in "HEAD", "HEAD~1..HEAD":
        code, document = diff("--git", revisions)
        (one,) = document["objects"]
        assert (code, one["name"], one["change"], len(one["changes"])) == (1, f"deep/{name}", "changed", 1)
        repository_here.commit()


def test_the_text_of_a_file_that_a_kustomization_names_from_afar(repository_here: Repository, diff: Diff) -> None:
    repository_here.put("app/kustomization.yaml", "configMapGenerator: [{files: [../common/c.yaml]}]\n")
    repository_here.put("common/c.yaml", "#cloud-config\na: 1\n")
    repository_here.commit()
    repository_here.put("common/c.yaml", "# cloud-config\na: 1\n")
    repository_here.commit()
    (one,) = diff("--git", "HEAD~1..HEAD")[1]["objects"]
    assert (one["name"], [change["field"] for change in one["changes"]]) == ("common/c.yaml", ["text"])


@pytest.mark.parametrize("moved", ["templates/_c.yaml", "templates/.c.yaml", "old/c.yaml", "templates/c.txt"])
def test_a_template_that_helm_passes_over(repository_here: Repository, diff: Diff, moved: str) -> None:
    """It has no actions, so that the same object is still in the files: but the release has it no more."""
    for other, text in {**CHART_HERE, "templates/c.yaml": OBJECT}.items():
        repository_here.put(f"deep/{other}", text)
    repository_here.commit()
    (repository_here.folder / "deep" / moved).parent.mkdir(exist_ok=True)
    repository_here.git("mv", "deep/templates/c.yaml", f"deep/{moved}")
    repository_here.commit()
    found = {(one["kind"], one["name"], one["change"]) for one in diff("--git", "HEAD~1..HEAD")[1]["objects"]}
    assert found >= {("chart", "deep/templates/c.yaml", "removed"), ("chart", f"deep/{moved}", "added")}


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("c.yaml", {"kustomization.yaml": "resources: [c.yaml]\nconfigMapGenerator: [{files: [d.yaml]}]\n"}),
        ("kustomization.yaml", {}),
        ("values.yaml", CHART_HERE),
        ("env/values-prod.yaml", CHART_HERE),
        ("templates/c.yaml", CHART_HERE),
        ("Chart.yaml", {}),
    ],
)
def test_comments_count_only_where_the_text_may_get_into_an_object(
    repository_here: Repository, diff: Diff, name: str, beside: dict[str, str]
) -> None:
    for other, text in {**beside, name: f"# a\n{OBJECT}"}.items():
        repository_here.put(f"deep/{other}", text)
    repository_here.commit()
    repository_here.put(f"deep/{name}", f"# b\n{OBJECT}")
    assert diff("--git", "HEAD")[0] == 0


def test_a_status_in_git_is_nobodys(repository_here: Repository, diff: Diff) -> None:
    """The API server takes none from a file: one that says that all is over hid from the gate what an edit ends."""
    status = {"state": "Completed", "attemptStatus": {"id": 0}}
    old, new = (framework(spec(executionType=type)) for type in ("Start", "Stop"))
    repository_here.put("train.yaml", yaml.dump({**old, "status": status}))
    first = repository_here.commit()
    repository_here.put("train.yaml", yaml.dump({**new, "status": status}))
    repository_here.commit()
    for revisions in f"{first}..HEAD", first:
        code, document = diff("--git", revisions, "--fail-on", "ends-pods")
        assert (code, document["effect"], document["endsPods"]) == (1, "on-the-fly", True)


@pytest.mark.parametrize("attribute", ["working-tree-encoding=IBM037", "ident", "text eol=crlf", "filter=lfs", "-filter"])
def test_attributes_that_change_what_is_checked_out(repository_here: Repository, diff: Diff, attribute: str) -> None:
    """A file of git that is nothing to us may come out as a Framework. Other attributes are nobody's concern."""
    repository_here.put(".gitattributes", "*.png binary\n")
    first = repository_here.commit()
    repository_here.put(".gitattributes", "*.jpg binary\n*.sh text eol=lf\n* text=auto\n")
    second = repository_here.commit()
    assert diff("--git", f"{first}..{second}")[0] == diff("--git", first)[0] == 0
    repository_here.put(".gitattributes", f"a.yaml {attribute}\n")
    repository_here.commit()
    for revisions in f"{second}..HEAD", second:
        (one,) = diff("--git", revisions)[1]["objects"]
        assert (one["kind"], one["name"], one["change"]) == ("attributes", ".gitattributes", "added")


def test_values_that_look_like_an_object(repository_here: Repository, diff: Diff) -> None:
    """`status` is one of them: no server writes into git."""
    repository_here.put("Chart.yaml", "apiVersion: v2\n")
    repository_here.put("values.yaml", "{kind: A, apiVersion: v1, status: {image: a}}\n")
    repository_here.commit()
    repository_here.put("values.yaml", "{kind: A, apiVersion: v1, status: {image: b}}\n")
    code, document = diff("--git", "HEAD")
    assert (code, document["objects"][0]["changes"]) == (1, [{"field": "status.image", "before": "a", "after": "b"}])


def test_a_namespace_that_is_written_out(repository_here: Repository, diff: Diff, capsys: Capture) -> None:
    """The Framework moves there where Argo CD puts those that give none into another one."""
    repository_here.write("train.yaml")
    repository_here.commit()
    text = (repository_here.folder / "train.yaml").read_text()
    repository_here.put("train.yaml", text.replace("name: train\n", "name: train\n  namespace: default\n", 1))
    code, document = diff("--git", "HEAD")
    (change,) = document["frameworks"][0]["changes"]
    assert (code, change["field"], change["after"]) == (1, "metadata.namespace", "default")
    assert main(["diff", "--fail-on", "ends-pods", "--git", "HEAD"]) == 0
    assert "default/train: the namespace is given on one side alone" in capsys.readouterr().err, "the gate let it pass without a word"


def test_objects_with_one_name_are_all_compared(repository_here: Repository, diff: Diff) -> None:
    """As of two clusters: only the last one was, and a comment in its file hid what changed in the others."""

    def put(folder: str, value: str) -> None:
        repository_here.put(f"{folder}/c.yaml", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a: {value}\n")

    for folder in "dev", "prod", "test":
        put(folder, folder)
    repository_here.commit()
    put("dev", "evil")
    put("prod", "prod # the same")
    put("more", "more")
    (repository_here.folder / "test" / "c.yaml").unlink()
    code, document = diff("--git", "HEAD")
    found = [(one["change"], one["before"], one["after"], *map(str, one["changes"])) for one in document["objects"]]
    assert (code, found) == (
        1,
        [
            ("changed", "dev/c.yaml", "dev/c.yaml", str({"field": "data.a", "before": "dev", "after": "evil"})),
            ("changed", "test/c.yaml", "more/c.yaml", str({"field": "data.a", "before": "test", "after": "more"})),
        ],
    )


def test_an_object_of_the_same_name_after_it_in_the_file(repository_here: Repository, diff: Diff) -> None:
    """The last one wins. It was said to be added, and what it changes was not shown."""

    def put(*values: str) -> None:
        text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: "
        repository_here.put("c.yaml", "".join(f"{text}{value}\n---\n" for value in values))

    put("good")
    repository_here.commit()
    changed = {"field": "data.a", "before": "good", "after": "evil"}
    for values in ("good", "evil"), ("good", "good", "evil"):
        put(*values)
        found = [(one["change"], one["changes"]) for one in diff("--git", "HEAD")[1]["objects"]]
        assert found == [*[("added", [])] * (len(values) - 1), ("changed", [changed])]
    repository_here.commit()
    put("good", "evil")
    assert [one["change"] for one in diff("--git", "HEAD")[1]["objects"]] == ["removed"]


def test_frameworks_with_one_name_are_all_compared(repository_here: Repository, diff: Diff) -> None:
    """Where it is waived that there are two, as of two clusters, only the last one was compared."""

    def write(folder: str, image: str, description: str) -> None:
        pod = {"containers": [{"name": "main", "image": image}]}
        text = yaml.dump(framework(spec(role(pod=pod), description=description)))
        repository_here.put(f"{folder}/train.yaml", f"# fcompile: waive FC501 metadata.name: one in each cluster\n{text}")

    for folder in "dev", "prod":
        write(folder, "a:1", "x")
    repository_here.commit()
    write("dev", "evil:1", "x")
    write("prod", "a:1", "y")
    for revisions in "HEAD", "HEAD..new":
        if revisions != "HEAD":
            repository_here.commit()
            repository_here.git("branch", "new")
            repository_here.git("checkout", "-q", "HEAD~1")
        code, document = diff("--git", revisions)
        found = [(one["after"]["file"], one["kind"], *(change["after"] for change in one["changes"])) for one in document["frameworks"]]
        assert (code, found) == (1, [("dev/train.yaml", "changed", "evil:1"), ("prod/train.yaml", "changed", "y")])


def test_what_is_no_text_is_compared(repository_here: Repository, diff: Diff) -> None:
    """As a packed chart."""
    repository_here.put("Chart.yaml", "apiVersion: v2\n")
    packed = repository_here.folder / "charts" / "a.tgz"
    packed.parent.mkdir()
    packed.write_bytes(b"\xff\xfe\0a")
    repository_here.commit()
    packed.write_bytes(b"\xff\xfd\0a")
    (change,) = diff("--git", "HEAD")[1]["objects"][0]["changes"]
    assert change["field"] == "sha256"


def test_what_is_left_out_is_said_where_it_is_new(repository_here: Repository, diff: Diff) -> None:
    """Helm renders what `.fcompileignore` names: a template and the file that hides it came in with no difference to be seen."""
    repository_here.put("Chart.yaml", "apiVersion: v2\n")
    repository_here.commit()
    repository_here.write("templates/evil.yaml")
    repository_here.put("templates/.fcompileignore", "evil.yaml\n.fcompileignore\n")
    code, document = diff("--git", "HEAD")
    assert (code, [(one["kind"], one["name"]) for one in document["objects"]]) == (1, [("ignore file", "templates/.fcompileignore")])


def test_a_bare_repository(
    repository_here: Repository, diff: Diff, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.write("train.yaml", "a:2")
    repository_here.commit()
    bare = tmp_path_factory.mktemp("bare")
    repository_here.git("clone", "-q", "--bare", ".", str(bare / "x.git"))
    monkeypatch.chdir(bare / "x.git")
    assert images(diff("--git", "main~..main")[1]) == [("train", "image", "a:1", "a:2")]
    code, message = diff("--git", "main")
    assert (code, "bare" in message) == (2, True)


@pytest.mark.parametrize("written", ["nowhere", "--output=x", "-p", "HEAD^{blob}", "HEAD..nowhere", "a b", "HEAD:train.yaml", "", "..."])
def test_what_is_no_revision(repository_here: Repository, diff: Diff, written: str) -> None:
    repository_here.write("train.yaml")
    repository_here.commit()
    if written == "...":
        assert diff(f"--git={written}")[0] == 0, "HEAD with itself"
        return
    code, message = diff(f"--git={written}")
    assert (code, message.startswith("fcompile: --git: ")) == (2, True)
    assert sorted(os.listdir()) == [".git", "train.yaml"]


def test_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, diff: Diff) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert diff("--git", "HEAD")[0] == 2


def test_no_git(repository_here: Repository, diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository_here.folder))
    code, message = diff("--git", "HEAD")
    assert (code, "the program git, which is not in the PATH" in message) == (2, True)


def test_what_was_not_valid_is_trouble(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.put("train.yaml", (repository_here.folder / "train.yaml").read_text().replace("image: a:1", "imagee: a:1"))
    code, message = diff("--git", "HEAD")
    assert (code, "FC101" in message) == (2, True)
    assert message.splitlines()[-1] == "fcompile: the errors are in the working tree, the new side: nothing was compared"
    repository_here.commit()
    repository_here.write("train.yaml")
    code, message = diff("--git", "HEAD")
    assert (code, message.splitlines()[-1]) == (2, "fcompile: the errors are in HEAD, the old side: nothing was compared")
    repository_here.put("train.yaml", (repository_here.folder / "train.yaml").read_text().replace("image: a:1", "imageee: a:1"))
    both = "HEAD, the old side and in the working tree, the new side"
    assert diff("--git", "HEAD")[1].splitlines()[-1] == f"fcompile: the errors are in {both}: nothing was compared"
    repository_here.write("train.yaml")
    repository_here.commit()
    for written, said in (
        ("HEAD~1..HEAD", "HEAD~1, the old side"),
        ("HEAD..HEAD~1", "HEAD~1, the new side"),
        ("HEAD~1..", "HEAD~1, the old side"),
        ("HEAD~1...HEAD", "the merge base of HEAD~1 and HEAD, the old side"),
    ):
        code, message = diff("--git", written)
        assert (code, message.splitlines()[-1]) == (2, f"fcompile: the errors are in {said}: nothing was compared")


def test_only_what_differs_is_read(repository_here: Repository, diff: Diff) -> None:
    """An invalid file that nobody touched does not stand in the way."""
    repository_here.write("train.yaml")
    repository_here.put("broken.yaml", "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n")
    repository_here.commit()
    repository_here.write("train.yaml", "a:2")
    assert diff("--git", "HEAD")[0] == 1


def test_configured_to_run_things(repository_here: Repository, diff: Diff) -> None:
    """What a repository's attributes and configuration may name is not run."""
    repository_here.write("train.yaml")
    repository_here.put(".gitattributes", "*.yaml diff=evil\n")
    repository_here.commit()
    for key in ("diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager"):
        repository_here.git("config", key, "touch ran; false")
    repository_here.write("train.yaml", "a:2")
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]
    assert not (repository_here.folder / "ran").exists()


def test_huge_files_of_others_are_passed_over(repository_here: Repository, diff: Diff, monkeypatch: pytest.MonkeyPatch) -> None:
    repository_here.put("huge.json", "x" * 3_000_000)
    repository_here.write("train.yaml")
    repository_here.commit()
    repository_here.put("huge.json", "y" * 3_000_000)
    repository_here.write("train.yaml", "a:2")
    monkeypatch.setattr("fcompile.load.rules.MAX_FILE_BYTES", 2_000_000)
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:1", "a:2")]
    repository_here.commit()
    assert images(diff("--git", "HEAD~1..HEAD")[1]) == [("train", "image", "a:1", "a:2")]


def test_a_merge_that_is_not_done(repository_here: Repository, diff: Diff) -> None:
    repository_here.write("train.yaml")
    repository_here.write("other.yaml", framework_name="other")
    repository_here.commit()
    repository_here.git("checkout", "-q", "-b", "feature")
    repository_here.write("train.yaml", "a:2")
    repository_here.commit()
    repository_here.git("checkout", "-q", "main")
    repository_here.write("train.yaml", "a:3")
    repository_here.commit()
    with pytest.raises(subprocess.CalledProcessError):
        repository_here.git("merge", "-q", "feature")
    assert diff("--git", "HEAD")[0] == 2, "conflict markers are no YAML"
    repository_here.write("train.yaml", "a:4")
    assert images(diff("--git", "HEAD")[1]) == [("train", "image", "a:3", "a:4")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--git", "HEAD~7"], "--git: there is no revision `HEAD~7` here\n"),
        (["--git", "HEAD~7..HEAD"], "--git: there is no revision `HEAD~7` here\n"),
        (["--git", ""], "--git: name a revision, for example HEAD\n"),
        (["--git", "a.yaml"], "--git: there is no revision `a.yaml` here; it is a path: the revision comes first: `--git HEAD a.yaml`\n"),
        (["--git", "HEAD", "main"], "--git: there is no file or folder `main`; two revisions are compared with --git HEAD..main\n"),
        (["--git", "HEAD..main", "main"], "--git: there is no file or folder `main` in what is compared\n"),
        (["--git", "HEAD", "nope"], "--git: there is no file or folder `nope` in what is compared\n"),
        (["HEAD"], "; revisions of git are compared with --git HEAD\n"),
        (["HEAD", "main"], "; revisions of git are compared with --git HEAD..main\n"),
        (["main...HEAD"], "; revisions of git are compared with --git main...HEAD\n"),
        (["HEAD", "a.yaml"], "; revisions of git are compared with --git HEAD a.yaml\n"),
        (["HEAD", "main", "a.yaml"], "; revisions of git are compared with --git HEAD..main a.yaml\n"),
        (["HEAD", "nope.yaml"], "HEAD, nope.yaml: no such file or folder in {here}\n"),
        (["nope.yaml"], "nope.yaml: no such file or folder in {here}\n"),
        (["a.yaml"], "name two things to compare, OLD and NEW, or use --git or --live\n"),
    ],
)
def test_what_is_compared_is_named_wrongly(repository_here: Repository, diff: Diff, arguments: list[str], says: str) -> None:
    repository_here.write("a.yaml")
    repository_here.commit()
    code, said = diff(*arguments)
    assert code == 2
    assert said.endswith(says.format(here=os.getcwd()))
    assert said.count("\n") == 1


def test_a_clone_without_its_history_says_so(
    repository_here: Repository, diff: Diff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a runner of CI makes it: neither the commit before is there, nor the one that two branches have in common."""
    repository_here.write("a.yaml")
    repository_here.commit()
    for branch in ("one", "two"):
        repository_here.git("checkout", "-q", "-b", branch, "main")
        repository_here.write("a.yaml", branch)
        repository_here.commit()
    alone = ("--git", "one...other")
    repository_here.git("checkout", "-q", "--orphan", "other")
    repository_here.commit()
    assert diff(*alone) == (2, "fcompile: --git: `one` and `other` have no commit in common\n")
    repository_here.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{tmp_path}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")
    hint = "; this clone lacks older commits: fetch them, with `git fetch --unshallow` or the `fetch-depth: 0` of actions/checkout\n"
    assert diff("--git", "HEAD^1..HEAD") == (2, f"fcompile: --git: there is no revision `HEAD^1` here{hint}")
    assert diff("--git", "origin/one...origin/two") == (2, f"fcompile: --git: `origin/one` and `origin/two` have no commit in common{hint}")


def test_stdin_is_there_once(repository_here: Repository, diff: Diff) -> None:
    assert diff("-", "-") == (2, "fcompile: stdin can be OLD or NEW, not both: it is there once\n")


def test_a_file_that_is_skipped_on_both_sides_is_named_once(repository_here: Repository, capsys: Capture) -> None:
    repository_here.put("kustomization.yaml", "patches: [{path: patch.yaml}]\n")
    repository_here.write("patch.yaml")
    repository_here.commit()
    repository_here.write("patch.yaml", "a:2")
    repository_here.commit()
    assert main(["diff", "--git", "HEAD~1..HEAD"]) == 1
    assert capsys.readouterr().err.count("skipped patch.yaml") == 1
