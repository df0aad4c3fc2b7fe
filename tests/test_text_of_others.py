"""Names, values and arguments of others in everything that is printed: nothing acts on a terminal, on a runner of CI, or in a comment.

Whoever writes a file can waive the errors of its names, so that any text can be a name.
"""

from __future__ import annotations

import html.parser
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fcompile.diff.markdown import environment
from fcompile.diff.quoted import code
from fcompile.emit import yaml
from fcompile.load import values
from fcompile.model.names import PAUSE_ANNOTATION
from tests.diff.frameworks import framework, role, spec
from tests.laws import run

ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
COMMAND = re.compile(r"^\s*::error::x|##(?:\[|vso\[|teamcity\[)", re.MULTILINE)
EVIL = "\x1b[31m\u202e\n::error::x##vso[a]<img src=x onerror=alert(1)>[a](http://evil.example)@everyone`|</summary>**b** www.evil.example "
WAIVED = "# fcompile: waive FC151 *: no reason\n# fcompile: waive FC152 *: no reason\n"


def written(folder: Path, side: str, image: str, tasks: int, count: int = 1) -> str:
    """A folder with Frameworks, and another object, that are evil all over."""
    (folder / side).mkdir()
    text = ""
    for number in range(count):
        pod = {"containers": [{"name": f"c{EVIL}", "image": image + EVIL}]}
        value = framework({**spec(role(f"r{EVIL}", retry=1, pod=pod)), "description": image + EVIL}, f"t{number}{EVIL}")
        value["spec"]["taskRoles"][0]["taskNumber"] = tasks + number
        value["metadata"] |= {"namespace": f"::error::x{EVIL}", "annotations": {EVIL: image}, "labels": {EVIL: image}}
        text += "---\n" + WAIVED + yaml.dump(value)
    other = {"apiVersion": "v1", "kind": f"::error::x{EVIL}", "metadata": {"name": EVIL}, "data": {EVIL: f"{image}{EVIL}"}}
    (folder / side / f"::error::x{EVIL[:20]}.yaml".replace("/", "")).write_text(text + "---\n" + yaml.dump(other), encoding="utf-8")
    return side


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return [written(tmp_path, "old", "a", 2), written(tmp_path, "new", "b", 3)]


@pytest.mark.parametrize("columns", ["40", "4000"])
@pytest.mark.parametrize(
    "command",
    [
        "validate",
        "validate --format github",
        "validate --format json",
        "validate --format sarif",
        "build -v --output name",
        "build -v --emit pods --output name",
        "diff",
        "diff --format markdown",
        "diff --format json",
    ],
)
def test_nothing_acts(sides: list[str], monkeypatch: pytest.MonkeyPatch, command: str, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    ran = run([*command.split(), *(sides if "diff" in command else ["new"])])
    assert ran.code in (0, 1), ran.err
    for text in (ran.out.decode(), ran.err):
        assert not ACTS.search(text), repr(text)
        assert not COMMAND.search(re.sub(r"^::(?:error|warning) file=", "", text, flags=re.MULTILINE)), text


@pytest.mark.parametrize("before", [" ", "\u3000", " \u3000 ", "\u2003"])
@pytest.mark.parametrize("command", ["validate", "diff", "diff --format markdown"])
def test_no_white_space_hides_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, before: str) -> None:
    """GitHub's runner takes away white space of any kind before it looks for `::` at the beginning of a line."""
    monkeypatch.chdir(tmp_path)
    name = f"{before}::error::x.yaml"
    for side, image in (("old", "a"), ("new", "b")):
        pod = {"containers": [{"name": "c", "image": "i", "command": [f"a\n{before}::error::x\n{image}\n"]}]}
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.yaml").write_text(yaml.dump(framework(spec(role(pod=pod)))), encoding="utf-8")
    (tmp_path / name).write_text("kind: Framework\napiVersion: frameworkcontroller.microsoft.com/v1\n", encoding="utf-8")
    ran = run([*command.split(), *(["old", "new"] if "diff" in command else [name])])
    assert ran.code == 1, ran.err
    assert "::error::x" in ran.out.decode()
    assert not COMMAND.search(ran.out.decode() + ran.err)


@pytest.mark.parametrize("format", ["json", "sarif", "junit"])
def test_formats_for_machines_hold_text_and_nothing_else(sides: list[str], format: str) -> None:
    text = run(["validate", "--format", format, *sides]).out.decode()
    assert not ACTS.search(text)
    assert not re.search(r"^\s*::", text, re.MULTILINE)
    if format == "junit":
        tree = ElementTree.fromstring(text)
        assert {element.tag for element in tree.iter()} <= {"testsuites", "testsuite", "testcase", "failure", "system-out"}
        return
    document = json.loads(text)
    if format == "sarif":
        # An unescaped `[text](address)` in a message is a link (SARIF 3.11.6).
        messages = [result["message"]["text"] for result in document["runs"][0]["results"]]
        assert messages
        assert not [message for message in messages if re.search(r"(?<!\\)\[[^\]\\]*\]\(", message)]


