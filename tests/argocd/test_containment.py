"""What somebody can make of the plugin who may only write to a repository: read nothing outside of it, reach no network, exhaust nothing.

Each attack is tried twice: on the plugin without any kustomize, which must refuse it by itself, and where it matters on kustomize
alone, so that it is known to be one.
"""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.argocd.server import Answer, environment, inside
from tests.argocd.tools import tool
from tests.test_cli import good

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: others}\nstringData: {password: hunter2}\n"
BUILTIN = "apiVersion: builtin\nkind: {}\nmetadata: {{name: a}}\n{}\n"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The folder of an application in a repository, beside which there is another folder with a Secret."""
    outside, folder = tmp_path / "other", tmp_path / "repository" / "app"
    for one in (outside, folder, folder / "deep" / "er"):
        one.mkdir(parents=True)
    (outside / "secret.yaml").write_text(SECRET)
    (outside / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    (outside / "component").mkdir()
    (outside / "component" / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [../secret.yaml]\n"
    )
    (folder / "fw.yaml").write_text(good())
    return folder


@pytest.fixture
def web() -> Iterator[tuple[str, list[str]]]:
    """A server on this machine, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SECRET.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def alone(app: Path) -> str:
    """What kustomize prints when nobody stands before it."""
    done = subprocess.run([tool("kustomize"), "build", "."], cwd=app, capture_output=True, text=True, check=False)
    return done.stdout


def generate(app: Path, **variables: str) -> Answer:
    """What the plugin says when there is no kustomize: what it refuses by itself, it refuses here."""
    return inside("generate", app, {**environment("app", **variables), "PATH": "/nonexistent"})


def refused(answer: Answer, *words: str) -> None:
    assert (answer.code, answer.out) == (1, ""), answer.said
    assert [word for word in words if word not in answer.said] == [], answer.said
    assert "in the PATH" not in answer.said
    assert "Traceback" not in answer.said
    assert "hunter2" not in answer.said


# Go's JSON matches keys whatever their case, and by Unicode's folding of it: the long s and the sign for kelvin are letters too.
MISSPELT = (
    "Resources: [fw.yaml, ../../other]",
    "RESOURCES: [fw.yaml, ../../other]",
    "reſources: [fw.yaml, ../../other]",
    '{"Resources": ["fw.yaml", "../../other"]}',
    '"\\x52esources": [fw.yaml, ../../other]',
    "? Resources\n: [fw.yaml, ../../other]",
    "a: &a {Resources: [fw.yaml, ../../other]}\n<<: *a",
    "Bases: [../../other]",
    "Components: [../../other/component]\nresources: [fw.yaml]",
    "resources: [fw.yaml]\nResources: [../../other]",
    "---\nResources: [fw.yaml, ../../other]",
    "ConfigMapGenerator: [{name: a, files: [../../other/secret.yaml]}]",
    "configMapGenerator: [{name: a, Files: [../../other/secret.yaml]}]",
    "configMapGenerator: [{name: a, Envs: [../../other/secret.yaml]}]",
    "secretGenerator: [{name: a, ENV: ../../other/secret.yaml}]",
    "patches: [{Path: ../../other/secret.yaml}]",
    "Patches: [{path: ../../other/secret.yaml}]",
    "patchesJson6902: [{Path: ../../other/secret.yaml, target: {version: v1, kind: Secret, name: a}}]",
    "replacements: [{Path: ../../other/secret.yaml}]",
    "openapi: {Path: ../../other/secret.yaml}\nresources: [fw.yaml]",
    "CRDs: [../../other/secret.yaml]\nresources: [fw.yaml]",
    "Configurations: [../../other/secret.yaml]\nresources: [fw.yaml]",
    "Generators: [../../other/secret.yaml]\nresources: [fw.yaml]",
    "Transformers: [../../other/secret.yaml]\nresources: [fw.yaml]",
    "Validators: [../../other/secret.yaml]\nresources: [fw.yaml]",
    "patches: [{path: fw.yaml, Target: {kind: Framework}}]",
    "images: [{name: busybox, NewTag: '2'}]\nresources: [fw.yaml]",
    "labels: [{Pairs: {a: b}}]\nresources: [fw.yaml]",
)


@pytest.mark.parametrize("written", MISSPELT)
def test_a_key_must_be_spelt_exactly(app: Path, written: str) -> None:
    (app / "kustomization.yaml").write_text(written + "\n")
    refused(generate(app), "kustomization.yaml:")


