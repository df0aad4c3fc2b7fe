"""docs/krm.md: its files and commands, and what these print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from tests.argocd.tools import tool

_BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+)\n")
_VARIES = re.compile(r"\bin [\d.]+m?s|sha256:\S+|lab\S*(?=\": )|Package \"\S+\"")


def test_every_command_prints_what_is_shown(repository: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in ("kustomize", "kpt"):
        (bin / name).symlink_to(tool(name))
    environment = {**environment, "PATH": f"{bin}{os.pathsep}{environment['PATH']}"}
    folder = tmp_path / "lab"
    folder.mkdir()
    shutil.copy(repository / "examples" / "hello.yaml", folder)
    shown = ran = 0
    for kind, text in _BLOCK.findall((repository / "docs" / "krm.md").read_text(encoding="utf-8")):
        if kind == "yaml":
            file = _FILE.match(text)
            if file is None:
                continue  # It is tried below: kpt takes no folder with such a file.
            (folder / file[1]).write_text(text, encoding="utf-8")
            shown += 1
            continue
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
            )
            assert _VARIES.sub("…", done.stdout.replace(" \n", "\n")).rstrip() == _VARIES.sub("…", output).rstrip(), command
            ran += 1
    assert (shown, ran) == (3, 5)


def test_the_name_references_have_all_fields_of_a_pod_that_name_what_kustomize_renames(
    repository: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    """And an overlay needs them no more."""
    (references,) = [
        text for kind, text in _BLOCK.findall((repository / "docs" / "krm.md").read_text(encoding="utf-8")) if "nameReference:" in text
    ]
    containers = """
          - name: main
            image: busybox:1.37
            envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: key}}]
            env:
            - {name: A, valueFrom: {configMapKeyRef: {name: settings, key: a}}}
            - {name: B, valueFrom: {secretKeyRef: {name: key, key: a}}}"""
    base, overlay = tmp_path / "base", tmp_path / "overlay"
    files = {
        base / "name-references.yaml": references,
        base / "train.yaml": f"""\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata: {{name: train}}
spec:
  taskRoles:
  - name: worker
    taskNumber: 1
    task:
      pod:
        spec:
          restartPolicy: Never
          serviceAccountName: robot
          imagePullSecrets: [{{name: key}}]
          initContainers:{containers.replace("main", "first")}
          containers:{containers}
          volumes:
          - {{name: a, configMap: {{name: settings}}}}
          - {{name: b, secret: {{secretName: key}}}}
          - {{name: c, persistentVolumeClaim: {{claimName: data}}}}
          - {{name: d, projected: {{sources: [{{configMap: {{name: settings}}}}, {{secret: {{name: key}}}}]}}}}
""",
        base / "objects.yaml": """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
""",
        base / "kustomization.yaml": """\
resources: [train.yaml, objects.yaml]
configurations: [name-references.yaml]
configMapGenerator: [{name: settings, literals: [a=b]}]
secretGenerator: [{name: key, literals: [a=b]}]
""",
        overlay / "kustomization.yaml": "namePrefix: dev\nresources: [../base]\n",
    }
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run([tool("kustomize"), "build", overlay], env=environment, capture_output=True, text=True, timeout=60, check=True)
    framework = yaml.safe_load(next(one for one in done.stdout.split("---\n") if "kind: Framework" in one))
    named = re.findall(r"'(?:name|secretName|claimName|serviceAccountName)': '([^']*)'", str(framework["spec"]["taskRoles"][0]["task"]))
    assert len([one for one in named if re.fullmatch(r"dev(settings|key)-\w{10}|devrobot|devdata", one)]) == 15
    assert {"settings", "key", "robot", "data"}.isdisjoint(named)
