"""Which files are for Helm, kustomize, kpt, Flux, Argo CD or git: what these make of a Framework in one is not known here."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from fcompile.check.named_files import NamedFiles, Names, contents, remembered
from fcompile.diagnostics.checkout import root_of, up_from
from fcompile.load import LoadError
from fcompile.load.files import IGNORE_FILE, SUFFIXES, is_within, read_regular
from fcompile.load.rules import MAX_BYTES
from fcompile.load.source import file_too_large
from fcompile.model.patterns import lazy

# Only at the start of a line, an item or a value: inside a string an action does not break YAML, so something else is wrong.
_TEMPLATE_ACTION = lazy(
    r"""^[ \t]*+(?:-[ \t]++)*+(?:(?:"[\w./-]++"|'[\w./-]++'|[\w./-]++)[ \t]*+:[ \t]++)?+\[?+[ \t]*+
    (?:\{\{-?\s*(?:[.$/(]|(?:include|template|if|else|range|end|with|define|block|toYaml|tpl|printf|default|required|quote|lookup)\b)
    |\{%-?\s*\w)""",
    re.MULTILINE | re.VERBOSE,
)
KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names that a kustomization can have, the one that counts first."""
CHART = "Chart.yaml"
"""The file that makes a folder a chart of Helm."""
_NOT_FOR_TEMPLATES = (CHART, "templates", "charts", "crds")
"""What is in the folder of a chart, and what no template reads as a text, or what nobody would."""
_ARGOCD_SOURCE = lazy(r"\.argocd-source(?:-.+)?\.yaml", re.DOTALL)
_TOOLS_IGNORE_FILES = (".krmignore", ".sourceignore")
"""The files in which stands what kpt and Flux leave out."""
_ATTRIBUTES = ".gitattributes"
_CHECKED_OUT = lazy(rb"\b(?:working-tree-encoding|ident|eol=crlf|filter)\b")
"""The attributes by which git checks out something else than it has: another encoding, `$Id: …$` for `$Id$`, other line ends, and what a
filter makes of it."""
_INLINE = lazy(r"[\n{]")
"""What is in a text that stands in the kustomization itself, and in no path."""
_MOST_PLUGINS = 1_000
"""Files and texts of one kustomization at most: each is read."""


class FileKind(StrEnum):
    """What a file is to the tools that read it, as `diff` calls it."""

    KUSTOMIZATION = "kustomization"
    KPTFILE = "Kptfile"
    PATCH = "patch"
    CHART = "chart"
    TEMPLATE = "template"
    """In no chart."""
    SOURCE = "source"
    """Whatever else these tools read."""
    PARAMETERS = "parameters"
    VALUES = "values"
    ATTRIBUTES = "attributes"
    POINTER = "LFS pointer"
    """Git LFS, and Argo CD with it, checks out another file in its place."""
    IGNORE_FILE = "ignore file"
    SUBMODULE = "submodule"
    LINK = "link"
    HIDDEN = "hidden file"
    """In a folder that is left out for its name, though kubectl and Argo CD read it."""
    UNREAD = "unreadable file"
    """There seem to be objects in it, and only other tools may read them: it is large, or holds what is no YAML here."""


Around = Callable[[str], bytes | None]
"""Returns what is in a file that says what others are; None: there is none."""


def looks_like_template(source: str) -> bool:
    """Return whether a text that is no YAML is a Go (so Helm) or Jinja template. FrameworkController's placeholders are no sign of one."""
    return _TEMPLATE_ACTION.search(source) is not None


def in_folder(path: str) -> bytes | None:
    """Return what is in a file of a folder, no more than can be read as YAML; None if there is none."""
    try:
        return read_regular(path, MAX_BYTES + 1)
    except (OSError, ValueError):
        return None


def skip_reason(file: str, top: str, around: Around = in_folder) -> str | None:
    """Return why a file that holds a Framework is not to be checked as one, or None. Nothing above the folder `top` is looked at.

    :param around: reads the files that say so.
    """
    folder = os.path.dirname(os.path.abspath(file))
    if _in_helm_chart(folder, top, around):
        return "a template of a Helm chart: render it first, with `helm template`"
    if _is_patch(os.path.abspath(file), folder, top, around):
        return "a kustomize patch: build it first, with `kubectl kustomize`"
    return None


def kind_for_tools(file: str, top: str, around: Around = in_folder) -> FileKind | None:
    """Return the kind of a file from which other tools make what runs, or that says what is left out; None: it is no such file.

    The first that is true counts, so a kustomization in a chart is a kustomization.
    """
    folder, name = os.path.dirname(os.path.abspath(file)), os.path.basename(file)
    if name in KUSTOMIZATIONS:
        return FileKind.KUSTOMIZATION
    if name == FileKind.KPTFILE:
        return FileKind.KPTFILE
    if name in _TOOLS_IGNORE_FILES:
        return FileKind.SOURCE
    if name == _ATTRIBUTES:
        return FileKind.ATTRIBUTES if _CHECKED_OUT.search(around(file) or b"") else None
    if never_ignored(name):
        return FileKind.IGNORE_FILE if name == IGNORE_FILE else FileKind.PARAMETERS
    above = list(up_from(folder, top))
    if any(_is_chart(one, around) for one in above):
        return FileKind.CHART
    if _is_patch(os.path.abspath(file), folder, top, around):
        return FileKind.PATCH
    if any(named is None or os.path.abspath(file) in named for named in (named_in(one, top, around) for one in above)):
        return FileKind.SOURCE
    return FileKind.VALUES if "values" in name.lower() and name.endswith(SUFFIXES) else None


def is_embedded(file: str, top: str, around: Around = in_folder) -> bool:
    """Return whether kustomize or Helm may put the text of a file into an object: then each character counts, in comments too."""
    path = os.path.abspath(file)
    folder, name = os.path.split(path)
    above = list(up_from(folder, top))
    chart = next((one for one in above if _is_chart(one, around)), None)
    if chart is not None and "values" not in name.lower():
        first, *_ = os.path.relpath(path, chart).split(os.sep)
        if first not in _NOT_FOR_TEMPLATES:
            return True
    return any(named is None or path in named for named in (_embedded_in(one, top, around) for one in above))


def never_ignored(name: str) -> bool:
    """Return whether no `.fcompileignore` leaves out a file of this name, since it says what other files come to."""
    return name in (IGNORE_FILE, _ATTRIBUTES) or _ARGOCD_SOURCE.fullmatch(name) is not None


def boundary(file: str, named: str = "") -> str:
    """Return the folder above which no other file is looked at to tell what this one is: the root of its repository.

    Without a repository it is the folder that was named, or the file's own: strangers may be able to write to folders above it.
    """
    folder = os.path.dirname(os.path.abspath(file))
    return root_of(folder) or (os.path.abspath(named) if named else folder)


@lru_cache(maxsize=4096)
def _in_helm_chart(folder: str, top: str, around: Around) -> bool:
    inside = list(up_from(folder, top))
    return any(os.path.basename(one) == "templates" and _is_chart(parent, around) for one, parent in pairwise(inside))


@lru_cache(maxsize=4096)
def _is_chart(folder: str, around: Around) -> bool:
    return around(os.path.join(folder, CHART)) is not None


def _is_patch(path: str, folder: str, top: str, around: Around) -> bool:
    """Return whether kustomizations in the folder, or in any above it, use the file as a patch."""
    return any(path in _patches_in(one, around) for one in up_from(folder, top))


@lru_cache(maxsize=4096)
def _patches_in(folder: str, around: Around) -> NamedFiles:
    """Return the files that the folder's own kustomization uses as patches; none where it cannot be read."""
    try:
        return NamedFiles(folder, [contents(_kustomization(folder, around)).patches])
    except LoadError:
        return NamedFiles(folder, [])


@lru_cache(maxsize=4096)
def named_in(folder: str, top: str, around: Around) -> NamedFiles | None:
    """Return the files that the folder's own kustomization or Kptfile may name anywhere: as a resource, or as what a ConfigMap is made of.

    None: it may be any file, since these cannot be read, or name too much.
    """
    try:
        kustomization, packaged = contents(_kustomization(folder, around)), contents(around(os.path.join(folder, FileKind.KPTFILE)) or b"")
        return NamedFiles(folder, [kustomization.named, packaged.named, *_plugins(folder, top, around)])
    except LoadError:
        return None


@lru_cache(maxsize=4096)
def _embedded_in(folder: str, top: str, around: Around) -> NamedFiles | None:
    """Return the files of whose texts the folder's own kustomization may make objects; None: as for `named_in`."""
    try:
        kustomization = contents(_kustomization(folder, around))
        return NamedFiles(folder, [kustomization.embedded, *_plugins(folder, top, around)])
    except LoadError:
        return None


@remembered
def _plugins(folder: str, top: str, around: Around) -> tuple[Names, ...]:
    """Return the names in what configures generators and transformers: files, those of folders, and texts, also in an annotation of one.

    Raises LoadError for what cannot be read, or is too much.
    """
    waiting, done, names, size = deque(contents(_kustomization(folder, around)).plugins), set[str](), list[Names](), 0
    while waiting:
        written = waiting.popleft()
        inline = _INLINE.search(written) is not None
        one = written if inline else os.path.normpath(os.path.join(folder, written))
        if one in done or (not inline and ("\0" in one or not is_within(one, top))):
            continue
        done.add(one)
        found = written.encode("utf-8", "replace") if inline else _plugin_file(one, around)
        size += len(found)
        if len(done) > _MOST_PLUGINS or size > MAX_BYTES:
            raise LoadError(file_too_large(folder))
        if found:
            plugin = contents(found)
            names.append(plugin.named)
            waiting.extend(plugin.functions)
        else:
            waiting.extend(os.path.join(one, inner) for inner in contents(_kustomization(one, around)).strings)
    return tuple(names)


@lru_cache(maxsize=4096)
def _plugin_file(path: str, around: Around) -> bytes:
    """Return what is in a file, empty for a folder: hundreds of folders may name it, and to ask git takes longer than the rest."""
    return around(path) or b""


def _kustomization(folder: str, around: Around) -> bytes:
    """Return what is in the folder's own kustomization; nothing where there is none."""
    found = (around(os.path.join(folder, name)) for name in KUSTOMIZATIONS)
    return next((data for data in found if data is not None), b"")
