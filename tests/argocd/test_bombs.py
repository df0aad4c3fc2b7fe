"""What is small to write and large to read, in every file that kustomize and Helm would parse: it is refused before they see it."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.argocd.server import environment, inside
from tests.argocd.test_containment import SECRET, app, indented, refused

__all__ = ["app"]

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghi"))
CHART = "apiVersion: v2\nname: chart\nversion: 0.1.0\n"
BOMBS = {
    "a kustomization": ({"kustomization.yaml": "resources: [fw.yaml]\n" + LAUGHS}, "kustomization.yaml:"),
    "labels": (
        {"kustomization.yaml": f"resources: [fw.yaml]\ncommonLabels:\n  {LAUGHS.replace(chr(10), chr(10) + '  ')}\n"},
        "kustomization.yaml:",
    ),
    "a resource": ({"kustomization.yaml": "resources: [fw.yaml, bomb.yaml]\n", "bomb.yaml": LAUGHS}, "bomb.yaml:"),
    "a resource after another": (
        {"kustomization.yaml": "resources: [fw.yaml, bomb.yaml]\n", "bomb.yaml": SECRET + "---\n" + LAUGHS},
        "bomb.yaml:",
    ),
    "a resource behind text that is not read": (
        {"kustomization.yaml": "resources: [fw.yaml, bomb.yaml]\n", "bomb.yaml": SECRET + "...\n" + LAUGHS},
        "bomb.yaml:",
    ),
    "a patch": ({"kustomization.yaml": "resources: [fw.yaml]\npatches: [{path: bomb.yaml}]\n", "bomb.yaml": LAUGHS}, "bomb.yaml:"),
    "a patch in place": (
        {"kustomization.yaml": "resources: [fw.yaml]\npatches:\n- patch: |-\n    " + LAUGHS.replace("\n", "\n    ") + "\n"},
        "kustomization.yaml, patches[0].patch:",
    ),
    "a patch that merges": (
        {"kustomization.yaml": "resources: [fw.yaml]\npatchesStrategicMerge:\n- |-\n    " + LAUGHS.replace("\n", "\n    ") + "\n"},
        "kustomization.yaml, patchesStrategicMerge[0]:",
    ),
    "a plugin": ({"kustomization.yaml": "resources: [fw.yaml]\ngenerators: [bomb.yaml]\n", "bomb.yaml": LAUGHS}, "bomb.yaml:"),
    "a plugin in place": (
        {"kustomization.yaml": "resources: [fw.yaml]\ngenerators:\n" + indented(LAUGHS)},
        "kustomization.yaml, generators[0]:",
    ),
    "a definition": ({"kustomization.yaml": "resources: [fw.yaml]\ncrds: [bomb.yaml]\n", "bomb.yaml": LAUGHS}, "bomb.yaml:"),
    "a schema": ({"kustomization.yaml": "resources: [fw.yaml]\nopenapi: {path: bomb.yaml}\n", "bomb.yaml": LAUGHS}, "bomb.yaml:"),
    "the values of a chart": ({"Chart.yaml": CHART, "values.yaml": LAUGHS}, "values.yaml:"),
    "the metadata of a chart": ({"Chart.yaml": CHART + LAUGHS}, "Chart.yaml:"),
    "the values of a chart in it": (
        {"Chart.yaml": CHART, "charts/b/Chart.yaml": CHART, "charts/b/values.yaml": LAUGHS},
        "charts/b/values.yaml:",
    ),
    "a definition in a chart": ({"Chart.yaml": CHART, "crds/a.yaml": LAUGHS}, "crds/a.yaml:"),
    "more values": ({"Chart.yaml": CHART, "bomb.txt": LAUGHS}, "bomb.txt:"),
    "values that are read a thousand times": (
        {"Chart.yaml": CHART, "large.yaml": "a: [" + "b," * 200_000 + "]\n"},
        "as often as it is named",
    ),
    "a circle": ({"kustomization.yaml": "resources: [deep]\n", "deep/kustomization.yaml": "resources: [..]\n"}, "in a circle"),
    "a file that is read a thousand times": (
        {"kustomization.yaml": "configMapGenerator:\n- name: a\n  files: [" + "a=large," * 1_000 + "]\n", "large": "x" * 100_000},
        "a file counts as often as it is referred to",
    ),
    "folders that double": (
        {
            "kustomization.yaml": "resources: [a0, b0]\n",
            **{
                f"{side}{level}/kustomization.yaml": f"namePrefix: {side}\nresources: [../a{level + 1}, ../b{level + 1}]\n"
                for level in range(20)
                for side in "ab"
            },
            "a20/kustomization.yaml": "resources: [../fw.yaml]\n",
            "b20/kustomization.yaml": "resources: [../fw.yaml]\n",
        },
        "a file counts as often as it is referred to",
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_a_renderer_sees_it(app: Path, name: str) -> None:
    files, says = BOMBS[name]
    for path, text in files.items():
        (app / path).parent.mkdir(parents=True, exist_ok=True)
        (app / path).write_text(text)
    named = {"more values": ["bomb.txt"], "values that are read a thousand times": ["large.yaml"] * 1_000}
    parameters = [{"name": "values-files", "array": named[name]}] if name in named else None
    started = time.process_time()
    answer = inside("generate", app, {**environment("app", parameters), "PATH": "/nonexistent"})
    refused(answer, says)
    assert len(answer.said) < 1_000
    assert time.process_time() - started < 5
