"""The commands as their users meet them: exit codes, streams, and what is said when something is wrong."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fcompile import __version__, cli
from fcompile.cli import main
from fcompile.load import values
from tests.laws import run
from tests.pseudo_terminal import interruptible

GOOD = """\
apiVersion: frameworkcontroller.microsoft.com/v1
kind: Framework
metadata: {name: NAME}
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
SERVICE = "# keep this comment\napiVersion: v1\nkind: Service\nmetadata:\n  name: web  # and this one\nspec: {ports: [{port: 80}]}\n"

Capture = pytest.CaptureFixture[str]


def good(name: str = "train") -> str:
    return GOOD.replace("NAME", name)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fcompile", *arguments]


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fcompile {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Usage: fcompile [OPTIONS] COMMAND"),
        (["frobnicate"], "No such command 'frobnicate'. There are validate, build"),
        (["examples"], "No such command 'examples', but a folder: write `fcompile validate examples`"),
        (["README.md"], "No such command 'README.md', but a file: write `fcompile validate README.md`"),
        (
            ["build", "--emit", "frameworks", "--only", "w", "x"],
            "--only: it chooses Pods, and frameworks prints none: add `pods`, or leave it out",
        ),
        (["status", "hello"], "No such command 'status': `kubectl get frameworks` shows it\n"),
        (["help", "build"], "No such command 'help': write `fcompile build --help`"),
        (["help"], "No such command 'help': write `fcompile --help`"),
        (["version"], "No such command 'version': write `fcompile --version`"),
        (["validate", "-o", "json", "x"], "No such option '-o': `--format json`"),
        (["validate", "-ojson", "x"], "No such option '-o': `--format json`"),
        (["validate", "--output=json", "x"], "No such option '--output': `--format json`"),
        (["diff", "-o", "html", "x", "y"], "No such option '-o': `--format html`"),
        (["explain", "-o", "yaml", "x"], "No such option '-o': `--format text|json`"),
        (
            ["convert", "-o", "yaml", "x"],
            "No such option '-o': YAML is what it prints: leave it out, or write `--to FOLDER` for a file for each file",
        ),
        (["convert", "-o", "out", "x"], "No such option '-o': `--to out`"),
        (["validate", "-f", "hello.yaml"], "No such option '-f': files are named without it: `fcompile validate hello.yaml`"),
        (["validate", "--frobnicate", "x"], "No such option '--frobnicate'"),
        (["lint", "x"], "No such command 'lint': write `fcompile validate`\n"),
        (["template", "x"], "No such command 'template': write `fcompile build`\n"),
        (["apply", "-f", "x"], "No such command 'apply': apply what was compiled: `fcompile build PATH | kubectl apply -f -`\n"),
        (["run", "x"], "No such command 'run': write `fcontroller demo`\n"),
        (["doctor"], "No such command 'doctor': it is one of `fcompile argocd`\n"),
        (["-V"], "No such option '-V': `--version`\n"),
        (["validate", "-V", "x"], "No such option '-V'.\n"),
        (["validate", "-R", "x"], "No such option '-R': folders are read with their subfolders: leave it out\n"),
        (["validate", "--recursive", "x"], "No such option '--recursive': folders are read with their subfolders: leave it out\n"),
        (["validate", "--quiet", "x"], "No such option '--quiet': send the output to /dev/null and look at the exit code\n"),
        (["build", "--output-dir", "out", "x"], "No such option '--output-dir': `--to FOLDER`\n"),
        (["build", "--ouput", "yaml", "x"], "No such option '--ouput'.\n"),
        (["build", "--dry-run=client", "x"], "No such option '--dry-run': it changes nothing in a cluster: leave it out\n"),
        (["build", "-k", "x"], "No such option '-k': build it first: `kubectl kustomize FOLDER | fcompile … -`\n"),
        (["rule", "--list"], "No such option '--list': `--all`\n"),
        (["crd", "--dry-run"], "No such option '--dry-run'.\n"),
        (["diff", "--cached"], "'--cached': the index is not compared; `--git HEAD` compares the working tree with the last commit\n"),
        (["crd", "--kube-version", "1.30"], "No such option '--kube-version': `--kubernetes-version VERSION`\n"),
        (["rule", "FC101", "--all"], "a code or `--all`, not both"),
        (["validate", "--namespace=", "x"], "--namespace"),
        (
            ["explain", "README.md", "train-worker-0"],
            "README.md is a file: the Pod comes first: `fcompile explain train-worker-0 README.md`",
        ),
        (["explain", "pod/train-nobody-0", "-"], "has no role `nobody`"),
        (["build", "--set", "worker.replicas=3", "-"], "has no field `replicas`; did you mean `taskNumber`?"),
        (["build", "--set", "worker.task.pod.spec.containers[hallo].image=x", "-"], "has no item `hallo`; it has [main]"),
        (["validate"], "PATH"),
        (["validate", "--format", "html", "x"], "'html' is not one of 'text', 'json'"),
        (["validate", "--kubernetes-version", "1.24", "x"], "1.25 to 1.37"),
        (["validate", "--kubernetes-version", "new", "x"], "1.25 to 1.37"),
        (["validate", "--namespace", "A_b", "x"], "--namespace A_b"),
        (["validate", "--waivers", "/no/such/file", "-"], "/no/such/file"),
        (["build", "--emit", "all", "x"], "`all` cannot be printed: there are frameworks, expected, configmaps, services, pods\n"),
        (["build", "--emit", "pod", "x"], "--emit pod: `pod` cannot be printed: did you mean `pods`?\n"),
        (["build", "--emit", "Pods, services", "x"], "`Pods` cannot be printed: did you mean `pods`?\n"),
        (["build", "--emit", "", "x"], "--emit: `` cannot be printed: there are frameworks, "),
        (["build", "--only", "train-worker-1", "-"], "--only: there is no role `train-worker-1`; did you mean train/worker[1]?\n"),
        (["build", "--only", "worker-0", "-"], "--only: there is no role `worker-0`; did you mean train/worker[0]?\n"),
        (["build", "--only", "worker-3", "-"], "--only: there is no role `worker-3`; there are: train/worker\n"),
        (["build", "--only", "other/worker", "-"], "--only: there is no role `other/worker`; there are: train/worker\n"),
        (
            ["build", "--set", "train.worker.taskNumber=2", "-"],
            "no such role: `train` is a Framework; write train/ROLE.FIELD; there are: train/worker\n",
        ),
        (["build", "--waivers", "", "-"], "--waivers: name a file\n"),
        (["validate", "--waivers=", "-"], "--waivers: name a file\n"),
        (["validate", ""], "a path is empty: is a variable not set? `.` is this folder\n"),
        (["explain", "train-worker-0", ""], "a path is empty: is a variable not set? `.` is this folder\n"),
        (["validate", "https://example.com/a.yaml"], "nothing is fetched: `curl -fsSL URL | fcompile … -` reads it from stdin\n"),
        (["rule", "101"], "there is no rule `101`; did you mean FC101?\n"),
        (["rule", ""], "a code is empty: is a variable not set?\n"),
        (["argocd", "generate", __file__], ".py: this is a file: name the folder of the application\n"),
        (["argocd", "discover", __file__], ".py: this is a file: name the folder of the application\n"),
        (["argocd", "doctor", __file__], ".py: this is a file: name the folder of the application\n"),
        (["argocd", "bundle", "--to", __file__], ".py is a file, not a folder: choose another path\n"),
        (["build", "-o", "xml", "x"], "write --format yaml, --format json, --format name or --to FOLDER"),
        (["build", "--only", "a[b]", "x"], "role[index]"),
        (["build", "--set", "x", "-"], "role.field=value"),
        (["build", "--set", "nobody.taskNumber=1", "-"], "no such role; there are: train/worker"),
        (["build", "--only", "nobody", "-"], "no role `nobody`"),
        (["build", "--only", "worker[3]", "-"], "3 tasks"),
    ],
)
def test_wrong_use(arguments: list[str], says: str) -> None:
    done = run(arguments, good().encode())
    assert done.code == 2
    assert done.out == b""
    assert says in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "train-worker-0", "-"], "has no role `worker`; it has none"),
        (["build", "--only", "worker", "-"], "there is no role `worker`; there are: none"),
    ],
)
def test_a_role_of_a_framework_without_roles(arguments: list[str], says: str) -> None:
    """The list of them ended with its colon."""
    done = run(
        arguments, b"apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {name: train}\nspec: {taskRoles: []}\n"
    )
    assert (done.code, done.out, says in done.err) == (2, b"", True), done.err


