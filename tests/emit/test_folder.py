"""`build --to FOLDER`, on real folders: what is written, what is refused, and that an interruption leaves the old or the new whole."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcompile.emit import swap
from fcompile.emit.folder import MANIFEST, FolderError, file_name, write
from fcompile.emit.yaml import dump
from tests.emit import hostile


def pod(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, **more}


def content(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in folder.iterdir()}


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    """Where to write. Afterwards there must be nothing else beside it but what the test itself put there (`kept…`)."""
    folder = tmp_path / "out"
    yield folder
    assert [name for name in os.listdir(tmp_path) if name != "out" and not name.startswith("kept")] == []


@pytest.fixture(params=["one step", "two steps"])
def exchange(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with the atomic exchange of Linux, and as on systems that have none."""
    if request.param == "two steps":
        monkeypatch.setattr(swap, "_exchange_names", lambda one, other: False)


class TestWritten:
    def test_one_file_per_object(self, out: Path) -> None:
        objects = [pod("a"), pod("b", spec={"x": "é"})]
        assert write(str(out), objects) == 2
        files = content(out)
        manifest = json.loads(files.pop(MANIFEST))
        assert files == {"pod_default_a.yaml": dump(objects[0]), "pod_default_b.yaml": dump(objects[1])}
        assert sorted(manifest["files"]) == sorted(files)

    @pytest.mark.usefixtures("exchange")
    def test_again_replaces_all(self, out: Path) -> None:
        write(str(out), [pod("a"), pod("b")])
        write(str(out), [pod("b", spec=1), pod("c")])
        assert sorted(content(out)) == [MANIFEST, "pod_default_b.yaml", "pod_default_c.yaml"]

    @pytest.mark.usefixtures("exchange")
    def test_into_an_empty_folder_whose_mode_stays(self, out: Path) -> None:
        out.mkdir()
        out.chmod(0o750)
        write(str(out), [pod("a")])
        assert out.stat().st_mode & 0o777 == 0o750

    def test_a_new_folder_has_the_usual_mode(self, out: Path) -> None:
        write(str(out), [])
        expected = out.parent / "kept"
        expected.mkdir()
        assert out.stat().st_mode == expected.stat().st_mode
        assert list(content(out)) == [MANIFEST]

    def test_is_the_same_every_time(self, out: Path) -> None:
        write(str(out), [pod("a"), pod("b")])
        first = content(out)
        write(str(out), [pod("b"), pod("a")])
        assert content(out) == first

    def test_relative_and_with_a_slash(self, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(out.parent)
        write("out/", [pod("a")])
        write("./out", [pod("b")])
        assert "pod_default_b.yaml" in content(out)

    def test_a_file_that_was_deleted_is_no_loss(self, out: Path) -> None:
        write(str(out), [pod("a"), pod("b")])
        (out / "pod_default_a.yaml").unlink()
        write(str(out), [pod("a")])
        assert "pod_default_a.yaml" in content(out)

    def test_kubectl_would_not_read_the_manifest(self) -> None:
        assert not MANIFEST.endswith((".json", ".yaml", ".yml"))


class TestRefused:
    def refused(self, path: Path | str, objects: list[Any], match: str, **options: Any) -> None:
        with pytest.raises(FolderError, match=match):
            write(str(path), objects, **options)

    @pytest.mark.parametrize("put", ["notes.txt", "pod_default_z.yaml", ".hidden", "folder/file", "link"])
    @pytest.mark.parametrize("force", [False, True])
    def test_files_that_are_not_ours(self, out: Path, put: str, force: bool) -> None:
        write(str(out), [pod("a")])
        foreign = out / put
        foreign.parent.mkdir(exist_ok=True)
        if put == "link":
            foreign.symlink_to("pod_default_a.yaml")
        else:
            foreign.write_text("precious")
        before = sorted(os.listdir(out))
        self.refused(out, [pod("b")], put.partition("/")[0], force=force)
        assert sorted(os.listdir(out)) == before

    def test_a_folder_without_a_manifest(self, out: Path) -> None:
        out.mkdir()
        (out / "pod_default_a.yaml").write_text("by hand")
        self.refused(out, [pod("a")], r"not written by fcompile.*pod_default_a\.yaml", force=True)

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": []}', '{"files": {"notes.txt": 1}}', "[" * 100_000, "\x00\udcff"])
    def test_a_manifest_that_makes_no_sense(self, out: Path, text: str) -> None:
        out.mkdir()
        (out / MANIFEST).write_bytes(text.encode(errors="surrogateescape"))
        (out / "notes.txt").write_text("precious")
        self.refused(out, [pod("a")], "notes.txt")
        assert (out / "notes.txt").read_text() == "precious"

    def test_edited_files_unless_forced(self, out: Path) -> None:
        write(str(out), [pod("a"), pod("b")])
        (out / "pod_default_a.yaml").write_text("edited")
        self.refused(out, [pod("a")], r"edited.*pod_default_a\.yaml.*: move them elsewhere")
        assert (out / "pod_default_a.yaml").read_text() == "edited"
        write(str(out), [pod("a")], force=True)
        assert content(out)["pod_default_a.yaml"] == dump(pod("a"))

    def test_many_files_are_not_all_listed(self, out: Path) -> None:
        out.mkdir()
        for number in range(10):
            (out / f"{number}.txt").touch()
        self.refused(out, [], "0.txt, 1.txt, 2.txt and 7 more")

    def test_two_objects_in_one_file(self, out: Path) -> None:
        write(str(out), [pod("a")])
        self.refused(out, [pod("b"), pod("c"), pod("b", spec={})], "two objects.*pod_default_b.yaml")
        assert sorted(content(out)) == [MANIFEST, "pod_default_a.yaml"]

    def test_a_file(self, out: Path) -> None:
        out.write_text("precious")
        self.refused(out, [pod("a")], "is a file")
        assert out.read_text() == "precious"

    @pytest.mark.parametrize("there", [True, False])
    def test_a_symbolic_link(self, out: Path, there: bool) -> None:
        if there:
            (out.parent / "kept").mkdir()
        out.symlink_to("kept")
        self.refused(out, [pod("a")], "symbolic link.*kept")
        assert out.is_symlink()

    def test_no_parent(self, out: Path) -> None:
        self.refused(out / "b" / "c", [pod("a")], f"no folder {out / 'b'}; make it first")
        assert not out.exists()

    def test_a_parent_that_is_a_file(self, out: Path) -> None:
        out.write_text("")
        self.refused(out / "b", [], "no folder")

    @pytest.mark.parametrize("where", [".", "..", ""])
    def test_the_current_folder(self, out: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        (out / "in").mkdir(parents=True)
        monkeypatch.chdir(out / "in")
        self.refused(where, [], "the folder that you are in")

    @pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a file system that nobody can write to")
    def test_where_nothing_can_be_written(self) -> None:
        self.refused("/proc/out", [pod("a")], "cannot write the folder /proc/out: .*: it is made beside its place, in /proc, and")

    @pytest.mark.parametrize("path", ["/", "/proc"])
    def test_a_mount_point(self, path: str) -> None:
        if not os.path.ismount(path):
            pytest.skip(f"{path} is no mount point here")
        self.refused(path, [pod("a")], "mount point")

    def test_names_in_messages_cannot_act_on_a_terminal(self, out: Path) -> None:
        out.mkdir()
        (out / "\x1b[2J\u202e").touch()
        self.refused(out, [], r"\\x1b\[2J\\u202e")

    def test_a_name_too_long_for_the_file_system(self, out: Path) -> None:
        self.refused(out.parent / ("x" * 300), [pod("a")], "File name too long")


class TestInterrupted:
    def test_a_failure_while_writing_leaves_the_old(self, out: Path) -> None:
        write(str(out), [pod("a")])
        before = content(out)

        def objects() -> Iterator[dict[str, Any]]:
            yield pod("b")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write(str(out), objects())
        assert content(out) == before

    @pytest.mark.usefixtures("exchange")
    def test_a_file_that_appears_at_the_last_moment_is_kept(self, out: Path) -> None:
        write(str(out), [pod("a")])

        def objects() -> Iterator[dict[str, Any]]:
            yield pod("b")
            (out / "notes.txt").write_text("precious")

        with pytest.raises(FolderError, match=r"notes\.txt"):
            write(str(out), objects())
        assert sorted(content(out)) == [MANIFEST, "notes.txt", "pod_default_a.yaml"]

    def test_a_folder_that_appears_at_the_last_moment_is_kept(self, out: Path) -> None:
        def objects() -> Iterator[dict[str, Any]]:
            yield pod("b")
            out.mkdir()
            (out / "notes.txt").write_text("precious")

        with pytest.raises(FolderError, match=r"notes\.txt"):
            write(str(out), objects())
        assert content(out) == {"notes.txt": "precious"}

    @pytest.mark.parametrize("event", ["os.remove", "os.chmod", "open"])
    def test_a_link_in_the_place_of_a_folder_of_ours_leads_nowhere(self, out: Path, event: str) -> None:
        """Somebody else who may write beside the folder waits for the moment at which its files are removed, or the new ones written."""
        precious = out.parent / "kept-precious"
        precious.mkdir(mode=0o700)
        (precious / "pod_default_a.yaml").write_text("precious")
        write(str(out), [pod("a")])
        out.chmod(0o777)
        script = """
import os, sys
from fcompile.emit.folder import write
def put(event, arguments):
    if event == sys.argv[1] and (event != "open" or arguments[1] == "x") and not os.path.lexists("kept"):
        (folder,) = (name for name in os.listdir() if ".fcompile-new-" in name)
        os.rename(folder, "kept")
        os.symlink("kept-precious", folder)
sys.addaudithook(put)
write("out", [{"kind": "Pod", "metadata": {"name": "b"}}])
"""
        subprocess.run([sys.executable, "-c", script, event], cwd=out.parent, capture_output=True, check=False)
        assert (out.parent / "kept").exists()
        assert content(precious) == {"pod_default_a.yaml": "precious"}
        assert precious.stat().st_mode & 0o777 == 0o700
        for link in out.parent.glob(".out.*"):
            link.unlink()

    def test_a_failed_second_step_is_taken_back(self, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(str(out), [pod("a")])
        before = content(out)
        rename: Callable[..., None] = os.rename

        def failing(source: str, destination: str) -> None:
            if "fcompile-new" in source:
                raise OSError(errno.EIO, "Input/output error", source)
            rename(source, destination)

        monkeypatch.setattr(swap, "_exchange_names", lambda one, other: False)
        monkeypatch.setattr(os, "rename", failing)
        with pytest.raises(FolderError, match="Input/output error"):
            write(str(out), [pod("b")])
        assert content(out) == before

    def test_a_folder_that_another_run_makes_first(self, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rename: Callable[..., None] = os.rename

        def late(source: str, destination: str) -> None:
            monkeypatch.undo()
            write(str(out), [pod("a")])
            rename(source, destination)

        monkeypatch.setattr(os, "rename", late)
        write(str(out), [pod("b")])
        assert sorted(content(out)) == [MANIFEST, "pod_default_b.yaml"]

    def test_what_a_killed_run_left_is_cleared_up(self, out: Path) -> None:
        """Killed between the two steps: the old folder returns to its place, the unfinished one goes."""
        write(str(out), [pod("a")])
        out.rename(out.parent / ".out.fcompile-old-123")
        unfinished = out.parent / ".out.fcompile-new-456"
        unfinished.mkdir()
        (unfinished / "pod_default_b.yaml").write_text("half")
        (unfinished / MANIFEST).write_text('{"fil')
        with pytest.raises(FolderError, match="two objects"):
            write(str(out), [pod("c"), pod("c")])
        assert sorted(content(out)) == [MANIFEST, "pod_default_a.yaml"]

    def test_a_leftover_with_something_else_in_it_stays(self, out: Path) -> None:
        leftover = out.parent / ".out.fcompile-new-456"
        leftover.mkdir()
        (leftover / "notes.txt").write_text("precious")
        write(str(out), [pod("a")])
        assert content(leftover) == {"notes.txt": "precious"}
        leftover.rename(out.parent / "kept")

    def test_killed_at_any_moment(self, out: Path) -> None:
        """Runs that write one of two contents are killed at random; every look in between sees the whole of one."""
        script = (
            "import sys\n"
            "from fcompile.emit.folder import write\n"
            "print(flush=True)\n"
            "for turn in range(10 ** 9):\n"
            "    names = 'ab'[turn % 2]\n"
            "    write(sys.argv[1], [{'kind': 'Pod', 'metadata': {'name': f'{names}-{number}'}} for number in range(20)])\n"
        )
        whole = [sorted([MANIFEST, *(f"pod_{name}-{number}.yaml" for number in range(20))]) for name in "ab"]
        write(str(out), [{"kind": "Pod", "metadata": {"name": f"a-{number}"}} for number in range(20)])
        for turn in range(10):
            with subprocess.Popen([sys.executable, "-c", script, str(out)], stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                until = time.monotonic() + 0.02 * (turn + 1)
                while time.monotonic() < until:
                    assert self.names(out) in whole
                process.send_signal(signal.SIGKILL)
            assert self.names(out) in whole
        write(str(out), [pod("a")])

    @staticmethod
    def names(folder: Path) -> list[str]:
        descriptor = os.open(folder, os.O_RDONLY)  # one folder, even if another takes its name meanwhile
        try:
            before = os.fstat(descriptor).st_ino
            names = sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)
        # What has just been replaced is being removed: look at what took its place.
        return names if os.stat(folder).st_ino == before else TestInterrupted.names(folder)

    def test_two_runs_at_once(self, out: Path) -> None:
        script = (
            "import sys\n"
            "from fcompile.emit.folder import write\n"
            "for turn in range(40):\n"
            "    write(sys.argv[1], [{'kind': 'Pod', 'metadata': {'name': f'{sys.argv[2]}-{number}'}} for number in range(20)])\n"
        )
        runs = [subprocess.Popen([sys.executable, "-c", script, str(out), name], stderr=subprocess.PIPE) for name in "ab"]
        errors = [run.communicate(timeout=120)[1] for run in runs]
        assert errors == [b"", b""]
        assert len({name[4] for name in os.listdir(out) if name != MANIFEST}) == 1


class TestFileName:
    @pytest.mark.parametrize(
        ("thing", "name"),
        [
            (pod("train-worker-0"), "pod_default_train-worker-0.yaml"),
            (
                {"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework", "metadata": {"name": "t", "namespace": "n"}},
                "framework_n_t.yaml",
            ),
            ({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "t", "namespace": "n"}}, "deployment.apps_n_t.yaml"),
            ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}, "namespace_n.yaml"),
            (pod("A_b"), "pod_default_%41%5fb.yaml"),
            (pod("../../etc/passwd"), "pod_default_..%2f..%2fetc%2fpasswd.yaml"),
            (pod("a\x00\né"), "pod_default_a%00%0a%c3%a9.yaml"),
        ],
    )
    def test_scheme(self, thing: dict[str, Any], name: str) -> None:
        assert file_name(thing) == name

    def test_without_a_name(self) -> None:
        first, second = ({"kind": "Pod", "metadata": {"generateName": "x"}, "n": number} for number in (1, 2))
        assert file_name(first) == file_name(dict(reversed(first.items())))
        assert file_name(first) != file_name(second)
        assert file_name({}).startswith("object~")

    def test_long_names_stay_apart(self) -> None:
        first, second = pod("a" * 253 + "b"), pod("a" * 253 + "c")
        assert file_name(first) != file_name(second)

    @given(
        parts=st.lists(
            st.tuples(hostile.texts | st.none(), hostile.texts | st.none(), hostile.texts | st.none(), hostile.texts),
            min_size=1,
            max_size=3,
        )
    )
    def test_any_object_has_a_file_of_its_own(self, parts: list[tuple[str | None, str | None, str | None, str]]) -> None:
        seen: dict[str, Any] = {}
        for kind, namespace, name, version in parts:
            thing = {"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace, "name": name}}
            written = file_name(thing)
            assert written.isascii()
            assert "/" not in written
            assert "\\" not in written
            assert written == written.lower()
            assert written not in (".", "..", MANIFEST)
            assert len(written) <= 255
            identity = (str(kind or "object").lower(), namespace or None, name or thing, version.rpartition("/")[0])
            assert seen.setdefault(written, identity) == identity

    def test_pieces_cannot_be_confused(self) -> None:
        def named(namespace: str, name: str) -> str:
            return file_name({"kind": "Pod", "metadata": {"namespace": namespace, "name": name}})

        assert len({named("a", "b-c"), named("a-b", "c"), named("a_b", "c"), named("a", "b_c"), named("", "a_b_c")}) == 5
