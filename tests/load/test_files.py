"""Which files are read, in which order, and what is said of those that cannot be."""

from __future__ import annotations

import io
import os
import pickle
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fcompile.diagnostics.problem import Problem
from fcompile.load.files import FileEntry, find
from tests.laws import run
from tests.test_cli import good

TEXT = b"a: 1\n"


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(TEXT)


def names(*paths: Path | str) -> list[str]:
    entries = list(find([str(path) for path in paths]))
    assert [entry.error for entry in entries] == [None] * len(entries)
    assert all(entry.content() == TEXT for entry in entries)
    return [entry.name for entry in entries]


def error_of(*paths: Path | str) -> Problem:
    (entry,) = find([str(path) for path in paths])
    found = entry.content()
    assert isinstance(found, Problem)
    return found


def test_a_folder_is_read_with_all_below_it_in_the_order_of_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "b.yaml", "a/z.yml", "a.yaml", "a/b/c.json", "a-b.yaml", "B.yaml", "é.yaml", "a/.hidden.yaml", "a0/x.yaml")
    make(tmp_path, ".git/x.yaml", "a/.cache/y.yaml", "readme.md", "x.yaml.bak", "values.YAML", "Makefile")
    monkeypatch.chdir(tmp_path)
    expected = ["B.yaml", "a-b.yaml", "a.yaml", "a/.hidden.yaml", "a/b/c.json", "a/z.yml", "a0/x.yaml", "b.yaml", "é.yaml"]
    assert expected == sorted(expected, key=os.fsencode)
    assert names(".") == [f"./{name}" for name in expected]
    assert names(tmp_path) == [f"{tmp_path}/{name}" for name in expected]
    assert names("a") == ["a/.hidden.yaml", "a/b/c.json", "a/z.yml"]
    assert names("a/") == ["a/.hidden.yaml", "a/b/c.json", "a/z.yml"]


def test_a_named_path_is_read_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, "Makefile", ".hidden/x.yaml", ".git/y")
    assert names(tmp_path / "Makefile", tmp_path / ".hidden", tmp_path / ".git/y") == [
        f"{tmp_path}/Makefile",
        f"{tmp_path}/.hidden/x.yaml",
        f"{tmp_path}/.git/y",
    ]


def test_what_is_named_twice_is_read_once(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml", "b/c.yaml", "b/d.yaml")
    file = tmp_path / "a.yaml"
    assert names(file, file) == [str(file)]
    assert names(tmp_path, file) == [f"{tmp_path}/b/c.yaml", f"{tmp_path}/b/d.yaml", str(file)]
    assert names(tmp_path / "b", tmp_path) == [f"{tmp_path}/b/c.yaml", f"{tmp_path}/b/d.yaml", str(file)]
    assert names(tmp_path / "b", tmp_path / "b" / "d.yaml", tmp_path / "b" / "c.yaml") == [f"{tmp_path}/b/d.yaml", f"{tmp_path}/b/c.yaml"]


def test_links_to_files_are_read_and_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "real/a.yaml", "in/b.yaml")
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "out").symlink_to(tmp_path / "real")
    (tmp_path / "in" / "link.yaml").symlink_to(tmp_path / "real" / "a.yaml")
    (tmp_path / "in" / "folder.yaml").symlink_to(tmp_path / "real")
    assert names(tmp_path / "in", tmp_path / "real") == [f"{tmp_path}/in/b.yaml", f"{tmp_path}/in/link.yaml", f"{tmp_path}/real/a.yaml"]
    assert names(tmp_path / "in" / "out") == [f"{tmp_path}/in/out/a.yaml"]


def test_a_link_out_of_the_named_folders_is_an_error(tmp_path: Path) -> None:
    """A repository could have lines of any file shown, or copied."""
    (tmp_path / "secret.yaml").write_text("a: hunter2\n")
    (tmp_path / "in").mkdir()
    link = tmp_path / "in" / "link.yaml"
    link.symlink_to("../secret.yaml")
    assert f"{link}` is a link that leads out of `{tmp_path}/in`" in error_of(tmp_path / "in").message
    (tmp_path / "in" / ".git").mkdir()
    (tmp_path / "in" / ".git" / "config").write_text("a: hunter2\n")
    (tmp_path / "in" / "token.yaml").symlink_to(".git/config")
    for command in ("validate", "build", "convert", "explain", "diff"):
        ran = run([command, str(tmp_path / "in"), *([str(tmp_path / "in")] if command == "diff" else [])])
        assert ran.code in (1, 2)
        assert "hunter2" not in ran.out.decode() + ran.err
    (link.parent / "token.yaml").unlink()
    (link.parent / ".fcompileignore").symlink_to("../secret.yaml")
    assert ".fcompileignore is a link that leads out" in error_of(tmp_path / "in").message
    assert [entry.content() for entry in find([str(link)])] == [b"a: hunter2\n"]


