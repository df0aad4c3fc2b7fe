"""What becomes of the jobs of our own, kind by kind: what the recorded ones do not show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fcompile import compile as compile_text
from fcompile.convert.conversion import Reason
from fcompile.convert.job import Job, Part
from fcompile.convert.kinds.jax import convert_jax
from fcompile.convert.kinds.mpi import convert_mpi
from fcompile.convert.ledger import Outcome, Refusal
from fcompile.convert.write import write_framework
from fcompile.diagnostics.problem import Severity
from fcompile.model.framework import LIFETIME
from tests.convert.jobs import jobs
from tests.convert.operator import convert, made_of

JOBS = dict(jobs())
DOMAIN = "training.kubeflow.org/"
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def pods(name: str) -> dict[str, Any]:
    """Return the Pods that come of a job, by their names without that of the Framework."""
    framework, objects = made_of(JOBS[name])
    return {one["metadata"]["name"].removeprefix(f"{framework}-"): one for one in objects if one["kind"] == "Pod"}


def env(pod: dict[str, Any], container: int = 0) -> dict[str, Any]:
    found = pod["spec"]["containers"][container]["env"]
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in found if not one["name"].startswith("FC_")}


def roles(name: str) -> dict[str, Any]:
    (account,) = convert(json.dumps(JOBS[name])).jobs
    assert account.made is not None
    return {role.name: role for role in account.made.roles}


def told(name: str) -> dict[str, Outcome]:
    (account,) = convert(json.dumps(JOBS[name])).jobs
    return {".".join(map(str, entry.path)): entry.outcome for entry in account.entries}


def test_pytorch_with_everything() -> None:
    made = pods("pytorch-everything-PyTorchJob")
    master, worker = made["master-0"], made["worker-1"]
    assert env(master)["MASTER_ADDR"] == env(worker)["MASTER_ADDR"] == "master-0.bertlarge-master"
    assert (env(worker)["RANK"], env(worker)["WORLD_SIZE"], env(worker)["PET_NPROC_PER_NODE"]) == ("2", "12", "4")
    assert env(worker)["MY_INDEX"] == "1"
    assert env(master, 1)["RANK"] == "0", "all containers get the variables"
    assert master["spec"]["containers"][0]["args"][0] == "--store=tcp://master-0.bertlarge-master.research.svc:29400"
    assert master["spec"]["containers"][0]["args"][1] == "--out=/ckpt/bert-large/run", "the bare name stays"
    assert worker["spec"]["initContainers"][0]["command"] == ["prepare", "master-0.bertlarge-master"]
    assert "RANK" not in {one["name"] for one in worker["spec"]["initContainers"][0]["env"]}
    assert worker["spec"]["restartPolicy"] == "Never"
    found = roles("pytorch-everything-PyTorchJob")
    assert (found["worker"].fancy, found["master"].max_retry_count) == (True, 3)
    assert (found["master"].min_succeeded, found["worker"].min_succeeded) == (1, -1)


def test_what_is_not_yet_there_stays_in_comments() -> None:
    text = convert(json.dumps(JOBS["pytorch-everything-PyTorchJob"])).text()
    for line in (
        '# Not yet there: schedulingPolicy: {"minAvailable": 3, "priorityClass": "high", "queue": "gpu"}',
        "# Not yet there: label kueue.x-k8s.io/queue-name: team-a",
        "executionType: Create",
    ):
        assert f"{line}\n" in text


def test_what_kueue_held_back_waits_here() -> None:
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team-a"}
    conversion = convert(json.dumps(job))
    assert "\n  executionType: Create\n" in conversion.text()
    (entry,) = [entry for entry in conversion.accounts[0].different if entry.path[-1] == "kueue.x-k8s.io/queue-name"]
    assert entry.what == "`queue-name: team-a`: no queue holds a Framework, so it waits as `executionType: Create`"
    assert entry.remedy == "write `executionType: Start` when there is room"


def test_every_field_has_an_outcome() -> None:
    found = told("pytorch-everything-PyTorchJob")
    template = "spec.pytorchReplicaSpecs.worker.template.spec"
    for path in ("status", "metadata.uid", f"{template}.restartPolicy", "spec.runPolicy.managedBy"):
        assert found[path] is Outcome.DROPPED
    for path in (
        "spec.runPolicy.suspend",
        "spec.runPolicy.backoffLimit",
        "metadata.labels.kueue.x-k8s.io/queue-name",
        f"{template}.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.0.labelSelector.matchLabels.training.kubeflow.org/job-name",
    ):
        assert found[path] is Outcome.DIFFERENT


def test_an_elastic_job() -> None:
    made = env(pods("pytorch-elastic-PyTorchJob")["worker-0"])
    wanted = {
        "PET_RDZV_ENDPOINT": "etcd-service:2379",
        "PET_RDZV_BACKEND": "etcd",
        "PET_NNODES": "1:1",
        "PET_RDZV_ID": "run-1",
        "PET_RDZV_CONF": "timeout=30,store=fast",
        "PET_MAX_RESTARTS": "5",
        "PET_NPROC_PER_NODE": "auto",
    }
    assert {name: made[name] for name in wanted} == wanted
    assert "PET_STANDALONE" in made
    assert told("pytorch-elastic-PyTorchJob")["spec.elasticPolicy.metrics"] is Outcome.DIFFERENT


def test_a_chief_decides() -> None:
    found = roles("tensorflow-chief-TFJob")
    assert {name: role.min_succeeded for name, role in found.items()} == {"chief": 1, "ps": -1, "worker": -1, "evaluator": -1}
    config = json.loads(env(pods("tensorflow-chief-TFJob")["worker-3"])["TF_CONFIG"])
    assert config["task"] == {"type": "worker", "index": 3}
    assert list(config["cluster"]) == ["chief", "evaluator", "ps", "worker"]
    assert config["cluster"]["chief"] == ["chief-0.mnistchief-chief.research.svc:2222"]


def test_dynamic_workers() -> None:
    made = pods("tensorflow-dynamic-TFJob")
    own = "worker-2.recdynamic-worker.default.svc:2222"
    servers = [f"ps-{index}.recdynamic-ps.default.svc:2222" for index in range(2)]
    wanted = {"cluster": {"worker": {"2": own}, "ps": servers}, "task": {"type": "worker", "index": 2}}
    assert json.loads(env(made["worker-2"])["TF_CONFIG"]) == wanted
    assert json.loads(env(made["ps-1"])["TF_CONFIG"])["cluster"] == {"worker": {}, "ps": servers[1:]}
    worker = roles("tensorflow-dynamic-TFJob")["worker"]
    assert (worker.min_failed, worker.min_succeeded, worker.task_number) == (-1, 3, 3)


def test_jax() -> None:
    worker = pods("jax-JAXJob")["worker-3"]
    assert env(worker)["PROCESS_ID"] == "3"
    assert env(worker)["COORDINATOR_ADDRESS"] == "worker-0.paxlm-worker"
    assert worker["spec"]["containers"][0]["command"][2] == "--peer=worker-3.paxlm-worker:7000"
    assert told("jax-JAXJob")["spec.jaxReplicaSpecs.Worker.template.spec.containers.0.command.3"] is Outcome.DIFFERENT


def test_paddle_with_servers() -> None:
    made = pods("paddle-servers-PaddleJob")
    first, second, trainer = (env(made[name]) for name in ("master0-0", "master-0", "worker-1"))
    assert (first["PADDLE_MASTER"], first["POD_IP_DUMMY"]["fieldRef"]["fieldPath"]) == ("$(POD_IP_DUMMY):36543", "status.podIP")
    assert second["PADDLE_MASTER"] == trainer["PADDLE_MASTER"] == "master0-0.ctrservers-master0:36543"
    assert (second["PADDLE_SERVER_NUM"], trainer["PADDLE_TRAINER_NUM"], trainer["PADDLE_JOB_ID"]) == ("1", "1", "ctr-servers")


def test_mpi_with_gpus_in_the_launcher() -> None:
    framework, objects = made_of(JOBS["mpi-gpu-MPIJob"])
    made = {(one["kind"], one["metadata"]["name"]): one for one in objects}
    launcher = made[("Pod", f"{framework}-launcher-0")]
    assert launcher["spec"]["containers"][0]["command"][2] == "worker-0.horovodgpu-worker:8,worker-1.horovodgpu-worker:8"
    assert env(launcher)["I_MPI_HYDRA_BOOTSTRAP"] == "ssh"
    assert "NVIDIA_VISIBLE_DEVICES" not in env(launcher)
    hosts = made[("ConfigMap", "horovodgpu-config")]["data"]["hostfile"].splitlines()
    assert hosts[0] == "launcher-0.horovodgpu-launcher slots=8"
    assert made[("Pod", f"{framework}-worker-1")]["spec"]["containers"][0]["command"] == ["/usr/sbin/sshd", "-De"]


def test_mpi_operator() -> None:
    framework, objects = made_of(JOBS["mpi-operator-MPIJob"])
    made = {(one["kind"], one["metadata"]["name"]): one for one in objects}
    launcher = made[("Pod", f"{framework}-launcher-0")]
    assert env(launcher)["I_MPI_PERHOST"] == "2"
    assert launcher["spec"]["containers"][0]["args"][4] == "worker-0.piintel-worker.hpc.svc"
    assert launcher["spec"]["restartPolicy"] == "OnFailure"
    assert made[("ConfigMap", "piintel-config")]["data"]["hostfile"].splitlines()[1] == "worker-0.piintel-worker.hpc.svc:2"
    found = roles("mpi-operator-MPIJob")
    assert (found["launcher"].max_retry_count, found["worker"].min_failed) == (1, -1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"metadata": {"generateName": "a-"}}, "generateName"),
        ({"metadata": {}}, "no name"),
        ({"spec": {"jaxReplicaSpecs": {}}}, "no replicas"),
        ({"spec": {"jaxReplicaSpecs": {"Master": {}}}}, "no such type"),
        ({"spec": {"jaxReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}}}}, "named `jax`"),
        ({"spec": {"jaxReplicaSpecs": {"Worker": {"replicas": "2"}}}}, "whole number"),
    ],
)
def test_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refusal, match=reason):
        convert_jax({**JOBS["jax-JAXJob"], **change})


def test_a_trainjob_with_its_runtime() -> None:
    made = pods("trainjob-torch-TrainJob")
    node = made["node-1"]
    wanted = {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "4",
        "PET_NODE_RANK": "1",
        "PET_MASTER_ADDR": "node-0.gpttune-node",
        "PET_MASTER_PORT": "29500",
        "SEED": "1",
        "JOB_COMPLETION_INDEX": "1",
    }
    assert env(node) == wanted
    (container,) = node["spec"]["containers"]
    assert (container["image"], container["command"][2]) == ("registry.example.com/nlp/gpt:3", "--store=node-0.gpttune-node:29400")
    assert container["resources"]["requests"] == {"cpu": "3500m"}
    assert node["spec"]["nodeSelector"] == {"pool": "a100"}
    assert node["metadata"]["labels"]["cost-center"] == "research"
    assert [one["name"] for one in node["spec"]["initContainers"]] == ["dataset-initializer", "model-initializer"]
    fetched = {one["name"]: one.get("value") for one in node["spec"]["initContainers"][0]["env"]}
    assert (fetched["STORAGE_URI"], fetched["REGION"], fetched["JOB_COMPLETION_INDEX"]) == ("s3://bucket/data", "eu", "0")
    assert node["spec"]["initContainers"][0]["envFrom"] == [{"secretRef": {"name": "s3-keys"}}]
    assert len(made) == 2


def test_a_trainjob_with_mpi() -> None:
    framework, objects = made_of(JOBS["trainjob-mpi-TrainJob"])
    made = {(one["kind"], one["metadata"]["name"]): one for one in objects}
    launcher = made[("Pod", f"{framework}-launcher-0")]
    assert env(launcher)["OMPI_MCA_orte_set_default_slots"] == "4"
    assert launcher["spec"]["containers"][0]["command"] == ["mpirun", "python", "/app/train.py"]
    assert [one["name"] for one in launcher["spec"]["initContainers"]] == ["wait-for-workers"]
    lines = made[("ConfigMap", "dsrun-config")]["data"]["hostfile"].splitlines()
    assert lines == ["node-0.dsrun-node slots=4", "node-1.dsrun-node slots=4", "launcher-0.dsrun-launcher slots=4"], (
        "in the order of the jobs"
    )
    (keys,) = [one["secret"] for one in launcher["spec"]["volumes"] if one["name"] == "ssh-auth"]
    assert [(one["path"], one["mode"]) for one in keys["items"]] == [("id_rsa", 0o640), ("id_rsa.pub", 0o644), ("authorized_keys", 0o644)]
    assert {name: role.min_succeeded for name, role in roles("trainjob-mpi-TrainJob").items()} == {"node": -1, "launcher": 1}


def test_a_trainjob_with_jax_and_xgboost() -> None:
    index = {"JOB_COMPLETION_INDEX": "1"}
    jax = env(pods("trainjob-jax-TrainJob")["node-1"])
    assert jax == {"JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": "1", "JAX_COORDINATOR_ADDRESS": "node-0.runjax-node:29500", **index}
    boost = env(pods("trainjob-xgboost-TrainJob")["node-1"])
    wanted = {"DMLC_TRACKER_URI": "node-0.runxgboost-node", "DMLC_TRACKER_PORT": "29500", "DMLC_TASK_ID": "1", "DMLC_NUM_WORKER": "4"}
    assert boost == {**wanted, **index}


def test_a_jobset() -> None:
    made = pods("jobset-JobSet")
    assert made["workers-2"]["spec"]["containers"][0]["args"] == ["--driver=driver-0.paramserver-driver"]
    assert env(made["driver-0"]) == {"INDEX": "0", "JOB_COMPLETION_INDEX": "0"}
    found = roles("jobset-JobSet")
    assert {name: (role.min_succeeded, role.max_retry_count) for name, role in found.items()} == {"driver": (1, 0), "workers": (-1, 6)}


def _with(name: str, job: int, **fields: Any) -> Any:
    """Return the JobSet with fields of a replicated job."""
    value = json.loads(json.dumps(JOBS["jobset-JobSet"]))
    value["spec"]["replicatedJobs"][job].update(name=name, **fields)
    return value


def test_each_job_of_a_replicated_job_is_a_role() -> None:
    job = _with("workers", 1, replicas=2)
    job["spec"].pop("successPolicy")
    job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["args"] = [
        "param-server-workers-1-2.param-server"
    ]
    framework, objects = made_of(job)
    made = {one["metadata"]["name"].removeprefix(f"{framework}-"): one for one in objects if one["kind"] == "Pod"}
    assert made.keys() == {"driver-0", *(f"workers{number}-{index}" for number in range(2) for index in range(3))}
    assert made["driver-0"]["spec"]["containers"][0]["args"] == ["workers1-2.paramserver-workers1"]


def test_replicated_jobs_that_cannot_be() -> None:
    many = _with("workers", 1, replicas=500)
    many["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["args"] = ["x" * 5_000]
    alone = _with("workers", 1)
    alone["spec"]["replicatedJobs"][1]["template"]["spec"].pop("completions")
    for value, field, reason in (
        (_with("workers", 1, replicas=0), "replicas", "from 1 to 500"),
        (_with("workers", 1, replicas=501), "replicas", "from 1 to 500"),
        (many, "replicas", "all that etcd takes"),
        (_with("Driver", 1), 1, "would both be the role `driver`"),
        (_with("driver", 0, replicas=2), "successPolicy", "ends by one role, or by all"),
        (alone, "parallelism", "it must have `completions` too"),
    ):
        (account,) = convert(json.dumps(value)).refused
        assert (account.reasons[0].path[-1], reason in account.reasons[0].text) == (field, True), account.reasons


def test_names_of_the_users_own_make_way_for_those_of_tasks() -> None:
    job = _with("workers", 1)
    job["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"].update(hostname="a", subdomain="b")
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    assert {entry.path[-1]: entry.outcome for entry in account.entries if entry.path[-1] in ("hostname", "subdomain")} == {
        "hostname": Outcome.DROPPED,
        "subdomain": Outcome.DROPPED,
    }
    assert not {"hostname", "subdomain"} & account.made.roles[1].template["spec"].keys()


@pytest.mark.parametrize("place", ["the JobSet", "a Job", "a runtime", "a patch"])
def test_jobs_that_want_nodes_of_their_own_are_told(place: str) -> None:
    wish = {"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}}
    job = json.loads(json.dumps(JOBS["jobset-JobSet" if place in ("the JobSet", "a Job") else "trainjob-torch-TrainJob"]))
    if place == "the JobSet":
        job["metadata"].update(wish)
    elif place == "a Job":
        job["spec"]["replicatedJobs"][1]["template"]["metadata"] = wish
    elif place == "a runtime":
        job["items"][1]["spec"]["template"]["metadata"] = wish
    else:
        job["items"][0]["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["metadata"] = wish
    (entry,) = [one for one in convert(json.dumps(job)).jobs[0].different if "`topologyKey: rack`" in one.remedy]
    assert entry.path[-1] == ("runtimeRef" if "items" in job else "alpha.jobset.sigs.k8s.io/exclusive-topology")


def _fetching(**fields: Any) -> Any:
    """Return a JobSet whose job `driver` runs before `workers`."""
    job = _with("workers", 1, dependsOn=[{"name": "driver", "status": "Complete"}])
    job["spec"].pop("successPolicy")
    for part in job["spec"]["replicatedJobs"]:
        spec = part["template"]["spec"]["template"]["spec"]
        spec.update(volumes=[{"name": "v", "emptyDir": {}}], restartPolicy="Never")
        spec["containers"][0].update(name="main", volumeMounts=[{"name": "v", "mountPath": "/v"}])
    first = job["spec"]["replicatedJobs"][0]["template"]["spec"]
    first.pop("backoffLimit")
    first["template"]["spec"].update(fields)
    return job


def test_an_init_container_of_the_same_name_is_named_after_its_job() -> None:
    framework, objects = made_of(_fetching())
    pods_there = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "Pod"}
    (fetch,) = pods_there[f"{framework}-workers-2"]["initContainers"]
    assert fetch["name"] == "driver-main"
    assert {one["name"]: one.get("value") for one in fetch["env"]}["INDEX"] == "0", "that of its own Job"


def test_what_a_pod_that_runs_first_has_of_its_own_is_told() -> None:
    def said(job: Any) -> list[str]:
        return [one.what for one in convert(json.dumps(job)).jobs[0].different if "is an init container of" in one.what]

    assert said(_fetching()) == []
    assert said(_fetching(serviceAccountName="s", nodeSelector={"a": "b"})) == [
        "serviceAccountName, nodeSelector of `driver`: left out, since it is an init container of `workers`"
    ]
    job = _fetching()
    job["spec"]["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] = 1
    job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}
    assert said(job) == ["labels, backoffLimit of `driver`: left out, since it is an init container of `workers`"]


def test_two_volumes_of_one_name_are_not_one() -> None:
    job = _fetching(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    (account,) = convert(json.dumps(job)).refused
    assert "as an init container it would run in each of 3 Pods" in account.reasons[0].text
    job["spec"]["replicatedJobs"][1]["template"]["spec"].update(parallelism=1, completions=1)
    (account,) = convert(json.dumps(job)).refused
    assert "the volumes `v` of the two are not the same" in account.reasons[0].text


def test_claims_of_a_jobset_are_volumes_of_the_pods_that_mount_them() -> None:
    job = json.loads(json.dumps(JOBS["jobset-JobSet"]))
    job["spec"]["volumeClaimPolicies"] = [{"templates": [{"metadata": {"name": "data"}, "spec": CLAIM}]}]
    driver = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    driver["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    assert ["volumes" in role.template["spec"] for role in account.made.roles] == [True, False]
    assert ("spec", "volumeClaimPolicies", 0) in [entry.path for entry in account.different]


def _with_variables(name: str, fields: dict[str, str]) -> dict[str, Any]:
    """Return a JobSet whose job `driver` reads fields of its Pod in variables."""
    job: dict[str, Any] = json.loads(json.dumps(JOBS[name]))
    pod = job["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [{"name": one, "valueFrom": {"fieldRef": {"fieldPath": path}}} for one, path in fields.items()]
    return job


def test_labels_of_a_jobset_become_their_values() -> None:
    fields = {
        "SET": "metadata.labels['jobset.sigs.k8s.io/jobset-name']",
        "PART": "metadata.annotations['jobset.sigs.k8s.io/replicatedjob-name']",
        "JOB": "metadata.labels['batch.kubernetes.io/job-name']",
        "RANK": "metadata.labels['batch.kubernetes.io/job-completion-index']",
    }
    job = _with_variables("jobset-JobSet", fields)
    framework, objects = made_of(job)
    (driver,) = [one for one in objects if one["metadata"]["name"] == f"{framework}-driver-0" and one["kind"] == "Pod"]
    wanted = {"SET": "param-server", "PART": "driver", "JOB": "param-server-driver-0", "RANK": "0", "JOB_COMPLETION_INDEX": "0"}
    assert env(driver) == wanted


def test_a_label_of_a_jobset_whose_value_nobody_knows_is_told() -> None:
    job = _with_variables("jobset-JobSet", {"TRY": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"})
    conversion = convert(json.dumps(job))
    (account,) = conversion.jobs
    assert "the variable `TRY` will be empty" in [entry.what for entry in account.different]
    assert [problem.rule.code for problem in compile_text(text=conversion.text()).problems if "restart" in str(problem)] == ["FC515"]


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("Launcher", {"restartPolicy": "Always"}, "takes Never and OnFailure only"),
        ("Worker", {"restartPolicy": "ExitCode"}, "takes Never and OnFailure only"),
        ("Worker", {"replicas": 0}, "takes no Worker without replicas"),
        ("Worker", {"replicas": None}, "takes no Worker without replicas"),
    ],
)
def test_what_mpi_operator_does_not_take(kind: str, fields: dict[str, Any], reason: str) -> None:
    job = json.loads(json.dumps(JOBS["mpi-operator-MPIJob"]))
    job["spec"]["mpiReplicaSpecs"][kind].update(fields)
    (account,) = convert(json.dumps(job)).refused
    assert reason in account.reasons[0].text
    assert account.reasons[0].path == ("spec", "mpiReplicaSpecs", kind, *fields)


def _changed(name: str, item: int, **fields: Any) -> Any:
    value = json.loads(json.dumps(JOBS[name]))
    value["items"][item]["spec"].update(fields)
    return value


def test_a_trainjob_that_cannot_be() -> None:
    alone = JOBS["trainjob-torch-TrainJob"]["items"][0]
    runtime = JOBS["trainjob-torch-TrainJob"]["items"][1]["spec"]["template"]["spec"]["replicatedJobs"]
    apart = json.loads(json.dumps(runtime))
    apart[0]["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = []
    shared = json.loads(json.dumps(runtime).replace('{"emptyDir": {}', '{"persistentVolumeClaim": {"claimName": "c"}'))
    shared = json.loads(json.dumps(shared).replace('"emptyDir": {}', '"persistentVolumeClaim": {"claimName": "c"}'))
    for value, reason in (
        (alone, "kubectl get clustertrainingruntime torch-shared -o yaml"),
        (_changed("trainjob-torch-TrainJob", 1, mlPolicy={"flux": {}}), "flux"),
        (_changed("trainjob-torch-TrainJob", 1, template={"spec": {"replicatedJobs": apart}}), "shares no volume"),
        (_changed("trainjob-torch-TrainJob", 1, template={"spec": {"replicatedJobs": shared}}), "in each of 2 Pods"),
    ):
        (account,) = convert(json.dumps(value)).refused
        assert reason in account.reasons[0].text


def _patched(change: Callable[[dict[str, Any]], None]) -> Any:
    """Return the account of a TrainJob with a changed patch of its runtime."""
    job = json.loads(json.dumps(JOBS["trainjob-torch-TrainJob"]))
    change(job["items"][0]["spec"]["runtimePatches"][0]["trainingRuntimeSpec"])
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    return account


def test_fields_that_no_patch_has_are_left_out() -> None:
    def change(patch: dict[str, Any]) -> None:
        patch["mlPolicy"] = {"numNodes": 7}
        (job,) = patch["template"]["spec"]["replicatedJobs"]
        job["template"]["spec"]["parallelism"] = 7
        pod = job["template"]["spec"]["template"]["spec"]
        pod["hostNetwork"] = True
        pod["containers"] = [{"name": "node", "image": "other", "resources": {"limits": {"cpu": 99}}, "volumeMounts": []}]
        pod["nodeSelector"]["pool"] = None

    account = _patched(change)
    dropped = {entry.path[-1] for entry in account.entries if entry.outcome is Outcome.DROPPED}
    assert {"mlPolicy", "parallelism", "hostNetwork", "image", "resources", "pool"} <= dropped
    (role,) = account.made.roles
    (container,) = role.template["spec"]["containers"]
    assert (role.task_number, container["image"], container["resources"]["limits"]["cpu"]) == (2, "registry.example.com/nlp/gpt:3", "8")
    assert not {"hostNetwork", "nodeSelector"} & {key for key, value in role.template["spec"].items() if value}


def test_resources_of_a_node_need_a_policy() -> None:
    job = _changed("trainjob-torch-TrainJob", 1)
    del job["items"][1]["spec"]["mlPolicy"]
    (account,) = convert(json.dumps(job)).jobs
    (entry,) = [one for one in account.entries if one.path == ("spec", "trainer", "resourcesPerNode")]
    assert entry.outcome is Outcome.DROPPED
    assert account.made is not None
    assert "resources" not in account.made.roles[0].template["spec"]["containers"][0]


def test_variables_for_a_container_that_is_not_there() -> None:
    targets = [{"jobName": "node", "containerNames": ["side"]}]
    job = _changed("trainjob-torch-TrainJob", 1, mlPolicy={"torch": {"envInjection": {"targets": targets}}})
    (account,) = convert(json.dumps(job)).refused
    assert "names a container `side` that the runtime does not have" in account.reasons[0].text


@pytest.mark.parametrize("change", ["name", "subdomain", "completionMode"])
def test_pods_that_meet_here_and_not_there_are_told(change: str) -> None:
    job = _changed("trainjob-jax-TrainJob", 1)
    jobs_of_runtime = job["items"][1]["spec"]["template"]["spec"]

    def said() -> list[str]:
        return [one.what for one in convert(json.dumps(job)).jobs[0].different if "know their index, and their first one" in one.what]

    assert said() == []
    if change == "name":
        jobs_of_runtime["replicatedJobs"][0]["name"] = "worker"
    elif change == "subdomain":
        jobs_of_runtime["network"] = {"subdomain": "ring"}
    else:
        jobs_of_runtime["replicatedJobs"][0]["template"]["spec"]["completionMode"] = "NonIndexed"
    assert len(said()) == 1


def test_clean_pod_policy_all_changes_nothing() -> None:
    job = JOBS["jax-JAXJob"]
    (account,) = convert(json.dumps({**job, "spec": {**job["spec"], "runPolicy": {"cleanPodPolicy": "All"}}})).jobs
    assert [entry.outcome for entry in account.entries if entry.path[-1] == "cleanPodPolicy"] == [Outcome.DROPPED]


RUN_ON = "when the Framework ends, its running Pods are deleted (Kubeflow, by default, lets them run on); finished Pods stay for their logs"


def lifetime(job: Any) -> tuple[dict[str, Any], dict[str, tuple[Outcome, str]]]:
    """What of its lifetime a job has as a Framework, and the outcomes of these fields by their path."""
    conversion = convert(json.dumps(job))
    (account,) = conversion.jobs
    assert account.made is not None, account.reasons
    spec = account.made.framework()["spec"]
    told = {".".join(map(str, entry.path)): (entry.outcome, entry.what) for entry in account.entries if set(entry.path) & set(LIFETIME)}
    for outcome, what in told.values():
        assert outcome is not Outcome.DIFFERENT or f"# Different: {what}" in conversion.text(), "somebody must look there"
    return {name: spec[name] for name in LIFETIME if name in spec}, told


def with_policy(name: str, **policy: Any) -> Any:
    job = JOBS[name]
    return {**job, "spec": {**job["spec"], "runPolicy": policy}}


V1 = ["jax-JAXJob", "pytorch-elastic-PyTorchJob", "tensorflow-dynamic-TFJob", "paddle-servers-PaddleJob"]


@pytest.mark.parametrize("name", V1)
def test_the_lifetime_of_a_job_of_training_operator(name: str) -> None:
    fields = {"activeDeadlineSeconds": 86400, "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 0}
    made, told = lifetime(with_policy(name, **fields))
    assert made == fields
    assert told == {
        "spec.runPolicy.activeDeadlineSeconds": (Outcome.DIFFERENT, "86,400 s after its start it ends for certain, with code -240"),
        "spec.runPolicy.cleanPodPolicy": (Outcome.CONVERTED, "spec.cleanPodPolicy"),
        "spec.runPolicy.ttlSecondsAfterFinished": (Outcome.CONVERTED, "spec.ttlSecondsAfterFinished"),
    }


@pytest.mark.parametrize("policy", [{}, {"cleanPodPolicy": "None"}, {"cleanPodPolicy": None}])
@pytest.mark.parametrize("name", [*V1, "mpi-operator-MPIJob"])
def test_pods_that_run_end_here_and_run_on_there(name: str, policy: dict[str, Any]) -> None:
    """By default too: `None` is the operators' default."""
    assert lifetime(with_policy(name, **policy)) == (
        {"cleanPodPolicy": "None"},
        {"spec.runPolicy.cleanPodPolicy": (Outcome.DIFFERENT, RUN_ON)},
    )