@pytest.mark.parametrize("written", MISSPELT[:6])
def test_kustomize_alone_takes_other_spellings(app: Path, written: str) -> None:
    (app / "kustomization.yaml").write_text(written + "\n")
    assert "hunter2" in alone(app)


@pytest.mark.parametrize("written", MISSPELT[:3])
@pytest.mark.parametrize(("field", "kind"), [("resources", "Kustomization"), ("components", "Component")])
def test_a_key_must_be_spelt_exactly_in_what_is_referred_to(app: Path, written: str, field: str, kind: str) -> None:
    version = "v1alpha1" if kind == "Component" else "v1beta1"
    (app / "kustomization.yaml").write_text(f"namespace: a\n{field}: [deep]\n")
    (app / "deep" / "kustomization.yaml").write_text(
        f"apiVersion: kustomize.config.k8s.io/{version}\nkind: {kind}\n{written}\n".replace("../../", "../../../")
    )
    refused(generate(app), "deep/kustomization.yaml:3:1: ")


def test_an_unknown_key_is_refused_with_the_one_that_is_meant(app: Path) -> None:
    (app / "kustomization.yaml").write_text("resources: [fw.yaml]\nnewField: [a]\n")
    refused(generate(app), "kustomization.yaml:2:1: ", "`newField`")
    (app / "kustomization.yaml").write_text("resourcess: [fw.yaml]\n")
    refused(generate(app), "kustomization.yaml:1:1: ", "did you mean `resources`?")
    (app / "kustomization.yaml").write_text("resources: [fw.yaml]\nnamespace: a\nNamePrefix: b\n")
    refused(generate(app), "kustomization.yaml:3:1: ", "write `namePrefix`")


def test_spellings_that_are_documented_are_fine(app: Path) -> None:
    (app / "kustomization.yaml").write_text(
        "resources: [fw.yaml]\nvars:\n- name: A\n  objref: {kind: Framework, name: train, "
        "apiVersion: frameworkcontroller.microsoft.com/v1}\n  fieldref: {fieldpath: metadata.name}\n"
    )
    answer = inside("generate", app, {**environment("app"), "PATH": os.path.dirname(tool("kustomize"))})
    assert answer.code == 0, answer.said


PATHS = (
    # kustomize cleans a path as text before it looks at it: what does not exist, or is a link, is taken out with its `..`.
    '"../../other/x\\n/.."',
    "nowhere/../../../other",
    "to-deeper/../../../other",
    "fw.yaml/../../../other",
    "deep/../../../other/../other",
    "./../..//other",
)


@pytest.mark.parametrize("written", PATHS)
@pytest.mark.parametrize("field", ["resources", "bases", "components"])
def test_a_path_is_understood_as_kustomize_does(app: Path, field: str, written: str) -> None:
    (app / "to-deeper").symlink_to("deep/er")
    (app / "kustomization.yaml").write_text(f"{field}: [{written}]\n")
    refused(generate(app))


@pytest.mark.parametrize("written", PATHS)
def test_kustomize_alone_leaves_the_repository(app: Path, written: str) -> None:
    (app / "to-deeper").symlink_to("deep/er")
    (app / "kustomization.yaml").write_text(f"resources: [{written}]\n")
    assert "hunter2" in alone(app)


@pytest.mark.parametrize(("ignored", "shown"), [(None, True), ("*.git\n", True), ("\t.git/\r\n", False), (".git\n!a\n", False)])
def test_a_chart_is_not_read_with_the_history_of_the_repository(app: Path, ignored: str | None, shown: bool) -> None:
    (app / "Chart.yaml").write_text("apiVersion: v2\nname: a\nversion: 0.1.0\n")
    (app / ".git").mkdir()
    (app / ".git" / "config").write_text("url = https://user:hunter2@example.com/\n")
    if ignored is not None:
        (app / ".helmignore").write_bytes(ignored.encode())
    answer = generate(app)
    assert answer.code != 0  # There is no Helm.
    assert ("write `.git/` into .helmignore" in answer.said) == shown


def test_the_history_of_the_repository_is_not_read(app: Path) -> None:
    git = app / ".git"
    git.mkdir()
    (git / "config").write_text("password = hunter2\n")
    for written in ("configMapGenerator: [{name: a, files: [.git/config]}]", "resources: [.git]", "generators: [.git/config]"):
        (app / "kustomization.yaml").write_text(written + "\n")
        refused(generate(app))


CHART = "apiVersion: v2\nname: chart\nversion: 0.1.0\n"


