"""Conversion: jobs of Kubeflow in, Frameworks that run the same out, and what becomes of every field of the source."""
