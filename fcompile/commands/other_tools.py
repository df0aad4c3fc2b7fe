"""The words that other tools have for commands and options, and what to write here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class Advice(NamedTuple):
    """What to say to somebody who uses an option of other tools."""

    needs: str
    """The option, or the name of the argument, that a command must have for this to be true of it."""
    says: str


_STATUS = "`kubectl get frameworks` shows it"

COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "fcompile": {
        **dict.fromkeys(("check", "lint", "vet", "verify"), "write `fcompile validate`"),
        **dict.fromkeys(("compile", "render", "template", "generate"), "write `fcompile build`"),
        **dict.fromkeys(("apply", "create", "deploy"), "apply what was compiled: `fcompile build PATH | kubectl apply -f -`"),
        **dict.fromkeys(("plan", "compare"), "write `fcompile diff`"),
        **dict.fromkeys(("demo", "run", "simulate"), "write `fcontroller demo`"),
        **dict.fromkeys(("doctor", "bundle"), "it is one of `fcompile argocd`"),
        **dict.fromkeys(("import", "migrate"), "write `fcompile convert`"),
        **dict.fromkeys(("status", "get"), _STATUS),
        **dict.fromkeys(("install", "init"), "`fcompile crd | kubectl apply --server-side -f -` tells a cluster what a Framework is"),
    },
    "fcontroller": {
        **dict.fromkeys(("start", "serve"), "write `fcontroller run`"),
        **dict.fromkeys(("simulate", "try"), "write `fcontroller demo`"),
        **dict.fromkeys(("status", "get"), _STATUS),
        **dict.fromkeys(("validate", "build", "diff", "explain", "convert", "crd"), "it is one of `fcompile`"),
        "completion": "`fcompile completion` is for both programs",
    },
}
"""By program."""

OPTIONS: Final[Mapping[str, Advice]] = {
    **dict.fromkeys(("-R", "-r", "--recursive"), Advice("paths", "folders are read with their subfolders: leave it out")),
    **dict.fromkeys(("--output-dir", "--output-directory", "--out", "--outdir"), Advice("--to", "`--to FOLDER`")),
    **dict.fromkeys(("-q", "--quiet", "--silent"), Advice("paths", "send the output to /dev/null and look at the exit code")),
    **dict.fromkeys(("--ignore", "--exclude"), Advice("paths", "what is left out of a folder is named in its file `.fcompileignore`")),
    **dict.fromkeys(
        ("--cached", "--staged"),
        Advice("--git", "the index is not compared; `--git HEAD` compares the working tree with the last commit"),
    ),
    **dict.fromkeys(
        ("--disable", "--skip"), Advice("--waivers", "a problem is accepted by a waiver with a reason: `# fcompile: waive CODE: reason`")
    ),
    **dict.fromkeys(("--kube-version", "--k8s-version"), Advice("--kubernetes-version", "`--kubernetes-version VERSION`")),
    **dict.fromkeys(("-v", "-V"), Advice("--version", "`--version`")),
    **dict.fromkeys(
        ("--leader-elect", "--enable-leader-election"), Advice("--lease-name", "replicas always elect one of them: leave it out")
    ),
    **dict.fromkeys(("-k", "--kustomize"), Advice("paths", "build it first: `kubectl kustomize FOLDER | fcompile … -`")),
    "--list": Advice("--all", "`--all`"),
    "--json": Advice("--format", "`--format json`"),
    "--no-color": Advice("--color", "`--color never`"),
    "-n": Advice("--namespace", "`--namespace NAME`"),
    "--dry-run": Advice("paths", "it changes nothing in a cluster: leave it out"),
    "--fix": Advice("--waivers", "it changes no file: what to write instead is in the report"),
    "--set": Advice("--exit", "set it before: `fcompile build --set … PATH | fcontroller demo -`"),
}
"""By option, for a command that does not have it."""
