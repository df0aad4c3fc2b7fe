"""The MPI policy of Trainer: a launcher, nodes with a server for ssh, a hostfile."""

from __future__ import annotations

from typing import Any

from fcompile.convert.draft import Draft
from fcompile.convert.fields import Fields
from fcompile.convert.kinds import ssh
from fcompile.convert.ledger import Refusal
from fcompile.convert.names import host
from fcompile.convert.replicated_jobs import ReplicatedJob
from fcompile.convert.trainer import gpus, upsert
from fcompile.diagnostics.problem import Path


def convert_mpi_policy(
    mpi: Fields, spec: Fields, parts: list[ReplicatedJob], resources: dict[str, Any], draft: Draft, source: Path
) -> dict[str, Any]:
    """Set the keys, variables and waiting of the policy, and return the ConfigMap with the hostfile. Raises Refusal.

    :param resources: those by which processors are counted.
    """
    by_name = {part.name: part for part in parts}
    launcher, node = by_name.get("launcher"), by_name.get("node")
    main = launcher.container("node") if launcher else None
    if launcher is None or node is None or main is None:
        raise Refusal(source, "the policy `mpi` needs the jobs `launcher` and `node`, and a container `node` in them")
    if (mpi.text("mpiImplementation") or "OpenMPI") != "OpenMPI":
        raise Refusal(source, "Trainer runs no other implementation of MPI than OpenMPI")
    shares, path = mpi.flag("runLauncherAsNode") or False, mpi.text("sshAuthMountPath") or "/root/.ssh"
    asked, slots = spec.below("trainer").count("numProcPerNode", 1), mpi.count("numProcPerNode", 1) or 1
    if asked is not None:
        slots = asked
    elif slots == 1:
        slots = max(1, gpus(resources))
    for part in (node, launcher):
        _main_first(part)
        ssh.mount_keys(draft, part.role, path, (0o640, 0o644))
    ssh.mount_config(draft, launcher.role, {"hostfile": 0o444})
    variables = {
        "OMPI_MCA_orte_default_hostfile": f"{ssh.CONFIG_PATH}/hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_set_default_slots": str(slots),
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
    }
    upsert(main, [{"name": name, "value": value} for name, value in variables.items()])
    if launcher.needs.pop("node", None) == "Ready":
        ssh.wait_for_workers(launcher.role, path)
    if launcher.needs or node.needs:
        raise Refusal(source, "jobs that wait until others are ready have no equivalent: all roles start at once")
    ssh.tell_keys(draft)
    listed = [part.role for part in parts if part is node or (shares and part is launcher)]
    hosts = [host(draft.name, role.name, index) for role in listed for index in range(role.task_number)]
    return ssh.config_map(draft, [f"{name} slots={slots}" for name in hosts], {})


def _main_first(part: ReplicatedJob) -> None:
    """Put the container `node` first: that is the one that gets the mounts."""
    containers = part.role.template["spec"]["containers"]
    containers.sort(key=lambda container: container.get("name") != "node")
