"""Lowering: from a Framework to what will run."""