@pytest.mark.parametrize("format", ["text", "markdown", "html", "json"])
def test_a_name_of_a_role_in_a_reason_acts_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    """What the end of a pause does is said of a role by its name, in the middle of a sentence of ours."""
    monkeypatch.chdir(tmp_path)
    failed = {"state": "Completed", "attemptStatus": {"completionStatus": {"type": {"name": "Failed"}}}}
    ran_before = {"name": f"r{EVIL}", "taskStatuses": [failed, {"state": "AttemptRunning"}]}
    for side, marks in (("old", {PAUSE_ANNOTATION: "true"}), ("new", {})):
        value = framework(spec(role(f"r{EVIL}", frameworkAttemptCompletionPolicy={"minFailedTaskCount": 1})), annotations=marks)
        value["status"] = {"state": "AttemptRunning", "attemptStatus": {"taskRoleStatuses": [ran_before]}}
        (tmp_path / f"{side}.yaml").write_text(WAIVED + yaml.dump(value), encoding="utf-8")
    ran = run(["diff", "--format", format, "old.yaml", "new.yaml"])
    text = ran.out.decode()
    assert (ran.code, "that have ended meet" in text) == (1, True), ran.err
    assert not ACTS.search(text)
    assert not COMMAND.search(text)
    if format == "markdown":
        assert "@everyone" not in re.sub("(`+).*?\\1", "", text)


ARGUMENTS = (
    "build --set E new",
    "build --set w.E=1 new",
    "build --only E new",
    "build --emit E new",
    "build --output E new",
    "build --namespace E new",
    "validate --kubernetes-version E new",
    "validate --waivers E new",
    "validate --format E new",
    "validate --E new",
    "validate --jobs E new",
    "validate E",
    "E",
    "diff --git E",
    "diff --git HEAD E",
    "diff E E",
    "diff --format E new new",
    "diff --E",
    "rule E",
    "schema E",
    "crd --kubernetes-version E",
    "completion E",
    "explain E new",
    "explain E E",
    "argocd E",
    "argocd generate E",
    "argocd doctor E",
    "argocd doctor -p E .",
    "argocd bundle E",
)


@pytest.mark.parametrize("written", ARGUMENTS)
def test_an_argument_is_repeated_harmlessly(sides: list[str], written: str) -> None:
    ran = run([argument.replace("E", EVIL) for argument in written.split()])
    assert ran.code in (1, 2), ran.out
    for text in (ran.out.decode(), ran.err):
        assert not ACTS.search(text), repr(text)
        assert not COMMAND.search(text), text
        assert "Traceback" not in text


class _Page(html.parser.HTMLParser):
    """Collects the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)


def test_a_page_has_only_its_own_tags(sides: list[str]) -> None:
    page = run(["diff", "--format", "html", *sides]).out.decode()
    assert "img src=x" in page
    assert not ACTS.search(page)
    parser = _Page()
    parser.feed(page)
    assert not parser.tags & {"img", "a", "script"}


@pytest.mark.parametrize("count", [1, 8])
def test_a_comment_has_only_its_own_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Read as GitHub reads it: what is in code is text. With many Frameworks each is folded, and its title is HTML."""
    monkeypatch.chdir(tmp_path)
    sides = [written(tmp_path, "old", "a", 2, count), written(tmp_path, "new", "b", 3, count)]
    comment = run(["diff", "--format", "markdown", *sides]).out.decode()
    assert comment.count("img src=x") > 4
    outside = without_code(comment)
    assert set(re.findall(r"</?([a-z]+)", outside)) <= {"b", "br", "code", "details", "summary"}
    for markup in ("](", "http", "www.", "onerror"):
        assert markup not in outside
    assert not re.search(r"(?<!&#x27;)@everyone", re.sub(r"<code>.*?</code>", "", outside))
    for line in comment.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) == 4, line


JOB = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "train"},
    "spec": {
        "runPolicy": {"cleanPodPolicy": "None", EVIL: EVIL, "schedulingPolicy": {"queue": EVIL, EVIL: EVIL}},
        "elasticPolicy": {"rdzvBackend": EVIL, EVIL: EVIL},
        "pytorchReplicaSpecs": {
            "Worker": {
                "replicas": 1,
                EVIL: EVIL,
                "template": {"spec": {"containers": [{"name": "pytorch", "image": "busybox", EVIL: EVIL}]}},
            }
        },
    },
}
REFUSED = {**JOB, "metadata": {"name": EVIL, "namespace": EVIL, "annotations": {EVIL: EVIL}}}
UNCLEAN = {**JOB, "spec": {**JOB["spec"], "runPolicy": {"cleanPodPolicy": EVIL, EVIL: EVIL}}}  # type: ignore[dict-item]
NAMED = {**JOB, "metadata": {"name": "www.evil.example"}}


@pytest.mark.parametrize("job", [JOB, REFUSED, NAMED, UNCLEAN])
@pytest.mark.parametrize("format", ["text", "markdown", "json"])
def test_a_report_of_a_conversion_has_only_its_own_markup(tmp_path: Path, job: dict[str, Any], format: str) -> None:
    pytest.importorskip("ruamel.yaml")
    (tmp_path / "job.yaml").write_text(yaml.dump(job), encoding="utf-8")
    verbose = [] if format == "json" else ["--verbose"]  # JSON has every field already.
    ran = run(["convert", *verbose, "--format", format, str(tmp_path / "job.yaml")])
    assert ran.code in (0, 1)
    assert "evil.example" in ran.err or job is UNCLEAN
    assert not ACTS.search(ran.err)
    assert not COMMAND.search(ran.err)
    assert [value["kind"] for value in values(ran.out)] == (["Framework"] if ran.code == 0 else [])
    if format == "markdown":
        outside = re.sub(r"<br>|</?(?:details|summary)>", "", without_code(ran.err))
        assert not re.search(r"(?<!\\)\]\(|://|www\.|<|@everyone", outside)


def test_what_a_template_forgets_to_quote_is_code() -> None:
    assert environment().from_string("{{ text }}").render(text=EVIL) == code(EVIL)


def without_code(text: str) -> str:
    """Markdown without blocks of code, spans of code, and HTML's own code, each as CommonMark ends it."""
    text = re.sub(r"^(`{3,})diff\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", text)
    return re.sub(r"<code>[^<]*</code>", "", text)
