"""`bundle`: what Argo CD must be told about Frameworks, in the forms in which it is told: everything in plugins/argocd but its Dockerfile.

The Lua is in the folder `framework` beside this file, in the layout of Argo CD's own repository; the tests that it wants are added by
tools/argocd_plugin.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from fcompile._version import __version__
from fcompile.commands.group import argument, command, completed
from fcompile.commands.option_values import check_folder
from fcompile.commands.parsing import former
from fcompile.diagnostics.writer import counted
from fcompile.emit import yaml
from fcompile.emit.files import write
from fcompile.errors import UsageError
from fcompile.model.names import GROUP, KIND
from fcompile.program import say

SCRIPTS = Path(__file__).resolve().parent / "framework"
LAYOUT = f"resource_customizations/{GROUP}/{KIND}"
ACTION_NAMES = ("start", "stop", "scale", "pause", "resume", "restart")
COMPARED_PODS = (
    "/metadata/annotations/argocd.argoproj.io~1hook",
    "/metadata/annotations/argocd.argoproj.io~1tracking-id",
    "/metadata/labels/app.kubernetes.io~1instance",
)
"""All that differs between an expected Pod and the live one that is what was reviewed. Argo CD puts the last two on what it prints: the
label where it tracks by label."""
CHURN = ("/status/attemptStatus/taskRoleStatuses", "/status/attemptStatus/taskRoleStatusesCompressed")
"""What changes with every task and matters to nobody who looks at the application: `status.taskCounts` says what health needs."""
AT_REST = ("Suspended", "Healthy")
"""The health of Frameworks that are not to run, the default first."""
_AT_REST_LINE = f'local at_rest = "{AT_REST[0]}"\n'
_KEY = f"{GROUP}_{KIND}"
_MOUNTS = [
    {"name": "var-files", "mountPath": "/var/run/argocd"},
    {"name": "plugins", "mountPath": "/home/argocd/cmp-server/plugins"},
    # A volume of its own: with the repo-server's, a repository could reach into the checkouts of others.
    {"name": "fcompile-tmp", "mountPath": "/tmp"},
]
_SIDECAR = {
    "name": "fcompile",
    # To be replaced by yours; by its digest, so that a node runs what was built.
    "image": f"registry.example.com/fcompile-argocd:{__version__}",
    "command": ["/var/run/argocd/argocd-cmp-server"],
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 999,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
    "volumeMounts": _MOUNTS,
}
_VOLUMES: list[dict[str, Any]] = [{"name": "fcompile-tmp", "emptyDir": {"sizeLimit": "2Gi"}}]
"""Checkouts that the repo-server sends go there, each for as long as a call lasts: without a limit they could fill the node's disk."""
PLUGIN = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "ConfigManagementPlugin",
    "metadata": {"name": "fcompile"},
    "spec": {
        "discover": {"find": {"command": ["fcompile", "argocd", "discover"]}},
        "generate": {"command": ["fcompile", "argocd", "generate"]},
        "parameters": {"dynamic": {"command": ["fcompile", "argocd", "parameters"]}},
    },
}


def script(name: str) -> str:
    """Return a Lua script: `health.lua`, `actions/discovery.lua`, `actions/stop/action.lua`."""
    return (SCRIPTS / name).read_text("utf-8")


def health(at_rest: str = AT_REST[0]) -> str:
    """Return the Lua of the health, with what is said of Frameworks that are not to run."""
    before, line, after = script("health.lua").partition(_AT_REST_LINE)
    assert line
    return before + line.replace(AT_REST[0], at_rest) + after