def test_a_clean_pod_policy_outside_the_run_policy() -> None:
    """An MPIJob of v1 may have it there. Of other kinds it is no field, so that the default holds."""
    mpi, jax = JOBS["mpi-gpu-MPIJob"], JOBS["jax-JAXJob"]
    outside = {**mpi, "spec": {**mpi["spec"], "cleanPodPolicy": "None"}}
    assert lifetime(outside) == ({"cleanPodPolicy": "None"}, {"spec.cleanPodPolicy": (Outcome.DIFFERENT, RUN_ON)})
    assert lifetime(mpi)[0] == {"cleanPodPolicy": "Running"}
    both = {**mpi, "spec": {**mpi["spec"], "runPolicy": {"cleanPodPolicy": "Running"}}}
    assert [outcome for outcome, _ in lifetime(both)[1].values()] == [Outcome.CONVERTED] * 2
    contradicting = {**both, "spec": {**both["spec"], "cleanPodPolicy": "All"}}
    made, told = lifetime(contradicting)
    assert (made, told["spec.cleanPodPolicy"]) == ({"cleanPodPolicy": "Running"}, (Outcome.DROPPED, "that of `runPolicy` counts"))
    (account,) = convert(json.dumps({**jax, "spec": {**jax["spec"], "cleanPodPolicy": "All"}})).refused
    assert account.reasons[0].text == "the operator has no field `cleanPodPolicy` here: it is `spec.runPolicy.cleanPodPolicy`"