def test_a_chart_shows_nothing_of_the_history(app: Path) -> None:
    """Every file that Helm reads with a chart is there for templates."""
    git = app.parent / ".git"
    git.mkdir()
    (git / "config").write_text("password = hunter2\n")
    (app / "Chart.yaml").write_text(CHART)
    link = app / "link"
    link.symlink_to("..")
    said = "link/.git: Helm would read it with the chart, for templates to show: write `.git/` into .helmignore"
    refused(generate(app), said)
    (app / ".helmignore").write_text("!.git/\n# .git/\na/.git/\n")
    refused(generate(app), said)
    for target in ".git", ".git/config", "../other", "../other/secret.yaml":
        link.unlink()
        link.symlink_to("../between")
        (app.parent / "between").mkdir(exist_ok=True)
        further = app.parent / "between" / "further"
        further.unlink(missing_ok=True)
        further.symlink_to(f"../{target}")
        (app / ".helmignore").write_text(".git/\n")
        refused(generate(app), "link/further: leads out of the repository")


def test_helm_alone_shows_the_history(app: Path) -> None:
    helm = tool("helm")
    (app / ".git").mkdir()
    (app / ".git" / "config").write_text("password = hunter2\n")
    (app / "Chart.yaml").write_text(CHART)
    (app / "templates").mkdir()
    (app / "templates" / "a.yaml").write_text('a: {{ .Files.Get ".git/config" | quote }}\n')
    for ignored, there in (("!.gitignore\n", False), ("a\n", True), ("  .git/ \r\n", False), ("!.git\n.git\n", False)):
        (app / ".helmignore").write_text(ignored)
        done = subprocess.run([helm, "template", "."], cwd=app, capture_output=True, check=False, text=True)
        assert ("hunter2" in done.stdout) is there, (ignored, done)


@pytest.mark.parametrize(
    "text",
    [
        "resources: [fw.yaml]\n---\nresources: [../../other]\n",
        "resources: [fw.yaml]\n...\nresources: [../../other]\n",
        "- resources: [fw.yaml]\n",
        "resources: ../../other\n",
        "resources: [{path: ../../other}]\n",
        "resources: [12]\n",
        "configMapGenerator: {name: a, files: [../../other/secret.yaml]}\n",
        "configMapGenerator: [{name: a, files: ['a=b=../../other/secret.yaml']}]\n",
        "patches: [../../other/secret.yaml]\n",
        "helmCharts: [{name: a, valuesFile: ../../other/secret.yaml}]\nresources: [fw.yaml]\n",
        "helmChartInflationGenerator: [{chartName: a, values: ../../other/secret.yaml, helmBin: /bin/sh}]\n",
        "helmGlobals: {chartHome: ../../other}\nresources: [fw.yaml]\n",
        "resources: [fw.yaml]\nresources: [../../other]\n",
        "resources: ['bob@example.com:owner/repository']\n",
        "resources: ['HTTP://127.0.0.1/a']\n",
        "resources: ['git::https://example.com/a']\n",
        "resources: ['file:///etc']\n",
        "resources: ['GitHub.com/owner/repository']\n",
    ],
)
def test_what_is_no_kustomization_as_we_know_it_is_refused(app: Path, text: str) -> None:
    for name in ("bob@example.com:owner", "HTTP:", "git::https:", "file:", "GitHub.com"):
        (app / name / "repository").mkdir(parents=True)
    (app / "kustomization.yaml").write_text(text)
    refused(generate(app), "kustomization.yaml")


def test_a_message_does_not_repeat_what_is_long(app: Path) -> None:
    for written in (
        "resources: [" + "a" * 100_000 + "]",
        '"' + "b" * 900 + '": 1',
        "resources: [fw.yaml]\npatchesStrategicMerge: ['" + "c: " * 9_000 + "']",
    ):
        (app / "kustomization.yaml").write_text(written + "\n")
        answer = generate(app)
        refused(answer, "kustomization.yaml")
        assert len(answer.said) < 800


def test_two_kustomizations_in_a_folder_are_refused(app: Path) -> None:
    (app / "kustomization.yaml").write_text("resources: [fw.yaml]\n")
    (app / "Kustomization").write_text("resources: [../../other]\n")
    refused(generate(app), "Kustomization")