def settings(at_rest: str = AT_REST[0]) -> dict[str, str]:
    """Return the keys of the ConfigMap argocd-cm."""
    definitions = [{"name": name, "action.lua": script(f"actions/{name}/action.lua")} for name in ACTION_NAMES]
    actions = {"discovery.lua": script("actions/discovery.lua"), "definitions": definitions}
    known = [{"field": "spec.taskRoles.task.pod.spec", "type": "core/v1/PodSpec"}]
    return {
        f"resource.customizations.actions.{_KEY}": yaml.dump(actions),
        f"resource.customizations.health.{_KEY}": health(at_rest),
        "resource.customizations.ignoreDifferences.Pod": yaml.dump({"jsonPointers": list(COMPARED_PODS)}),
        f"resource.customizations.ignoreDifferences.{_KEY}": yaml.dump({"jsonPointers": ["/status"]}),
        f"resource.customizations.ignoreResourceUpdates.{_KEY}": yaml.dump({"jsonPointers": list(CHURN)}),
        f"resource.customizations.knownTypeFields.{_KEY}": yaml.dump(known),
    }


def _config_map(at_rest: str) -> str:
    metadata = {"name": "argocd-cm", "namespace": "argocd"}
    return yaml.dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": settings(at_rest)})


def _values(at_rest: str) -> str:
    return yaml.dump({"configs": {"cm": settings(at_rest)}, "repoServer": {"extraContainers": [_SIDECAR], "volumes": _VOLUMES}})


def _repo_server(_: str) -> str:
    spec = {"template": {"spec": {"containers": [_SIDECAR], "volumes": _VOLUMES}}}
    metadata = {"name": "argocd-repo-server", "namespace": "argocd"}
    return yaml.dump({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})


FORMS: dict[str, tuple[str, Callable[[str], str]]] = {
    "config-map": ("argocd-cm.yaml", _config_map),
    "repo-server": ("repo-server-patch.yaml", _repo_server),
    "plugin": ("plugin.yaml", lambda _: yaml.dump(PLUGIN)),
    "helm": ("values.yaml", _values),
}
"""Each with its file, and what writes it with the health of Frameworks at rest."""


def files(at_rest: str = AT_REST[0]) -> Iterator[tuple[str, str]]:
    """Yield every file of the bundle: its path and its text."""
    for name, write_form in FORMS.values():
        yield name, write_form(at_rest)
    for path in sorted(SCRIPTS.rglob("*")):
        if path.is_file():
            name = path.relative_to(SCRIPTS).as_posix()
            yield f"{LAYOUT}/{name}", health(at_rest) if name == "health.lua" else script(name)


@command(
    page="argocd.md",
    examples={
        "fcompile argocd bundle | kubectl -n argocd patch configmap argocd-cm --patch-file /dev/stdin": "health and actions of Frameworks",
        "fcompile argocd bundle all --to argocd": "everything, a file each",
    },
)
@argument(
    "form",
    type=click.Choice((*FORMS, "all")),
    default="config-map",
    metavar="[FORM]",
    help="config-map (patch of argocd-cm), repo-server (patch of the Deployment), plugin (plugin.yaml), helm (values of the argo-cd "
    "chart), or with --to all  [default: config-map]",
)
@click.option(
    "--at-rest",
    type=click.Choice(AT_REST),
    default=AT_REST[0],
    show_default=True,
    help="the health of Frameworks that are not to run (executionType Create or Stop): a sync waits at Suspended, and goes past Healthy",
)
@click.option(
    "--to",
    metavar="FOLDER",
    shell_complete=completed("folder"),
    help="write files into it; all: with the Lua in the layout of Argo CD's repository",
)
@former("-o", "--output", metavar="FOLDER", shell_complete=completed("folder"), now=lambda value: {"to": value}, help="--to FOLDER")
def bundle(*, form: str, at_rest: str, to: str | None) -> int:
    """Print what Argo CD must be told about Frameworks: health, actions, what to compare, the plugin."""
    if at_rest != AT_REST[0] and form in ("plugin", "repo-server"):
        raise UsageError(f"--at-rest is about health, of which {form} says nothing: leave it out, or ask for config-map or helm")
    if form == "all" and to is None:
        raise UsageError("the whole bundle is many files: say where to write them with --to FOLDER")
    if to is not None:
        check_folder(to)
    wanted = dict(files(at_rest)) if form == "all" else {FORMS[form][0]: FORMS[form][1](at_rest)}
    if to is None:
        sys.stdout.writelines(wanted.values())
    else:
        write(to, wanted)
        say(f"wrote {counted(len(wanted), 'file')} to {to}")
    return 0
