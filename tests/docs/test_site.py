"""The documentation as a site, and as it is read in the repository: links lead somewhere in both."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html

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
    """Built from the pages as they are; a page that is in no menu, a link without a target or anchor: each is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder


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
    assert (site / "examples" / "bad" / "FC101-unknown-field.yaml").is_file()
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
    """mkdocs wants four spaces where a Git host does with three."""
    tree = html.parse(site / "argocd" / "index.html").getroot()
    assert [len(found) for found in tree.iterfind(".//article//ol")] == [3]


def test_the_first_page_shows_what_is_printed(repository: Path, tmp_path: Path) -> None:
    (block,) = [block for block in blocks(repository / "docs" / "index.md") if block.language == "console"]
    (command,) = commands(block)
    (tmp_path / "train.yaml").write_text(RESNET)
    run = [sys.executable, "-m", *command.text.split()]
    printed = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False).stdout
    assert agree(f"{command.shown}…\n", printed), printed
