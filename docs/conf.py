"""The documentation as a site: `sphinx-build -W -b dirhtml docs site` (docs/adr/0008).

The pages are read on Git hosts too, so they are plain Markdown: what only the site needs is here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zlib import crc32

import mmdr

project = "fcompile"
author = "The fcompile authors"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
exclude_patterns = ["conf.py"]

html_theme = "furo"
html_title = "fcompile"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
# Links on each page to its source would say nothing that the repository does not.
html_copy_source = False
# The button copies what is typed, not the prompt and not the answer.
copybutton_exclude = ".linenos, .gp, .go"

NAVIGATION = {
    "": ["install", "tutorial", "faq", "glossary", "troubleshooting", "comparison"],
    "Writing and reviewing": ["cli", "framework", "diagnostics", "expected-manifests", "diff", "explain", "ci", "krm", "json", "python"],
    "On a cluster": [
        "argocd",
        "operations",
        "runbooks",
        "intent",
        "states",
        "upstream-crd",
        "kubeflow",
        "kubeflow-behaviour",
        "upgrade",
        "backup",
        "sizing",
        "agreement",
    ],
    "About": ["security"],
    "Decisions": [f"adr/{path.stem}" for path in sorted(Path(__file__).parent.glob("adr/*.md"))],
}
"""The menu. A page that is in none is an error."""
FAMILIES = ["reading", "structure", "containers", "volumes", "resources", "security", "scheduling", "network-and-metadata"]
FAMILIES += ["policies", "names", "services", "sizes", "waivers"]
"""The pages below that of all diagnostics."""

_DIAGRAM = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLED = re.compile(r'^( *)```(\w+) title="([^"\n]+)"$', re.MULTILINE)
_OUTWARD = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]*)(?:#[^)]*)?\)")


def adapt(app: Any, page: str, source: list[str]) -> None:
    """Turn what Git hosts show by themselves into what Sphinx understands."""
    here = Path(app.srcdir, page).parent

    def outward(found: re.Match[str]) -> str:
        """Return the text alone for what is no page and cannot be downloaded: a folder, and a page outside of docs/."""
        target = (here / found[2]).resolve()
        outside = Path(app.srcdir) not in target.parents
        return found[1] if target.is_dir() or (outside and target.suffix == ".md" and target.exists()) else found[0]

    text = _DIAGRAM.sub(lambda found: f"```{{raw}} html\n{diagram(found[1])}\n```", source[0])
    text = _TITLED.sub(r"\1```{code-block} \2\n\1:caption: \3", text)
    below = {app.config.root_doc: NAVIGATION, "diagnostics": {"": [f"diagnostics/{family}" for family in FAMILIES]}}
    source[0] = _OUTWARD.sub(outward, text) + menu(below.get(page, {}))


def diagram(text: str) -> str:
    """Draw a diagram once, here, so that no page needs a script."""
    # The drawing calls itself and its parts by one name, which only one of a page may have.
    return f'<div class="diagram">{mmdr.render(text).svg().replace("merman", f"diagram-{crc32(text.encode())}")}</div>'


def menu(below: dict[str, list[str]]) -> str:
    """Write as Sphinx wants it which pages are below one: of the first, the menu."""
    parts = []
    for caption, pages in below.items():
        options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
        parts.append("\n".join(["```{toctree}", *options, "", *pages, "```"]))
    return "\n\n" + "\n\n".join(parts) + "\n"


def setup(app: Any) -> None:
    """Let Sphinx call `adapt` for each page."""
    app.connect("source-read", adapt)
