"""A release: its notes, its bill of materials, and the workflow that would publish it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import cyclonedx.schema._res as schemas
import jsonschema
import pytest
import yaml
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

import fcompile
from tests.argocd.tools import tool
from tests.docs.project import fits_schema
from tools.release_notes import notes
from tools.sbom import bill, document

MODULE = '__version__ = "0.2.0"\n'
SCHEMAS = Path(str(schemas.__file__)).parent


@pytest.fixture
def workflow_file(repository: Path) -> Path:
    return repository / ".github" / "workflows" / "release.yml"


@pytest.fixture
def workflow(workflow_file: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.load(workflow_file.read_text("utf-8"), yaml.BaseLoader)
    return read


def test_the_changelog_has_dates(repository: Path) -> None:
    text = (repository / "CHANGELOG.md").read_text("utf-8")
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", section) for section in sections[1:])
    assert re.search(r"^## \[Unreleased\]\n\n### |^## \[" + re.escape(fcompile.__version__) + r"\] - ", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("tag", "changelog", "said"),
    [
        ("v0.3.0", "## [0.3.0] - 2026-01-02\n", "has version 0.2.0"),
        ("0.2.0", "## [0.2.0] - 2026-01-02\n", "choose another tag"),
        ("v0.2.0", "## [Unreleased]\n\n- a\n", "no section [0.2.0]"),
        ("v0.2.0", "## [0.2.0]\n\n- a\n", "no date"),
        ("v0.2.0", "## [0.2.0] - soon\n\n- a\n", "soon"),
    ],
)
def test_no_notes(tag: str, changelog: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        notes(tag, changelog, MODULE)


def test_notes_are_those_of_the_tag() -> None:
    before, after = "# Changelog\n\n## [Unreleased]\n\n- new\n", "## [0.1.0] - 2026-01-01\n\n- old\n"
    changelog = f"{before}\n## [0.2.0] - 2026-01-02\n\n### Added\n\n- this\n\n{after}"
    assert notes("v0.2.0", changelog, MODULE) == "### Added\n\n- this"


def test_the_bill_of_materials(repository: Path) -> None:
    """Fits CycloneDX's schema, is the same each time, and names what users install: no more, no less."""
    text = document()
    assert text == subprocess.check_output([sys.executable, "tools/sbom.py"], cwd=repository, text=True).removesuffix("\n")
    made = json.loads(text)
    resources = {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.schema.json")}
    # They name each other by their files' names, beside the schema's own address.
    base = resources["bom-1.6.SNAPSHOT.schema.json"]["$id"].rpartition("/")[0]
    found = [(f"{base}/{name}", Resource.from_contents(value, DRAFT7)) for name, value in resources.items()]
    registry: Registry[Any] = Registry().with_resources(found)
    jsonschema.Draft7Validator(resources["bom-1.6.SNAPSHOT.schema.json"], registry=registry).validate(made)
    assert made["metadata"]["component"]["purl"] == f"pkg:pypi/fcompile@{fcompile.__version__}"
    lock = tomllib.loads((repository / "uv.lock").read_text("utf-8"))
    locked = {(package["name"], package["version"]) for package in lock["package"] if package["name"] != "fcompile"}
    named = {(component["name"], component["version"]) for component in made["components"]}
    image = dict(re.findall(r"^([\w.-]+)==(\S+)", (repository / "deploy" / "requirements.txt").read_text("utf-8"), re.MULTILINE))
    assert set(image.items()) | {("jinja2", dict(locked)["jinja2"])} <= named <= locked
    assert not {"pytest", "sphinx", "cyclonedx-python-lib"} & dict(named).keys()
    assert all(reference["hashes"] for component in made["components"] for reference in component["externalReferences"])
    known = {component["bom-ref"] for component in [*made["components"], made["metadata"]["component"]]}
    edges = {entry["ref"]: set(entry.get("dependsOn", ())) for entry in made["dependencies"]}
    assert edges.keys() == known
    assert set.union(*edges.values()) == known - {made["metadata"]["component"]["bom-ref"]}, "each is there for somebody"


def test_an_extra_of_another_package_is_not_overlooked() -> None:
    asks = {"name": "fcompile", "dependencies": [{"name": "a", "extra": ["b"]}]}
    with pytest.raises(AssertionError):
        bill([asks, {"name": "a", "version": "1"}])


def test_the_workflow_is_one(workflow_file: Path, tmp_path: Path) -> None:
    fits_schema("vendor.github-workflows", tmp_path / "release.yml", workflow_file.read_text("utf-8"))


def test_actionlint_finds_nothing(workflow_file: Path) -> None:
    done = subprocess.run([tool("actionlint"), str(workflow_file)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_workflow_is_careful(workflow: dict[str, Any], repository: Path) -> None:
    """Each job may do what it does and no more, runs no text of a tag as a script, and uses only what has a hash."""
    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    assert workflow["permissions"] == {}
    rights = {name: {what for what, how in job["permissions"].items() if how == "write"} for name, job in workflow["jobs"].items()}
    assert rights == {"build": set(), "sign": {"id-token", "attestations"}, "publish": {"id-token"}, "release": {"contents"}}
    assert workflow["jobs"]["publish"]["environment"] == "pypi"
    scripts = {name: "\n".join(step.get("run", "") for step in job["steps"]) for name, job in workflow["jobs"].items()}
    assert not [name for name, script in scripts.items() if "${{" in script]
    # Whoever may sign or publish runs no code of the repository, and nothing that was fetched for it but the uploader.
    ours = re.compile(r"tools/|pytest|pip install (?!.*publish-requirements)")
    assert not [name for name in ("sign", "publish", "release") if ours.search(scripts[name])]
    installs = [line for script in scripts.values() for line in script.splitlines() if "pip install" in line]
    assert not [line for line in installs if not re.search(r"--require-hashes|--no-deps|--no-index", line)]
    text = (repository / ".github" / "workflows" / "release.yml").read_text("utf-8")
    uses = re.findall(r"uses: (\S+)(.*)", text)
    assert uses
    pinned = re.compile(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert not [(action, version) for action, version in uses if not pinned.fullmatch(action + version)]
    for job in workflow["jobs"].values():
        assert all(step["with"]["persist-credentials"] == "false" for step in job["steps"] if "actions/checkout@" in step.get("uses", ""))
