"""Whether a file is one that a kustomization names: as if each name were joined to the folder."""

from __future__ import annotations

import os

from hypothesis import example, given
from hypothesis import strategies as st

from fcompile.check.named_files import NamedFiles, contents
from fcompile.load.files import is_within

STEPS = st.sampled_from(["..", ".", "a", "b", "ab", ""])
NAMES = st.lists(STEPS, min_size=1, max_size=7).map("/".join)
FOLDERS = st.lists(st.sampled_from(["a", "b"]), max_size=4).map(lambda steps: "/" + "/".join(steps))


@given(folder=FOLDERS, name=NAMES, path=FOLDERS.filter(lambda path: path != "/"), more=st.lists(NAMES, max_size=3))
@example(folder="/a/b", name="../b/a", path="/a/b/a", more=[])
@example(folder="/a", name="../" * 300 + "a/b", path="/a/b", more=[])
@example(folder="/a", name="x=../b", path="/b", more=[])
@example(folder="/a", name="/a/b", path="/a/b", more=["a", "b", "ab"])
def test_a_file_is_named_as_the_folder_and_the_name_say(folder: str, name: str, path: str, more: list[str]) -> None:
    texts = [name, *more]
    names = [one for text in texts for one in (text, text.partition("=")[2]) if one]
    wanted = {os.path.normpath(os.path.join(folder, one)) for one in names}
    read = contents(("[" + ", ".join(f'"{text}"' for text in texts) + "]").encode())
    named = NamedFiles(folder, [read.named])
    if not is_within(folder, path):  # A file is none of the folders above.
        assert (path in named) == (path in wanted)
        for among in ([path], [path, *(f"{path}/{number}" for number in range(20))]):
            outside = set(named.outside(frozenset(among)))
            assert outside == {one for one in among if one in wanted and not is_within(one, folder)}
