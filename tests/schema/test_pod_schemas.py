"""The table of a Pod's fields."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from fcompile.model.formats import FORMATS
from fcompile.schema.pod_schemas import DEFAULT_VERSION, NEWEST, OLDEST, VERSIONS, pod_type, values_by_version, versions_with
from fcompile.schema.types import types
from tests.reading import all_types

KINDS = {"string", "integer", "boolean", "object", "list", "map", "quantity", "int-or-string", "any"}


def test_versions() -> None:
    assert (OLDEST, NEWEST) == (25, 37)
    assert DEFAULT_VERSION in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_every_type_of_every_version_can_be_read(version: int) -> None:
    for fields in all_types(version).values():
        for field in fields.values():
            assert field.kind in KINDS
            assert field.items in KINDS | {""}
            assert field.format in {"", "int32", "int64", "file-mode", *FORMATS}
            assert field.keys in {"", *FORMATS}
            assert (field.kind in ("list", "map")) == bool(field.items)


def test_only_what_is_asked_for_is_read() -> None:
    fresh = types.__wrapped__(31)
    assert "NFSVolumeSource" not in fresh
    assert fresh["NFSVolumeSource"] == pod_type("NFSVolumeSource", 31)
    with pytest.raises(KeyError):
        fresh["Nothing"]


@pytest.mark.parametrize(
    ("name", "field", "versions"),
    [
        ("Container", "image", (25, 37)),
        ("Container", "restartPolicy", (28, 37)),
        ("PodSpec", "workloadRef", (35, 35)),
        ("PodResourceClaim", "source", (26, 30)),
        ("Container", "nothing", None),
        ("Nothing", "nothing", None),
    ],
)
def test_versions_of_fields(name: str, field: str, versions: tuple[int, int] | None) -> None:
    assert versions_with(name, field) == versions


def test_fields_are_there_in_their_versions_only() -> None:
    assert [version for version in VERSIONS if "hostnameOverride" in pod_type("PodSpec", version)] == [34, 35, 36, 37]
    assert [version for version in VERSIONS if "workloadRef" in pod_type("PodSpec", version)] == [35]
    assert [version for version in VERSIONS if pod_type("EnvVar", version)["name"].format == "env-name"] == [25, 26, 27, 28, 29, 30, 31]


def test_values_of_versions() -> None:
    assert pod_type("Container", 33)["restartPolicy"].enum == ("Always",)
    assert pod_type("Container", 35)["restartPolicy"].enum == ("Always", "Never", "OnFailure")
    assert values_by_version("Container", "restartPolicy") == {"Always": (25, 37), "Never": (35, 37), "OnFailure": (35, 37)}


def test_list_map_keys_have_a_default_or_are_required() -> None:
    """A CRD is refused otherwise."""
    for fields in all_types(DEFAULT_VERSION).values():
        for field in fields.values():
            if field.kind == "list" and field.ref:
                items = types(DEFAULT_VERSION)[field.ref]
                assert all(items[key].required or items[key].default is not None for key in field.map_keys)


def test_the_file_is_small(repository: Path) -> None:
    path = repository / "fcompile" / "schema" / "pod_schemas.json"
    assert path.stat().st_size < 60_000


@pytest.mark.skipif(find_spec("kubernetes_validate") is None, reason="needs kubernetes-validate (pip install -e '.[dev]')")
def test_the_file_is_what_its_generator_makes(repository: Path) -> None:
    import subprocess
    import sys

    assert (
        subprocess.run([sys.executable, str(repository / "tools" / "pod_schemas.py"), "--check"], check=False, timeout=120).returncode == 0
    )
