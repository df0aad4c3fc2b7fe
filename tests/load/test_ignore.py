"""`.fcompileignore`."""

from __future__ import annotations

from pathlib import Path

from fcompile.load.files import find


def names(folder: Path, *paths: Path) -> list[str]:
    return [Path(entry.path).relative_to(folder).as_posix() for entry in find([str(path) for path in paths or (folder,)])]


def test_what_fits_a_pattern_is_left_out_of_its_folder(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml", "b1.yaml", "bad/c.yaml", "deep/bad/d.yaml", "deep/b.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a: 1\n")
    (tmp_path / ".fcompileignore").write_text("# comment\n\nbad/\n b?.yaml \n")
    assert names(tmp_path) == ["a.yaml", "b.yaml", "deep/b.yaml", "deep/bad/d.yaml"]
    assert names(tmp_path, tmp_path / "bad") == ["bad/c.yaml"]
    assert names(tmp_path, tmp_path, tmp_path / "b1.yaml") == ["a.yaml", "b.yaml", "deep/b.yaml", "deep/bad/d.yaml", "b1.yaml"]