def test_links_within_a_folder_are_followed_as_a_mounted_config_map_needs_it(tmp_path: Path) -> None:
    (tmp_path / "..2026").mkdir()
    (tmp_path / "..2026" / "a.yaml").write_text("a: 1\n")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    assert names(tmp_path) == [f"{tmp_path}/a.yaml"]
    (tmp_path / "..2026" / "mount").symlink_to(tmp_path)
    mount = tmp_path / "..2026" / "mount"
    assert names(mount) == [f"{mount}/a.yaml"]


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize(("make_it", "kind"), [(fifo, "a FIFO"), (listening, "a socket"), (device, "a link to a device")])
def test_what_is_no_file_is_an_error_in_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_it: Callable[[Path], None], kind: str
) -> None:
    """It may have been meant as one; and nobody waits for what comes out of it."""
    make(tmp_path, "in/a.yaml", "in/folder.yaml/b.yaml")
    monkeypatch.chdir(tmp_path / "in")  # the path of a socket must be short
    make_it(tmp_path / "in" / "x.yaml")
    make_it(tmp_path / "in" / "x.txt")
    entries = list(find(["."]))
    assert [entry.name for entry in entries if entry.error is None] == ["./a.yaml", "./folder.yaml/b.yaml"]
    (error,) = [entry.error for entry in entries if entry.error is not None]
    assert (error.rule.code, error.message) == ("FC031", f"`./x.yaml` is {kind}, not a file: remove it, or list it in .fcompileignore")
    (tmp_path / "in" / ".fcompileignore").write_text("x.yaml\n")
    assert names(".") == ["./a.yaml", "./folder.yaml/b.yaml"]


def test_links_to_what_is_no_file_are_errors_in_folders(tmp_path: Path) -> None:
    fifo(tmp_path / "pipe")
    (tmp_path / "x.yaml").symlink_to("pipe")
    assert "is a link to a FIFO" in error_of(tmp_path).message