CONFIGS = (
    BUILTIN.format("ConfigMapGenerator", "files: ['x=URL']"),
    BUILTIN.format("ConfigMapGenerator", "Files: ['x=URL']"),
    BUILTIN.format("ConfigMapGenerator", "envs: ['URL']"),
    BUILTIN.format("ConfigMapGenerator", "env: 'URL'"),
    BUILTIN.format("SecretGenerator", "files: ['x=URL']"),
    BUILTIN.format("PatchTransformer", "path: URL"),
    BUILTIN.format("PatchTransformer", "PATH: URL"),
    BUILTIN.format("PatchJson6902Transformer", "path: URL\ntarget: {kind: Framework}"),
    BUILTIN.format("PatchStrategicMergeTransformer", "paths: ['URL']"),
    BUILTIN.format("PatchStrategicMergeTransformer", "paths: ['URL: a']"),
    BUILTIN.format("PatchStrategicMergeTransformer", "paths: ['{URL: a}']"),
    BUILTIN.format("ReplacementTransformer", "replacements: [{path: 'URL'}]"),
    BUILTIN.format("ValueAddTransformer", "targetFilePath: URL"),
    BUILTIN.format("HelmChartInflationGenerator", "name: a\nvaluesFile: URL"),
    BUILTIN.format("SomethingNew", "path: URL"),
    "apiVersion: example.com/v1\nkind: Plugin\nmetadata: {name: a}\npath: URL\n",
    "apiVersion: v1\nkind: List\nitems:\n- " + BUILTIN.format("ConfigMapGenerator", "files: ['x=URL']").replace("\n", "\n  "),
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- "
    + BUILTIN.format("ConfigMapGenerator", "files: ['x=URL']").replace("\n", "\n  "),
    BUILTIN.format("ConfigMapGenerator", "literals: [a=b]") + "---\n" + BUILTIN.format("ConfigMapGenerator", "files: ['x=URL']"),
    BUILTIN.format("ConfigMapGenerator", "literals: [a=b]") + "...\n" + BUILTIN.format("ConfigMapGenerator", "files: ['x=URL']"),
    '{"apiVersion": "builtin", "kind": "ConfigMapGenerator", "metadata": {"name": "a"}, "files": ["x=URL"]}',
)
FIELDS = ("generators", "transformers", "validators")


def indented(text: str) -> str:
    return "- |-\n" + "".join(f"  {line}\n" for line in text.splitlines())


@pytest.mark.parametrize("target", ["http://127.0.0.1:1/a", "../../other/secret.yaml"])
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("field", FIELDS)
def test_what_a_built_in_plugin_reads_is_followed(app: Path, field: str, config: str, target: str) -> None:
    config = config.replace("URL", target)
    (app / "config.yaml").write_text(config)
    (app / "deep" / "kustomization.yaml").write_text("resources: [../config.yaml]\n")
    for written in (indented(config), "- config.yaml\n", "- deep\n"):
        (app / "kustomization.yaml").write_text(f"resources: [fw.yaml]\n{field}:\n{written}")
        refused(generate(app))


PLUGIN = BUILTIN.format("ConfigMapGenerator", "literals: [a=b]")
READ_OTHERWISE = (
    # kubectl divides a stream at every line that begins with `---`; kustomize looks for more, and at the end of a text for less.
    PLUGIN + "---#a: b\rfiles: ['x=http://127.0.0.1:1/']",
    # To YAML a break within quotes is a blank, together with the indentation after it; to JSON it is a character like others.
    json.dumps({"apiVersion": "builtin", "kind": "PatchTransformer", "patch": "a:\n  b: c\n\x85\x85  d: e\n"}, ensure_ascii=False),
    PLUGIN + "# \ufeff\n",
    PLUGIN + "# a\rfiles: []\n",
)


@pytest.mark.parametrize("text", READ_OTHERWISE)
def test_what_kustomize_would_read_in_another_way_is_refused(app: Path, text: str) -> None:
    (app / "config.yaml").write_bytes(text.encode())
    for written in ("resources: [fw.yaml]\ngenerators: [config.yaml]\n", json.dumps({"resources": ["fw.yaml"], "generators": [text]})):
        (app / "kustomization.yaml").write_text(written)
        refused(generate(app), "do not agree on where this line ends")


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029"])
def test_an_indentation_that_yaml_takes_away_hides_nothing(app: Path, web: tuple[str, list[str]], mark: str) -> None:
    url, asked = web
    hidden = PLUGIN.replace("{name: a}", f"\n  name: a\n{mark}{mark}  files: ['x={url}/hidden']")
    text = json.dumps({"resources": ["fw.yaml"], "generators": [hidden]}, ensure_ascii=False)
    (app / "kustomization.yaml").write_bytes(text.encode())
    refused(generate(app), "kustomization.yaml:1:")
    alone(app)
    assert asked == ["/hidden"]


