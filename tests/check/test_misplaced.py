"""Words of other tools, and what stands in the wrong place: the right field is named, and nothing that only follows from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fcompile.check.misplaced import _LACKING, _SYNONYMS
from fcompile.schema.pod_schemas import NEWEST
from fcompile.schema.types import types
from tests import laws

HEAD = "apiVersion: frameworkcontroller.microsoft.com/v1\nkind: Framework\nmetadata: {name: x, namespace: d}\n"
POD = 'pod: {spec: {restartPolicy: Never, containers: [{name: a, image: "b:1"}]}}'


def problems(text: str) -> list[tuple[str, int, str, str]]:
    """The code, line, message and fix of each problem."""
    out = laws.run(["validate", "--format", "json", "-"], text.encode()).out
    found = json.loads(out)["problems"]
    return [(one["code"], one["line"], one["message"], (one.get("fix") or {}).get("text", "")) for one in found]


def role(text: str) -> list[tuple[str, str]]:
    """The messages and fixes of a role with one more line."""
    found = problems(f"{HEAD}spec:\n  taskRoles:\n  - name: w\n{text}")
    assert {code for code, *_ in found} <= {"FC101"}
    return [(message, fix) for _, _, message, fix in found]


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (f"    replicas: 3\n    task: {{{POD}}}\n", "`taskRoles[0]` has no field `replicas`: did you mean `taskNumber`?", "taskNumber"),
        (
            f"    parallelism: 3\n    task: {{{POD}}}\n",
            "`taskRoles[0]` has no field `parallelism`: did you mean `taskNumber`?",
            "taskNumber",
        ),
        (f"    backoffLimit: 3\n    task: {{{POD}}}\n", "… `backoffLimit`: write it as `task.retryPolicy.maxRetryCount`", ""),
        (f"    task: {{backoffLimit: 3, {POD}}}\n", "`task` has no field `backoffLimit`: write it as `retryPolicy.maxRetryCount`", ""),
        (f"    template: {{{POD[6:-1]}}}\n", "`taskRoles[0]` has no field `template`: write it as `task.pod`", ""),
        (f"    task: {{{POD.replace('pod', 'template')}}}\n", "`task` has no field `template`: did you mean `pod`?", "pod"),
        ("    image: b\n", "`taskRoles[0]` has no field `image`: write it as `task.pod.spec.containers[].image`", ""),
        (
            f"    task: {{{POD.replace('image:', 'ports: [{port: 80}], image:')}}}\n",
            "`ports[0]` has no field `port`: did you mean `containerPort`?",
            "containerPort",
        ),
        ("    task: {pod: {image: b}}\n", "`pod` has no field `image`: write it as `spec.containers[].image`", ""),
        (
            "    task: {pod: {spec: {restartPolicy: Never, image: b}}}\n",
            "`spec` has no field `image`: write it as `containers[].image`",
            "",
        ),
        (
            f"    task: {{{POD.replace('image:', 'envs: [{name: A}], image:')}}}\n",
            "`containers[0]` has no field `envs`: did you mean `env`?",
            "env",
        ),
        (
            f"    task: {{{POD.replace('containers:', 'volumes: [{name: v, pvc: {claimName: c}}], containers:')}}}\n",
            "`volumes[0]` has no field `pvc`: did you mean `persistentVolumeClaim`?",
            "persistentVolumeClaim",
        ),
        (
            f"    replicas: 3\n    frameworkAttemptCompletionPolicy: {{minSucceededTaskCount: 3}}\n    task: {{{POD}}}\n",
            "`taskRoles[0]` has no field `replicas`: did you mean `taskNumber`?",
            "taskNumber",
        ),
    ],
)
def test_a_word_of_another_tool(text: str, message: str, fix: str) -> None:
    ((found, fixed),) = role(text)
    assert found.endswith(message.removeprefix("… "))
    assert fixed == fix


@pytest.mark.parametrize(
    ("field", "in_spec", "in_a_role"),
    [
        ("retryPolicy: {maxRetryCount: 1}", None, "write it as `task.retryPolicy`"),
        ("maxRetryCount: 1", "it belongs in `retryPolicy`", "write it as `task.retryPolicy.maxRetryCount`"),
        (
            "backoffLimit: 1",
            "each task is tried again is `taskRoles[].task.retryPolicy.maxRetryCount`",
            "write it as `task.retryPolicy.maxRetryCount`",
        ),
        ("restartPolicy: Never", "write it as `taskRoles[].task.pod.spec.restartPolicy`", "write it as `task.pod.spec.restartPolicy`"),
        ("selector: {a: b}", "remove the field", "remove the field"),
        ("suspend: true", "`executionType: Create`", "its Pods go on, and keep their GPUs"),
        ("ttlSecondsAfterFinished: 9", None, "it is in the Framework's `spec`, beside `taskRoles`"),
        ("TtlSecondsAfterFinished: 9", "did you mean `ttlSecondsAfterFinished`?", "it is in the Framework's `spec`, beside `taskRoles`"),
        (
            "activeDeadlineSeconds: 9",
            None,
            "is `activeDeadlineSeconds` in its `spec`, beside `taskRoles`; that of each Pod is in the Pod's",
        ),
        ("cleanPodPolicy: None", None, "it is in the Framework's `spec`, beside `taskRoles`"),
        ("cleanpodpolicy: All", "did you mean `cleanPodPolicy`?", "it is in the Framework's `spec`, beside `taskRoles`"),
        ("successPolicy: AllWorkers", "`minSucceededTaskCount`", "`frameworkAttemptCompletionPolicy`"),
        ("podFailurePolicy: {rules: []}", "`podFailureSpec`", "`fancyRetryPolicy: true`"),
        ("minAvailable: 2", "`schedulerName`", "all Pods are always created"),
        ("gpu: 1", "nvidia.com/gpu", "nvidia.com/gpu"),
        ("gpus: 1", "nvidia.com/gpu", "nvidia.com/gpu"),
        ("slotsPerWorker: 8", "`mpirun`", "nvidia.com/gpu"),
        ("nprocPerNode: 8", "`torchrun --nproc-per-node=8`", "`torchrun --nproc-per-node=8`"),
        ("queue: a", "`kueue.x-k8s.io/queue-name`", "`scheduling.volcano.sh/queue-name`"),
        ("policies: []", "`minSucceededTaskCount`", "`frameworkAttemptCompletionPolicy`"),
        ("network: host", "`hostNetwork: true` in its `spec`", "`hostNetwork: true` in its `spec`"),
        ("command: [a]", "`taskRoles[].task.pod.spec.containers[].command`", "`task.pod.spec.containers[].command`"),
        ("image: b", "`taskRoles[].task.pod.spec.containers[].image`", "`task.pod.spec.containers[].image`"),
        ("env: []", "`taskRoles[].task.pod.spec.containers[].env`", "`task.pod.spec.containers[].env`"),
        ("resources: {}", "`taskRoles[].task.pod.spec.containers[].resources`", "`task.pod.spec.containers[].resources`"),
        ("nodeSelector: {}", "`taskRoles[].task.pod.spec.nodeSelector`", "`task.pod.spec.nodeSelector`"),
        ("labels: {}", "it has description", "`task.pod.metadata.labels`"),
        ("completions: 3", "`taskRoles[].taskNumber`", "did you mean `taskNumber`?"),
        ("parallelism: 3", "`taskRoles[].taskNumber`", "did you mean `taskNumber`?"),
        ("completionMode: Indexed", "`{{FC_TASK_INDEX}}`", "`{{FC_TASK_INDEX}}`"),
        ("terminationGracePeriodSeconds: 9", "`taskRoles[].task.pod.spec.terminationGrace", "write it as `task.pod.spec.terminationGrace"),
        ("completionPolicy: {}", "`taskRoles[].frameworkAttemptCompletionPolicy`", "did you mean `frameworkAttemptCompletionPolicy`?"),
        ("maxRetry: 3", "all together `retryPolicy.maxRetryCount`", "write it as `task.retryPolicy.maxRetryCount`"),
        ("metadata: {}", "it is a field of the Framework, one level up", "write it as `task.pod.metadata`"),
        ("dependsOn: [ps]", "all roles begin together", "`fcontroller barrier`"),
        ("ttl: 9", "did you mean `ttlSecondsAfterFinished`?", "it is in the Framework's `spec`, beside `taskRoles`"),
        ("timeout: 9", "did you mean `activeDeadlineSeconds`?", "that of each Pod is in the Pod's own `spec`"),
        ("maxRuntimeSeconds: 9", "did you mean `activeDeadlineSeconds`?", "that of each Pod is in the Pod's own `spec`"),
        ("paused: true", "its Pods go on, and keep their GPUs", "`executionType: Create`"),
        ("minReplicas: 2", "no tasks are added or removed by themselves", "`taskNumber` of a role"),
        ("elasticPolicy: {}", "no tasks are added or removed by themselves", "`taskNumber` of a role"),
        ("runPolicy: {}", "`retryPolicy.maxRetryCount`", "`retryPolicy.maxRetryCount`"),
        (
            "runPolicy: {cleanPodPolicy: None}",
            "`cleanPodPolicy` and `ttlSecondsAfterFinished` are in the Framework's `spec` itself",
            "itself",
        ),
    ],
)
def test_a_field_that_people_know_from_elsewhere(field: str, in_spec: str | None, in_a_role: str) -> None:
    """What it is called here, or that there is none and what to do, and no error that only follows from it."""
    name = field.partition(":")[0]
    if in_spec is not None:
        ((code, _, message, _),) = problems(f"{HEAD}spec:\n  {field}\n  taskRoles: [{{name: w, task: {{{POD}}}}}]\n")
        assert (code, message.startswith(f"`spec` has no field `{name}`: "), in_spec in message) == ("FC101", True, True)
    ((message, _),) = role(f"    {field}\n    task: {{{POD}}}\n")
    assert message.startswith(f"`taskRoles[0]` has no field `{name}`: ")
    assert in_a_role in message


@pytest.mark.parametrize(
    ("inside", "field", "message"),
    [
        ("pod: {", "activeDeadlineSeconds: 9", "is in the Pod's own `spec`"),
        ("pod: {", "cleanPodPolicy: None", "it is in the Framework's `spec`, beside `taskRoles`"),
        ("spec: {", "ttlSecondsAfterFinished: 9", "it is in the Framework's `spec`, beside `taskRoles`"),
        ("pod: {", "kind: Pod", "a Pod template has none; remove it"),
        ("pod: {", "apiVersion: v1", "a Pod template has none; remove it"),
        ("pod: {", "status: {}", "a Pod template has none; remove it"),
        ("containers: [{", "resources: {cpu: 1}", "`resources` has no field `cpu`: write it in `requests` or `limits`, one level down"),
        ("containers: [{", "resources: {a.b/gpu: 1}", "no field `a.b/gpu`: write it in `requests` or `limits`, one level down"),
        ("spec: {", "nprocPerNode: 8", "is said to its program, as `torchrun --nproc-per-node=8`"),
        ("containers: [{", "network: host", "has `hostNetwork: true` in its `spec`"),
        ("containers: [{", "activeDeadlineSeconds: 9", "it is a field of `spec`, one level up; move or remove it"),
    ],
)
def test_what_belongs_elsewhere_in_a_pod(inside: str, field: str, message: str) -> None:
    ((found, fix),) = role(f"    task: {{{POD.replace(inside, f'{inside}{field}, ')}}}\n")
    assert (found.endswith(message), fix) == (True, "")


def test_a_retry_has_no_delay_to_set() -> None:
    ((found, fix),) = role(f"    task: {{retryPolicy: {{backoff: 10}}, {POD}}}\n")
    assert (found.startswith("`retryPolicy` has no field `backoff`: a retry begins at once"), fix) == (True, "")


def test_the_lifetime_beside_the_spec_and_in_the_retry_policy() -> None:
    whole = f"taskRoles: [{{name: w, task: {{{POD}}}}}]"
    found = problems(f"{HEAD}cleanPodPolicy: None\nspec:\n  retryPolicy: {{activeDeadlineSeconds: 9}}\n  {whole}\n")
    assert [message.partition(": ")[2] for _, _, message, _ in found] == [
        "it belongs in `spec`, one level down; move or remove it",
        "it is a field of `spec`, one level up; move or remove it",
    ]


def test_how_many_tasks_there_are_is_no_field_of_a_task() -> None:
    assert role(f"    task: {{replicas: 3, {POD}}}\n") == [
        ("`task` has no field `replicas`: how many tasks there are is the role's `taskNumber`", "")
    ]


@pytest.mark.parametrize("field", ["backoffLimit: 3", "maxRetries: 3", "replicas: 3"])
def test_retries_and_counts_are_no_fields_of_a_pod(field: str) -> None:
    """They were told to be removed, or to be looked for."""
    ((found, _),) = role(f"    task: {{{POD.replace('restartPolicy', f'{field}, restartPolicy')}}}\n")
    assert ("in `task`, beside `pod`" if "replicas" not in field else "the role's `taskNumber`") in found


def test_of_two_words_for_the_count_one_is_to_be_left_out() -> None:
    """Both were told to be the count, and only one of them can be."""
    found = problems(f"{HEAD}spec:\n  completions: 3\n  parallelism: 2\n  taskRoles:\n  - name: w\n    task: {{{POD}}}\n")
    assert [message.partition(": ")[2] for _, _, message, _ in found] == [
        "write it as `taskRoles[].taskNumber`",
        "it is the same as `completions` here: keep one of them",
    ]


def test_a_variable_is_no_mapping_of_its_name() -> None:
    """It had no field of that name, and lacked one: one mistake, told twice."""
    ((found, _),) = role(f"    task: {{{POD.replace('image:', 'env: [{RATE: a b}], image:')}}}\n")
    assert found == "`env[0]` has no field `RATE`: write `- {name: RATE, value: …}`"


def test_a_fix_for_one_field_only() -> None:
    """With both carried out, the key would be there twice."""
    found = role(f"    completions: 3\n    parallelism: 2\n    task: {{{POD}}}\n")
    assert [fix for _, fix in found] == ["taskNumber", ""]


BODY = "spec: {restartPolicy: Never, containers: [{name: a, image: b}]}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"    task:\n      pod:\n      {BODY}\n", "`pod` is empty: indent `spec` below `pod`"),
        (f"    task:\n      {BODY}\n", "`task` has no field `spec`: write `pod:` above, and indent it below that"),
        (f"    task:\n    pod: {{{BODY}}}\n", "`task` is empty: indent `pod` below `task`"),
        (
            "    task:\n      pod:\n        spec:\n        restartPolicy: Never\n        containers: [{name: a, image: b}]\n",
            "`spec` is empty: indent `restartPolicy` and `containers` below `spec`",
        ),
        (
            f"    task:\n      pod:\n        metadata:\n        labels: {{a: b}}\n        {BODY}\n",
            "`metadata` is empty: indent `labels` below `metadata`",
        ),
        (
            "    task:\n      pod:\n        spec:\n"
            "          restartPolicy: Never\n          containers:\n          name: a\n          image: b\n",
            "`containers` is empty: begin an item with `- ` below it, and write `name` and `image` in that",
        ),
    ],
)
def test_what_is_indented_too_little(text: str, message: str) -> None:
    assert role(text) == [(message, "")]


def test_a_framework_without_roles_by_mistake() -> None:
    assert [code for code, *_ in problems(f"{HEAD}spec:\n  template: {{}}\n")] == ["FC101"]
    assert [message for *_, message, _ in problems(f"{HEAD}spec:\ntaskRoles: []\n")] == ["`spec` is empty: indent `taskRoles` below `spec`"]


MOUNT = "volumeMounts: [{name: v, mountPath: /v}]"
VOLUME = f'task: {{pod: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: "b:1", {MOUNT}}}], X}}}}}}'
MAIN = 'task: {pod: {spec: {restartPolicy: Never, containers: [{name: a, image: "b:1", X}]}}}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (VOLUME.replace("X", "volume: [{name: v}]"), "`spec` has no field `volume`: did you mean `volumes`?"),
        (VOLUME.replace("X", "volumes: [{nam: v, emptyDir: {}}]"), "`volumes[0]` has no field `nam`: did you mean `name`?"),
        (VOLUME.replace("X", "volumes: [{name: v, secret: {name: s}}]"), "`secret` has no field `name`: did you mean `secretName`?"),
        (
            VOLUME.replace("X", "volumes: [{name: v, persistentVolumeClaim: {name: c}}]"),
            "`persistentVolumeClaim` has no field `name`: did you mean `claimName`?",
        ),
        (
            MAIN.replace("X", "env: [{name: A, valueFrom: {secretKeyRef: {secretName: s, key: k}}}]"),
            "`secretKeyRef` has no field `secretName`: did you mean `name`?",
        ),
        (
            MAIN.replace("X", "env: [{name: A, valueFrom: {secretRef: {name: s, key: k}}}]"),
            "`valueFrom` has no field `secretRef`: did you mean `secretKeyRef`?",
        ),
        (MAIN.replace("X", "envFrom: [{secretKeyRef: {name: s}}]"), "`envFrom[0]` has no field `secretKeyRef`: did you mean `secretRef`?"),
        (MAIN.replace("X", "livenessProbe: {http: {port: 80}}"), "`livenessProbe` has no field `http`: did you mean `httpGet`?"),
        (MAIN.replace("X", "livenessProbe: {command: [a]}"), "`livenessProbe` has no field `command`: write it as `exec.command`"),
        (
            f"service: {{ports: [{{containerPort: 80}}]}}\n    task: {{{POD}}}",
            "`ports[0]` has no field `containerPort`: did you mean `port`?",
        ),
        (
            'template: {spec: {restartPolicy: Never, containers: [{name: a, image: b, args: ["{{FC_TASK_INDEX}}"]}]}}',
            "`taskRoles[0]` has no field `template`: write it as `task.pod`",
        ),
    ],
)
def test_nothing_follows_from_a_word_that_is_known(line: str, message: str) -> None:
    assert [said for said, _ in role(f"    {line}\n")] == [message]


def test_every_synonym_leads_to_a_field() -> None:
    """And none of them is a field itself."""
    known = types(NEWEST)
    for type_name, words in _SYNONYMS.items():
        for word, meant in words.items():
            assert word not in known[type_name], word
            here = type_name
            for step in meant.split("."):
                field = known[here][step.removesuffix("[]")]
                assert (field.kind == "list") is step.endswith("[]") or meant.endswith(step)
                here = field.ref


def test_what_is_said_to_be_no_field_is_none() -> None:
    known = types(NEWEST)
    assert [(type_name, word) for type_name, words in _LACKING.items() for word in words if word in known[type_name]] == []


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (
            "retryPolicy: {maxRetryCount: -3}",
            "between -2 and 2147483647: -1 retries after every failure, -2 after every completion, success too",
        ),
        ("frameworkAttemptCompletionPolicy: {minFailedTaskCount: -2}", "-1 means that no number of failures ends the attempt"),
        ("frameworkAttemptCompletionPolicy: {minSucceededTaskCount: -2}", "-1 means that no number of successes ends the attempt"),
    ],
)
def test_what_negative_numbers_mean(field: str, words: str) -> None:
    text = f"    {field}\n    task: {{{POD}}}\n" if "Policy: {min" in field else f"    task: {{{field}, {POD}}}\n"
    ((code, _, message, _),) = problems(f"{HEAD}spec:\n  taskRoles:\n  - name: w\n{text}")
    assert code == "FC131"
    assert words in message


def test_a_name_with_a_hyphen_says_why() -> None:
    ((_, _, message, _),) = problems(f"{HEAD.replace('name: x', 'name: my-job')}spec:\n  taskRoles: [{{name: w, task: {{{POD}}}}}]\n")
    assert "without a hyphen (it separates the parts of Pod names, `{framework}-{role}-{index}`)" in message
    assert "write `myjob`" in message


def test_set_is_named(repository: Path) -> None:
    hello = str(repository / "examples" / "hello.yaml")
    outcome = laws.run(["build", "--set", "greeter.taskNumber=-1", hello])
    assert outcome.code == 1
    assert "error[FC131] --set greeter.taskNumber=-1: `taskNumber` is -1, and must be between 0 and 10000\n" in outcome.err
    assert "taskNumber: 2" not in outcome.err
    explained = laws.run(["explain", "hello-greeter-0", hello, "--set", "greeter.taskNumber=-1"])
    assert explained.code == 1
    assert "--set greeter.taskNumber=-1: `taskNumber` is -1" in explained.err
    within = laws.run(["build", "--set", "greeter.task.pod.spec.volumes=[{}]", "--set", "greeter.task.pod.spec.volumes=[{nam: x}]", hello])
    assert "--set greeter.task.pod.spec.volumes=[{nam: x}]: `volumes[0]` has no field `nam`" in within.err
    wrong = laws.run(["build", "--set", "greeter.taskNumber=3", str(repository / "examples" / "bad" / "FC101-unknown-field.yaml")])
    assert ("error[FC101]" in wrong.err, "no such role" in wrong.err) == (True, False)  # Which roles there are is not known yet.


@pytest.mark.parametrize(
    ("field", "kind"), [("pytorchReplicaSpecs", "PyTorchJob"), ("xgbReplicaSpecs", "XGBoostJob"), ("trainer", "TrainJob")]
)
def test_fields_of_jobs_of_kubeflow_lead_to_convert(field: str, kind: str) -> None:
    found = problems(f"{HEAD}spec: {{{field}: {{}}}}\n")
    assert found[0][2] == f"`spec` has no field `{field}`: it is a {kind}'s; `fcompile convert` makes a Framework of one"
