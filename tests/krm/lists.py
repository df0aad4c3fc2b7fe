"""ResourceLists as kustomize and kpt write them."""

from __future__ import annotations

FRAMEWORK = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata:
  name: train
  namespace: research
spec:
  taskRoles:
  - name: worker
    taskNumber: 3
    task:
      pod:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: busybox
"""
OTHER = """\
# what it is for
apiVersion: v1
data: # of all kinds
  z: '1'
  a: |
    no: 1
      # no comment

    - on
  10m: "0o17"
kind: ConfigMap
metadata: {name: other, annotations: {config.kubernetes.io/index: '1', internal.config.kubernetes.io/path: 'x.yaml'}}
"""
HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"


def listed(*items: str, config: str = "", indent: str = "") -> str:
    """A list of these items, with a functionConfig of these lines of `data`."""
    text = f"{HEAD}items:{'' if items else ' []'}\n"
    for item in items:
        text += f"{indent}- " + item.rstrip("\n").replace("\n", f"\n{indent}  ") + "\n"
    if config:
        lines = config.rstrip("\n").replace("\n", "\n    ")
        text += f"functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: fcompile\n  data:\n    {lines}\n"
    return text


def at(path: str, index: int = 0, text: str = FRAMEWORK) -> str:
    """A Framework that comes from a file."""
    prefix = "internal.config.kubernetes.io"
    return text.replace("metadata:\n", f"metadata:\n  annotations:\n    {prefix}/path: '{path}'\n    {prefix}/index: '{index}'\n", 1)
