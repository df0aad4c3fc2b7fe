"""Frameworks for property tests: valid ones that use much of what a Framework and a Pod template can say, from hostile strings on."""

from tests.strategies.frameworks import frameworks, with_nulls

__all__ = ["frameworks", "with_nulls"]
