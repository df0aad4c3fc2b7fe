"""Files that are written below a folder: through no link out of it, and none of them halves."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fcompile.emit import files
from fcompile.errors import UsageError


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def content(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def test_files_and_folders_are_made(out: Path) -> None:
    files.write(str(out), {"a.yaml": "a\r\n", "b/c/d.yaml": "ü\n"})
    assert (out / "a.yaml").read_bytes() == b"a\r\n"
    assert content(out).keys() == {"a.yaml", "b/c/d.yaml"}


def test_files_of_others_and_permissions_stay(out: Path) -> None:
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "a.yaml").write_text("old")
    (out / "a.yaml").chmod(0o640)
    files.write(str(out), {"a.yaml": "new"})
    assert content(out) == {"notes.txt": "mine", "a.yaml": "new"}
    assert (out / "a.yaml").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_with_the_name_of_a_file_is_replaced(out: Path, there: bool) -> None:
    out.mkdir()
    other = out.parent / "precious"
    if there:
        other.write_text("precious")
    (out / "a.yaml").symlink_to(other)
    files.write(str(out), {"a.yaml": "new"})
    assert not (out / "a.yaml").is_symlink()
    assert content(out) == {"a.yaml": "new"}
    assert other.exists() == there
    assert not there or other.read_text() == "precious"


def test_a_link_that_leads_out_is_not_followed(out: Path) -> None:
    out.mkdir()
    other = out.parent / "outer"  # begins as `out` does
    other.mkdir()
    (out / "b").symlink_to(other)
    with pytest.raises(UsageError, match=r"to which a link in .* leads"):
        files.write(str(out), {"a.yaml": "a", "b/c/d.yaml": "b"})
    assert content(out) == content(other) == {}
    (out / "b").unlink()
    (out / "b").symlink_to(out.parent / "none")
    with pytest.raises(UsageError, match=r"to which a link in .* leads"):
        files.write(str(out), {"b/d.yaml": "b"})
    assert not (out.parent / "none").exists()


def test_links_within_and_the_folder_itself_may_be_links(out: Path) -> None:
    real = out.parent / "real"
    (real / "sub").mkdir(parents=True)
    (real / "b").symlink_to("sub")
    out.symlink_to(real)
    files.write(str(out), {"b/a.yaml": "a"})
    assert out.is_symlink()
    assert (real / "sub" / "a.yaml").read_text() == "a"


def test_the_root_of_the_file_system_is_a_folder_too() -> None:
    with pytest.raises(UsageError, match="is not a file"):
        files.write("/", {"proc": "a"})


@pytest.mark.parametrize("name", ["/a", "../a", "a/../b", "", "a//b", "./a", "a/"])
def test_names_are_below_the_folder(out: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name below a folder"):
        files.write(str(out), {name: "a"})
    assert not out.exists()


def test_what_is_no_file_is_not_replaced(out: Path) -> None:
    (out / "b.yaml").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"b\.yaml is there and is not a file"):
        files.write(str(out), {"a.yaml": "a", "b.yaml": "b"})
    assert content(out) == {}


def test_a_file_in_the_place_of_a_folder(out: Path) -> None:
    out.mkdir()
    (out / "b").write_text("mine")
    with pytest.raises(UsageError, match="cannot write into the folder"):
        files.write(str(out), {"a.yaml": "a", "c/a.yaml": "a", "b/a.yaml": "b"})
    assert content(out) == {"b": "mine"}
    assert os.listdir(out) == ["b"], "folders that were made for it are gone as well"


def test_a_file_above_the_folder_is_named(out: Path) -> None:
    """`File exists` was all that was said."""
    out.write_text("mine")
    for folder, name in ((out / "a/b", "c.yaml"), (out.parent, "out/b/c.yaml")):
        with pytest.raises(UsageError, match=f"there is a file in the place of a folder, so choose another path: {out}$"):
            files.write(str(folder), {name: ""})
    assert out.read_text() == "mine"


def test_a_text_that_is_none_writes_nothing(out: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        files.write(str(out), {"a.yaml": "a", "b.yaml": "\ud800"})
    assert not out.exists()


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device", "x\x1b"), KeyboardInterrupt()])
def test_a_failure_midway_leaves_the_old(out: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException) -> None:
    files.write(str(out), {"a.yaml": "old", "b.yaml": "old"})
    write_new: Callable[..., None] = files._write_new

    def failing(path: str, data: bytes, mode: int | None) -> None:
        write_new(path, data[:2], mode)
        if data == b"new b":
            raise failure

    monkeypatch.setattr(files, "_write_new", failing)
    with pytest.raises(UsageError if isinstance(failure, OSError) else KeyboardInterrupt) as caught:
        files.write(str(out), {"a.yaml": "new a", "c/b.yaml": "new b", "b.yaml": "new"})
    assert content(out) == {"a.yaml": "old", "b.yaml": "old"}
    assert sorted(os.listdir(out)) == ["a.yaml", "b.yaml"]
    assert "\x1b" not in str(caught.value)