@pytest.mark.parametrize(
    ("policy", "field", "reason"),
    [
        ({"cleanPodPolicy": "Always"}, "cleanPodPolicy", "it must be All, Running or None"),
        ({"cleanPodPolicy": 1}, "cleanPodPolicy", 'it must be a string: write "1"'),
        ({"activeDeadlineSeconds": 0}, "activeDeadlineSeconds", "it must be a whole number from 1 to 2147483647"),
        ({"ttlSecondsAfterFinished": -1}, "ttlSecondsAfterFinished", "it must be a whole number from 0 to 2147483647"),
    ],
)
def test_a_lifetime_that_cannot_be(policy: dict[str, Any], field: str, reason: str) -> None:
    (refused,) = convert(json.dumps(with_policy("jax-JAXJob", **policy))).refused
    assert refused.reasons == (Reason(("spec", "runPolicy", field), reason),)


def test_the_lifetime_of_a_job_of_mpi_operator() -> None:
    """There it is that of the launcher, which is a Job of Kubernetes: its Pod stays."""
    job = with_policy("mpi-operator-MPIJob", activeDeadlineSeconds=60, cleanPodPolicy="All", ttlSecondsAfterFinished=9)
    made, told = lifetime({**job, "spec": {**job["spec"], "launcherCreationPolicy": "AtStartup"}})
    assert made == {"activeDeadlineSeconds": 60, "cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 9}
    assert {path.rpartition(".")[2]: outcome for path, (outcome, _) in told.items()} == {
        "activeDeadlineSeconds": Outcome.CONVERTED,
        "cleanPodPolicy": Outcome.CONVERTED,
        "ttlSecondsAfterFinished": Outcome.DIFFERENT,
    }
    _, told = lifetime({**job, "spec": {**job["spec"], "launcherCreationPolicy": "WaitForWorkersReady"}})
    assert told["spec.runPolicy.activeDeadlineSeconds"][0] is Outcome.DIFFERENT


def test_the_lifetime_of_a_jobset_and_a_trainjob() -> None:
    """A JobSet leaves the Pods that have finished."""
    made, told = lifetime(JOBS["jobset-JobSet"])
    assert made == {"cleanPodPolicy": "Running", "ttlSecondsAfterFinished": 600}
    assert told == {"spec.ttlSecondsAfterFinished": (Outcome.CONVERTED, "spec.ttlSecondsAfterFinished")}
    job = json.loads(json.dumps(JOBS["trainjob-torch-TrainJob"]))
    made, told = lifetime(job)
    assert made == {"activeDeadlineSeconds": 7200, "cleanPodPolicy": "Running"}
    assert told == {"spec.activeDeadlineSeconds": (Outcome.CONVERTED, "spec.activeDeadlineSeconds")}
    job["items"][1]["spec"]["template"]["spec"]["ttlSecondsAfterFinished"] = 9
    (account,) = convert(json.dumps(job)).jobs
    assert "ttlSecondsAfterFinished of the runtime is left out" in {entry.what for entry in account.different}


def test_a_variable_of_the_operator_that_another_one_refers_to() -> None:
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    container = job["spec"]["jaxReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    container["env"] = [
        {"name": "PROCESS_ID", "value": "a"},
        {"name": "NUM_PROCESSES", "value": "b"},
        {"name": "X", "value": "$(PROCESS_ID)"},
    ]
    _, objects = made_of(job)
    found = objects[-1]["spec"]["containers"][0]["env"] if objects[-1]["kind"] == "Pod" else []
    own = [(one["name"], one.get("value")) for one in found if not one["name"].startswith("FC_")]
    assert own[:2] == [("PROCESS_ID", "a"), ("X", "$(PROCESS_ID)")]
    assert ("PROCESS_ID", "3") in own
    assert [one for one in own if one[0] == "NUM_PROCESSES"] == [("NUM_PROCESSES", "4")]


LABELS = ("job-name", "replica-type", "replica-index", "job-role", "operator-name")


def _reading_labels(kind: str, specs: str, container: str, replicas: dict[str, int], version: str = "v1") -> dict[str, Any]:
    """Return a job whose variables read the labels that its operator gives to Pods."""
    read = [{"name": one, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['training.kubeflow.org/{one}']"}}} for one in LABELS]
    template = {"spec": {"containers": [{"name": container, "image": "a", "env": read}]}}
    made = {one: {"replicas": count, "template": template} for one, count in replicas.items()}
    return {"apiVersion": f"kubeflow.org/{version}", "kind": kind, "metadata": {"name": "a-b"}, "spec": {specs: made}}


@pytest.mark.parametrize(
    ("job", "pod", "values"),
    [
        (
            ("PyTorchJob", "pytorchReplicaSpecs", "pytorch", {"Master": 1, "Worker": 1}),
            "worker-0",
            ("worker", "0", "", "pytorchjob-controller"),
        ),
        (("PyTorchJob", "pytorchReplicaSpecs", "pytorch", {"Worker": 1}), "worker-0", ("worker", "0", "master", "pytorchjob-controller")),
        (("TFJob", "tfReplicaSpecs", "tensorflow", {"Worker": 2}), "worker0-0", ("worker", "0", "master", "tfjob-controller")),
        (("TFJob", "tfReplicaSpecs", "tensorflow", {"Worker": 2}), "worker-0", ("worker", "1", "", "tfjob-controller")),
        (("TFJob", "tfReplicaSpecs", "tensorflow", {"Chief": 2}), "chief-1", ("chief", "1", "master", "tfjob-controller")),
        (("MPIJob", "mpiReplicaSpecs", "mpi", {"Launcher": 1, "Worker": 1}), "launcher-0", ("launcher", "", "master", "mpijob-controller")),
        (("PaddleJob", "paddleReplicaSpecs", "paddle", {"Worker": 2}), "worker0-0", ("worker", "0", "", "paddlejob-controller")),
        (("MPIJob", "mpiReplicaSpecs", "mpi", {"Launcher": 1}, "v2beta1"), "launcher-0", ("", "", "launcher", "mpi-operator")),
        (("MPIJob", "mpiReplicaSpecs", "mpi", {"Launcher": 1, "Worker": 2}, "v2beta1"), "worker-1", ("", "1", "worker", "mpi-operator")),
    ],
)
def test_labels_of_the_operator_become_their_values(job: Any, pod: str, values: tuple[str, ...]) -> None:
    framework, objects = made_of(_reading_labels(*job))
    (made,) = [one for one in objects if one["kind"] == "Pod" and one["metadata"]["name"] == f"{framework}-{pod}"]
    assert tuple(env(made)[one] for one in LABELS) == ("a-b", *values)


def test_a_label_of_the_operator_that_is_another_in_each_pod_is_told() -> None:
    conversion = convert(json.dumps(_reading_labels("JAXJob", "jaxReplicaSpecs", "jax", {"Worker": 2})))
    assert "the variable `job-role` will be empty" in [entry.what for entry in conversion.jobs[0].different]
    assert [problem.rule.code for problem in compile_text(text=conversion.text()).problems] == ["FC515"]


def test_a_file_of_the_downward_api_that_would_be_empty_is_told() -> None:
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    own = {
        "items": [{"path": label[-3:], "fieldRef": {"fieldPath": f"metadata.labels['{label}']"}} for label in ("team", f"{DOMAIN}job-name")]
    }
    volumes = [{"name": "a", "downwardAPI": own}, {"name": "b", "projected": {"sources": [{"downwardAPI": own}]}}]
    job["spec"]["jaxReplicaSpecs"]["Worker"]["template"]["spec"]["volumes"] = volumes
    found = [entry.path[-4:] for entry in convert(json.dumps(job)).jobs[0].different if entry.what == "the file will be empty"]
    assert found == [(0, "downwardAPI", "items", 1)] * 2


def test_labels_that_the_operator_overwrites_are_left_out() -> None:
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    job["spec"]["jaxReplicaSpecs"]["Worker"]["template"]["metadata"] = {"labels": {f"{DOMAIN}job-name": "a", f"{DOMAIN}x": "b", "c": "d"}}
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    assert account.made.roles[0].template["metadata"]["labels"] == {f"{DOMAIN}x": "b", "c": "d"}
    assert [entry.outcome for entry in account.entries if entry.path[-1] == f"{DOMAIN}job-name"] == [Outcome.DROPPED]


def test_claims_of_a_runtime_are_told_once() -> None:
    job = _changed("trainjob-torch-TrainJob", 1)
    jobs_of_runtime = job["items"][1]["spec"]["template"]["spec"]
    jobs_of_runtime["volumeClaimPolicies"] = [{"templates": [{"metadata": {"name": "scratch"}, "spec": CLAIM}]}]
    (account,) = convert(json.dumps(job)).jobs
    found = [entry.what for entry in account.different]
    assert "each Pod has a volume `scratch` of its own, which goes with the Pod" in found
    assert "volumeClaimPolicies is left out" not in found


def test_a_startup_policy_is_converted_to_nothing() -> None:
    job = json.loads(json.dumps(JOBS["jobset-JobSet"]))
    job["spec"]["startupPolicy"] = {"startupPolicyOrder": "AnyOrder"}
    (account,) = convert(json.dumps(job)).jobs
    (entry,) = [entry for entry in account.entries if entry.path == ("spec", "startupPolicy")]
    assert entry.outcome is Outcome.DROPPED


@pytest.mark.parametrize(("seconds", "written"), [(7200, 7200), (0, 1)])
def test_the_deadline_of_one_job_of_a_jobset_is_told_with_what_to_write(seconds: int, written: int) -> None:
    """Both fields that are named take what is to be written."""
    job = json.loads(json.dumps(JOBS["jobset-JobSet"]))
    job["spec"]["replicatedJobs"][1]["template"]["spec"]["activeDeadlineSeconds"] = seconds
    (account,) = convert(json.dumps(job)).jobs
    path = ("spec", "replicatedJobs", 1, "template", "spec", "activeDeadlineSeconds")
    (entry,) = [entry for entry in account.entries if entry.path == path]
    name = job["spec"]["replicatedJobs"][1]["name"]
    assert (entry.outcome, entry.what) == (Outcome.DIFFERENT, f"no deadline ends the role of `{name}` {seconds:,} s after its start")
    assert f"write `activeDeadlineSeconds: {written}` in `spec`" in entry.remedy
    assert "in the role's `task.pod.spec`" in entry.remedy
    assert account.made is not None
    account.made.lifetime["activeDeadlineSeconds"] = account.made.roles[0].template["spec"]["activeDeadlineSeconds"] = written
    assert not [problem for problem in compile_text(text=write_framework(account.made)).problems if problem.severity is Severity.ERROR]


def test_a_run_policy_within_a_run_policy_is_no_field() -> None:
    job = JOBS["jax-JAXJob"]
    within = {"runPolicy": {"runPolicy": {"suspend": True}}}
    (account,) = convert(json.dumps({**job, "spec": {**job["spec"], **within}})).jobs
    found = [(entry.outcome, entry.what) for entry in account.entries if entry.path[:3] == ("spec", "runPolicy", "runPolicy")]
    assert found == [(Outcome.DIFFERENT, "it is left out")]


def test_workers_that_are_two_roles_are_each_given_a_server_once(monkeypatch: pytest.MonkeyPatch) -> None:
    add_role: Callable[..., list[Part]] = Job.add_role
    monkeypatch.setattr(Job, "add_role", lambda job, kind: add_role(job, kind, split_first=kind == "Worker"))
    made = convert_mpi(JOBS["mpi-gpu-MPIJob"])
    commands = {role.name: role.template["spec"]["containers"][0]["command"] for role in made.draft.roles if role.name != "launcher"}
    assert commands == {name: ["/usr/sbin/sshd", "-De"] for name in ("worker0", "worker")}
    told = [entry.what for entry in made.ledger.entries(JOBS["mpi-gpu-MPIJob"])]
    assert not [what for what in told if "this command may start no server" in what]


@pytest.mark.parametrize("written", ["{{FC_TASK_INDEX}}", "a {{FC_FRAMEWORK_NAME}}", "{{FC_TASK_INDEX+1}}"])
@pytest.mark.parametrize("name", ["jax-JAXJob", "trainjob-torch-TrainJob"])
def test_a_text_that_would_be_replaced_here_is_told(name: str, written: str) -> None:
    job = json.dumps(JOBS[name]).replace('"image": "', f'"workingDir": "{written}", "image": "', 1)
    found = [entry.what for entry in convert(job).jobs[0].different if "is replaced by" in entry.what]
    assert found == [f"`{written.removeprefix('a ')}` is replaced by a value of the task's"]
    assert not [entry for entry in convert(job.replace("{{FC_", "{{ FC_")).jobs[0].different if "is replaced by" in entry.what]


def test_a_text_that_would_be_replaced_in_a_runtime_is_told() -> None:
    job = json.loads(json.dumps(JOBS["trainjob-torch-TrainJob"]))
    pod = job["items"][1]["spec"]["template"]["spec"]["replicatedJobs"][-1]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["workingDir"] = "/w/{{FC_TASK_INDEX}}"
    (entry,) = [entry for entry in convert(json.dumps(job)).jobs[0].different if "is replaced by" in entry.what]
    assert entry.path == ("spec", "runtimeRef")


def _jobset(change: Callable[[dict[str, Any]], None]) -> Any:
    """Return the account of a JobSet that is changed."""
    job = json.loads(json.dumps(JOBS["jobset-JobSet"]))
    change(job["spec"])
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    return account


TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"


@pytest.mark.parametrize("place", ["job", "replicated job", "runtime"])
def test_an_annotation_that_the_operator_acts_upon_is_told(place: str) -> None:
    name = "trainjob-torch-TrainJob" if place == "runtime" else "jobset-JobSet"
    job = json.loads(json.dumps(JOBS[name]))
    spec = (job["items"][1]["spec"]["template"] if place == "runtime" else job)["spec"]
    holder = job if place == "job" else spec["replicatedJobs"][-1]["template"]
    holder.setdefault("metadata", {}).setdefault("annotations", {})[TOPOLOGY] = "rack"
    (entry,) = [one for one in convert(json.dumps(job)).jobs[0].different if TOPOLOGY in one.what]
    assert "`topologyKey: rack`" in entry.remedy
    assert (entry.path == ("spec", "runtimeRef")) == (place == "runtime")


@pytest.mark.parametrize(
    ("key", "of_job", "of_pod"),
    [
        ("scheduling.volcano.sh/queue-name", True, False),
        ("training.kubeflow.org/x", True, True),
        ("kueue.x-k8s.io/podset-required-topology", True, True),
        ("sidecar.istio.io/inject", False, False),
        ("notkubeflow.org/x", False, False),
        ("team", False, False),
    ],
)
def test_what_somebody_else_acts_upon_is_told(key: str, of_job: bool, of_pod: bool) -> None:
    for in_pod, told in ((False, of_job), (True, of_pod)):
        job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
        holder = job["spec"]["jaxReplicaSpecs"]["Worker"]["template"] if in_pod else job
        holder.setdefault("metadata", {})["annotations"] = {key: "a"}
        assert bool([one for one in convert(json.dumps(job)).jobs[0].different if one.path[-1] == key]) == told


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("labels", "kustomize.toolkit.fluxcd.io/name", "apps"),
        ("labels", "helm.toolkit.fluxcd.io/namespace", "apps"),
        ("labels", "argocd.argoproj.io/instance", "apps"),
        ("labels", "app.kubernetes.io/managed-by", "Helm"),
        ("annotations", "argocd.argoproj.io/tracking-id", "apps:kubeflow.org/JAXJob:research/pax-lm"),
        ("annotations", "meta.helm.sh/release-name", "apps"),
    ],
)
def test_marks_of_what_applied_the_job_are_left_out(kind: str, key: str, value: str) -> None:
    """With them, Argo CD, Flux and Helm would take the Framework for one that is no more in Git, and delete it."""
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    own = {"kustomize.toolkit.fluxcd.io/prune": "disabled", "argocd.argoproj.io/sync-options": "Replace"}
    job["metadata"][kind] = {key: value, **own, "app.kubernetes.io/part-of": "Helm"}
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    assert getattr(account.made, kind) == {**own, "app.kubernetes.io/part-of": "Helm"}
    assert [entry.outcome for entry in account.entries if entry.path[-1] == key] == [Outcome.DROPPED]


def test_a_job_of_multikueue_runs_nowhere() -> None:
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    job["spec"]["runPolicy"] = {"managedBy": "kueue.x-k8s.io/multikueue"}
    conversion = convert(json.dumps(job))
    (entry,) = [one for one in conversion.jobs[0].different if one.path[-1] == "managedBy"]
    assert entry.remedy == "take `managedBy` out of the Framework, and fcontroller runs it here"
    assert "  # Different: no controller of this cluster will run it" in conversion.text()
    assert "\n  managedBy: kueue.x-k8s.io/multikueue\n" in conversion.text()


@pytest.mark.parametrize("key", ["podSpecOverrides", "podTemplateOverrides"])
def test_overrides_of_another_trainer_are_refused_by_name(key: str) -> None:
    overrides = [{"targetJobs": [{"name": "node"}], "volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "b"}}]}]
    job = _changed("trainjob-torch-TrainJob", 0, **{key: overrides})
    ((reason,),) = [account.reasons for account in convert(json.dumps(job)).refused]
    assert reason.path == ("spec", key)
    assert "`runtimePatches`" in reason.text


@pytest.mark.parametrize(
    ("torch", "own", "count"),
    [
        ({"numProcPerNode": 4}, {}, 1),
        ({"numProcPerNode": "gpu", "elasticPolicy": {"minNodes": 1}}, {}, 2),
        ({"numProcPerNode": "auto"}, {}, 0),
        ({"numProcPerNode": 4}, {"numProcPerNode": 2}, 0),
    ],
)
def test_a_policy_of_an_earlier_trainer_is_told(torch: dict[str, Any], own: dict[str, Any], count: int) -> None:
    job = _changed("trainjob-torch-TrainJob", 1, mlPolicy={"numNodes": 1, "torch": torch})
    job["items"][0]["spec"]["trainer"] |= own
    (account,) = convert(json.dumps(job)).jobs
    assert len([entry for entry in account.different if "earlier versions" in entry.why]) == count


def test_any_job_that_succeeds_does_so_with_all_of_its_pods() -> None:
    account = _jobset(lambda spec: spec.update(successPolicy={"operator": "Any"}))
    assert [role.min_succeeded for role in account.made.roles] == [1, 3]


@pytest.mark.parametrize(
    ("policy", "limit", "pods", "different"),
    [
        ("Never", 2, 3, True),
        ("Never", 2, 1, False),
        ("Never", 0, 3, False),
        ("OnFailure", 0, 1, True),
        ("Never", None, 3, True),
        ("Never", None, 1, False),
        ("OnFailure", None, 1, True),
    ],
)
def test_the_backoff_limit_of_a_job_is_for_all_of_its_pods(policy: str, limit: int | None, pods: int, different: bool) -> None:
    def change(spec: dict[str, Any]) -> None:
        job = spec["replicatedJobs"][1]["template"]["spec"]
        job.update(parallelism=pods, completions=pods, **({} if limit is None else {"backoffLimit": limit}))
        job["template"]["spec"]["restartPolicy"] = policy

    found = [".".join(map(str, entry.path)) for entry in _jobset(change).different]
    field = "spec.replicatedJobs.1" if limit is None else "spec.replicatedJobs.1.template.spec.backoffLimit"
    assert (field in found) == different


@pytest.mark.parametrize("key", ["enableDNSHostnames", "publishNotReadyAddresses"])
def test_names_that_a_jobset_does_not_want_are_told(key: str) -> None:
    for wanted in (True, False):
        account = _jobset(lambda spec, wanted=wanted: spec.update(network={key: wanted}))  # type: ignore[misc]
        assert (("spec", "network", key) in [entry.path for entry in account.different]) is not wanted


@pytest.mark.parametrize(
    ("policy", "remedy"),
    [
        ({"maxRestarts": 3}, "maxRetryCount: 3"),
        ({"maxRestarts": 3, "rules": [{"action": "FailJobSet"}]}, "maxRetryCount: 3"),
        ({"rules": [{"action": "RestartJobSetAndIgnoreMaxRestarts"}, {"action": "FailJobSet"}]}, "maxRetryCount: -1"),
        ({"maxRestarts": 3, "rules": [{"action": "RestartJobAndIgnoreMaxRestarts"}]}, "maxRetryCount: -1"),
    ],
)
def test_the_failure_policy_of_a_jobset_and_of_a_runtime_is_told(policy: dict[str, Any], remedy: str) -> None:
    for job, path in _with_failure_policy(policy):
        (entry,) = [one for one in convert(json.dumps(job)).jobs[0].different if "is not run again" in one.what]
        assert entry.path == path
        assert remedy in entry.remedy


@pytest.mark.parametrize("policy", [{}, {"maxRestarts": 0, "rules": [{"action": "RestartJob"}, {"action": "FailJobSet"}]}])
def test_a_failure_policy_that_restarts_nothing_is_no_difference(policy: dict[str, Any]) -> None:
    for job, _ in _with_failure_policy(policy):
        assert not [one for one in convert(json.dumps(job)).jobs[0].different if "run again" in one.what]


def _with_failure_policy(policy: dict[str, Any]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield a TrainJob and a JobSet with this policy, and where each is told of it."""
    runtime, jobset = (json.loads(json.dumps(JOBS[name])) for name in ("trainjob-torch-TrainJob", "jobset-JobSet"))
    runtime["items"][1]["spec"]["template"]["spec"]["failurePolicy"] = jobset["spec"]["failurePolicy"] = policy
    yield runtime, ("spec", "runtimeRef")
    yield jobset, ("spec", "failurePolicy")


def test_an_order_of_the_jobs_of_a_runtime_is_refused() -> None:
    job = _changed("trainjob-jax-TrainJob", 1)
    template = job["items"][1]["spec"]["template"]["spec"]
    template["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
    assert convert(json.dumps(job)).jobs[0].made is not None, "there is one job"
    template["replicatedJobs"].append({**template["replicatedJobs"][0], "name": "other"})
    assert "have no equivalent" in convert(json.dumps(job)).refused[0].reasons[0].text
    template["startupPolicy"] = {"startupPolicyOrder": "AnyOrder"}
    assert convert(json.dumps(job)).jobs[0].made is not None


@pytest.mark.parametrize(
    ("name", "path"), [("jobset-JobSet", ("spec", "replicatedjobs")), ("trainjob-jax-TrainJob", ("spec", "runtimeRef"))]
)
def test_misspelt_replicated_jobs_are_named(name: str, path: tuple[str, ...]) -> None:
    (account,) = convert(json.dumps(JOBS[name]).replace('"replicatedJobs"', '"replicatedjobs"')).refused
    assert account.reasons[0][:2] == (path, "the operator has no field `replicatedjobs`: did you mean `replicatedJobs`?")


def test_a_job_of_servers_alone_that_ends_here_is_told() -> None:
    job = _reading_labels("TFJob", "tfReplicaSpecs", "tensorflow", {"PS": 2})
    (entry,) = [one for one in convert(json.dumps(job)).jobs[0].different if one.path == ("spec", "tfReplicaSpecs")]
    assert entry.what == "it succeeds when all of its Pods have"


def test_what_the_operator_does_after_an_exit_code_is_told_as_it_is() -> None:
    for kind, specs, container, said in (
        ("MPIJob", "mpiReplicaSpecs", "mpi", "makes no Pod of such a job anew"),
        ("XGBoostJob", "xgbReplicaSpecs", "xgboost", "tries again after any exit code from 128 on"),
    ):
        job = _reading_labels(kind, specs, container, {"Launcher" if kind == "MPIJob" else "Master": 1, "Worker": 1})
        job["spec"][specs]["Worker"]["restartPolicy"] = "ExitCode"
        (entry,) = [one for one in convert(json.dumps(job)).jobs[0].different if one.path[-1] == "restartPolicy"]
        assert said in entry.why


def test_the_config_map_of_an_mpijob_is_mounted_by_the_name_that_it_has_here() -> None:
    job = _reading_labels("MPIJob", "mpiReplicaSpecs", "mpi", {"Launcher": 1, "Worker": 1})
    names = ("a-b-config", "other-config")
    volumes = [{"name": name, "configMap": {"name": name}} for name in names]
    job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["volumes"] = volumes
    (account,) = convert(json.dumps(job)).jobs
    assert account.made is not None
    (launcher,) = [role for role in account.made.roles if role.name == "launcher"]
    found = [one["configMap"]["name"] for one in launcher.template["spec"]["volumes"] if one["name"] in names]
    assert found == ["ab-config", "other-config"]


def test_the_keys_of_an_mpijob_are_named_and_not_left_behind() -> None:
    for name, secret in (("mpi-gpu-MPIJob", "horovodgpu-ssh"), ("mpi-operator-MPIJob", "piintel-ssh")):
        conversion = convert(json.dumps(JOBS[name]))
        remedies = [entry.remedy for entry in conversion.jobs[0].different]
        assert any(f"make the Secret `{secret}`" in remedy for remedy in remedies)
        assert "--from-file=ssh-publickey=mpi-key.pub && rm mpi-key mpi-key.pub\n" in conversion.text()


def test_no_retry_is_said_in_words() -> None:
    def change(spec: dict[str, Any]) -> None:
        job = spec["replicatedJobs"][1]["template"]["spec"]
        job["backoffLimit"] = 0
        job["template"]["spec"]["restartPolicy"] = "OnFailure"

    (entry,) = [one for one in _jobset(change).different if one.path[-1] == "backoffLimit"]
    assert entry.what.startswith("no Pod is made again after a failure; ")


def test_owners_that_are_left_out_stand_in_a_comment() -> None:
    job = json.loads(json.dumps(JOBS["jax-JAXJob"]))
    job["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Workflow", "name": "a", "uid": "b"}]
    assert "# Different: metadata.ownerReferences: ownerReferences of the job: left out: let what made" in convert(json.dumps(job)).text()


@pytest.mark.parametrize(
    ("name", "written", "misspelt"),
    [
        ("jobset-JobSet", "successPolicy", "sucessPolicy"),
        ("jobset-JobSet", "parallelism", "paralelism"),
        ("trainjob-torch-TrainJob", "numNodes", "numNode"),
        ("trainjob-torch-TrainJob", "initializer", "initialiser"),
        ("pytorch-elastic-PyTorchJob", "maxRestarts", "maxRestart"),
        ("pytorch-elastic-PyTorchJob", "containers", "contaners"),
        ("pytorch-elastic-PyTorchJob", "spec", "sepc"),
        ("pytorch-elastic-PyTorchJob", "metadata", "metdata"),
        ("jobset-JobSet", "containers", "contaners"),
    ],
)
def test_a_field_that_is_nearly_right_is_refused(name: str, written: str, misspelt: str) -> None:
    (account,) = convert(json.dumps(JOBS[name]).replace(f'"{written}"', f'"{misspelt}"')).refused
    assert f"the operator has no field `{misspelt}`: did you mean `{written}`?" in {reason.text for reason in account.reasons}
