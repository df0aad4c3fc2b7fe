"""The Pods of a converted job agree with those that the operator made of it, and all its names lead somewhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.convert.operator import cases, differences


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases()])
def test_pods_agree(case: dict[str, Any]) -> None:
    assert list(differences(case)) == []
