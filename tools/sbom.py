"""Print what a release consists of, as CycloneDX 1.6: fcompile, its extras, and all that these bring, from uv.lock.

The same commit gives the same bytes: the time is that of SOURCE_DATE_EPOCH, and the serial number comes from the content.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from fcompile._version import __version__

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("", "controller", "convert")
"""What users install. The extras `docs` and `dev` are for the repository alone."""
Package = Mapping[str, Any]


def main() -> int:
    """Print the document."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(document())
    return 0


def document() -> str:
    """Return the whole document."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
    bom = bill(lock["package"])
    # The number is in the text that it comes from.
    bom.serial_number = uuid.UUID(int=0)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, _text(bom))
    return _text(bom)


def bill(packages: list[Package]) -> Bom:
    """Return what comes with fcompile and its extras, and what depends on what."""
    ours = _component("fcompile", __version__, ComponentType.APPLICATION)
    ours.licenses.add(DisjunctiveLicense(id="MIT"))
    when = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC)
    bom = Bom(metadata=BomMetaData(component=ours, timestamp=when))
    known = {("fcompile", ""): ours}
    for package in _needed(packages):
        found = _component(package["name"], package["version"], ComponentType.LIBRARY)
        for archive in [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]:
            digest = HashType(alg=HashAlgorithm.SHA_256, content=archive["hash"].removeprefix("sha256:"))
            link = ExternalReference(type=ExternalReferenceType.DISTRIBUTION, url=XsUri(archive["url"]), hashes=[digest])
            found.external_references.add(link)
        bom.components.add(found)
        known[package["name"], package["version"]] = found
    by_name: dict[str, list[Component]] = {}
    for (name, _), component in known.items():
        by_name.setdefault(name, []).append(component)
    for package in packages:
        version_of = "" if package["name"] == "fcompile" else package["version"]
        if (package["name"], version_of) in known:
            targets = {target["name"] for target in _dependencies(package)}
            bom.register_dependency(known[package["name"], version_of], [one for name in sorted(targets) for one in by_name.get(name, ())])
    return bom


def _component(name: str, version: str, kind: ComponentType) -> Component:
    purl = PackageURL("pypi", name=name, version=version)
    return Component(name=name, version=version, type=kind, purl=purl, bom_ref=purl.to_string())


def _dependencies(package: Package) -> Iterator[Package]:
    yield from package.get("dependencies", ())
    for extra in EXTRAS if package["name"] == "fcompile" else ():
        yield from package.get("optional-dependencies", {}).get(extra, ())


def _needed(packages: list[Package]) -> list[Package]:
    """Return all packages that come with ours on some system, in their order; a package may be there in two versions."""
    todo, seen = ["fcompile"], {"fcompile"}
    while todo:
        name = todo.pop()
        for package in packages:
            if package["name"] == name:
                new = {target["name"] for target in _dependencies(package)} - seen
                # None of ours asks for an extra of another package; one that does must be followed here.
                assert not [target for target in _dependencies(package) if target.get("extra")], name
                todo += new
                seen |= new
    return [package for package in packages if package["name"] in seen - {"fcompile"}]


def _text(bom: Bom) -> str:
    return JsonV1Dot6(bom).output_as_string(indent=2)


if __name__ == "__main__":
    sys.exit(main())
