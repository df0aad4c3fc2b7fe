"""An API server in memory: what the controller, a kubelet stand-in and the demo need of kube-apiserver, and how it behaves there.

It is synchronous and deterministic: time and uids come from outside, there are no threads, and the garbage collector works when it is
told to. `tests/memory_api` holds the same random operations against it and against a real server.

What it has: Frameworks and a handful of built-in kinds (`kinds.py`); get, list, watch, create, update, patch (JSON patch) and delete;
selectors of labels; status subresources and the binding of Pods; resourceVersions, preconditions, finalizers, graceful, foreground,
background and orphaning deletion.

What it has not: validation, but what a `Validation` adds for tests; defaults, but for the few that other behaviour rests on; admission;
managedFields; server-side apply, other patches, other selectors, deletecollection, dry runs, generateName; the deletion of namespaces;
null as a value of a string map, which a real server reads as an empty string.
"""

from fcontroller.testing.memory_api.server import MemoryApi
from fcontroller.testing.memory_api.watch import Watch

__all__ = ["MemoryApi", "Watch"]
