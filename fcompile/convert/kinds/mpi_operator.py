"""MPIJob of mpi-operator (v2beta1): the launcher reaches the workers by ssh, one Service names them all."""

from __future__ import annotations

from typing import Any

from fcompile.convert.containers import Variable, add_variables
from fcompile.convert.job import MPI_OPERATOR, Job, read_job
from fcompile.convert.kinds.ssh import (
    CONFIG_PATH,
    SSHD,
    config_map,
    make_keys,
    mount_config,
    mount_keys,
    rename_config,
    tell_hosts,
    tell_keys,
    wait_for_workers,
)
from fcompile.convert.ledger import Refusal
from fcompile.convert.lifetime import set_clean_pod_policy, set_deadline, set_time_to_live
from fcompile.convert.made import Made
from fcompile.convert.names import Task
from fcompile.convert.names import host as host_of
from fcompile.convert.replicated_jobs import JOB_TRIES
from fcompile.convert.retries import COUNT_RESTARTS, NOT_COUNTED, made_anew
from fcompile.model import names
from fcompile.model.values import mapping, sequence

_POLICIES = ("Never", "OnFailure")
_IMPLEMENTATIONS = ("OpenMPI", "Intel", "MPICH")


def convert_mpi_operator(source: dict[str, Any]) -> Made:
    """Convert an MPIJob of kubeflow.org/v2beta1. Raises Refusal."""
    defaults = {"Launcher": 1, "Worker": 0}
    job = read_job(source, "mpiReplicaSpecs", ("Launcher", "Worker"), "Never", operator=MPI_OPERATOR, default_count=defaults)
    if "Launcher" not in job.replicas or job.replicas["Launcher"].count != 1:
        raise Refusal(job.spec.at("mpiReplicaSpecs"), "the operator takes a job with one Launcher only")
    for replica in job.replicas.values():
        if replica.policy not in _POLICIES:
            raise Refusal((*replica.path, "restartPolicy"), f"the operator takes {' and '.join(_POLICIES)} only")
        if not replica.count:
            raise Refusal((*replica.path, "replicas"), "the operator takes no Worker without replicas: leave it out")
    launching = job.replicas["Launcher"]
    if not job.spec.below("mpiReplicaSpecs").below("Launcher").text("restartPolicy"):
        launching.policy = "OnFailure"
    tries = JOB_TRIES if job.limit is None else job.limit  # the launcher is a Job of Kubernetes there
    for kind in ("Launcher", "Worker"):
        if kind in job.replicas:
            for part in job.add_role(kind):
                rename_config(job.name, job.draft, part.role, job.ledger)
                if part.role.template["spec"].get("hostNetwork") is True:
                    part.role.template["spec"]["dnsPolicy"] = "ClusterFirstWithHostNet"
    launcher = job.parts["Launcher"][0].role
    launcher.min_succeeded, launcher.max_retry_count, launcher.ports = 1, tries, []
    job.single, job.subdomain = {f"{job.name}-launcher": Task("launcher", 0)}, job.name
    path = job.spec.text("sshAuthMountPath") or "/root/.ssh"
    shares = job.spec.flag("runLauncherAsWorker") or False
    implementation = job.spec.text("mpiImplementation") or "OpenMPI"
    if implementation not in _IMPLEMENTATIONS:
        raise Refusal(job.spec.at("mpiImplementation"), f"it must be one of {', '.join(_IMPLEMENTATIONS)}")
    slots = job.spec.count("slotsPerWorker", 1) or 1
    hosts = [host_of(job.draft.name, "launcher", 0)] if shares else []
    for part in job.parts.get("Worker", ()):
        part.role.ports, part.role.min_failed = [], -1
        hosts += [job.host("Worker", index) for index in range(part.role.task_number)]
        container = part.role.template["spec"]["containers"][0]
        if not container.get("command") and not container.get("args"):
            container["command"] = list(SSHD)
        add_variables(part.role, [("K_MPI_JOB_ROLE", "worker")], job.ledger, only=str(container.get("name")))
        mount_keys(job.draft, part.role, path)
        _search(job, part.role.template["spec"])
    variables = _variables(implementation, str(slots), shares)
    add_variables(launcher, variables, job.ledger, only=str(launcher.template["spec"]["containers"][0].get("name")))
    mount_keys(job.draft, launcher, path)
    mount_config(job.draft, launcher, {"hostfile": 0o444, "discover_hosts.sh": 0o555})
    policy = job.spec.text("launcherCreationPolicy")
    _lifetime(job, waits=policy == "WaitForWorkersReady")
    if policy == "WaitForWorkersReady":
        wait_for_workers(launcher, path)
    own = job.draft.namespace or names.placeholder(names.FRAMEWORK_NAMESPACE)
    full = [f"{name}.{own}.svc" if job.draft.namespace else name for name in hosts]
    lines = [f"{name} slots={slots}" if implementation == "OpenMPI" else f"{name}:{slots}" for name in full]
    scripts = {"discover_hosts.sh": "#!/bin/sh\n" + "".join(f"echo {name}\n" for name in full)}
    job.draft.beside.append(config_map(job.draft, lines, scripts))
    _tell(job, policy, tries)
    return job.finish()


