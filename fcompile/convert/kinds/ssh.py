"""What MPI needs to reach the workers: a hostfile in a ConfigMap, keys for ssh, and a launcher that waits for them."""

from __future__ import annotations

import shlex
from typing import Any

from fcompile.convert.draft import Draft, RoleDraft
from fcompile.convert.ledger import Ledger
from fcompile.model.values import mapping, text

CONFIG_VOLUME, CONFIG_PATH, SSH_VOLUME = "mpi-job-config", "/etc/mpi", "ssh-auth"
SSHD = ("/usr/sbin/sshd", "-De")
"""What workers run that have no command of their own."""
_KEYS = [
    {"key": "ssh-privatekey", "path": "id_rsa"},
    {"key": "ssh-publickey", "path": "id_rsa.pub"},
    {"key": "ssh-publickey", "path": "authorized_keys"},
]
_OPTIONS = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectionAttempts=10"
WAIT = "wait-for-workers"
RSH = f"""#!/bin/sh
# Runs a command in another Pod: HOST COMMAND...
host=$1
shift
exec ssh {_OPTIONS} "$host" "$*"
"""


def config_map(draft: Draft, hosts: list[str], scripts: dict[str, str]) -> dict[str, Any]:
    """Return the ConfigMap with the hostfile and scripts."""
    metadata: dict[str, Any] = {"name": config_name(draft)}
    if draft.namespace is not None:
        metadata["namespace"] = draft.namespace
    data = {"hostfile": "".join(f"{line}\n" for line in hosts), **scripts}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def config_name(draft: Draft) -> str:
    """Return the name of the ConfigMap."""
    return f"{draft.name}-config"


def secret_name(draft: Draft) -> str:
    """Return the name of the Secret with the keys."""
    return f"{draft.name}-ssh"


def rename_config(job: str, draft: Draft, role: RoleDraft, ledger: Ledger) -> None:
    """Let volumes of the user's that name the operator's ConfigMap name the one that is made here."""
    for place, volume in enumerate(role.template["spec"].get("volumes") or ()):
        if text(mapping(volume, "configMap"), "name") == f"{job}-config":
            volume["configMap"] = {**volume["configMap"], "name": config_name(draft)}
            ledger.converted((*role.template_source, "spec", "volumes", place), "with the name that the ConfigMap has here")


def mount_config(draft: Draft, role: RoleDraft, modes: dict[str, int]) -> None:
    """Mount files of the ConfigMap into the first container of a role."""
    items = [{"key": key, "mode": mode, "path": key} for key, mode in modes.items()]
    _add_volume(role, {"name": CONFIG_VOLUME, "configMap": {"name": config_name(draft), "items": items}})
    _mount(role.template["spec"]["containers"][0], CONFIG_VOLUME, CONFIG_PATH)


def mount_keys(draft: Draft, role: RoleDraft, path: str, modes: tuple[int, int] | None = None) -> None:
    """Mount the keys for ssh into the first container of a role.

    :param modes: of the private key and of the public one, where the operator sets them. For root ssh takes no key that others may read.
    """
    items: list[dict[str, Any]] = [dict(key) for key in _KEYS]
    secret: dict[str, Any] = {"secretName": secret_name(draft), "items": items}
    if path == "/root/.ssh":
        secret["defaultMode"] = 0o600
    elif modes is not None:
        for item in items:
            item["mode"] = modes[item["key"] == "ssh-publickey"]
    _add_volume(role, {"name": SSH_VOLUME, "secret": secret})
    _mount(role.template["spec"]["containers"][0], SSH_VOLUME, path)


def wait_for_workers(role: RoleDraft, ssh_path: str) -> None:
    """Let the launcher wait, in an init container, until ssh reaches each worker of the hostfile."""
    main = role.template["spec"]["containers"][0]
    reach = f'ssh {_OPTIONS} "$host" true < /dev/null'
    loop = f'while read -r host rest; do case "$host" in launcher-*) continue;; esac; until {reach}; do sleep 2; done; done'
    container: dict[str, Any] = {
        "name": WAIT,
        "image": main.get("image"),
        "command": ["/bin/sh", "-c", f"sed 's/:/ /' {CONFIG_PATH}/hostfile | {loop}"],
        "resources": {"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "500m", "memory": "128Mi"}},
    }
    for key in ("imagePullPolicy", "securityContext"):
        if key in main:
            container[key] = main[key]
    _mount(container, CONFIG_VOLUME, CONFIG_PATH)
    _mount(container, SSH_VOLUME, ssh_path)
    spec = role.template["spec"]
    spec["initContainers"] = [*(spec.get("initContainers") or ()), container]


def tell_hosts(draft: Draft) -> None:
    """Say that the list of hosts does not follow the Pods that run."""
    draft.remarks.append("`discover_hosts.sh` and the hostfile name all workers; the operator's `discover_hosts.sh` names those that run")


def tell_keys(draft: Draft) -> None:
    """Say how the keys are made: no key may stand in a file that is kept."""
    secret = secret_name(draft)
    namespace = f" -n {shlex.quote(draft.namespace)}" if draft.namespace else ""
    lines = (
        "Different: the operator makes keys for ssh. Make them once, and never commit them:",
        "ssh-keygen -q -t ed25519 -N '' -f mpi-key",
        f"kubectl create secret generic {secret}{namespace} --type=kubernetes.io/ssh-auth"
        " --from-file=ssh-privatekey=mpi-key --from-file=ssh-publickey=mpi-key.pub && rm mpi-key mpi-key.pub",
    )
    for line in lines:
        draft.comment(line)


def make_keys(draft: Draft) -> str:
    """Return what to do about the keys, in a few words."""
    return f"make the Secret `{secret_name(draft)}`, by the commands at the head of the Framework"


def _add_volume(role: RoleDraft, volume: dict[str, Any]) -> None:
    spec = role.template["spec"]
    spec["volumes"] = [*(one for one in spec.get("volumes") or () if one.get("name") != volume["name"]), volume]


def _mount(container: dict[str, Any], name: str, path: str) -> None:
    container["volumeMounts"] = [*(container.get("volumeMounts") or ()), {"name": name, "mountPath": path}]