def test_a_separator_of_kubectl_alone_hides_nothing(app: Path, web: tuple[str, list[str]]) -> None:
    url, asked = web
    (app / "config.yaml").write_bytes(f"{PLUGIN}---#a: b\rfiles: ['x={url}/hidden']".encode())
    (app / "kustomization.yaml").write_text("resources: [fw.yaml]\ngenerators: [config.yaml]\n")
    refused(generate(app), "config.yaml:5:1: ")
    alone(app)
    assert asked == ["/hidden"]


def test_lines_of_windows_and_separators_with_comments_are_fine(app: Path) -> None:
    (app / "config.yaml").write_bytes(PLUGIN.replace("\n", "\r\n").encode() + b"--- \t # a comment\r\n")
    (app / "kustomization.yaml").write_bytes(b"\xef\xbb\xbf---\r\nresources: [fw.yaml]\r\ngenerators: [config.yaml]\r\n")
    answer = inside("generate", app, {**environment("app"), "PATH": os.path.dirname(tool("kustomize"))})
    assert answer.code == 0, answer.said


@pytest.mark.parametrize(
    "changes", ["patches: [{patch: '[{op: replace, path: /files, value: [x=URL]}]', target: {name: a}}]", "namePrefix: a", "bases: [er]"]
)
def test_a_folder_of_plugins_must_not_change_them(app: Path, changes: str) -> None:
    """What they read is known from their files; a patch could say otherwise."""
    (app / "deep" / "er" / "kustomization.yaml").write_text("resources: []\n")
    (app / "deep" / "config.yaml").write_text(BUILTIN.format("ConfigMapGenerator", "literals: [a=b]"))
    (app / "deep" / "kustomization.yaml").write_text(f"resources: [config.yaml]\n{changes}\n")
    (app / "kustomization.yaml").write_text("resources: [fw.yaml]\ngenerators: [deep]\n")
    refused(generate(app), "deep/kustomization.yaml:2:1: ")


@pytest.mark.parametrize(
    "written",
    [
        "generators:\n" + indented(BUILTIN.format("ConfigMapGenerator", "files: ['x=URL/inline']")),
        "generators: [config.yaml]",
        "Resources: [URL/resource]",
        "resources: [URL/resource]",
        "patches: [{Path: URL/patch}]",
        "patches: [{path: URL/patch}]",
        "resources: [fw.yaml]\npatchesStrategicMerge: ['URL/patch: a']",
        "configMapGenerator: [{name: a, files: ['x=URL/file']}]",
        "transformers:\n" + indented(BUILTIN.format("ValueAddTransformer", "targetFilePath: URL/target")),
    ],
)
def test_nothing_is_fetched(app: Path, web: tuple[str, list[str]], written: str) -> None:
    url, asked = web
    (app / "config.yaml").write_text(BUILTIN.format("ConfigMapGenerator", f"files: ['x={url}/file']"))
    (app / "kustomization.yaml").write_text(written.replace("URL", url) + "\n")
    env = environment("app")
    assert inside("generate", app, {**env, "PATH": os.path.dirname(tool("kustomize"))}).code == 1
    assert asked == []
    alone(app)
    assert asked != []


def test_built_in_plugins_work(app: Path) -> None:
    """In files, in folders of files, in lists, and written in place."""
    (app / "deep" / "notes.txt").write_text("hello")
    (app / "deep" / "config.yaml").write_text(BUILTIN.format("ConfigMapGenerator", "files: [deep/notes.txt]"))
    (app / "deep" / "more.yaml").write_text(
        "apiVersion: v1\nkind: List\nitems:\n- "
        + BUILTIN.format("SecretGenerator", "literals: [a=b]").replace("\n", "\n  ").rstrip()
        + "\n"
    )
    (app / "deep" / "kustomization.yaml").write_text("resources: [config.yaml, more.yaml]\n")
    (app / "prefix.yaml").write_text(
        BUILTIN.format("PrefixTransformer", "prefix: lab\nfieldSpecs: [{path: metadata/name}]").replace("name: a", "name: b")
    )
    (app / "kustomization.yaml").write_text(
        "resources: [fw.yaml]\ngenerators: [deep]\ntransformers:\n- prefix.yaml\n"
        + indented(BUILTIN.format("NamespaceTransformer", "fieldSpecs: [{path: metadata/namespace, create: true}]"))
    )
    answer = inside("generate", app, {**environment("app"), "PATH": os.path.dirname(tool("kustomize"))})
    assert answer.code == 0, answer.said
    kinds = sorted((value["kind"], value["metadata"]["name"].partition("-")[0]) for value in answer.objects)
    assert kinds == [("ConfigMap", "laba"), ("Framework", "labtrain"), ("Secret", "laba")]


