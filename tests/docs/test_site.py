"""The documentation as a site, and as it is read in the repository: links lead somewhere in both."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html

from tests.browser import too_wide
from tests.docs.blocks import blocks
from tests.docs.console import agree, commands

RESNET = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata:
  name: resnet
spec:
  taskRoles:
  - name: worker
    taskNumber: 4
    task:
      pod:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: resnet:2
            resource:
              limits: {cpu: 1}
"""


@pytest.fixture(scope="module")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the pages as they are."""
    folder = tmp_path_factory.mktemp("site")
    done = build(repository / "docs", folder / "site")
    assert done.returncode == 0, done.stderr
    return folder / "site"


def build(pages: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Make the site, as CONTRIBUTING.md says to."""
    # The cache is kept out of what is published.
    options = ["-W", "--keep-going", "-q", "-b", "dirhtml", "-d", str(target.with_name("cache"))]
    command = [sys.executable, "-m", "sphinx", *options, str(pages), str(target)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_what_is_wrong_ends_the_build(repository: Path, tmp_path: Path) -> None:
    """A page that is in no menu, a link without a target or anchor, a diagram that cannot be drawn."""
    pages = tmp_path / "docs"
    pages.mkdir()
    shutil.copy(repository / "docs" / "conf.py", pages)
    (pages / "site.css").touch()
    (pages / "diagnostics").mkdir()
    for pattern in ("*.md", "diagnostics/*.md"):
        for page in (repository / "docs").glob(pattern):
            (pages / page.relative_to(repository / "docs")).write_text("# A page\n")
    sound = build(pages, tmp_path / "site")
    assert sound.returncode == 0, sound.stderr
    (pages / "lost.md").write_text("# In no menu\n")
    (pages / "faq.md").write_text("# Links\n\n[a](nope.md) [b](faq.md#nope) [c](../nope.txt)\n")
    done = build(pages, tmp_path / "site")
    assert done.returncode != 0
    assert re.findall(r"(\w+)\.md(?::\d+)?: WARNING: .*(toctree|'nope.md'|'nope'|'../nope.txt')", done.stderr) == [
        ("lost", "toctree"),
        ("faq", "'nope.md'"),
        ("faq", "'nope'"),
        ("faq", "'../nope.txt'"),
    ]
    (pages / "faq.md").write_text("# A diagram\n\n```mermaid\nstateDiagram-v2\n    [*] --> { -->\n```\n")
    assert build(pages, tmp_path / "site").returncode != 0


def test_diagrams_are_drawn_and_nothing_comes_from_elsewhere(site: Path) -> None:
    tree = html.parse(site / "states" / "index.html").getroot()
    drawn = tree.xpath("//div[@class='diagram']/svg")
    assert len(drawn) == 2
    assert len({svg.get("id") for svg in drawn}) == 2
    for svg in drawn:
        assert {"AttemptCreationPending", "Completed"} <= {text.strip() for text in svg.itertext()}
    assert not [script for page in site.rglob("*.html") for script in html.parse(page).getroot().xpath("//script[contains(@src, '//')]")]
    assert not [style for style in site.rglob("*.css") if re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text("utf-8"))]


def test_no_page_is_wider_than_its_window(site: Path, tmp_path: Path) -> None:
    """Wide tables and commands are scrolled by themselves."""
    assert too_wide(site, ["index.html", "framework/index.html", "kubeflow/index.html", "states/index.html"], tmp_path) == []


def test_titles_of_files_and_prompts(site: Path) -> None:
    tree = html.parse(site / "tutorial" / "index.html").getroot()
    assert "train.yaml" in [caption.text_content().strip("¶") for caption in tree.xpath("//div[@class='code-block-caption']")]
    # The button leaves out what has these classes.
    assert tree.xpath("//div[contains(@class, 'highlight-console')]//span[@class='gp']")


def test_every_link_leads_somewhere(site: Path) -> None:
    """Those to files outside of docs/ too, which are put into the site; and what a page shows or runs comes with it."""
    followed = 0
    for page in site.rglob("*.html"):
        tree = html.parse(page).getroot()
        for element, attribute, link, _ in tree.iterlinks():
            if element.tag == "a" and urlsplit(link).scheme in ("http", "https"):
                continue
            parts = urlsplit(link)
            assert not parts.netloc, f"{page}: {attribute} {link}"
            target = (site if parts.path.startswith("/") else page.parent) / unquote(parts.path.lstrip("/"))
            assert target.exists(), f"{page}: {link}"
            followed += 1
    assert list(site.glob("_downloads/*/FC101-unknown-field.yaml"))
    assert followed > 1000


def test_every_link_leads_somewhere_in_the_repository(repository: Path) -> None:
    pages = [*repository.glob("*.md"), *(repository / "docs").rglob("*.md")]
    for page in pages:
        text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page}: {link}"
            assert not anchor or anchor in anchors(target), f"{page}: {link}"


def anchors(page: Path) -> set[str]:
    """As a Git host names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_lists_are_lists(site: Path) -> None:
    """Those with code between their items too."""
    tree = html.parse(site / "argocd" / "index.html").getroot()
    assert [len(found) for found in tree.iterfind(".//article//ol")] == [3]


def test_the_first_page_shows_what_is_printed(repository: Path, tmp_path: Path) -> None:
    (block,) = [block for block in blocks(repository / "docs" / "index.md") if block.language == "console"]
    (command,) = commands(block)
    (tmp_path / "train.yaml").write_text(RESNET)
    run = [sys.executable, "-m", *command.text.split()]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False).stdout
    assert agree(f"{command.shown}…\n", printed), printed


def test_the_first_commands_work(repository: Path) -> None:
    (block,) = [block for block in blocks(repository / "docs" / "index.md") if block.language == "sh"]
    lines = [line.partition("#")[0].split() for line in block.text.splitlines()]
    programs = [line for line in lines if line[0] in ("fcompile", "fcontroller")]
    codes = []
    for program, *arguments in programs:
        command = [str(Path(sys.executable).with_name(program)), *arguments]
        codes.append(subprocess.run(command, cwd=repository, capture_output=True, timeout=120, check=False).returncode)
    assert codes == [1, 0]
    assert len(programs) == len(lines) - 2, "what stands before is how to install it from a clone"
    assert "pip install -q '.[controller]'" in block.text