def test_an_empty_folder(tmp_path: Path, capsys: Capture) -> None:
    assert main(["validate", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "no .yaml, .yml or .json file to be read" in out
    assert "except hidden ones and what `.fcompileignore` names" in out
    assert out.endswith("\n\nFound 1 error.\n")


def test_no_framework_is_fine_for_validate_and_wrong_for_build(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    assert main(["validate", str(tmp_path)]) == 0
    assert "No Framework found" in capsys.readouterr().out
    assert main(["build", str(tmp_path)]) == 2
    assert "no Framework found" in capsys.readouterr().err


def test_one_error_and_nothing_is_printed(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.yaml").write_text(good("a"))
    (tmp_path / "b.yaml").write_text(good("b").replace("image:", "imag:"))
    assert main(["build", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "b.yaml:14:13: error[FC101]" in captured.err


def test_strict_takes_warnings_for_errors() -> None:
    data = good().replace("          restartPolicy: Never\n", "").encode()
    assert run(["validate", "-"], data).code == 0
    assert run(["validate", "--strict", "-"], data).code == 1
    assert run(["build", "-"], data).code == 0
    assert run(["build", "--strict", "-"], data).code == 1


@pytest.mark.parametrize("command", [["validate"], ["validate", "--format", "json"], ["build"], ["explain", "train-worker-0"]])
def test_an_exit_code_that_only_strict_makes_is_explained(command: list[str]) -> None:
    """The report says `warning`, and a pipeline that failed showed no error."""
    data = good().replace("          restartPolicy: Never\n", "").encode()
    said = "fcompile: --strict: warnings count as errors\n"
    assert run([*command, "--strict", "-"], data).err.endswith(said)
    assert said not in run([*command, "-"], data).err
    assert said not in run([*command, "--strict", "-"], data.replace(b"image:", b"imag:")).err
    assert said not in run([*command, "--strict", "-"], good().encode()).err


def test_strict_fails_in_reports_too() -> None:
    """Whoever goes by the report, as Jenkins does, saw that all is well."""
    data = good().replace("          restartPolicy: Never\n", "").encode()
    loose, strict = (run(["validate", *option, "--format", "junit", "-"], data) for option in ([], ["--strict"]))
    assert (loose.code, strict.code) == (0, 1)
    assert b'failures="0"' in loose.out
    assert b"<failure" not in loose.out
    assert b'failures="1"' in strict.out
    assert b"<failure" in strict.out
    assert run(["validate", "--strict", "--format", "github", "-"], data).out.startswith(b"::error ")
    assert run(["validate", "--format", "github", "-"], data).out.startswith(b"::warning ")


def test_the_same_framework_twice_is_reported_with_both_places(tmp_path: Path, capsys: Capture) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(good())
    assert main(["validate", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "b.yaml:3:18: error[FC501]" in out
    assert "a.yaml:3:18: the first one" in out


def test_an_assumed_namespace_is_said() -> None:
    done = run(["build", "-"], good().encode())
    assert "using `default`" in done.err
    assert values(done.out)[0]["metadata"]["namespace"] == "default"
    done = run(["build", "-n", "team", "-"], good().encode())
    assert done.err == ""
    assert values(done.out)[0]["metadata"]["namespace"] == "team"


def test_other_documents_pass_with_their_comments() -> None:
    done = run(["build", "-n", "x", "-"], f"{SERVICE}---\n{good()}".encode())
    assert done.code == 0
    assert SERVICE.encode() in done.out
    assert [value["kind"] for value in values(done.out)] == ["Service", "Framework"]


def test_what_kubectl_get_prints_is_input() -> None:
    (framework,) = values(good().encode())
    framework["metadata"] |= {"uid": "u", "resourceVersion": "7", "managedFields": [{}], "creationTimestamp": "2026-01-01T00:00:00Z"}
    framework["status"] = {"state": "Completed"}
    listed = {"apiVersion": "v1", "kind": "List", "items": [framework]}
    done = run(["build", "-n", "x", "-"], json.dumps(listed).encode())
    assert done.code == 0
    assert done.out == run(["build", "-n", "x", "-"], good().encode()).out


def test_output_formats(tmp_path: Path) -> None:
    data = good().encode()
    assert run(["build", "-n", "x", "--emit", "expected", "-o", "name", "-"], data).out.decode().split() == [
        "configmap/train-attempt",
        "pod/train-worker-0",
        "pod/train-worker-1",
        "pod/train-worker-2",
    ]
    as_yaml = run(["build", "-n", "x", "--emit", "expected", "-"], data).out
    assert as_yaml.startswith(b"# What will run, for review")
    assert json.loads(run(["build", "-n", "x", "--emit", "expected", "-o", "json", "-"], data).out)["items"] == values(as_yaml)
    (only,) = values(run(["build", "-n", "x", "--only", "worker[1]", "-"], data).out)
    assert only["metadata"]["name"] == "train-worker-1"
    folder = tmp_path / "out"
    assert run(["build", "-n", "x", "--emit", "framework,pods", "-o", f"dir={folder}", "-"], data).code == 0
    names = ["framework_x_train.yaml", "pod_x_train-worker-0.yaml", "pod_x_train-worker-1.yaml", "pod_x_train-worker-2.yaml"]
    assert sorted(path.name for path in folder.glob("*.yaml")) == names
    (folder / "mine.txt").write_text("precious")
    assert run(["build", "-n", "x", "-o", f"dir={folder}", "-"], data).code == 2
    assert (folder / "mine.txt").read_text() == "precious"


def test_set_changes_what_will_run() -> None:
    done = run(
        [
            "build",
            "-n",
            "x",
            "--emit",
            "pods",
            "--set",
            "worker.taskNumber=1",
            "--set",
            "worker.task.pod.spec.containers[main].image=1.10",
            "-",
        ],
        good().encode(),
    )
    (pod,) = values(done.out)
    assert pod["spec"]["containers"][0]["image"] == "1.10"


def test_many_files_give_the_same_report_however_many_processes(tmp_path: Path) -> None:
    for number in range(80):
        text = good(f"f{number}")
        (tmp_path / f"{number:03}.yaml").write_text(text if number % 7 else text.replace("image:", "imag:"))
    reports = [run(["validate", "-j", jobs, str(tmp_path)]) for jobs in ("1", "4")]
    assert reports[0] == reports[1]
    assert reports[0].code == 1
    assert b"Found 12 errors in 12 of 80 files." in reports[0].out


def test_nobody_reads_on(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(good().replace("taskNumber: 3", "taskNumber: 10000"))
    process = subprocess.Popen(command("build", "-n", "x", "--emit", "expected", str(path)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("words", [["build", "-n", "x"], ["validate"]])
def test_nobody_reads_what_is_said_on_stderr_as_in_a_pipe_of_both(tmp_path: Path, words: list[str]) -> None:
    """Python tried once more at its end to write it, and made that 120."""
    path = tmp_path / "bad.yaml"
    path.write_text(good().replace("image:", "imag:"))
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as gone:
        done = subprocess.run(command(*words, str(path)), stdout=gone, stderr=gone, timeout=60, check=False)
    assert done.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full on this system")
def test_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(good())
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command("build", "-n", "x", str(path)), stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupted(tmp_path: Path, jobs: str) -> None:
    """Ctrl-C goes to the whole group of processes."""
    for number in range(100):
        (tmp_path / f"{number:04}.yaml").write_text(good(f"f{number}"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    arguments = interruptible(*command("validate", "-j", jobs, str(tmp_path), str(pipe)))
    with (
        subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process,
        open(pipe, "wb"),  # returns once the command has opened it too
    ):
        # Python loses a signal that comes right before it begins to wait, so it has to wait already.
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        try:
            _, stderr = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 130
    assert stderr == b"fcompile: interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_odd_names_of_files(tmp_path: Path) -> None:
    names = ["with space.yaml", "new\nline.yaml", "-dash.yaml", "ünï.yml"]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(good(f"f{number}").replace("image:", "imag:"))
    done = run(["validate", str(tmp_path)])
    assert done.code == 1
    assert b"in 4 of 4 files" in done.out
    assert b"new\\nline.yaml:14:13" in done.out


def test_an_ascii_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(good().replace("name: main", "name: 'mäin'"))
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command("validate", str(path)), env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert b"m\\xe4in" in done.stdout


def test_deep_folders_and_a_loop(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(60):
        folder = folder / "d"
        folder.mkdir()
    (folder / "a.yaml").write_text(good())
    (folder / "loop").symlink_to(tmp_path)
    assert b"1 Framework in 1 file" in run(["validate", str(tmp_path)]).out


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "nope.yaml"],
        ["validate", "--format", "json", "nope.yaml"],
        ["validate", "nope/", "a.yaml"],
        ["validate", "a.yaml/nope"],
        ["build", "nope.yaml"],
        ["explain", "train-worker-0", "nope.yaml"],
        ["diff", "a.yaml", "nope.yaml"],
        ["diff", "--live", "nope.yaml"],
    ],
)
def test_a_path_to_nothing(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """It is wrong use, and one line says so: there is nothing to report on."""
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(good())
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith(f": no such file or folder in {tmp_path}\n")
    assert captured.err.count("\n") == 1


def test_several_paths_to_nothing(tmp_path: Path, capsys: Capture) -> None:
    assert main(["validate", *(str(tmp_path / name) for name in "abcde")]) == 2
    assert capsys.readouterr().err == f"fcompile: {tmp_path}/a, {tmp_path}/b, {tmp_path}/c and 2 more: no such file or folder\n"


def test_only_commands_know_the_names_of_options() -> None:
    """Elsewhere a setting is named as the caller knows it. `check` may tell to give a version, and what kubectl is to be told."""
    package = Path(cli.__file__).parent
    known = re.compile(
        r"(?<![\w-])--(?:set|only|emit|namespace|kubernetes-version|waivers|strict|force|jobs|live|git|format|output|to|color)\b"
    )
    found = {
        f"{path.relative_to(package)}: {node.value}"
        for part in ("default.py", "expand.py", "errors.py", "diff", "emit", "explain", "load", "lower", "model", "pipeline", "schema")
        for path in ([package / part] if part.endswith(".py") else (package / part).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and known.search(node.value)
    }
    assert found == set()


def test_a_framework_in_utf_16_is_an_error_and_not_nothing(tmp_path: Path) -> None:
    """What `>` of PowerShell writes."""
    (tmp_path / "train.yaml").write_bytes(good("train").replace("\n", "\r\n").encode("utf-16"))
    done = run(["validate", str(tmp_path / "train.yaml")])
    assert (done.code, b"FC012" in done.out) == (1, True)


@pytest.mark.parametrize("index", ["9" * 5000, "\u0661", "1234567890"])
def test_an_index_that_no_task_has_is_refused(index: str, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(good("train"))
    done = run(["build", "--only", f"worker[{index}]", str(tmp_path / "train.yaml")])
    assert (done.code, done.out) == (2, b"")
    assert "role[index]" in done.err


def test_a_port_that_is_no_mapping_is_told_once(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(good().replace("taskNumber: 3", "service: {ports: [80, 22, {}]}"), encoding="utf-8")
    main(["validate", str(path)])
    out = capsys.readouterr().out
    assert out.count("FC111") == 2
    assert out.count("FC511") == 1
    assert "None" not in out


@pytest.mark.parametrize(("kind", "called"), [("kind: Deployment\n", "the kind Deployment"), ("", "an object")])
def test_task_roles_of_another_kind_lead_to_framework(tmp_path: Path, capsys: Capture, kind: str, called: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(f"apiVersion: apps/v1\n{kind}metadata: {{name: a}}\nspec: {{taskRoles: []}}\n", encoding="utf-8")
    hint = f"{path} holds {called} with task roles: only `kind: Framework` has any\n"
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr() == ("No Framework found in 1 file.\n", f"fcompile: {hint}")
    assert main(["build", str(path)]) == 2
    assert capsys.readouterr().err.endswith(f"fcompile: no Framework found in the input: {hint}")
    path.write_text(path.read_text() + "---\n" + good(), encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ('command: ["run --rank {{FC_TASK_INDEX}}"]', 'write `["run", "--rank", "{{FC_TASK_INDEX}}"]`'),
        ('command: [sh, -c, run, "{{FC_TASK_INDEX}}"]', "write it as one item, `run {{FC_TASK_INDEX}}`"),
        ('args: "--rank {{FC_TASK_INDEX}}"', "not the string `--rank {{FC_TASK_INDEX}}`: write each item on a line of its own after `- `"),
        ('env: ["RANK={{FC_TASK_INDEX}}"]', "not the string `RANK={{FC_TASK_INDEX}}`"),
    ],
)
def test_what_to_write_is_for_all_tasks(command: str, advice: str) -> None:
    """It had 0 in the place of the index: whoever followed it gave all tasks the rank of the first."""
    data = good().replace("image: busybox", f"image: busybox\n            {command}")
    out = run(["validate", "--format", "json", "-"], data.encode()).out
    assert [one["message"].endswith(advice) for one in json.loads(out)["problems"]] == [True]


@pytest.mark.parametrize("kind", ["Framework", "PyTorchJob"])
def test_what_is_skipped_leads_nowhere_else(tmp_path: Path, capsys: Capture, kind: str) -> None:
    """A patch of a Framework `holds the kind Framework with task roles: only Framework has any`."""
    job = f"apiVersion: kubeflow.org/v1\nkind: {kind}\nmetadata: {{name: a}}\n"
    (tmp_path / "patch.yaml").write_text(good() if kind == "Framework" else job, encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text("resources: [../base]\npatches: [{path: patch.yaml}]\n", encoding="utf-8")
    assert main(["validate", str(tmp_path)]) == 0
    assert " holds " not in capsys.readouterr().err
    assert main(["build", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("fcompile: no Framework found in the input\n")


def test_a_job_of_kubeflow_leads_to_convert(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "pj.yaml"
    path.write_text("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a}\n", encoding="utf-8")
    hint = f"{path} holds the kind PyTorchJob: `fcompile convert {path}` makes a Framework of it\n"
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr() == ("No Framework found in 1 file.\n", f"fcompile: {hint}")
    assert main(["build", str(path)]) == 2
    assert capsys.readouterr().err == f"fcompile: no Framework found in the input: {hint}"
    odd = path.rename(tmp_path / "$(touch x).yaml")
    main(["validate", str(odd)])
    assert f"`fcompile convert '{odd}'` makes a Framework" in capsys.readouterr().err
    path.write_text("kind: PyTorchJob\n", encoding="utf-8")
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().err == ""