@pytest.mark.parametrize("broken", ["stringData: {password: hunter2", "stringData:\n  hunter2: 1\n  hunter2: 2", "a: !!int hunter2"])
def test_no_word_of_a_broken_secret_is_shown(app: Path, broken: str) -> None:
    (app / "secret.yaml").write_text(f"kind: Secret\n{broken}\n")
    (app / "kustomization.yaml").write_text("resources: [fw.yaml, secret.yaml]\n")
    refused(generate(app), "secret.yaml:")
    (app / "kustomization.yaml").write_text(f"secretGenerator:\n- name: a\n  {broken}\n")
    refused(generate(app), "kustomization.yaml:")


def test_kustomize_repeats_no_secret(app: Path) -> None:
    (app / "secret.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {namespace: hunter2}\n")
    (app / "kustomization.yaml").write_text("resources: [fw.yaml, secret.yaml]\n")
    answer = inside("generate", app, {**environment("app"), "PATH": os.path.dirname(tool("kustomize"))})
    refused(answer, "kustomize build failed with exit code 1; there are Secrets here")


PASSWORD = "{apiVersion: v1, kind: Secret, metadata: {namespace: a}, stringData: {p: hunter2}}"


@pytest.mark.parametrize(
    "written",
    [
        {"generators": ["{apiVersion: builtin, kind: SecretGenerator, metadata: {name: a}, literals: [hunter2]}"]},
        {"patches": [{"patch": PASSWORD}]},
        {"patches": [{"patch": "[{op: test, path: /stringData/p, value: hunter2}]", "target": {"kind": "Secret"}, "path": "a"}]},
        {"transformers": [f"{{apiVersion: builtin, kind: PatchTransformer, metadata: {{name: a}}, patch: '{PASSWORD}'}}"]},
        {"transformers": ["transformer.yaml"]},
        {"resources": ["fw.yaml", "nested.yaml"]},
    ],
)
def test_kustomize_repeats_no_secret_that_is_written_in_a_field(app: Path, written: dict[str, object]) -> None:
    (app / "a").write_text("{}")
    (app / "transformer.yaml").write_text(BUILTIN.format("PatchTransformer", f"patch: '{PASSWORD}'"))
    (app / "nested.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: List, items: [{PASSWORD}]}}\n")
    (app / "kustomization.yaml").write_text(json.dumps({"resources": ["fw.yaml"], **written}))
    answer = inside("generate", app, {**environment("app"), "PATH": os.path.dirname(tool("kustomize"))})
    refused(answer, "kustomize build failed with exit code 1; there are Secrets here")


@pytest.mark.parametrize("comment", ["waive FC307: x", "waive FC307", "nonsense", "waive FC9999: x"])
@pytest.mark.parametrize("rest", ["", "---\na: [\n"])
def test_a_waiver_in_a_secret_shows_nothing_of_it(app: Path, comment: str, rest: str) -> None:
    (app / "secret.yaml").write_text(
        f"{SECRET.replace('{password: hunter2}', '')}\n  p: hunter2 # fcompile: {comment}\n---\n{good('other')}{rest}"
    )
    answer = generate(app)
    assert "secret.yaml:" in answer.said
    assert "hunter2" not in answer.said


def test_a_waiver_in_a_secret_that_cannot_be_read_shows_nothing_of_it(app: Path) -> None:
    broken = "kind: Secret\na: [\np: hunter2 # fcompile: waive FC307\n"
    (app / "secret.yaml").write_text(f"{good('other')}---\n{broken}")
    answer = generate(app)
    assert "secret.yaml:" in answer.said
    assert "hunter2" not in answer.said


def test_a_problem_across_files_shows_nothing_of_a_secret(app: Path) -> None:
    value = yaml.safe_load(good())
    framework = json.dumps({"metadata": value.pop("metadata"), **value})  # The name is what the line is shown around.
    secret = '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"p": "hunter2"}}'
    (app / "z.yaml").write_text(f'[]\n---\n{{"apiVersion": "v1", "kind": "List", "items": [{secret}, {framework}]}}\n')
    answer = generate(app)
    assert "FC501" in answer.said
    assert "hunter2" not in answer.said
