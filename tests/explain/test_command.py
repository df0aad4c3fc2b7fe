"""`fcompile explain`: what it takes, and what it looks like."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from fcompile.cli import main
from fcompile.diagnostics.problem import field_path
from fcompile.explain.origins import leaves
from fcompile.explain.text import lines
from fcompile.load import values
from tests.diff.frameworks import framework, role, spec
from tests.test_cli import good

Capture = pytest.CaptureFixture[str]
Explain = Callable[..., tuple[int, str, str]]


@pytest.fixture
def explain(capsys: Capture) -> Explain:
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["explain", *arguments])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small Framework in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.yaml"
    path.write_text(json.dumps(framework(spec(role(count=12)))), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["resnetddp-worker-3"],
        ["resnetddp-worker-3.spec.containers[pytorch].env"],
        ["vision/resnetddp-worker-0.metadata", "--set", 'worker.task.pod.metadata.annotations["example.com/run"]={{FC_POD_NAME}}'],
        ["resnetddp-worker-3.spec.hostname", "--format", "json"],
    ],
    ids=["whole", "part", "set", "json"],
)
def test_of_an_example(
    arguments: list[str], repository: Path, monkeypatch: pytest.MonkeyPatch, explain: Explain, text_file: SnapshotAssertion
) -> None:
    monkeypatch.chdir(repository / "examples")
    code, out, err = explain(*arguments)
    assert (code, err) == (0, "")
    assert out == text_file


LIFETIME = """\
# activeDeadlineSeconds 86400: it is ended 86,400 s after the first attempt of the Framework began, with code -240: all attempts and the \
delays between them count (train.yaml:5:26)
# cleanPodPolicy Running: once it has finished and its task is not retried, it stays for its logs; if it runs at the end of the Framework, \
it is ended (train.yaml:6:19)
# ttlSecondsAfterFinished 3600: what is left of it goes 3,600 s after the end of the Framework (train.yaml:7:28)
"""


def test_what_the_framework_says_of_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, explain: Explain, repository: Path) -> None:
    """docs/explain.md shows it too. It is in no Pod, so that a field of one has none of it."""
    monkeypatch.chdir(tmp_path)
    own = "spec:\n  activeDeadlineSeconds: 86400\n  cleanPodPolicy: Running\n  ttlSecondsAfterFinished: 3600\n"
    path = tmp_path / "train.yaml"
    path.write_text(good().replace("spec:\n", own, 1))
    code, out, _ = explain("train-worker-0", "train.yaml")
    assert (code, out[out.index("# activeDeadline") :]) == (0, LIFETIME)
    assert LIFETIME in (repository / "docs" / "explain.md").read_text("utf-8")
    found = json.loads(explain("train-worker-0", "train.yaml", "--format", "json")[1])["lifetime"]
    assert [(one["source"], one["value"], one["line"]) for one in found] == [
        ("spec.activeDeadlineSeconds", 86400, 5),
        ("spec.cleanPodPolicy", "Running", 6),
        ("spec.ttlSecondsAfterFinished", 3600, 7),
    ]
    assert "# active" not in explain("train-worker-0.metadata", "train.yaml")[1]
    assert "lifetime" not in json.loads(explain("train-worker-0.metadata", "train.yaml", "--format", "json")[1])
    path.write_text(path.read_text().replace("Running", "All"))
    assert "# cleanPodPolicy All: it is deleted once it has finished (train.yaml:6:19)\n" in explain("train-worker-0", "train.yaml")[1]
    path.write_text(path.read_text().replace(": All", ': ""'))
    assert "# cleanPodPolicy" not in explain("train-worker-0", "train.yaml")[1]


@pytest.mark.usefixtures("train")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("train-worker-12", "role `worker` has 12 tasks"),
        ("train-worker-99999999999999999999", "train-worker-99999999999999999999"),
        ("train-ps-0", "its roles are: worker"),
        ("other-worker-0", "there is no Framework `other`"),
        ("ml/train-worker-0", "in the namespace `ml`"),
        ("train-worker", "{framework}-{role}-{index}"),
        ("train-worker-01", "{framework}-{role}-{index}"),
        ("train-worker-x", "{framework}-{role}-{index}"),
        ("", "{framework}-{role}-{index}"),
        ("train-worker-0.spec.image", "`spec` has no `image`; it has containers, restartPolicy"),
        ("train-worker-0.nothing", "the Pod has no `nothing`"),
        ("train-worker-0.spec.containers[1]", "it has [main]"),
        ("train-worker-0.spec.containers[main].image.x", "it has no parts"),
        ("train-worker-0.spec.containers[", "cannot read the field at `[`"),
    ],
)
def test_wrong_use(asked: str, said: str, explain: Explain) -> None:
    code, out, err = explain(asked, "train.yaml")
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.usefixtures("train")
def test_one_task_is_a_task(explain: Explain) -> None:
    _, _, err = explain("train-worker-1", "train.yaml", "--set", "worker.taskNumber=1")
    assert "role `worker` has 1 task; the last is `train-worker-0`" in err


@pytest.mark.parametrize("asked", ["train-worker-11.spec.containers[main].image", "default/train-worker-11.spec.containers[0].image"])
@pytest.mark.usefixtures("train")
def test_one_value(asked: str, explain: Explain) -> None:
    code, out, _ = explain(asked)
    assert code == 0
    first, second = out.splitlines()
    column = Path("train.yaml").read_text(encoding="utf-8").index('"a:1"') + 1
    assert (first, second) == ("# spec.containers[0].image", f"a:1  # train.yaml:1:{column}")


def test_errors_of_that_file_only(train: Path, explain: Explain) -> None:
    """Another file with errors does not stand in the way; errors of the Framework itself do."""
    (train.parent / "other.yaml").write_text("apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\n", encoding="utf-8")
    assert explain("train-worker-0")[0] == 0
    train.write_text(train.read_text(encoding="utf-8").replace('"image"', '"imagee"'), encoding="utf-8")
    code, out, err = explain("train-worker-0")
    assert (code, out) == (1, "")
    assert "FC101" in err


def test_two_namespaces(train: Path, explain: Explain) -> None:
    (train.parent / "other.yaml").write_text(json.dumps(framework(spec(role()), namespace="ml")), encoding="utf-8")
    code, _, err = explain("train-worker-0")
    assert (code, "default, ml" in err) == (2, True)
    code, out, _ = explain("--format", "json", "ml/train-worker-0.metadata.namespace")
    assert (code, json.loads(out)["values"][0]["value"]) == (0, "ml")


@pytest.mark.parametrize(
    "value",
    [
        {"a": "x", "b": {"c": ["x", "y\nz\n", {}], "d": []}, "e": [[1, 2], [{"f": None, "g": "  \n"}]]},
        {"x" * 1500: {"a": 1}, "b": {"y" * 1500: 2}},
        [],
        {},
        "text",
        "two\nlines\n",
        [["a"]],
    ],
)
def test_lines(value: object) -> None:
    """Every line of the YAML is there once, and each leaf begins in one."""
    from fcompile.emit.yaml import dump
    from fcompile.explain.origins import leaves

    found = list(lines(value))
    assert "".join(f"{line.text}\n" for line in found) == dump(value)
    assert [line.leaf for line in found if line.leaf is not None] == [path for path, _ in leaves(value)]


def test_what_build_passes_over_is_not_explained(train: Path, explain: Explain) -> None:
    (train.parent / "kustomization.yaml").write_text(f"patches:\n- path: {train.name}\n", encoding="utf-8")
    code, out, err = explain("train-worker-0")
    assert (code, out) == (2, "")
    assert f"skipped ./{train.name}: a kustomize patch" in err
    assert "there is no Framework `train`" in err


def test_a_role_to_set_is_one_of_this_framework(train: Path, explain: Explain) -> None:
    """In a file with others that have such a role too."""
    other = json.dumps(framework(spec(role()), name="other"))
    train.write_text(f"---\n{train.read_text(encoding='utf-8')}\n---\n{other}\n", encoding="utf-8")
    image = "worker.task.pod.spec.containers[main].image=b"
    code, out, err = explain("train-worker-0.spec.containers[main].image", "--set", image)
    assert (code, err) == (0, "")
    assert f"--set {image}" in out


def test_the_name_of_a_pod_of_kubeflow_is_nearly_ours(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pt-ddp-worker-0"]) == 2
    assert "{framework}-{role}-{index}: did you mean ptddp-worker-0?" in capsys.readouterr().err
    assert main(["explain", "pt-ddp-worker"]) == 2
    assert ", for example train-worker-0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("lab", ", for example lab-client-0\n"),
        ("lab-server", ", for example lab-server-0\n"),
        ("server[1]", ", for example lab-server-0\n"),
        ("other", ", for example train-worker-0\n"),
        ("FC101", "fcompile: FC101 is not a Pod: `fcompile rule FC101` explains a diagnostic\n"),
        ("fc101", "fcompile: fc101 is not a Pod: `fcompile rule FC101` explains a diagnostic\n"),
    ],
)
def test_what_names_no_pod_is_answered_with_one_of_the_input(asked: str, says: str, explain: Explain, train: Path) -> None:
    train.write_text(json.dumps(framework(spec(role("client"), role("server")), "lab")), encoding="utf-8")
    code, out, said = explain(asked)
    assert (code, out) == (2, "")
    assert said.endswith(says)


def test_a_pod_is_the_one_that_build_gives(train: Path, explain: Explain, capsys: Capture) -> None:
    """What the API server stores otherwise is shown as it stores it."""
    pod = {
        "terminationGracePeriodSeconds": -1,
        "serviceAccount": "old",
        "serviceAccountName": "new",
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"a": "b"}},
                "matchLabelKeys": ["FC_TASKROLE_NAME"],
            }
        ],
        "containers": [{"name": "main", "image": "a:1", "imagePullPolicy": ""}],
    }
    train.write_text(json.dumps(framework(spec(role(count=1, pod=pod)))), encoding="utf-8")
    assert main(["build", "--emit", "pods", "train.yaml"]) == 0
    (built,) = [one for one in values(capsys.readouterr().out.encode()) if one["kind"] == "Pod"]
    code, out, _ = explain("train-worker-0", "--format", "json")
    shown = {one["field"]: one["value"] for one in json.loads(out)["values"]}
    assert (code, shown) == (0, {field_path(path): value for path, value in leaves(built)})
    assert shown["spec.terminationGracePeriodSeconds"] == 1
    assert "the API server adds the labels that matchLabelKeys" in out