def _search(job: Job, spec: dict[str, Any]) -> None:
    """Let workers find all Pods by their host names alone: Intel MPI and MPICH tell them that of the launcher."""
    namespace = job.draft.namespace or names.placeholder(names.FRAMEWORK_NAMESPACE)
    domains = [f"{names.service_name(job.draft.name, role.name)}.{namespace}.svc.cluster.local" for role in job.draft.roles]
    config = dict(mapping(spec, "dnsConfig"))
    config["searches"] = [*sequence(config, "searches"), *domains]
    spec["dnsConfig"] = config


def _lifetime(job: Job, *, waits: bool) -> None:
    """Take over what the operator hands to the launcher, which is a Job of Kubernetes.

    :param waits: whether that is made once the workers are ready.
    """
    policy = job.spec.below("runPolicy")
    late = "the operator's counts from when the workers are ready" if waits else ""
    set_deadline(policy, job.draft, job.ledger, why=late, remedy="add the time that workers may take to be ready")
    launcher, keep = "the operator's is of the launcher's Job, and the MPIJob stays", "leave it out, and the controller's setting decides"
    set_time_to_live(policy, job.draft, job.ledger, why=launcher, remedy=keep)
    set_clean_pod_policy([policy], job.draft, job.ledger, launcher_stays=True)


def _variables(implementation: str, slots: str, shares: bool) -> list[Variable]:
    hostfile, attempts = f"{CONFIG_PATH}/hostfile", "-o ConnectionAttempts=10"
    made: list[Variable] = [("K_MPI_JOB_ROLE", "launcher")]
    if implementation == "OpenMPI":
        made += [("OMPI_MCA_orte_keep_fqdn_hostnames", "true"), ("OMPI_MCA_orte_default_hostfile", hostfile)]
        made += [("OMPI_MCA_plm_rsh_args", attempts), ("OMPI_MCA_orte_set_default_slots", slots)]
    elif implementation == "Intel":
        made += [("I_MPI_HYDRA_HOST_FILE", hostfile), ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", attempts), ("I_MPI_PERHOST", slots)]
    else:
        made += [("HYDRA_HOST_FILE", hostfile), ("HYDRA_LAUNCH_EXTRA_ARGS", attempts)]
    if not shares:
        made += [("NVIDIA_VISIBLE_DEVICES", ""), ("NVIDIA_DRIVER_CAPABILITIES", "")]
    return made


def _tell(job: Job, policy: str | None, tries: int) -> None:
    tell_keys(job.draft)
    tell_hosts(job.draft)
    targets = {
        "slotsPerWorker": "the hostfile",
        "sshAuthMountPath": "the mount of the keys",
        "runLauncherAsWorker": "the hostfile",
        "mpiImplementation": "the variables of the launcher",
    }
    for key, to in targets.items():
        if key in job.spec:
            job.ledger.converted(job.spec.at(key), to)
    if policy == "WaitForWorkersReady":
        job.ledger.converted(
            job.spec.at("launcherCreationPolicy"), "an init container of the launcher that waits until ssh reaches each worker"
        )
    elif policy is not None:
        job.ledger.dropped(job.spec.at("launcherCreationPolicy"), "all Pods are made at once here as well")
    worker = job.replicas.get("Worker")
    if worker is not None:
        anew = "is made anew" if worker.policy == "OnFailure" else "leaves the others running"
        what, why = f"a worker that is evicted {anew}, and does not end the job", "the operator calls the job Failed then"
        remedy = "write `minFailedTaskCount: 1` into the role `worker`: then a worker that fails ends the job, for whatever reason"
        job.ledger.different(worker.path, what, why, remedy)
    if job.limit is not None and job.replicas["Launcher"].policy == "Never":
        job.ledger.converted(job.limit_path, "task.retryPolicy of the role `launcher`")
    elif job.limit is not None:
        what = f"{made_anew(tries, 'the Pod of the launcher')}; {NOT_COUNTED}"
        why = "the launcher is a Job of Kubernetes there, which counts them too"
        job.ledger.different(job.limit_path, what, why, f"{COUNT_RESTARTS} of the launcher: then each failure counts")
    what = f"keys for ssh are yours to make, and {made_anew(tries, 'the Pod of the launcher')}"
    why = "the operator makes a Secret with keys for each job, and its launcher is a Job, which counts restarts of its containers too"
    job.ledger.different(job.replicas["Launcher"].path, what, why, make_keys(job.draft))
