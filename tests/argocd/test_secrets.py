"""Reports are shown to all who may see an Application: no word of a Secret is in them, however it is written."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from fcompile.commands.argocd.discreet import Hidden, hidden_lines
from fcompile.load import read, values
from tests.argocd.test_generate import app, generate, refused
from tests.test_cli import good

__all__ = ["app"]

SECRETS = (
    'kind: "\\x53ecret"',
    'kind: "Sec\\\n  ret"',
    "kind: !!str Secret",
    "kind: !!binary U2VjcmV0",
    "kind: 'Secret'",
    "? kind\n: Secret",
    '"ki\\x6ed": Secret',
    "kind: >-\n  Secret",
    "kind: &a Secret",
    "kind: secret",
    "# kind: Framework\nkind: Secret",
    "kind: Secret\nother: |\n  kind: Framework",
    "",
)
BROKEN = (
    "stringData: {password: hunter2\nb: c\n",
    "stringData:\n  password: hunter2\n  hunter2\n  a: b\n",
    "stringData:\n  password: hunter2\n  password: hunter2\n",
    "stringData:\n  hunter2: 1\n  hunter2: 2\n",
    "stringData:\n  password: !!int hunter2\n",
    "stringData:\n  password: !!binary hunter2\n",
    "stringData:\n  password: *hunter2\n",
    "stringData:\n  password: hunter2: a\n",
    "stringData:\n\tpassword: hunter2\n",
    "stringData:\n  password: 'hunter2\n",
    "stringData:\n  password: [hunter2:\n",
    "stringData:\n  hunter2: .inf\n",
    "stringData: {password: @hunter2}\n",
    "data: a\n--- hunter2\n",
)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("kind", SECRETS)
def test_no_word_of_a_secret_is_shown(app: Path, kind: str, broken: str) -> None:
    """Neither its line nor, in the message, what is wrong in it."""
    for text in (f"apiVersion: v1\n{kind}\n{broken}", f"apiVersion: v1\n{broken}{kind}\n"):
        (app / "secret.yaml").write_text(f"{good('first')}---\n{text}---\n{good('last')}")
        answer = generate(app)
        refused(answer, "secret.yaml:")
        assert "hunter2" not in answer.said


def test_a_broken_framework_is_shown(app: Path) -> None:
    (app / "train.yaml").write_text(SECRET_BEFORE + "---\n" + good().replace("image: busybox", "image: 'busybox"))
    refused(generate(app), "train.yaml:19:20: error[FC005] the string that begins with ' here", "image: 'busybox")


SECRET_BEFORE = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: hunter2}\n"


def test_a_secret_on_the_same_line_is_not_shown(app: Path) -> None:
    framework = values(good().encode())[0]
    framework["spec"]["taskRoles"][0]["x"] = 1
    secret = values(SECRET_BEFORE.encode())[0]
    for text in (
        json.dumps(secret) + json.dumps(framework),
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [framework, secret]}),
        "# YAML\n" + json.dumps({"apiVersion": "v1", "kind": "List", "items": [framework, {**secret, "kind": "Secret"}]}),
    ):
        (app / "train.yaml").write_text(text.replace('"Secret"', '"\\u0053ecret"'))
        answer = generate(app)
        refused(answer, "error[FC101]")
        assert "hunter2" not in answer.said


@pytest.mark.parametrize("kind", ["List", "ConfigMap"])
def test_a_secret_beside_a_framework_that_nobody_reads_is_not_shown(app: Path, kind: str) -> None:
    framework, secret = (values(text.encode())[0] for text in (good(), SECRET_BEFORE))
    inner = {"apiVersion": "v1", "kind": kind, "items": [secret, framework]}
    for value in (inner | {"kind": "ConfigMap"}, {"apiVersion": "v1", "kind": "List", "items": [inner]}):
        (app / "train.yaml").write_text(json.dumps(value))
        answer = generate(app)
        refused(answer, "error[FC164]")
        assert "hunter2" not in answer.said


def test_a_secret_in_a_list_of_secrets_is_not_shown() -> None:
    secret = {key: value for key, value in values(SECRET_BEFORE.encode())[0].items() if key not in ("apiVersion", "kind")}
    listed = json.dumps({"apiVersion": "v1", "kind": "SecretList", "items": [secret]})
    assert _hidden(listed).secrets == ((1, 1),)


def _hidden(text: str) -> Hidden:
    return pickle.loads(pickle.dumps(hidden_lines(list(read(text.encode(), "a.yaml", with_duplicates=True)))))  # type: ignore[no-any-return]


def test_the_lines_that_are_hidden() -> None:
    """They are known where a text is read, and go from there to where it is reported, maybe in another process."""
    assert _hidden(good()) == Hidden()
    assert _hidden(f"{SECRET_BEFORE}---\n{good()}") == Hidden(((1, 4),), ((1, 4),))
    secrets, unread = _hidden(f"{SECRET_BEFORE}---\n{good()}---\na: [\n---\n{good()}")
    last = good().count("\n") + 5
    assert secrets == ((1, 4),)
    assert (1, 4) in unread
    assert [first <= last + 2 <= end for first, end in unread].count(True) == 1
    assert not any(first <= line <= end for first, end in unread for line in range(6, last + 1))


def test_of_very_many_secrets_little_is_kept() -> None:
    many = f"{good('first')}---\n" + "---\n".join(f"kind: {kind}\na: b\n" for _ in range(1_001) for kind in ("Secret", "ConfigMap"))
    first = good("first").count("\n") + 2
    assert _hidden(many).secrets == ((first, many.count("\n") - 3),)
