"""Settings: the config file with the places of its mistakes, the environment, flags, and what wins."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from kubernetes import client

from fcontroller.cli import main
from fcontroller.config.file import read_file
from fcontroller.config.settings import SETTINGS, Config
from fcontroller.decide.context import SNAPSHOTS

LEAST, MOST = (f"{end}RetryDelaySecForTransientConflictFailed" for end in ("Min", "Max"))
ALL_OF_UPSTREAM = """\
kubeApiServerAddress: http://127.0.0.1:8080
kubeConfigFilePath: ''
kubeClientQps: 200.5
kubeClientBurst: 300
workerNumber: 500
largeFrameworkCompression: true
crdEstablishedCheckIntervalSec: 1
crdEstablishedCheckTimeoutSec: 60
objectLocalCacheCreationTimeoutSec: 60
frameworkCompletedRetainSec: 10
frameworkMinRetryDelaySecForTransientConflictFailed: 0
frameworkMaxRetryDelaySecForTransientConflictFailed: 5
logObjectSnapshot:
  framework: {onFrameworkRetry: false, onFrameworkDeletion: false}
  task: {onTaskRetry: false, onTaskDeletion: false}
  pod: {onPodDeletion: true}
podFailureSpec:
- code: 221
  podPatterns: [{nameRegex: a}]
