"""A small form of each table. How fast things are is not tried here: `python -m tests.stress` prints that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.stress import deaths, refused, tenants, trust
from tests.stress.setting import Row, Setting, setting


@pytest.fixture(scope="module")
def stressed(own_audited_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    # That the next waits for the lease of one that was killed is tried in tests/controller/test_run.py.
    with setting(own_audited_cluster, tmp_path_factory.mktemp("stress"), mourns=False) as made:
        yield made


def counted(rows: Iterator[Row]) -> None:
    """Check the rows that count what must not be. The others are about speed."""
    found = list(rows)
    assert [row.what for row in found if row.limit == 0]
    assert [row for row in found if row.limit == 0 and row.value] == []


@pytest.fixture(scope="module")
def forger(stressed: Setting) -> None:
    trust.allow_config_maps(stressed)


@pytest.mark.usefixtures("forger")
@pytest.mark.parametrize("way", trust.WAYS)
def test_trust(way: str, stressed: Setting) -> None:
    counted(trust.tried(stressed, way))


@pytest.mark.parametrize("refusal", refused.REFUSALS)
def test_refused(refusal: str, stressed: Setting) -> None:
    counted(refused.tried(stressed, refusal))


@pytest.mark.parametrize("nuisance", tenants.NUISANCES)
def test_tenants(nuisance: str, stressed: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants, "SLOW", 6)
    counted(tenants.beside(stressed, nuisance, 1, 0.03))


@pytest.mark.parametrize("death", deaths.DEATHS)
def test_deaths(death: str, stressed: Setting) -> None:
    counted(deaths.tried(stressed, death, 20, most=4))  # On a slow machine one that never ends is not outlived.
