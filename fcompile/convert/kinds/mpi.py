"""MPIJob of training-operator: the launcher runs `kubectl exec` in the workers. That has no equivalent here, and ssh takes its place."""

from __future__ import annotations

from typing import Any

from fcompile.convert.containers import Variable, add_variables
from fcompile.convert.job import Job, Part, read_job
from fcompile.convert.kinds.ssh import (
    CONFIG_PATH,
    RSH,
    SSHD,
    WAIT,
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
from fcompile.convert.made import Made
from fcompile.convert.names import host
from fcompile.convert.replicas import Replica
from fcompile.model.values import mapping, sequence

_SSH_PATH = "/root/.ssh"
_OF_SSHD = ("SETGID", "SETUID", "SYS_CHROOT")
_SCRIPT = "kubexec.sh"
"""The name that training-operator's script has: users' texts name it."""


def convert_mpi(source: dict[str, Any]) -> Made:
    """Convert an MPIJob of kubeflow.org/v1. Raises Refusal."""
    job = read_job(source, "mpiReplicaSpecs", ("Launcher", "Worker"), "Never", default_count={"Launcher": 1, "Worker": 0})
    if "Launcher" not in job.replicas or job.replicas["Launcher"].count != 1:
        raise Refusal(job.spec.at("mpiReplicaSpecs"), "the operator takes a job with one Launcher only")
    slots = job.spec.count("slotsPerWorker", 1)
    if slots is not None:
        job.ledger.converted(job.spec.at("slotsPerWorker"), "the hostfile")
    for kind in ("Launcher", "Worker"):
        if kind in job.replicas:
            for part in job.add_role(kind):
                rename_config(job.name, job.draft, part.role, job.ledger)
    launcher = job.parts["Launcher"][0].role
    launcher.min_succeeded = 1
    shares = _asks_for_gpus(launcher.template["spec"]["containers"])
    names = [host(job.draft.name, "launcher", 0)] if shares else []
    if shares:
        launcher.ports = []
    for part in job.parts.get("Worker", ()):
        part.role.ports = []
        names += [job.host("Worker", index) for index in range(part.role.task_number)]
        mount_config(job.draft, part.role, {_SCRIPT: 0o555})
        mount_keys(job.draft, part.role, _SSH_PATH)
        _serve(job, part)
    mount_config(job.draft, launcher, {_SCRIPT: 0o555, "hostfile": 0o444, "discover_hosts.sh": 0o555})
    mount_keys(job.draft, launcher, _SSH_PATH)
    _variables(job, shares)
    wait_for_workers(launcher, _SSH_PATH)
    found = "".join(f"echo {name}:{slots or 1}\n" for name in names)
    scripts = {"discover_hosts.sh": f"#!/bin/sh\n{found}", _SCRIPT: RSH}
    job.draft.beside.append(config_map(job.draft, [f"{name} slots={slots or 1}" for name in names], scripts))
    _tell(job)
    return job.finish()


def _asks_for_gpus(containers: list[dict[str, Any]]) -> bool:
    limits = [(container.get("resources") or {}).get("limits") for container in containers]
    return any("gpu" in str(name) for found in limits if isinstance(found, dict) for name in found)


def _serve(job: Job, part: Part) -> None:
    """Let workers without a command wait for ssh, as those of the operator wait for `kubectl exec`."""
    container = part.role.template["spec"]["containers"][0]
    if not container.get("command"):
        container["command"] = list(SSHD)
        container.pop("args", None)
        return
    path = (*part.role.template_source, "spec", "containers", 0, "command")
    job.ledger.different(
        path,
        "the launcher reaches a worker by ssh, and this command may start no server for that",
        "the operator runs `kubectl exec` in the workers, for which any command will do",
        "write `/usr/sbin/sshd -De` where the command only sleeps, and install an ssh server in the image",
    )


def _variables(job: Job, shares: bool) -> None:
    launcher = job.parts["Launcher"][0].role
    container = launcher.template["spec"]["containers"][0]
    own = {variable.get("name") for variable in container.get("env") or ()}
    made: list[Variable] = [
        ("OMPI_MCA_plm_rsh_agent", f"{CONFIG_PATH}/{_SCRIPT}"),
        ("OMPI_MCA_orte_default_hostfile", f"{CONFIG_PATH}/hostfile"),
    ]
    if not shares:
        made += [("NVIDIA_VISIBLE_DEVICES", ""), ("NVIDIA_DRIVER_CAPABILITIES", "")]
    intel: list[Variable] = [("I_MPI_HYDRA_BOOTSTRAP", "rsh"), ("I_MPI_HYDRA_BOOTSTRAP_EXEC", f"{CONFIG_PATH}/{_SCRIPT}")]
    made += [variable for variable in intel if variable[0] not in own]
    add_variables(launcher, made, job.ledger, only=str(container.get("name")))


def _tell(job: Job) -> None:
    tell_keys(job.draft)
    tell_hosts(job.draft)
    why = "`kubectl exec` needs rights in every Pod and no Framework makes roles and service accounts"
    remedy = f"{make_keys(job.draft)}, and use images with ssh, whose logins have the PATH and LD_LIBRARY_PATH that the programs need"
    what = "the launcher reaches the workers by ssh, where the operator runs `kubectl exec` (kubexec)"
    job.ledger.different(job.replicas["Launcher"].path, what, why, remedy)
    for replica in job.replicas.values():
        _tell_user(job, replica)
    _tell_names(job, job.replicas["Launcher"])
    if "Worker" in job.replicas:
        _tell_login(job, job.replicas["Worker"])
    if "mainContainer" in job.spec:
        job.spec.text("mainContainer")
        what = "ssh reaches the container that runs the server"
        job.ledger.different(job.spec.at("mainContainer"), what, why, "run the server for ssh in that container")


def _tell_login(job: Job, worker: Replica) -> None:
    """Take down what a program that ssh starts in a worker does not find."""
    spec = (*worker.template_path, "spec")
    for field in ("env", "envFrom"):
        if worker.containers[0].get(field):
            what = "programs that the launcher starts in a worker do not have these variables"
            why = "with `kubectl exec` they have those of the container, and by ssh those of a login"
            remedy = (
                "give them to the Launcher too, and hand each on with `mpirun -x NAME`; or write them into the image's /etc/environment"
            )
            job.ledger.different((*spec, "containers", 0, field), what, why, remedy)
    capabilities = mapping(mapping(worker.containers[0], "securityContext"), "capabilities")
    dropped, added = ({str(name).upper().removeprefix("CAP_") for name in sequence(capabilities, kind)} for kind in ("drop", "add"))
    if "ALL" not in added and (missing := [name for name in _OF_SSHD if (name in dropped or "ALL" in dropped) and name not in added]):
        what = "sshd lacks capabilities by which it lets somebody in"
        why = "a login has another user and root folder than the server; `kubectl exec` needs none of them"
        remedy = f"add {', '.join(missing)} to `capabilities.add`"
        job.ledger.different((*spec, "containers", 0, "securityContext", "capabilities", "drop"), what, why, remedy)
    if worker.template["spec"].get("hostNetwork") is True:
        what, why = "its name leads to its node, whose own ssh server may have port 22", "`kubectl exec` needs no port"
        remedy = f"leave it out; or choose another port, `-p` of sshd in the workers, and of ssh in {_SCRIPT} and the init container {WAIT}"
        job.ledger.different((*spec, "hostNetwork"), what, why, remedy)


def _tell_user(job: Job, replica: Replica) -> None:
    """Take down that ssh works for root alone, where others run."""
    spec = (*replica.template_path, "spec")
    places = [(replica.containers[0], (*spec, "containers", 0)), (replica.template["spec"], spec)]
    for field, fine in (("runAsUser", 0), ("runAsNonRoot", False)):
        for holder, path in places:
            value = mapping(holder, "securityContext").get(field)
            if value is None:
                continue
            if value != fine:
                what = "ssh works for root alone, as it is set up here"
                why = "the keys in /root/.ssh are for root to read, and sshd has port 22; `kubectl exec` works for any user"
                remedy = "run launcher and workers as root; or mount the keys into the user's home, and run an sshd of his on another port"
                job.ledger.different((*path, "securityContext", field), what, why, remedy)
            return


def _tell_names(job: Job, launcher: Replica) -> None:
    """Take down that the launcher finds no worker, where it does not ask the cluster's DNS."""
    spec = launcher.template["spec"]
    policy = spec.get("dnsPolicy") or "ClusterFirst"
    if policy == "Default" or (policy == "ClusterFirst" and spec.get("hostNetwork") is True):
        field = "dnsPolicy" if policy == "Default" else "hostNetwork"
        what, why = "the launcher does not find the workers", "ssh goes by names that only the cluster's DNS knows, `kubectl exec` by none"
        remedy = f"write `dnsPolicy: ClusterFirst{'WithHostNet' if spec.get('hostNetwork') is True else ''}`"
        job.ledger.different((*launcher.template_path, "spec", field), what, why, remedy)