"""


@pytest.fixture(autouse=True)
def no_settings_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable or "FCONTROLLER_", raising=False)


def mistakes(text: str) -> list[str]:
    problems = read_file(text.encode(), "c.yaml").problems
    return [f"{problem.span.line}:{problem.span.column}: {problem.message}" for problem in problems if problem.severity == "error"]


def check(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["run", "--check", *words]) == 0
    return capsys.readouterr().out


def test_every_setting_says_what_it_is_for() -> None:
    assert all(setting.about != "None" for setting in SETTINGS)
    assert {when for when in SNAPSHOTS if when != "OnPodDeletion"} == Config().snapshots


def test_every_key_of_upstreams_is_taken() -> None:
    file = read_file(ALL_OF_UPSTREAM.encode(), "c.yaml")
    assert {problem.severity for problem in file.problems} == {"note"}
    assert {problem.field for problem in file.problems} == {setting.key for setting in SETTINGS if setting.field.deprecated}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leaseNam: x", "1:1: `leaseNam` is not a key here: did you mean `leaseName`?"),
        ("a: 1\nlogObjectSnapshot:\n  pods: {}", "3:3: `pods` is not a key here: did you mean `pod`?"),
        ("logObjectSnapshot: true", "1:20: this is not a mapping; its keys can be `framework`, `pod`, `task`"),
        ("- a", "1:1: this is not a mapping; its keys can be"),
        ("leaseSeconds: 0.5", "1:15: 0.5 is out of range: write a number from 1 to 3600 (`leaseSeconds`)"),
        ("leaseSeconds: .nan", "1:15: "),
        ("workerNumber: 0", "1:15: 0 is out of range: write a number from 1 on (`workerNumber`)"),
        ("frameworkCompletedRetainSec: '10'", '1:30: `"10"` is not a whole number (`frameworkCompletedRetainSec`)'),
        ("frameworkCompletedRetainSec: true", "1:30: `true` is not a whole number (`frameworkCompletedRetainSec`)"),
        ("enforceIntent: 1", "1:16: `1` is not true or false (`enforceIntent`)"),
        ("listen: 8080", "1:9: `8080` is not a string; write it in quotes (`listen`)"),
        ("listen: foo", '1:9: `"foo"` is not HOST:PORT, as 127.0.0.1:8080, or :PORT for all addresses; a port is at most 65535 (`listen`)'),
        ("listen: ':99999'", '1:9: `":99999"` is not HOST:PORT'),
        ("kubeApiServerAddress: localhost:8080", '1:23: `"localhost:8080"` is not a URL that begins with http:// or https://'),
        ("leaseNamespace: ''", '1:17: `""` is not the name of a namespace: '),
        ("leaseNamespace: a.b", '1:17: `"a.b"` is not the name of a namespace: at most 63 lower-case letters, digits and dashes'),
        (f"namespace: {'a' * 64}", '1:12: `"aaaaaaaaaa'),
        ("trackingLabel: a b", '1:16: `"a b"` is not the name of a label, as app.kubernetes.io/instance (`trackingLabel`)'),
        ("trackingLabel: a/b/c", '1:16: `"a/b/c"` is not the name of a label'),
        ("leaseName: ''", '1:12: `""` is not a name: '),
        ("logLevel: warn", '1:11: `"warn"` is not one of debug, info, warning, error (`logLevel`)'),
        (f"framework{LEAST}: 9\nframework{MOST}: 8", f"2:54: 8 is less than `framework{LEAST}`, 9; write a number from 9 on"),
        ("leaseName: ../pods/a", '1:12: `"../pods/a"` is not a name: lower-case letters, digits, dashes and dots (`leaseName`)'),
        ("podFailureSpec:\n- code: 0", "2:9: 0 is reserved"),
        ("podFailureSpec:\n- code: 5\n  podPattern: []", "3:3: `podPattern` is not a field here: did you mean `podPatterns`?"),
        ("a: [", "1:"),
        ("namespace: a\nnamespace: b", "2:1: "),
        ("namespace: a\n---\nnamespace: b", "3:1: a config file is one document; remove the others"),
    ],
)  # fmt: skip
def test_a_mistake_and_its_place(text: str, expected: str) -> None:
    found = mistakes(text)
    assert any(message.startswith(expected) for message in found), found


@pytest.mark.parametrize("text", ["", "# nothing\n", "namespace:\nlogObjectSnapshot:\npodFailureSpec: null\n"])
def test_what_is_empty_is_not_given(text: str) -> None:
    file = read_file(text.encode(), "c.yaml")
    assert (file.lines, file.problems) == ({}, [])
    assert Config.model_validate(file.content) == Config()


def test_flags_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("leaseName: file\nleaseNamespace: file\nnamespace: file\nenforceIntent: true\ndryRun: true\n")
    monkeypatch.setenv("FCONTROLLER_CONFIG", str(path))
    monkeypatch.setenv("FCONTROLLER_LEASE_NAMESPACE", "env")
    monkeypatch.setenv("FCONTROLLER_NAMESPACE", "env")
    monkeypatch.setenv("FCONTROLLER_DRY_RUN", "false")
    said = check(capsys, "--namespace", "flag", "--no-enforce-intent").splitlines()
    assert f"leaseName: file  # {path}:1" in said
    assert "leaseNamespace: env  # FCONTROLLER_LEASE_NAMESPACE" in said
    assert "namespace: flag  # --namespace" in said
    assert "enforceIntent: false  # --enforce-intent" in said
    assert "dryRun: false  # FCONTROLLER_DRY_RUN" in said
    assert "leaseSeconds: 15  # default" in said


def test_upstreams_variable_counts_when_nothing_else_is_given(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBE_APISERVER_ADDRESS", "http://a")
    assert "kubeApiServerAddress: http://a  # KUBE_APISERVER_ADDRESS" in check(capsys)
    assert "kubeApiServerAddress: http://b  # --kube-api-server-address" in check(capsys, "--kube-api-server-address", "http://b")


def test_what_check_prints_is_a_config_file_that_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(ALL_OF_UPSTREAM)
    printed = check(capsys, "--config", str(path), "--lease-seconds", "3.5")
    again = read_file(printed.encode(), "printed.yaml")
    assert again.problems == []
    config = Config.model_validate(again.content)
    assert config.log_object_snapshot.pod.on_pod_deletion is True
    assert config.lease_seconds == 3.5
    assert config.pod_failure_spec == [{"code": 221, "podPatterns": [{"nameRegex": "a"}]}]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--lease-seconds", "soon"], 'fcontroller: --lease-seconds: `"soon"` is not a number'),
        (["--lease-seconds", "0"], "fcontroller: --lease-seconds: 0 is out of range: write a number from 1 to 3600"),
        (
            ["--namespace", "a/b"],
            'fcontroller: --namespace: `"a/b"` is not the name of a namespace: at most 63 lower-case letters, digits and dashes',
        ),
        (
            ["--namespace", "a\udcff"],
            'fcontroller: --namespace: `"a\\xff"` is not the name of a namespace: at most 63 lower-case letters, digits and dashes',
        ),
        (["--config", "nowhere.yaml"], "fcontroller: nowhere.yaml: No such file or directory"),
        (
            ["--framework-min-retry-delay-sec-for-transient-conflict-failed", "1000"],
            "fcontroller: the shortest delay after a transient conflict, 1000 s, is longer than the longest, 900 s",
        ),
        (
            ["--require-digest", "--no-enforce-intent"],
            "fcontroller: enforceIntent is false (--enforce-intent), but requireDigest enforces what it requires (--require-digest)",
        ),
        (["--config", "/dev/zero"], "/dev/zero:1:1: error[FC011] the document is larger than 8 MiB: split it\n"),
        (["--kubeconfig", "nowhere"], "fcontroller: no kubeconfig: nowhere is not there (--kubeconfig)"),
    ],
)
def test_it_does_not_begin_with_a_mistake(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *words]) == 2
    assert capsys.readouterr().err.startswith(expected)


def test_a_mistake_in_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FCONTROLLER_ENFORCE_INTENT", "yes")
    assert main(["run"]) == 2
    assert capsys.readouterr().err == 'fcontroller: FCONTROLLER_ENFORCE_INTENT: `"yes"` is not true or false\n'


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        (
            "FCONTROLLER_REQUIRE_DIGETS",
            "fcontroller: FCONTROLLER_REQUIRE_DIGETS is not a setting: did you mean FCONTROLLER_REQUIRE_DIGEST?\n",
        ),
        ("FCONTROLLER_X", "fcontroller: FCONTROLLER_X is not a setting\n"),
    ],
)
def test_a_misspelt_variable_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, expected: str
) -> None:
    """It was ignored, so that what had not been reviewed ran."""
    monkeypatch.setenv(variable, "true")
    assert main(["run", "--check"]) == 2
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("name", ["FCONTROLLER", "FCONTROLLER_METRICS"])
def test_variables_of_a_service_of_that_name_are_no_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    ends = ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8080_TCP", "PORT_8080_TCP_ADDR", "PORT_8080_TCP_PROTO")
    for end in ends:
        monkeypatch.setenv(f"{name}_{end}", "tcp://10.0.0.1:8080")
    assert check(capsys)


def test_a_mistake_in_the_file_looks_as_those_of_validate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("namespace: a\nleaseNam: x\n")
    assert main(["run", "--config", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"{path}:2:1: error[config] `leaseNam` is not a key here: did you mean `leaseName`?\n"
        "  |\n2 | leaseNam: x\n  | ^^^^^^^^\n  = field: leaseNam\n\n"
    )


@pytest.mark.parametrize("address", ["", ":0", "8080", ":65535", "127.0.0.1:80", "[::1]:8080", "localhost:9090"])
def test_what_can_be_listened_to(address: str) -> None:
    assert Config.model_validate({"listen": address}).listen == address


@pytest.mark.parametrize("address", [":", ":65536", ":99999", "foo", "foo:", "localhost:abc", ":-1", "a b:80", "0.0.0.0:80:80", "::1:80"])
def test_what_cannot_be_listened_to_is_found_before_the_start(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--check", "--listen", address]) == 2
    assert f'fcontroller: --listen: `"{address}"` is not HOST:PORT' in capsys.readouterr().err


def test_a_manifest_is_no_config_file() -> None:
    assert mistakes("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {}\n") == [
        "2:7: this is a ConfigMap, not a config file: its keys are those of docs/operations.md"
    ]


def test_a_kubeconfig_that_is_of_no_use_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_first = client.Configuration()
    at_first.host = "http://localhost"  # As in versions of the library before 36.
    monkeypatch.setattr(client, "Configuration", lambda: copy.copy(at_first))
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBE_APISERVER_ADDRESS"):
        monkeypatch.delenv(variable, raising=False)
    empty, missing, nowhere = tmp_path / "empty.yaml", tmp_path / "missing.yaml", tmp_path / "nowhere.yaml"
    empty.write_text("")
    nowhere.write_text(
        "current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
        "clusters: [{name: a, cluster: {servr: 'https://127.0.0.1'}}]\nusers: [{name: a, user: {token: t}}]\n"
    )
    for arguments, says in (
        (["--kubeconfig", str(missing)], f"fcontroller: no kubeconfig: {missing} is not there (--kubeconfig)\n"),
        (["--kubeconfig", str(empty)], f"fcontroller: {empty}: Invalid kube-config. {empty} file is empty (--kubeconfig)\n"),
        (["--kubeconfig", str(nowhere)], f"fcontroller: {nowhere}: the cluster of its context has no `server` (--kubeconfig)\n"),
        (
            [],
            "fcontroller: no kubeconfig, and no cluster around this process (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not"
            " set, as they are in a Pod): name a kubeconfig with --kubeconfig or $KUBECONFIG\n",
        ),
    ):
        assert main(["run", "--listen=", *arguments]) == 2
        assert capsys.readouterr().err == says


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["status"], "No such command 'status': `kubectl get frameworks` shows it\n"),
        (["start"], "No such command 'start': write `fcontroller run`\n"),
        (["completion", "bash"], "No such command 'completion': `fcompile completion` is for both programs\n"),
        (["validate", "x"], "No such command 'validate': it is one of `fcompile`\n"),
        (["run", "-n", "ml"], "No such option '-n': `--namespace NAME`\n"),
        (["run", "--leader-elect"], "No such option '--leader-elect': replicas always elect one of them: leave it out\n"),
        (["demo", "--set", "a.b=c", "x"], "'--set': set it before: `fcompile build --set … PATH | fcontroller demo -`\n"),
    ],
)
def test_words_of_other_tools(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert says in capsys.readouterr().err
