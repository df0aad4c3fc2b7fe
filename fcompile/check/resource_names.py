"""What the API server makes of a resource's name: its own, huge pages, or an extended one such as nvidia.com/gpu."""

from __future__ import annotations

from fcompile.diagnostics.suggestions import edits
from fcompile.model.formats import accepts

HUGE = "hugepages-"
BYTES = ("memory", "ephemeral-storage")
USUAL = frozenset(("cpu", *BYTES))
_MEANT = {
    "cpu": ("cpus", "cpu", "cores", "vcpu"),
    "memory": ("mem", "ram", "memory"),
    "ephemeral-storage": ("storage", "disk", "ephemeralstorage"),
    "the whole name, such as nvidia.com/gpu": ("gpu", "gpus"),
}
"""What a container asks for, and the words that others have for it."""
_DEVICES = (
    *("nvidia.com/gpu", "nvidia.com/pgpu", "nvidia.com/vgpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi"),
    *("google.com/tpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice", "vpc.amazonaws.com/efa"),
)
"""What device plugins offer; nvidia.com/vgpu is one letter from nvidia.com/gpu."""


def is_huge_pages(name: str) -> bool:
    """Return whether the resource is huge pages, whose size is part of its name."""
    return name.startswith(HUGE)


def is_native(name: str) -> bool:
    """Return whether the resource is one of Kubernetes' own. All others are counted in whole numbers."""
    return "/" not in name or "kubernetes.io/" in name


def can_overcommit(name: str) -> bool:
    """Return whether a request may be lower than the limit: only for Kubernetes' own resources, huge pages aside."""
    return name in USUAL or (is_native(name) and not is_huge_pages(name))


def meant_device(name: str) -> str:
    """Return the device whose name differs from this one in letter case or in one letter; empty if none does, or it is a name itself."""
    if name in USUAL or name in _DEVICES or not accepts("label-key")(name):
        return ""
    return next((device for device in _DEVICES if edits(name.lower(), device) <= 1), "")


def container_name_problem(name: str) -> str | None:
    """Return what is wrong with a resource that a container asks for, or None."""
    if name in USUAL:
        return None
    is_key = accepts("label-key")
    if not is_key(name):
        return "is not a resource name; use one such as cpu, memory or example.com/gpu"
    if "/" not in name:
        if is_huge_pages(name):
            return None
        meant = next((right for right, words in _MEANT.items() if name.lower() in words), None)
        return f"is not a resource of a container; use {meant or 'cpu, memory, ephemeral-storage or one such as example.com/gpu'}"
    # The quota of an extended resource has a longer name (`requests.…`), which must be valid too.
    if not is_native(name) and (name.startswith("requests.") or not is_key(f"requests.{name}")):
        return "cannot be the name of an extended resource; it must not begin with requests. nor be longer than a quota's name can be"
    return None


def pod_name_problem(name: str) -> str | None:
    """Return what is wrong with a resource that a Pod as a whole asks for, or None."""
    if name in ("cpu", "memory") or (is_huge_pages(name) and accepts("label-key")(name)):
        return None
    return "cannot be asked for a whole Pod; use cpu, memory or hugepages-SIZE"