@pytest.mark.parametrize("command", ["validate", "build", "diff"])
def test_the_commands_refuse_a_folder_with_a_fifo(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.yaml").write_text(good())
    fifo(tmp_path / "x.yaml")
    ran = run([command, str(tmp_path), str(tmp_path / "a.yaml")][: 3 if command == "diff" else 2])
    assert ran.code == (2 if command == "diff" else 1)
    assert f"{tmp_path}/x.yaml" in ran.out.decode() + ran.err


@pytest.mark.parametrize("make_it", [fifo, Path.mkdir, device, lambda path: path.symlink_to("gone")])
def test_a_waivers_file_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_it: Callable[[Path], None]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(good())
    make_it(tmp_path / ".fcompile-waivers.yaml")
    ran = run(["validate", "a.yaml"])
    assert (ran.code, ran.err) == (2, "fcompile: .fcompile-waivers.yaml is not a file: remove it\n")


def test_a_fifo_that_is_named_is_read(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    fifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    assert names(path) == [str(path)]
    writer.join()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
def test_process_substitution_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    assert names(f"/dev/fd/{reading}") == [f"/dev/fd/{reading}"]
    os.close(reading)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert names("-", "-") == ["<stdin>"]
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in error_of("-").message


def test_standard_input_that_a_program_has_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """As tests and notebooks do: `fcompile.compile("-")` raised an AttributeError or a ValueError."""
    for text in (TEXT.decode(), "é\ud800"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        (entry,) = find(["-"])
        assert entry.content() == text.encode("utf-8", "surrogatepass")
    closed = io.TextIOWrapper(io.BytesIO(TEXT))
    closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    assert "standard input is closed" in error_of("-").message


def test_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path / "no.yaml", tmp_path / "no" / "a.yaml"):
        error = error_of(path)
        assert error.rule.code == "FC030"
        assert str(path) in error.message
        assert error.file == str(path)
    make(tmp_path, "file")
    assert error_of(tmp_path / "file" / "a.yaml").rule.code == "FC030"
    assert error_of("nul\0").rule.code == "FC031"


def test_a_link_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to(tmp_path / "gone")
    assert error_of(tmp_path / "a.yaml").rule.code == "FC030"
    assert "a link to a file that does not exist" in error_of(tmp_path).message


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to(tmp_path / "a.yaml")
    assert error_of(tmp_path).rule.code == "FC031"


def test_a_folder_without_files(tmp_path: Path) -> None:
    make(tmp_path, "readme.md", ".git/a.yaml", "deep/notes.txt")
    error = error_of(tmp_path)
    assert error.rule.code == "FC032"
    assert str(tmp_path) in error.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_must_not_be_read(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml", "b/c.yaml", "d.yaml")
    (tmp_path / "a.yaml").chmod(0)
    (tmp_path / "b").chmod(0)
    entries = list(find([str(tmp_path)]))
    assert [entry.error is not None for entry in entries] == [False, True, False]
    assert error_of(tmp_path / "a.yaml").rule.code == "FC031"
    (tmp_path / "b").chmod(0o700)


def test_a_file_that_vanishes(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml")
    (entry,) = find([str(tmp_path)])
    (tmp_path / "a.yaml").unlink()
    found = entry.content()
    assert isinstance(found, Problem)
    assert "no file or folder" in found.message


def _file_becomes_a_link(folder: Path) -> None:
    (folder / "b" / "a.yaml").unlink()
    (folder / "b" / "a.yaml").symlink_to("../../out/a.yaml")


def _folder_becomes_a_link(folder: Path) -> None:
    (folder / "b").rename(folder / "was")
    (folder / "b").symlink_to("../out")


def _link_leads_elsewhere(folder: Path) -> None:
    (folder / "link.yaml").unlink()
    (folder / "link.yaml").symlink_to("../out/a.yaml")


def _file_becomes_a_fifo(folder: Path) -> None:
    (folder / "b" / "a.yaml").unlink()
    os.mkfifo(folder / "b" / "a.yaml")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the kernel does not say where an open file is")
@pytest.mark.parametrize("change", [_file_becomes_a_link, _folder_becomes_a_link, _link_leads_elsewhere, _file_becomes_a_fifo])
def test_what_takes_the_place_of_a_file_is_not_read(change: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path, "in/b/a.yaml", "out/a.yaml")
    (tmp_path / "in" / "link.yaml").symlink_to("b/a.yaml")
    entries = list(find([str(tmp_path / "in")]))
    assert [entry.content() for entry in entries] == [TEXT, TEXT]
    change(tmp_path / "in")
    found = [entry.content() for entry in entries]
    assert any("is another file than a moment ago" in one.message for one in found if isinstance(one, Problem))
    (tmp_path / "out" / "a.yaml").write_bytes(b"secret: 1\n")
    assert b"secret" not in b"".join(one for entry in entries if isinstance(one := entry.content(), bytes))


def test_files_are_found_one_by_one(tmp_path: Path) -> None:
    make(tmp_path, "a/a.yaml", "b/b.yaml")
    found = find([str(tmp_path)])
    assert next(found).name.endswith("a/a.yaml")
    make(tmp_path, "b/c.yaml")
    assert [entry.name[-8:] for entry in found] == ["b/b.yaml", "b/c.yaml"]


def test_a_name_that_is_no_text_can_be_shown(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.yaml"
    try:
        Path(os.fsdecode(path)).write_bytes(TEXT)
    except OSError:
        pytest.skip("this file system has only names in UTF-8")
    (entry,) = find([str(tmp_path)])
    assert entry.name.encode().endswith(rb"/\xff.yaml")
    assert entry.content() == TEXT


def test_no_two_names_are_shown_alike(tmp_path: Path) -> None:
    """A waiver counts for the file that is shown with its name: in one of two it would have covered the other."""
    names = [b"\xff", rb"\xff", rb"\x5cxff", rb"\xFF", b"\\\xff", rb"\ud800", rb"a\b", "é".encode(), rb"\xc3\xa9"]
    try:
        for name in names:
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name + b".yaml")).write_bytes(TEXT)
    except OSError:
        pytest.skip("this file system has only names in UTF-8")
    shown = {entry.name for entry in find([str(tmp_path)])}
    assert len(shown) == len(names)
    assert f"{tmp_path}/a\\b.yaml" in shown


def test_an_entry_can_be_sent_to_another_process(tmp_path: Path) -> None:
    make(tmp_path, "a.yaml")
    good, bad = find([str(tmp_path), str(tmp_path / "no")])
    copies: list[FileEntry] = pickle.loads(pickle.dumps([good, bad]))
    assert copies[0] == good
    assert copies[1].error is not None
    assert str(copies[1].error) == str(bad.error)
