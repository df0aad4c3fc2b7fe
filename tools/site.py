"""What mkdocs does not do by itself with pages that are also read in the repository: links that lead out of docs/.

A file that is linked to is put into the site, under its path in the repository. Of a folder only the name is shown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_OUTWARD = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)([^)#]+)\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the files that pages link to. FileNotFoundError for one that is not there."""
    root = Path(config.docs_dir).parent
    for page in list(files.documentation_pages()):
        for _, _, path in _OUTWARD.findall(page.content_string):
            if not (root / path).is_dir() and path not in files.src_uris:
                files.append(File.generated(config, path, content=(root / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lets the links lead to these files."""

    def inward(found: re.Match[str]) -> str:
        text, up, path = found.groups()
        if up.count("../") <= page.file.src_uri.count("/"):
            return found[0]  # another page
        return f"[{text}]({up[len('../') :]}{path})" if path in files.src_uris else text

    return _OUTWARD.sub(inward, markdown)
