"""What Trainer's policies go by."""

from __future__ import annotations

from typing import Any

import pytest

from fcompile.convert.trainer import cpus, gpus


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("2Ki", 2048),
        ("1Mi", 2**20),
        ("3500m", 4),
        ("1e1", 10),
        (2, 2),
        (1.5, 2),
        ("0.1", 1),
        ("2G", 2 * 10**9),
        ("0", 0),
        ("x", 0),
        (True, 0),
    ],
)
def test_quantities_are_rounded_up(written: Any, count: int) -> None:
    assert cpus({"requests": {"cpu": written}}) == count
    assert gpus({"limits": {"nvidia.com/gpu": written}}) == count


def test_requests_come_before_limits() -> None:
    assert cpus({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}) == 1
    assert cpus({"requests": {"cpu": "x"}, "limits": {"cpu": "2"}}) == 2
    assert cpus({}) == gpus({}) == 0
